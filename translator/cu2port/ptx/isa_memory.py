"""Rows: loads and stores, hints about caches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cu2port.ptx.integers import OutOfRangeError
from cu2port.ptx.interp import Machine
from cu2port.ptx.ir import Operation, Type
from cu2port.ptx.ops import REG, U64, VOID, Effect, NoMeaningError, Op, Value, const, offset_of
from cu2port.ptx.printer import Printer, cxx_type
from cu2port.ptx.table import ptx

_REF = "data-movement-and-conversion-instructions-"
_TYPES = "{t:b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64}"
_VEC = "{.vec:v2|v4|v8}"
_EVICT = (
    "{.l1:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate}"
    "{.l2:L2::evict_normal|L2::evict_first|L2::evict_last}"
)
_HINT = "{.hint:L2::cache_hint}"
_PREFETCH = "{.prefetch:L2::64B|L2::128B|L2::256B}"
_SHARED = "shared|shared::cta|shared::cluster"
_LD_SPACES = f"{{.space:const|global|local|{_SHARED}}}"
_ST_SPACES = f"{{.space:global|local|{_SHARED}}}"
_SCOPE = "{scope:cta|cluster|gpu|sys}"
_LD_TAIL = f"{_HINT}{_PREFETCH}{_VEC}.{_TYPES} {{d}}, [a], ?c:u64"
_ST_TAIL = f"{_HINT}{_VEC}.{_TYPES} [a], {{b}}, ?c:u64"


def cxx_space(space: str) -> str:
    """The suffix of a helper for a state space; local and constant addresses are generic."""
    return {"global": "_global", "shared": "_shared"}.get(space.partition(":")[0], "")


@dataclass(frozen=True)
class Access:
    """How memory is touched: `name` of the helper, `space` "" for generic, `type` of one element, `lanes` elements.

    `weak`: what it says itself allows a compiler to join it with others, though other threads may write there.
    """

    name: str
    space: str
    type: Type
    lanes: int = 1
    weak: bool = False

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return self.type.bits // 8

    def __str__(self) -> str:
        return f"{self.name} {self.type}" + (f" x{self.lanes}" if self.lanes > 1 else "")


def _access(v: Value) -> Access:
    assert isinstance(v.attr, Access)
    return v.attr


def _load(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    access = _access(v)
    return {lane: machine.read(access.space, args[0][lane], access.size * access.lanes) for lane in active}


def _store(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    access = _access(v)
    for lane in active:
        for i in range(access.lanes):
            machine.write(access.space, args[0][lane] + i * access.size, access.size, args[1 + i][lane])
    return dict.fromkeys(active, 0)


def element_list(access: Access, values: list[str]) -> str:
    """Values as one of the helper's: the vector of them."""
    return values[0] if access.lanes == 1 else f"{cxx_type(access.type.vector(access.lanes))}{{{', '.join(values)}}}"


def _spell(v: Value, texts: list[str]) -> str:
    access = _access(v)
    address, *values = texts
    rest = f", {element_list(access, values)}" if values else ""
    return f"cu2port::ptx::{access.name}<{cxx_type(access.type.vector(access.lanes))}>({address}{rest})"


LOAD = Op("load", lambda v, *a: 0, _spell, effect=Effect.READ, run=_load, address=True)
STORE = Op("store", lambda v, *a: 0, _spell, effect=Effect.WRITE, run=_store, address=True, loose=True)
STORE_VECTOR = Op("store", lambda v, *a: 0, _spell, effect=Effect.WRITE, run=_store, address=True)


def _vector(t: Type, n: int) -> None:
    """Refuses what no GPU has: vectors of more than 32 bytes."""
    if n * t.bits > 256 or (n > 1 and t.bits == 128):
        raise NoMeaningError(f"{n} elements of {t.bits} bits are more than any load or store moves")


def _loaded(name: str, t: Type, a: Value, space: str, n: int, weak: bool = False) -> Value:
    _vector(t, n)
    return Value(LOAD, t.vector(n), (a,), Access(name, space.partition(":")[0], t, n, weak))


