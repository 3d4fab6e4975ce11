"""Expressions of native code: whether their values are the same for any number of lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cu2port.core.model import Edit, Span
from cu2port.facts.arithmetic import NamedTypes, simple_type
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Index,
    Lambda,
    Member,
    Name,
    Num,
    Ternary,
    Unary,
    callee,
    heads,
    parts,
    root,
    statements,
    walk,
)
from cu2port.warp.native.forms import Forms
from cu2port.warp.native.lanes import ATOMICS, MATH, Here, Known, Summary
from cu2port.warp.native.numbers import is_own_space
from cu2port.warp.native.patterns import Collective, collective
from cu2port.warp.native.steps import Refused
from cu2port.warp.native.sums import Sums
from cu2port.warp.native.types import COUNT, canonical
from cu2port.warp.native.values import MIXED, SAME, SPACE, UNIFORM, Kind, T, is_plain
from cu2port.warp.native.widths import argument_kind, is_wide, type_given


class Values:
    """The types of expressions. Raises Refused where a value would depend on lanes in a way that is not known.
    `assigned`: what an assignment inside of an expression does."""

    def __init__(self, k: Known, assigned: Callable[[Assign, Here], None]) -> None:
        self.k, self.assigned = k, assigned
        self.forms = Forms(k, self.plain)
        self.sums = Sums(k, self.forms, self.plain)

    # --- expressions ----------------------------------------------------------------------------------------------

    def needed(self, e: Expr, here: Here) -> None:
        """An expression whose value must be the same for any number of lanes, where it stands."""
        t = self.value(e)
        if t.kind is Kind.WHOLE and (t.everywhere or here.role == "thread"):
            return
        if not is_plain(t):
            raise Refused(e.at, f"{t.kind.value} is used where it may differ")

    def plain(self, e: Expr) -> T:
        t = self.value(e)
        if not is_plain(t):
            raise Refused(e.at, f"{t.kind.value} is used where it may differ")
        return t

    def lift(self, e: Expr, types: tuple[T, ...], here: Here | None = None) -> T:
        """The type of a value made of others."""
        odd = [t for t in types if not is_plain(t)]
        if not odd:
            return T(Kind.SAME, uniform=all(t.uniform for t in types))
        if all(t.kind is Kind.WHOLE for t in odd):
            return T(Kind.WHOLE, "", everywhere=all(t.everywhere for t in odd))
        raise Refused(e.at, f"{odd[0].kind.value} is used where it may differ")

    def value(self, e: Expr) -> T:
        """The type of an expression. Raises Refused where its value would depend on lanes in a way not known."""
        if isinstance(e, Num):
            return UNIFORM
        if isinstance(e, Name):
            return self._name(e)
        if isinstance(e, Member):
            if self.forms.is_tid(e):
                return T(Kind.TID)
            if (
                isinstance(e.base, Name)
                and e.base.text in ("blockDim", "gridDim", "blockIdx")
                and e.base.text not in self.k.env
            ):
                return UNIFORM
            return T(Kind.SAME, uniform=self.plain(e.base).uniform)
        if isinstance(e, Binary):
            if self.forms.is_linear(e):
                return T(Kind.TID)
            a = self.value(e.a)
            with self._perhaps(e.op not in ("&&", "||") or a.uniform):
                return self.lift(e, (a, self.value(e.b)))
        if isinstance(e, Unary):
            return self._unary(e)
        if isinstance(e, Ternary):
            if (got := self.sums.gathered(e, self.k.here)) is not None:
                return got
            cond, small = self.value(e.cond), self.forms.small(e.cond)
            with self._perhaps(cond.uniform, small > 0):
                a = self.value(e.a)
            with self._perhaps(cond.uniform, small < 0):
                return self.lift(e, (cond, a, self.value(e.b)))
        if isinstance(e, Assign):
            before = dict(self.k.env)
            self.assigned(e, self.k.here)
            self.k.merge(before)
            return SAME
        if isinstance(e, Index):
            return self._element(e)
        if isinstance(e, CallExpr):
            return self._call(e)
        if isinstance(e, Lambda):
            self._lambda(e)
            return SAME
        for x in parts(e):
            self.plain(x)
        return SAME

    @contextmanager
    def _perhaps(self, surely: bool, small: bool = False) -> Iterator[None]:
        """What is evaluated by some threads only, unless `surely` by all. `small`: in blocks of one warp."""
        here = self.k.here
        if not surely or small:
            self.k.here = Here(surely and here.together, here.role, small or here.small)
        yield
        self.k.here = here

    def _name(self, e: Name) -> T:
        self.k.spots.add(e.at)
        if e.qualified or e.text not in self.k.env:
            for x in e.targs:
                self.value(x)
            local = e.text in self.k.unit.macros or e.text in self.k.bound
            outside = not local and self.k.steps.is_of_file(e.text)
            return T(Kind.SAME, uniform=outside or self.k.steps.fold(e) is not None)
        if e.text in self.k.arrays:
            self.k.aliased.setdefault(e.text, e.at)
        t = self.k.env[e.text]
        return SAME if t.kind is Kind.WHOLE and self.k.here.role == "thread" else t

    def _unary(self, e: Unary) -> T:
        if e.op == "&":
            name = root(e.x)
            inner = e.x
            if isinstance(inner, Index) and isinstance(inner.base, Name) and name not in self.k.arrays:
                t = self.lift(e, (self.value(inner.base), self.plain(inner.inner)))
            else:
                if isinstance(inner, Index):
                    self.plain(inner.inner)
                t = UNIFORM if name not in self.k.env or name in self.k.arrays else SAME
            if not isinstance(inner, Index):
                self.k.lost(name, e.at)
            elif name in self.k.arrays:
                self.k.aliased.setdefault(name, e.at)
            return t
        t = self.value(e.x)
        if e.op in ("++", "--", "p++", "p--"):
            if not is_plain(t) or self.k.here.role in ("leader", "first", "slots"):
                raise Refused(e.at, f"{t.kind.value} is changed")
            if isinstance(e.x, Name):
                self.k.env[e.x.text] = SAME
            return SAME
        return self.lift(e, (t._replace(uniform=t.uniform and e.op != "*"),))

    def _lambda(self, e: Lambda) -> None:
        for x in (x for s in statements(e.body) for h in heads(s) for x in walk(h)):
            if isinstance(x, Name):
                self.k.lost(x.text, x.at)

    def _element(self, e: Index) -> T:
        if isinstance(e.base, Name) and e.base.text in self.k.arrays:
            self.k.spots.add(e.base.at)
            t = self.k.env.get(e.base.text, SAME)
            if t.kind is Kind.SPOT and isinstance(e.inner, Num) and e.inner.value == 0:
                return SAME
            if not is_plain(t):
                raise Refused(e.at, f"`{e.base.text}` is read where it holds {t.kind.value}")
            self.plain(e.inner)
            return SAME
        base, inner = self.plain(e.base), self.plain(e.inner)
        if self.k.here.role == "first" and not (base.uniform and inner.uniform):
            raise Refused(e.at, "more lanes read this than of a warp")
        return SAME

    def _call(self, e: CallExpr) -> T:
        name = callee(e)
        if name == "__popc" and len(e.args) == 1 and (got := self._ballot(e)) is not None:
            return got
        if e.at in self.k.steps.cudas:
            if (row := collective(e)) is not None and len(e.args) == 2 and self.k.steps.full(e.args[0]):
                return self._collective(e, row)
            raise Refused(e.at, f"`{name}` is no part of a proven idiom")
        if name == "reduce" and len(e.args) == 3 and self.forms.is_tile(e.args[0]):
            return self._tiled(e)
        for x in walk(e.callee):
            if isinstance(x, Name):
                self.k.spots.add(x.at)
        if isinstance(e.callee, Member):
            self.plain(e.callee.base)
        elif not isinstance(e.callee, Name):
            self.plain(e.callee)
        kind = argument_kind(e, self.k.types, self.k.d)
        own = self.k.look(name, kind)
        narrow = own is not None and bool(own.reduces) and not (len(e.args) == 1 and is_wide(self.k.constant, e, own))
        small = own is not None and self.k.here.small and bool(own.reduces)
        if narrow or small:
            own = None  # it is not replaced, and gives each thread what it does in CUDA
        if own is not None and (own.reduces or own.meets) and self._is_other(e):
            raise Refused(e.at, f"there may be another `{name}`")
        if self.k.here.role in ("first", "leader", "slots") and not (
            own.reduces if own is not None else name in MATH or self._is_type(name)
        ):
            raise Refused(e.at, f"the number of lanes decides who calls `{name}`")
        if own is not None and own.reduces and len(e.args) == 1:
            if isinstance(e.callee, Name) and len(e.callee.targs) > 1 and not own.widths:
                raise Refused(e.at, f"`{name}` has arguments of its template that are not understood")
            self.k.steps.kinds[e.at] = kind
            t = self.sums.gathered(e.args[0], self.k.here) or self.value(e.args[0])
            typ = self._argument_type(e, own.kinds, t, type_given(self.k.unit, e, own))
            if t.kind is Kind.GATHERED:
                t = self.k.kept(t, typ, name, e.at)
            t = self.sums.reduced(name, own.reduces, t, e.at, self.k.here, own.low)
            self.k.sites.append(e)
            return t._replace(typ=typ) if t.kind is Kind.PART else t
        lent = self._lent_by(e, own)
        types = tuple(self._argument(name, x) for n, x in enumerate(e.args) if n not in lent)
        if own is not None and own.result.kind is Kind.PART:
            raise Refused(e.at, f"other code may call `{name}`, which is more than a reduction")
        if own is not None and not is_plain(own.result):
            if any(not is_plain(t) for t in types):
                raise Refused(e.at, f"`{name}` gets {next(t for t in types if not is_plain(t)).kind.value}")
            self._meet(e, own.syncs)
            self.k.line, self.k.plane = self.k.line or own.line, self.k.plane or own.plane
            self.k.floors = self.k.floors or own.floors
            self.k.sites.append(e)
            return own.result
        if own is not None and own.meets:
            self._meet(e, own.syncs)
        if own is None and name in MATH:
            return self.lift(e, types)
        for t in types:
            if not is_plain(t):
                raise Refused(e.at, f"`{name}` gets {t.kind.value}")
        if own is not None:
            self.k.line, self.k.plane = self.k.line or own.line, self.k.plane or own.plane
            self.k.floors = self.k.floors or own.floors
        return SAME

    def _argument_type(self, e: CallExpr, kinds: tuple[str, ...], t: T, given: str) -> str:
        """The type in which a function puts its only argument together. `kinds`: those it may have; `given`: the one
        that the call names."""
        if self.k.unit.call(e.at) is None:
            raise Refused(e.at, "a call that is not understood")
        if given:
            return canonical(given)
        if len(kinds) == 1 and kinds[0]:
            return kinds[0]
        arg = e.args[0]
        if isinstance(arg, Name):
            typ = self.k.types.get(arg.text, "")
        elif t.kind is Kind.GATHERED:
            typ = t.typ
        else:
            typ = self._simple_type(e, 0)
        if set(kinds) != {""} and typ not in kinds:
            raise Refused(e.at, f"which `{callee(e)}` is called is not certain")
        return typ or f"? {e.at}"

    def _simple_type(self, e: CallExpr, n: int) -> str:
        """The type of a call's argument n, as tokens tell it; "" if they don't."""
        call = self.k.unit.call(e.at)
        names = NamedTypes(self.k.unit, self.k.d.fn)
        return canonical(simple_type(self.k.unit, names, call.args[n]).removeprefix("?")) if call is not None else ""

    def _is_type(self, name: str) -> bool:
        """Whether a name is a type's parameter of the function's template."""
        return name in {p.name for p in self.k.d.tparams}

    def _lent_by(self, e: CallExpr, own: Summary | None) -> frozenset[int]:
        """The arguments of a call that are arrays of the function's own, for the slots of a function that is called."""
        if own is None or not own.scratch:
            return frozenset()
        given = {n: e.args[n] for n in own.scratch if n < len(e.args)}
        names = [x.text for x in given.values() if isinstance(x, Name) and x.text in self.k.arrays]
        others = {root(y) for n, x in enumerate(e.args) if n not in given for y in walk(x)}
        if len(names) != len(own.scratch) or len({*names}) < len(names) or not others.isdisjoint(names):
            return frozenset()
        if any(len(self.k.arrays[x].dims) != 1 or self.k.arrays[x].pointer for x in names):
            return frozenset()
        for x in given.values():
            assert isinstance(x, Name)
            self.k.spots.add(x.at)
            self.k.tracked.add(x.text)
            self.k.env[x.text] = MIXED
        self.k.loans.add(e.at)
        return frozenset(given)

    def _is_other(self, e: CallExpr) -> bool:
        """Whether a call may mean another function than the file's of that name: a member, a variable, another
        library's."""
        if not isinstance(e.callee, Name) or e.callee.text in self.k.env:
            return True
        return e.callee.qualified and not is_own_space(self.k.unit, e.at)

    def _tiled(self, e: CallExpr) -> T:
        """`cooperative_groups::reduce(tile, v, plus<T>())`"""
        functor = e.args[2].callee if isinstance(e.args[2], CallExpr) else None
        op, text = (self.k.steps.functor(functor) if isinstance(functor, Name) else None) or ("", "")
        call = self.k.unit.call(e.at)
        if not op or call is None:
            raise Refused(e.at, "an operation that is not known")
        t = self.sums.gathered(e.args[1], self.k.here) or self.value(e.args[1])
        made = e.args[2]
        kind = made.callee.targs[0] if isinstance(made, CallExpr) and isinstance(made.callee, Name) else None
        typ = canonical(kind.text) if isinstance(kind, Name) else f"? {e.at}"
        if t.kind is Kind.GATHERED:
            t = self.k.kept(t, typ, "reduce", e.at)
        t = self.sums.reduced("the value", op, t, e.at, self.k.here)
        t = t._replace(typ=typ) if t.kind is Kind.PART else t
        start, end = self.k.unit.p[self.k.unit.qualifier(e.at)], self.k.unit.end(e.close)
        name, tail = ("sum", ")") if op == "add" else ("reduce", f", [](auto a, auto b) {{ return {text}; }})")
        value = Span(call.args[1].start, call.args[1].end)
        self.k.edits[start, end] = Edit(start, end, (f"{SPACE}{name}(", value, tail))
        self.k.spots.add(e.args[0].at)
        return t

    def _argument(self, name: str, e: Expr) -> T:
        t = self.value(e)
        if not isinstance(e, Name) or name in MATH or name in ATOMICS or e.text not in self.k.env or not is_plain(t):
            return t
        if e.text not in self.k.fixed and e.text not in self.k.arrays:  # it may be taken by reference
            self.k.env[e.text] = T(Kind.SAME, uniform=t.uniform and e.text in {p.name for p in self.k.d.params})
        return t

    def _meet(self, e: CallExpr, syncs: bool = False) -> None:
        """All lanes of a wavefront come to a call together; `syncs`: CUDA wants it, since there is a barrier in it."""
        self.k.meets = True
        if not (self.k.here.together or syncs) or self.k.gone or self.k.here.role:
            raise Refused(e.at, f"some lanes may be elsewhere when `{callee(e)}` is called")

    def _ballot(self, e: CallExpr) -> T | None:
        """`__popc(__ballot_sync(~0u, p))`: the number of lanes with p."""
        b = e.args[0]
        if not isinstance(b, CallExpr) or b.at not in self.k.steps.cudas:
            return None
        if callee(b) == "__ballot_sync" and len(b.args) == 2 and self.k.steps.full(b.args[0]):
            n = 1
        elif callee(b) == "__ballot" and len(b.args) == 1:
            n = 0
        else:
            return None
        self._meet(b)
        self.plain(b.args[n])
        self.k.done.add(b.at)
        call = self.k.unit.call(b.at)
        if call is None:
            return None
        start, end = self.k.unit.p[e.at], self.k.unit.end(e.close)
        self.k.edits[start, end] = Edit(start, end, (SPACE + "popc(", call.args[n], ")"))
        return T(Kind.PART, "add", typ=COUNT)

    def _collective(self, e: CallExpr, row: Collective) -> T:
        """A call that puts the values of a warp together."""
        call = self.k.unit.call(e.at)
        if call is None:
            raise Refused(e.at, "a call that is not understood")
        t = (None if row.votes else self.sums.gathered(e.args[1], self.k.here)) or self.value(e.args[1])
        typ, (before, behind) = row.typ or t.typ or self._simple_type(e, 1), row.call
        if typ not in ("int", "unsigned"):
            if not row.promoted:
                raise Refused(e.at, f"`{row.name}` of a value whose type is not known")
            typ, before, behind = "int", before + "+(", ")" + behind  # CUDA makes an int of a bool or a char
        if t.kind is Kind.GATHERED:
            if row.votes:
                raise Refused(e.at, f"`{row.name}` of {t.kind.value}")
            t = self.k.kept(t, typ, row.name, e.at)
        t = self.sums.reduced("the value", row.op, t, e.at, self.k.here)
        start, end = self.k.unit.p[e.at], self.k.unit.end(e.close)
        self.k.edits[start, end] = Edit(start, end, (SPACE + before, call.args[1], behind))
        self.k.done.add(e.at)
        return t._replace(typ=typ) if t.kind is Kind.PART else t
