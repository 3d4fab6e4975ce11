"""The C++ around asm statements of a function: brackets, loops, and what may set PTX's flags between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import BASIC
from cu2port.syntax.words import CONDITIONS, CV, LEAVING, OPERATOR_WORDS, SIZES, TYPE_OPERATORS

_STATEMENT_BEFORE = frozenset("if while for switch constexpr else do try { } ; :".split())
_DIRECT = frozenset({";", "{", "}"})
#: what stands before a bracket and calls nothing
_NO_CALL = (
    CONDITIONS
    | LEAVING
    | OPERATOR_WORDS
    | SIZES
    | TYPE_OPERATORS
    | CV
    | BASIC
    | frozenset("constexpr static_assert else do".split())
)
_WORDS = frozenset("break continue return else do default".split())
Loop = tuple[int, int]  # its first token, and one that it does not reach beyond


class Surrounding(NamedTuple):
    """What is around one token: brackets, outermost first, and loops."""

    block: tuple[int, ...]
    loops: tuple[Loop, ...]


class Placed(Protocol):
    """A statement: the brackets around it, outermost first, its loops, and the conditionals around it."""

    @property
    def block(self) -> tuple[int, ...]: ...
    @property
    def loops(self) -> tuple[Loop, ...]: ...
    @property
    def branches(self) -> frozenset[int]: ...


def sees(x: Placed, earlier: Placed) -> bool:
    """Whether what `earlier` declares at its place is visible at `x`, and has been done there if it is under no
    condition of its own."""
    return x.block[: len(earlier.block)] == earlier.block and earlier.branches <= x.branches


def loops_since(earlier: Placed, x: Placed) -> list[Loop]:
    """The loops around `x` that `earlier` in front of it is not in."""
    return [loop for loop in x.loops if loop not in earlier.loops]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`places`: what is around each token asked for. `calls`: tokens that may call a function, in order. `jumps`:
    whether the function has `goto` or `switch`."""

    places: Mapping[int, Surrounding]
    calls: Sequence[int]
    jumps: bool

    def calls_between(self, first: int, last: int) -> bool:
        """Whether a call is between two tokens."""
        k = bisect_left(self.calls, first)
        return k < len(self.calls) and self.calls[k] <= last


def is_plain(unit: Unit, block: Iterable[int]) -> bool:
    """Whether the `{`s around a place in a function open its body and blocks of it, no lambda and no class."""
    for b in block:
        last = b - 1
        while (d := unit.in_directive(last)) is not None:
            last = d.first - 1  # `#endif` between a condition and its block
        before = unit.match[last] - 1 if unit.t[last] == ")" else last
        f = unit.function_at(b)
        if unit.t[before] not in _STATEMENT_BEFORE and (f is None or b != f.body[0]):
            return False
    return True


def surroundings(unit: Unit, f: Function, wanted: frozenset[int], operators: frozenset[str]) -> Surroundings:
    """The calls of a function, and the brackets and loops around each of the wanted tokens. `operators`: those that are
    calls."""
    t, match = unit.t, unit.match
    stack: list[int] = []
    loops: list[Loop] = []
    calls: list[int] = []
    places = {}
    jumps = False
    first, last = f.body
    kills = operators | unit.once(_calling)
    for i in range(first, last):
        if t[i] in kills:
            calls.append(i)
        if t[i] in ("{", "(", "["):
            if t[i] == "(" and not calls_nothing(unit, i - 1) and unit.in_directive(i) is None:
                calls.append(i)
            stack.append(i)
        elif t[i] in ("}", ")", "]") and stack:
            stack.pop()
        elif i in wanted:
            loops = [loop for loop in loops if loop[1] >= i]
            places[i] = Surrounding(tuple(stack), tuple(loops))
        elif t[i] in ("for", "while") and t[i + 1] == "(" and match[i + 1] > i:
            loops.append((i, _end(unit, last, match[i + 1] + 1)))
        elif t[i] == "do":
            loops.append((i, _end(unit, last, i + 1)))
        elif t[i] in ("goto", "switch"):
            jumps = True
        elif t[i] == ";" and t[i - 2] in _DIRECT and is_identifier(t[i - 1]) and t[i - 1] not in _WORDS:
            calls.append(i)  # a macro that may be anything
    return Surroundings(places, calls, jumps)


def calls_nothing(unit: Unit, before: int) -> bool:
    """Whether a bracket behind token `before` calls no function."""
    t = unit.t
    if t[before] == ">" and (k := unit.angle_open(before)) > 0:
        return t[k - 1].endswith("_cast")
    if t[before] in _NO_CALL or t[before] in unit.asm_words:
        return True
    return _is_cast(unit, before) or not (is_identifier(t[before]) or t[before] in (")", "]", ">"))


def _is_cast(unit: Unit, before: int) -> bool:
    """Whether a `)` ends a cast whatever its names mean: to a pointer, since no expression ends with `*`, or to a
    fundamental type."""
    t = unit.t
    if t[before] != ")":
        return False
    inside = set(t[unit.match[before] + 1 : before])
    return t[before - 1] == "*" or (bool(inside) and inside <= BASIC | CV)


def _end(unit: Unit, last: int, i: int) -> int:
    """A token that the statement at token i does not reach beyond, and mostly its last; `last` ends the function."""
    t, match = unit.t, unit.match
    ifs = 0
    while i < last:
        if t[i] in ("for", "while", "if"):
            ifs += t[i] == "if"
            i += 2 if t[i + 1] == "constexpr" else 1
            i = match[i] + 1 if match[i] > i else last
            continue
        if t[i] in ("do", "switch"):
            return last
        while i < last and t[i] not in (";", "{"):
            i = match[i] + 1 if t[i] in ("(", "[") and match[i] > i else i + 1
        i = match[i] if t[i] == "{" and match[i] > i else i
        if not ifs or t[i + 1] != "else":
            return i
        i += 2
    return last


def _calling(unit: Unit) -> frozenset[str]:
    """Macros without parameters that may call something."""
    found = ((name, m) for name, definitions in unit.macros.items() for m in definitions)
    return frozenset(name for name, m in found if m.params is None and "(" in unit.t[m.first : m.stop])
