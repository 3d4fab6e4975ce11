"""Rows: barriers and fences."""

from __future__ import annotations

from typing import Any

from cu2port.ptx.isa_memory import nothing
from cu2port.ptx.ops import CONST, PRED, U32, VOID, Effect, Op, Value
from cu2port.ptx.table import ptx

_SYNC = "parallel-synchronization-and-communication-instructions-"
_PTX = "cu2port::ptx::"


def _pass(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    return dict.fromkeys(active, 0)


def _over_block(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    """The interpreter's block is its one warp."""
    truths = [args[0][lane] for lane in active]
    return dict.fromkeys(active, sum(truths) if v.attr == "popc" else min(truths) if v.attr == "and" else max(truths))


SYNC = Op("sync", lambda v, *a: 0, "{attr}()", effect=Effect.SYNC, run=_pass)  # attr: the function
SYNC_WARP = Op("sync_warp", lambda v, a: 0, "cu2port::warp::syncwarp({0})", effect=Effect.SYNC, run=_pass, loose=True)
_REDUCE = {"popc": "__syncthreads_count", "and": "__syncthreads_and", "or": "__syncthreads_or"}
REDUCE = Op(
    "sync_reduce",
    lambda v, a: 0,
    lambda v, texts: f"{_REDUCE[v.attr]}({texts[0]})" + (" != 0" if v.type is PRED else ""),
    8,
    effect=Effect.SYNC,
    run=_over_block,
)


def _decimal(v: Value, text: str) -> str:
    """Threads are counted in decimal numbers."""
    return str(v.attr) if v.op is CONST else text


def _some(v: Value, texts: list[str]) -> str:
    return f"{_PTX}{v.attr}({', '.join(_decimal(a, t) for a, t in zip(v.args, texts, strict=True))})"


def _over_some(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    truths = [args[2][lane] for lane in active]
    how = str(v.attr).removeprefix("bar_red_")
    return dict.fromkeys(active, sum(truths) if how == "popc" else min(truths) if how == "and" else max(truths))


#: Numbered barriers of some warps, counted in shared memory. attr: the function
SYNC_SOME = Op("sync_some", lambda v, a, b: 0, _some, effect=Effect.SYNC, run=_pass, loose=True)
REDUCE_SOME = Op("reduce_some", lambda v, a, b, c: 0, _some, effect=Effect.SYNC, run=_over_some, loose=True)


@ptx("bar{.cta}.sync a:u32, ?b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.sync.aligned a:u32, ?b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.sync a:u32, ?b:u32", ref=_SYNC + "bar", fixed={"name": "barrier_sync"})
def bar_sync(a: Value, b: Value | None, name: str = "bar_sync") -> Value:
    """Without a count all threads of the block come, whichever of the sixteen barriers it is."""
    if b is None:
        return Value(SYNC, VOID, (), "__syncthreads")
    return Value(SYNC_SOME, VOID, (a, b), name)


@ptx("bar{.cta}.arrive a:u32, b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.arrive.aligned a:u32, b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.arrive a:u32, b:u32", ref=_SYNC + "bar", fixed={"name": "barrier_arrive"})
def bar_arrive(a: Value, b: Value, name: str = "bar_arrive") -> Value:
    return Value(SYNC_SOME, VOID, (a, b), name)


@ptx("bar{.cta}.red.{op:and|or}.pred d:pred, a:u32, c:pred", ref=_SYNC + "bar")
@ptx("barrier{.cta}.red.{op:and|or}{.aligned}.pred d:pred, a:u32, c:pred", ref=_SYNC + "bar")
def bar_red(a: Value, c: Value, op: str) -> Value:
    return Value(REDUCE, PRED, (c,), op)


@ptx("bar{.cta}.red.popc.u32 d:u32, a:u32, c:pred", ref=_SYNC + "bar")
@ptx("barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, c:pred", ref=_SYNC + "bar")
def bar_red_popc(a: Value, c: Value) -> Value:
    return Value(REDUCE, U32, (c,), "popc")


@ptx("bar{.cta}.red.{op:and|or}.pred d:pred, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
@ptx("barrier{.cta}.red.{op:and|or}{.aligned}.pred d:pred, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
def bar_red_some(a: Value, b: Value, c: Value, op: str) -> Value:
    return Value(REDUCE_SOME, PRED, (a, b, c), f"bar_red_{op}")


@ptx("bar{.cta}.red.popc.u32 d:u32, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
@ptx("barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
def bar_red_popc_some(a: Value, b: Value, c: Value) -> Value:
    return Value(REDUCE_SOME, U32, (a, b, c), "bar_red_popc")


@ptx("bar.warp.sync a:u32", ref=_SYNC + "bar-warp-sync")
def bar_warp_sync(a: Value) -> Value:
    return Value(SYNC_WARP, VOID, (a,))


@ptx("barrier.cluster.arrive{.order:release|relaxed}{.aligned}", ref=_SYNC + "barrier-cluster", sm=90)
def barrier_cluster_arrive() -> Value:
    """A cluster is one block: its threads meet where they wait."""
    return nothing()


@ptx("barrier.cluster.wait{.acquire}{.aligned}", ref=_SYNC + "barrier-cluster", sm=90)
def barrier_cluster_wait() -> Value:
    return Value(SYNC, VOID, (), "__syncthreads")


_MEMBAR = {"cta": "__threadfence_block", "gl": "__threadfence", "sys": "__threadfence_system"}


@ptx("membar.{level:cta|gl|sys}", ref=_SYNC + "membar-fence")
def membar(level: str) -> Value:
    return Value(SYNC, VOID, (), _MEMBAR[level])


@ptx("fence{.order:sc|acq_rel|acquire|release}.{scope:cta|cluster|gpu|sys}", ref=_SYNC + "membar-fence")
def fence(order: str, scope: str) -> Value:
    return Value(SYNC, VOID, (), f"{_PTX}fence_{order or 'acq_rel'}_{scope}")


@ptx("fence.mbarrier_init.release.cluster", ref=_SYNC + "membar-fence", sm=90)
@ptx("fence.release.sync_restrict::shared::cta.cluster", ref=_SYNC + "membar-fence", sm=90)
def fence_release() -> Value:
    return Value(SYNC, VOID, (), f"{_PTX}fence_release_cluster")


@ptx("fence.acquire.sync_restrict::shared::cluster.cluster", ref=_SYNC + "membar-fence", sm=90)
def fence_acquire() -> Value:
    return Value(SYNC, VOID, (), f"{_PTX}fence_acquire_cluster")


_KINDS = "{kind:alias|async|async.global|async.shared::cta|async.shared::cluster}"


@ptx(f"membar.proxy.{_KINDS}", ref=_SYNC + "membar-fence")
@ptx(f"fence.proxy.{_KINDS}", ref=_SYNC + "membar-fence")
@ptx("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", ref=_SYNC + "membar-fence", sm=90)
@ptx("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", ref=_SYNC + "membar-fence", sm=90)
@ptx("fence.proxy.tensormap::generic.release.{scope:cta|cluster|gpu|sys}", ref=_SYNC + "membar-fence", sm=90)
@ptx("fence.proxy.tensormap::generic.acquire.{scope:cta|cluster|gpu|sys} [a], b:imm", ref=_SYNC + "membar-fence", sm=90)
def fence_proxy() -> Value:
    """AMD GPUs have one way to memory, so nothing needs ordering between ways."""
    return nothing()
