"""Rows: branches, calls, ends, pauses, the stack."""

from __future__ import annotations

from typing import Any

from cu2port.ptx.ir import Type
from cu2port.ptx.isa_memory import nothing
from cu2port.ptx.ops import U64, VOID, Effect, NoMeaningError, Op, Value, const, convert
from cu2port.ptx.printer import Printer
from cu2port.ptx.table import ptx

_FLOW = "control-flow-instructions-"
_MISC = "miscellaneous-instructions-"
_SYNC = "parallel-synchronization-and-communication-instructions-"


def _goto(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    machine.jumps.update(dict.fromkeys(active, v.attr))
    return dict.fromkeys(active, 0)


def _goto_indexed(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    targets = machine.tables[v.attr]
    machine.jumps.update({lane: targets[args[0][lane]] for lane in active})
    return dict.fromkeys(active, 0)


def _end(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    machine.jumps.update(dict.fromkeys(active))
    return dict.fromkeys(active, 0)


def _label(printer: Printer, name: str) -> str:
    if name not in printer.labels:
        raise NoMeaningError(f"no label `{name}` in sight")
    return printer.labels[name]


def _render_goto(printer: Printer, v: Value) -> str:
    return f"goto {_label(printer, str(v.attr))}"


def _render_indexed(printer: Printer, v: Value) -> str:
    if v.attr not in printer.tables:
        raise NoMeaningError(f"no `.branchtargets` called `{v.attr}` in sight")
    cases = " ".join(f"case {i}: goto {_label(printer, name)};" for i, name in enumerate(printer.tables[str(v.attr)]))
    return f"switch ({printer.value(v.args[0]).text}) {{ {cases} }}"


def _render_exit(printer: Printer, v: Value) -> str:
    if not printer.kernel:
        raise NoMeaningError(
            "ends the thread from within a function, where C++ can only return",
            "let the function tell its caller to return, up to the kernel",
        )
    return "return"


GOTO = Op("goto", lambda v: 0, "", effect=Effect.CONTROL, run=_goto, render=_render_goto)
SWITCH = Op("switch", lambda v, a: 0, "", effect=Effect.CONTROL, run=_goto_indexed, render=_render_indexed)
EXIT = Op("exit", lambda v: 0, "", effect=Effect.CONTROL, run=_end, render=_render_exit)
RET = Op(
    "ret",
    lambda v: 0,
    "",
    effect=Effect.CONTROL,
    run=_end,
    render=lambda printer, v: f"return {printer.result}".rstrip(),
)
TRAP = Op("trap", lambda v: 0, "__builtin_trap()", effect=Effect.CONTROL, run=_end)
BRKPT = Op("brkpt", lambda v: 0, "cu2port::ptx::brkpt()", effect=Effect.SYNC)
NANOSLEEP = Op("nanosleep", lambda v, a: 0, "cu2port::ptx::nanosleep({0})", effect=Effect.SYNC, loose=True)
ALLOCA = Op("alloca", lambda v, a: 0, "cu2port::ptx::address(__builtin_alloca({0}))", effect=Effect.STATE, loose=True)


@ptx("bra{.uni} a:label", ref=_FLOW + "bra")
def bra(a: str) -> Value:
    return Value(GOTO, VOID, (), a)


@ptx("brx.idx{.uni} a:u32, b:label", ref=_FLOW + "brx-idx")
def brx_idx(a: Value, b: str) -> Value:
    return Value(SWITCH, VOID, (a,), b)


@ptx("call{.uni} a:call", ref=_FLOW + "call")
def call() -> Value:
    """Its operands are taken apart where instructions are bound."""
    return nothing()


@ptx("ret{.uni}", ref=_FLOW + "ret")
def ret() -> Value:
    return Value(RET, VOID)


@ptx("exit", ref=_FLOW + "exit")
def exit_() -> Value:
    return Value(EXIT, VOID)


@ptx("trap", ref=_MISC + "trap")
def trap() -> Value:
    return Value(TRAP, VOID)


@ptx("brkpt", ref=_MISC + "brkpt")
def brkpt() -> Value:
    return Value(BRKPT, VOID)


@ptx("nanosleep.u32 a:u32", ref=_MISC + "nanosleep")
def nanosleep(a: Value) -> Value:
    return Value(NANOSLEEP, VOID, (a,))


@ptx("pmevent{.mask} a:imm", ref=_MISC + "pmevent")
@ptx("setmaxnreg.{how:inc|dec}.sync.aligned.u32 a:u32", ref=_MISC + "setmaxnreg", sm=90)
@ptx(
    "griddepcontrol.{what:launch_dependents|wait}",
    ref="parallel-synchronization-and-communication-instructions-griddepcontrol",
    sm=90,
)
def dropped() -> Value:
    """A profiler's mark; registers moved between warps; kernels that wait for each other, as they do in a stream."""
    return nothing()


_STACK = "stack-manipulation-instructions-"


@ptx("alloca.{t:u32|u64} d, a, ?b:imm", ref=_STACK + "alloca")
def alloca(t: Type, a: Value, b: int | None) -> Value:
    if b is not None and b > 16:
        raise NoMeaningError("stack memory aligned to more than 16 bytes", "declare an array with `alignas`")
    return convert(Value(ALLOCA, U64, (a,)), t)


@ptx("stacksave.{t:u32|u64} d", ref=_STACK + "stacksave")
def stacksave(t: Type) -> Value:
    """What is allocated stays until the function returns; so there is nothing to save."""
    return const(0, t)


@ptx("stackrestore.{t:u32|u64} a", ref=_STACK + "stackrestore")
def stackrestore(a: Value) -> Value:
    return nothing()
