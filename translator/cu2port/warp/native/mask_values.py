"""Values made of masks of lanes in native code: counts, ranks, leaders and places. Raises Refused."""

from __future__ import annotations

from cu2port.model import Edit
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native.idioms import Idioms, Refused
from cu2port.warp.native.lanes import Here, Look
from cu2port.warp.native.mask_forms import COUNTS, OWN, SIZES, MaskForms
from cu2port.warp.native.types import COUNT
from cu2port.warp.native.values import MIXED, SAME, SPACE, Kind, T
from cu2port.warp.native.votes import Votes
from cu2port.warp.native.walk import Walk
from cu2port.warp.tree import Binary, CallExpr, Expr, Name, Num, Ternary, Unary, callee, walk

_WIDE = frozenset("unsigned long long uint64_t uintptr_t size_t int64_t u64 std :: ( ) < > reinterpret_cast "
                  "static_cast const".split())  # fmt: skip
_LONG = frozenset({"long", "uint64_t", "uintptr_t", "size_t", "int64_t", "u64"})
_HOLDS = frozenset({Kind.MASK, Kind.LOWER, Kind.GROUP})
_NUMBERS = frozenset({Kind.RANK, Kind.COUNTED, Kind.LEADER, Kind.BASE, Kind.PLACE})
_State = tuple[int, frozenset[int], frozenset[int]]


def _rank(mask: int, with_own: bool = False) -> T:
    """How many lanes of a mask are below this one: what they come to, if each has 1."""
    return T(Kind.RANK, "add", few=with_own, mask=mask, typ=COUNT, scan=mask)


