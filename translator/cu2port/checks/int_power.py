from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.checks.host_math import called, host_only
from cu2port.core.model import Edit, Finding, Severity, Side, Span, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import argument_types, unqualified
from cu2port.facts.gpu_functions import ON_GPU
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit

_LITERAL = re.compile(r"-?(?:[1-9][0-9]*|0)\Z")


class IntPower(Check):
    """`pow` of a `float` and an `int` is `double` in CUDA and `float` in HIP.

    nvcc takes the C++ library's template, which computes in `double`. clang has an overload of its own for the device:
    `pow(x, 2)` of 1e30f is infinity there, and sums and products of such powers are rounded to `float` on the way. The
    exponent becomes a `double`, and with it the result. Where `float` is enough, `powf` or a product is faster.
    """

    code, name, severity = "CU278", "int-power", Severity.INFO
    triggers = frozenset({"pow"})
    examples = (
        Example(
            "__device__ float f(float x, float y) { return fmaf(y, y, pow(x, 2)); }\n",
            "__device__ float f(float x, float y) { return fmaf(y, y, pow(x, 2.0)); }\n",
        ),
        Example(
            "__global__ void k(float* p, int n) { CHECK(p[n] = std::pow(p[0], n + 1)); }\n",
            "__global__ void k(float* p, int n) { CHECK(p[n] = std::pow(p[0], static_cast<double>(n + 1))); }\n",
            "as a macro's argument",
        ),
        Example(
            "#define SQUARE(x) pow(x, 2)\n__device__ float f(float x) { return SQUARE(x); }\n",
            note="in a macro body the type is not known",
        ),
        Example(
            "__device__ double f(float x, double y, unsigned n) { return pow(x, 2.0f) + pow(y, 2) + pow(x, n); }\n"
            "template <class T> __device__ T g(T x) { return pow(x, 2); }\n"
            "double h(float x) { return pow(x, 2); }\n",
            note="other types; of a template's type; on the host",
        ),
        Example(
            "__device__ float pow(float x, int n);\n__device__ float f(float x) { return pow(x, 2); }\n",
            note="the user's",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) and unit.words.isdisjoint(ON_GPU):
            return
        calls = _calls(unit)
        for i, call in _of_float_and_int(unit, calls) if calls else ():
            yield self.finding(
                "`pow` of float and int is double in CUDA, and float in HIP",
                unit.p[i],
                unit.end(call.close),
                _edits(unit, call.args[1]),
                cuda="pow",
                effects=(("all", "wrong-result"),),
            )


def _calls(unit: Unit) -> list[tuple[int, Call]]:
    """Calls of what may be CUDA's `pow`, in code that may be for the GPU."""
    if "pow" in unit.macros or unit.owns("pow") or unit.declarations.named("pow"):
        return []
    found = []
    for i in unit.find("pow"):
        start = i - 1 if unit.tok(i - 1) == "::" and unit.tok(i - 2) == "std" else i
        call = called(unit, i) if start == i else unit.call(i)
        outside = unit.in_directive(i) is not None or unit.function_at(i) is None or host_only(unit, i)
        if call is not None and len(call.args) == 2 and not outside:
            found.append((i, call))
    return found


def _of_float_and_int(unit: Unit, calls: list[tuple[int, Call]]) -> Iterator[tuple[int, Call]]:
    types = argument_types(unit, calls)
    wanted = ("float", "int")
    unsure = [
        (i, call)
        for i, call in calls
        if tuple(types[i]) != wanted and all(t in ("", w) for t, w in zip(types[i], wanted, strict=True))
    ]
    facts = unit.ask(spans=tuple((a.start, a.end) for _, call in unsure for a in call.args)) if unsure else None
    exprs = facts.exprs if facts is not None else {}
    for i, call in unsure:
        for k, span in enumerate(call.args):
            expr = exprs.get((span.start, span.end))
            types[i][k] = unqualified(expr.type) if expr is not None else ""
    for i, call in calls:
        if tuple(types[i]) == wanted:
            yield i, call


def _edits(unit: Unit, exponent: Span) -> tuple[Edit, ...]:
    """What makes an exponent a `double`."""
    if _LITERAL.match(unit.text[exponent.start : exponent.end]):
        return (insert(exponent.end, ".0", Side.LEFT),)
    return (insert(exponent.start, "static_cast<double>("), insert(exponent.end, ")", Side.LEFT))
