"""Fixes that only lint makes: in code that is HIP's, what is right on wavefronts of 32 lanes and of 64 alike.

    __popc(__ballot(p))                 __popcll(__ballot(p))                 so with __ffs, and 31 - __clz
    unsigned m = __ballot(p);           unsigned long long m = __ballot(p);   with all uses of m
    __shfl_sync(0xffffffff, v, 0)       cu2port::warp::shfl(0xffffffff, v, 0)

A `*_sync` builtin with a mask of 32 bits does not compile with HIP 7: it was written for CUDA's warps, which the
functions of `cu2port/warp.hpp` keep. Beside names of a whole wavefront a person should look at that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed

from cu2port.model import Edit, Finding, Span, Trust, replace
from cu2port.unit import Unit
from cu2port.warp.classify import classify
from cu2port.warpnames import HEADER, LOGICAL, SHUFFLES, SPACE

_WIDER = {"__popc": "__popcll", "__ffs": "__ffsll"}
_BEFORE = frozenset({"(", "[", "=", "+", ",", "return"})  # of `31 - __clz(mask)`: it is a number by itself there
_SIZE = re.compile(r"(?i)\w*(?:warp|wave)_?(?:size|threads|width)\w*\Z")
_ONE = re.compile(r"(?:1|0x1)[uU]?\Z")
_WHOLE = frozenset({"warpSize", "__ballot", "__activemask", "__any", "__all", "__lane_id", *SHUFFLES})
_Made = tuple[tuple[Edit, ...], Trust, tuple[str, ...]]


def with_fixes(unit: Unit, findings: Sequence[Finding], spans: Sequence[Span], keeps_warps: bool) -> list[Finding]:
    """Findings with the edits that mend them, where there are some. `spans`: what is HIP's code; `keeps_warps`:
    CUDA's warps are kept in it, and what a whole wavefront does is wrong in itself."""
    whole = tuple(spans) == (Span(0, len(unit.text)),)
    if not any(f.code in _FIXES for f in findings):
        return list(findings)
    out = []
    for f in findings:
        make = None if f.edits or (keeps_warps and f.code != "CU310") else _FIXES.get(f.code)
        made = make(unit, f, whole) if make is not None else None
        out.append(f if made is None else changed(f, edits=made[0], trust=made[1], helpers=made[2]))
    edits = [e for f in out if f.code in _FIXES for e in f.edits]
    if edits and _counts_32(unit, edits):  # with 64 bits of a mask the rest has to change too
        out = [changed(f, trust=min(f.trust, Trust.REVIEW)) if f.code in ("CU312", "CU323") else f for f in out]
    return out


def _counts_32(unit: Unit, edits: Sequence[Edit]) -> bool:
    """Whether a file counts the lanes of a warp with a number or a name of its own, places that change left out."""
    if any(_SIZE.match(w) and w != "warpSize" for w in unit.words):
        return True
    changed_at = {e.start for e in edits}
    return any(v.lanes and unit.t[v.at] != "warpSize" and unit.p[v.at] not in changed_at for v in classify(unit))


def _counted(unit: Unit, f: Finding, _whole: bool) -> _Made | None:
    """A function for 32 bits around a ballot."""
    edits = _wider(unit, unit.lexed.at(f.start))
    return (edits, Trust.EXACT, ()) if edits else None


def _wider(unit: Unit, i: int) -> tuple[Edit, ...]:
    """The edits that let the function at token i see 64 bits and mean the same; none if there are none."""
    name = unit.t[i]
    if name in _WIDER:
        return (replace(unit.p[i], unit.end(i), _WIDER[name]),)
    if name == "__clz" and unit.t[i - 2 : i] == ["31", "-"] and unit.tok(i - 3) in _BEFORE:
        return (replace(unit.p[i - 2], unit.end(i - 2), "63"), replace(unit.p[i], unit.end(i), "__clzll"))
    return ()


def _kept(unit: Unit, f: Finding, _whole: bool) -> _Made | None:
    """A ballot in a variable of 32 bits: its type, and all places that read it."""
    first = unit.lexed.at(f.start)
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
    return tuple(dict.fromkeys(edits)), Trust.EXACT if sure else Trust.REVIEW, ()


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
        return _wider(unit, i - 2) or None
    if before == "(" and unit.tok(i - 2) == "__popc" and after == "&":
        below = _below(unit, i + 2)
        close = unit.match[i - 1]
        return (*_wider(unit, i - 2), *below[0]) if below is not None and below[1] == close else None
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


def _masked(unit: Unit, f: Finding, whole: bool) -> _Made | None:
    """A `*_sync` builtin with a mask of 32 bits."""
    i = next(
        (k for k in unit.find(f.cuda) if (c := unit.call(k)) is not None and c.args and c.args[0].start == f.start), -1
    )
    if i < 0 or not whole or f.cuda not in LOGICAL:
        return None
    start = unit.p[i - 1] if unit.tok(i - 1) == "::" else unit.p[i]
    trust = Trust.EXACT if unit.words.isdisjoint(_WHOLE) else Trust.REVIEW
    return (replace(start, unit.end(i), SPACE + LOGICAL[f.cuda]),), trust, (HEADER,)


_FIXES: Mapping[str, Callable[[Unit, Finding, bool], _Made | None]] = {
    "CU310": _masked,
    "CU312": _kept,
    "CU323": _counted,
}
