"""Fixes that only lint makes: right on wavefronts of 32 lanes and of 64 alike.

Where a file was written for warps of 32 lanes (`intent.py`), its lane operations get what a conversion gives them:

    __shfl_down(v, d)                   __shfl_down(v, d, 32)
    __ballot(p), __shfl_sync(m, v, 0)   cu2port::warp::ballot(p), cu2port::warp::shfl(m, v, 0)

Where nothing counts lanes, masks get the bits of a wavefront:

    __popc(__ballot(p))                 __popcll(__ballot(p))                 so with __ffs, and 31 - __clz
    unsigned m = __ballot(p);           unsigned long long m = __ballot(p);   with all uses of m
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as changed

from cu2port.checks import all_checks, by_code
from cu2port.core.model import Edit, Finding, InHip, Span, Trust
from cu2port.facts.unit import Unit
from cu2port.lint.intent import counts_lanes, lanes_32

_Fix = tuple[tuple[Edit, ...], Trust, tuple[str, ...]]


def with_fixes(unit: Unit, findings: Sequence[Finding], spans: Sequence[Span], keeps_warps: bool) -> list[Finding]:
    """Findings with the edits that fix them, where there are some. `spans`: what is HIP's code; `keeps_warps`:
    CUDA's warps are kept in it, and what a whole wavefront does is wrong in itself."""
    if not any(f.operation >= 0 for f in findings):
        return list(findings)
    whole = tuple(spans) == (Span(0, len(unit.text)),)
    trust = lanes_32(unit)
    kept = _kept_to_32(unit) if trust is not None else {}
    out: list[Finding] = []
    wide = []  # where in `out` masks get the bits of a wavefront
    for f in findings:
        fix: _Fix | None = None
        if not f.edits and f.operation >= 0 and (whole or is_neutral(f)):
            if trust is not None:
                fix = _narrowed(unit, f, kept, trust)
            elif not keeps_warps and (found := by_code()[f.code].widened(unit, f)) is not None:
                fix = *found, ()
                wide.append(len(out))
        out.append(f if fix is None else changed(f, edits=fix[0], trust=fix[1], helpers=fix[2]))
    if wide and counts_lanes(unit, frozenset(e.start for n in wide for e in out[n].edits)):
        for n in wide:  # with 64 bits of a mask the rest has to change too
            out[n] = changed(out[n], trust=min(out[n].trust, Trust.REVIEW))
    return out


def is_neutral(f: Finding) -> bool:
    """Whether a finding's fixes mean the same in CUDA."""
    check = by_code().get(f.code)
    return check is not None and check.lint.neutral


def _kept_to_32(unit: Unit) -> dict[int, Finding]:
    """What a conversion changes about the lane operations of a CUDA file, by where they begin."""
    project = changed(unit.project, renamed_only=True)
    options = changed(unit.options, warp="logical")
    other = Unit(unit.text, unit.catalog, options, unit.path, project)
    wide = (check for check in all_checks() if InHip.WIDE in check.lint.in_hip)
    return {f.operation: f for check in wide for f in check.run(other) if f.edits}


def _narrowed(unit: Unit, f: Finding, kept: Mapping[int, Finding], trust: Trust) -> _Fix | None:
    """The edits that keep the operation which a finding refers to to 32 lanes."""
    if f.operation not in kept:
        return None
    changes = [kept[f.operation]]
    function = unit.function_at(unit.lexed.at(f.operation))
    if function is not None and (trust is not Trust.EXACT or by_code()[f.code].lint.with_size):
        first, last = unit.p[function.first], unit.p[function.body[1]]
        changes += [k for at, k in kept.items() if k.cuda == "warpSize" and first < at < last]
    edits = tuple(dict.fromkeys(e for c in changes for e in c.edits))
    return edits, trust, tuple(sorted({h for c in changes for h in c.helpers}))
