from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Options, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes
from cu2port.syntax.around import around
from cu2port.syntax.tree import Binary, CallExpr

_NARROW = {"__popc": "__popcll", "__ffs": "__ffsll", "__clz": "__clzll", "__brev": "__brevll", "__fns": "__fns64"}
_MASKS = frozenset("__ballot __ballot_sync __activemask __match_any __match_any_sync __match_all_sync".split())
_WIDER = {"__popc": "__popcll", "__ffs": "__ffsll"}
_FLAG = Options(warp="flag")


class MaskBits(Check):
    """A function for 32 bits is applied to a mask of lanes, which has 64 in HIP.

    `__popc`, `__ffs`, `__clz` and their like drop the upper half. Reported with `--warp flag` and in code for HIP; else
    votes go to `cu2port/warp.hpp` and have 32 bits (CU313).
    """

    code, name, severity = "CU323", "mask-bits", Severity.WARNING
    triggers = frozenset(_NARROW)
    true_of_hip = True
    examples = (
        Example(
            "__device__ int f(int p) { return __popc(__ballot_sync(~0u, p)); }",
            "__device__ int f(int p) { return __popc(__ballot_sync(~0u, p)); }",
            options=_FLAG,
        ),
        Example(
            "#include <hip/hip_runtime.h>\n__device__ int f() { return 31 - __clz(__activemask()); }",
            "#include <hip/hip_runtime.h>\n__device__ int f() { return 31 - __clz(__activemask()); }",
            "HIP's own code",
        ),
        Example("__device__ int f(int p) { return __popc(__ballot_sync(~0u, p)); }", note="rewritten by CU313"),
        Example("__device__ int f(int p) { return __popcll(__ballot(p)); }", note="wide", options=_FLAG),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_NARROW) or unit.words.isdisjoint(_MASKS):
            return
        mode = modes(unit)
        for i in unit.find(*_NARROW):
            if unit.tok(i + 1) == "(" and unit.tok(i + 2) in _MASKS and mode(i) == "flag":
                yield self.finding(
                    f"`{unit.t[i]}` sees 32 of the 64 bits of `{unit.t[i + 2]}`; `{_NARROW[unit.t[i]]}` sees all",
                    unit.p[i],
                    unit.end(i),
                    effects=(("wave64", "wrong-result"), ("wave32", "none")),
                    operation=unit.p[i + 2],
                )

    def widened(self, unit: Unit, finding: Finding) -> tuple[tuple[Edit, ...], Trust] | None:
        edits = wider(unit, unit.lexed.at(finding.start))
        return (edits, Trust.EXACT) if edits else None


def wider(unit: Unit, i: int) -> tuple[Edit, ...]:
    """The edits that let the function at token i see 64 bits and mean the same; none if there are none."""
    name = unit.t[i]
    if name in _WIDER:
        return (replace(unit.p[i], unit.end(i), _WIDER[name]),)
    path = around(unit, i) if name == "__clz" else ()
    outer = path[2] if len(path) > 2 and isinstance(path[1], CallExpr) else None
    if isinstance(outer, Binary) and outer.op == "-" and outer.b is path[1] and unit.t[outer.a.at] == "31":
        at = outer.a.at
        return (replace(unit.p[at], unit.end(at), "63"), replace(unit.p[i], unit.end(i), "__clzll"))
    return ()
