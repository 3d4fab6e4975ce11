"""Kernels in which each warp has a row of its own: whether wavefronts of any size may do the rows in place of warps.

Row r is done by the warp with number r. A value is the same for all lanes of it and depends on r alone (ROW), or
belongs to one element that a loop over lanes comes to (ELEMENT), or is what a lane has put together of its elements
(PART), which a reduction over the warp turns into a value of the row. What a row and its elements do is done once each,
however many lanes share the work. Anything else is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.lexer import is_identifier
from cu2port.warp.native.assembly import WORDS
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import ATOMICS, without
from cu2port.warp.native.row_lanes import MIXED, NARROW, ROW, Kind, RowsFound, Shape, T
from cu2port.warp.native.row_loops import RowLoops
from cu2port.warp.native.row_values import INDICES
from cu2port.warp.native.spelled import check_names, words_of
from cu2port.warp.native.types import declared_type
from cu2port.warp.native.values import SPACE
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
    Num,
    Stmt,
    Unary,
    callee,
    expressions,
    root,
    single,
    walk,
)

_STORES = frozenset({"__stcs", "__stcg", "__stwt"})
NOT_HERE = WORDS | {"goto"}


class Rows(RowLoops):
    """The walk over one kernel. Raises Refused."""

    def run(self) -> RowsFound:
        self.idioms.local.clear()
        try:
            return self._run()
        finally:
            self.idioms.local.clear()

    def _run(self) -> RowsFound:
        unit, (first, stop) = self.unit, self.d.fn.body
        self.set_anew = changed_names(self.d.body) | {unit.t[i + 1] for i in range(first, stop) if unit.t[i] == "&"}
        for d in unit.directives:
            if first < d.first < stop and d.keyword != "pragma":
                raise Refused(d.first, "the function has conditional parts")
        for p in self.d.params:
            if p.name:
                self.env[p.name] = ROW
                self.names.add(p.name)
                self.types[p.name] = declared_type(unit, p.at)
                if p.pointer:
                    self.memory.pointers.add(p.name)
        for p in self.d.tparams:
            if p.name:
                self.env[p.name] = ROW
        self._list(self.d.body.body)
        self.memory.check()
        self._uncut(first, stop)
        for i in range(first, stop):
            tok = unit.t[i]
            if i in self.spots or unit.is_member(i):
                continue
            if tok in self.names or tok in INDICES:
                raise Refused(i, f"`{tok}` is used in a way that is not understood")
            if (i in self.idioms.cudas and i not in self.done and tok != "__syncwarp") or tok in NOT_HERE:
                raise Refused(i, f"`{tok}` is no part of a proven idiom")
            if is_identifier(tok) and tok in unit.macros and "{" in words_of(unit, (), tok):
                raise Refused(i, f"the macro `{tok}` is not understood")
        check_names(unit, self.idioms.headers or (), first, stop, self.names | INDICES)
        if not (self.rows or self.over or self.seen):
            raise Refused(self.d.fn.name_at, "no row of each warp is seen")
        exact = self.exact or (self.bound is None and not self.strided)
        return RowsFound(self.edits, self.bound, self.shape, exact, self.warps, tuple(self.sites))

    def _uncut(self, first: int, stop: int) -> None:
        """Raises Refused where a lane, a warp or a thread is cast to a type that may not hold it."""
        t, found = self.unit.t, self.numbers | INDICES
        for i in range(first + 2, stop - 1):
            if t[i] == ")" and t[i - 1] in NARROW and t[self.unit.match[i] - 1] not in ("sizeof", "alignof"):
                last = self.unit.match[i + 1] if t[i + 1] == "(" else i + 1
                if not found.isdisjoint(t[i + 1 : last + 1]):
                    raise Refused(i, "a cast may cut the number of a lane")

    # --- statements -----------------------------------------------------------------------------------------------

    def _list(self, body: Sequence[Stmt]) -> None:
        before: dict[str, T | None] = {}
        k = 0
        while k < len(body):
            s = body[k]
            if self._leaves_leader(s, body):
                k += 1
                continue
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
                self.idioms.local.pop(name, None)

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
            if s.kind == "return" and not self.inside and s.value is None and not self.striding:
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
        self.idioms.local.pop(s.name, None)
        kind = declared_type(self.unit, s.at)
        if s.name in self.env and self.types.get(s.name, kind) != kind:
            raise Refused(s.at, f"there is another `{s.name}`")
        self.types[s.name] = kind
        self.memory.element.pop(s.name, None)
        self.memory.version[s.name] = s.at
        if s.pointer or s.init is not None:
            self.memory.made(s.name, s.init if s.init is not None else Name(s.at, s.name), s.pointer)
        held = len(s.dims) == 1 and not self.inside and not self.loops and s.init is None
        if s.shared or (s.dims and (not (self.inside or held) or s.pointer)) or self.unit.tok(s.at - 1) == "&":
            raise Refused(s.at, f"`{s.name}` is an array or a reference")
        self.arrays.pop(s.name, None)
        self.values.discard(s.name)
        self.views.discard(s.name)
        if s.pointer and self.inside and s.init is not None and self._is_view(s.init):
            self.views.add(s.name)
        if s.dims:
            self._only_here(s)
            self.arrays[s.name] = len(s.dims)
            for x in s.dims:
                self._plain(x)
            if held:
                self.env[s.name] = T(Kind.ITEMS, str(self.memory.form(s.dims[0])))
                return
        elif self.inside and not s.pointer:
            self.values.add(s.name)
        if self.inside:
            if s.name in self.env and s.name not in self.local:
                raise Refused(s.at, f"there is another `{s.name}`")
            self.local.add(s.name)
        if s.init is None:
            self.env[s.name] = T(Kind.ELEMENT if self.inside else Kind.ROW)
            return
        if s.name not in self.env and (n := self._constant(s)) is not None:
            self._plain(s.init)
            self.idioms.local[s.name], self.env[s.name] = n, T(Kind.ROW, node=s.init)
            return
        self.env[s.name] = self._set(s.name, s.init)
        if self.inside and s.init.at in self.memory.items and isinstance(s.init, Binary):
            self.memory.element[s.name] = self.memory.items[s.init.at]
        if self.env[s.name].kind is Kind.TILE:
            self._dropped(s)

    def _only_here(self, s: Decl) -> None:
        """Raises Refused where an array may be one for more than an element."""
        k = s.at - 1
        while self.unit.t[k] not in ("{", "}", ";", ")"):
            if self.unit.t[k] == "static" or self.unit.t[k] in self.unit.macros:
                raise Refused(s.at, f"`{s.name}` may be shared")
            k -= 1

    def _is_view(self, e: Expr) -> bool:
        """Whether a pointer is to a variable that an element has for itself."""
        while isinstance(e, CallExpr) and callee(e) == "reinterpret_cast" and len(e.args) == 1:
            e = e.args[0]
        if isinstance(e, Unary) and e.op == "&":
            return isinstance(e.x, Name) and e.x.text in self.values and e.x.text in self.local
        return isinstance(e, Name) and e.text in self.arrays and e.text in self.local

    def _constant(self, s: Decl) -> int | None:
        """The value of a variable of the kernel's own that stays what it is set to."""
        if s.pointer or self.inside or self.loops or not isinstance(s.init, (Num, Name, Binary)):
            return None
        n = self._number(s.init)
        fits = self.types[s.name] in ("unsigned", "int", "size_t", "long long", "unsigned long long", "auto")
        return n if fits and s.name not in self.set_anew else None

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
            if name in ATOMICS and (self.inside or self.leader):
                self.exact = self.exact or not self.rows
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
                if not (self.shape is not Shape.LINE and self._one_warp_wide(e.args[0])):
                    self._plain(e.args[0])
                return
            raise Refused(e.at, f"`{name}` may be called by more lanes or by fewer")
        elif isinstance(e, Unary) and isinstance(e.x, Name) and self.inside and e.x.text in self.local:
            self._plain(e.x)
            self.memory.element.pop(e.x.text, None)
        elif isinstance(e, Unary) and isinstance(e.x, Name) and self.inside and e.op in ("++", "--", "p++", "p--"):
            self.spots.add(e.x.at)
            self._gathers(e.x.text, "add", Num(e.at, 1), e.at)
        else:
            raise Refused(s.at, "a statement that is not understood")

    def _one_warp_wide(self, e: Expr) -> bool:
        """`blockDim.x == 32`"""
        if not (isinstance(e, Binary) and e.op == "=="):
            return False
        return self._sure(lambda: self._axis(e.a, "blockDim") and self._size(e.b, 32, f"{SPACE}size()"))

    def _if(self, s: If) -> None:
        guard = self._guard(s)
        if guard:
            return
        if self.inside and self._by_choice(s):
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

    def _by_choice(self, s: If) -> bool:
        """`if (x > most) most = x;`"""
        then = single(s.then)
        if s.other is not None or not isinstance(then, Eval) or not isinstance(then.expr, Assign):
            return False
        e, c = then.expr, s.cond
        if e.op != "=" or not isinstance(e.target, Name) or e.target.text in self.local or then.end < 0:
            return False
        if not isinstance(c, Binary) or c.op not in ("<", "<=", ">", ">="):
            return False
        name = e.target.text
        op, value = self._chosen(c, e.value, e.target, lambda x: isinstance(x, Name) and x.text == name)
        if op is None or value is None:
            return False
        self.spots.add(e.target.at)
        self._gathers(name, op, value, e.at)
        return True

    def _leaves_leader(self, s: Stmt, body: Sequence[Stmt]) -> bool:
        """`if (lane != 0) return;` in the kernel's own list of statements: the rest is for one lane."""
        if body is not self.d.body.body or not isinstance(s, If) or s.other is not None or self.leader:
            return False
        then = single(s.then)
        if not (isinstance(then, Jump) and then.kind == "return" and then.value is None):
            return False
        c = s.cond
        other = c.a if isinstance(c, Binary) and c.op in ("!=", ">") and self.idioms.fold(c.b) == 0 else c
        if not self._special(other, Kind.LANE):
            return False
        self.leader = True
        return True

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


def changed_names(body: Block) -> set[str]:
    """The variables that are set somewhere after their declaration."""
    found = expressions(body)
    out = {root(x.target) for x in found if isinstance(x, Assign)}
    return out | {root(x.x) for x in found if isinstance(x, Unary) and x.op in ("++", "--", "p++", "p--", "&")}
