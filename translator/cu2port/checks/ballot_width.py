from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.checks.mask_bits import wider
from cu2port.core.model import Edit, Finding, Options, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes

_MASKS = ("__activemask", "__ballot", "__ballot_sync", "__match_all_sync", "__match_any_sync")
_NARROW = frozenset({"int", "unsigned", "uint", "uint32_t", "int32_t", "std::uint32_t", "u32"})
_ONE = re.compile(r"(?:1|0x1)[uU]?\Z")
_FLAG = Options(warp="flag")


class BallotWidth(Check):
    """A mask of lanes is kept in 32 bits.

    Ballots, matches and the active mask have 64 bits in HIP; on a wavefront of 64 the upper half is lost here.
    Reported with `--warp flag` and in code for HIP; else ballots go to `cu2port/warp.hpp` and have 32 bits (CU313).
    """

    code, name, severity = "CU312", "ballot-width", Severity.WARNING
    true_of_hip = True
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
                operation=unit.p[i],
            )

    def widened(self, unit: Unit, finding: Finding) -> tuple[tuple[Edit, ...], Trust] | None:
        """The type of the variable, and all places that read it."""
        first = unit.lexed.at(finding.start)
        while unit.tok(first - 1) in ("unsigned", "int"):
            first -= 1
        name = next((k for k in range(first, first + 4) if unit.tok(k + 1) in ("=", "(", "{")), -1)
        function = unit.function_at(first)
        if name < 0 or function is None:
            return None
        edits = [replace(unit.p[first], unit.end(name - 1), "unsigned long long")]
        sure = unit.tok(first - 1) in (";", "{", "}", "const") and unit.tok(_end(unit, name)) == ";"
        for i in unit.find(unit.t[name]):
            if i != name and function.body[0] < i < function.body[1]:
                use = _use(unit, i) if i > name else None
                sure = sure and use is not None
                edits += use or ()
        return tuple(dict.fromkeys(edits)), Trust.EXACT if sure else Trust.REVIEW


def _end(unit: Unit, name: int) -> int:
    """The token behind the call that a variable is set to."""
    k = name + 2
    while unit.tok(k) not in ("(", ""):
        k += 1
    close = unit.match[k] if k < len(unit.t) else -1
    return close + 1 if unit.tok(name + 1) == "=" else close + 2


def _use(unit: Unit, i: int) -> tuple[Edit, ...] | None:
    """The edits of one place that reads a mask, so that it reads 64 bits; None where that is not known to be right."""
    before, after = unit.tok(i - 1), unit.tok(i + 1)
    if before == "(" and after == ")" and unit.tok(i - 2) in ("__popc", "__ffs", "__clz"):
        return wider(unit, i - 2) or None
    if before == "(" and unit.tok(i - 2) == "__popc" and after == "&":
        below = _below(unit, i + 2)
        close = unit.match[i - 1]
        return (*wider(unit, i - 2), *below[0]) if below is not None and below[1] == close else None
    if after in ("==", "!=") and unit.tok(i + 2) in ("0", "0u", "0U") and before in ("(", "&&", "||", "=", "return"):
        return ()
    if after in (")", "&&", "||") and (
        before in ("!", "&&", "||") or (before == "(" and unit.tok(i - 2) in ("if", "while"))
    ):
        return ()
    return None


def _below(unit: Unit, k: int) -> tuple[tuple[Edit, ...], int] | None:
    """`((1u << lane) - 1)` from token k on: its edits, and the token behind it."""
    close = unit.match[k] if unit.tok(k) == "(" else -1
    inner = unit.match[k + 1] if unit.tok(k + 1) == "(" else -1
    if close < 0 or inner < 0 or unit.t[inner + 1 : close] not in (["-", "1"], ["-", "1u"], ["-", "1U"]):
        return None
    one = k + 2
    if not _ONE.match(unit.tok(one)) or (unit.tok(one + 1) != "<" and unit.tok(one + 1) != "<<"):
        return None
    return (replace(unit.p[one], unit.end(one), "1ull"),), close + 1
