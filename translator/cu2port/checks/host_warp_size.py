from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.hostside import host_sizes

_FLAG = Options(warp="flag")
_HOST = """void run(int n) {
  const int threads = 256, warps = threads / 32;
  size_t bytes = warps * sizeof(float);
}
"""
_NAME = """#define WARP_SIZE 32
void run(int n) { int blocks = n / WARP_SIZE; }
"""
_PLAIN = "void run(int n) { int words = n / 32; }\n"


class HostWarpSize(Check):
    """The host counts with the lanes of a warp.

    Grids, blocks and bytes of shared memory that the host computes have to agree with what the kernels do with the same
    number. The host cannot know it at compile time: take it from the device, and change both sides or none. Reported
    with `--warp flag`.
    """

    code, name, severity = "CU354", "host-warp-size", Severity.WARNING
    modes = frozenset({"flag"})
    lint = InLint(in_hip=InHip.OWN | InHip.COUNT, once_a_function=True)
    examples = (
        Example(_HOST, _HOST, options=_FLAG, findings=1),
        Example(_NAME, _NAME, "by name", options=_FLAG, findings=1),
        Example(_PLAIN, note="words of 32 bits", options=_FLAG),
        Example(_HOST, note="by default a warp keeps 32 lanes"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in host_sizes(unit):
            named = is_identifier(unit.t[i])
            yield self.finding(
                f"the host counts lanes with `{unit.t[i]}`; kernels must mean the same",
                unit.p[i],
                unit.end(i),
                # a name says itself what it is, and its definition is reported
                severity=Severity.INFO if named else self.severity,
                effects=(("wave64", "wrong-result"),),
                in_hip=self.lint.in_hip if named else InHip.COUNT,
            )
