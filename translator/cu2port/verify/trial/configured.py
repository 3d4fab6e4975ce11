"""What a build must define so that a kernel is there: `#ifdef GRAVITY` around it, which no file defines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from cu2port.facts.unit import Unit
from cu2port.syntax.conditions import ONE, UNDEFINED, UNKNOWN, Macro, truth
from cu2port.syntax.lexer import is_identifier

_COMPILERS = re.compile(
    r"__(?:CUDA|NV|HIP|GNU|INTEL|SIZEOF|STD|STRICT|cpl|cpp|clang|x86|amd|aarch|arm|linux|unix)|_[A-Z]"
)


def assumed(unit: Unit, offset: int, known: Set[str]) -> tuple[str, ...]:
    """The macros without which the branches of `#if` around a place are left out, and with which they are not.

    `known`: macros that files of the program define; names that begin with two underscores are the compiler's.
    """
    found = (
        x for g in unit.groups if g.start <= offset < g.end and g.opener == g.chain[0] for x in _asked(unit, g.opener)
    )
    return tuple(dict.fromkeys(x for x in found if x not in known and not x.startswith("__")))


def is_left_out(unit: Unit, offset: int, program: Sequence[Unit]) -> bool:
    """Whether a branch of `#if` around a place needs a macro that no file of the program defines, nor a compiler."""
    asked = (x for g in unit.conditions(offset) if g.opener == g.chain[0] for x in _asked(unit, g.opener))
    return any(not _COMPILERS.match(x) and not any(x in u.macros for u in program) for x in asked)


def _asked(unit: Unit, opener: int) -> Iterator[str]:
    d = unit.directives[opener]
    words = unit.t[d.first + 2 : d.stop]
    if d.keyword == "ifdef":
        yield from words[:1]
    if d.keyword != "if":
        return
    names = {x for x in words if is_identifier(x) and x != "defined"}

    def lookup(value: Macro) -> bool | None:
        return truth(words, lambda x: value if x in names else UNKNOWN)

    if lookup(ONE) is True and lookup(UNDEFINED) is False:
        yield from (x for x in words if x in names)
