"""CUDA's ways to write a scan over a warp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cu2port.model import Span
from cu2port.warp.native.idioms import Idioms, Reduced, Reduction
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.types import AUTO, last_type
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Loop,
    Member,
    Name,
    Stmt,
    Ternary,
    callee,
)


@dataclass(frozen=True, slots=True)
class Questions:
    """What only the walk knows at a place: whether an expression is the lane, a mask of all lanes, a tile of a warp."""

    lane: Callable[[Expr], bool]
    full: Callable[[Expr], bool]
    tile: Callable[[Expr], bool]


@dataclass(frozen=True, slots=True)
class Raised:
    """What lanes get from lower ones: a shuffle of `value` by a distance."""

    call: CallExpr
    value: Expr
    distance: Expr


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a scan by one distance. `loose`: variables that hold what lower lanes have and were declared before;
    `named`: all such variables."""

    found: list[Reduced]
    shuffles: frozenset[int]
    loose: frozenset[str]
    named: frozenset[str]


def shifted(idioms: Idioms, e: Expr, ask: Questions) -> Raised | None:
    """The shuffle of a whole warp from lower lanes that an expression is."""
    if not isinstance(e, CallExpr):
        return None
    name, args = callee(e), list(e.args)
    if isinstance(e.callee, Member):
        if name != "shfl_up" or len(args) != 2 or not ask.tile(e.callee.base):
            return None
        return Raised(e, args[0], args[1])
    if e.at not in idioms.cudas or name not in ("__shfl_up_sync", "__shfl_up"):
        return None
    if name == "__shfl_up_sync" and (not args or not ask.full(args.pop(0))):
        return None
    if len(args) == 3 and idioms.number(args.pop()) != 32:
        return None
    return Raised(e, args[0], args[1]) if len(args) == 2 else None


def uncast(e: Expr) -> Expr:
    """What a cast between integers is given."""
    while isinstance(e, CallExpr) and len(e.args) == 1 and callee(e) in ("static_cast", "int", "unsigned"):
        e = e.args[0]
    return e