def _stored(name: str, t: Type, a: Value, b: tuple[Value, ...], space: str, weak: bool = False) -> Value:
    _vector(t, len(b))
    access = Access(name, space.partition(":")[0], t, len(b), weak)
    return Value(STORE if len(b) == 1 else STORE_VECTOR, VOID, (a, *b), access)


def each_time(operation: Operation, fenced: bool) -> Operation:
    """The operation in a volatile asm statement: its access is one each time, and may be what waits for others.

    Up to 8 bytes become a relaxed access of the GPU's scope. More are a plain access, since a relaxed one would be
    waited for, and so is what is streamed (`.cs`); they are kept from moving, unless the statement is (`fenced`).
    Shared memory has no cache in front of it.
    """
    if not any(_is_weak(v) for v in operation.values for v in (v, *v.args)):
        return operation
    memo: dict[int, Value] = {}
    return replace(operation, values=tuple(_each_time(v, memo, fenced) for v in operation.values))


def _is_weak(v: Value) -> bool:
    return isinstance(v.attr, Access) and v.attr.weak


def _each_time(v: Value, memo: dict[int, Value], fenced: bool) -> Value:
    if id(v) not in memo:
        attr = v.attr
        if isinstance(attr, Access) and attr.weak:
            verb, rest = attr.name[:2], attr.name[2:]
            small = attr.size * attr.lanes <= 8 and not rest.endswith("_cs")
            how = "_volatile" if rest == "_shared" else "_relaxed_gpu" if small else "" if fenced else "_kept"
            attr = replace(attr, name=verb + how + rest)
        memo[id(v)] = Value(v.op, v.type, tuple(_each_time(a, memo, fenced) for a in v.args), attr, v.hint)
    return memo[id(v)]


@ptx(
    f"ld{{.weak}}{_LD_SPACES}{{.cop:ca|cg|cs|lu|cv}}{_LD_TAIL}",
    ref=_REF + "ld",
)
@ptx(f"ld{{.weak}}{_LD_SPACES}{_EVICT}{_LD_TAIL}", ref=_REF + "ld")
def ld(t: Type, a: Value, space: str, n: int, cop: str = "") -> Value:
    """`.cg` and `.cv` see what others stored; `.cs` and `.lu` are read once and not kept. Other hints are dropped."""
    name = {"cv": "ld_volatile", "cg": "ld_relaxed_gpu"}.get(cop, "ld")
    weak = name == "ld" and space not in ("const", "local")
    return _loaded(name + cxx_space(space) + ("_cs" if cop in ("cs", "lu") else ""), t, a, space, n, weak)


@ptx(
    f"ld.{{space:global}}{{.cop:ca|cg|cs}}.nc{_EVICT}{_LD_TAIL}",
    ref=_REF + "ld-global-nc",
)
@ptx(f"ldu{{.space:global}}{_VEC}.{_TYPES} {{d}}, [a]", ref=_REF + "ldu")
def ld_nc(t: Type, a: Value, space: str, n: int, cop: str = "") -> Value:
    """What nobody writes while the kernel runs."""
    return _loaded("ld" + cxx_space(space) + ("_cs" if cop == "cs" else ""), t, a, space, n)


@ptx(f"ld.volatile{_LD_SPACES}{_PREFETCH}{_VEC}.{_TYPES} {{d}}, [a]", ref=_REF + "ld")
def ld_volatile(t: Type, a: Value, space: str, n: int) -> Value:
    return _loaded("ld_volatile" + cxx_space(space), t, a, space, n)


@ptx(f"ld.mmio.relaxed.sys{{.space:global}}.{_TYPES} {{d}}, [a]", ref=_REF + "ld")
def ld_mmio(t: Type, a: Value, space: str, n: int) -> Value:
    return _loaded("ld_volatile" + cxx_space(space), t, a, space, n)


@ptx(
    f"ld.{{order:relaxed|acquire}}.{_SCOPE}{_LD_SPACES}{_EVICT}{_LD_TAIL}",
    ref=_REF + "ld",
)
def ld_ordered(t: Type, a: Value, space: str, n: int, order: str, scope: str) -> Value:
    return _loaded(f"ld_{order}_{scope}{cxx_space(space)}", t, a, space, n)


