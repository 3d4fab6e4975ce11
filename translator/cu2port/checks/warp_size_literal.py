from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.engine.warp_report import in_words
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.classify import classify
from cu2port.warp.roles import Role
from cu2port.warp.values import chain

_FLAG = Options(warp="flag")
_LANES = """__global__ void k(float* x) {
  int lane = threadIdx.x % 32, warp = threadIdx.x >> 5;
  if (lane == 31) x[warp] = 1;
}
"""
_NAMED = """#define WARP_SIZE 32
__global__ void k(float* x) { x[threadIdx.x / WARP_SIZE] = 1; }
"""
_TWICE = """#define N 32
__global__ void k(unsigned* w, unsigned n) {
  int lane = threadIdx.x % N;
  w[lane] = w[lane] << n | w[lane] >> (N - n);
}
"""
_BITS = """__global__ void k(unsigned* w, int i) { w[i / 32] |= 1u << (i % 32); }
"""
_HARMLESS = frozenset({Role.WIDTH, Role.SLOTS})
_SLOWER = frozenset({Role.GUARD})


class WarpSizeLiteral(Check):
    """A 32, 31 or 5 counts the lanes of a warp.

    A wavefront of AMD's gfx9 GPUs has 64 lanes. Reported with `--warp flag`, use by use: the same constant may count
    lanes here and the bits of a word there. The reasons tell the way from the thread index to the place. In the default
    mode CUDA's warps of 32 are kept, and these numbers stay right.
    """

    code, name, severity = "CU350", "warp-size-literal", Severity.WARNING
    modes = frozenset({"flag"})
    lint = InLint(in_hip=InHip.COUNT)
    examples = (
        Example(_LANES, _LANES, options=_FLAG, findings=3),
        Example(_NAMED, _NAMED, "a named constant: its definition and its use", options=_FLAG, findings=3),
        Example(_TWICE, _TWICE, "lanes and bits by one name", options=_FLAG, findings=2),
        Example(_BITS, note="bits of a word", options=_FLAG),
        Example(_LANES, note="by default a warp keeps 32 lanes"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for v in classify(unit):
            tok = unit.t[v.at]
            if not v.lanes or tok == "warpSize":
                continue
            what = "none" if v.role in _HARMLESS else "slower" if v.role in _SLOWER else "wrong-result"
            yield self.finding(
                f"`{tok}` is a count of lanes here: {v.role.value}",
                unit.p[v.at],
                unit.end(v.at),
                severity=Severity.INFO if is_identifier(tok) or what == "none" else self.severity,
                effects=(("wave64", what),),
                why=(*in_words(unit, chain(v.why)), *self.reasons),
            )
