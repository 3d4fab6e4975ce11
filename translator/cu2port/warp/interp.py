"""Statements of device functions: variables, branches, loops. One pass in text order, loops twice where it matters."""

from __future__ import annotations

import re

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import (
    Asm,
    Assign,
    Binary,
    Block,
    Decl,
    Eval,
    Expr,
    If,
    Jump,
    Loop,
    Name,
    Num,
    Operator,
    Other,
    Stmt,
    Switch,
    Unary,
    parts,
    statements,
    walk,
)
from cu2port.warp.builtins import NAMED_BARRIER
from cu2port.warp.calls import Caller
from cu2port.warp.evaluate import OF_BITS
from cu2port.warp.events import BlockSeen, Frame, LoopSeen
from cu2port.warp.loops import assigned, distances, either, in_loop, leaves, speaks_of_warps, strided, tests_of, widened
from cu2port.warp.model import Device
from cu2port.warp.roles import Role
from cu2port.warp.uses import Array, names_in
from cu2port.warp.values import (
    GROUP_NAME,
    LANES,
    NOTHING,
    UNIFORM,
    WARPS,
    Kind,
    Step,
    V,
    by_name,
    join,
)
from cu2port.warp.variables import parameter

_OUTSIDE = V(Kind.DATA, volatile=True)  # a variable of the file: others see it
#: What a pointer is that a lane or a thread index has been added to.
_POINTS = {
    **dict.fromkeys((Kind.LANE, Kind.LANE_PLUS), Kind.LANE_PLUS),
    **dict.fromkeys((Kind.THREAD, Kind.LINEAR, Kind.GLOBAL, Kind.INDEX, Kind.SHIFTED), Kind.INDEX),
}
_WIDTH = re.compile(r"(?i)(?:sub_?)?(?:warp_?|logical_?)*(?:width|size|threads)\Z")