class MaskValues(MaskForms, Walk):
    """What the walk knows of masks. `region`: a number for the lanes that are here; `present`: masks whose lanes are
    just those that are here; `inside`: masks that this lane is in; `blocked`: fewer lanes come to what is read."""

    later = frozenset({"coalesced_threads", "labeled_partition"})

    def __init__(self, unit: Unit, idioms: Idioms, d: Device, look: Look) -> None:
        super().__init__(unit, idioms, d, look)
        self.began: dict[str, int] = {}  # variables with the first of a warp's places -> the region of the leader
        self.region = self.regions = self.blocked = 0
        self.present: frozenset[int] = frozenset()
        self.inside: frozenset[int] = frozenset()
        self.into: dict[int, frozenset[int]] = {}  # arms of branches -> masks whose lanes come
        self.turns: set[int] = set()  # bodies of loops
        self.closed: set[int] = set()  # tokens of the heads of loops
        self.bits: set[int] = set()  # operators of conditions that ask for the lane's bit
        self.votes: set[int] = set()  # votes whose answer may be that of more lanes
        self.declared: dict[str, set[int]] = {}
        self.locals: set[str] = set()  # variables that no other thread sees
        self.retyped: dict[int, tuple[str, Kind]] = {}  # tokens of declarations -> the variable, what it holds
        self.uses: set[int] = set()  # tokens of variables that hold masks, used as masks
        self.needs: set[int] = set()  # parameters that must be the same for all lanes
        self.fits: set[int] = set()  # calls that give other functions such arguments
        self.apart = ""  # what tells the lanes that count in one place, where it may not be the same for all

    def _go(self, ids: frozenset[int]) -> _State:
        """From here on some lanes are elsewhere; those that are here are in the masks `ids`."""
        kept = (self.region, self.present, self.inside)
        self.present = frozenset(i for i in ids if i in self.present or self.masks[i].region == self.region)
        self.inside |= ids
        self.regions += 1
        self.region = self.regions
        return kept

    def _back(self, kept: _State) -> None:
        self.region, self.present, self.inside = kept

    def _are_here(self, mask: int) -> bool:
        """Whether all lanes of a mask are here."""
        return mask in self.present or self.masks[mask].region == self.region

    # --- expressions ----------------------------------------------------------------------------------------------

    def _value(self, e: Expr) -> T:
        if isinstance(e, Ternary) or (isinstance(e, Binary) and e.op in ("&&", "||")):
            self.blocked += 1
            try:
                return super()._value(e)
            finally:
                self.blocked -= 1
        got: T | None = None
        if isinstance(e, Name):
            got = self._mask_name(e)
        elif isinstance(e, CallExpr):
            got = self._mask_call(e)
        elif isinstance(e, (Binary, Unary)):
            got = self._mask_operation(e)
        if got is None:
            return super()._value(e)
        if (got.kind in OWN or got.mask >= 0) and self._is_cut(e):
            raise Refused(e.at, f"{got.kind.value} is cast to a type that may not hold it")
        return got._replace(typ="int") if got.kind in _NUMBERS and not got.typ else got

    def _set(self, name: str, t: T, value: Expr, here: Here) -> None:
        if t.kind in _NUMBERS and not self._is_wide(self.types.get(name, "").split()):
            raise Refused(value.at, f"`{name}` may not hold {t.kind.value}")
        super()._set(name, t, value, here)

    def _mask_name(self, e: Name) -> T | None:
        t = self._raw(e)
        if (t.kind in OWN or t.mask >= 0) and (self._is_cut(e) or (t.kind in _HOLDS and self._casts(e))):
            raise Refused(e.at, f"{t.kind.value} is cast to another type")
        if t.kind is Kind.PLACE and t.mask in self.inside:
            self.spots.add(e.at)
            return SAME
        if t.kind in _HOLDS:
            self._used(e)
            return t
        return None

    def _used(self, e: Expr) -> None:
        self.spots.add(e.at)
        self.uses.add(e.at)

    def _call(self, e: CallExpr) -> T:
        own = self.look(callee(e)) if e.at not in self.idioms.cudas and isinstance(e.callee, Name) else None
        fits = own is not None and bool(own.needs) and max(own.needs) < len(e.args)
        fits = fits and own is not None and all(self._is_same(e.args[n], -1) for n in own.needs)
        t = super()._call(e)
        if fits:
            self.fits.add(e.at)
        return t

    def _mask_call(self, e: CallExpr) -> T | None:
        name = callee(e)
        if self._is_cudas(e, COUNTS) and len(e.args) == 1:
            return self._popc(e)
        if e.at in self.idioms.cudas:
            if name in ("__ballot_sync", "__ballot") and len(e.args) == 1 + name.endswith("_sync"):
                return self._ballots(e, len(e.args) - 1)
            if name == "__activemask" and not e.args:
                self._calls(e, f"match({self.apart})" if self.apart else "activemask()")
                return self._made(e, Votes(e.at, self.region))
            if name == "__match_any_sync" and len(e.args) == 2:
                return self._match(e)
            if name in ("__shfl_sync", "__shfl"):
                return self._handed_out(e)
            if e.at in self.votes:
                self._calls(e, f"{name[2:5]}(", len(e.args) - 1)
                self._plain(e.args[-1])
                return SAME
            return None
        if name == "coalesced_threads" and not e.args and self._is_of_groups(e):
            self._calls(e, f"group({SPACE}match({self.apart}))" if self.apart else "group()")
            return self._made(e, Votes(e.at, self.region))._replace(kind=Kind.GROUP)
        if name == "labeled_partition" and len(e.args) == 2 and self._is_of_groups(e):
            return self._labeled(e)
        g = self._group_of(e)
        if g is None:
            return None
        t = self._kind(g)
        if name in (*SIZES, "thread_rank") and not e.args:
            self._used(g)
            return _rank(t.mask) if name == "thread_rank" else T(Kind.COUNTED, mask=t.mask)
        if name == "shfl" and len(e.args) == 2 and self._is_zero(e.args[1]):
            base = self._began(e, e.args[0], T(Kind.LEADER, "first", mask=t.mask))
            self._used(g)
            start, end = self.unit.p[g.at], self.unit.end(e.close)
            old = self._argument_text(e, 0)
            parts = (SPACE + "shfl(", old, f", {self.unit.t[g.at]}.first())")
            several = self.apart or self.masks[t.mask].key
            self.edits[start, end] = Edit(start, end, parts if several else (SPACE + "lead(", old, ")"))
            return base
        raise Refused(e.at, f"`{name}` of a group of lanes")

    def _is_of_groups(self, e: CallExpr) -> bool:
        unit = self.unit
        first = unit.qualifier(e.at)
        head = unit.t[first + (unit.t[first] == "::")]
        aliases = (k for k in unit.find("cooperative_groups") if unit.tok(k - 1) == "=")
        return head == "cooperative_groups" or any(unit.tok(k - 2) == head for k in aliases)

    def _calls(self, e: CallExpr, text: str, n: int = -1, tail: str = ")") -> None:
        """A function of `cu2port::wave` in place of a call, which gets its argument n."""
        if self._casts(e):
            raise Refused(e.at, f"what `{callee(e)}` gives is cast to another type")
        unit = self.unit
        start, end = unit.p[unit.qualifier(e.at)], unit.end(e.close)
        rest = (self._argument_text(e, n), tail) if n >= 0 else ()
        self.edits[start, end] = Edit(start, end, (SPACE + text, *rest))
        self.done.add(e.at)

    # --- masks ----------------------------------------------------------------------------------------------------

    def _made(self, e: CallExpr, v: Votes) -> T:
        """The mask that a call makes of the lanes that are here."""
        if self.blocked or self.here.role or e.at in self.closed:
            raise Refused(e.at, f"some lanes may be elsewhere when `{callee(e)}` is called")
        for name, t in self.env.items():
            if e.at in (t.mask, t.scan):  # of an earlier turn of the loop
                self.env[name] = MIXED
        self.inside -= {e.at}
        self.present -= {e.at}
        self.masks[e.at] = v
        return T(Kind.MASK, mask=e.at)

    def _among(self, e: CallExpr) -> bool:
        """Whether a cross-lane operation names whole warps, by its first argument. Refused unless it names all lanes
        that are here."""
        m = e.args[0]
        if self._is_full(m):
            return True
        if isinstance(m, CallExpr) and m.at in self.idioms.cudas and callee(m) == "__activemask":
            self.done.add(m.at)
            return False
        v = self.masks.get(self._kind(m).mask) if self._is_mask(m) else None
        if v is None or v.yes is not None or v.key or v.region != self.region:
            raise Refused(e.at, f"`{callee(e)}` names some lanes of the warp")
        self._used(m)
        return v.whole

    def _ballots(self, e: CallExpr, n: int) -> T:
        together = self.here.together and not self.gone and not self.here.role
        whole = self._among(e) if n else together
        if self.apart:
            raise Refused(e.at, "lanes that vote may count in different places")
        yes = e.args[n]
        self._plain(yes)
        self._calls(e, "ballot(", n)
        all_of = (isinstance(yes, Num) and yes.value != 0) or (isinstance(yes, Name) and yes.text == "true")
        v = Votes(e.at, self.region, None if all_of else yes, whole, together=together and whole)
        return self._made(e, v)

    def _labeled(self, e: CallExpr) -> T:
        """`cooperative_groups::labeled_partition(group, key)`"""
        g = e.args[0]
        v = self.masks.get(self._kind(g).mask) if self._kind(g).kind is Kind.GROUP else None
        if v is None or v.key or v.region != self.region:
            raise Refused(e.at, "a group of some lanes of the warp")
        self._used(g)
        self._plain(e.args[1])
        self._calls(e, f"group({SPACE}match(", 1, f") & {SPACE}match({self.apart}))" if self.apart else "))")
        return self._made(e, Votes(e.at, self.region, key=self._key(e)))._replace(kind=Kind.GROUP)

    def _match(self, e: CallExpr) -> T:
        self._among(e)
        self._plain(e.args[1])
        self._calls(e, "match(", 1)
        return self._made(e, Votes(e.at, self.region, key=self._key(e)))

    def _key(self, e: CallExpr) -> str:
        """The variable by whose value lanes are matched; "?" if it may be more than one that have the same."""
        key = e.args[1]
        span = self._argument_text(e, 1)
        unit = self.unit
        words = unit.t[unit.lexed.at(span.start) : unit.lexed.at(span.end)]
        name = key.text if isinstance(key, Name) else ""
        if isinstance(key, CallExpr) and callee(key).endswith("_cast") and isinstance(key.args[0], Name):
            name = key.args[0].text
        rest = [w for w in words if w != name]
        kept = not rest or (_WIDE.issuperset(rest) and not _LONG.isdisjoint(rest) and rest.count("(") == 1)
        return name if name and kept else "?"

    def _popc(self, e: CallExpr) -> T | None:
        x = e.args[0]
        below = self._below(x)
        if below is not None:
            for y in walk(x):
                if self._kind(y).kind in (Kind.MASK, Kind.LOWER):
                    self._used(y)
            self._instead(e, SPACE + ("rank(" if below[1] == "lt" else "upto("), self._text(below[0]), ")")
            return _rank(self._kind(below[0]).mask, below[1] == "le")
        if self._is_mask(x):
            self._used(x)
            self._instead(e, SPACE + "lanes(", self._text(x), ")")
            return self._counted(self._kind(x).mask)
        if isinstance(x, CallExpr) and x.at in self.idioms.cudas and callee(x) in ("__ballot_sync", "__ballot"):
            if self.here.together and not self.gone and not self.here.role:
                return None
            t = self._value(x)
            self._instead(e, SPACE + "lanes(", self._argument_text(e, 0), ")")
            return self._counted(t.mask)
        return None

    def _counted(self, mask: int) -> T:
        if self.masks[mask].together and (self.d.kernel or self.arrays):
            self.meets = True
            return T(Kind.PART, "add", mask=mask, typ=COUNT, scan=mask)
        return T(Kind.COUNTED, mask=mask)

    def _mask_operation(self, e: Binary | Unary) -> T | None:
        lower = self._lower(e)
        if lower:
            self._instead(e, SPACE + ("lower()" if lower == "lt" else "lower(true)"))
            return T(Kind.LOWER, lower)
        if isinstance(e, Unary):
            return None
        leader = self._leader(e)
        if leader is not None:
            m = next(x for x in walk(e) if self._is_mask(x))
            self._used(m)
            self._instead(e, f"{SPACE}{leader.op}_of(", self._text(m), ")")
            return leader
        chosen = self._elects(e) if e.op == "==" else None
        if chosen is not None and chosen.op != "zero":
            self._elect_text(e, chosen)
            return chosen._replace(kind=Kind.ELECTED)
        m_or_none = self._own_bits(e) if e.at in self.bits else self._own_bit(e)
        if m_or_none is not None:
            self._bit(e, m_or_none)
            return SAME
        return self._sum(e) if e.op in "+-" else None

    def _bit(self, e: Expr, m: Expr) -> None:
        self._used(m)
        self._instead(e, SPACE + "has(", self._text(m), ")")

    # --- leaders --------------------------------------------------------------------------------------------------

    def _elect_text(self, c: Expr, leader: T) -> None:
        if self._kind(c).kind is Kind.ELECTED:
            self._spot(c)
            return
        if leader.op == "zero":
            self._instead(c, SPACE + "leads()")
            return
        if isinstance(c, Binary) and c.op == "==":
            for lane, who in ((c.a, c.b), (c.b, c.a)):
                if self._leader(who) is not None and self._is_lane(lane):
                    self._value(who)
                    self._instead(lane, SPACE + "lane()")
                    return
        zero = self._zeroed(c)
        assert zero is not None
        self._value(zero)

    # --- places (mask_places) ------------------------------------------------------------------------------

    def _handed_out(self, e: CallExpr) -> T | None:
        raise NotImplementedError

    def _began(self, e: CallExpr, base: Expr, leader: T | None) -> T:
        raise NotImplementedError

    def _is_same(self, e: Expr, mask: int) -> bool:
        raise NotImplementedError

    def _sum(self, e: Binary) -> T | None:
        raise NotImplementedError
