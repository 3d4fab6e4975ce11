from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.operand_type import declared_word
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_HALF = frozenset({"half", "__half"})
_BFLOAT = frozenset({"nv_bfloat16", "__nv_bfloat16", "__hip_bfloat16", "hip_bfloat16"})


class HalfBfloat(Check):
    """A half is cast to a bfloat16, or the other way round.

    CUDA has a constructor for it since 12.2. HIP's types have several ways to each other, and the compiler calls the
    cast ambiguous. It goes through `float`, as CUDA's does: a half is exact there, so nothing rounds twice.
    """

    code, name, severity = "CU245", "half-bfloat", Severity.INFO
    triggers = frozenset(_BFLOAT)
    examples = (
        Example(
            "__device__ void f(half h, __nv_bfloat16* b) { b[0] = static_cast<__nv_bfloat16>(h); h = half(b[1]); }\n",
            "__device__ void f(half h, __hip_bfloat16* b) "
            "{ b[0] = static_cast<__hip_bfloat16>(static_cast<float>(h)); h = half(static_cast<float>(b[1])); }\n",
        ),
        Example(
            "__device__ void f(half h) { CHECK((__nv_bfloat16)h); }\n",
            "__device__ void f(half h) { CHECK((__hip_bfloat16)static_cast<float>(h)); }\n",
            "as a macro's argument",
        ),
        Example("#define TO(x) __nv_bfloat16(x)\n__device__ void f(half h);\n", note="in a macro body"),
        Example("__device__ void f(float x, __nv_bfloat16* b) { b[0] = __nv_bfloat16(x); }\n", note="from a float"),
        Example("__device__ void f(__half h, __half* b) { b[0] = __half(h); }\n", note="the same type"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not (unit.words & _HALF and unit.words & _BFLOAT):
            return
        for i in unit.find(*_HALF, *_BFLOAT):
            first, stop = _operand(unit, i)
            other = _HALF if unit.t[i] in _BFLOAT else _BFLOAT
            if stop > first and declared_word(unit, first, stop) in other:
                start, end = unit.p[first], unit.end(stop - 1)
                yield self.finding(
                    f"a cast to `{unit.t[i]}` is ambiguous in HIP; it goes through `float`",
                    start,
                    end,
                    (insert(start, "static_cast<float>("), insert(end, ")", Side.LEFT)),
                    effects=(("all", "compile-error"),),
                )


def _operand(unit: Unit, i: int) -> tuple[int, int]:
    """What is cast to the type at token i: `static_cast<T>(x)`, `T(x)`, `(T)x`, `(T)x[i]`; empty for none."""
    if unit.tok(i + 1) == ">" and unit.tok(i - 1) == "<" and unit.tok(i - 2) == "static_cast":
        opened = i + 2
    elif unit.tok(i + 1) == "(" and not is_identifier(unit.tok(i + 2 + 1) or ";"):
        opened = i + 1
    elif unit.tok(i - 1) == "(" and unit.tok(i + 1) == ")" and not is_identifier(unit.tok(i - 2) or ";"):
        first = i + 2
        stop = unit.match[first + 1] + 1 if unit.tok(first + 1) == "[" else first + 1
        return (first, stop) if unit.tok(stop) not in (".", "->", "(", "[") else (0, 0)
    else:
        return (0, 0)
    return (opened + 1, unit.match[opened]) if unit.tok(opened) == "(" and unit.match[opened] > opened else (0, 0)
