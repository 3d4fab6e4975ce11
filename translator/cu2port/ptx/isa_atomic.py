"""Rows: atomics. `atom` gives the old value, `red` does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cu2port.ptx import softfloat
from cu2port.ptx.integers import read
from cu2port.ptx.interp import Machine
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.isa_memory import Access, cxx_space
from cu2port.ptx.ops import VOID, Effect, Op, Value
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.softfloat import FORMATS
from cu2port.ptx.table import ptx

_ATOM, _RED = (
    "parallel-synchronization-and-communication-instructions-atom",
    ("parallel-synchronization-and-communication-instructions-red"),
)
_SCOPE = "{.scope:cta|cluster|gpu|sys}"
_SPACE = "{.space:global|shared|shared::cta|shared::cluster}"
_HINT = "{.hint:L2::cache_hint}"


def _integer(f: Callable[[int, int], int]) -> Callable[[Type, int, int], int]:
    return lambda t, a, b: f(read(a, t), read(b, t)) & t.mask


def _add(t: Type, a: int, b: int) -> int:
    if t.name in ("f16x2", "bf16x2"):
        element = TYPES[t.name.removesuffix("x2")]
        return _add(element, a & 0xFFFF, b & 0xFFFF) | _add(element, a >> 16, b >> 16) << 16
    if t.name in FORMATS:
        return softfloat.add(a, b, FORMATS[t.name])
    return a + b & t.mask


_MEANINGS: Mapping[str, Callable[[Type, int, int], int]] = {
    "add": _add,
    "and": _integer(lambda a, b: a & b),
    "or": _integer(lambda a, b: a | b),
    "xor": _integer(lambda a, b: a ^ b),
    "min": _integer(min),
    "max": _integer(max),
    "inc": _integer(lambda a, b: 0 if a >= b else a + 1),
    "dec": _integer(lambda a, b: b if a == 0 or a > b else a - 1),
    "exch": lambda t, a, b: b,
}


def _update(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    """Lane after lane: the old values."""
    access = v.attr
    assert isinstance(access, Access)
    operation = access.name.rpartition("_")[2]
    out = {}
    for lane in active:
        address = args[0][lane]
        old = machine.read(access.space, address, access.size)
        if operation == "cas":
            new = args[2][lane] if old == args[1][lane] else old
        else:
            new = _MEANINGS[operation](access.type, old, args[1][lane])
        machine.write(access.space, address, access.size, new)
        out[lane] = old
    return out


def _spell(v: Value, texts: list[str]) -> str:
    access = v.attr
    assert isinstance(access, Access)
    kind = {"f16": "f16", "bf16": "bf16", "f16x2": "f16x2", "bf16x2": "bf16x2"}.get(access.type.name)
    return (
        f"cu2port::ptx::{access.name}<{'cu2port::ptx::' + kind if kind else cxx_type(access.type)}>({', '.join(texts)})"
    )


ATOM = Op("atom", lambda v, *a: 0, _spell, effect=Effect.WRITE, run=_update, address=True, loose=True)


def _name(verb: str, order: str, scope: str, space: str, op: str) -> str:
    """The helper: `atom_global_add` where order and scope are those that need not be said."""
    how = (
        "" if (order or "relaxed", scope or "gpu") == ("relaxed", "gpu") else f"_{order or 'relaxed'}_{scope or 'gpu'}"
    )
    return f"{verb}{how}{cxx_space(space)}_{op}"


def _atomic(verb: str, t: Type, operands: tuple[Value, ...], order: str, scope: str, space: str, op: str) -> Value:
    access = Access(_name(verb, order, scope, space, op), space.partition(":")[0], t)
    return Value(ATOM, VOID if verb == "red" else t, operands, access)


_ORDER = "{.order:relaxed|acquire|release|acq_rel}"
_ATOM_HEAD = f"atom{_ORDER}{_SCOPE}{_SPACE}"
_RED_HEAD = f"red{{.order:relaxed|release}}{_SCOPE}{_SPACE}"
# operations and the types they take
_KINDS = (
    "{op:and|or|xor}" + _HINT + ".{t:b32|b64}",
    "{op:add}" + _HINT + ".{t:u32|s32|u64|f32|f64}",
    "{op:add}.noftz" + _HINT + ".{t:f16|bf16|f16x2|bf16x2}",
    "{op:inc|dec}" + _HINT + ".{t:u32}",
    "{op:min|max}" + _HINT + ".{t:u32|s32|u64|s64}",
)


@ptx(f"{_ATOM_HEAD}.{_KINDS[0]} d, [a], b, ?c:u64", ref=_ATOM)
@ptx(f"{_ATOM_HEAD}.{_KINDS[1]} d, [a], b, ?c:u64", ref=_ATOM)
@ptx(f"{_ATOM_HEAD}.{_KINDS[2]} d, [a], b, ?c:u64", ref=_ATOM)
@ptx(f"{_ATOM_HEAD}.{_KINDS[3]} d, [a], b, ?c:u64", ref=_ATOM)
@ptx(f"{_ATOM_HEAD}.{_KINDS[4]} d, [a], b, ?c:u64", ref=_ATOM)
@ptx(f"{_ATOM_HEAD}.{{op:exch}}{_HINT}.{{t:b32|b64}} d, [a], b, ?c:u64", ref=_ATOM)
def atom(t: Type, a: Value, b: Value, order: str, scope: str, space: str, op: str) -> Value:
    return _atomic("atom", t, (a, b), order, scope, space, op)


@ptx(f"{_ATOM_HEAD}.{{op:cas}}.{{t:b16|b32|b64}} d, [a], b, c", ref=_ATOM)
def atom_cas(t: Type, a: Value, b: Value, c: Value, order: str, scope: str, space: str, op: str) -> Value:
    return _atomic("atom", t, (a, b, c), order, scope, space, op)


@ptx(f"{_RED_HEAD}.{_KINDS[0]} [a], b, ?c:u64", ref=_RED)
@ptx(f"{_RED_HEAD}.{_KINDS[1]} [a], b, ?c:u64", ref=_RED)
@ptx(f"{_RED_HEAD}.{_KINDS[2]} [a], b, ?c:u64", ref=_RED)
@ptx(f"{_RED_HEAD}.{_KINDS[3]} [a], b, ?c:u64", ref=_RED)
@ptx(f"{_RED_HEAD}.{_KINDS[4]} [a], b, ?c:u64", ref=_RED)
def red(t: Type, a: Value, b: Value, order: str, scope: str, space: str, op: str) -> Value:
    return _atomic("red", t, (a, b), order, scope, space, op)


# --- several elements: one atomic each -------------------------------------------------------------------------------

_VECTORS = (
    "{op:add}" + _HINT + ".{vec:v2|v4}.{t:f32}",
    "{op:add}.noftz" + _HINT + ".{vec:v2|v4|v8}.{t:f16|bf16}",
    "{op:add}.noftz" + _HINT + ".{vec:v2|v4}.{t:f16x2|bf16x2}",
)
_ATOM_VECTOR, _RED_VECTOR = (
    f"atom{_ORDER}{_SCOPE}{{.space:global}}",
    f"red{{.order:relaxed|release}}{_SCOPE}{{.space:global}}",
)


def _elements(
    verb: str, t: Type, a: Value, b: tuple[Value, ...], order: str, scope: str, space: str, op: str
) -> tuple[Value, ...]:
    size = t.bits // 8
    return tuple(_atomic(verb, t, (a + i * size, v), order, scope, space, op) for i, v in enumerate(b))


@ptx(f"{_ATOM_VECTOR}.{_VECTORS[0]} {{d}}, [a], {{b}}, ?c:u64", ref=_ATOM, sm=90)
@ptx(f"{_ATOM_VECTOR}.{_VECTORS[1]} {{d}}, [a], {{b}}, ?c:u64", ref=_ATOM, sm=90)
@ptx(f"{_ATOM_VECTOR}.{_VECTORS[2]} {{d}}, [a], {{b}}, ?c:u64", ref=_ATOM, sm=90)
def atom_vector(
    t: Type, a: Value, b: tuple[Value, ...], order: str, scope: str, space: str, op: str
) -> tuple[Value, ...]:
    return _elements("atom", t, a, b, order, scope, space, op)


@ptx(f"{_RED_VECTOR}.{_VECTORS[0]} [a], {{b}}, ?c:u64", ref=_RED, sm=90)
@ptx(f"{_RED_VECTOR}.{_VECTORS[1]} [a], {{b}}, ?c:u64", ref=_RED, sm=90)
@ptx(f"{_RED_VECTOR}.{_VECTORS[2]} [a], {{b}}, ?c:u64", ref=_RED, sm=90)
def red_vector(
    t: Type, a: Value, b: tuple[Value, ...], order: str, scope: str, space: str, op: str
) -> tuple[Value, ...]:
    return _elements("red", t, a, b, order, scope, space, op)
