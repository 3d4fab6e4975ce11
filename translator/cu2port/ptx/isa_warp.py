"""Rows: what the 32 lanes of a warp do together, by the functions of `cu2port/warp.hpp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cu2port.ptx.integers import read
from cu2port.ptx.ir import Type
from cu2port.ptx.ops import PRED, S32, U32, Effect, Op, Value, bits, clz, const, eq, ne, select
from cu2port.ptx.special import value as special
from cu2port.ptx.table import ptx

_SYNC = "parallel-synchronization-and-communication-instructions-"
_MOVE = "data-movement-and-conversion-instructions-"
_WARP = "cu2port::warp::"

Lanes = tuple[int, ...]
Args = list[dict[int, int]]
Run = Callable[[Any, Value, Lanes, Args], dict[int, int]]


def _named(mask: int, active: Lanes) -> list[int]:
    return [lane for lane in active if mask >> lane & 1]


def _ballot(active: Lanes, truth: dict[int, int], mask: int) -> int:
    return sum(1 << lane for lane in _named(mask, active) if truth[lane])


def _op(name: str, function: str, run: Run, loose: bool = True) -> Op:
    """A function of warp.hpp; its arguments are the operation's."""
    return Op(name, lambda v, *a: 0, f"{_WARP}{function}({{all}})", effect=Effect.LANES, run=run, loose=loose)


ACTIVEMASK = _op(
    "activemask", "activemask", lambda m, v, active, args: dict.fromkeys(active, sum(1 << i for i in active))
)
BALLOT = _op("ballot", "ballot", lambda m, v, active, a: {i: _ballot(active, a[1], a[0][i]) for i in active})
ALL = _op(
    "all",
    "all",
    lambda m, v, active, a: {i: int(all(a[1][j] for j in _named(a[0][i], active))) for i in active},
)
ANY = _op("any", "any", lambda m, v, active, a: {i: int(_ballot(active, a[1], a[0][i]) != 0) for i in active})


@ptx("activemask.b32 d:u32", ref=_SYNC + "activemask")
def activemask() -> Value:
    return Value(ACTIVEMASK, U32)


def _vote(mode: str, mask: Value, a: Value) -> Value:
    if mode == "uni":
        votes = Value(BALLOT, U32, (mask, a)).named("votes")
        return eq(votes, 0) | eq(votes, Value(BALLOT, U32, (mask, const(1, PRED))))
    return ne(Value(ALL if mode == "all" else ANY, S32, (mask, a)), 0)


@ptx("vote.sync.{mode:all|any|uni}.pred d:pred, a:pred, m:u32", ref=_SYNC + "vote-sync")
def vote_sync(mode: str, a: Value, m: Value) -> Value:
    return _vote(mode, m, a)


@ptx("vote.sync.ballot.b32 d:u32, a:pred, m:u32", ref=_SYNC + "vote-sync")
def vote_sync_ballot(a: Value, m: Value) -> Value:
    return Value(BALLOT, U32, (m, a))


@ptx("vote.{mode:all|any|uni}.pred d:pred, a:pred", ref=_SYNC + "vote")
def vote(mode: str, a: Value) -> Value:
    return _vote(mode, const(-1, U32), a)


@ptx("vote.ballot.b32 d:u32, a:pred", ref=_SYNC + "vote")
def vote_ballot(a: Value) -> Value:
    return Value(BALLOT, U32, (const(-1, U32), a))


def _match_any(machine: Any, v: Value, active: Lanes, a: Args) -> dict[int, int]:
    return {i: sum(1 << j for j in _named(a[0][i], active) if a[1][j] == a[1][i]) for i in active}


def _match_all(machine: Any, v: Value, active: Lanes, a: Args) -> dict[int, int]:
    same = {i: len({a[1][j] for j in _named(a[0][i], active)}) == 1 for i in active}
    return {i: _ballot(active, dict.fromkeys(active, 1), a[0][i]) if same[i] else 0 for i in active}


MATCH_ANY = _op("match_any", "match_any", _match_any, loose=False)
MATCH_ALL = Op(
    "match_all",
    lambda v, *a: 0,
    "cu2port::ptx::match_all({all})",
    effect=Effect.LANES,
    run=_match_all,
)


@ptx("match.any.sync.{t:b32|b64} d:u32, a, m:u32", ref=_SYNC + "match-sync")
def match_any(a: Value, m: Value) -> Value:
    return Value(MATCH_ANY, U32, (m, a))


@ptx("match.all.sync.{t:b32|b64} d:u32|?p, a, m:u32", ref=_SYNC + "match-sync")
def match_all(a: Value, m: Value) -> tuple[Value, Value]:
    lanes = Value(MATCH_ALL, U32, (m, a)).named("lanes")
    return lanes, ne(lanes, 0)


_FOLD: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _redux(machine: Any, v: Value, active: Lanes, a: Args) -> dict[int, int]:
    out = {}
    for i in active:
        numbers = [read(a[1][j], v.type) for j in _named(a[0][i], active)]
        total = numbers[0]
        for n in numbers[1:]:
            total = _FOLD[str(v.attr)](total, n)
        out[i] = total & v.type.mask
    return out


