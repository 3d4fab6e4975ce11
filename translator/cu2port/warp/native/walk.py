"""Whether a device function does the same with wavefronts of any size in place of warps: a walk over its statements.

Each value is either the same for any number of lanes or has a type that says how it depends on it. What changes with
the number may only be used in the ways listed here; they end in values that do not. Anything else is refused, and the
function keeps CUDA's warps.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.lexer import is_identifier
from cu2port.model import Span
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.native.branches import Branches
from cu2port.warp.native.groups import is_barrier
from cu2port.warp.native.lanes import CUB, GROUPS, LEAVES, Here, Summary, without
from cu2port.warp.native.patterns import collective
from cu2port.warp.native.spelled import check_names, words_of
from cu2port.warp.native.steps import Refused, callee_of, is_whole
from cu2port.warp.native.types import AUTO, declared_type
from cu2port.warp.native.values import SAME, UNIFORM, Kind, T, is_plain, join
from cu2port.warp.tree import (
    Asm,
    Assign,
    Block,
    CallExpr,
    Decl,
    Eval,
    If,
    Index,
    Jump,
    Loop,
    Name,
    Other,
    Stmt,
    Switch,
    Unary,
    callee,
    root,
    walk,
)


class Walk(Branches):
    """The walk over one function. Raises Refused."""

    # --- the whole ------------------------------------------------------------------------------------------------

    def run(self) -> Summary:
        """Walk, and see that nothing was overlooked."""
        self._look_before()
        for p in self.d.params:
            if p.name:
                self.env[p.name] = T(Kind.SAME, uniform=self.d.kernel)
        for p in self.d.tparams:
            if p.name:
                self.env[p.name] = UNIFORM
        self._list(self.d.body.body, Here())
        self._handed_back(self.d.fn.name_at)
        self._look_after()
        result = self.results[0] if self.results else SAME
        for r in self.results[1:]:
            result = join(result, r)
        if result.kind not in (Kind.SAME, Kind.TID, Kind.PART, Kind.WHOLE):
            raise Refused(self.d.fn.name_at, f"what `{self.d.name}` returns depends on the number of lanes")
        op, call, low = self._reduces()
        kind = self._parameter() if op else ""
        return Summary(
            result,
            self.edits,
            op,
            self.line,
            tuple(self.sites),
            call,
            self.meets,
            self.plane,
            self.floors,
            low=low,
            kinds=(kind,),
            scratch=frozenset(self.scratch),
            loans=frozenset(self.loans),
            syncs=any(isinstance(s, Eval) and is_barrier(self.unit, s.expr) for s in self.d.body.body),
        )

    def _parameter(self) -> str:
        """The type of a reduction's parameter; "" if it is its template's."""
        kind = self.types[self.d.params[0].name]
        return "" if kind in {p.name for p in self.d.tparams} else kind

    def _look_before(self) -> None:
        unit = self.unit
        first, stop = self.d.fn.body
        for d in unit.directives:
            if first < d.first < stop and d.keyword != "pragma":
                raise Refused(d.first, "the function has conditional parts")
        t = unit.t
        for i in range(first, stop):
            tok = t[i]
            if tok in ("threadIdx", "blockDim") and unit.tok(i + 1) == ".":
                self.rows = self.rows or unit.tok(i + 2) != "x"
                self.deep = self.deep or unit.tok(i + 2) == "z"
            if tok == "[" and "auto" in (unit.tok(i - 1), unit.tok(i - 2)) and unit.match[i] > 0:
                self.bound.update(t[i + 1 : unit.match[i]])
            if tok in GROUPS or CUB.match(tok):
                raise Refused(i, f"`{tok}` has a fixed size")
            if tok == "goto":
                raise Refused(i, f"`{tok}`")
            if tok in ("asm", "__asm__", "__asm"):
                raise Refused(i, "inline assembly")
            if is_identifier(tok) and tok in unit.macros and not unit.is_member(i):
                words = words_of(unit, (), tok)
                if not LANE_OPERATIONS.isdisjoint(words):
                    raise Refused(i, f"the macro `{tok}` holds an operation of the warp")
                if not LEAVES.isdisjoint(words) or "{" in words:
                    raise Refused(i, f"the macro `{tok}` holds statements")

    def _look_after(self) -> None:
        unit = self.unit
        first, stop = self.d.fn.body
        for name, at in self.aliased.items():
            if name in self.tracked:
                raise Refused(at, f"`{name}` is reached in other ways")
        for i in range(first, stop):
            tok = unit.t[i]
            if tok in self.tracked and i not in self.spots and not unit.is_member(i):
                raise Refused(i, f"`{tok}` is used in a way that is not understood")
            if i in self.steps.cudas and i not in self.done and tok != "__syncwarp":
                raise Refused(i, f"`{tok}` is no part of a proven idiom")
        check_names(unit, self.steps.headers or (), first, stop, self.tracked)

    def _reduces(self) -> tuple[str, tuple[str | Span, ...], bool]:
        """The operation and its call, if the function is one reduction of its only parameter, which it returns: by
        statements of its own, or by one call."""
        body = [s for s in self.d.body.body if not (isinstance(s, Eval) and s.end < 0 and self.steps.is_hint(s.expr))]
        if not body or len(self.d.params) != 1 or not isinstance(body[-1], Jump) or body[-1].kind != "return":
            return "", (), False
        value, p = body[-1].value, self.d.params[0]
        found: tuple[str, tuple[str | Span, ...], bool] | None = None
        if isinstance(value, CallExpr) and len(body) == 1:
            found = self._called(value, p.name)
        elif isinstance(value, Name) and value.text == p.name:
            got = self.steps.reduction(body, 0)
            if got is not None and got.size == len(body) - 1 and [f.name for f in got.found] == [p.name]:
                found = got.found[0].op, got.found[0].call, got.low
        if found is None or p.pointer:
            return "", (), False
        if "&" in self.unit.t[self.d.fn.params[0] : self.d.fn.params[1]] or len(self.d.tparams) > 1:
            return "", (), False
        kind, made = self.types[p.name], declared_type(self.unit, self.d.fn.name_at)
        if not kind or made not in (kind, "auto") or any(x.name != kind for x in self.d.tparams):
            return "", (), False  # what it returns has another type
        return found

    def _called(self, e: CallExpr, name: str) -> tuple[str, tuple[str | Span, ...], bool] | None:
        """The operation, what stands for it and whether lane 0 alone has the result, of a call that puts a parameter
        together; None if it is none."""
        value, kind = e.args[-1] if e.args else None, self.types.get(name, "")
        if not isinstance(value, Name) or value.text != name:
            return None
        if (row := collective(e)) is not None and e.at in self.done:
            known = kind == row.typ or (not row.typ and kind in ("int", "unsigned"))
            return (row.op, (row.call[0] + name, row.call[1]), False) if known else None
        own = self.look(callee(e)) if len(e.args) == 1 and e in self.sites else None
        if own is None or not own.reduces or own.widths or not {*own.kinds} <= {"", kind}:
            return None
        return own.reduces, own.reduction, own.low

    # --- statements -----------------------------------------------------------------------------------------------

    def _list(self, body: Sequence[Stmt], here: Here) -> None:
        before: dict[str, T | None] = {}
        outer = self.types
        k = 0
        while k < len(body):
            s = body[k]
            got = self.steps.reduction(body, k)
            if got is not None:
                self._reduction(got, here)
                k += got.size
                continue
            if isinstance(s, Decl) and s.name not in before:
                before[s.name] = self.env.get(s.name)
            types = self.types
            self.types = dict(types)
            self._statement(s, here)
            self.types = self.types if isinstance(s, Decl) else types
            k += 1
        self.types = outer
        for name, old in before.items():
            if old is not None:
                self.env[name] = old
            elif name in self.env and name not in self.arrays:
                del self.env[name]

    def _statement(self, s: Stmt, here: Here) -> None:
        self.here = here
        if isinstance(s, Block):
            self._list(s.body, here)
        elif isinstance(s, Decl):
            self._declared(s, here)
        elif isinstance(s, Eval):
            self._evaluated(s, here)
        elif isinstance(s, If):
            self._if(s, here)
        elif isinstance(s, Loop):
            alone = self.steps.reduction((s,), 0)  # without braces around it: `if (warp == 0) for (...) v += ...`
            if alone is not None:
                self._reduction(alone, here)
            else:
                self._loop(s, here)
        elif isinstance(s, Jump):
            self._jump(s, here)
        elif isinstance(s, Switch):
            self._plain(s.cond)
            self._apart(s.body, here)
        elif isinstance(s, Asm):
            raise Refused(s.at, "inline assembly")

    def _apart(self, s: Stmt, here: Here) -> None:
        """A statement that some threads come to, chosen in a way that does not depend on lanes."""
        before = dict(self.env)
        self._statement(s, Here(False, here.role))
        self._merge(before)

    def _jump(self, s: Jump, here: Here) -> None:
        if here.role in ("leader", "slots", "first"):
            raise Refused(s.at, f"`{s.kind}` where the number of lanes decides who comes")
        if s.kind == "return":
            self._handed_back(s.at)
            if s.value is not None:
                t = self._value(s.value)
                if here.role == "thread" and t.kind is Kind.WHOLE:
                    t = SAME
                self.results.append(t)
            if not here.together:
                self.gone = True
        elif s.kind in ("break", "continue") and not here.together:
            self.broken = True
        elif s.value is not None:
            self._plain(s.value)

    def _declared(self, s: Decl, here: Here) -> None:
        self.spots.add(s.at)
        self.types[s.name] = self._own_type(s, SAME)
        for x in s.dims:
            self._plain(x)
        if s.shared:
            self.arrays[s.name] = s
            self.env[s.name] = SAME
            return
        if s.init is None or s.dims:
            if s.init is not None:
                self._plain(s.init)
            self.env[s.name] = SAME
            return
        if callee_of(s.init) == "tiled_partition":
            if self.rows or not is_whole(self.steps, s.init):
                raise Refused(s.at, "a tile of another size, or in blocks with rows of threads")
            self.env[s.name] = T(Kind.TILE)
            self.tracked.add(s.name)
            self.line = True
            edit = without(self.unit, s.at)
            self.edits[edit.start, edit.end] = edit
            return
        refers = self.unit.tok(s.at - 1) in ("&", "&&") or s.pointer
        if refers:
            for x in walk(s.init):
                if isinstance(x, Name):
                    self._lost(x.text, x.at)
        k = s.at - 1
        while k > 0 and self.unit.t[k] not in (";", "{", "}", "("):
            if self.unit.t[k] in ("const", "constexpr"):
                self.fixed.add(s.name)
            k -= 1
        constant = "constexpr" in self.unit.t[k : s.at] or "static" in self.unit.t[k : s.at]
        t = (None if constant else self._of_lanes(s.init)) or self._gathered(s.init, here) or self._value(s.init)
        if refers and not is_plain(t):
            raise Refused(s.at, f"`{s.name}` refers to {t.kind.value}")
        self.types[s.name] = self._own_type(s, t)
        self._set(s.name, t, s.init, here)

    def _own_type(self, s: Decl, t: T) -> str:
        """A variable's type; for `auto` that of the value, or of the variable or array that it comes from, or none but
        its own."""
        typ = declared_type(self.unit, s.at) or f"? {s.name}"
        if typ != AUTO or s.init is None:
            return typ
        plain = isinstance(s.init, Name) or (isinstance(s.init, Index) and isinstance(s.init.base, Name))
        return t.typ or (self.types.get(root(s.init), "") if plain else "") or f"auto {s.name}"

    def _evaluated(self, s: Eval, here: Here) -> None:
        e = s.expr
        if s.end < 0 and self.steps.is_hint(e):
            return
        if isinstance(e, CallExpr):
            name = callee(e)
            if is_barrier(self.unit, e):
                self._barrier(e.at, here)
                return
            if name == "__syncwarp":
                return
            if here.role in ("leader", "first", "slots"):
                self._done_by_lanes(e, here)
                return
            if s.end < 0 or (name.isupper() and not self._declared_here(name)):
                raise Refused(e.at, f"`{name}` may hold statements")
            self._plain(e)
            return
        if isinstance(e, Assign):
            self._assigned(e, here)
            return
        if s.end < 0 and not isinstance(e, (Unary, Other)):
            raise Refused(s.at, "a macro without a semicolon")
        if isinstance(e, Name) and e.text in self.env:  # (void)lane;
            self.spots.add(e.at)
            return
        if here.role in ("leader", "first", "slots"):
            raise Refused(s.at, "the number of lanes decides who does this")
        if isinstance(e, Unary) and e.op in ("++", "--", "p++", "p--") and isinstance(e.x, Name):
            self._plain(e.x)
            self._set(e.x.text, SAME, e, here)
            return
        self._plain(e)

    def _declared_here(self, name: str) -> bool:
        return name in self.unit.macros or any(f.name == name for f in self.unit.functions)

    def _barrier(self, at: int, here: Here) -> None:
        if here.role in ("leader", "first", "slots"):
            raise Refused(at, "a barrier for some lanes")
        if here.together and not self.gone:
            for name, t in self.env.items():
                if t.kind is Kind.SLOTS:
                    self.env[name] = t._replace(seen=True)
