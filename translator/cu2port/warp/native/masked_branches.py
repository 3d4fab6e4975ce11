"""Branches of native code that lanes come to by a vote: leaders that reserve places, whole warps that skip work."""

from __future__ import annotations

from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import Here
from cu2port.warp.native.mask_forms import atomic_calls
from cu2port.warp.native.mask_places import Places
from cu2port.warp.native.values import SAME, Kind, T
from cu2port.warp.native.votes import Votes, conjuncts
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
    statements,
    walk,
)

_ADDS = frozenset({"atomicAdd", "atomicAdd_block", "atomicAdd_system"})
_ANY = frozenset({"__any_sync", "__any"})
_PURE = (Name, Num, Member, Binary)
_QUIET = (Kind.RANK, Kind.PART, Kind.COUNTED, Kind.LEADER, Kind.BASE, Kind.PLACE, Kind.MASK)


class MaskedBranches(Places):
    """The branches and loops of a walk that masks decide. Raises Refused."""

    voting = False  # lanes came here that CUDA would have left out

    # --- leaders --------------------------------------------------------------------------------------------------

    def _elected(self, s: If, here: Here) -> bool:
        """`if (lane == leader) base = atomicAdd(&counter, __popc(mask));`"""
        calls = atomic_calls(s.then)
        if s.other is not None or calls is None:
            return False
        if any(not self._is_cudas(c, _ADDS) or self._count_of(c.args[1]) < 0 for _, c, _ in calls):
            return False
        leader: T | None = None
        who: Expr | None = None
        rest = []
        for c in conjuncts(s.cond):
            got = self._elects(c) if leader is None else None
            if got is None:
                rest.append(c)
            else:
                leader, who = got, c
        if leader is None or who is None:
            return False
        guards = [self._asked(c) for c in rest]
        for c, guard in zip(rest, guards, strict=True):
            if guard < 0 and not self._value(c).uniform:
                raise Refused(c.at, "a leader is chosen in a way that is not understood")
        for target, call, cond in calls:
            mask = self._count_of(call.args[1])
            asked = [g for g in guards if g >= 0] + ([self._asked(cond)] if cond is not None else [])
            asked = [g for g in asked if g < 0 or self.masks[g].yes is not None]  # others are never empty
            if any(g != mask for g in asked):
                raise Refused(call.at, "whether this is done depends on something else than what is added")
            few = self._check_leader(call, leader, mask) or bool(asked) or self.voting
            self._one_place(call.args[0], mask)
            self._value(call.args[1])
            if target is None or self.d.kernel:  # no rank may say that lanes are told by their number in the wavefront
                self.line = self.line or (not self.rows and not self._by_group(who))
                self.plane = True
            if target is not None:
                op = "zero" if leader.op == "zero" else f"{leader.op}:{leader.mask}"
                self.spots.add(target.at)
                self._set(target.text, T(Kind.BASE, op, mask=mask, few=few), call, here)
                self.began[target.text] = self.region
            if cond is not None:
                self._nonzero_text(cond)
        for c, guard in zip(rest, guards, strict=True):
            if guard >= 0:
                self._nonzero_text(c)
        self._elect_text(who, leader)
        return True

    def _by_group(self, c: Expr) -> bool:
        """Whether a leader is chosen by a rank, not by a thread's index."""
        return not any(self._is_lane(x) for x in walk(c))

    def _check_leader(self, e: CallExpr, leader: T, mask: int) -> bool:
        """Refused unless there is one leader for those that are counted. Returns whether there may be none."""
        v = self.masks[mask]
        if leader.op == "zero":
            if not v.whole or v.key or v.region != self.region:
                raise Refused(e.at, "lane 0 may not speak for the lanes that are counted")
            return False
        chief = self.masks[leader.mask]
        if not self._are_here(leader.mask) or not self._are_here(mask):
            raise Refused(e.at, "some lanes may be elsewhere when their leader adds their number")
        if leader.mask != mask and (chief.yes is not None or chief.key or v.key or chief.region != v.region):
            raise Refused(e.at, "the leader is that of other lanes")
        return chief.yes is not None and leader.mask not in self.inside

    def _one_place(self, e: Expr, mask: int) -> None:
        """The address of a counter is the same for all lanes that are counted together."""
        if not self._is_same(e, mask):
            raise Refused(e.at, "what lanes of a warp count may be in different places")
        self._value(e)

    # --- votes ----------------------------------------------------------------------------------------------------

    def _asked(self, c: Expr) -> int:
        """The mask of which a condition asks whether a lane is in it, whatever lanes they are; -1 for anything else."""
        x = self._counted_up(c)
        if x is None:
            return -1
        if self._is_mask(x):
            return self._kind(x).mask
        return self._count_of(x)

    def _nonzero_text(self, c: Expr) -> None:
        x = self._counted_up(c)
        assert x is not None
        self._value(x)

    def _who_votes(self, c: Expr) -> frozenset[int]:
        """The masks in which a lane is for which a condition holds."""
        out = set()
        for x in conjuncts(c):
            m = self._own_bits(x)
            if m is not None:
                out.add(self._kind(m).mask)
                self.bits.add(x.at)
            out |= {i for i, v in self.masks.items() if self._is_yes(x, v)}
        return frozenset(out)

    def _voted(self, s: If, here: Here) -> bool:
        """`if (mask) { ... }`: what comes in it is done by the lanes of the mask alone, or by their leader."""
        mask = -1 if s.other is not None else self._asked(s.cond)
        if mask < 0:
            return s.other is None and self._voted_at_once(s, here)
        v = self.masks[mask]
        self._nonzero_text(s.cond)
        if v.yes is None and self._are_here(mask):  # a lane that asks is in it
            self._statement(s.then, here)
            return True
        if v.key or v.region != self.region:
            raise Refused(s.at, "which lanes come to a branch is not understood")
        self._in_arm(s, here)
        return True

    def _voted_at_once(self, s: If, here: Here) -> bool:
        """`if (__any_sync(~0u, p)) { ... }`"""
        c = s.cond
        if not isinstance(c, CallExpr) or c.at not in self.idioms.cudas or callee(c) not in _ANY:
            return False
        if len(c.args) == 2 and not self._is_full(c.args[0]):
            raise Refused(c.at, "a mask that is not understood")
        self.votes.add(c.at)
        self._value(c)
        self._made(c, Votes(c.at, self.region, c.args[-1]))
        self._in_arm(s, here)
        return True

    def _in_arm(self, s: If, here: Here) -> None:
        outer, self.voting = self.voting, True
        try:
            self._quietly(s.then, here)
        finally:
            self.voting = outer

    def _quietly(self, s: Stmt, here: Here) -> None:
        """What lanes may do that CUDA would have left out: nothing that shows."""
        self.here = here
        if isinstance(s, Block):
            mine = [x.name for x in s.body if isinstance(x, Decl)]
            if any(n in self.env for n in mine):
                raise Refused(s.at, "a variable hides another")
            for x in s.body:
                self._quietly(x, here)
            for n in mine:
                self.env.pop(n, None)
            return
        if self._flags(s):
            return
        if isinstance(s, If):
            if self._elected(s, here):
                return
            if s.other is None and self._who_votes(s.cond):
                outer, self.voting = self.voting, False
                self._statement(s, here)
                self.voting = outer
                return
        elif isinstance(s, Decl) and not s.shared and not s.dims:
            self._declared(s, here)
            if s.init is None or self.env[s.name].kind in _QUIET or all(isinstance(x, _PURE) for x in walk(s.init)):
                return
        elif isinstance(s, Eval) and isinstance(s.expr, Assign) and isinstance(s.expr.target, Name):
            self._assigned(s.expr, here)
            if self.env[s.expr.target.text].kind in _QUIET:
                return
        raise Refused(s.at, "lanes come that CUDA would have left out")

    def _flags(self, s: Stmt) -> bool:
        """`*flag = 1;`: whoever comes, the same value goes to the same place, as it does if one lane comes."""
        if isinstance(s, If) and s.other is None:
            chosen = self._elects(s.cond)
            if chosen is None or chosen.op != "zero" or not self._flags(s.then):
                return False
            self._elect_text(s.cond, chosen)
            return True
        if isinstance(s, Block):
            return bool(s.body) and all(self._flags(x) for x in s.body)
        if not isinstance(s, Eval) or s.end < 0 or not isinstance(s.expr, Assign) or s.expr.op != "=":
            return False
        target, value = s.expr.target, s.expr.value
        if isinstance(target, Name):
            self.spots.add(target.at)
            shared = target.text in self.arrays and self.env[target.text].kind is Kind.SAME
            outside = target.text not in self.env and self.idioms.is_of_file(target.text)
            return (shared or outside) and self._is_uniform(value)
        if not isinstance(target, (Index, Unary)) or (isinstance(target, Unary) and target.op != "*"):
            return False
        if self.env.get(root(target), SAME).kind is not Kind.SAME:
            return False
        place = [target.base, target.inner] if isinstance(target, Index) else [target.x]
        return all(self._is_uniform(x) for x in (*place, value))

    def _is_uniform(self, e: Expr) -> bool:
        if isinstance(e, Name) and e.text in self.arrays:
            self.spots.add(e.at)
            return self.env[e.text].kind is Kind.SAME
        return all(isinstance(x, (Name, Num, Binary, Member)) for x in walk(e)) and self._value(e).uniform

    # --- loops that go on while a lane wants ------------------------------------------------------------------------

    def _votes_on(self, s: Loop, here: Here) -> bool:
        """`while (__any_sync(~0u, p)) if (p) { ... }`: what a lane does not want is not done, however often."""
        c = s.cond
        body = single(s.body)
        if s.kind not in ("while", "do") or not isinstance(c, CallExpr) or c.at not in self.idioms.cudas:
            return False
        if callee(c) not in _ANY or not isinstance(c.args[-1], Name):
            return False
        p = c.args[-1].text
        wants = isinstance(body, If) and body.other is None and isinstance(body.cond, Name) and body.cond.text == p
        if not wants or here.role or self.blocked or p in self.aliased or p not in self.locals:
            raise Refused(s.at, "a loop that goes on while a lane of the warp wants")
        if len(c.args) == 2 and not self._is_full(c.args[0]):
            raise Refused(c.at, "a mask that is not understood")
        assert isinstance(body, If)
        if any(isinstance(x, Jump) for x in statements(body.then)):
            raise Refused(s.at, "a lane may leave a loop that goes on while a lane of the warp wants")
        crossing = [x for x in expressions(body.then) if isinstance(x, CallExpr) and x.at in self.idioms.cudas]
        if crossing or self._has_barrier(body.then):
            raise Refused(s.at, "lanes meet in a loop that goes on while a lane of the warp wants")
        self.votes.add(c.at)
        self._turned(s, here)
        return True

    def _turned(self, s: Loop, here: Here) -> None:
        super()._loop(s, here)
