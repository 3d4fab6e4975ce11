"""`--warp native`: which kernels of a file work with whole wavefronts, what is written for it, and why others don't.

A device function whose answer does not depend on the number of lanes (the sum of a block) may be rewritten whoever
calls it. A function that puts the values of a warp together stays, since other files may call it too; native code calls
`cu2port::wave` in its place.

    asked       whether there is native code for a file, and which findings it leaves
    plan        which functions become native, with which edits
    walk        the proof: a walk over the statements of a function
    branches, stores, exprs, sums, forms    its parts: control flow, what is written, expressions, reductions, lanes
    lanes       what is known at a place, which they share; what a function does
    sized, widths       functions over as many lanes as a parameter says; which of several a call means
    spelled             what macros lead to
    values, types       what a value is when warps become wavefronts; its type in C++
    patterns    the table: how two lanes' values are put together, and calls that do it for a warp at once
    steps, lines    ladders of such steps, however they are spelled; functions of one line in them
    numbers, groups, headers    what all know: constants, groups of threads, constants of headers
    host                shapes of blocks at launches
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cu2port.core.model import Edit
from cu2port.facts.structure import Function

HEADER = "wave.hpp"


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
