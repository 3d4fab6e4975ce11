"""Warp sizes on the host's side, told by tokens and names: counts for launches, sizes of shared memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from cu2port.facts.blocks import dim3_variables
from cu2port.facts.structure import Launch
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.constants import integer
from cu2port.syntax.declarations import value_of
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.tree import Assign, Binary, Expr, Member, Name, Num
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.functions import is_device
from cu2port.warp.values import (
    COUNT_NAME,
    THREAD_NAME,
    is_block_size,
    is_weak,
    named_constant,
)

_DEPTH = 6


def host_sizes(unit: Unit) -> Iterator[int]:
    """Tokens in host functions that count the lanes of a warp: names of its size, and 32 beside threads or warps."""
    names = [w for w in unit.words if is_identifier(w) and named_constant(w) == "size" and not is_weak(w)]
    numbers = [w for w in unit.words if w[0].isdigit() and integer(w) in (32, 31, 5)]
    found = [i for i in unit.find(*names) if unit.tok(i + 1) != "("]
    found += [i for i in unit.find(*numbers) if counts_threads(unit, i)]
    if not found:
        return
    found.sort()
    for f in unit.functions:
        if not is_device(unit, f):
            yield from found[bisect_left(found, f.body[0]) : bisect_left(found, f.body[1])]


def counts_threads(unit: Unit, i: int) -> bool:
    """Whether a literal is an operand beside a count of threads or warps, or is given to a name of such."""
    value = integer(unit.t[i])
    if unit.tok(i - 1) in ("=", "{", "(") and (named := named_constant(unit.tok(i - 2) or " ")):
        return {"size": 32, "mask": 31, "log": 5}[named] == value
    number, *path = around(unit, i) or (None,)
    e, outer = [*path, None, None][:2]
    if not isinstance(e, Binary):
        return False
    if e.b is not number:  # `32 * warps`
        return value == 32 and e.op == "*" and (_is_count(unit, e.b) or _is_row(path[-1], i))
    if e.op == "+":  # `(threads + 31) / 32`, `(threads + 31) & ~31`
        rounds = isinstance(outer, Binary) and outer.a is e and outer.op in ("/", "&", ">>")
        by = outer.b.value if isinstance(outer, Binary) and isinstance(outer.b, Num) and outer.op != ">>" else 32
        return rounds and value == 31 and by == 32 and _threads(unit, e.a, "/")
    if e.op == ">>":
        return value == 5 and _threads(unit, e.a, "/")
    if value != 32:
        return False
    if e.op == "/" and _defines_count(unit, i):
        return True
    multiplied = isinstance(outer, Binary) and outer.a is e and outer.op == "*" and _is_count(unit, outer.b)
    return multiplied or (e.op in ("/", "%", "*") and _threads(unit, e.a, e.op))


def _is_count(unit: Unit, e: Expr) -> bool:
    """Whether an expression begins with a name for a number of warps."""
    return COUNT_NAME.match(unit.t[tokens(e)[0]]) is not None


def _is_row(e: Expr, i: int) -> bool:
    """`block.x = 32 * warps`, for the 32 at token i."""
    if not isinstance(e, Assign) or tokens(e.value)[0] != i or not isinstance(e.target, Member):
        return False
    base = e.target.base
    return e.target.name == "x" and isinstance(base, Name) and base.text.lower().startswith("block")


def _defines_count(unit: Unit, i: int) -> bool:
    """Whether a token is in the definition of a macro that counts warps by its name: `#define WARPS (TX / 32)`."""
    d = unit.in_directive(i)
    return d is not None and d.keyword == "define" and COUNT_NAME.match(unit.t[d.first + 2]) is not None


def _threads(unit: Unit, e: Expr, op: str) -> bool:
    """Whether what an operand ends with counts threads (warps where it is multiplied): its last name, or the names in
    its last brackets."""
    k = tokens(e)[1]
    if unit.tok(k) == ")" and unit.match[k] > 0:
        words = unit.t[unit.match[k] : k]
    else:
        words = [unit.tok(k), unit.tok(k - 2) if unit.tok(k - 1) in (".", "->") else ""]
    if op == "*":
        return any(COUNT_NAME.match(w) for w in words if w)
    return any(is_block_size(w) or THREAD_NAME.match(w) or w in ("blockDim", "block") for w in words if w)


def one_warp_launches(unit: Unit) -> Iterator[tuple[Launch, int, str]]:
    """Launches of blocks with rows of 32 threads that reach warp code: the launch, the 32, the kernel."""
    for launch in _of_warps(unit):
        spans = unit.split_args(launch.config_first, launch.close)
        if len(spans) < 2:
            continue
        at = _row(unit, unit.lexed.at(spans[1].start), unit.lexed.at(spans[1].end))
        if at >= 0:
            yield launch, at, _kernel(unit, launch)


def _of_warps(unit: Unit) -> Iterator[Launch]:
    """Launches of kernels that reach a cross-lane operation in this file, which few files have."""
    if unit.words.isdisjoint(LANE_OPERATIONS):
        return
    for launch in unit.launches:
        if _uses_warps(unit, _kernel(unit, launch)):
            yield launch


def kernels_of_rows(unit: Unit) -> frozenset[str]:
    """Kernels that are launched with blocks whose rows have 32 threads."""
    out = set()
    for launch in unit.launches:
        spans = unit.split_args(launch.config_first, launch.close)
        if len(spans) >= 2 and _row(unit, unit.lexed.at(spans[1].start), unit.lexed.at(spans[1].end)) >= 0:
            out.add(_kernel(unit, launch))
    return frozenset(out)


def row_constants(unit: Unit) -> Iterator[int]:
    """The literals of constants that make the rows of blocks a warp, where the kernel works with warps."""
    for launch in _of_warps(unit):
        spans = unit.split_args(launch.config_first, launch.close)
        if len(spans) < 2:
            continue
        name = unit.tok(_start(unit, unit.lexed.at(spans[1].start), unit.lexed.at(spans[1].end)))
        at = _constant(unit, name)
        if at >= 0:
            yield at


@dataclass(frozen=True, slots=True)
class _Known:
    """What was asked of names so far: `_constant`, `_first_of` and `_uses_warps`."""

    constants: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, int] = field(default_factory=dict)
    warps: dict[str, bool] = field(default_factory=dict)


def _known(unit: Unit) -> _Known:
    return _Known()


def _constant(unit: Unit, name: str) -> int:
    """The token of a constant's or macro's 32; -1 if the name is none."""
    known = unit.once(_known).constants
    if not is_identifier(name or " "):
        return -1
    if name not in known:
        macros = [m.first for m in unit.macros.get(name, ()) if m.params is None and m.stop == m.first + 1]
        declared = [d for d in unit.declarations.named(name) if d.kind in ("variable", "member")]
        held = [value_of(unit.lexed, d)[0] for d in declared if _is_constant(unit, d)]
        at = [k for k in (*macros, *held) if unit.tok(k)[:1].isdigit() and integer(unit.t[k]) == 32]
        known[name] = at[0] if at else -1
    return known[name]


def _is_constant(unit: Unit, d: Declaration) -> bool:
    return not {"const", "constexpr"}.isdisjoint(unit.t[d.type_first : d.type_stop])


def _row(unit: Unit, first: int, last: int) -> int:
    """The token of the 32 that a block size starts with; -1 if it does not."""
    k = _start(unit, first, last)
    if k < 0:
        return -1
    tok = unit.tok(k)
    if integer(tok or "x") == 32 or named_constant(tok or " ") == "size":
        return k
    return k if _constant(unit, tok) >= 0 else -1


def _start(unit: Unit, first: int, last: int) -> int:
    """The token of the first number of a block size: of the expression itself, of its `dim3`, of a variable's."""
    t = unit.t
    if last == first + 1 and (t[first][0].isdigit() or named_constant(t[first]) == "size"):
        return first
    if t[first] == "dim3" and unit.tok(first + 1) in ("(", "{"):
        return first + 2 if unit.tok(first + 3) in (",", ")", "}") else -1
    if last == first + 1 and is_identifier(t[first]):
        known = unit.once(_known).firsts
        if t[first] not in known:
            known[t[first]] = _first_of(unit, t[first])
        return known[t[first]] if known[t[first]] >= 0 else first
    return -1


