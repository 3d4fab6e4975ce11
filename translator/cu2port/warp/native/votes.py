"""Votes in native code: by what lanes voted, and whether it still holds where a condition says it again."""

from __future__ import annotations

from dataclasses import dataclass

from cu2port.warp.native.assembly import is_asm
from cu2port.warp.native.lane_forms import Lanes
from cu2port.warp.native.lanes import MATH
from cu2port.warp.tree import (
    Asm,
    Assign,
    Binary,
    Block,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Jump,
    Loop,
    Name,
    Num,
    Stmt,
    Switch,
    Unary,
    expressions,
    heads,
    statements,
    walk,
)

_READS = frozenset({"if", "while", "labeled_partition"})
_CHANGES = frozenset("= += -= *= /= %= <<= >>= |= &= ^= ++ --".split())


@dataclass(frozen=True, slots=True)
class Votes:
    """A mask that token `at` made of the lanes that are in `region` together: those for which `yes` holds, or all.
    `whole`: whole warps came there; `together`: all threads of the block; `key`: the variable of the value by which
    lanes were matched."""

    at: int
    region: int
    yes: Expr | None = None
    whole: bool = False
    key: str = ""
    together: bool = False


def conjuncts(e: Expr) -> list[Expr]:
    """What must hold for a condition to hold."""
    return [*conjuncts(e.a), *conjuncts(e.b)] if isinstance(e, Binary) and e.op == "&&" else [e]


def escapes(s: Stmt, loop: bool = False, switch: bool = False) -> bool:
    """Whether a statement may leave more than itself. `loop`, `switch`: it stands in one that it may leave."""
    if isinstance(s, Jump):
        return s.kind in ("return", "goto") or (s.kind == "break" and not (loop or switch)) or (
            s.kind == "continue" and not loop
        )  # fmt: skip
    if isinstance(s, Block):
        return any(escapes(x, loop, switch) for x in s.body)
    if isinstance(s, If):
        return escapes(s.then, loop, switch) or (s.other is not None and escapes(s.other, loop, switch))
    if isinstance(s, Loop):
        return escapes(s.body, True, switch)
    if isinstance(s, Switch):
        return escapes(s.body, loop, True)
    return False


def _inside(node: Stmt | Expr) -> list[Stmt | Expr]:
    """All that a statement or an expression is made of."""
    if isinstance(node, (Block, If, Loop, Switch, Jump, Decl, Eval, Asm)):
        return [*statements(node), *expressions(node)]
    return [*walk(node)]


class Predicates(Lanes):
    """Conditions that stand in two places."""

    def _is_zero(self, e: Expr) -> bool:
        return isinstance(e, Num) and e.value == 0

    def _zeroed(self, e: Expr) -> Expr | None:
        """What a condition holds to be zero."""
        if isinstance(e, Unary) and e.op == "!":
            return e.x
        if isinstance(e, Binary) and e.op == "==":
            return e.a if self._is_zero(e.b) else e.b if self._is_zero(e.a) else None
        return None

    def _form(self, e: Expr) -> object:
        """An expression without its place; None where it may have effects."""
        if isinstance(e, Unary) and e.op in ("!", "-", "~", "*"):
            x = self._form(e.x)
            return None if x is None else (e.op, x)
        if isinstance(e, Binary):
            a, b = self._form(e.a), self._form(e.b)
            return None if a is None or b is None else (e.op, a, b)
        if isinstance(e, Index):
            a, b = self._form(e.base), self._form(e.inner)
            return None if a is None or b is None else ("[]", a, b)
        return self.idioms.shape(e)

    def _stays(self, e: Expr, first: int, stop: int) -> bool:
        """Whether an expression has the same value at two tokens, one behind the other: what it is made of is not
        changed between them, nor in a loop that only the second one stands in."""
        unit = self.unit
        for s in statements(self.d.body):
            if isinstance(s, Loop):
                last = max([s.at, *(x.at for y in (s.body, s.step) if y is not None for x in _inside(y))])
                if first < s.at <= stop <= last:
                    stop = last + 1
        for x in walk(e):
            if not isinstance(x, Name):
                continue
            if x.text in self.aliased:
                return False
            for i in range(first, stop):
                if unit.t[i] != x.text or unit.is_member(i):
                    continue
                before, after = unit.tok(i - 1), unit.tok(i + 1)
                if after in _CHANGES or before in ("++", "--", "&") or (after in "<>" and unit.tok(i + 3) == "="):
                    return False
                if before in ("(", ",") and after in (")", ",") and not self._takes_value(i):
                    return False
        deep = any(isinstance(x, Index) or (isinstance(x, Unary) and x.op == "*") for x in walk(e))
        return not (deep and self._stores(first, stop))

    def _takes_value(self, i: int) -> bool:
        """Whether what is called with a variable, token i, surely leaves it as it is."""
        unit = self.unit
        k = i
        while k > 0 and not (unit.t[k] == "(" and unit.match[k] > i):
            k -= 1
        name = unit.tok(k - 1)
        if name[-1:] == '"':  # an operand of an asm statement
            return name[1:2] not in ("=", "+")
        return name in MATH or name.startswith("__") or name in _READS or not name.isidentifier()

    def _stores(self, first: int, stop: int) -> bool:
        """Whether memory may be written between two tokens of the function, other than by CUDA's atomic operations."""
        for s in statements(self.d.body):
            for h in heads(s):
                for x in walk(h):
                    if isinstance(x, Assign) and first <= x.at < stop and not isinstance(x.target, Name):
                        return True
                    if is_asm(x) and first <= x.at < stop:
                        return True
        return False

    def _is_yes(self, e: Expr, v: Votes, no: bool = False) -> bool:
        """Whether a condition is that by which lanes voted for a mask (`no`: by which they did not)."""
        if v.yes is None:
            return False
        if no:
            x = self._zeroed(e)
            return x is not None and self._is_yes(x, v)
        want = self._form(v.yes)
        return want is not None and self._form(e) == want and self._stays(v.yes, v.at, e.at)
