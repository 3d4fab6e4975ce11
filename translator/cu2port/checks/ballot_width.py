from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes

_MASKS = ("__activemask", "__ballot", "__ballot_sync", "__match_all_sync", "__match_any_sync")
_NARROW = frozenset({"int", "unsigned", "uint", "uint32_t", "int32_t", "std::uint32_t", "u32"})
_FLAG = Options(warp="flag")


class BallotWidth(Check):
    """A mask of lanes is kept in 32 bits.

    Ballots, matches and the active mask have 64 bits in HIP; on a wavefront of 64 the upper half is lost here.
    Reported with `--warp flag` and in code for HIP; else ballots go to `cu2port/warp.hpp` and have 32 bits (CU313).
    """

    code, name, severity = "CU312", "ballot-width", Severity.WARNING
    examples = (
        Example(
            "__device__ void f() { unsigned m = __activemask(); }",
            "__device__ void f() { unsigned m = __activemask(); }",
            options=_FLAG,
        ),
        Example(
            "__device__ void f() { const unsigned int m = __ballot(x); }",
            "__device__ void f() { const unsigned int m = __ballot(x); }",
            options=_FLAG,
        ),
        Example("__device__ void f() { unsigned m = __activemask(); }", note="rewritten by CU313"),
        Example(
            "__device__ void f() { unsigned long long m = __activemask(); auto n = __ballot(x); }",
            note="wide",
            options=_FLAG,
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_MASKS):
            return
        mode = modes(unit)
        for i in unit.find(*_MASKS):
            if unit.tok(i - 1) not in ("=", "(", "{") or unit.tok(i + 1) != "(" or unit.in_directive(i) is not None:
                continue
            if mode(i) != "flag":
                continue
            name = i - 2
            kind = unit.tok(name - 1)
            wide = "long" in (unit.tok(name - 2), unit.tok(name - 3))
            if kind not in _NARROW or wide or (unit.tok(i - 1) == "(" and unit.tok(name - 1) not in _NARROW):
                continue
            yield self.finding(
                f"`{unit.t[name]}` keeps a mask of lanes in 32 bits; `{unit.t[i]}` gives 64",
                unit.p[name - 1],
                unit.end(i),
                effects=(("wave64", "wrong-result"),),
            )
