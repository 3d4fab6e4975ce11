"""Literals that count lanes by the tokens next to them, in device and host code: arguments of library templates,
comparisons with a named warp size, functions that return it, constants for launches of whole warps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Binary, Num, walk
from cu2port.warp.hostside import row_constants
from cu2port.warp.roles import Role
from cu2port.warp.values import is_weak, named_constant

_GROUP = re.compile(r"(?i)(?:cg|coop\w*group)_?size\Z")
_FOR_WARPS = re.compile(
    r"(?i)(?:\w*_)?(?:warp|lane)_?(?:sum|max|min|res|val|red|part|agg|total|count|slot|buf|acc|off|data|scr)\w*\Z"
)
_THREADS_OF = re.compile(r"(?:\w*Threads|\w*_?THREADS|(?:n|num)_?\w*threads)\Z")
_STARTS = frozenset("( , < = {".split())
_ENDS = frozenset(", ) ; = {".split())
_BLOCK = re.compile(
    r"Block(?:Reduce|Scan|MergeSort|RadixSort|RadixRank|Load|Store|Exchange|Discontinuity|Histogram|Shuffle|Adjacent\w*)"
)
_WARP = re.compile(
    r"(?i)\w*warp_?(?:reduce|scan|select|sort|merge\w*|exchange|load|store|shuffle|queue|match\w*|bitonic\w*)\w*\Z"
)
_THREADS = re.compile(r"(?i)(?:num_?|n_?)threads|lanes|warp_?(?:size|width|threads)|width")
_COMPARISONS = frozenset("== != <= >= < >".split())
_LAST_LANE = re.compile(r"(?i)(?!.*per_?lane).*lanes?\Z")
_LONG_COMMENT = 200  # characters: a comment that names an argument is shorter
_MAX_WARPS = re.compile(r"(?i)k?max_?(?:num_?|n_?)?(?:block_?)?warps(?:_?(?:per|in)_?(?:block|cta|tb))?\Z")


def token_patterns(unit: Unit) -> Iterator[tuple[int, Role]]:
    """Tokens that count lanes, with their roles."""
    yield from _templates(unit)
    yield from _tiles(unit)
    for word in unit.words:
        if not is_identifier(word):
            continue
        if named_constant(word) == "size" and not is_weak(word):
            yield from _compared(unit, word)
        elif _LAST_LANE.match(word) or _MAX_WARPS.match(word):
            yield from _defined(unit, word, 31 if _LAST_LANE.match(word) else 32)
    yield from _commented(unit)
    for i in row_constants(unit):
        yield i, Role.BLOCK


def _is(unit: Unit, i: int, value: int) -> bool:
    return unit.tok(i)[:1].isdigit() and integer(unit.tok(i)) == value


def _sign(unit: Unit, i: int) -> str:
    """The operator between token i and the next but one, if they are operands; "" for none."""
    e = read_expression(unit, i, i + 3)
    return e.op if isinstance(e, Binary) else ""


def _templates(unit: Unit) -> Iterator[tuple[int, Role]]:
    """`cub::BlockScan<T, 32>`: a block that is one warp; `WarpSelect<T, 32>`: the warp's threads."""
    for word in unit.words:
        block = _BLOCK.match(word) is not None
        if not block and not _WARP.match(word):
            continue
        for i in unit.find(word):
            close = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
            if close < 0:
                continue
            args = [(unit.lexed.at(a.start), unit.lexed.at(a.end)) for a in unit.split_args(i + 2, close)]
            if block and not (len(args) > 1 and args[1][1] - args[1][0] == 1 and _is(unit, args[1][0], 32)):
                continue
            for first, stop in args[1:]:
                for e in walk(read_expression(unit, first, stop)):
                    if isinstance(e, Num) and e.value == 32 and stop - first == 1:
                        yield e.at, Role.WIDTH
                    elif isinstance(e, Binary) and e.op == "/" and isinstance(e.b, Num) and e.b.value == 32:
                        yield e.b.at, Role.COUNT


def _tiles(unit: Unit) -> Iterator[tuple[int, Role]]:
    """The size of a tile, compared or defined: `tiled_partition<N>`, `N <= 32`, `int N = 32`."""
    names = set()
    for i in unit.find("tiled_partition", "thread_block_tile"):
        if unit.tok(i + 1) == "<" and is_identifier(unit.tok(i + 2) or " ") and unit.tok(i + 3) in (">", ","):
            names.add(unit.t[i + 2])
    names |= {w for w in unit.words if _GROUP.match(w)}
    for word in names:
        yield from _compared(unit, word)
        yield from _defined(unit, word, 32)
    for i in unit.find("32"):
        if _THREADS_OF.match(unit.tok(i - 2) or " ") and unit.tok(i - 3) in _STARTS and _sign(unit, i - 2) == "+":
            yield i, Role.COUNT  # `kWorkerThreads + 32`: one warp more
        if unit.tok(i + 1) == ">":  # `Vector<float, 32>& warp_sums`
            k = i + 3 if unit.tok(i + 2) in ("&", "*") else i + 2
            if is_identifier(unit.tok(k) or " ") and _FOR_WARPS.match(unit.t[k]) and unit.tok(k + 1) in _ENDS:
                yield i, Role.SLOTS


def _commented(unit: Unit) -> Iterator[tuple[int, Role]]:
    """`f(/*threads=*/32)`."""
    for i in unit.find("32", "32u", "32U"):
        end = unit.p[i]
        if unit.text[max(0, end - 4) : end].rstrip().endswith("*/"):
            start = unit.text.rfind("/*", max(0, end - _LONG_COMMENT), end)
            if start >= 0 and _THREADS.search(unit.text[start:end]) and unit.tok(i - 1) in ("(", ",", "<"):
                yield i, Role.WIDTH


def _compared(unit: Unit, word: str) -> Iterator[tuple[int, Role]]:
    """`WARP_SIZE == 32`, `32 - WARP_SIZE`, `int warp_size() { return 32; }`."""
    for i in unit.find(word):
        if _is(unit, i + 2, 32) and _sign(unit, i) in _COMPARISONS:
            yield i + 2, Role.SIZE
        if _is(unit, i - 2, 32) and _sign(unit, i - 2) in (*_COMPARISONS, "-"):
            yield i - 2, Role.SIZE
    for f in unit.functions:
        k = f.body[0]
        if f.name == word and unit.tok(k + 1) == "return" and _is(unit, k + 2, 32) and unit.tok(k + 3) == ";":
            yield k + 2, Role.SIZE


def _defined(unit: Unit, word: str, value: int) -> Iterator[tuple[int, Role]]:
    """`NEXT_LANE = 31`, `#define MAX_WARPS 32`."""
    for i in unit.find(word):
        d = unit.in_directive(i)
        k = i + 1 if d is not None and d.keyword == "define" and i == d.first + 2 else i + 2
        if (k == i + 1 or unit.tok(i + 1) in ("=", "{")) and _is(unit, k, value):
            yield k, Role.LAST if value == 31 else Role.SLOTS
