"""Conditionals that ask which compiler or GPU they are for."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.lexer import Directive, Group

_NUMBER = re.compile(r"[0-9][0-9']*[uUlL]*\Z")
_FLIP = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "==", "!=": "!="}


def _words(unit: Unit, d: Directive) -> list[str]:
    return unit.t[d.first + 2 : d.stop]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`macro op number` in a conditional directive, the macro on the left. Bytes [start, end)."""

    op: str
    number: int
    start: int
    end: int


def comparison(unit: Unit, i: int, in_code: bool = False) -> Comparison | None:
    """The comparison with a number that macro token i takes part in, or None: in a condition, or else in code."""
    d = unit.in_directive(i)
    if not in_code if d is None else d.keyword not in ("if", "elif"):
        return None

    def part(k: int) -> str:
        return unit.tok(k) if d is None or d.first + 2 <= k < d.stop else ""

    # `>` is a token of its own, so that `>=` is one token and `a > b` three.
    if part(i + 1) in _FLIP and _NUMBER.match(part(i + 2)) and _ends(part(i + 3)) and _begins(part(i - 1)):
        return Comparison(part(i + 1), _value(part(i + 2)), unit.p[i], unit.end(i + 2))
    if part(i - 1) in _FLIP and _NUMBER.match(part(i - 2)) and _begins(part(i - 3)) and _ends(part(i + 1)):
        return Comparison(_FLIP[part(i - 1)], _value(part(i - 2)), unit.p[i - 2], unit.end(i))
    return None


def summed_comparison(unit: Unit, i: int) -> tuple[Comparison, int, int] | None:
    """`X * a + Y * b op number` in a condition, X being token i, and a and b: both parts of a version at once."""
    d, last = unit.in_directive(i), i + 4
    if d is None or d.keyword not in ("if", "elif") or unit.tok(i + 1) != "*" or unit.tok(i + 3) != "+":
        return None
    if unit.tok(last + 1) == "*":
        last += 2
    first = i
    while unit.tok(first - 1) == "(" and unit.tok(last + 1) == ")":
        first, last = first - 1, last + 1
    numbers = [unit.tok(k) for k in (i + 2, last + 2, *((i + 6,) if unit.tok(i + 5) == "*" else ()))]
    if last + 2 >= d.stop or unit.tok(last + 1) not in (">", ">=", "<", "<=") or not all(map(_NUMBER.match, numbers)):
        return None
    if not (
        _begins(unit.tok(first - 1) if first > d.first + 2 else "")
        and _ends(unit.tok(last + 3) if last + 3 < d.stop else "")
    ):
        return None
    a, number, b = (_value(x) for x in (*numbers, "1")[:3])
    return Comparison(unit.tok(last + 1), number, unit.p[first], unit.end(last + 2)), a, b


_REFUSALS = frozenset("assert __trap abort".split())
_BESIDE = frozenset("printf __builtin_unreachable CUDA_KERNEL_ASSERT return".split())


def older_refuses(unit: Unit, i: int, found: Comparison) -> bool:
    """Whether all that the branch for older GPUs does is stop: `#error`, `assert(false)`, `__trap()`, perhaps with a
    message. `found`: the comparison of macro token i, the only question of its directive."""
    d = unit.in_directive(i)
    if d is None:
        return False
    words = [w for w in _words(unit, d) if w not in ("defined", "(", ")", "&&", unit.t[i])]
    older = found.op in ("<", "<=")
    if words[:-1] != [found.op] and (older or words[:-1] != ["!", "||", found.op]):
        return False
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    if g is not None and not older:  # the branch for the others is the `#else`
        g = unit.once(_else_branches).get(g.chain[0])
    return g is not None and _only_stops(unit, g)


def older_is_empty(unit: Unit, i: int, found: Comparison) -> bool:
    """Whether a function for the device holds one branch for newer GPUs, and nothing beside it.

    `found`: the comparison of macro token i, the only question of its directive.
    """
    d, f = unit.in_directive(i), unit.function_at(i)
    if d is None or f is None or not f.sides & {"__global__", "__device__"} or found.op not in (">", ">="):
        return False
    words = [w for w in _words(unit, d) if w not in ("defined", "(", ")", "&&", unit.t[i])]
    k = unit.lexed.directive_index(i)
    g = unit.conditionals.opened_by(k)
    if words[:-1] != [found.op] or g is None or len(g.chain) != 2 or g.chain[0] != k:
        return False
    at, last = f.body[0] + 1, f.body[1]
    inside = False
    while at < last:
        other = unit.in_directive(at)
        if other is not None:
            at = other.stop
            continue
        if g.start <= unit.p[at] < g.end:
            inside = True
        elif unit.t[at] not in ("return", ";"):
            return False
        at += 1
    return inside


def _else_branches(unit: Unit) -> dict[int, Group]:
    """The first `#else` branch of each conditional, by its first directive."""
    return {g.chain[0]: g for g in reversed(unit.groups) if unit.directives[g.opener].keyword == "else"}


def _only_stops(unit: Unit, g: Group) -> bool:
    inner = unit.lexed.directives_in(g.start, g.end)
    if any(d.keyword != "error" for d in inner):
        return False
    stops = bool(inner)
    k, last = (bisect_left(unit.p, at) for at in (g.start, g.end))
    while k < last:
        if (d := unit.in_directive(k)) is not None:
            k = d.stop
            continue
        word = unit.t[k]
        if word not in _REFUSALS and word not in _BESIDE:
            return False
        if word == "assert":
            stops |= unit.tok(k + 2) in ("0", "false") or (unit.tok(k + 2) == "!" and unit.tok(k + 3)[:1] == '"')
        stops |= word in _REFUSALS and word != "assert"
        while k < last and unit.t[k] != ";":
            k += 1
        k += 1
    return stops


def _begins(before: str) -> bool:
    return before in ("", "(", "&&", "||", "!")


def _ends(after: str) -> bool:
    return after in ("", ")", "&&", "||", "?")


def _value(number: str) -> int:
    known = constants.literal(number)
    return 0 if known is None else known.value


def tested_defined(unit: Unit, i: int) -> bool:
    """Whether token i is asked for with `#ifdef`, `#ifndef` or `defined`."""
    d = unit.in_directive(i)
    if d is None:
        return False
    if d.keyword in ("ifdef", "ifndef", "elifdef", "elifndef"):
        return i == d.first + 2
    return unit.tok(i - 1) == "defined" or (unit.tok(i - 1) == "(" and unit.tok(i - 2) == "defined")
