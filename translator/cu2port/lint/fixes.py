"""Fixes that only lint makes: right on wavefronts of 32 lanes and of 64 alike.

Where a file was written for warps of 32 lanes (`intent.py`), its lane operations get what a conversion gives them:

    __shfl_down(v, d)                   __shfl_down(v, d, 32)
    __ballot(p), __shfl_sync(m, v, 0)   cu2port::warp::ballot(p), cu2port::warp::shfl(m, v, 0)

Where nothing counts lanes, masks get the bits of a wavefront:

    __popc(__ballot(p))                 __popcll(__ballot(p))                 so with __ffs, and 31 - __clz
    unsigned m = __ballot(p);           unsigned long long m = __ballot(p);   with all uses of m
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed

from cu2port.checks import all_checks
from cu2port.core.model import Edit, Finding, Span, Trust, replace
from cu2port.facts.unit import Unit
from cu2port.lint.intent import counts_lanes, lanes_32

_WIDER = {"__popc": "__popcll", "__ffs": "__ffsll"}
_BEFORE = frozenset({"(", "[", "=", "+", ",", "return"})  # of `31 - __clz(mask)`: it is a number by itself there
_ONE = re.compile(r"(?:1|0x1)[uU]?\Z")
_KEPT = ("CU313", "CU314", "CU315")
#: Rules whose fixes mean the same in CUDA: they are made in any code.
NEUTRAL = frozenset({"CU314", "CU319"})
_Made = tuple[tuple[Edit, ...], Trust, tuple[str, ...]]


def with_fixes(unit: Unit, findings: Sequence[Finding], spans: Sequence[Span], keeps_warps: bool) -> list[Finding]:
    """Findings with the edits that fix them, where there are some. `spans`: what is HIP's code; `keeps_warps`:
    CUDA's warps are kept in it, and what a whole wavefront does is wrong in itself."""
    if not any(f.code in _PLACES for f in findings):
        return list(findings)
    whole = tuple(spans) == (Span(0, len(unit.text)),)
    trust = lanes_32(unit)
    kept = _kept_to_32(unit) if trust is not None else {}
    out = []
    for f in findings:
        made: _Made | None = None
        if not f.edits and f.code in _PLACES and (whole or f.code in NEUTRAL):
            if trust is not None:
                made = _narrowed(unit, f, kept, trust)
            elif not keeps_warps and f.code in _WIDENED:
                made = _WIDENED[f.code](unit, f)
        out.append(f if made is None else changed(f, edits=made[0], trust=made[1], helpers=made[2]))
    wide = [e for f in out if f.code in _WIDENED for e in f.edits] if trust is None else []
    if wide and counts_lanes(
        unit, frozenset(e.start for e in wide)
    ):  # with 64 bits of a mask the rest has to change too
        out = [changed(f, trust=min(f.trust, Trust.REVIEW)) if f.code in _WIDENED else f for f in out]
    return out


def _kept_to_32(unit: Unit) -> dict[int, Finding]:
    """What a conversion changes about the lane operations of a file of CUDA's, by token."""
    project = changed(unit.project, renamed_only=True)
    options = changed(unit.options, warp="logical")
    other = Unit(unit.text, unit.catalog, options, unit.path, project)
    found = (f for check in all_checks() if check.code in _KEPT for f in check.run(other) if f.edits)
    return {(i + 1 if unit.t[i] == "::" else i): f for f in found for i in (unit.lexed.at(f.start),)}


def _narrowed(unit: Unit, f: Finding, kept: Mapping[int, Finding], trust: Trust) -> _Made | None:
    """The edits that keep the operation which a finding refers to to 32 lanes."""
    i = _PLACES[f.code](unit, f)
    if i not in kept:
        return None
    changes = [kept[i]]
    if trust is not Trust.EXACT or f.code == "CU310":  # the warp's size goes with it
        function = unit.function_at(i)
        sizes = (k for k in kept if unit.t[k] == "warpSize") if function is not None else ()
        changes += [kept[k] for k in sizes if function is not None and function.first < k < function.body[1]]
    edits = tuple(dict.fromkeys(e for c in changes for e in c.edits))
    return edits, trust, tuple(sorted({h for c in changes for h in c.helpers}))


def _masked_call(unit: Unit, f: Finding) -> int:
    """The `*_sync` builtin whose mask a finding refers to."""
    return next(
        (k for k in unit.find(f.cuda) if (c := unit.call(k)) is not None and c.args and c.args[0].start == f.start), -1
    )


def _at_start(unit: Unit, f: Finding) -> int:
    i = unit.lexed.at(f.start)
    return i + 1 if unit.t[i] == "::" else i


_PLACES: Mapping[str, Callable[[Unit, Finding], int]] = {
    "CU310": _masked_call,
    "CU311": lambda unit, f: _at_start(unit, f) if unit.options.rocm < (7, 0) else -1,  # else CU310 has the fix
    "CU312": lambda unit, f: unit.lexed.at(f.end) - 1,
    "CU313": _at_start,
    "CU314": _at_start,
    "CU315": _at_start,
    "CU323": lambda unit, f: unit.lexed.at(f.start) + 2,
}


def _counted(unit: Unit, f: Finding) -> _Made | None:
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


def _wide_mask(unit: Unit, f: Finding) -> _Made | None:
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


_WIDENED: Mapping[str, Callable[[Unit, Finding], _Made | None]] = {"CU312": _wide_mask, "CU323": _counted}