@ptx(f"st{{.weak}}{_ST_SPACES}{{.cop:wb|cg|cs|wt}}{_ST_TAIL}", ref=_REF + "st")
@ptx(f"st{{.weak}}{_ST_SPACES}{_EVICT}{_ST_TAIL}", ref=_REF + "st")
def st(t: Type, a: Value, b: tuple[Value, ...], space: str, cop: str = "") -> Value:
    """`.cs` is not kept in caches; others see what `.cg` stores; `.wt` goes through to memory."""
    name = {"wt": "st_volatile", "cg": "st_relaxed_gpu"}.get(cop, "st")
    weak = name == "st" and space != "local"
    return _stored(name + cxx_space(space) + ("_cs" if cop == "cs" else ""), t, a, b, space, weak)


@ptx(f"st.volatile{_ST_SPACES}{_VEC}.{_TYPES} [a], {{b}}", ref=_REF + "st")
def st_volatile(t: Type, a: Value, b: tuple[Value, ...], space: str) -> Value:
    return _stored("st_volatile" + cxx_space(space), t, a, b, space)


@ptx(f"st.mmio.relaxed.sys{{.space:global}}.{_TYPES} [a], {{b}}", ref=_REF + "st")
def st_mmio(t: Type, a: Value, b: tuple[Value, ...], space: str) -> Value:
    return _stored("st_volatile" + cxx_space(space), t, a, b, space)


@ptx(
    f"st.{{order:relaxed|release}}.{_SCOPE}{_ST_SPACES}{_EVICT}{_ST_TAIL}",
    ref=_REF + "st",
)
def st_ordered(t: Type, a: Value, b: tuple[Value, ...], space: str, order: str, scope: str) -> Value:
    return _stored(f"st_{order}_{scope}{cxx_space(space)}", t, a, b, space)


