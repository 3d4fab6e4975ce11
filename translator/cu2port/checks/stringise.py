from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class Stringise(Check):
    """A macro turns its argument into text with `#`, and is given CUDA names.

    The names in the argument are converted like all others, so the text that the program prints or compares names
    HIP functions afterwards. Most such macros report errors, where that is what one wants.
    """

    code, name, severity = "CU110", "stringised-name", Severity.INFO
    minutes = 5
    examples = (
        Example(
            "#define CHECK(x) if (x) show(#x)\nvoid f() { CHECK(cudaFree(p)); }\n",
            "#define CHECK(x) if (x) show(#x)\nvoid f() { CHECK(hipFree(p)); }\n",
        ),
        Example("#define CHECK(x) if (x) abort()\nvoid f() { CHECK(cudaFree(p)); }\n", note="no text is made"),
        Example("#define STR(x) #x\nconst char* s = STR(hello);\n", note="no CUDA name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(unit.catalog.active):
            return
        makers = {
            name
            for name, definitions in unit.macros.items()
            for m in definitions
            if m.params
            and any(unit.t[k] in ("#", "%:") and unit.tok(k + 1) in m.params for k in range(m.first, m.stop))
        }
        if not makers:
            return
        active = unit.catalog.active
        done: set[str] = set()
        for i, tok in enumerate(unit.t):
            if tok in makers and tok not in done and unit.in_directive(i) is None:
                call = unit.call(i)
                if call is not None and any(x in active for x in unit.t[call.open + 1 : call.close]):
                    done.add(tok)
                    yield self.finding(
                        f"`{tok}` turns its argument into text, which names HIP functions from now on",
                        unit.p[i],
                        unit.end(call.close),
                    )
