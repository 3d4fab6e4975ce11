from __future__ import annotations

from collections.abc import Iterator

from cu2port.checks.own_atomic import own_functions
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.types import builtin, parameter_types

#: The second parameter of HIP's shuffles; the first is the value, the third the width, an `int` that may be left out.
_SECOND = {"__shfl": "int", "__shfl_up": "unsigned int", "__shfl_down": "unsigned int", "__shfl_xor": "int"}
_NAMES = frozenset(_SECOND)
_VALUES = frozenset(
    {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float", "double"}
)


class OwnShuffle(Check):
    """A shuffle is defined that HIP has itself: `double __shfl_down(double, unsigned, int)`.

    CUDA had none of `double` once, so programs wrote it by two of `int`. In HIP the definition is the second one, and
    does not compile. Its calls may leave the width out, which is 32 in CUDA and the wavefront's in HIP: give it another
    name, there and in its calls.
    """

    code, name, severity = "CU264", "own-shuffle", Severity.WARNING
    triggers = _NAMES
    examples = (
        Example(
            "__device__ double __shfl_xor(double x, int m);\n"
            "__device__ double __shfl_down(double x, unsigned d, int width = 32) { return x; }\n",
            "__device__ double __shfl_xor(double x, int m);\n"
            "__device__ double __shfl_down(double x, unsigned d, int width = 32) { return x; }\n",
            findings=1,
        ),
        Example("__device__ double shfl_down(double x, unsigned d, int width = 32) { return x; }\n"),
        Example("__device__ half2 __shfl_down(half2 x, unsigned d, int width = 32) { return x; }\n"),
        Example("template <class T> __device__ T __shfl_xor(T x, int m, int width) { return x; }\n", note="a template"),
        Example(
            "namespace my { __device__ double __shfl_xor(double x, int m) { return x; } }\n", note="in a namespace"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & _NAMES:
            return
        for f in own_functions(unit, _NAMES):
            words = unit.t[f.params[0] + 1 : f.params[1]]
            value, *rest = [builtin(kind.split()) for kind in parameter_types(words)] or [""]
            if value not in _VALUES or rest not in ([_SECOND[f.name]], [_SECOND[f.name], "int"]):
                continue
            yield self.finding(
                f"`{f.name}` of `{value}` is also defined by HIP: give it another name, and its calls",
                unit.p[f.name_at],
                unit.end(f.name_at),
                cuda=f.name,
                effects=(("all", "compile-error"),),
            )