def _clear(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    for lane in active:
        for i in range(args[1][lane]):
            machine.write("shared", args[0][lane] + i, 1, 0)
    return dict.fromkeys(active, 0)


CLEAR = Op(
    "clear",
    lambda v, *a: 0,
    lambda v, texts: f"cu2port::ptx::st_bulk({', '.join(texts)})",
    effect=Effect.WRITE,
    run=_clear,
    address=True,
    loose=True,
)


@ptx("st.bulk{.weak}{.space:shared::cta} [a], b:u64, c:imm", ref=_REF + "st-bulk", sm=100)
def st_bulk(a: Value, b: Value, c: int) -> Value:
    """Sets bytes of shared memory to zero, which is the only value it takes."""
    if c != 0:
        raise NoMeaningError("a value other than 0")
    return Value(CLEAR, VOID, (a, b))


# --- parameters: by name and byte, not by address --------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """Part of a parameter: `offset` bytes from its start on, `lanes` elements of `type`."""

    name: str
    offset: int
    type: Type
    lanes: int = 1


def _parameter(a: Value, t: Type, n: int) -> Parameter:
    base, offset = offset_of(a)
    if base.op is not REG:
        raise OutOfRangeError("a parameter is named, with a constant offset")
    _vector(t, n)
    return Parameter(str(base.attr), offset, t, n)


def _load_parameter(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    p = v.attr
    assert isinstance(p, Parameter)
    mask = (1 << p.type.bits * p.lanes) - 1
    return {lane: machine.lanes[lane].get(p.name, 0) >> 8 * p.offset & mask for lane in active}


def _store_parameter(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    p = v.attr
    assert isinstance(p, Parameter)
    for lane in active:
        for i in range(p.lanes):
            at = 8 * p.offset + i * p.type.bits
            old = machine.lanes[lane].get(p.name, 0)
            machine.lanes[lane][p.name] = old & ~(p.type.mask << at) | args[i][lane] << at
    return dict.fromkeys(active, 0)


def _render_load(printer: Printer, v: Value) -> str:
    p = v.attr
    assert isinstance(p, Parameter)
    place = printer.places[p.name]
    if p.offset == 0 and p.lanes == 1 and place.type == p.type:
        return place.text
    return f"cu2port::ptx::ld_param<{cxx_type(p.type.vector(p.lanes))}>({place.text}, {p.offset})"


def _render_store(printer: Printer, v: Value) -> str:
    p = v.attr
    assert isinstance(p, Parameter)
    place = printer.places[p.name]
    values = [printer.exact(a).text for a in v.args]
    if p.offset == 0 and p.lanes == 1 and place.type == p.type:
        return f"{place.text} = {values[0]}"
    value = element_list(Access("", "", p.type, p.lanes), values)
    return f"cu2port::ptx::st_param<{cxx_type(p.type.vector(p.lanes))}>({place.text}, {p.offset}, {value})"


# attr: Parameter
LOAD_PARAM = Op("load_param", lambda v, *a: 0, "", effect=Effect.READ, run=_load_parameter, render=_render_load)
STORE_PARAM = Op("store_param", lambda v, *a: 0, "", effect=Effect.WRITE, run=_store_parameter, render=_render_store)


@ptx(f"ld{{.weak}}.{{kind:param|param::entry}}{{.cop:ca|cg|cs|lu|cv}}{_VEC}.{_TYPES} {{d}}, [a]", ref=_REF + "ld")
@ptx(f"ld{{.weak}}.{{kind:param::func}}{_VEC}.{_TYPES} {{d}}, [a]", ref=_REF + "ld")
def ld_param(t: Type, a: Value, n: int) -> Value:
    return Value(LOAD_PARAM, t.vector(n), (), _parameter(a, t, n))


@ptx(f"st.{{kind:param|param::func}}{_VEC}.{_TYPES} [a], {{b}}", ref=_REF + "st")
def st_param(t: Type, a: Value, b: tuple[Value, ...]) -> Value:
    return Value(STORE_PARAM, VOID, b, _parameter(a, t, len(b)))


# --- hints: nothing is lost without them -----------------------------------------------------------------------------

NOTHING = Op("nothing", lambda v, *a: 0, "")


def nothing() -> Value:
    """An instruction that needs no code."""
    return Value(NOTHING, VOID)


def _prefetch(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    return dict.fromkeys(active, 0)


PREFETCH = Op(
    "prefetch",
    lambda v, a: 0,
    lambda v, texts: f"cu2port::ptx::prefetch({texts[0]})",
    effect=Effect.WRITE,
    run=_prefetch,
    address=True,
)


@ptx("prefetch{.space:global|local}.{level:L1|L2} [a]", ref=_REF + "prefetch-prefetchu")
@ptx("prefetch{.space:global}.{level:L2::evict_last|L2::evict_normal} [a]", ref=_REF + "prefetch-prefetchu")
@ptx("prefetchu.L1 [a]", ref=_REF + "prefetch-prefetchu")
def prefetch(a: Value) -> Value:
    return Value(PREFETCH, VOID, (a,))


@ptx("prefetch{.space:const|param}.tensormap [a]", ref=_REF + "prefetch-prefetchu", sm=90)
@ptx("applypriority{.global}.L2::evict_normal [a], size:imm", ref=_REF + "applypriority", sm=80)
@ptx("discard{.global}.L2 [a], size:imm", ref=_REF + "discard", sm=80)
def dropped(a: Value) -> Value:
    return nothing()


_FIRST = "{first:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged}"
_SECOND = "{.second:L2::evict_first|L2::evict_unchanged}"


@ptx(f"createpolicy.fractional.{_FIRST}{_SECOND}.b64 d:u64, ?a:f32", ref=_REF + "createpolicy", sm=80)
@ptx("createpolicy.cvt.L2.b64 d:u64, a:u64", ref=_REF + "createpolicy", sm=80)
def createpolicy() -> Value:
    """A policy only feeds hints, which are dropped: any number will do."""
    return const(0, U64)


@ptx(f"createpolicy.range{{.global}}.{_FIRST}{_SECOND}.b64 d:u64, [a], b:u32, c:u32", ref=_REF + "createpolicy", sm=80)
def createpolicy_range() -> Value:
    return const(0, U64)
