"""Types that tokens alone can tell."""

from __future__ import annotations

import pytest

from cu2port.arithmetic import NamedTypes, common, simple_type
from cu2port.catalog import load_catalog
from cu2port.model import Span
from cu2port.unit import Unit

_TEXT = """
__global__ void k(float* p, unsigned n, const int *q, size_t z, T t, int many[4], float **pp) {
  double e, d = 0; unsigned int u[2]; long long w; auto a = f(); short s;
  g(%s);
}
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("n", "unsigned int"),
        ("q[n] + 1", "int"),
        ("p[i] * 2", "float"),
        ("p[i] * 2.0", "double"),
        ("e", "double"),
        ("u[0] - 1", "unsigned int"),
        ("many[1]", "int"),
        ("blockDim.x * 2", "unsigned int"),
        ("(n + z) * 3", "unsigned long"),
        ("5ull", "unsigned long long"),
        ("-1", "int"),
        ("1.5f", "float"),
        ("1e3", "double"),
        ("p", ""),
        ("pp[0]", ""),
        ("t", ""),
        ("w", ""),
        ("a", ""),
        ("s", ""),
        ("f(n)", ""),
        ("(int)n", ""),
        ("0xffffffff", ""),
        ("n > 1", ""),
    ],
)
def test_type_of_a_simple_expression(expression: str, expected: str) -> None:
    text = _TEXT % expression
    unit = Unit(text, load_catalog())
    start = text.index("g(") + 2
    names = NamedTypes(unit, unit.functions[0])
    assert simple_type(unit, names, Span(start, start + len(expression))) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("int", "unsigned int", "unsigned int"),
        ("short", "unsigned char", "int"),
        ("unsigned long", "long", "unsigned long"),
        ("float", "double", "double"),
        ("float", "float", "float"),
        ("int", "long", ""),
        ("int", "float", ""),
        ("__half", "__half", ""),
    ],
)
def test_what_cuda_takes_two_arguments_as(a: str, b: str, expected: str) -> None:
    assert common(a, b) == expected
