from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_MOST = 6  # words of one declaration beside `__shared__`


class SharedDevice(Check):
    """`__device__` stands beside `__shared__`, which CUDA allows and clang refuses for a variable of a function.

    The programming guide has `__shared__` "optionally used together with `__device__`". The variable is in shared
    memory either way, so `__device__` is taken out.
    """

    code, name, severity = "CU265", "shared-device", Severity.INFO
    triggers = frozenset({"__shared__"})
    examples = (
        Example(
            "__global__ void k() { __device__ __shared__ float a[4]; volatile __shared__ __device__ int b; }",
            "__global__ void k() { __shared__ float a[4]; volatile __shared__ int b; }",
        ),
        Example(
            "#define TILE(n) __device__ static __shared__ int n[4]\n",
            "#define TILE(n) static __shared__ int n[4]\n",
            "in a macro body",
        ),
        Example("USE(__shared__ __device__ int s[4];)", "USE(__shared__ int s[4];)", "as a macro's argument"),
        Example("__device__ int g;\n__global__ void k() { __shared__ float s[4]; }", note="of two variables"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        told: set[int] = set()
        for i in unit.find("__shared__"):
            for step in (-1, 1):
                k = i + step
                while abs(k - i) <= _MOST and k >= 0 and is_identifier(unit.tok(k) or ";"):
                    if unit.t[k] == "__device__" and k not in told and unit.in_directive(k) == unit.in_directive(i):
                        told.add(k)
                        yield self._found(unit, k)
                    k += step

    def _found(self, unit: Unit, k: int) -> Finding:
        start, end = unit.p[k], unit.end(k)
        blanks = len(unit.text[end : unit.p[k + 1]]) - len(unit.text[end : unit.p[k + 1]].lstrip(" \t"))
        return self.finding(
            "`__device__` beside `__shared__` says nothing more, and clang refuses it",
            start,
            end,
            (Edit(start, end + blanks, ()),),
            effects=(("all", "compile-error"),),
        )
