"""Places that one lane reserves for many in native code: who hands them out, and what lanes make of them."""

from __future__ import annotations

from cu2port.model import Edit
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.mask_forms import COUNTS
from cu2port.warp.native.mask_values import MaskValues
from cu2port.warp.native.types import REAL
from cu2port.warp.native.values import SAME, SPACE, Kind, T, is_plain
from cu2port.warp.native.votes import Votes
from cu2port.warp.tree import Assign, Binary, CallExpr, Expr, Index, Member, Name, Num, Unary, callee, walk


class Places(MaskValues):
    """Old values of counters, and ranks that are added to them. Raises Refused."""

    def _handed_out(self, e: CallExpr) -> T | None:
        """`__shfl_sync(mask, base, leader)`: all lanes get what the leader reserved."""
        n = 1 if callee(e).endswith("_sync") else 0
        if len(e.args) not in (n + 2, n + 3) or (len(e.args) == n + 3 and self.idioms.number(e.args[n + 2]) != 32):
            return None
        base, source = e.args[n], e.args[n + 1]
        if self._kind(base).kind is not Kind.BASE:
            return None
        m = e.args[0]
        if n and self._is_mask(m):
            self._used(m)
        elif n and not self._is_full(m):
            raise Refused(e.at, "a mask that is not understood")
        leader = self._leader(source)
        if leader is None and not self._is_zero(source):
            raise Refused(e.at, "another lane than the leader is asked")
        t = self._began(e, base, leader)
        if leader is None:
            self._calls(e, "lead(", n)
            return t
        self._value(source)
        unit = self.unit
        start, end = unit.p[e.at], unit.end(e.close)
        parts = (SPACE + "shfl(", self._argument_text(e, n), ", ", self._argument_text(e, n + 1), ")")
        self.edits[start, end] = Edit(start, end, parts)
        self.done.add(e.at)
        return t

    def _began(self, e: CallExpr, base: Expr, leader: T | None) -> T:
        """What lanes know that ask a leader (None: lane 0) for the first of their places."""
        t = self._kind(base)
        if not isinstance(base, Name) or t.kind is not Kind.BASE or t.everywhere:
            raise Refused(e.at, "a lane's value is asked for")
        if self.blocked or self.here.role or e.at in self.closed:
            raise Refused(e.at, f"some lanes may be elsewhere when `{callee(e)}` is called")
        since = self.began.get(base.text, -1)
        if leader is None:
            right = t.op == "zero" and since == self.region
        else:
            right = t.op == f"{leader.op}:{leader.mask}" and self._are_here(leader.mask)
            right = right and since >= self.masks[leader.mask].region
        if not right:
            raise Refused(e.at, "the lane that is asked may not be the leader")
        self.spots.add(base.at)
        return t._replace(everywhere=True)

    def _is_same(self, e: Expr, mask: int) -> bool:
        """Whether a value is the same for all lanes that are in a mask together (-1: for all lanes that are here)."""
        v = self.masks[mask] if mask >= 0 else Votes(-1, -1)
        start = self.d.fn.body[0]
        params = [] if self.d.kernel else [p.name for p in self.d.params]
        for x in walk(e):
            if isinstance(x, Name):
                if v.key and x.text == v.key and self._stays(x, v.at, e.at):
                    continue
                if x.text in params and self._stays(x, start, e.at) and self.env.get(x.text, SAME).kind is Kind.SAME:
                    self.needs.add(params.index(x.text))
                    continue
                if x.text in self.arrays:
                    self.spots.add(x.at)
                    if self.env[x.text].kind is not Kind.SAME:
                        return False
                elif not self._value(x).uniform:
                    return False
            elif isinstance(x, Member):
                if not isinstance(x.base, Name) or x.name == "shfl":
                    return False
            elif isinstance(x, Unary):
                if x.op not in ("&", "-"):
                    return False
            elif isinstance(x, Index):
                if x is not e and not (isinstance(e, Unary) and e.op == "&" and e.x is x):
                    return False
            elif not isinstance(x, (Num, Binary)):
                return False
        return True

    def _sum(self, e: Binary) -> T | None:
        """A sum in which the first of a warp's places and a rank meet."""
        terms = self._terms(e)
        if not any(self._is_odd(x) for _, x in terms):
            return None
        types = [(sign, self._value(x)) for sign, x in terms]
        odd = [(sign, t) for sign, t in types if not is_plain(t)]
        if not odd or any(t.kind is Kind.BEFORE for _, t in odd):
            return None
        if any(self._is_real(x) for _, x in terms):
            raise Refused(e.at, "places that are no integers")
        bases = [t for sign, t in odd if t.kind is Kind.BASE and t.everywhere and sign == "+"]
        ranks = [t for sign, t in odd if t.kind is Kind.RANK and sign == "+"]
        places = [t for sign, t in odd if t.kind is Kind.PLACE and sign == "+"]
        if len(odd) == 1 and (bases or ranks or places):
            return odd[0][1]
        if len(odd) == 2 and len(bases) == len(ranks) == 1 and (place := self._met(bases[0], ranks[0])) is not None:
            return place
        raise Refused(e.at, f"{odd[0][1].kind.value} is used where it may differ")

    def _is_real(self, e: Expr) -> bool:
        return any(
            (isinstance(x, Num) and x.value is None) or (isinstance(x, Name) and self.types.get(x.text) in REAL)
            for x in walk(e)
        )

    def _joint(self, e: Expr, types: tuple[T, ...]) -> T | None:
        if isinstance(e, Assign) and e.op == "+=" and [t.kind for t in types] == [Kind.BASE, Kind.RANK]:
            return self._met(*types)
        return super()._joint(e, types)

    def _met(self, base: T, rank: T) -> T | None:
        """The place that a rank is behind the first."""
        if not base.everywhere or base.mask != rank.mask:
            return None
        return T(Kind.PLACE, mask=base.mask) if base.few and base.mask not in self.inside else SAME

    def _terms(self, e: Expr, sign: str = "+") -> list[tuple[str, Expr]]:
        if isinstance(e, Binary) and e.op in "+-":
            other = sign if e.op == "+" else "-" if sign == "+" else "+"
            return [*self._terms(e.a, sign), *self._terms(e.b, other)]
        return [(sign, e)]

    def _is_odd(self, e: Expr) -> bool:
        """Whether an expression may be a place, or what makes one."""
        if isinstance(e, CallExpr):
            name = callee(e)
            return name in COUNTS or name in ("__shfl_sync", "__shfl") or self._group_of(e) is not None
        return self._kind(e).kind in (Kind.BASE, Kind.RANK, Kind.PLACE)
