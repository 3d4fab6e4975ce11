"""Branches, loops and whole functions of scans: who writes the slots of warps, and who reads them."""

from __future__ import annotations

from cu2port.model import Edit
from cu2port.warp.native.idioms import CALLS, Refused
from cu2port.warp.native.lanes import ATOMICS, Here
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.scan_functions import ScanFunctions
from cu2port.warp.native.scans import OPERATORS, UP, Edits
from cu2port.warp.native.values import SAME, SPACE, Kind, T, is_plain
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    Unary,
    callee,
    walk,
)

_SLOTS = frozenset({Kind.SLOTS, Kind.SUMS, Kind.SUMS_BELOW})


def _alone(s: Stmt | None) -> list[Expr]:
    """The expressions of an arm that is nothing but statements of one expression each; empty for any other."""
    body = s.body if isinstance(s, Block) else (s,) if s is not None else ()
    found = [x.expr for x in body if isinstance(x, Eval) and x.end >= 0]
    return found if len(found) == len(body) else []


class ScanBranches(ScanFunctions):
    """What branches and loops do with scans, in the walk over one function. Raises Refused."""

    def _if_scan(self, s: If, here: Here) -> bool:
        """A branch that belongs to a scan; False if it is none that is known."""
        if not self._has_scans() and not any(t.scan >= 0 for t in self.env.values()):
            return False
        arms = _alone(s.then)
        if not arms:
            return False
        if s.other is None and (edits := self._last_lane(s.cond)) is not None:
            return self._by_last_lane(s, arms, edits, here)
        if s.other is None and here.role == "first" and (edits := self._last_slot(s.cond)) is not None:
            return self._totals(s, arms, edits, whole=False)
        first = arms[0]
        if isinstance(first, Assign) and self._is_array(first.target) and here.role == "first" and s.other is None:
            return self._slots_scanned(s, arms, here)
        return self._of_later_warps(s, arms, here) or self._mends(s, arms)

    # --- the last lane ----------------------------------------------------------------------------------------------

    def _last_lane(self, e: Expr) -> Edits | None:
        """The edits of `lane == 31`; None for any other condition."""
        if not isinstance(e, Binary) or e.op != "==":
            return None
        edits = self._lane(e.a)
        if edits is None and self.here.role == "first" and self._is_tid(e.a):
            edits = {}
        last = e.b
        less = isinstance(last, Binary) and last.op == "-" and self.idioms.number(last) == 31
        if edits is None or not (less or isinstance(last, (Num, Name))) or self.idioms.number(last) != 31:
            return None
        first, end = (last.a.at, last.b.at) if isinstance(last, Binary) else (last.at, last.at)
        if self.unit.tok(first - 1) in (".", "->", "::") or getattr(last, "qualified", False):
            return None
        start, stop = self.unit.p[first], self.unit.end(end)
        return {**edits, (start, stop): Edit(start, stop, (SPACE + "last_lane()",))}

    def _by_last_lane(self, s: If, arms: list[Expr], edits: Edits, here: Here) -> bool:
        """`if (lane == 31) slots[warp] = sum;`"""
        if here.role == "first":
            return self._totals(s, arms, edits, whole=True)
        if here.role or not here.together or self.gone:
            raise Refused(s.at, "some lanes may be elsewhere")
        self.here = Here(False, "leader")
        for e in arms:
            self._given(e, here)
        self.edits.update(edits)
        self._spot(s.cond)
        self.here = here
        return True

    def _given(self, e: Expr, here: Here) -> None:
        """What the last lane does: it gives a slot, or the operand of an atomic operation, what the warp comes to."""
        if isinstance(e, CallExpr) and ATOMICS.get(callee(e)) is not None and len(e.args) == 2:
            t = self._value(e.args[1])
            if t.kind not in (Kind.PREFIX, Kind.PART) or t.op != ATOMICS[callee(e)]:
                raise Refused(e.at, f"`{callee(e)}` of something else than what the warp's lanes come to")
            self._kept(t, self._pointee(e.args[0]), callee(e), e.at)
            if not self._value(e.args[0]).uniform:
                raise Refused(e.at, f"`{callee(e)}` may go to different places for lanes of a warp")
            self._spot(e.callee)
            self.line, self.plane = self.line or not self.rows, True
            return
        if isinstance(e, Assign):
            self._lend(e.target, self.here)
        name = self._is_array(e.target) if isinstance(e, Assign) and e.op == "=" else ""
        if not name or not isinstance(e, Assign) or not isinstance(e.target, Index):
            raise Refused(e.at, "the number of lanes decides who does this")
        if not self._is_warp(e.target.inner):
            raise Refused(e.at, f"`{name}` is set at another place than the warp's")
        t = self._value(e.value)
        if t.kind not in (Kind.PREFIX, Kind.PART):
            raise Refused(e.at, f"`{name}` gets something else than what the warp's lanes come to")
        self._slots_are(name, T(Kind.SLOTS, t.op, typ=t.typ, scan=t.scan), e)

    def _slots_are(self, name: str, t: T, e: Assign) -> None:
        if len(self.arrays[name].dims) != 1 and not self._is_lone_extern(name):
            raise Refused(e.at, f"`{name}` has several dimensions")
        self._spot(e.target)
        self.slots.add(name)
        self.tracked.add(name)
        self.env[name] = self._kept(t, self.types.get(name, ""), name, e.at)

    # --- what the slots come to -------------------------------------------------------------------------------------

    def _last_slot(self, e: Expr) -> Edits | None:
        """The edits of `lane == warps - 1` in the first warp; None for any other condition."""
        if not isinstance(e, Binary) or e.op != "==" or not isinstance(e.b, Binary) or e.b.op != "-":
            return None
        if self.idioms.fold(e.b.b) != 1:
            return None
        edits = {} if self._is_tid(e.a) else self._lane(e.a)
        bound = self._count(e.b.a) if edits is not None else None
        return None if edits is None or bound is None else {**edits, **bound}

    def _totals(self, s: If, arms: list[Expr], edits: Edits, whole: bool) -> bool:
        """`if (lane == warps - 1) total = sum;` in the first warp: what all slots come to. `whole`: by the last
        lane, with what the lanes without a slot have."""
        for e in arms:
            if not (isinstance(e, Assign) and e.op == "=" and isinstance(e.value, Name)):
                raise Refused(e.at, "the number of lanes decides who does this")
            t = self.env.get(e.value.text, SAME)
            if t.kind is not Kind.SCANNED or (whole and t.few):
                raise Refused(e.at, "the number of lanes decides who does this")
            self.spots.add(e.value.at)
            target = e.target
            if isinstance(target, Name) and target.text in self.arrays:
                self.spots.add(target.at)
                self.env[target.text] = SAME
                continue
            if isinstance(target, Name):
                raise Refused(e.at, f"`{target.text}` is set by one lane")
            for x in walk(target):
                if isinstance(x, Name) and not is_plain(self.env.get(x.text, SAME)):
                    raise Refused(e.at, f"`{x.text}` is {self.env[x.text].kind.value}")
            if not self._place(target):
                raise Refused(e.at, "the number of lanes decides where this is written")
        self.edits.update(edits)
        self._spot(s.cond)
        return True

    def _place(self, target: Expr) -> bool:
        """Whether a place is the same in all threads of the block."""
        if isinstance(target, Index):
            return self._value(target.base).uniform and self._value(target.inner).uniform
        return isinstance(target, Unary) and target.op == "*" and self._value(target.x).uniform

    def _slots_scanned(self, s: If, arms: list[Expr], here: Here) -> bool:
        """`if (lane < warps) slots[lane] = sum;` in the first warp, after a scan of the slots."""
        tag, edits = self._condition(s.cond, here)
        if tag != "slots" or not here.together or self.gone:
            return False
        self.guarded = True
        for e in arms:
            name = self._is_array(e.target) if isinstance(e, Assign) and e.op == "=" else ""
            if not name or not isinstance(e, Assign) or not isinstance(e.target, Index):
                raise Refused(e.at, "the number of lanes decides who does this")
            own = self._own_slot(e.target.inner)
            t = self._value(e.value)
            if own is None or t.kind not in (Kind.SCANNED, Kind.BELOW_SLOTS):
                raise Refused(e.at, f"`{name}` gets something else than what the slots come to")
            self.edits.update(own)
            kind = Kind.SUMS if t.kind is Kind.SCANNED else Kind.SUMS_BELOW
            self._slots_are(name, T(kind, t.op, typ=t.typ, scan=t.scan), e)
        self.guarded = False
        self.edits.update(edits)
        return True

    def _stored_bare(self, e: Assign, target: Index, name: str) -> bool:
        """`slots[lane] = sum;` in the first warp, for all its lanes: those that have a slot do it."""
        unit = self.unit
        own = self._own_slot(target.inner)
        if own is None or not isinstance(e.value, (Name, Binary)) or not self._is_of_slots(e.value):
            return False
        at = target.base.at
        if unit.tok(at - 1) not in (";", "{", "}") or not isinstance(target.inner, (Name, Member)) or self.rows:
            return False
        t = self._value(e.value)
        if t.kind not in (Kind.SCANNED, Kind.BELOW_SLOTS) or not self.here.together or self.gone:
            raise Refused(e.at, f"`{name}` gets something else than what the slots come to")
        self.edits.update(own)
        kind = Kind.SUMS if t.kind is Kind.SCANNED else Kind.SUMS_BELOW
        self._slots_are(name, T(kind, t.op, typ=t.typ, scan=t.scan), e)
        text = f"if ({self._words(target.inner)} < {SPACE}count(blockDim.x)) "
        self.edits[unit.p[at], unit.p[at]] = Edit(unit.p[at], unit.p[at], (text,))
        return True

    def _is_of_slots(self, e: Expr) -> bool:
        return any(
            isinstance(x, Name) and self.env.get(x.text, SAME).kind in (Kind.SCANNED, Kind.BELOW_SLOTS) for x in walk(e)
        )

    # --- what earlier warps come to ---------------------------------------------------------------------------------

    def _of_later_warps(self, s: If, arms: list[Expr], here: Here) -> bool:
        """`if (warp > 0) sum += slots[warp - 1];`"""
        side, edits = self._sides(s.cond, "warp")
        if side <= 0 or here.role or not any(self._is_before(x) for e in arms for x in walk(e)):
            return False
        others = {e.target.text: e for e in _alone(s.other) if isinstance(e, Assign) and isinstance(e.target, Name)}
        if s.other is not None and (len(others) != len(arms) or len(_alone(s.other)) != len(arms)):
            raise Refused(s.at, "the other arm of a branch of warps")
        for e in arms:
            if not (isinstance(e, Assign) and isinstance(e.target, Name)):
                raise Refused(e.at, "the number of lanes decides who does this")
            name = e.target.text
            old = self.env.get(name, SAME)
            if e.op == "=" and self._is_before(e.value):
                t = self._before(e.value)
                first = others[name].value if name in others else old.node
                if first is None or not is_identity(self.unit, t.op, first):
                    raise Refused(e.at, f"`{name}` has no known value in the first warp")
                if name in others:
                    self.spots.add(others[name].target.at)
            elif s.other is None:
                t = self._added(e, old)
            else:
                raise Refused(s.at, "the other arm of a branch of warps")
            self.spots.add(e.target.at)
            self._set(name, t, e, here)
        self.edits.update(edits)
        self._spot(s.cond)
        return True

    def _added(self, e: Assign, old: T) -> T:
        """`v += x`, `v = v + x`, `v = max(v, x)`, x being what earlier warps come to."""
        v, x, sign = e.target, e.value, e.op.removesuffix("=")
        op = OPERATORS.get(sign)
        if not sign and isinstance(x, Binary):
            op = OPERATORS.get(x.op)
            x = x.b if self.idioms.same(x.a, v) else x.a if self.idioms.same(x.b, v) else x
        elif not sign and isinstance(x, CallExpr) and len(x.args) == 2:
            op = CALLS.get(callee(x)) if self._is_math(x) else None
            self._spot(x.callee)
            x = x.args[1] if self.idioms.same(x.args[0], v) else x.args[0] if self.idioms.same(x.args[1], v) else x
        if op is None or not self._is_before(x):
            raise Refused(e.at, "what earlier warps come to is used in a way that is not understood")
        t = self._before(x)
        if t.op != op:
            raise Refused(e.at, "what earlier warps come to is put together by another operation")
        for y in walk(e.value):
            if isinstance(y, Name) and self.idioms.same(y, v):
                self.spots.add(y.at)
        if is_plain(old):
            return self._kept(t, self.types.get(v.text, "") if isinstance(v, Name) else "", "the value", e.at)
        if old.kind in UP and (old.op, old.scan, old.typ) == (t.op, t.scan, t.typ):
            return SAME
        raise Refused(e.at, f"{old.kind.value} is used where it may differ")

    def _is_math(self, e: CallExpr) -> bool:
        return isinstance(e.callee, Name) and self.look(callee(e)) is None and callee(e) not in self.unit.macros

    # --- what lanes before come to ----------------------------------------------------------------------------------

    def _mends(self, s: If, arms: list[Expr]) -> bool:
        """`if (lane == 0) below = 0;` after a shuffle from the lane below, or `if (lane > 0) sum = below;`"""
        side, edits = self._sides(s.cond, "lane")
        e = arms[0]
        if not side or len(arms) != 1 or s.other is not None or not isinstance(e, Assign) or e.op != "=":
            return False
        if not isinstance(e.target, Name):
            return False
        name = e.target.text
        of = name if side < 0 else e.value.text if isinstance(e.value, Name) else ""
        t = self.env.get(of, SAME)
        if t.kind not in (Kind.SHIFTED, Kind.SHIFTED_SLOTS):
            return False
        first = e.value if side < 0 else self.env.get(name, SAME).node
        if first is None or not is_identity(self.unit, t.op, first):
            raise Refused(e.at, "the first lane has a value that may count")
        kind = Kind.UPTO if t.kind is Kind.SHIFTED else Kind.BELOW_SLOTS
        self._spot(e.target)
        self._spot(e.value)
        self.tracked.add(name)
        self.env[name] = t._replace(kind=kind)
        self.edits.update(edits)
        self._spot(s.cond)
        return True

    # --- loops over slots -------------------------------------------------------------------------------------------

    def _serial_scan(self, s: Loop, here: Here) -> bool:
        """Loops over slots: `for (i = 0; i < warp; ++i) sum += slots[i];`, or one thread that scans them."""
        c, init = s.cond, s.init
        if s.kind != "for" or not isinstance(init, Decl) or init.init is None or not isinstance(c, Binary):
            return False
        i = init.name
        step = isinstance(s.step, Unary) and s.step.op in ("++", "p++") and isinstance(s.step.x, Name)
        if not step or c.op != "<" or not (isinstance(c.a, Name) and c.a.text == i):
            return False
        body = s.body.body if isinstance(s.body, Block) else (s.body,)
        names = {self._is_array(x) for y in body for e in _heads(y) for x in walk(e)} - {""}
        if len(names) != 1 or self.env.get(name := names.pop(), SAME).kind is not Kind.SLOTS:
            return False
        if len(body) == 1 and self._warp(c.b) is None:
            return False
        slots = self.env[name]
        if not slots.seen or slots.op != "add" or self.idioms.number(init.init) != 0:
            raise Refused(s.at, f"`{name}` is read in a loop that is not understood")
        if len(body) == 1 and (bound := self._warp(c.b)) is not None:
            return self._earlier(s, body[0], name, i, bound, here)
        bound = self._count(c.b)
        run = self._runs(body, name, i)
        if bound is None or run is None or here.role != "thread":
            raise Refused(s.at, f"`{name}` is read in a loop that is not understood")
        total, kind = run
        acc = self.env.get(total, SAME)
        if not is_plain(acc) or total not in self.own:
            raise Refused(s.at, f"`{total}` is {acc.kind.value}")
        self._kept(slots, self.types.get(total, ""), total, s.at)
        self.edits.update(bound)
        self.spots |= {x.at for y in body for e in _heads(y) for x in walk(e) if isinstance(x, Name)}
        self.env[name] = T(kind, slots.op, seen=False, typ=slots.typ, scan=slots.scan)
        self._set(total, SAME, c, here)
        return True

    def _earlier(self, s: Loop, x: Stmt, name: str, i: str, bound: Edits, here: Here) -> bool:
        """`for (i = 0; i < warp; ++i) sum += slots[i];`"""
        e = x.expr if isinstance(x, Eval) else None
        if not (isinstance(e, Assign) and e.op == "+=" and isinstance(e.target, Name) and here.role == ""):
            raise Refused(s.at, f"`{name}` is read in a loop that is not understood")
        old, slots = self.env.get(e.target.text, SAME), self.env[name]
        if not (isinstance(e.value, Index) and self._is_name(e.value.inner, i)):
            raise Refused(s.at, f"`{name}` is read in a loop that is not understood")
        self._kept(slots, self.types.get(e.target.text, ""), e.target.text, s.at)
        t = T(Kind.BEFORE, slots.op, typ=slots.typ, scan=slots.scan)
        if old.kind in UP and (old.op, old.scan, old.typ) == (t.op, t.scan, t.typ):
            t = SAME
        elif not is_plain(old):
            raise Refused(e.at, f"{old.kind.value} is used where it may differ")
        self.edits.update(bound)
        self._spot(e.target)
        self._spot(e.value)
        if isinstance(s.cond, Binary):
            self._spot(s.cond.b)
        self._set(e.target.text, t, e, here)
        return True

    def _runs(self, body: tuple[Stmt, ...], name: str, i: str) -> tuple[str, Kind] | None:
        """The running sum of `int t = slots[i]; slots[i] = sum; sum += t;` or `sum += slots[i]; slots[i] = sum;`"""
        steps = [x.expr for x in body if isinstance(x, Eval)]

        def slot(x: Expr) -> bool:
            return isinstance(x, Index) and self._is_name(x.base, name) and self._is_name(x.inner, i)

        if len(body) == 3 and isinstance(body[0], Decl) and body[0].init is not None and slot(body[0].init):
            store, add = steps if len(steps) == 2 else (None, None)
            mine, kind = body[0].name, Kind.SUMS_BELOW
        elif len(body) == 2 and len(steps) == 2:
            add, store = steps
            mine, kind = "", Kind.SUMS
        else:
            return None
        if not (isinstance(store, Assign) and store.op == "=" and slot(store.target)):
            return None
        if not (isinstance(add, Assign) and add.op == "+=" and isinstance(add.target, Name)):
            return None
        total = add.target.text
        taken = self._is_name(add.value, mine) if mine else slot(add.value)
        return (total, kind) if taken and self._is_name(store.value, total) else None


def _heads(s: Stmt) -> tuple[Expr, ...]:
    if isinstance(s, Eval):
        return (s.expr,)
    return (s.init,) if isinstance(s, Decl) and s.init is not None else ()
