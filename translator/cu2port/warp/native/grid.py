"""The host's side of kernels whose rows are done by wavefronts: launches have as many wavefronts as there are rows."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cu2port.lexer import is_identifier
from cu2port.model import Edit, Span
from cu2port.structure import Function, Launch
from cu2port.unit import Unit
from cu2port.warp.model import Device, is_device
from cu2port.warp.native.host import SOURCES, is_lent, launched_otherwise, launches_of, shown
from cu2port.warp.native.idioms import Idioms, Refused
from cu2port.warp.native.row_values import RowsFound
from cu2port.warp.parse import read_expression
from cu2port.warp.tree import Binary, CallExpr, Expr, Name, Num, callee

SIZE = "cu2port::wave::device_size()"
_CEILING = re.compile(r"(?i)_*(?:i|u|get_?)?(?:ceil_?div|div_?up|div_?ceil|div_?round_?up|cdiv|round_?up_?div)\Z")
_CONSTANT = frozenset({"const", "int", "unsigned", "size_t", "uint32_t", "int64_t", "uint", "dim3", "auto", "long"})
_CHANGES = frozenset("= += -= *= /= %= <<= >>= |= &= ^= ++ --".split())
_DEPTH = 5
Edits = dict[tuple[int, int], Edit]


def grid_edits(unit: Unit, idioms: Idioms, d: Device, found: RowsFound) -> Edits:
    """What changes in the launches of a kernel. Raises Refused where they may lack a wavefront for some row."""
    f = d.fn
    if PurePosixPath(unit.path).suffix.lower() not in SOURCES:
        raise Refused(f.name_at, "its launches are in other files")
    if launched_otherwise(unit, f):
        raise Refused(f.name_at, "it is launched in other ways")
    if (named := shown(unit, f)) is not None:
        raise named
    launches = launches_of(unit, f)
    if not launches:
        raise Refused(f.name_at, "no launch of it is seen")
    out: Edits = {}
    for x in launches:
        out.update(_Launch(unit, idioms, d, x, launches).edits(found))
    return out


class _Launch:
    """One launch of the kernel."""

    def __init__(self, unit: Unit, idioms: Idioms, d: Device, launch: Launch, all_of: list[Launch]) -> None:
        self.unit, self.idioms, self.d, self.launch, self.all_of = unit, idioms, d, launch, all_of
        host = unit.function_at(launch.open)
        if host is None or is_device(unit, host) or unit.in_directive(launch.open) is not None:
            raise Refused(launch.open, "the launch is in a macro, or on the device")
        self.host: Function = host

    def edits(self, found: RowsFound) -> Edits:
        spans = self.unit.split_args(self.launch.config_first, self.launch.close)
        if len(spans) < 2:
            raise Refused(self.launch.open, "a launch that is not understood")
        block = self._read(spans[1])
        if found.single:
            return self._one_warp(block)
        threads = self.value(block)
        if threads is None or threads % 64 or not 64 <= threads <= 1024:
            raise Refused(self.launch.open, "its blocks are not known to be whole wavefronts of 64")
        if found.bound is None:
            return {}
        grid, at = self._read(spans[0]), -1
        if isinstance(grid, Name):
            name = grid.text
            at = self._declared(name)
            if at < 0 or self._used_elsewhere(name, at):
                raise Refused(self.launch.open, "the grid's size is not known, or is used for something else")
            grid = self._initial(at)
        if isinstance(grid, CallExpr) and callee(grid) == "dim3" and len(grid.args) == 1:
            grid = grid.args[0]
        return self._covers(grid, threads, found.bound)

    def _read(self, span: Span) -> Expr:
        return read_expression(self.unit, self.unit.lexed.at(span.start), self.unit.lexed.at(span.end))

    def _one_warp(self, block: Expr) -> Edits:
        if isinstance(block, CallExpr) and callee(block) == "dim3" and len(block.args) == 1:
            block = block.args[0]
        if not isinstance(block, (Num, Name)) or self.idioms.number(block) != 32:
            raise Refused(self.launch.open, "its blocks are not seen to be one warp each")
        if "__launch_bounds__" in self.unit.t[self.d.fn.first : self.d.fn.name_at]:
            raise Refused(self.d.fn.name_at, "the size of its blocks is fixed")
        return self._replaced(block.at)

    def _replaced(self, at: int) -> Edits:
        start, end = self.unit.p[at], self.unit.end(at)
        return {(start, end): Edit(start, end, (SIZE,))}

    # --- numbers of the host --------------------------------------------------------------------------------------

    def _declared(self, name: str) -> int:
        """The token of the only declaration of a local variable that is set just there; -1 if there is none."""
        unit = self.unit
        first, stop = self._scope(name)
        if stop < 0 or name in unit.macros:
            return -1
        found = [i for i in unit.find(name) if first <= i < stop and not unit.is_member(i)]
        places = [i for i in found if unit.t[i - 1] in _CONSTANT]
        if len(places) != 1 or not {"constexpr", "static"}.isdisjoint(unit.t[places[0] - 4 : places[0]]):
            return -1
        if unit.tok(places[0] + 1) not in ("=", "(", "{"):
            return -1
        for i in found:
            after, before = unit.tok(i + 1), unit.tok(i - 1)
            if i != places[0] and (
                after in ("=", "+=", "-=", "*=", "/=", "++", "--", ".", "[", "<<=", ">>=")
                or before in ("++", "--", "&", "<<", ">>")
                or is_lent(unit, i)
                or (after in ("<", ">") and unit.tok(i + 2) == after and unit.tok(i + 3) == "=")
            ):
                return -1
        return places[0]

    def _scope(self, name: str) -> tuple[int, int]:
        """The tokens from the declaration of a name that holds at the launch to the end of its block; stop -1 if there
        is none."""
        unit = self.unit
        best = (-1, -1)
        for i in unit.find(name):
            if self.host.body[0] < i < self.launch.open and unit.t[i - 1] in _CONSTANT and not unit.is_member(i):
                k = i
                while k > self.host.body[0] and not (unit.t[k] == "{" and unit.match[k] > i):
                    k -= 1
                if unit.match[k] > self.launch.open and k >= best[0]:
                    best = (k, i)
        if best[1] < 0:
            return -1, -1
        return best[1], unit.match[best[0]]

    def _initial(self, at: int) -> Expr:
        """What a variable is declared with."""
        unit = self.unit
        k = at + 1
        if unit.t[k] in ("(", "{"):
            close = unit.match[k]
            if len(unit.split_args(k + 1, close)) != 1:
                raise Refused(at, "a size of several dimensions")
            return read_expression(unit, k + 1, close)
        stop = k
        while unit.t[stop] not in (";", ","):
            stop = max(stop, unit.match[stop]) + 1
        return read_expression(unit, k + 1, stop)

    def value(self, e: Expr, depth: int = _DEPTH) -> int | None:
        """The value of a number on the host, as far as it is certain."""
        n = self.idioms.fold(e) if not isinstance(e, Name) or self._declared(e.text) < 0 else None
        if n is not None:
            return n if not isinstance(e, Name) or not self._is_local(e.text) else None
        if depth == 0:
            return None
        if isinstance(e, Name):
            at = self._declared(e.text)
            return self.value(self._initial(at), depth - 1) if at >= 0 else None
        if isinstance(e, CallExpr) and callee(e) == "dim3" and len(e.args) == 1:
            return self.value(e.args[0], depth - 1)
        if isinstance(e, Binary) and e.op in ("*", "/"):
            a, b = self.value(e.a, depth - 1), self.value(e.b, depth - 1)
            if a is None or b is None or b == 0:
                return None
            return a * b if e.op == "*" else a // b
        return None

    def _is_local(self, name: str) -> bool:
        """Whether a name is declared in the host function in some way."""
        first, stop = self.host.first, self.host.body[1]
        return any(is_identifier(self.unit.tok(i - 1)) and self.unit.t[i - 1] not in ("return", "else", "case")
                   for i in self.unit.find(name) if first < i < stop)  # fmt: skip

    def _used_elsewhere(self, name: str, at: int) -> bool:
        """Whether the grid's size is used for more than launches of the kernel."""
        first, stop = self._scope(name)
        inside = [(x.config_first, x.close) for x in self.all_of]
        return any(
            i != at and not any(a <= i < b for a, b in inside)
            for i in self.unit.find(name)
            if first <= i < stop and not self.unit.is_member(i)
        )

    # --- is there a wavefront for each row? -----------------------------------------------------------------------

    def _covers(self, grid: Expr, threads: int, bound: Expr) -> Edits:
        """The edits of `ceil(rows * 32 / threads)` or `ceil(rows / (threads / 32))`."""
        got = self._ceiling(grid)
        if got is None:
            raise Refused(self.launch.open, "the size of its grid is not understood")
        above, below, divisors = got
        wanted = self._factors(bound, self._arguments())
        if self.value(below) == threads and isinstance(above, Binary) and above.op == "*":
            for rows, size in ((above.a, above.b), (above.b, above.a)):
                if isinstance(size, (Num, Name)) and self.idioms.number(size) == 32 and self._same(rows, wanted):
                    return self._replaced(size.at)
        if all(self._is_warps(x, threads) for x in divisors) and self._same(above, wanted):
            return {k: e for x in divisors if isinstance(x, Binary) for k, e in self._replaced(x.b.at).items()}
        raise Refused(self.launch.open, "its grid is not seen to have just one warp for each row")

    def _is_warps(self, e: Expr, threads: int) -> bool:
        """`threads / 32`"""
        if not (isinstance(e, Binary) and e.op == "/" and isinstance(e.b, (Num, Name))):
            return False
        return self.idioms.number(e.b) == 32 and self.value(e.a) == threads

    def _ceiling(self, e: Expr) -> tuple[Expr, Expr, tuple[Expr, ...]] | None:
        """Dividend, divisor and all places of the divisor, of a division that rounds up."""
        if isinstance(e, CallExpr) and len(e.args) == 2 and _CEILING.match(callee(e)):
            return e.args[0], e.args[1], (e.args[1],)
        if not (isinstance(e, Binary) and e.op == "/" and isinstance(e.a, Binary) and e.a.op == "-"):
            return None
        top = e.a.a
        if self.idioms.fold(e.a.b) != 1 or not (isinstance(top, Binary) and top.op == "+"):
            return None
        for rows, again in ((top.a, top.b), (top.b, top.a)):
            if self._shape(again) == self._shape(e.b):
                return rows, e.b, (again, e.b)
        return None

    def _shape(self, e: Expr) -> object:
        if isinstance(e, (Num, Name)):
            return self.unit.t[e.at]
        return (e.op, self._shape(e.a), self._shape(e.b)) if isinstance(e, Binary) else object()

    def _arguments(self) -> dict[str, Expr]:
        """What the launch gives for each parameter."""
        first, last = self.launch.args
        if first < 0:
            return {}
        spans = self.unit.split_args(first + 1, last)
        return {p.name: self._read(s) for p, s in zip(self.d.params, spans, strict=False) if p.name}

    def _factors(self, e: Expr, given: dict[str, Expr], depth: int = _DEPTH) -> list[str] | None:
        """The factors of a product, sorted; None if it is something else. `given`: what names stand for."""
        if depth == 0:
            return None
        if isinstance(e, Binary) and e.op == "*":
            a, b = self._factors(e.a, given, depth), self._factors(e.b, given, depth)
            return sorted([*a, *b]) if a is not None and b is not None else None
        if isinstance(e, Num):
            return [self.unit.t[e.at]]
        if isinstance(e, Name) and e.text in given:
            return self._factors(given[e.text], {}, depth - 1)
        if isinstance(e, Name) and not e.qualified and not e.targs:
            at = self._declared(e.text)
            if at >= 0:
                inner = self._factors(self._initial(at), {}, depth - 1)
                if inner is not None:
                    return inner
            return None if self._changes(e.text) else [e.text]
        return None

    def _changes(self, name: str) -> bool:
        """Whether a name of the host function may be given another value before the launch."""
        unit, (first, _) = self.unit, self.host.body
        return any(
            unit.tok(i + 1) in _CHANGES or unit.tok(i - 1) in ("++", "--", "&", ">") or is_lent(unit, i)
            for i in unit.find(name)
            if first < i < self.launch.open and not unit.is_member(i) and unit.t[i - 1] not in _CONSTANT
        )

    def _same(self, rows: Expr, wanted: list[str] | None) -> bool:
        return wanted is not None and self._factors(rows, {}) == wanted
