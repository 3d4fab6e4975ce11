"""`--warp native`: which kernels of a file work with whole wavefronts, what is written for it, and why others don't.

A device function whose answer does not depend on the number of lanes (the sum of a block) may be rewritten whoever
calls it. A function that puts the values of a warp together stays, since other files may call it too; native code calls
`cu2port::wave` in its place.

    plan        which functions become native, with which edits; this module answers for a file
    walk, branches, stores, exprs, lane_forms, lanes, conditions, reductions    the proof
    sized, widths       functions over as many lanes as a parameter says; which of several a call means
    spelled             what macros lead to
    values, types       what a value is when warps become wavefronts; its type in C++
    idioms, numbers, groups, headers    what all know: reductions, constants, groups of threads, constants of headers
    host                shapes of blocks at launches
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from cu2port.model import Edit, Finding, Options, Span
from cu2port.structure import Function
from cu2port.unit import Unit

HEADER = "wave.hpp"
CODE = "CU356"  # the rule that rewrites


@dataclass(frozen=True, slots=True)
class Kept:
    """A kernel that keeps CUDA's warps, or a function that no kernel of the file calls: the place and the reason."""

    kernel: Function
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Native:
    """What becomes of the kernels of a file that work with warps. `rewritten`: functions and their edits; `kernels`:
    those that are native, and what they reach (`reached`); `kept`: those that are not."""

    rewritten: tuple[tuple[Function, tuple[Edit, ...]], ...] = ()
    kernels: tuple[Function, ...] = ()
    kept: tuple[Kept, ...] = ()
    reached: Mapping[Function, tuple[Function, ...]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[tuple[Function, tuple[Edit, ...]], ...]:
        """Kernels with all that is written anew for them, then functions that only other kernels call."""
        own = dict(self.rewritten)
        out = []
        for k in self.kernels:
            mine = [e for f in (k, *self.reached.get(k, ())) for e in own.get(f, ())]
            out.append((k, tuple(mine)))
        seen = {f for k in self.kernels for f in (k, *self.reached.get(k, ()))}
        return (*out, *((f, edits) for f, edits in self.rewritten if f not in seen))


_NOTHING = Native()


def is_asked(options: Options) -> bool:
    """Whether some code shall be native."""
    return options.warp == "native" or any(mode == "native" for _, mode in options.kernels)


def native(unit: Unit) -> Native:
    """What native code a file gets. Nothing where nothing is asked for."""
    return _native(unit) if is_asked(unit.options) else _NOTHING


def apart(unit: Unit, findings: list[Finding]) -> list[Finding]:
    """The findings on code that native code does not replace."""
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
        if any(start == end for start, end in spans):  # put in before or behind what the finding speaks of
            spans.append((f.start, f.end))
        return f.code == CODE or not any(a < end and start < b for start, end in spans for a, b in gone)

    return [f for f in findings if stays(f)]


@lru_cache(maxsize=2)
def _native(unit: Unit) -> Native:
    from cu2port.warp.native.plan import Plan  # most runs do without

    return Plan(unit).made()
