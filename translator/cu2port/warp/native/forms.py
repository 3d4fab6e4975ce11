"""Lanes, warps, counts of warps and conditions of them in native code: how CUDA writes them, what stands for them."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.core.model import Edit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import (
    Binary,
    CallExpr,
    Expr,
    Jump,
    Member,
    Name,
    Num,
    Unary,
    root,
    walk,
)
from cu2port.warp.native.groups import is_block
from cu2port.warp.native.lanes import Here, Known, axis_of
from cu2port.warp.native.values import SAME, SPACE, Kind, T


class Forms:
    """What expressions and conditions say of lanes at a place of a function. `plain`: the type of an expression whose
    value must be the same for any number of lanes."""

    def __init__(self, k: Known, plain: Callable[[Expr], T]) -> None:
        self.k, self.plain = k, plain

    def of_lanes(self, e: Expr) -> T | None:
        """What a variable becomes that is set to a lane, a warp or a count of warps."""
        for kind, edits in ((Kind.LANE, self.lane(e)), (Kind.WARP, self.warp(e))):
            if edits is not None:
                self.k.edits.update(edits)
                self.k.spot(e)
                return T(kind)
        of_block = isinstance(e, CallExpr) or "blockDim" in {root(x) for x in walk(e)}
        if of_block and isinstance(e, (Binary, CallExpr)) and (got := self.count(e)) is not None:
            self.k.edits.update(got)
            return T(Kind.COUNT)
        return None

    # --- lanes, warps and counts of warps; None if an expression is none, else the edits ---------------------------

    def is_tid(self, e: Expr) -> bool:
        if isinstance(e, CallExpr):
            return self._is_block_rank(e)
        if isinstance(e, Member):
            return not self.k.rows and axis_of(e, "threadIdx") == "x"
        return isinstance(e, Name) and self.k.env.get(e.text, SAME).kind is Kind.TID

    def _is_block_rank(self, e: CallExpr) -> bool:
        """`block.thread_rank()`"""
        own = isinstance(e.callee, Member) and e.callee.name == "thread_rank" and not e.args and not self.k.rows
        return own and isinstance(e.callee, Member) and is_block(self.k.unit, e.callee.base)

    def _size(self, e: Expr) -> dict[tuple[int, int], Edit] | None:
        """The number of lanes."""
        if not isinstance(e, (Num, Name)) or self.k.steps.number(e) != 32:
            return None
        if isinstance(e, Name) and (e.qualified or e.targs):
            return None
        start, end = self.k.unit.p[e.at], self.k.unit.end(e.at)
        return {(start, end): Edit(start, end, (SPACE + "size()",))}

    def _mask(self, e: Expr) -> dict[tuple[int, int], Edit] | None:
        """The number of lanes, less one."""
        if isinstance(e, Binary) and e.op == "-" and self.k.steps.fold(e.b) == 1:
            return self._size(e.a)
        if isinstance(e, (Num, Name)) and self.k.steps.number(e) == 31 and not getattr(e, "qualified", False):
            start, end = self.k.unit.p[e.at], self.k.unit.end(e.at)
            return {(start, end): Edit(start, end, (f"({SPACE}size() - 1)",))}
        return None

    def is_tile(self, e: Expr) -> bool:
        return isinstance(e, Name) and self.k.env.get(e.text, SAME).kind is Kind.TILE

    def _of_tile(self, e: Expr, method: str, text: str) -> dict[tuple[int, int], Edit] | None:
        """What a tile of 32 threads says of itself, in blocks that must have one row of threads."""
        if not isinstance(e, CallExpr) or e.args or not isinstance(e.callee, Member) or e.callee.name != method:
            return None
        tile = e.callee.base
        if not isinstance(tile, Name) or not self.is_tile(tile):
            return None
        self.k.spots.add(tile.at)
        start, end = self.k.unit.p[tile.at], self.k.unit.end(e.close)
        return {(start, end): Edit(start, end, (text,))}

    def _of_index(self, e: CallExpr, index: str, text: str) -> dict[tuple[int, int], Edit] | None:
        """A call of the file's function that returns the lane or the warp."""
        if self.k.rows or e.args or not isinstance(e.callee, Name) or e.callee.qualified or e.callee.text in self.k.env:
            return None
        own = self.k.look(e.callee.text)
        if own is None or own.index != index:
            return None
        start, end = self.k.unit.p[e.at], self.k.unit.end(e.close)
        return {(start, end): Edit(start, end, (text,))}

    def index(self) -> str:
        """Whether the function returns the "lane" or the "warp" and does nothing else; else ""."""
        body = self.k.d.body.body
        only = body[0] if len(body) == 1 and not self.k.d.params else None
        if not isinstance(only, Jump) or only.kind != "return" or not isinstance(only.value, Binary):
            return ""
        if self.lane(only.value) is not None:
            return "lane"
        return "warp" if self.warp(only.value) is not None else ""

    def lane(self, e: Expr) -> dict[tuple[int, int], Edit] | None:
        if isinstance(e, CallExpr):
            text = f"(threadIdx.x % {SPACE}size())"
            return self._of_tile(e, "thread_rank", text) or self._of_index(e, "lane", text)
        if isinstance(e, Name) and self.k.env.get(e.text, SAME).kind is Kind.LANE:
            return {}
        if isinstance(e, Binary) and self.is_tid(e.a):
            return self._size(e.b) if e.op == "%" else self._mask(e.b) if e.op == "&" else None
        return None

    def warp(self, e: Expr) -> dict[tuple[int, int], Edit] | None:
        if isinstance(e, CallExpr):
            text = f"(threadIdx.x / {SPACE}size())"
            return self._of_tile(e, "meta_group_rank", text) or self._of_index(e, "warp", text)
        if isinstance(e, Name) and self.k.env.get(e.text, SAME).kind is Kind.WARP:
            return {}
        if isinstance(e, Binary) and self.is_tid(e.a):
            if e.op == "/":
                return self._size(e.b)
            if e.op == ">>" and isinstance(e.b, (Num, Name)) and self.k.steps.number(e.b) == 5:
                at = e.at
                if self.k.unit.tok(at - 1) == ")" or getattr(e.b, "qualified", False):
                    return None
                start, end = self.k.unit.p[at], self.k.unit.end(e.b.at)
                return {(start, end): Edit(start, end, (f"/ {SPACE}size()",))}
        return None

    def is_warp(self, e: Expr) -> bool:
        edits = self.warp(e)
        if edits is None:
            return False
        self.k.edits.update(edits)
        self.k.spot(e)
        return True

    def count(self, e: Expr, rounds: bool = False) -> dict[tuple[int, int], Edit] | None:
        """The number of warps in the block, or in a constant number of threads that are whole wavefronts. `rounds`: a
        fraction counts as a whole one where it stands."""
        unit = self.k.unit
        if isinstance(e, CallExpr):
            return self._of_tile(e, "meta_group_size", f"{SPACE}count(blockDim.x)")
        if isinstance(e, Name) and self.k.env.get(e.text, SAME).kind is Kind.COUNT:
            self.k.spots.add(e.at)
            return {}
        if isinstance(e, Binary) and e.op in ("/", ">>"):
            if not isinstance(e.b, (Num, Name)):
                return None
            if self.k.steps.number(e.b) != (32 if e.op == "/" else 5) and not (
                rounds and e.op == "/" and unit.t[e.b.at] in ("32.f", "32.0f", "32.", "32.0")
            ):
                return None
            threads = e.a
            if isinstance(threads, Binary) and threads.op == "-" and self.k.steps.number(threads.b) == 1:
                inner = threads.a  # blockDim.x + 32 - 1
                if isinstance(inner, Binary) and inner.op == "+" and self.k.steps.number(inner.b) == 32:
                    threads = inner.a
            elif isinstance(threads, Binary) and threads.op == "+" and self.k.steps.number(threads.b) == 31:
                threads = threads.a
            block = self._block(threads)
            if block:
                text = block
                self.k.floors = self.k.floors or (
                    threads is e.a and unit.t[e.b.at] not in ("32.f", "32.0f", "32.", "32.0")
                )
            else:
                n = self.k.steps.number(threads)
                if n is None or n <= 0 or n % 64 or not isinstance(threads, (Num, Name)):
                    return None
                text = unit.t[threads.at]
            lo, hi = self._extent(e)
            if lo < 0:
                return None
            self.k.spot(e)
            start, end = unit.p[lo], unit.end(hi)
            return {(start, end): Edit(start, end, (f"{SPACE}count({text})",))}
        n = self.k.constant(e)
        if n is not None and 0 < n <= 32 and n % 2 == 0 and isinstance(e, (Num, Name)):
            start, end = unit.p[e.at], unit.end(e.at)
            text = f"{unit.t[e.at]} * 32" if isinstance(e, Name) else str(n * 32)
            return {(start, end): Edit(start, end, (f"{SPACE}count({text})",))}
        return None

    def _block(self, e: Expr) -> str:
        """The number of threads in the block, as text; "" for anything else."""
        if self.k.rows:
            if (
                isinstance(e, Binary)
                and e.op == "*"
                and axis_of(e.a, "blockDim") + axis_of(e.b, "blockDim") in ("xy", "yx")
            ):
                return "blockDim.x * blockDim.y" if not self.k.deep else ""
            return ""
        return "blockDim.x" if axis_of(e, "blockDim") == "x" else ""

    def small(self, e: Expr) -> int:
        """1 where blocks have no more threads in a row than a warp, -1 where they have more, 0 for other conditions."""
        if not isinstance(e, Binary) or axis_of(e.a, "blockDim") != "x" or e.op not in ("<", "<=", ">", ">="):
            return 0
        n, side = self.k.steps.number(e.b), 1 if e.op[0] == "<" else -1
        return side if n is not None and n - (e.op in ("<", ">=")) <= 32 else 0

    def is_linear(self, e: Expr) -> bool:
        """`threadIdx.y * blockDim.x + threadIdx.x`, in a function that speaks of no third dimension."""
        if not self.k.rows or self.k.deep or not (isinstance(e, Binary) and e.op == "+"):
            return False
        for x, row in ((e.a, e.b), (e.b, e.a)):
            if axis_of(x, "threadIdx") == "x" and isinstance(row, Binary) and row.op == "*":
                for y, width in ((row.a, row.b), (row.b, row.a)):
                    if axis_of(y, "threadIdx") == "y" and axis_of(width, "blockDim") == "x":
                        return True
        return False

    def _extent(self, e: Binary) -> tuple[int, int]:
        """The tokens of `a / b` where b is one token, or (-1, -1) where they are not certain."""
        unit = self.k.unit
        hi = e.b.at
        k = e.at - 1
        if unit.tok(k) == ")":
            lo = unit.match[k]
            if is_identifier(unit.tok(lo - 1)) or lo < 0 or any(x.at < lo for x in walk(e.a) if isinstance(x, Name)):
                return -1, -1
        else:
            lo = k
            while unit.tok(lo - 1) == ".":
                lo -= 2
            first = min(x.at for x in walk(e.a) if isinstance(x, Name))
            if first < lo:  # blockDim.x * blockDim.y / 32
                if not all(is_identifier(w) or w in (".", "*") for w in unit.t[first:lo]):
                    return -1, -1
                lo = first
        if hi != e.at + (2 if e.op == ">>" and unit.t[e.at] == ">" else 1) or unit.tok(lo - 1) in (".", "->", "::"):
            return -1, -1
        return lo, hi

    # --- conditions -----------------------------------------------------------------------------------------------

    def condition(self, e: Expr, here: Here) -> tuple[str, dict[tuple[int, int], Edit]]:
        """Who comes where a condition holds: "leader", "first", "slots", "thread"; "" if lanes do not decide."""
        if isinstance(e, Binary) and e.op == "&&":
            a, left = self.condition(e.a, here)
            b, right = self.condition(e.b, here)
            axes = {self._zero_axis(e.a), self._zero_axis(e.b)}
            if self.k.rows and not self.k.deep and axes == {"x", "y"}:
                return "thread", {}
            if {a, b} == {"leader", "first"}:
                return "thread", {**left, **right}
            if "thread" in (a, b) and not ({a, b} - {"thread", ""}):
                for x, tag in ((e.a, a), (e.b, b)):
                    if tag == "":
                        self.plain(x)
                return "thread", {**left, **right}
            return "", {}
        zero: Expr | None = None
        if isinstance(e, Unary) and e.op == "!":
            zero = e.x
        elif isinstance(e, Binary) and e.op == "==":
            zero = e.a if self.k.steps.fold(e.b) == 0 else e.b if self.k.steps.fold(e.a) == 0 else None
        if zero is not None:
            if self.is_tid(zero):
                return "thread", {}
            edits = self.lane(zero)
            if edits is not None:
                self.k.spot(zero)
                return ("thread" if here.role == "first" else "leader"), edits
            edits = self.warp(zero)
            if edits is not None:
                self.k.spot(zero)
                return "first", edits
            return "", {}
        if isinstance(e, Binary) and e.op == "<":
            in_row, in_warp = self.is_tid(e.a), self.lane(e.a) is not None
            if in_row and self.k.steps.number(e.b) == 32 and self._size(e.b) is not None:
                got = self._size(e.b)
                return "first", got if got is not None else {}
            if (in_row or in_warp) and (bound := self.count(e.b, rounds=True)) is not None:
                self.k.spot(e)
                return "slots", {**bound, **(self.lane(e.a) or {})}
        return "", {}

    def is_sure(self, e: Expr) -> bool:
        """Whether the first thread surely comes where a condition lets nobody else in."""
        if isinstance(e, Binary) and e.op == "&&":
            return self.is_sure(e.a) and self.is_sure(e.b)
        return bool(self._zero_axis(e) or self.condition(e, Here())[0])

    def _zero_axis(self, e: Expr) -> str:
        """The axis of `threadIdx.x == 0` and the like."""
        if isinstance(e, Unary) and e.op == "!":
            return axis_of(e.x, "threadIdx")
        return (
            axis_of(e.a, "threadIdx") if isinstance(e, Binary) and e.op == "==" and self.k.steps.fold(e.b) == 0 else ""
        )