def _first_of(unit: Unit, name: str) -> int:
    """The first number of a `dim3` variable's value; -1 where there is none."""
    for d in dim3_variables(unit, name):
        k = value_of(unit.lexed, d)[0]
        k = k + 2 if unit.tok(k) == "dim3" else k
        if k > d.at and unit.tok(k + 1) in (",", ")", "}"):
            return k
    return -1


def _kernel(unit: Unit, launch: Launch) -> str:
    """The kernel's name, without qualification and template arguments."""
    k = launch.open - 1
    if unit.tok(k) == ">":
        k = unit.angle_open(k) - 1
    return unit.tok(k)


def _uses_warps(unit: Unit, kernel: str) -> bool:
    """Whether a kernel of this file reaches a cross-lane operation."""
    known = unit.once(_known)
    if kernel not in known.warps:
        known.warps[kernel] = _reaches_lanes(unit, kernel)
    return known.warps[kernel]


def _reaches_lanes(unit: Unit, kernel: str) -> bool:
    bodies = unit.once(_bodies)
    todo, seen = [kernel], {kernel}
    for _ in range(_DEPTH):
        more = []
        for name in todo:
            if name not in bodies:
                continue
            called = bodies[name]
            if called is None:
                return True
            more += [w for w in called if w not in seen]
        seen.update(more)
        todo = more
    return False


def _bodies(unit: Unit) -> dict[str, frozenset[str] | None]:
    """Functions and the names of functions that are in them; None for those with a cross-lane operation."""
    spans = {f.name: f.body for f in unit.functions}
    out: dict[str, frozenset[str] | None] = {}
    for name, (first, last) in spans.items():
        words = set(unit.t[first:last])
        out[name] = None if words & LANE_OPERATIONS else frozenset(words & spans.keys())
    return out
