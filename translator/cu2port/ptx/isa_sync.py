"""Rows: barriers and fences."""

from __future__ import annotations

from typing import Any

from cu2port.ptx.isa_memory import nothing
from cu2port.ptx.ops import PRED, U32, VOID, Effect, NoMeaningError, Op, Value
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


def _whole_block(b: Value | None) -> None:
    """Refuses a count of threads: AMD's barriers take a block's threads, all of them."""
    if b is not None:
        raise NoMeaningError(
            "a barrier of some of the block's threads",
            "let all threads of the block meet with `__syncthreads()`, or split the kernel's roles into blocks",
        )


@ptx("bar{.cta}.sync a:u32, ?b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.sync{.aligned} a:u32, ?b:u32", ref=_SYNC + "bar")
def bar_sync(a: Value, b: Value | None) -> Value:
    """Without a count all threads of the block come, whichever of the sixteen barriers it is."""
    _whole_block(b)
    return Value(SYNC, VOID, (), "__syncthreads")


@ptx("bar{.cta}.arrive a:u32, b:u32", ref=_SYNC + "bar")
@ptx("barrier{.cta}.arrive{.aligned} a:u32, b:u32", ref=_SYNC + "bar")
def bar_arrive(a: Value, b: Value) -> Value:
    raise NoMeaningError(
        "arrives at a barrier without waiting, which AMD's barriers cannot",
        "use two `__syncthreads()`, or a flag in shared memory that the consumers poll",
    )


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
@ptx("bar{.cta}.red.popc.u32 d:u32, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
@ptx("barrier{.cta}.red.popc{.aligned}.u32 d:u32, a:u32, b:u32, c:pred", ref=_SYNC + "bar")
def bar_red_some(a: Value, b: Value, c: Value) -> Value:
    _whole_block(b)
    return nothing()


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
