"""Inline PTX in native code: which statements are a thread's own affair, and those as ordinary statements.

An asm statement whose instructions compute, load or store for the thread alone is what a call of an unknown function
is: it gets its inputs and the outputs that it also reads, and each output is set to what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache

from cu2port.ptx.asm import AsmStatement, Reading, statements
from cu2port.ptx.ir import Instruction, Reg, Scope, Statement, Variable
from cu2port.ptx.lift import RefusedError, parse
from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.warp.model import Device, make_device
from cu2port.warp.tree import Asm, Assign, Block, CallExpr, Eval, Expr, If, Loop, Name, Stmt, Switch

WORDS = frozenset({"asm", "__asm__", "__asm"})
_CALL = "asm"  # the name of the function that stands for a statement
#: First words of instructions that a thread does for itself on its registers, that read memory, and that do more.
_COMPUTES = frozenset(
    "add sub mul mad mul24 mad24 sad div rem abs neg popc clz bfind brev bfe bfi bmsk szext fns dp4a dp2a addc subc "
    "madc testp copysign rcp sqrt rsqrt sin cos lg2 ex2 tanh fma min max set setp selp slct and or xor not cnot lop3 "
    "shf shl shr mov prmt cvt cvta isspacep vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 "
    "vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4".split()
)
_READS = frozenset({"ld", "ldu", "prefetch", "prefetchu"})
_DOES = frozenset("st atom red membar fence nanosleep createpolicy discard applypriority griddepcontrol".split())
_ORDERED = frozenset({"volatile", "relaxed", "acquire", "mmio"})  # a load that waits for other threads
#: Parts of names that make an instruction something else: work of other units, of the block's cluster, of many threads.
_NOT_OWN = frozenset("async cluster multicast mbarrier_init proxy sync aligned multimem".split())
#: Special registers that say nothing of lanes or warps.
_SPECIAL = frozenset(
    "%clock %clock64 %clock_hi %globaltimer %globaltimer_lo %globaltimer_hi %smid %nsmid %ctaid %nctaid %gridid".split()
)


@dataclass(frozen=True, slots=True)
class Own:
    """A statement that is a thread's own affair. `close`: its closing bracket; `outputs`: for each whether it is read
    too; `inputs`: how many; `pure`: it only computes from them, perhaps with memory that it `reads`; `shared`: it names
    shared memory, whose addresses are numbers there."""

    close: int
    outputs: tuple[bool, ...]
    inputs: int
    pure: bool
    reads: bool
    shared: bool


def device_of(unit: Unit, f: Function) -> Device:
    """A function, read; asm statements that are a thread's own affair are calls of `asm` in it."""
    d = make_device(unit, f)
    if not WORDS.isdisjoint(unit.t[f.body[0] : f.body[1]]):
        body = _as_calls(d.body, known(unit))
        assert isinstance(body, Block)
        d.body = body
    return d


def is_asm(e: Expr) -> bool:
    """Whether an expression is a call that stands for an asm statement."""
    return isinstance(e, CallExpr) and isinstance(e.callee, Name) and e.callee.text == _CALL


@lru_cache(maxsize=4)
def known(unit: Unit) -> dict[int, Own | str]:
    """What is known of a file's asm statements, by the token of their keyword: why not, if they are nobody's own."""
    return {s.keyword: _known(unit, s) for s in statements(unit)}


def _known(unit: Unit, s: AsmStatement) -> Own | str:
    if s.macro is not None or not s.readings or s.foreign or "goto" in unit.t[s.keyword : s.open]:
        return "inline assembly that is not understood"
    found: list[Own] = []
    for reading in s.readings:
        if any(o.letter == "C" for o in reading.operands):
            return "inline assembly that is not understood"
        try:
            body = parse(reading)
        except RefusedError:
            return "inline assembly that is not understood"
        if why := _not_own(body, reading):
            return why
        words = [x.opcode.replace("::", ".").split(".") for x in _flat(body) if isinstance(x, Instruction)]
        guarded = any(isinstance(x, Instruction) and x.guard is not None for x in _flat(body))
        outs = tuple(guarded or o.read for o in reading.operands if o.output)
        found.append(
            Own(
                s.close,
                outs,
                len(reading.operands) - len(outs),
                not any(w[0] in _DOES or not _ORDERED.isdisjoint(w) for w in words)
                and not any(r.name in _SPECIAL for r in _registers(body)),
                any(w[0] in _READS for w in words),
                any("shared" in w for w in words),
            )
        )
    return found[0] if len(set(found)) == 1 else "inline assembly that depends on conditions"


def _not_own(body: tuple[Statement, ...], reading: Reading) -> str:
    """Why statements are not a thread's own affair; "" if they are."""
    names = {n for x in _flat(body) if isinstance(x, Variable) for n in x.names} | {"_"}
    names |= {f"%{n}" for n in range(len(reading.operands))} | {f"%[{o.name}]" for o in reading.operands if o.name}
    for x in _flat(body):
        if isinstance(x, Variable) and x.space == "reg":
            continue
        if not isinstance(x, Instruction):
            return "inline assembly with variables or labels"
        first, *more = x.opcode.replace("::", ".").split(".")
        if first not in _COMPUTES | _READS | _DOES or not _NOT_OWN.isdisjoint(more):
            return f"inline assembly with `{x.opcode}`"
        used = [r.name for r in _registers(x.operands)] + ([x.guard.name] if x.guard is not None else [])
        if odd := [n for n in used if n not in names and n not in _SPECIAL]:
            return f"inline assembly with `{odd[0]}`"
    return ""


def _flat(body: tuple[Statement, ...]) -> Iterator[Statement]:
    for x in body:
        if isinstance(x, Scope):
            yield from _flat(x.body)
        else:
            yield x


def _registers(x: object) -> Iterator[Reg]:
    if isinstance(x, Reg):
        yield x
    elif isinstance(x, tuple):
        for y in x:
            yield from _registers(y)
    elif is_dataclass(x):
        for f in fields(x):
            yield from _registers(getattr(x, f.name))


# --- as calls ---------------------------------------------------------------------------------------------------------


def _as_calls(s: Stmt, own: dict[int, Own | str]) -> Stmt:
    """A statement with calls in place of the asm statements."""
    if isinstance(s, Block):
        body: list[Stmt] = []
        for x in s.body:
            made = _as_calls(x, own)
            body += made.body if isinstance(made, Block) and isinstance(x, Asm) else (made,)
        return s._replace(body=tuple(body))
    if isinstance(s, If):
        return s._replace(then=_as_calls(s.then, own), other=None if s.other is None else _as_calls(s.other, own))
    if isinstance(s, (Loop, Switch)):
        return s._replace(body=_as_calls(s.body, own))
    if isinstance(s, Asm) and isinstance(mine := own.get(s.at), Own):
        return _as_call(s, mine)
    return s


def _as_call(s: Asm, mine: Own) -> Stmt:
    if len(mine.outputs) != len(s.outs) or mine.inputs != len(s.ins):
        return s
    given = (*(x for read, x in zip(mine.outputs, s.outs, strict=True) if read), *s.ins)
    call = CallExpr(s.at, Name(s.at, _CALL), given, mine.close)
    sets = tuple(Eval(s.at, Assign(s.at, "=", x, call), mine.close + 1) for x in s.outs)
    if not sets:
        return Eval(s.at, call, mine.close + 1)
    return sets[0] if len(sets) == 1 else Block(-s.at - 1, sets)
