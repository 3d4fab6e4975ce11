from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Options, Severity, Side, Span, Trust, insert
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import facts_of
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import HEADER, SPACE
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Assign
from cu2port.warp.lockstep import Tail, tails

_FENCE = f"{SPACE}syncwarp();"
_ASSIGNED = frozenset("= += -= *= /= &= |= ^= <<= >>= %=".split())
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
_SCAN = """__device__ int scan(volatile int* s, int i, int v) {
  int t = s[i] = v;
  s[i] = t += s[i - 1];
  s[i] = t += s[i - 2];
  return t;
}
"""


def _split(target: str, operator: str, value: str) -> str:
    """A step as it is written in the output."""
    return f"{{ const auto cu2port_read = {value}; {_FENCE} {target} {operator} cu2port_read; }} {_FENCE}"


class WarpSynchronous(Check):
    """Lanes read what others of their warp have just written to shared memory, with no fence between.

    CUDA gave up on this with Volta; AMD's lanes do run in step, but the compiler may move or keep back plain accesses.
    Fences for the wavefront (`cu2port::warp::syncwarp`) hold them in order and cost nothing else: between what a step
    reads and what it writes, since one lane reads the place that another writes in the same step, and behind it.
    """

    code, name, severity = "CU368", "warp-synchronous", Severity.INFO
    triggers = frozenset({"__shared__", "volatile", "VOLATILE"})
    examples = (
        Example(
            _TAIL,
            _INCLUDE
            + _TAIL.replace("s[t] += s[t + 32];", _split("s[t]", "+=", "s[t + 32]")).replace(
                "s[t] += s[t + 16];", _split("s[t]", "+=", "s[t + 16]")
            ),
        ),
        Example(
            _LOOP,
            _INCLUDE
            + _LOOP.replace(
                "s[threadIdx.x] += s[threadIdx.x + o];",
                _split("s[threadIdx.x]", "+=", "s[threadIdx.x + o]").replace(f" }} {_FENCE}", f" {_FENCE} }}"),
            ),
            "a loop",
        ),
        Example(
            _SCAN,
            _INCLUDE
            + _SCAN.replace("s[i] = t += s[i - 1];", f"{_FENCE} " + _split("s[i]", "=", "t += s[i - 1]")).replace(
                "s[i] = t += s[i - 2];", _split("s[i]", "=", "t += s[i - 2]")
            ),
            "what is written just before is read by the first step",
        ),
        Example(_MACRO, _MACRO, "in a macro body: reported, and left for manual work"),
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
    out: list[Edit] = []
    loop, stop = tail.loop
    for first, last in tail.steps:
        after = f" {_FENCE} }}" if loop == first else f" }} {_FENCE}"
        out += _split_step(unit, first, last, after)
    if loop >= 0 and loop != tail.steps[0][0]:
        out += (insert(unit.p[loop], "{ "), insert(unit.end(stop), " }", Side.LEFT))
    first = tail.steps[0][0]
    if tail.before and unit.tok(first - 1) in (";", "{", "}"):
        out.append(insert(unit.p[first], f"{_FENCE} "))
    return tuple(out)


def _split_step(unit: Unit, first: int, last: int, after: str) -> tuple[Edit, ...]:
    """The step at tokens first to last, its `;`: what it reads goes before a fence, what it writes behind."""
    e = read_expression(unit, first, last)
    if not isinstance(e, Assign):
        return (insert(unit.end(last), f" {_FENCE}", Side.LEFT),)
    value, target = Span(unit.end(e.at), unit.end(last - 1)), Span(unit.p[first], unit.end(e.at))
    text = ("{ const auto cu2port_read =", value, f"; {_FENCE} ", target, f" cu2port_read;{after}")
    return (Edit(unit.p[first], unit.end(last), text),)