class ScanMatcher(Idioms):
    """Matches scans in the statements of one function."""

    def __init__(self, idioms: Idioms, ask: Questions) -> None:
        super().__init__(idioms.unit)
        self.ask, self.cudas = ask, idioms.cudas

    def match(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """The inclusive scan over a whole warp that starts with a statement of a list."""
        s = body[k]
        return self._looped(s) if isinstance(s, Loop) else self._five(body, k)

    def _looped(self, s: Loop) -> Reduction | None:
        """A loop over the distances 1, 2, 4, 8, 16."""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or s.cond is None or s.step is None:
            return None
        o = s.init.name
        if self.number(s.init.init) != 1 or not self._walks(o, 1, s.cond, s.step):
            return None
        got = self._steps(s.body.body if isinstance(s.body, Block) else (s.body,), o)
        last = self.end(s)
        if got is None or last < 0:
            return None
        return Reduction(s.at, last, tuple(got.found), 1, got.shuffles, loose=got.loose)

    def _five(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """Steps one after the other, their distances 1, 2, 4, 8 and 16 in this order."""
        i, head, last = k, None, -1
        shuffles, loose = frozenset[int](), frozenset[str]()
        for distance in (1, 2, 4, 8, 16):
            s = body[i] if i < len(body) else None
            got, size = (self._steps(s.body, "", distance), 1) if isinstance(s, Block) else (None, 2)
            while got is None and size > 0 and not isinstance(s, Block):
                got = self._steps(body[i : i + size], "", distance)
                size -= got is None
            if got is None or len(got.found) != 1:
                return None
            one = got.found[0]
            if head is not None and (one.name, one.op, one.call) != (head.name, head.op, head.call):
                return None
            head = head or one
            shuffles |= got.shuffles
            loose |= got.loose if isinstance(s, Block) else got.loose | got.named
            last = self._last(body[i + size - 1])
            i += size
        s = body[k]
        if head is None or last < 0:
            return None
        first = s.at - 1 if isinstance(s, Block) else s.at if isinstance(s, Eval) else self._start(s)
        return Reduction(first, last, (head,), i - k, shuffles, loose=loose)

    def _last(self, s: Stmt) -> int:
        if isinstance(s, Block):
            return self.unit.match[s.at - 1] if self.unit.t[s.at - 1] == "{" else -1
        return self.end(s)

    def _steps(self, body: Sequence[Stmt], o: str, distance: int = 0) -> Steps | None:
        """Statements that are one step, of one variable or several: `t = shfl_up(v, o); if (lane >= o) v += t;`"""
        asides: dict[str, Raised] = {}
        masks: dict[str, Expr] = {}
        zeroed: set[str] = set()  # in lanes that have nothing below
        found: list[Reduced] = []
        loose: set[str] = set()
        for s in body:
            if isinstance(s, Decl) and s.init is not None and not (s.dims or s.shared or s.pointer):
                if self.unit.tok(s.at - 1) in ("&", "*", "&&"):
                    return None
                got = self._up(s.init, o, distance, masks)
                if got is None and self.ask.full(s.init):
                    masks[s.name] = s.init  # `unsigned mask = 0xffffffff;`
                elif got is None or getattr(got.value, "text", "") in {f.name for f in found}:
                    return None
                else:
                    asides[s.name] = got
            elif (later := self._set_aside(s, o, distance, masks)) is not None:
                name, got = later
                if getattr(got.value, "text", "") in {f.name for f in found}:
                    return None
                asides[name] = got
                loose.add(name)
            elif isinstance(s, If) and s.other is None:
                low = self._compares(s.cond, o, distance)
                then = s.then.body if isinstance(s.then, Block) else (s.then,)
                for x in then:
                    if not (isinstance(x, Eval) and isinstance(x.expr, Assign)) or x.end < 0 or not low:
                        return None
                    one = self._zeroes(x.expr, asides) if low < 0 else self._joins(x.expr, asides)
                    if one is None:
                        return None
                    if isinstance(one, str):
                        zeroed.add(one)
                    else:
                        found.append(one)
            elif isinstance(s, Eval) and isinstance(s.expr, Assign) and s.end >= 0:
                one = self._chosen(s.expr, asides, zeroed, o, distance)
                if one is None:
                    return None
                found.append(one)
            else:
                return None
        names = {f.name for f in found}
        values = [r.value for r in asides.values()]
        if not found or len(names) < len(found) or {getattr(v, "text", "") for v in values} != names:
            return None
        if not all(isinstance(r.value, Name) and self._alike(t, r.value.text, r.call.at) for t, r in asides.items()):
            return None
        return Steps(found, frozenset(r.call.at for r in asides.values()), frozenset(loose), frozenset(asides))

    def _alike(self, a: str, b: str, at: int) -> bool:
        """Whether two variables that are declared before a token have one type."""
        types = last_type(self.unit, a, at), last_type(self.unit, b, at)
        return AUTO in types or (types[0] == types[1] != "")

    def _set_aside(self, s: Stmt, o: str, distance: int, masks: dict[str, Expr]) -> tuple[str, Raised] | None:
        """`t = shfl_up(v, o);`, t having been declared before."""
        if not (isinstance(s, Eval) and isinstance(s.expr, Assign) and s.expr.op == "=" and s.end >= 0):
            return None
        t, got = s.expr.target, self._up(s.expr.value, o, distance, masks)
        if got is None or not isinstance(t, Name) or self.same(got.value, t):
            return None
        return t.text, got

    def _up(self, e: Expr, o: str, distance: int, masks: dict[str, Expr]) -> Raised | None:
        inner = Questions(
            self.ask.lane, lambda x: self.ask.full(masks.get(x.text, x) if isinstance(x, Name) else x), self.ask.tile
        )
        got = shifted(self, e, inner)
        if got is None or not isinstance(got.value, Name) or not self._is_distance(got.distance, o, distance):
            return None
        return got

    def _is_distance(self, e: Expr, o: str, distance: int) -> bool:
        e = uncast(e)
        return isinstance(e, Name) and e.text == o if o else self.number(e) == distance

    def _compares(self, e: Expr, o: str, distance: int) -> int:
        """1 for `lane >= o`, -1 for `lane < o`, 0 for anything else."""
        if not isinstance(e, Binary) or e.op not in ("<", "<=", ">", ">="):
            return 0
        a, b, op = uncast(e.a), uncast(e.b), e.op
        if self._is_distance(a, o, distance):
            a, b, op = b, a, {"<": ">", ">": "<"}[op[0]] + op[1:]
        if op not in (">=", "<") or not self._is_distance(b, o, distance) or not self.ask.lane(a):
            return 0
        return 1 if op == ">=" else -1

    def _zeroes(self, e: Assign, asides: dict[str, Raised]) -> str | None:
        """`t = 0`, which a sum takes after."""
        if e.op == "=" and isinstance(e.target, Name) and e.target.text in asides and self._is_zero(e.value):
            return e.target.text
        return None

    def _is_zero(self, e: Expr) -> bool:
        return is_identity(self.unit, "add", e)

    def _joins(self, e: Assign, asides: dict[str, Raised]) -> Reduced | None:
        """`v += t`, `v = max(v, t)` where t is what a lower lane has in v."""
        v = e.target
        if not isinstance(v, Name) or v.qualified:
            return None

        def other(x: Expr, of: Name) -> bool:
            got = asides.get(x.text) if isinstance(x, Name) and not x.targs and not x.qualified else None
            return got is not None and self.same(got.value, of)

        got = self._combined(v, e.op, e.value, other)
        if got is None:
            return None
        op, call = got
        return Reduced(v.text, v.at, op, scan_of(call))

    def _chosen(self, e: Assign, asides: dict[str, Raised], zeroed: set[str], o: str, distance: int) -> Reduced | None:
        """`v = lane >= o ? v + t : v`, `v += lane >= o ? t : 0`, or `v += t` where t is 0 in the lowest lanes."""
        v, value = e.target, e.value
        if not isinstance(v, Name):
            return None
        if isinstance(value, Name) and value.text in zeroed:
            one = self._joins(e, asides)
            return one if one is not None and one.op == "add" else None
        if not isinstance(value, Ternary):
            return None
        low = self._compares(value.cond, o, distance)
        if not low:
            return None
        yes, no = (value.a, value.b) if low > 0 else (value.b, value.a)
        if e.op == "=" and self.same(no, v):
            return self._joins(Assign(e.at, "=", v, yes), asides)
        if e.op == "+=" and self._is_zero(no):
            return self._joins(Assign(e.at, "+=", v, yes), asides)
        return None


def scan_of(call: tuple[str | Span, ...]) -> tuple[str | Span, ...]:
    """The call of a scan in place of that of a reduction."""
    head = call[0]
    assert isinstance(head, str)
    head = "inclusive_sum(" + head.removeprefix("sum(") if head.startswith("sum(") else head
    head = "inclusive_scan(" + head.removeprefix("reduce(") if head.startswith("reduce(") else head
    return (head, *call[1:])
