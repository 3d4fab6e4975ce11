"""Kernels in which each warp has a row of its own: whether wavefronts of any size may do the rows in place of warps.

Row r is done by the warp with number r. A value is the same for all lanes of it and depends on r alone (ROW), or
belongs to one element that a loop over lanes comes to (ELEMENT), or is what a lane has put together of its elements
(PART), which a reduction over the warp turns into a value of the row. What a row and its elements do is done once each,
however many lanes share the work. Anything else is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.lexer import is_identifier
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import ATOMICS, IDEMPOTENT, without
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.row_stores import RowStores
from cu2port.warp.native.row_values import (
    ELEMENT,
    INDICES,
    MIXED,
    ROW,
    Kind,
    RowsFound,
    T,
)
from cu2port.warp.native.types import declared_type
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
    Jump,
    Loop,
    Member,
    Name,
    Other,
    Stmt,
    Unary,
    callee,
    root,
    walk,
)

_STORES = frozenset({"__stcs", "__stcg", "__stwt"})


class Rows(RowStores):
    """The walk over one kernel. Raises Refused."""

    def run(self) -> RowsFound:
        unit, (first, stop) = self.unit, self.d.fn.body
        for d in unit.directives:
            if first < d.first < stop and d.keyword != "pragma":
                raise Refused(d.first, "the function has conditional parts")
        for p in self.d.params:
            if p.name:
                self.env[p.name] = ROW
                self.names.add(p.name)
                self.types[p.name] = declared_type(unit, p.at)
        for p in self.d.tparams:
            if p.name:
                self.env[p.name] = ROW
        self._list(self.d.body.body)
        self.memory.check()
        for i in range(first, stop):
            tok = unit.t[i]
            if i in self.spots or unit.is_member(i):
                continue
            if tok in self.names or tok in INDICES:
                raise Refused(i, f"`{tok}` is used in a way that is not understood")
            if (i in self.idioms.cudas and i not in self.done and tok != "__syncwarp") or tok in ("asm", "goto"):
                raise Refused(i, f"`{tok}` is no part of a proven idiom")
            if is_identifier(tok) and tok in unit.macros:
                for m in unit.macros[tok]:
                    if (
                        not (self.names | INDICES).isdisjoint(unit.t[m.first : m.stop])
                        or "{" in unit.t[m.first : m.stop]
                    ):
                        raise Refused(i, f"the macro `{tok}` is not understood")
        if not (self.rows or self.over):
            raise Refused(self.d.fn.name_at, "no row of each warp is seen")
        return RowsFound(self.edits, self.bound, self.single, tuple(self.sites))

    # --- statements -----------------------------------------------------------------------------------------------

    def _list(self, body: Sequence[Stmt]) -> None:
        before: dict[str, T | None] = {}
        k = 0
        while k < len(body):
            s = body[k]
            got = self.idioms.reduction(body, k)
            if got is not None:
                self._reduction(got)
                k += got.size
                continue
            if isinstance(s, Decl):
                before.setdefault(s.name, self.env.get(s.name))
            self._statement(s)
            k += 1
        for name, was in before.items():
            if was is not None:
                self.env[name] = was
            else:
                self.env.pop(name, None)

    def _statement(self, s: Stmt) -> None:
        if isinstance(s, Block):
            self._list(s.body)
        elif isinstance(s, Decl):
            self._declared(s)
        elif isinstance(s, Eval):
            self._evaluated(s)
        elif isinstance(s, If):
            self._if(s)
        elif isinstance(s, Loop):
            self._loop(s)
        elif isinstance(s, Jump):
            if s.kind == "return" and not self.inside and s.value is None:
                return
            if s.kind == "continue" and self.inside:
                return
            if s.kind == "break" and self.inside and self.loops:
                return
            raise Refused(s.at, f"`{s.kind}` where lanes may differ")
        else:
            raise Refused(s.at, "a statement that is not understood")

    def _declared(self, s: Decl) -> None:
        self.spots.add(s.at)
        self.names.add(s.name)
        self.types[s.name] = declared_type(self.unit, s.at)
        self.memory.element.discard(s.name)
        if s.pointer and s.init is not None and root(s.init) != s.name:
            self.memory.stands[s.name] = root(s.init)
        if s.shared or s.dims or self.unit.tok(s.at - 1) == "&":
            raise Refused(s.at, f"`{s.name}` is an array or a reference")
        if self.inside:
            if s.name in self.env and s.name not in self.local:
                raise Refused(s.at, f"there is another `{s.name}`")
            self.local.add(s.name)
        if s.init is None:
            self.env[s.name] = T(Kind.ELEMENT if self.inside else Kind.ROW)
            return
        self.env[s.name] = self._set(s.init)
        if self.env[s.name].kind is Kind.TILE:
            self._dropped(s)

    def _dropped(self, s: Decl) -> None:
        """The declaration of a tile goes, as all its uses do."""
        edit = without(self.unit, s.at)
        self.spots |= set(range(self.unit.lexed.at(edit.start), self.unit.lexed.at(edit.end)))
        self.edits[edit.start, edit.end] = edit

    def _evaluated(self, s: Eval) -> None:
        e = s.expr
        if s.end < 0 and self.idioms.is_hint(e):
            return
        if s.end < 0:
            raise Refused(s.at, "a macro without a semicolon")
        if isinstance(e, Assign):
            self._assigned(e)
        elif isinstance(e, CallExpr):
            name = callee(e)
            if name == "__syncwarp" and not self.inside:
                return
            if name in ATOMICS and (self.inside or self.leader) and self.rows:
                for x in e.args:
                    self._plain(x)
                if self.inside:
                    self.memory.note(e.args[0], True)
                self.spots.add(e.at)
                return
            if name in _STORES and len(e.args) == 2:
                self._stored(e.args[0], e.args[1], False, e.at)
                self.spots.add(e.at)
                return
            if name == "assert":
                self._plain(e.args[0])
                return
            raise Refused(e.at, f"`{name}` may be called by more lanes or by fewer")
        elif isinstance(e, Unary) and isinstance(e.x, Name) and self.inside and e.x.text in self.local:
            self._plain(e.x)
        else:
            raise Refused(s.at, "a statement that is not understood")

    def _if(self, s: If) -> None:
        guard = self._guard(s)
        if guard:
            return
        tag = self._is_leader(s.cond)
        if tag:
            if self.inside or self.leader or s.other is not None:
                raise Refused(s.at, "a branch of lanes inside another")
            before = dict(self.env)
            self.leader, outer = True, set(self.local)
            self._statement(s.then)
            self.leader, self.local = False, outer
            self.env = before
            return
        t = self._plain(s.cond)
        if t.kind is Kind.ELEMENT and not self.inside:
            raise Refused(s.at, "some lanes may be elsewhere")
        before = dict(self.env)
        self._statement(s.then)
        then, self.env = self.env, before
        if s.other is not None:
            self._statement(s.other)
        for name in then.keys() | self.env.keys():
            self.env[name] = self._joined(then.get(name, MIXED), self.env.get(name, MIXED))

    def _joined(self, a: T, b: T) -> T:
        if a == b:
            return a
        for x, y in ((a, b), (b, a)):
            if x.kind is Kind.PART and y.kind is Kind.ROW:
                if x.op in IDEMPOTENT or (y.node is not None and is_identity(self.unit, x.op, y.node)):
                    return x
                return MIXED
            if x.kind is Kind.ROW and y.kind is Kind.ELEMENT:
                return ELEMENT
        return T(a.kind) if a.kind is b.kind and a.op == b.op and not a.number else MIXED

    def _guard(self, s: If) -> bool:
        """`if (row >= n) return;`, or `if (row < n) { all the rest }`."""
        c = s.cond
        if not (isinstance(c, Binary) and isinstance(c.a, Name) and self.env.get(c.a.text, MIXED).number):
            return False
        if self.inside or self.leader or s.other is not None or self.rows or self.over or self.loops:
            return False
        then = s.then.body[0] if isinstance(s.then, Block) and len(s.then.body) == 1 else s.then
        leaves = isinstance(then, Jump) and then.kind == "return"
        if not ((c.op == ">=" and leaves) or (c.op == "<" and not leaves)):
            return False
        if self._plain(c.b).kind is not Kind.ROW or any(self._is_of_row(x) for x in walk(c.b)):
            return False
        self.spots.add(c.a.at)
        self.bound, self.rows = c.b, True
        if not leaves:
            self._statement(s.then)
            self.rows, self.over = False, True
        return True

    def _is_of_row(self, x: Expr) -> bool:
        if not isinstance(x, Name):
            return isinstance(x, (CallExpr, Index, Member, Unary))
        own = x.text not in {p.name for p in self.d.params} or x.text in self.changed
        return own and (x.text in self.env or self.idioms.fold(x) is None)

    def _is_leader(self, e: Expr) -> bool:
        if isinstance(e, Binary) and e.op == "&&":
            for a, b in ((e.a, e.b), (e.b, e.a)):
                if self._is_leader(a):
                    self._plain(b)
                    return True
            return False
        zero = e.x if isinstance(e, Unary) and e.op == "!" else None
        if isinstance(e, Binary) and e.op == "==" and self.idioms.fold(e.b) == 0:
            zero = e.a
        return zero is not None and self._special(zero, Kind.LANE)

    # --- loops ----------------------------------------------------------------------------------------------------

    def _loop(self, s: Loop) -> None:
        if self.leader:
            raise Refused(s.at, "a loop of one lane")
        if not self.inside and self._over_rows(s):
            return
        if not self.inside and self._over_lanes(s):
            return
        inits = s.init.body if isinstance(s.init, Block) else (s.init,) if s.init is not None else ()
        old = {x.name: self.env.get(x.name) for x in inits if isinstance(x, Decl)}
        for x in inits:
            self._statement(x)
        self.loops += 1
        for _ in range(4):
            before = dict(self.env)
            t = self._plain(s.cond) if s.cond is not None else ROW
            if t.kind is Kind.ELEMENT and not self.inside:
                raise Refused(s.at, "some lanes may leave the loop before others")
            self._statement(s.body)
            for step in (s.step.parts if isinstance(s.step, Other) else (s.step,)) if s.step is not None else ():
                self._step(step)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.loops -= 1
        for name, was in old.items():
            self.env.pop(name)
            if was is not None:
                self.env[name] = was

    def _step(self, e: Expr) -> None:
        if isinstance(e, Assign):
            self._assigned(e)
            return
        if not (isinstance(e, Unary) and isinstance(e.x, Name)):
            raise Refused(e.at, "a loop that is not understood")
        t = self._plain(e.x)
        if self.inside and e.x.text not in self.local:
            raise Refused(e.at, f"`{e.x.text}` is changed by the lane that comes to an element")
        self.env[e.x.text] = T(t.kind)

    def _over_lanes(self, s: Loop) -> bool:
        """`for (i = lane; i < n; i += 32)`"""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or s.step is None:
            return False
        i = s.init.name
        c, step = s.cond, s.step
        if not self._special(s.init.init, Kind.LANE):
            return False
        if not (isinstance(c, Binary) and c.op == "<" and isinstance(c.a, Name) and c.a.text == i):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if not (
            isinstance(step, Assign) and step.op == "+=" and isinstance(step.target, Name) and step.target.text == i
        ):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if self._plain(c.b).kind is not Kind.ROW or not self._special(step.value, Kind.SIZE):
            raise Refused(s.at, "a loop over lanes that is not understood")
        self.spots |= {s.init.at, c.a.at, step.target.at}
        self.names.add(i)
        was, outer = self.env.get(i), set(self.local)
        self.env[i] = ELEMENT
        self.inside = True
        self.memory.element.add(i)
        for _ in range(3):
            before = dict(self.env)
            self._statement(s.body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env[i] != ELEMENT:
                raise Refused(s.at, f"`{i}` is changed in the loop")
            if self.env == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.inside, self.local = False, outer
        self.memory.element.discard(i)
        self.env.pop(i)
        if was is not None:
            self.env[i] = was
        return True

    def _over_rows(self, s: Loop) -> bool:
        """`for (row = ...; row < n; row += all warps)`: each row is done once, whatever the number of wavefronts."""
        if (
            s.kind != "for"
            or not isinstance(s.init, Decl)
            or s.init.init is None
            or self.rows
            or self.over
            or self.loops
        ):
            return False
        c, step, row = s.cond, s.step, s.init.name
        init = s.init.init
        known = isinstance(init, Name) and self.env.get(init.text, MIXED).number
        if not known and not self._sure(lambda: self._is_row(init)):
            return False
        self.seen = True
        if known and isinstance(init, Name):
            self.spots.add(init.at)
        if not (isinstance(c, Binary) and c.op == "<" and isinstance(c.a, Name) and c.a.text == row):
            raise Refused(s.at, "a loop over rows that is not understood")
        if not (
            isinstance(step, Assign) and step.op == "+=" and isinstance(step.target, Name) and step.target.text == row
        ):
            raise Refused(s.at, "a loop over rows that is not understood")
        if self._plain(c.b).kind is not Kind.ROW or not self._is_total(step.value):
            raise Refused(s.at, "a loop over rows that is not understood")
        self.spots |= {s.init.at, c.a.at, step.target.at}
        self.names.add(row)
        outside = set(self.env)
        self.changed.clear()
        self.env[row] = T(Kind.ROW)
        self.rows = True
        for _ in range(4):
            before = dict(self.env)
            self._statement(s.body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env == before:
                if carried := sorted(self.changed & outside):
                    raise Refused(s.at, f"`{carried[0]}` goes from one row to the next that its warp does")
                return True
        raise Refused(s.at, "a loop that does not settle")
