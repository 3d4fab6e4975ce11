"""What hangs or goes wrong between the lanes of a wavefront although every primitive has been mapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cu2port.syntax.tree import Jump, Member, root
from cu2port.warp import builtins
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.events import Event, Frame
from cu2port.warp.hazard_kinds import HazardKind
from cu2port.warp.locks import Lock
from cu2port.warp.model import Device
from cu2port.warp.values import LANES, WARPS, Kind, Step
from cu2port.warp.waits import Wait, contexts, waits, who

_FULL = frozenset({0xFFFFFFFF, -1, 0xFFFFFFFFFFFFFFFF})
_LEAVERS = frozenset({"break", "return", "goto"})


class Hazard(NamedTuple):
    """`at`, `last`: tokens of the place. `sure`: CUDA's program runs, the converted one does not (else it may run).
    `both`: wrong on wave32 too. `steps`: reasons, each with a token."""

    kind: HazardKind
    at: int
    last: int
    what: str
    both: bool
    sure: bool
    steps: tuple[Step, ...]


def hazards(facts: WarpFacts) -> tuple[Hazard, ...]:
    """All hazards of a file, in text order, one for each place and kind: the same whatever else was looked for."""
    facts = replace(facts, devices=tuple(d for d in facts.devices if d.name in facts.hazardous))
    found: dict[tuple[HazardKind, int], Hazard] = {}
    makers = (_locks, _points, _barriers, _named, _arms, _coalesced, _exits)
    for make in makers:
        for h in make(facts):
            old = found.get((h.kind, h.at))
            if old is None or (h.sure and not old.sure):
                found[h.kind, h.at] = h
    return tuple(sorted(found.values(), key=lambda h: (h.at, h.kind.value)))


def _whose(frames: tuple[Frame, ...], calls: tuple[int, ...]) -> tuple[Step, ...]:
    """Why the branches around a place divide the lanes."""
    out: list[Step] = []
    for f in frames:
        if f.cond.vary:
            out += [s for s in _steps(f.cond.why) if s not in out]
            text = f.who.value if f.who in _WORDS else "the rest of the lanes"
            out.append(Step(f.at, f"this branch is taken by {text}", None))
    out += [Step(c, "reached through this call", None) for c in calls]
    return tuple(out)


_WORDS = frozenset({Kind.ONE, Kind.LEADER, Kind.FIRST, Kind.SOME})


def _steps(step: Step | None) -> list[Step]:
    out: list[Step] = []
    while step is not None and len(out) < 8:
        out.append(step)
        step = step.before
    return out[::-1]


# --- loops that wait ------------------------------------------------------------------------------------------------


def _locks(facts: WarpFacts) -> Iterator[Hazard]:
    for w in waits(facts):
        taken = who(w.frames, w.device.wide)
        h = _lock(w, w.lock, taken) if w.lock is not None else _flag(facts, w, taken)
        if h is not None:
            yield h


def _lock(w: Wait, lock: Lock, taken: Kind) -> Hazard | None:
    if taken is Kind.ONE:
        return None
    steps = _whose(w.frames, w.calls)
    if taken is Kind.LEADER:
        what = f"one lane of each warp waits for the lock `{w.name}`; on wave64 two such lanes share a wavefront"
        if lock.inside:
            what += " (it is let go inside the loop, which helps as long as the compiler leaves it there)"
        return Hazard(HazardKind.WARP_LOCK, w.at, w.at, what, False, not lock.inside, steps)
    if lock.inside:
        return None
    if lock.handed:
        what = f"each warp waits for the lock `{w.name}`, which one lane asks for and the others learn of by an "
        what += "operation of the warp; on wave64 two such warps share a wavefront"
        return Hazard(HazardKind.WARP_LOCK, w.at, w.at, what, False, taken is not Kind.FIRST, steps)
    what = f"each lane waits for the lock `{w.name}`, and lets it go behind the loop, where it waits for the others"
    return Hazard(HazardKind.LANE_LOCK, w.at, w.at, what, True, True, steps)


def _flag(facts: WarpFacts, w: Wait, taken: Kind) -> Hazard | None:
    if not w.name:
        return None
    steps = _whose(w.frames, w.calls)
    setters = _setters(facts, w)
    from_other_branches = [s for s in setters if _in_other_branch(w.frames, s)]
    later = [] if _is_set_before(setters, w) else [s for s in setters if s.at > w.at and w.at not in s.loops]
    if taken is Kind.ONE:
        one = next(n for n, f in enumerate(w.frames) if f.who is Kind.ONE)
        if not any(
            _in_other_branch(w.frames[: one + 1], s) for s in setters
        ):  # branches further in are that thread's own
            return None
        what = f"one thread waits for `{w.name}`, which another branch sets; on wave64 both may share a wavefront"
        return Hazard(HazardKind.WARP_ROLES, w.at, w.at, what, False, True, steps)
    if taken in (Kind.FIRST, Kind.LEADER):
        if from_other_branches or (later and w.vary >= WARPS) or (taken is Kind.FIRST and w.shared and setters):
            what = f"a warp waits for `{w.name}`, which another warp sets; on wave64 both may share a wavefront"
            return Hazard(HazardKind.WARP_ROLES, w.at, w.at, what, False, True, steps)
        return None
    if taken in (Kind.TEST, Kind.SOME):
        if from_other_branches or (later and w.vary >= WARPS):
            what = f"lanes wait for `{w.name}`, which lanes of the same wavefront set in another branch or later"
            return Hazard(HazardKind.LANE_LOCK, w.at, w.at, what, True, True, steps)
        return None
    if later and w.vary == LANES:
        what = f"each lane waits for its turn (`{w.name}`), and the turn moves on behind the loop"
        return Hazard(HazardKind.LANE_LOCK, w.at, w.at, what, True, True, steps)
    if later and w.vary == WARPS:
        what = f"each warp waits for its turn (`{w.name}`), and the turn moves on behind the loop"
        return Hazard(HazardKind.WARP_ROLES, w.at, w.at, what, False, True, steps)
    return None


class _Setter(NamedTuple):
    at: int
    frames: tuple[Frame, ...]
    loops: tuple[int, ...]
    value: int | None = None


def _setters(facts: WarpFacts, w: Wait) -> list[_Setter]:
    """Writes to the memory a loop waits for, in the functions on the way to it."""
    out = []
    device, name = w.device, w.name
    levels = [(device, name, w.at)]
    for c in reversed(w.calls):
        up = next((d for d in facts.devices if ("call", c) in d.events), None)
        if up is None:
            break
        e = up.events["call", c]
        k = next((n for n, p in enumerate(device.params) if p.name == name), -1)
        if e.node is not None and 0 <= k < len(e.node.args):
            name = root(e.node.args[k])
        device = up
        levels.append((device, name, c))
    for d, n, own in levels:
        for s in d.stores.values():
            if s.name == n:
                out.append(_Setter(s.at, s.frames, s.loops, s.value))
        for e in d.events.values():
            if e.kind == "call" and e.node is not None and e.at != own and own not in e.loops and _writes(e, n):
                out.append(_Setter(e.at, e.frames, e.loops))
    return out


def _is_set_before(setters: list[_Setter], w: Wait) -> bool:
    """Whether each warp writes a number that ends the wait before it waits itself, as it does that publishes its sum
    and then looks back at the sums of others. What is written later need not be waited for then."""
    if w.on is None:
        return False
    op, number = w.on
    ends = [s for s in setters if s.at < w.at and s.value is not None and (s.value == number) == (op == "!=")]
    around = {f.at for f in w.frames}
    arms = {(f.at, f.arm) for s in ends for f in s.frames}
    return bool(ends) and all(
        f.at in around or f.who is Kind.LEADER or (f.at, 1 - f.arm) in arms for s in ends for f in s.frames
    )


def _writes(e: Event, name: str) -> bool:
    """Whether a call may set what `name` is or points to."""
    if e.node is None or (builtins.READS.match(e.name) and not e.name.startswith("atomic")):
        return False
    objects = [root(a) for a in e.node.args[:2]]
    if isinstance(e.node.callee, Member):
        objects.append(root(e.node.callee.base))
    return name in objects


def _in_other_branch(frames: tuple[Frame, ...], s: _Setter) -> bool:
    """Whether the writer is in another branch than the waiter, of a condition that divides a wavefront."""
    mine = {f.at: f.arm for f in frames if f.cond.vary}
    theirs = {f.at: f.arm for f in s.frames if f.cond.vary}
    return any(at in theirs and theirs[at] != arm for at, arm in mine.items())


def _points(facts: WarpFacts) -> Iterator[Hazard]:
    """Waits that are calls: mbarriers, pipelines."""
    for d in facts.devices:
        for e in list(d.events.values()):
            if e.kind == "asm":
                if "try_wait" not in e.name and "test_wait" not in e.name:
                    continue
            elif e.kind != "call" or facts.named(e.name) or not _is_wait(e):
                continue
            for frames, calls in contexts(facts, d, e.frames):
                taken = who(frames, d.wide)
                divided = [f for f in frames if f.cond.vary and f.who in (Kind.FIRST, Kind.LEADER, Kind.ONE, Kind.SOME)]
                if not divided or taken is Kind.UNKNOWN or not _other_arm(facts, divided, calls, d):
                    continue
                at = calls[-1] if calls else e.at
                what = "warps with different roles meet at a barrier in memory; on wave64 both may share a wavefront"
                yield Hazard(HazardKind.WARP_ROLES, at, at, what, False, True, _whose(frames, calls))
                break


def _is_wait(e: Event) -> bool:
    if builtins.WAITS.match(e.name):
        return True
    return e.name == "wait" and e.node is not None and isinstance(e.node.callee, Member)


def _other_arm(facts: WarpFacts, divided: list[Frame], calls: tuple[int, ...], d: Device) -> bool:
    """Whether something happens between threads in another arm of one of the branches."""
    owners = [d, *(x for x in facts.devices if any(("call", c) in x.events for c in calls))]
    mine = {f.at: f.arm for f in divided}
    for x in owners:
        for e in x.events.values():
            if e.kind in ("call", "asm", "barrier") and any(mine.get(f.at, f.arm) != f.arm for f in e.frames):
                return True
    return False


# --- barriers -------------------------------------------------------------------------------------------------------


def _reached(facts: WarpFacts, kind: str) -> dict[str, list[tuple[Device, Event, tuple[Frame, ...], tuple[int, ...]]]]:
    """Events of a kind by the function where the way to them begins, with all branches on the way."""
    out: dict[str, list[tuple[Device, Event, tuple[Frame, ...], tuple[int, ...]]]] = {}
    for d in facts.devices:
        for e in d.events.values():
            if e.kind == kind:
                for frames, calls in contexts(facts, d, e.frames):
                    first = next((x.name for x in facts.devices if calls and ("call", calls[0]) in x.events), d.name)
                    out.setdefault(first, []).append((d, e, frames, calls))
    return out


def _barriers(facts: WarpFacts) -> Iterator[Hazard]:
    for found in _reached(facts, "barrier").values():
        arms: dict[int, dict[int, tuple[Event, tuple[Frame, ...], tuple[int, ...]]]] = {}
        for _, e, frames, calls in found:
            for f in frames:
                if f.cond.vary and (f.cond.why is not None or f.cond.vary == WARPS):
                    arms.setdefault(f.at, {}).setdefault(f.arm, (e, frames, calls))
        for at, by_arm in arms.items():
            if len(by_arm) < 2:
                continue
            e, frames, _ = by_arm[min(by_arm)]
            f = next(x for x in frames if x.at == at)
            whole = f.cond.vary == WARPS or f.cond.kind is Kind.FIRST
            what = "a barrier is in both arms of a branch that divides "
            what += (
                "warps: on wave64 one wavefront meets it twice, and the block falls out of step"
                if whole
                else ("the lanes of a warp")
            )
            steps = (*_whose((f,), ()), Step(e.at, "a barrier in one arm", None))
            yield Hazard(HazardKind.DIVIDED_BARRIER, at, at, what, not whole, whole, steps)


def _named(facts: WarpFacts) -> Iterator[Hazard]:
    for d in facts.devices:
        for e in d.events.values():
            named = e.kind == "named-barrier" or (e.kind == "call" and _is_named(e))
            if named:
                what = f"`{e.name}` makes some warps of a block wait for each other; two on one wavefront cannot"
                converted = "." in e.name  # PTX becomes a count, which whole wavefronts can wait for
                yield Hazard(HazardKind.NAMED_BARRIER, e.at, e.at, what, not converted, True, _whose(e.frames, ()))


def _is_named(e: Event) -> bool:
    low = e.name.lower()
    return low in ("__barrier_sync_count", "__named_barrier_sync") or (
        "named" in low and "barrier" in low and any(x in low for x in ("sync", "arrive", "wait"))
    )


# --- cross-lane operations ------------------------------------------------------------------------------------------


def _arms(facts: WarpFacts) -> Iterator[Hazard]:
    for d in facts.devices:
        arms: dict[int, dict[int, Event]] = {}
        frames: dict[int, Frame] = {}
        for e in d.events.values():
            if e.kind != "lanes" or not _names_all(e):
                continue
            for f in e.frames:
                if f.cond.vary == LANES and f.who is not Kind.FIRST and f.at not in e.loops:
                    arms.setdefault(f.at, {}).setdefault(f.arm, e)
                    frames[f.at] = f
        for at, by_arm in arms.items():
            e = by_arm[min(by_arm)]
            both = len(by_arm) > 1
            if not both and frames[at].who not in (Kind.SOME, Kind.LEADER):
                continue
            what = f"the mask of `{e.name}` names all lanes, of which some "
            what += "wait in the other arm" if both else "do not come here"
            yield Hazard(HazardKind.OTHER_ARM, e.at, e.node.close if e.node else e.at, what, True, both,
                         _whose((frames[at],), ()))  # fmt: skip


def _names_all(e: Event) -> bool:
    """Whether an operation names all lanes by a constant mask, and gives a value."""
    return e.name.endswith("_sync") and bool(e.values) and e.values[0].num in _FULL


def _coalesced(facts: WarpFacts) -> Iterator[Hazard]:
    for d in facts.devices:
        for e in d.events.values():
            if e.kind == "coalesced":
                what = "`coalesced_threads()` holds up to 64 lanes on wave64, of two CUDA warps"
                yield Hazard(HazardKind.COALESCED, e.at, e.node.close if e.node else e.at, what, False, True,
                             _whose(e.frames, ()))  # fmt: skip


def _exits(facts: WarpFacts) -> Iterator[Hazard]:
    for d in facts.devices:
        for b in d.blocks.values():
            last = b.body[-1]
            if not b.loops or not isinstance(last, Jump) or last.kind not in _LEAVERS:
                continue
            divided = [f for f in b.frames if f.at > b.loops[-1] and f.cond.vary == LANES and f.who is not Kind.FIRST]
            if not divided:
                continue
            first = b.body[0].at
            for e in d.events.values():
                inside = first <= e.at <= last.at and e.loops == b.loops and e.frames == b.frames
                if inside and e.kind == "lanes" and e.name not in ("__syncwarp", "sync"):
                    what = f"`{e.name}` is just before `{last.kind}` in a loop: the compiler may run it behind the "
                    what += "loop, with the lanes that left it in other rounds"
                    yield Hazard(HazardKind.EXIT, e.at, e.node.close if e.node else e.at, what, True, True,
                                 _whose(tuple(divided), ()))  # fmt: skip
