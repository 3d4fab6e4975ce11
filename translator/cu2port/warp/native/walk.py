"""Whether a device function does the same with wavefronts of any size in place of warps: a walk over its statements.

Each value is either the same for any number of lanes or has a type that says how it depends on it. What changes with
the number may only be used in the ways listed here; they end in values that do not. Anything else is refused, and the
function keeps CUDA's warps.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import (
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
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.model import Device
from cu2port.warp.native.branches import Branches
from cu2port.warp.native.groups import is_barrier
from cu2port.warp.native.lanes import CUB, GROUPS, LEAVES, Here, Known, Look, Summary, without
from cu2port.warp.native.patterns import collective
from cu2port.warp.native.spelled import check_names, words_of
from cu2port.warp.native.steps import Refused, Steps, callee_of, is_whole
from cu2port.warp.native.stores import Stores
from cu2port.warp.native.types import AUTO, declared_type
from cu2port.warp.native.values import SAME, UNIFORM, Kind, T, is_plain, join


class Walk:
    """The walk over one function. Raises Refused."""

    def __init__(self, unit: Unit, steps: Steps, d: Device, look: Look) -> None:
        self.k = Known(unit, steps, d, look)
        self.stores = Stores(self.k)
        self.values, self.forms, self.sums = self.stores.values, self.stores.forms, self.stores.sums
        self.branches = Branches(self.k, self.stores, self.statement)

    # --- the whole ------------------------------------------------------------------------------------------------

    def run(self) -> Summary:
        """Walk, and see that nothing was overlooked."""
        self.check()
        for p in self.k.d.params:
            if p.name:
                self.k.env[p.name] = T(Kind.SAME, uniform=self.k.d.kernel)
        for p in self.k.d.tparams:
            if p.name:
                self.k.env[p.name] = UNIFORM
        self._list(self.k.d.body.body, Here())
        self.k.handed_back(self.k.d.fn.name_at)
        self._look_after()
        result = self.k.results[0] if self.k.results else SAME
        for r in self.k.results[1:]:
            result = join(result, r)
        if result.kind not in (Kind.SAME, Kind.TID, Kind.PART, Kind.WHOLE):
            raise Refused(self.k.d.fn.name_at, f"what `{self.k.d.name}` returns depends on the number of lanes")
        op, call, low = self._reduces()
        kind = self._parameter() if op else ""
        return Summary(
            result,
            self.k.edits,
            op,
            self.k.line,
            tuple(self.k.sites),
            call,
            self.k.meets,
            self.k.plane,
            self.k.floors,
            low=low,
            kinds=(kind,),
            scratch=frozenset(self.k.scratch),
            loans=frozenset(self.k.loans),
            syncs=any(isinstance(s, Eval) and is_barrier(self.k.unit, s.expr) for s in self.k.d.body.body),
        )

    def _parameter(self) -> str:
        """The type of a reduction's parameter; "" if it is its template's."""
        kind = self.k.types[self.k.d.params[0].name]
        return "" if kind in {p.name for p in self.k.d.tparams} else kind

    def check(self) -> None:
        unit = self.k.unit
        first, stop = self.k.d.fn.body
        for d in unit.directives:
            if first < d.first < stop and d.keyword != "pragma":
                raise Refused(d.first, "the function has conditional parts")
        t = unit.t
        for i in range(first, stop):
            tok = t[i]
            if tok in ("threadIdx", "blockDim") and unit.tok(i + 1) == ".":
                self.k.rows = self.k.rows or unit.tok(i + 2) != "x"
                self.k.deep = self.k.deep or unit.tok(i + 2) == "z"
            if tok == "[" and "auto" in (unit.tok(i - 1), unit.tok(i - 2)) and unit.match[i] > 0:
                self.k.bound.update(t[i + 1 : unit.match[i]])
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
        unit = self.k.unit
        first, stop = self.k.d.fn.body
        for name, at in self.k.aliased.items():
            if name in self.k.tracked:
                raise Refused(at, f"`{name}` is reached in other ways")
        for i in range(first, stop):
            tok = unit.t[i]
            if tok in self.k.tracked and i not in self.k.spots and not unit.is_member(i):
                raise Refused(i, f"`{tok}` is used in a way that is not understood")
            if i in self.k.steps.cudas and i not in self.k.done and tok != "__syncwarp":
                raise Refused(i, f"`{tok}` is no part of a proven idiom")
        check_names(unit, self.k.steps.headers or (), first, stop, self.k.tracked)

    def _reduces(self) -> tuple[str, tuple[str | Span, ...], bool]:
        """The operation and its call, if the function is one reduction of its only parameter, which it returns: by
        statements of its own, or by one call."""
        body = [
            s for s in self.k.d.body.body if not (isinstance(s, Eval) and s.end < 0 and self.k.steps.is_hint(s.expr))
        ]
        if not body or len(self.k.d.params) != 1 or not isinstance(body[-1], Jump) or body[-1].kind != "return":
            return "", (), False
        value, p = body[-1].value, self.k.d.params[0]
        found: tuple[str, tuple[str | Span, ...], bool] | None = None
        if isinstance(value, CallExpr) and len(body) == 1:
            found = self._called(value, p.name)
        elif isinstance(value, Name) and value.text == p.name:
            got = self.k.steps.reduction(body, 0)
            if got is not None and got.size == len(body) - 1 and [f.name for f in got.found] == [p.name]:
                found = got.found[0].op, got.found[0].call, got.low
        if found is None or p.pointer:
            return "", (), False
        if "&" in self.k.unit.t[self.k.d.fn.params[0] : self.k.d.fn.params[1]] or len(self.k.d.tparams) > 1:
            return "", (), False
        kind, made = self.k.types[p.name], declared_type(self.k.unit, self.k.d.fn.name_at)
        if not kind or made not in (kind, "auto") or any(x.name != kind for x in self.k.d.tparams):
            return "", (), False  # what it returns has another type
        return found

    def _called(self, e: CallExpr, name: str) -> tuple[str, tuple[str | Span, ...], bool] | None:
        """The operation, what stands for it and whether lane 0 alone has the result, of a call that puts a parameter
        together; None if it is none."""
        value, kind = e.args[-1] if e.args else None, self.k.types.get(name, "")
        if not isinstance(value, Name) or value.text != name:
            return None
        if (row := collective(e)) is not None and e.at in self.k.done:
            known = kind == row.typ or (not row.typ and kind in ("int", "unsigned"))
            return (row.op, (row.call[0] + name, row.call[1]), False) if known else None
        own = self.k.look(callee(e)) if len(e.args) == 1 and e in self.k.sites else None
        if own is None or not own.reduces or own.widths or not {*own.kinds} <= {"", kind}:
            return None
        return own.reduces, own.reduction, own.low

    # --- statements -----------------------------------------------------------------------------------------------

    def _list(self, body: Sequence[Stmt], here: Here) -> None:
        before: dict[str, T | None] = {}
        outer = self.k.types
        k = 0
        while k < len(body):
            s = body[k]
            got = self.k.steps.reduction(body, k)
            if got is not None:
                self.sums.reduction(got, here)
                k += got.size
                continue
            if isinstance(s, Decl) and s.name not in before:
                before[s.name] = self.k.env.get(s.name)
            types = self.k.types
            self.k.types = dict(types)
            self.statement(s, here)
            self.k.types = self.k.types if isinstance(s, Decl) else types
            k += 1
        self.k.types = outer
        for name, old in before.items():
            if old is not None:
                self.k.env[name] = old
            elif name in self.k.env and name not in self.k.arrays:
                del self.k.env[name]

    def statement(self, s: Stmt, here: Here) -> None:
        self.k.here = here
        if isinstance(s, Block):
            self._list(s.body, here)
        elif isinstance(s, Decl):
            self._declared(s, here)
        elif isinstance(s, Eval):
            self._evaluated(s, here)
        elif isinstance(s, If):
            self.branches.branch(s, here)
        elif isinstance(s, Loop):
            alone = self.k.steps.reduction((s,), 0)  # without braces around it: `if (warp == 0) for (...) v += ...`
            if alone is not None:
                self.sums.reduction(alone, here)
            else:
                self.branches.loop(s, here)
        elif isinstance(s, Jump):
            self._jump(s, here)
        elif isinstance(s, Switch):
            self.values.plain(s.cond)
            self._apart(s.body, here)
        elif isinstance(s, Asm):
            raise Refused(s.at, "inline assembly")

    def _apart(self, s: Stmt, here: Here) -> None:
        """A statement that some threads come to, chosen in a way that does not depend on lanes."""
        before = dict(self.k.env)
        self.statement(s, Here(False, here.role))
        self.k.merge(before)

    def _jump(self, s: Jump, here: Here) -> None:
        if here.role in ("leader", "slots", "first"):
            raise Refused(s.at, f"`{s.kind}` where the number of lanes decides who comes")
        if s.kind == "return":
            self.k.handed_back(s.at)
            if s.value is not None:
                t = self.values.value(s.value)
                if here.role == "thread" and t.kind is Kind.WHOLE:
                    t = SAME
                self.k.results.append(t)
            if not here.together:
                self.k.gone = True
        elif s.kind in ("break", "continue") and not here.together:
            self.k.broken = True
        elif s.value is not None:
            self.values.plain(s.value)

    def _declared(self, s: Decl, here: Here) -> None:
        self.k.spots.add(s.at)
        self.k.types[s.name] = self._own_type(s, SAME)
        for x in s.dims:
            self.values.plain(x)
        if s.shared:
            self.k.arrays[s.name] = s
            self.k.env[s.name] = SAME
            return
        if s.init is None or s.dims:
            if s.init is not None:
                self.values.plain(s.init)
            self.k.env[s.name] = SAME
            return
        if callee_of(s.init) == "tiled_partition":
            if self.k.rows or not is_whole(self.k.steps, s.init):
                raise Refused(s.at, "a tile of another size, or in blocks with rows of threads")
            self.k.env[s.name] = T(Kind.TILE)
            self.k.tracked.add(s.name)
            self.k.line = True
            edit = without(self.k.unit, s.at)
            self.k.edits[edit.start, edit.end] = edit
            return
        refers = self.k.unit.tok(s.at - 1) in ("&", "&&") or s.pointer
        if refers:
            for x in walk(s.init):
                if isinstance(x, Name):
                    self.k.lost(x.text, x.at)
        k = s.at - 1
        while k > 0 and self.k.unit.t[k] not in (";", "{", "}", "("):
            if self.k.unit.t[k] in ("const", "constexpr"):
                self.k.fixed.add(s.name)
            k -= 1
        constant = "constexpr" in self.k.unit.t[k : s.at] or "static" in self.k.unit.t[k : s.at]
        t = (
            (None if constant else self.forms.of_lanes(s.init))
            or self.sums.gathered(s.init, here)
            or self.values.value(s.init)
        )
        if refers and not is_plain(t):
            raise Refused(s.at, f"`{s.name}` refers to {t.kind.value}")
        self.k.types[s.name] = self._own_type(s, t)
        self.k.assign(s.name, t, s.init, here)

    def _own_type(self, s: Decl, t: T) -> str:
        """A variable's type; for `auto` that of the value, or of the variable or array that it comes from, or none but
        its own."""
        typ = declared_type(self.k.unit, s.at) or f"? {s.name}"
        if typ != AUTO or s.init is None:
            return typ
        plain = isinstance(s.init, Name) or (isinstance(s.init, Index) and isinstance(s.init.base, Name))
        return t.typ or (self.k.types.get(root(s.init), "") if plain else "") or f"auto {s.name}"

    def _evaluated(self, s: Eval, here: Here) -> None:
        e = s.expr
        if s.end < 0 and self.k.steps.is_hint(e):
            return
        if isinstance(e, CallExpr):
            name = callee(e)
            if is_barrier(self.k.unit, e):
                self._barrier(e.at, here)
                return
            if name == "__syncwarp":
                return
            if here.role in ("leader", "first", "slots"):
                self.stores.done_by_lanes(e, here)
                return
            if s.end < 0 or (name.isupper() and not self._declared_here(name)):
                raise Refused(e.at, f"`{name}` may hold statements")
            self.values.plain(e)
            return
        if isinstance(e, Assign):
            self.stores.assigned(e, here)
            return
        if s.end < 0 and not isinstance(e, (Unary, Other)):
            raise Refused(s.at, "a macro without a semicolon")
        if isinstance(e, Name) and e.text in self.k.env:  # (void)lane;
            self.k.spots.add(e.at)
            return
        if here.role in ("leader", "first", "slots"):
            raise Refused(s.at, "the number of lanes decides who does this")
        if isinstance(e, Unary) and e.op in ("++", "--", "p++", "p--") and isinstance(e.x, Name):
            self.values.plain(e.x)
            self.k.assign(e.x.text, SAME, e, here)
            return
        self.values.plain(e)

    def _declared_here(self, name: str) -> bool:
        return name in self.k.unit.macros or any(f.name == name for f in self.k.unit.functions)

    def _barrier(self, at: int, here: Here) -> None:
        if here.role in ("leader", "first", "slots"):
            raise Refused(at, "a barrier for some lanes")
        if here.together and not self.k.gone:
            for name, t in self.k.env.items():
                if t.kind is Kind.SLOTS:
                    self.k.env[name] = t._replace(seen=True)
