from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_PRAGMA = re.compile(
    r"(?:nv_diag(?:_\w+|nostic)|diag_(?:suppress|default|warning|error|once)|nv_exec_check_disable|hd_warning_disable"
    r"|nv_abi|nv_weak_odr)\Z"
)


class NvPragma(Check):
    """A pragma that only nvcc's front end knows: `nv_diag_suppress`, `nv_exec_check_disable`, ...

    clang ignores it with a warning; the line is dropped.
    """

    code, name, severity = "CU212", "nv-pragma", Severity.INFO
    triggers = frozenset({"pragma"})
    examples = (
        Example("#pragma nv_diag_suppress 177\nint x;\n", "int x;\n"),
        Example("#pragma nv_exec_check_disable\nint x;\n", "int x;\n"),
        Example("#pragma unroll 4\n#pragma once\n", note="known to clang"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.may_match(_PRAGMA, "dhn"):
            return
        for d in unit.directives:
            if d.keyword == "pragma" and d.stop - d.first > 2 and _PRAGMA.match(unit.t[d.first + 2]):
                start = d.start
                while start and unit.text[start - 1] in " \t":
                    start -= 1
                end = d.end
                if unit.text[end : end + 2] == "\r\n":
                    end += 2
                elif unit.text[end : end + 1] in ("\n", "\r"):
                    end += 1
                yield self.finding(
                    f"`#pragma {unit.t[d.first + 2]}` is nvcc's own", d.start, d.end, (replace(start, end, ""),)
                )
