"""The host's side of kernels whose rows are done by wavefronts: launches have as many wavefronts as there are rows."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cu2port.lexer import is_identifier
from cu2port.model import Edit, Span
from cu2port.structure import Function, Launch
from cu2port.unit import Unit
from cu2port.warp.model import Device, is_device
from cu2port.warp.native.host import SOURCES, is_lent, is_row, launched_otherwise, launches_of, shown
from cu2port.warp.native.idioms import Idioms, Refused
from cu2port.warp.native.row_lanes import RowsFound, Shape
from cu2port.warp.parse import read_expression
from cu2port.warp.tree import Binary, CallExpr, Expr, Name, Num, callee

SIZE = "cu2port::wave::device_size()"
_CEILING = re.compile(r"(?i)_*(?:i|u|get_?)?(?:ceil_?div|div_?up|div_?ceil|div_?round_?up|cdiv|round_?up_?div)\Z")
_CONSTANT = frozenset({"const", "int", "unsigned", "size_t", "uint32_t", "int64_t", "uint", "dim3", "auto", "long"})
_CHANGES = frozenset("= += -= *= /= %= <<= >>= |= &= ^= ++ --".split())
_SIGNS = frozenset("+ - * / % ( ) { } , . :: >> <<".split())
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
        self.spans: tuple[Span, ...] = ()

    def edits(self, found: RowsFound) -> Edits:
        spans = self.unit.split_args(self.launch.config_first, self.launch.close)
        if len(spans) < 2:
            raise Refused(self.launch.open, "a launch that is not understood")
        self.spans = spans
        if found.shape is Shape.ONE and found.warps not in (0, 1):
            raise Refused(self.launch.open, "its blocks are not seen to have as many warps as the kernel takes")
        if found.shape is Shape.ONE:
            return self._one_warp(self._read(spans[1]))
        if found.shape is Shape.PLANE:
            return self._plane(found)
        sizes = self._extent(self._read(spans[1]))
        threads = self.value(sizes[0]) if sizes and len(sizes) == 1 else None
        if threads is None and not is_row(self.unit, spans[1], self.launch, 1):
            raise Refused(self.launch.open, "its blocks may have more than one row of threads")
        if threads is not None and (threads % 32 or not 32 <= threads <= 1024):
            raise Refused(self.launch.open, "its blocks are no whole warps")
        if found.warps and found.warps * 32 != threads:
            raise Refused(self.launch.open, "its blocks are not seen to have as many warps as the kernel takes")
        whole = threads is not None and threads % 64 == 0
        if found.exact or not whole:
            return self._as_many(not whole, threads or 0)
        return self._for_rows(found.bound, threads or 0)

    def _for_rows(self, bound: Expr | None, threads: int) -> Edits:
        """As many wavefronts as rows, where the grid is seen to be made so; else as many as there were warps."""
        if bound is None:
            return {}
        grid, at = self._read(self.spans[0]), -1
        try:
            if isinstance(grid, Name):
                name = grid.text
                at = self._declared(name)
                if at < 0 or self._used_elsewhere(name, at):
                    raise Refused(self.launch.open, "the grid's size is not known, or is used for something else")
                grid = self._initial(at)
            if isinstance(grid, CallExpr) and callee(grid) == "dim3" and len(grid.args) == 1:
                grid = grid.args[0]
            return self._covers(grid, threads, bound)
        except Refused:
            return self._as_many(False, threads)

    # --- as many wavefronts as warps ------------------------------------------------------------------------------

    def _plane(self, found: RowsFound) -> Edits:
        """Blocks with a row of 32 threads for each warp."""
        sizes = self._extent(self._read(self.spans[1]))
        if sizes is None or not 1 <= len(sizes) <= 2 or self.value(sizes[0]) != 32:
            raise Refused(self.launch.open, "its blocks are not seen to have rows of 32 threads")
        warps = self.value(sizes[1]) if len(sizes) > 1 else 1
        if found.warps and found.warps != warps:
            raise Refused(self.launch.open, "its blocks are not seen to have as many warps as the kernel takes")
        return self._as_many(True, (warps or 0) * 32)

    def _as_many(self, block: bool, threads: int) -> Edits:
        """Blocks of whole wavefronts, in a grid that has as many wavefronts as CUDA has warps. `block`: whether the
        block's size may change; `threads`: that size, if known, else 0."""
        before = self.unit.t[self.d.fn.first : self.d.fn.name_at]
        if "__cluster_dims__" in before or ("__launch_bounds__" in before and threads < 64):
            raise Refused(self.d.fn.name_at, "the size of its blocks is fixed")
        first, stop = self.unit.lexed.at(self.spans[1].start), self.unit.lexed.at(self.spans[1].end)
        if any(not self._is_plain(i) for i in range(first, stop)):
            raise Refused(self.launch.open, "the size of its blocks is not to be asked for twice")
        size = " ".join(self.unit.text[self.spans[1].start : self.spans[1].end].split())
        out = self._around(self.spans[0], "grid", f", {size}")
        return {**out, **self._around(self.spans[1], "block", "")} if block else out

    def _is_plain(self, i: int) -> bool:
        """Whether a token of a block's size may stand twice."""
        tok = self.unit.t[i]
        if is_identifier(tok):
            called = self.unit.tok(i + 1) in ("(", "{")
            return tok == "dim3" or not (called or tok.startswith("cuda") or tok in ("warpSize", "sizeof", "auto"))
        return tok in _SIGNS or tok[0].isdigit()

    def _around(self, span: Span, name: str, tail: str) -> Edits:
        """A call around an argument of the launch."""
        edit = Edit(span.start, span.end, (f"cu2port::wave::{name}(", Span(span.start, span.end), f"{tail})"))
        return {(span.start, span.end): edit}

    def _extent(self, e: Expr) -> list[Expr] | None:
        """The sizes of a block, less those that are 1 at the end; None if they are not seen."""
        if isinstance(e, Name) and (at := self._declared(e.text)) >= 0:
            k = at + 1
            if self.unit.t[k] in ("(", "{") and self.unit.tok(at - 1) == "dim3":
                spans = self.unit.split_args(k + 1, self.unit.match[k])
                return self._less_ones([self._read(x) for x in spans])
            inner = self._initial(at)
            return [e] if not isinstance(inner, CallExpr) else self._extent(inner)
        if isinstance(e, CallExpr):
            return self._less_ones(list(e.args)) if callee(e) == "dim3" and isinstance(e.callee, Name) else None
        return [e]

    def _less_ones(self, sizes: list[Expr]) -> list[Expr] | None:
        while len(sizes) > 1 and self.value(sizes[-1]) == 1:
            sizes.pop()
        return sizes or None

    def _read(self, span: Span) -> Expr:
        return read_expression(self.unit, self.unit.lexed.at(span.start), self.unit.lexed.at(span.end))

    def _one_warp(self, block: Expr) -> Edits:
        if isinstance(block, CallExpr) and callee(block) == "dim3" and len(block.args) == 1:
            block = block.args[0]
        sizes = self._extent(block)
        if sizes is None or len(sizes) != 1 or self.value(sizes[0]) != 32:
            raise Refused(self.launch.open, "its blocks are not seen to be one warp each")
        if not {"__launch_bounds__", "__cluster_dims__"}.isdisjoint(self.unit.t[self.d.fn.first : self.d.fn.name_at]):
            raise Refused(self.d.fn.name_at, "the size of its blocks is fixed")
        if isinstance(block, (Num, Name)) and self.idioms.number(block) == 32:
            return self._replaced(block.at)
        return self._around(self.spans[1], "block", "")

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
                after in ("=", "+=", "-=", "*=", "/=", "++", "--", "[", "<<=", ">>=")
                or (after == "." and (unit.tok(i + 3) in _CHANGES or unit.tok(i + 3) == "(" or is_lent(unit, i, 2)))
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
