from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import may_be_in_macro
from cu2port.facts.unit import Unit


class PragmaMacro(Check):
    """A macro stands for a `#pragma`: `#define UNROLL #pragma unroll`.

    No directive comes out of a macro in C++; nvcc lets it pass, clang stops at the `#`. `_Pragma("unroll")` is what the
    language has for it.
    """

    code, name, severity = "CU230", "pragma-macro", Severity.INFO
    triggers = frozenset({"pragma"})
    examples = (
        Example("#define UNROLL #pragma unroll 4\n", '#define UNROLL _Pragma("unroll 4")\n', "in a macro body"),
        Example(
            "#ifdef A\n#  define LOOSE  #  pragma nounroll  // no\n#endif\n",
            '#ifdef A\n#  define LOOSE  _Pragma("nounroll")  // no\n#endif\n',
        ),
        Example('#define UNROLL _Pragma("unroll")\n#define T(x) #x\n', note="as the language has it"),
        Example("void f() { CHECK(x); }\n#pragma unroll\n", note="no macro, nor as a macro's argument"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not may_be_in_macro(unit.text, "#", "pragma") or "pragma" not in unit.words:
            return
        for definitions in unit.macros.values():
            for macro in definitions:
                first, stop = macro.first, macro.stop
                if macro.params is not None or stop - first < 3 or unit.t[first : first + 2] != ["#", "pragma"]:
                    continue
                start, end = unit.p[first], unit.end(stop - 1)
                text = " ".join(unit.text[unit.p[first + 2] : end].replace("\\\n", " ").split())
                quoted = text.replace("\\", "\\\\").replace('"', '\\"')
                yield self.finding(
                    f"`{macro.name}` stands for a `#pragma`",
                    start,
                    end,
                    (replace(start, end, f'_Pragma("{quoted}")'),),
                    effects=(("all", "compile-error"),),
                )
