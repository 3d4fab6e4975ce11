from __future__ import annotations

from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Edit, Finding, Options, Severity, Side, Trust, insert
from cu2port.unit import Unit
from cu2port.warp.lockstep import Tail, tails
from cu2port.warp.report import facts_of
from cu2port.warpnames import HEADER, SPACE

_FENCE = f" {SPACE}syncwarp();"
_INCLUDE = '#include "cu2port/warp.hpp"\n'
_TAIL = """__device__ void last(volatile int* s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
}
"""
_LOOP = """__global__ void k(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) {
    for (int o = 32; o > 0; o >>= 1) s[threadIdx.x] += s[threadIdx.x + o];
  }
}
"""
_MACRO = """#define LAST(s, t) s[t] += s[t + 2]; s[t] += s[t + 1];
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  LAST(s, threadIdx.x)
}
"""
_ARGUMENT = """#define ALWAYS(x) x
__device__ void last(volatile int* s, int t) {
  ALWAYS(s[t] += s[t + 2]; s[t] += s[t + 1];)
}
"""
_FINE = """__device__ void last(volatile int* s, int t) {
  s[t] += s[t + 32]; __syncwarp();
  s[t] += s[t + 16]; __syncwarp();
}
"""
_OWN = """__device__ void own(volatile int* s, int t) {
  s[t] += s[t];
  s[t] += s[t];
}
"""


class WarpSynchronous(Check):
    """Lanes read what others of their warp have just written to shared memory, and nothing stands between.

    CUDA gave up on this with Volta; AMD's lanes do run in step, but the compiler may move or keep back plain accesses.
    A fence for the wavefront (`cu2port::warp::syncwarp`) behind each step holds them in order and costs nothing else.
    A step that reads a place which another lane writes in the same statement still relies on all reads coming first.
    """

    code, name, severity = "CU368", "warp-synchronous", Severity.INFO
    examples = (
        Example(
            _TAIL,
            _INCLUDE + _TAIL.replace("32];", "32];" + _FENCE).replace("16];", "16];" + _FENCE),
        ),
        Example(
            _LOOP,
            _INCLUDE
            + _LOOP.replace(" s[threadIdx.x] +=", " { s[threadIdx.x] +=").replace("+ o];", "+ o];" + _FENCE + " }"),
            "a loop without braces gets some",
        ),
        Example(_MACRO, _MACRO, "in a macro body: reported, and left to a person"),
        Example(_ARGUMENT, note="as a macro's argument: not seen"),
        Example(_TAIL, _TAIL, "reported only", options=Options(warp="flag")),
        Example(_FINE, note="with fences"),
        Example(_OWN, note="each lane its own place"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & {"__shared__", "volatile", "VOLATILE"}:
            return
        for tail in tails(unit, facts_of(unit)):
            edits = (
                () if unit.options.warp == "flag" or unit.in_directive(tail.first) is not None else _fences(unit, tail)
            )
            strength = "volatile " if tail.volatile else ""
            yield self.finding(
                f"{strength}`{tail.name}` is written and read by lanes of a warp with no fence between",
                unit.p[tail.first],
                unit.end(tail.last),
                edits,
                trust=Trust.REVIEW,
                severity=Severity.INFO if edits else Severity.WARNING,
                effects=(("all", "wrong-result"),),
                helpers=(HEADER,) if edits else (),
            )


def _fences(unit: Unit, tail: Tail) -> tuple[Edit, ...]:
    first, stop = tail.loop
    if first >= 0:
        return (insert(unit.p[first], "{ "), insert(unit.end(stop), _FENCE + " }", Side.LEFT))
    return tuple(insert(unit.end(k), _FENCE, Side.LEFT) for k in tail.steps)
