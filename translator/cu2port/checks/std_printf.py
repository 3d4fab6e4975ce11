from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR

_NAME = re.compile(rf"std{NEAR}::{NEAR}printf")


class StdPrintf(Check):
    """`std::printf` in device code.

    nvcc takes it for the device's own. HIP declares its `printf` for the device in the global namespace, and the C++
    library has the host's alone in `std`, so clang finds no function that device code may call. Without `std::` both
    are seen, and each side takes its own.
    """

    code, name, severity = "CU246", "std-printf", Severity.INFO
    triggers = frozenset({"printf"})
    examples = (
        Example(
            '#include <cstdio>\n__global__ void k(int n) { std::printf("%d\\n", n); }\n',
            '#include <cstdio>\n__global__ void k(int n) { printf("%d\\n", n); }\n',
        ),
        Example(
            '__device__ void f(int n) { CHECK(::std::printf("%d", n)); }\n',
            '__device__ void f(int n) { CHECK(printf("%d", n)); }\n',
            "as a macro's argument",
        ),
        Example('#include <cstdio>\nvoid f(int n) { std::printf("%d\\n", n); }\n', note="on the host"),
        Example("__device__ void f(int n) { own::printf(n); }\n", note="another namespace"),
        Example('#define SAY(n) std::printf("%d", n)\n', note="in a macro body: nobody knows on which side"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _NAME.search(unit.text) is None:
            return
        for i in unit.find("printf"):
            if unit.tok(i + 1) != "(" or unit.tok(i - 1) != "::" or unit.tok(i - 2) != "std":
                continue
            f = unit.function_at(i)
            if f is None or not f.sides & {"__device__", "__global__"} or not f.body[0] < i < f.body[1]:
                continue
            first = i - 3 if unit.tok(i - 3) == "::" else i - 2
            if first == i - 3 and unit.tok(i - 4).isidentifier() and unit.tok(i - 4) != "return":
                continue
            start, end = unit.p[first], unit.end(i)
            yield self.finding(
                "`std::printf` is the host's in HIP; the device's is outside of `std`",
                start,
                end,
                (replace(start, end, "printf"),),
                cuda="std::printf",
                hip="printf",
            )