class Interpreter(Caller):
    """Values of a file's device functions."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._conditions: dict[int, V] = {}  # of the branches, by token

    def run(self, d: Device) -> None:
        """Interpret one function with what is known of its arguments."""
        self.device, self.frames, self.loops, self.hint = d, (), (), ""
        d.events.clear()
        d.loops.clear()
        d.blocks.clear()
        d.stores.clear()
        self.shared = {}
        self.env = {}
        for p in (*d.params, *d.tparams):
            if p.name:
                self.env[p.name] = self._parameter(d, p.name, p.at, p.default, p.pointer, p.volatile)
        for n, e in enumerate(d.bounds):
            v = self.value(e)
            if n == 0:
                self.use(v, Role.BLOCK, None, NOTHING)
        self.statements(d.body)
        self.device = None

    def _parameter(self, d: Device, name: str, at: int, default: Expr | None, pointer: bool, volatile: bool) -> V:
        v = d.given.get(name)
        if default is not None:
            other = self.value(default)
            if other.num == 32 and GROUP_NAME.match(d.name) and _WIDTH.match(name):
                self.use(other, Role.WIDTH, True, NOTHING)  # `shuffled(int v, int width = 32)`
            v = other if v is None else join(v, other)
        return parameter(name, v, at, pointer, volatile)

    # --- statements -----------------------------------------------------------------------------------------------

    def statements(self, body: Block) -> None:
        """Statements in a row. Behind a branch that leaves, only those are left who did not take it."""
        frames, outer = self.frames, self.env.copy()
        declared = [s.name for s in body.body if isinstance(s, Decl)]
        if self.device is not None and len(body.body) > 1:
            self.device.blocks[body.at] = BlockSeen(body.body, frames, self.loops)
        for s in body.body:
            self.statement(s)
            if isinstance(s, If) and s.other is None and leaves(s.then):
                cond = self._conditions.get(s.at, NOTHING)
                if cond.vary:
                    self.frames = (*self.frames, Frame(s.at, 1, cond))
        self.frames = frames
        for name in declared:  # what the block declared hides nothing behind it
            if name in outer:
                self.env[name] = outer[name]

    def statement(self, s: Stmt) -> None:
        """One statement."""
        if isinstance(s, Eval):
            if not (isinstance(s.expr, Name) and self.statement_macro(s.expr)):
                self.value(s.expr)
        elif isinstance(s, Decl):
            self._declare(s)
        elif isinstance(s, If):
            self._if(s)
        elif isinstance(s, Loop):
            self._loop(s)
        elif isinstance(s, Block):
            self.statements(s)
        elif isinstance(s, Switch):
            self._switch(s)
        elif isinstance(s, Jump):
            name = self.device.name if self.device is not None and s.kind == "return" else ""
            self.hint = name if "lane" in name.lower() else ""
            v = self.value(s.value) if s.value is not None else NOTHING
            self.hint = ""
            if s.kind == "return" and self.device is not None and s.value is not None:
                d = self.device
                d.result = join(d.result, v) if d.returns else v
                d.returns = True
        else:
            self._asm(s)

    def _declare(self, s: Decl) -> None:
        self.hint = s.name
        if s.shared:
            dims = [self.value(x) for x in s.dims]
            for v, x in zip(dims, s.dims, strict=True):
                if v.kind in (Kind.PRODUCT, Kind.BLOCK) and any(by_name(w) is Kind.COUNT for w in names_in(x).split()):
                    self.use(v, Role.SLOTS, True, V(Kind.COUNT))  # `rows[WARPS * ROWS_PER_WARP * 32]`
            array = Array(s.at, s.name, dims)
            self.shared[s.name] = array
            self.arrays[s.at] = self.arrays.get(s.at, array)
            self.shared[s.name] = self.arrays[s.at]
            self.env[s.name] = V(Kind.UNKNOWN, UNIFORM, None, (), None, True, s.volatile)
            self.hint = ""
            return
        for x in s.dims:
            self.value(x)
        init = s.init
        if isinstance(init, (Other, Operator)) and not parts(init):
            init = None
        v = self.value(init) if init is not None else NOTHING
        self.hint = ""
        if s.dims:
            v = V(Kind.UNKNOWN, v.vary)
        if init is None and not s.dims and not s.pointer:
            self.env[s.name] = NOTHING
            return
        if s.pointer:
            kind = _POINTS.get(v.kind, Kind.UNKNOWN)
            v = V(kind, v.vary, None, (), v.why, v.shared, v.volatile or s.volatile)
            self.env[s.name] = v
            return
        self.bind(s.name, v._replace(shared=False) if v.kind is Kind.DATA else v, s.at)

    def _if(self, s: If) -> None:
        self.hint = ""
        cond = self.value(s.cond)
        self._conditions[s.at] = cond
        self._chosen(s)
        before = self.env.copy()
        frames = self.frames
        self.frames = (*frames, Frame(s.at, 0, cond))
        self.statement(s.then)
        taken = self.env
        self.env = before
        self.frames = (*frames, Frame(s.at, 1, cond))
        if s.other is not None:
            self.statement(s.other)
        self.frames = frames
        if leaves(s.then):
            return
        self.env = either(self.env, taken, cond.vary)

    def _chosen(self, s: If) -> None:
        """`if (n == 32) v = warp_sum(v);`, `if (n % 32 == 0)`: a number of threads that warp code is treated as."""
        if not isinstance(s.cond, Binary) or s.cond.op not in ("==", ">=", "<=", ">", "<", "!="):
            return
        literals = [(s.cond.b, s.cond.a)]
        if isinstance(s.cond.a, Binary) and s.cond.a.op == "%":
            literals.append((s.cond.a.b, s.cond.a.a))
        for e, x in literals:
            if not isinstance(e, Num) or e.value != 32 or OF_BITS.search(names_in(s.cond)):
                continue
            other = self.value(x)
            if other.kind in (Kind.UNKNOWN, Kind.NUMBER, Kind.BLOCK, Kind.STEP) and other.vary == UNIFORM:
                then, other_arm = speaks_of_warps(s.then), speaks_of_warps(s.other)
                if then != other_arm or (then and isinstance(s.other, If)):
                    self.use(self.value(e), Role.SIZE, True, other)

    def _switch(self, s: Switch) -> None:
        cond = self.value(s.cond)
        if cond.kind in (Kind.WARP, Kind.GLOBAL_WARP):
            cond = cond._replace(kind=Kind.FIRST)
        frames = self.frames
        body = s.body.body if isinstance(s.body, Block) else (s.body,)
        before = self.env.copy()
        ends: list[dict[str, V]] = [before]
        arm = 0
        for x in body:
            if isinstance(x, Jump) and x.kind in ("case", "default"):
                arm = x.at
                if x.value is not None:
                    self.value(x.value)
                if self.env is not before:  # what falls through from the case above comes here too
                    ends.append(self.env)
                    self.env = either(ends[-1], before, cond.vary)
                continue
            if isinstance(x, Jump) and x.kind == "break":
                ends.append(self.env)
                self.env = before.copy()
                continue
            self.frames = (*frames, Frame(s.at, arm, cond))
            self.statement(x)
        self.frames = frames
        for end in ends:
            self.env = either(self.env, end, cond.vary)

    def _asm(self, s: Asm) -> None:
        text = " ".join(self.unit.t[s.first : s.last])
        self.event("asm", s.first, text)
        for m in NAMED_BARRIER.finditer(text):
            operands = [x.strip() for x in m[2].split(",")]
            named = len(operands) > 1 or operands[0] not in ("0", "")
            self.event("named-barrier" if named or m[1] != "sync" else "barrier", s.first, f"bar.{m[1]}")
        for x in s.ins:
            self.value(x)
        for out in s.outs:
            if not isinstance(out, Name):
                self.value(out)
            elif "%laneid" in text:
                self.env[out.text] = V(Kind.LANE, LANES, None, (), Step(s.at, "`%laneid` is the lane id", None))
            elif "%warpid" in text:
                self.env[out.text] = V(Kind.WARP, WARPS, None, (), Step(s.at, "`%warpid` is a warp id", None))
            elif "%lanemask" in text:
                self.env[out.text] = V(Kind.MASK, LANES, None, (), Step(s.at, "`%lanemask` is a mask of lanes", None))
            elif "elect.sync" in text:
                self.env[out.text] = V(Kind.LEADER, LANES)
            elif "mov.u32" in text and "%tid.x" in text:
                self.env[out.text] = V(Kind.THREAD, LANES, None, (), Step(s.at, "`%tid.x` is the thread's index", None))
            else:
                self.env[out.text] = V(Kind.DATA, LANES)

    # --- loops ----------------------------------------------------------------------------------------------------

    def _loop(self, s: Loop) -> None:
        frames, loops, outer = self.frames, self.loops, self.env.copy()
        if s.init is not None:
            self.statement(s.init)
        changed = set(assigned(s))
        walked = strided(s)
        literals, rounds = self._bounds(s)
        for name in changed:
            v = self.env.get(name)
            if v is not None:
                v = widened(v, literals.get(name, ()), name in literals)
                if name in walked and v.kind in (Kind.THREAD, Kind.LINEAR):
                    v = v._replace(kind=Kind.INDEX)
                self.env[name] = v._replace(kind=Kind.ROUND) if name in rounds and v.kind is Kind.STEP else v
        self.loops = (*loops, s.at)
        for e in distances(s):
            self.use(self.value(e), Role.WIDTH, True, NOTHING)
        self.hint = ""
        start = self.env.copy()
        for again in range(2):
            cond = self.value(s.cond) if s.cond is not None and s.kind != "do" else NOTHING
            if s.cond is not None and cond.vary and s.kind != "do":
                self.frames = (*frames, Frame(s.at, 0, cond._replace(kind=in_loop(cond))))
            self._see(s, frames, loops)
            self.statement(s.body)
            if s.kind == "do" and s.cond is not None:
                self.value(s.cond)
                self._see(s, frames, loops)
            if s.step is not None:
                self._advance(s.step)
            self.frames = frames
            grown = False
            for name in changed:
                a, b = start.get(name), self.env.get(name)
                if a is not None and b is not None and (a.kind is not b.kind or a.vary != b.vary):
                    v = join(a, b)
                    if (v.kind, v.vary) != (a.kind, a.vary):
                        start[name] = v._replace(src=a.src)
                        grown = True
            if again or not grown or len(loops) > 1:
                break
            self.env = start.copy()
        self.loops = loops
        inner = {x.name for x in statements(s.init) if isinstance(x, Decl)} if s.init is not None else set()
        for name in inner:
            if name in outer:
                self.env[name] = outer[name]
            else:
                self.env.pop(name, None)

    def _see(self, s: Loop, frames: tuple[Frame, ...], loops: tuple[int, ...]) -> None:
        """Keep what is known of a loop's tests, for those who look for loops that wait."""
        if self.device is None:
            return
        quiet, self.device = self.device, None
        values = {}
        for e in (*((s.cond,) if s.cond is not None else ()), *tests_of(s)):
            for x in walk(e):
                if isinstance(x, Name):
                    values[x.at] = self.env.get(x.text, _OUTSIDE)
        self.device = quiet
        quiet.loops[s.at] = LoopSeen(s, frames, loops, values)

    def _bounds(self, s: Loop) -> tuple[dict[str, tuple[int, ...]], set[str]]:
        """Loop variables with the literals that bound or step them, and those bounded by how often one goes into a
        number."""
        out: dict[str, tuple[int, ...]] = {}
        rounds: set[str] = set()
        quiet, self.device = self.device, None
        uses, self.uses = self.uses, {}
        pairs: list[tuple[Expr, Expr]] = []
        for e in walk(s.cond) if s.cond is not None else ():
            if isinstance(e, Binary) and e.op in ("<", "<=", "!=", ">", ">="):
                pairs.append((e.a, e.b))
        for e in walk(s.step) if s.step is not None else ():
            if isinstance(e, Assign) and e.op in ("+=", "-="):
                pairs.append((e.target, e.value))
        if s.init is not None:
            for x in statements(s.init):
                if isinstance(x, Decl) and x.init is not None:
                    pairs.append((Name(x.at, x.name), x.init))
                elif isinstance(x, Eval) and isinstance(x.expr, Assign):
                    pairs.append((x.expr.target, x.expr.value))
        for a, b in pairs:
            if isinstance(a, Name):
                v = self.value(b)
                if v.src and (v.num in (31, 32) or v.kind is Kind.QUOTIENT):
                    out[a.text] = (*out.get(a.text, ()), *v.src)
                if v.kind is Kind.QUOTIENT:
                    rounds.add(a.text)
        self.device, self.uses = quiet, uses
        return out, rounds

    def _advance(self, step: Expr) -> None:
        for e in step.parts if isinstance(step, Other) else (step,):
            if isinstance(e, Assign) and isinstance(e.target, Name):
                v = self.value(e.value)
                old = self.env.get(e.target.text, NOTHING)
                if e.op == "+=" and v.src and (v.num == 32 or v.kind is Kind.PRODUCT):
                    self._step(old, v)
                    if old.kind in (Kind.THREAD, Kind.LINEAR):
                        self.use(v, Role.STRIDE, None, old)
                if e.op == "+=" and v.src and v.kind is Kind.QUOTIENT and old.kind in (Kind.WARP, Kind.GLOBAL_WARP):
                    self.use(v, Role.COUNT, True, old)  # `row += threads / 32`
                vary = max(old.vary, v.vary)
                if old.kind in (Kind.THREAD, Kind.LINEAR, Kind.GLOBAL, Kind.LANE):
                    self.env[e.target.text] = old._replace(kind=Kind.INDEX, vary=vary)
                elif e.op == "=":
                    self.env[e.target.text] = join(old, v)
                else:
                    self.env[e.target.text] = old._replace(vary=vary, num=None)
            elif isinstance(e, Unary) and isinstance(e.x, Name):
                old = self.env.get(e.x.text, NOTHING)
                self.env[e.x.text] = old._replace(num=None)
            else:
                self.value(e)
