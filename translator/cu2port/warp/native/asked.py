"""What native code a file gets, and which findings are left. The proof is loaded when native code is asked for."""

from __future__ import annotations

from functools import lru_cache

from cu2port.core.model import Finding, Options, Span
from cu2port.facts.unit import Unit
from cu2port.warp.native import Native

_NOTHING = Native()


def is_asked(options: Options) -> bool:
    """Whether some code shall be native."""
    return options.warp == "native" or any(mode == "native" for _, mode in options.kernels)


def native(unit: Unit) -> Native:
    """What native code a file gets. Nothing where nothing is asked for."""
    return _native(unit) if is_asked(unit.options) else _NOTHING


def not_replaced(unit: Unit, findings: list[Finding], code: str) -> list[Finding]:
    """The findings on code that native code does not replace. `code`: the rule that does; its findings stay."""
    gone: list[tuple[int, int]] = []
    for _, edits in native(unit).rewritten:
        for e in edits:
            at, gaps = e.start, []
            kept = [p for p in e.parts if isinstance(p, Span) and e.start <= p.start <= p.end <= e.end]
            for part in kept:
                gaps.append((at, part.start))
                at = part.end
            gaps.append((at, e.end))
            # what an edit keeps from end to end takes nothing from the edits around it
            gone += [g for g in gaps if g[0] < g[1] or not kept]
    if not gone:
        return findings

    def stays(f: Finding) -> bool:
        spans = [(x.start, x.end) for x in f.edits] or [(f.start, f.end)]
        if any(start == end for start, end in spans):  # put in before or behind what the finding is about
            spans.append((f.start, f.end))
        return f.code == code or not any(a < end and start < b for start, end in spans for a, b in gone)

    return [f for f in findings if stays(f)]


@lru_cache(maxsize=2)
def _native(unit: Unit) -> Native:
    from cu2port.warp.native.plan import plan

    return plan(unit)
