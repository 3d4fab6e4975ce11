"""Types that tokens alone can tell."""

from __future__ import annotations

import pytest

from cu2port.catalog import load_catalog
from cu2port.core.model import Span
from cu2port.facts.arithmetic import common, same_shape, simple_type
from cu2port.facts.unit import Unit

_TEXT = """
#define TILE 16
#define HALF (TILE / 2u)
#define ROUND(x) (x)
#define LOOP LOOP + 1
const float scale = 2;
struct S { int member; unsigned bits : 3; float3 place; S* next; };
typedef float real;
typedef struct Pair { real first; } Pair;
using word = unsigned short;
#define COUNT_T uint32_t
#ifdef WIDE
typedef long key;
typedef long either;
#else
typedef int key;
typedef long either;
#endif
template <class V> struct Held { V v; int n; Held* up; };
int twice(int);
int over(float);
float over(double);
template <class R> R made(int);
real area(const S& s) { return 1; }
template <typename T, int N>
__global__ void k(float* p, unsigned n, const int *q, size_t z, T t, int many[4], float **pp) {
  double e, d = 0; unsigned int u[2]; long long w; auto a = f(); short s;
  T x, y = t; T row[8]; uint4 v; int4 *vs; dim3 grid;
  S own; S *at; Pair pair; Held<float> held; real r; word w16; COUNT_T c; key unsure; either sure;
  auto sum = d + 1; auto same = t; auto self = self; auto *far = p; real (*rows)[4];
  if (n) { int p = 1; h(p); }
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
        ("t", "?T"),
        ("x", "?T"),
        ("row[n + 1]", "?T"),
        ("row[0] + row[1]", ""),
        ("-x", ""),
        ("v.x", "unsigned int"),
        ("v.x.y", ""),
        ("vs.x", ""),
        ("grid.y + 1", "unsigned int"),
        ("N", "int"),
        ("TILE", "int"),
        ("HALF", "unsigned int"),
        ("ROUND(1)", ""),
        ("LOOP", ""),
        ("scale", "float"),
        ("member", ""),
        ("n << 2", "unsigned int"),
        ("1 << z", "int"),
        ("n >> 1 >> 2", "unsigned int"),
        ("n & 0xf", "unsigned int"),
        ("q[0] & 15u", "unsigned int"),
        ("d < 1", "bool"),
        ("static_cast<size_t>(a + p) * 2", "unsigned long"),
        ("(unsigned long long)a->b", "unsigned long long"),
        ("(unsigned long long)n", "unsigned long long"),
        ("int(a / 2) + 1", "int"),
        ("(unsigned char)n", "unsigned char"),
        ("(uint8_t)n", "unsigned char"),
        ("(std::size_t)n", "unsigned long"),
        ("(bool)n", "bool"),
        ("(long double)n", ""),
        ("min(n, 1) - 1", "unsigned int"),
        ("max(min(q[0], 1), 2)", "int"),
        ("max(x, y)", "?T"),
        ("max(x, 1)", ""),
        ("floorf(d)", "float"),
        ("(int)(a->b[2] - 3) + 1", "int"),
        ("(int)-f<1>(2)", "int"),
        ("(int)", ""),
        ("(n", ""),
        ("n +", ""),
        ("((((n))))", "unsigned int"),
        ("w", "long long"),
        ("a", ""),
        ("s", "short"),
        ("f(n)", ""),
        ("(int)n", "int"),
        ("0xffffffff", "unsigned int"),
        ("((float *)q)[0]", "float"),
        ("(float *)q", ""),
        ("__int_as_float(n)", ""),
        ("n::q", ""),
        ("q<1>", ""),
        ("x ? n : 1", "unsigned int"),
        ("n = 1", ""),
        ("n 1", ""),
        ("n > 1", "bool"),
        ("*p", "float"),
        ("*(q + n)", "int"),
        ("&p[1]", ""),
        ("*&n", "unsigned int"),
        ("-t", ""),
        ("!n", "bool"),
        ("n++", "unsigned int"),
        ("own.member", "int"),
        ("own.bits", ""),
        ("own.bits + 1", ""),
        ("own->member", ""),
        ("at->next->member", "int"),
        ("at[2].place.x", "float"),
        ("own.lost", ""),
        ("pair.first", "float"),
        ("held.v", ""),
        ("r", "float"),
        ("rows[0][1]", "float"),
        ("w16", "unsigned short"),
        ("c", "unsigned int"),
        ("unsure", ""),
        ("sure", "long"),
        ("sum", "double"),
        ("same", "?T"),
        ("self", ""),
        ("twice(1)", "int"),
        ("over(1)", ""),
        ("made<int>(1)", ""),
        ("made(1)", ""),
        ("area(own)", "float"),
        ("T(n)", "?T"),
        ("(T)n", "?T"),
        ("(real)n", "float"),
        ("((word*)q)[0]", "unsigned short"),
        ("sizeof(T)", "unsigned long"),
        ("x ? n : z", "unsigned long"),
        ("abs(q[0])", "int"),
        ("__shfl_xor_sync(0xffffffffu, p[0], 1)", "float"),
        ("__shfl_xor_sync(0xffffffffu, t, 1)", ""),
    ],
)
def test_type_of_a_simple_expression(expression: str, expected: str) -> None:
    text = _TEXT % expression
    unit = Unit(text, load_catalog())
    start = text.index("g(") + 2
    assert simple_type(unit, Span(start, start + len(expression))) == expected


def test_another_templates_parameter_is_no_type_here() -> None:
    text = (
        "template <class T> struct Base { T v; T own() { return v; } };\n"
        "template <class T> struct Most : Base<int> { T most(T t) { return v; } };\n"
    )
    unit = Unit(text, load_catalog())
    own, inherited = (at + len("return ") for at in (text.index("return"), text.rindex("return")))
    assert simple_type(unit, Span(own, own + 1)) == "?T"
    assert simple_type(unit, Span(inherited, inherited + 1)) == ""


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


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("s[i]", "s[i + 64]", True),
        ("s[i][0]", "s[j][x[1]]", True),
        ("s[i]", "s[j][0]", False),
        ("s[i]", "r[i]", False),
        ("s", "s", False),
        ("s[i].x", "s[j].y", False),
        ("s[i] + 1", "s[j]", False),
    ],
)
def test_elements_of_one_array(a: str, b: str, expected: bool) -> None:
    unit = Unit(f"{a}, {b}", load_catalog())
    assert same_shape(unit, Span(0, len(a)), Span(len(a) + 2, len(a) + 2 + len(b))) is expected
