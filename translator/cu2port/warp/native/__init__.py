"""`--warp native`: which kernels of a file work with whole wavefronts, what is written for it, and why others don't.

A device function whose answer does not depend on the number of lanes (the sum of a block) may be rewritten whoever
calls it. A function that puts the values of a warp together stays, since other files may call it too; native code calls
`cu2port::wave` in its place.

    patterns    the table: what code writes where it works with lanes, warps and their values
    match, read     patterns compared with code; what may be in their holes, what code says at a place
    ladders, lines, numbers     steps for each distance; functions of one line in them; constants
    reductions  functions that are nothing but a reduction
    walk        the proof: a walk over the statements of a function, from one frozen state to the next
    flow, stores, values, calls, sums   its parts: control flow, what is written, expressions, calls, reductions
    state, valued       what is known at a place; the value of an expression there
    reasons     why code stays as it is
    edits       what is written in place of ladders
    types, widths       types in C++; which of several functions a call means
    graph, proofs       which function calls which; what each does, proved once
    plan        which functions become native, with which edits
    asked       whether there is native code for a file, and which findings it leaves
    groups      which expressions are groups of the table
    headers, spelled, host      constants of headers, macros, shapes of blocks at launches

A function's proof is a value: `Proved`, or `Refused` with a reason of the table in `reasons`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from cu2port.core.late import dataclass
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
    """What happens to the kernels of a file that work with warps. `rewritten`: functions and their edits; `kernels`:
    those that are native, and what they reach (`reached`); `kept`: those that are not."""

    rewritten: tuple[tuple[Function, tuple[Edit, ...]], ...] = ()
    kernels: tuple[Function, ...] = ()
    kept: tuple[Kept, ...] = ()
    reached: Mapping[Function, tuple[Function, ...]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[tuple[Function, tuple[Edit, ...]], ...]:
        """Kernels with everything that is rewritten for them, then functions that only other kernels call."""
        own = dict(self.rewritten)
        out = []
        for k in self.kernels:
            mine = [e for f in (k, *self.reached.get(k, ())) for e in own.get(f, ())]
            out.append((k, tuple(mine)))
        seen = {f for k in self.kernels for f in (k, *self.reached.get(k, ()))}
        return (*out, *((f, edits) for f, edits in self.rewritten if f not in seen))
