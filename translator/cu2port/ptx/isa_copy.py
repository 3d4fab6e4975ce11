"""Rows: asynchronous copies from global to shared memory.

The manual lets a copy happen at any time between its statement and the wait for its group. Here it happens at once, so
that groups are always empty and nothing is ever waited for.
"""

from __future__ import annotations

from cu2port.ptx.interp import Machine
from cu2port.ptx.isa_memory import nothing
from cu2port.ptx.ops import PRED, U32, VOID, Effect, NoMeaningError, Op, Value, const, select
from cu2port.ptx.table import ptx

_REF = "data-movement-and-conversion-instructions-cp-async"
_SYNC = "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive"
_PREFETCH = "{.prefetch:L2::64B|L2::128B|L2::256B}"
_SPACE = "{space:shared|shared::cta}"
_SIZES = (4, 8, 16)


def _copy(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    to, source, size, *rest = args
    for lane in active:
        whole = size[lane]
        given = min(rest[0][lane], whole) if rest else whole
        value = machine.read("global", source[lane], given) if given else 0
        machine.write("shared", to[lane], whole, value)
    return dict.fromkeys(active, 0)


def _spell(v: Value, texts: list[str]) -> str:
    sizes = (str(a.constant) if a.constant is not None else t for a, t in zip(v.args[2:], texts[2:], strict=True))
    return f"cu2port::ptx::cp_async({', '.join((*texts[:2], *sizes))})"


#: arguments: where to, where from, bytes of the copy, bytes that are read where these are fewer
COPY = Op("copy", lambda v, *a: 0, _spell, effect=Effect.WRITE, run=_copy, address=True, loose=True)


@ptx(f"cp.async.{{cop:ca|cg}}.{_SPACE}.global{_PREFETCH} [a], [b], size:u32, ?c:u32?pred", ref=_REF, sm=80)
@ptx(f"cp.async.{{cop:ca|cg}}.{_SPACE}.global.L2::cache_hint{_PREFETCH} [a], [b], size:u32, e:u64", ref=_REF, sm=80)
@ptx(
    f"cp.async.{{cop:ca|cg}}.{_SPACE}.global.L2::cache_hint{_PREFETCH} [a], [b], size:u32, c:u32?pred, e:u64",
    ref=_REF,
    sm=80,
)
def cp_async(a: Value, b: Value, size: Value, cop: str, c: Value | None = None) -> Value:
    """`c`: how many bytes are read, or a predicate that none is; zeros follow them. Hints to caches are dropped."""
    if size.constant is not None and size.constant not in (_SIZES if cop == "ca" else _SIZES[2:]):
        raise NoMeaningError(f"a copy of {size.constant} bytes, which no GPU does at once")
    if c is None:
        return Value(COPY, VOID, (a, b, size))
    given = select(c, const(0, U32), size) if c.type is PRED else c
    same = given.constant is not None and given.constant == size.constant
    return Value(COPY, VOID, (a, b, size) if same else (a, b, size, given))


@ptx("cp.async.commit_group", ref=_REF + "-commit-group", sm=80)
@ptx("cp.async.wait_all", ref=_REF + "-wait-group", sm=80)
@ptx("cp.async.wait_group a:u32", ref=_REF + "-wait-group", sm=80)
def no_wait() -> Value:
    """What a thread copied is there; what others copied it sees behind a barrier, as on NVIDIA's GPUs."""
    return nothing()


@ptx("cp.async.mbarrier.arrive{.space:shared|shared::cta}.b64 [a]", ref=_SYNC, sm=80)
def cp_async_arrive(a: Value) -> Value:
    """It adds an arrival that the barrier waits for, and arrives when the thread's copies are done, as they are."""
    return nothing()
