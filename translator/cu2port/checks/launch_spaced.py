from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class LaunchSpaced(Check):
    """A launch is written `<< <` or `>> >`, which only nvcc reads as `<<<` and `>>>`.

    The brackets are joined; clang reads them as shifts and comparisons otherwise.
    """

    code, name, severity = "CU201", "launch-spaced", Severity.INFO
    examples = (
        Example("void f() { k<< <g, b>> >(x); }", "void f() { k<<<g, b>>>(x); }"),
        Example("void f() { k<<<g, b>> >(x); }", "void f() { k<<<g, b>>>(x); }", "only the end"),
        Example("#define GO(x) k<< <1, 2>> >(x)\n", "#define GO(x) k<<<1, 2>>>(x)\n", "in a macro body"),
        Example("RUN(k<< <1, 2>> >(x));", "RUN(k<<<1, 2>>>(x));", "as a macro's argument"),
        Example("void f() { k<<<g, b>>>(x); int y = a << b; }", note="nothing to join"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for launch in unit.launches:
            edits = []
            if launch.spaced:
                edits.append(replace(unit.p[launch.open], unit.end(launch.open + 1), "<<<"))
            start, end = unit.p[launch.close], unit.end(launch.close + 2)
            if end - start != 3:
                edits.append(replace(start, end, ">>>"))
            if edits:
                yield self.finding(
                    "launch brackets with a space inside; clang accepts only `<<<` and `>>>`",
                    unit.p[launch.open],
                    end,
                    tuple(edits),
                    effects=(("all", "compile-error"),),
                )
