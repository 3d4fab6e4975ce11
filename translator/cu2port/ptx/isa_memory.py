"""Rows: loads and stores."""

from __future__ import annotations

from dataclasses import dataclass

from cu2port.ptx.interp import Machine, StuckError
from cu2port.ptx.ir import Type
from cu2port.ptx.ops import VOID, Effect, Op, Value
from cu2port.ptx.table import ptx


@dataclass(frozen=True)
class Access:
    """How memory is touched: `space` "" is generic; `type` of one element, `lanes` elements."""

    space: str
    type: Type
    lanes: int = 1

    def __str__(self) -> str:
        return f"{self.space or 'generic'} {self.type}x{self.lanes}"


def _memory(machine: Machine, access: Access, address: int) -> tuple[bytearray, int]:
    memory = machine.memory["shared" if access.space == "shared" else "global"]
    if address + access.type.bits // 8 * access.lanes > len(memory):
        raise StuckError(f"no memory at {address:#x}")
    return memory, address


def _load(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    access = v.attr
    assert isinstance(access, Access)
    out = {}
    for lane in active:
        memory, at = _memory(machine, access, args[0][lane])
        out[lane] = int.from_bytes(memory[at : at + access.type.bits // 8 * access.lanes], "little")
    return out


def _store(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    access = v.attr
    assert isinstance(access, Access)
    for lane in active:
        memory, at = _memory(machine, access, args[0][lane])
        size = access.type.bits // 8
        for i in range(access.lanes):
            memory[at + i * size : at + (i + 1) * size] = args[1 + i][lane].to_bytes(size, "little")
    return dict.fromkeys(active, 0)


def _spell(v: Value, texts: list[str]) -> str:
    access = v.attr
    assert isinstance(access, Access)
    from cu2port.ptx.printer import cxx_type

    verb = "st" if v.type is VOID else "ld"
    name = f"cu2port::ptx::{verb}{'_' + access.space if access.space else ''}"
    element = cxx_type(access.type.vector(access.lanes))
    address, *values = texts
    if not values:
        return f"{name}<{element}>({address})"
    value = values[0] if access.lanes == 1 else f"{element}{{{', '.join(values)}}}"
    return f"{name}<{element}>({address}, {value})"


LOAD = Op("load", lambda v: 0, _spell, effect=Effect.READ, run=_load, address=True)
STORE = Op("store", lambda v: 0, _spell, effect=Effect.WRITE, run=_store, address=True)
ANY = "t:b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"


@ptx("ld{.space:global|shared}{.vec:v2|v4}.{" + ANY + "} {d}, [a]", ref="data-movement-and-conversion-instructions-ld")
def ld(t: Type, a: Value, space: str, n: int) -> Value:
    return Value(LOAD, t.vector(n), (a,), Access(space, t, n))


@ptx("st{.space:global|shared}{.vec:v2|v4}.{" + ANY + "} [a], {b}", ref="data-movement-and-conversion-instructions-st")
def st(t: Type, a: Value, b: tuple[Value, ...], space: str, n: int) -> Value:
    return Value(STORE, VOID, (a, *b), Access(space, t, n))