REDUX = Op("redux", lambda v, *a: 0, _WARP + "reduce_{attr}<{t}>({all})", effect=Effect.LANES, run=_redux, loose=True)


@ptx("redux.sync.{op:add|min|max}.{t:u32|s32} d, a, m:u32", ref=_SYNC + "redux-sync", sm=80)
@ptx("redux.sync.{op:and|or|xor}.{t:b32} d, a, m:u32", ref=_SYNC + "redux-sync", sm=80)
def redux(t: Type, op: str, a: Value, m: Value) -> Value:
    return Value(REDUX, t, (m, a), op)


@ptx("redux.sync.{op:min|max}{.abs}{.NaN}.{t:f32} d, a, m:u32", ref=_SYNC + "redux-sync", sm=100)
def redux_float(t: Type, op: str, a: Value, m: Value, abs: bool, NaN: bool) -> Value:  # noqa: A002, N803
    """By integers in the order of the floats; NaN is the last choice, or the first with `.NaN`."""
    number = bits(a, S32)
    magnitude = number & 0x7FFFFFFF
    if abs:
        number = magnitude
    order = select(number < 0, number ^ 0x7FFFFFFF, number)
    nan = const(0x7FFFFFFF if (op == "min") != NaN else -(1 << 31), S32)
    key = select(const(0x7F800000, S32) < magnitude, nan, order).named("key")
    found = Value(REDUX, S32, (m, key), op).named("found")
    back = select(found < 0, found ^ 0x7FFFFFFF, found)
    return bits(select(eq(found, nan), const(0x7FFFFFFF, S32), back), t)


@ptx("elect.sync d:u32|p, m:u32", ref=_SYNC + "elect-sync", sm=90)
def elect(m: Value) -> tuple[Value, Value]:
    """The lowest of the lanes in the mask that are here, and whether it is this one."""
    here = (Value(ACTIVEMASK, U32) & m).named("here")
    leader = const(31, U32) - clz(here & -here)
    lane = special("%laneid", "")
    assert lane is not None
    return leader, eq(leader, lane)


# --- shuffles --------------------------------------------------------------------------------------------------------


def _source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that is read, and whether it is within reach; the manual's words."""
    segment, clamp = c >> 8 & 31, c & 31
    last = (lane & segment) | (clamp & ~segment & 31)
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": (lane & segment) | (b & ~segment & 31)}[mode]
    reach = j >= last if mode == "up" else j <= last
    return (j if reach else lane), reach


def _shuffle(machine: Any, v: Value, active: Lanes, a: Args) -> dict[int, int]:
    """attr: mode, and whether the value or the predicate is asked for. A lane that is not here gives 0."""
    assert isinstance(v.attr, tuple)
    mode, wanted = v.attr
    out = {}
    for i in active:
        j, reach = _source(mode, i, a[1][i] & 31, a[2][i])
        out[i] = int(reach) if wanted == "p" else a[0].get(j, 0)
    return out


def _spell_shuffle(v: Value, texts: list[str]) -> str:
    assert isinstance(v.attr, tuple)
    mode, wanted = v.attr
    a, b, c, m = texts
    control = v.args[2].constant
    width = None if control is None else 32 - (control >> 8 & 31)
    last = None if control is None else control & 0xFF
    usual = width is not None and width & width - 1 == 0 and last == (0 if mode == "up" else 31)
    if wanted == "p":
        return f"cu2port::ptx::shfl_{mode}_reaches({b}, {c})"
    if not usual:
        return f"cu2port::ptx::shfl_{mode}({a}, {b}, {c}, {m})"
    name = {"up": "shfl_up", "down": "shfl_down", "bfly": "shfl_xor", "idx": "shfl"}[mode]
    return f"{_WARP}{name}({m}, {a}, {b}{'' if width == 32 else f', {width}'})"


SHUFFLE = Op("shuffle", lambda v, *a: 0, _spell_shuffle, effect=Effect.LANES, run=_shuffle, loose=True)
REACHES = Op("reaches", lambda v, *a: 0, _spell_shuffle, run=_shuffle, loose=True)


def _shfl(mode: str, a: Value, b: Value, c: Value, m: Value) -> tuple[Value, Value]:
    b = b & 31
    return Value(SHUFFLE, U32, (a, b, c, m), (mode, "d")), Value(REACHES, PRED, (a, b, c, m), (mode, "p"))


@ptx("shfl.sync.{mode:up|down|bfly|idx}.b32 d:u32|?p, a:u32, b:u32, c:u32, m:u32", ref=_MOVE + "shfl-sync")
def shfl_sync(mode: str, a: Value, b: Value, c: Value, m: Value) -> tuple[Value, Value]:
    return _shfl(mode, a, b, c, m)


@ptx("shfl.{mode:up|down|bfly|idx}.b32 d:u32|?p, a:u32, b:u32, c:u32", ref=_MOVE + "shfl")
def shfl(mode: str, a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    return _shfl(mode, a, b, c, const(-1, U32))
