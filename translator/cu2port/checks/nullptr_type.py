from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_NAME = "nullptr_t"


class NullptrType(Check):
    """`nullptr_t` is used without `std::`. gcc's <stddef.h>, which nvcc takes, has it in no namespace; clang's has not.

    It becomes `decltype(nullptr)`, which needs no header.
    """

    code, name, severity = "CU262", "nullptr-type", Severity.INFO
    triggers = frozenset({_NAME})
    examples = (
        Example(
            "#include <cstddef>\nstruct Stream { Stream(nullptr_t); };\n",
            "#include <cstddef>\nstruct Stream { Stream(decltype(nullptr)); };\n",
            path="a.cuh",
        ),
        Example("#define NONE nullptr_t\n", "#define NONE decltype(nullptr)\n", "in a macro body", path="a.cuh"),
        Example("GIVES(nullptr_t) f();\n", "GIVES(decltype(nullptr)) f();\n", "as a macro's argument", path="a.cuh"),
        Example("#include <cstddef>\nvoid f(std::nullptr_t);\n", note="of `std`", path="a.cuh"),
        Example("#include <cstddef>\nusing std::nullptr_t;\nvoid f(nullptr_t);\n", note="declared", path="a.cuh"),
        Example("typedef decltype(nullptr) nullptr_t;\nvoid f(nullptr_t);\n", note="the user's", path="a.cuh"),
        Example("using namespace std;\nvoid f(nullptr_t);\n", note="`std` is open", path="a.cuh"),
        Example("void f(nullptr_t);\n", note="the compiler of the host", path="a.cpp"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) or unit.owns(_NAME) or _NAME in unit.macros:
            return
        for i in unit.find(_NAME):
            if unit.tok(i - 1) in ("::", ".", "->", "#", "##") or unit.declares(i):
                continue
            if unit.declarations.visible(_NAME, i) is not None or "std" in unit.declarations.opened(i):
                continue
            yield self.finding(
                "`nullptr_t` is in `std` alone for clang",
                unit.p[i],
                unit.end(i),
                (replace(unit.p[i], unit.end(i), "decltype(nullptr)"),),
                effects=(("all", "compile-error"),),
            )
