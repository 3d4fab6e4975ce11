from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.checks.mask_bits import wider
from cu2port.core.model import Edit, Finding, Options, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes
from cu2port.syntax.around import around, statement_around
from cu2port.syntax.tree import Binary, CallExpr, Expr, Num, Switch, Unary, callee

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
    triggers = frozenset(_MASKS)
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
        for i in unit.between(name + 1, unit.declarations.scope_at(name).last, unit.t[name]):
            use = _use(unit, i)
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
    path = around(unit, i)
    if len(path) == 1 and isinstance(statement_around(unit, i), Switch):  # `if (mask)`
        return ()
    if len(path) < 2 or path[0].around:
        return None
    mask, e = path[:2]
    if isinstance(e, CallExpr):
        known = callee(e) in ("__popc", "__ffs", "__clz") and len(e.args) == 1 and e.args[0] is mask
        return wider(unit, e.at) or None if known else None
    if isinstance(e, Unary):
        return () if e.op == "!" else None
    if not isinstance(e, Binary):
        return None
    if e.op in ("&&", "||") or (e.op in ("==", "!=") and e.a is mask and unit.t[e.b.at] in ("0", "0u", "0U")):
        return ()
    count = path[2] if len(path) > 2 else None
    one = _below(unit, e.b) if e.op == "&" and e.a is mask else -1
    if one < 0 or not isinstance(count, CallExpr) or callee(count) != "__popc" or len(count.args) != 1:
        return None
    return (*wider(unit, count.at), replace(unit.p[one], unit.end(one), "1ull"))


def _below(unit: Unit, e: Expr) -> int:
    """The first 1 of `((1u << lane) - 1)`; -1 for any other expression."""
    if not isinstance(e, Binary) or e.op != "-" or not isinstance(e.b, Num) or e.b.value != 1:
        return -1
    bit = e.a
    is_bit = isinstance(bit, Binary) and bit.op == "<<" and _ONE.match(unit.t[bit.a.at]) is not None
    return bit.a.at if is_bit and isinstance(bit, Binary) else -1
