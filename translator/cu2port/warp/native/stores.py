"""What native code writes: variables, the slots of warps in shared memory, one atomic operation for each warp."""

from __future__ import annotations

from cu2port.facts.warpnames import declares
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Expr,
    Index,
    Name,
    Num,
    Unary,
    callee,
    parts,
    root,
    walk,
)
from cu2port.warp.native.exprs import Values
from cu2port.warp.native.lanes import ATOMICS, Here, Known
from cu2port.warp.native.steps import Refused
from cu2port.warp.native.types import COUNT, declared_type
from cu2port.warp.native.values import SAME, Kind, T, is_plain


class Stores:
    """Assignments and calls that write, in the walk over one function. Raises Refused."""

    def __init__(self, k: Known) -> None:
        self.k = k
        self.values = Values(k, self.assigned)
        self.forms, self.sums = self.values.forms, self.values.sums

    def assigned(self, e: Assign, here: Here) -> None:
        target = e.target
        self._lend(target, here)
        element = isinstance(target, Index) and isinstance(target.base, Name) and target.base.text in self.k.arrays
        if element and isinstance(target, Index) and self._stored(e, target, root(target), here):
            return
        if not isinstance(target, Name):
            if here.role in ("leader", "first", "slots"):
                raise Refused(e.at, "the number of lanes decides who writes this")
            for x in parts(target):
                if not isinstance(x, Name):
                    self.values.plain(x)
            if e.op == "=" and self._is_all(target) and not here.role:
                self.values.needed(e.value, here)
                self.k.spot(target)
                self.k.env[root(target)] = SAME  # whatever it was
                return
            self._touched(target)
            self.values.needed(e.value, here)
            return
        self.k.spots.add(target.at)
        name = target.text
        old = self.k.env.get(name, SAME)
        if e.op == "=":
            t = self.forms.of_lanes(e.value) or self.sums.gathered(e.value, here) or self.values.value(e.value)
            if here.role == "thread" and t.kind is Kind.WHOLE:
                t = SAME
            self.k.assign(name, t, e.value, here)
            return
        if here.role in ("leader", "slots"):
            raise Refused(e.at, f"`{name}` is set by some lanes of each warp")
        t = self.values.lift(e, (old, self.values.value(e.value)), here)
        self.k.assign(name, t, e, here)

    def _lend(self, target: Expr, here: Here) -> None:
        """A parameter that points to slots of warps: it is used for nothing else than its elements."""
        if here.role != "leader" or not isinstance(target, Index) or not isinstance(target.base, Name):
            return
        name, unit, (first, stop) = target.base.text, self.k.unit, self.k.d.fn.body
        params = {p.name: n for n, p in enumerate(self.k.d.params) if p.pointer and p.name not in self.k.lent}
        if name not in params or name in self.k.arrays or self.k.d.kernel or self.forms.warp(target.inner) is None:
            return
        if all(unit.tok(i + 1) == "[" for i in range(first, stop) if unit.t[i] == name and not unit.is_member(i)):
            at = self.k.d.params[params[name]].at
            self.k.arrays[name] = Decl(at, name, (Num(at, None),), None, True, False, True)
            self.k.scratch.add(params[name])

    def _is_all(self, target: Expr) -> bool:
        """Whether an element is the only one of an array of the function's own that holds what a block came to."""
        if not isinstance(target, Index) or not isinstance(target.base, Name) or self.k.steps.fold(target.inner) != 0:
            return False
        name = target.base.text
        if self.k.env.get(name, SAME).kind is not Kind.WHOLE:
            return False
        found = self.k.d.declarations(name)
        one = len(found) == 1 and [self.k.steps.fold(x) for x in found[0].dims] == [1] and not found[0].shared
        return one and name in self.k.own and name not in self.k.aliased and not found[0].pointer

    def _touched(self, target: Expr) -> None:
        """A store through something that is no plain variable."""
        name = root(target)
        self.k.plainly.add(name)
        if name in self.k.env and not is_plain(self.k.env[name]) and self.k.env[name].kind is not Kind.SPOT:
            raise Refused(target.at, f"`{name}` holds {self.k.env[name].kind.value}")
        for x in walk(target):
            if isinstance(x, Name) and x.text == name:
                self.k.spots.add(x.at)
        t = self.k.env.get(name)
        if t is not None and t.kind is Kind.SPOT:
            raise Refused(target.at, f"`{name}` is used again")

    def _stored(self, e: Assign, target: Index, name: str, here: Here) -> bool:
        """A store to shared memory that native code knows: of a warp's value to its slot, of the first element."""
        assert isinstance(target.base, Name)
        index = target.inner
        all_come = here.role == "leader" or (here.role == "" and here.together)
        if e.op == "=" and all_come and self.forms.is_warp(index):
            t = self.values.value(e.value)
            if t.kind is not Kind.PART:
                if here.role == "" and is_plain(t):
                    raise Refused(e.at, f"`{name}` has a slot for each warp and gets something else")
                raise Refused(e.at, f"`{name}` gets something else than what the warp's lanes come to")
            if len(self.k.arrays[name].dims) != 1 and not self._is_lone_extern(name):
                raise Refused(e.at, f"`{name}` has several dimensions")
            self.k.spots.add(target.base.at)
            self.k.slots.add(name)
            self.k.tracked.add(name)
            t = self.k.kept(t, self.k.types.get(name, ""), name, e.at)
            source = e.value.text if isinstance(e.value, Name) else ""
            self.k.env[name] = T(Kind.SLOTS, t.op, typ=t.typ, source=source)
            return True
        first = isinstance(index, Num) and index.value == 0 and self.k.env[name].kind in (Kind.SLOTS, Kind.SPOT)
        if e.op == "=" and here.role == "thread" and first:
            self.values.needed(e.value, here)
            self.k.spots.add(target.base.at)
            self.k.env[name] = T(Kind.SPOT)
            return True
        return False

    def _is_lone_extern(self, name: str) -> bool:
        """Whether an array is the function's only one of a size that the launch gives."""
        unit, (first, stop) = self.k.unit, self.k.d.fn.body
        dynamic = [i for i in unit.find("extern") if "__shared__" in unit.t[i + 1 : i + 4]]
        inside = [i for i in dynamic if first < i < stop]
        for i in dynamic:  # all such arrays of a kernel and of what it calls are one
            f = unit.function_at(i)
            if i not in inside and (not self.k.d.kernel or f is None or "__global__" not in f.sides):
                return False
        return not self.k.arrays[name].dims and len(inside) == 1

    def done_by_lanes(self, e: CallExpr, here: Here) -> None:
        """A call by one lane of each warp: an atomic operation that puts the warps' values together."""
        op = ATOMICS.get(callee(e))
        if callee(e) in self.k.unit.macros or any(f.name == callee(e) for f in self.k.unit.functions):
            op = None
        if op is None or here.role != "leader" or len(e.args) != 2 or self.k.gone:
            raise Refused(e.at, "the number of lanes decides who does this")
        t = self.values.value(e.args[1])
        if t.kind is not Kind.PART or t.op != op:
            raise Refused(e.at, f"`{callee(e)}` of something else than what the warp's lanes come to")
        if t.typ != COUNT:
            self.k.kept(t, self._pointee(e.args[0]), callee(e), e.at)
        if not self.values.value(e.args[0]).uniform:
            raise Refused(e.at, f"`{callee(e)}` may go to different places for lanes of a warp")
        self.k.line = self.k.line or not self.k.rows
        self.k.plane = True

    def _pointee(self, e: Expr) -> str:
        """The type of what an expression points to; "" where it is not certain."""
        while not isinstance(e, Name):  # `out + blockIdx.x`, `&out[i]`
            if isinstance(e, Binary) and e.op == "+":
                e = e.a
            elif isinstance(e, Index):
                e = e.base
            elif isinstance(e, Unary) and e.op == "&":
                e = e.x
            else:
                return ""
        name = e.text
        if name in self.k.types:
            return self.k.types[name]
        found = {declared_type(self.k.unit, i) for i in self.k.unit.find(name) if declares(self.k.unit, i)}
        return found.pop() if len(found) == 1 else ""
