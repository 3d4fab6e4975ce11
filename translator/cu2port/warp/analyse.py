"""The analysis of one file: where to look, the fixpoint over calls, and what came out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Num
from cu2port.warp import builtins
from cu2port.warp.functions import device_functions
from cu2port.warp.headers import header_facts
from cu2port.warp.hostside import kernels_of_rows
from cu2port.warp.interp import Interpreter
from cu2port.warp.model import Device, make_device
from cu2port.warp.triggers import HAZARDS, hazardous, triggers
from cu2port.warp.uses import Array, Use
from cu2port.warp.values import Kind

_ROUNDS = 6
LITERALS = frozenset({"32", "31", "5", "32u", "31u", "5u", "32U", "31U", "5U", "0x1f", "0x1F", "0x1fu", "0x1Fu", "0x20",
                      "32UL", "31UL", "32ul", "32ULL", "0x1FU"})  # fmt: skip
_WARPISH = re.compile(r"(?i)\A(?:.*warp.*|.*lane.*|.*shfl.*|ws|wid|.*ballot.*|.*wave.*)\Z")
_MATRICES = re.compile(r"(?:wmma|mma_sync|ldmatrix|fragment|\w*_mma\w*|mma_\w*)\Z")
_ROWS = re.compile(
    r"threadIdx \. x \+ (?:threadIdx \. y \* 32\b|32 \* threadIdx \. y)"
    r"|(?:threadIdx \. y \* 32|32 \* threadIdx \. y) \+ threadIdx \. x"
)
_PLACES = frozenset({"threadIdx", "warpSize"})
_DEVICE = frozenset({"__device__", "__global__"})


@dataclass(frozen=True, slots=True)
class WarpFacts:
    """What the device functions of a file do with lanes. `uses`: of literals, by token; `arrays`: in shared memory."""

    devices: tuple[Device, ...]
    uses: dict[int, tuple[Use, ...]]
    arrays: tuple[Array, ...]
    warpish: frozenset[str]  # functions that work with lanes of a warp
    extents: frozenset[tuple[str, str]] = frozenset()  # function and names of what its lanes are compared with
    hazardous: frozenset[str] = frozenset()  # functions that something in them, or a call, lets wait or meet

    def named(self, name: str) -> tuple[Device, ...]:
        """The functions of a name."""
        return tuple(d for d in self.devices if d.name == name)


_NOTHING = WarpFacts((), {}, (), frozenset())


def reasons(unit: Unit) -> bool:
    """Whether a file has anything to look at: threads, and something that a warp matters to."""
    words = unit.words
    if not words & (_PLACES | builtins.FILTER | _DEVICE) and not any("DEVICE" in w for w in words if w.isupper()):
        return False
    return bool(words & LITERALS or words & builtins.FILTER or words & HAZARDS or "warpSize" in words) or any(
        _WARPISH.match(w) for w in words
    )


def _loud(unit: Unit, first: int, stop: int, more: set[str] | None = None) -> bool:
    """Whether tokens have a reason to look at them."""
    words = set(unit.t[first:stop])
    return bool(words & LITERALS or words & builtins.FILTER or words & HAZARDS or (more and words & more)) or any(
        _WARPISH.match(w) for w in words
    )


def analyse(unit: Unit, hazards_only: bool = False) -> WarpFacts:
    """Interpret the device functions of a file that have a reason, and those that call or are called by them.

    `hazards_only`: literals are no reason; what hangs is looked for, in a fraction of the time.
    """
    return _analyse(unit, hazards_only)


@lru_cache(maxsize=2)
def _analyse(unit: Unit, hazards_only: bool) -> WarpFacts:
    functions = device_functions(unit)
    may_hang = bool(functions) and unit.once(triggers)
    if not functions or not (may_hang or (not hazards_only and reasons(unit))):
        return _NOTHING
    loud = {name for i in unit.find("volatile") if unit.function_at(i) is None for name in unit.t[i + 2 : i + 4]}
    found, meeting = hazardous(unit, functions, loud)
    wanted: Set[str] = found
    if not hazards_only:
        loud |= {name for name, ms in unit.macros.items() if any(_loud(unit, m.first, m.stop) for m in ms)}
        wanted |= {f.name for f in functions if _loud(unit, f.first, f.body[1], loud)}
    if not wanted:
        return _NOTHING
    names = {f.name for f in functions}
    called = {f.name: names.intersection(unit.t[f.body[0] : f.body[1]]) for f in functions}
    callers = _callers(called)
    quiet = {f.name for f in functions if _PLACES.isdisjoint(unit.t[f.body[0] : f.body[1]])} - meeting
    hazard = _reached(found if may_hang else frozenset(), called, callers, quiet)
    wanted = hazard if hazards_only else _reached(wanted, called, callers, frozenset())
    devices = [make_device(unit, f) for f in functions if f.name in wanted]
    interp = Interpreter(unit)
    collective: set[str] = set()
    if not hazards_only:
        known = header_facts(unit)
        collective = known.collective
        interp.outer.of_headers, interp.widths, interp.results = known.constants, known.widths, known.results
        _rows(unit, devices, called, collective)
    for d in devices:
        interp.devices.setdefault(d.name, []).append(d)
    run_all(interp, devices)
    if not hazards_only:
        if interp.masks:  # who reads them may have been interpreted before they were known
            run_all(interp, [d for d in devices if interp.masks & set(unit.t[d.fn.body[0] : d.fn.body[1]])])
        interp.outside()
        interp.settle()
    warpish = _warpish(unit, devices, called, collective)
    uses = {at: tuple(found) for at, found in interp.uses.items()}
    return WarpFacts(tuple(devices), uses, tuple(interp.arrays.values()), warpish, frozenset(interp.extents), hazard)


def _reached(
    names: Set[str], called: Mapping[str, Set[str]], callers: Mapping[str, Sequence[str]], quiet: Set[str]
) -> frozenset[str]:
    """Functions with those that call them and those that they call, except for calls of quiet ones."""
    out = set(names)
    todo = list(names)
    while todo:
        name = todo.pop()
        more = {*callers.get(name, ()), *(called.get(name, set()) - quiet)} - out
        out |= more
        todo += more
    return frozenset(out)


def _rows(unit: Unit, devices: list[Device], called: dict[str, set[str]], collective: set[str]) -> None:
    """Mark the functions whose blocks have rows of 32 threads, by their kernels' launches or by how they count, if they
    work with warps at all."""
    warpish = _warpish(unit, devices, called, collective)
    wanted = kernels_of_rows(unit)
    wanted |= {d.name for d in devices if _ROWS.search(" ".join(unit.t[d.fn.body[0] : d.fn.body[1]]))}
    wanted |= {d.name for d in devices if d.bounds and isinstance(d.bounds[0], Num) and d.bounds[0].value == 32}
    wanted &= warpish
    grown = wanted
    while grown:
        grown = frozenset(n for w in grown for n in called.get(w, ()) if n not in wanted)
        wanted |= grown
    for d in devices:
        d.rows = d.name in wanted


def run_all(interp: Interpreter, devices: list[Device]) -> None:
    """Interpret all functions until nothing changes: arguments go down to callees, results up to callers."""
    results: dict[int, object] = {}
    todo = list(devices)
    for _ in range(_ROUNDS):
        if not todo:
            return
        interp.dirty.clear()
        changed: set[str] = set()
        for d in todo:
            interp.run(d)
            now = (d.result.kind, d.result.vary, d.result.num, d.returns)
            if results.get(id(d)) != now:
                results[id(d)] = now
                changed.add(d.name)
        again = set(interp.dirty)
        for d in devices:
            if d.name in changed:
                again |= {caller for caller, _ in d.callers}
        todo = [d for d in devices if d.name in again]


def _warpish(unit: Unit, devices: list[Device], called: dict[str, set[str]], collective: set[str]) -> frozenset[str]:
    """Functions that reach a cross-lane operation, name a warp or a lane, or are given a lane by all their callers."""
    out = set()
    for d in devices:
        words = set(unit.t[d.fn.first : d.fn.body[1]])
        lanes = any(v.kind is Kind.LANE for v in d.given.values())
        lanes = lanes or bool(words & builtins.LANE_OPERATIONS or words & collective)
        if lanes or any(_WARPISH.match(w) or _MATRICES.match(w) for w in words):
            out.add(d.name)
    callers = _callers(called)
    todo = list(out)
    while todo:
        more = set(callers.get(todo.pop(), ())) - out
        out |= more
        todo += more
    return frozenset(out)


def _callers(called: dict[str, set[str]]) -> dict[str, list[str]]:
    """Who calls a function, of what functions call."""
    out: dict[str, list[str]] = {}
    for caller, names in called.items():
        for name in names:
            out.setdefault(name, []).append(caller)
    return out
