"""Functions that are one asm statement and hand on PTX's carry flag: `unsigned add_cc(unsigned a, unsigned b)`.

They are used as macros are (`carry_macros.py`): such a function gets the flag as a parameter, and its callers, which
have one each, pass theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cu2port.core.model import Edit, insert
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.carry import Flow
from cu2port.ptx.carry_steps import UnclearError, statement_flow
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Scope
from cu2port.syntax.words import CONDITIONAL_OPERATORS, CONDITIONS

_ENDS = frozenset({";", "{", "}"})
_BRANCHES = CONDITIONS | CONDITIONAL_OPERATORS
_LABELS = frozenset({"else", "do", "case", "default", ":"})  # what is before a statement that is not always reached
_NOT_LAST = frozenset({"(", "=", "..."})  # in parameters that no other one can follow, or that are not understood
_OPEN_SCOPES = frozenset({"file", "namespace", "template"})


@dataclass(frozen=True, slots=True)
class CarryFunction:
    """A function, its statement, and what that does to the flag."""

    function: Function
    statement: AsmStatement
    flow: Flow


def carry_functions(unit: Unit, touching: Iterable[AsmStatement]) -> Mapping[str, tuple[CarryFunction, ...]]:
    """The functions of a file that are one statement and take or leave a carry, by name; none where no carry goes from
    one of them to another. `touching`: the statements that touch the flag."""
    touching = list(touching)
    in_functions: dict[int, tuple[Function, list[AsmStatement]]] = {}
    for s in touching:
        f = unit.function_at(s.keyword) if s.macro is None else None
        if f is not None:
            in_functions.setdefault(f.first, (f, []))[1].append(s)
    found: dict[str, list[CarryFunction]] = {}
    for f, listed in in_functions.values():
        one = _one_statement(unit, f, listed)
        if one is not None:
            found.setdefault(f.name, []).append(one)
    counts = [f.name for f in unit.functions if f.name in found]
    alike = {
        name: tuple(same)
        for name, same in found.items()
        if counts.count(name) == len(same) and len({(bool(x.flow.takes), x.flow.sets, x.flow.kinds) for x in same}) == 1
    }
    macros = {s.macro.name for s in touching if s.macro is not None}
    bodies = (x.function.body for same in alike.values() for x in same)
    if any(word in alike or word in macros for first, last in bodies for word in unit.t[first:last]):
        return {}  # one does more with the flag than its statement (`carry_calls.py`)
    flows = [x.flow for same in alike.values() for x in same]
    return alike if any(f.takes for f in flows) and any(f.leaves for f in flows) else {}


def _one_statement(unit: Unit, f: Function, listed: list[AsmStatement]) -> CarryFunction | None:
    first, last = f.body
    if len(listed) != 1 or not is_identifier(f.name) or "__global__" in f.sides:
        return None
    if any(unit.t[i] in ("{", "#") or unit.t[i] in _BRANCHES for i in range(first + 1, last)):
        return None
    if not takes_flag(unit, f):
        return None
    try:
        made = statement_flow(listed[0])
    except UnclearError:
        return None
    return CarryFunction(f, listed[0], made) if made.takes or made.leaves else None


def takes_flag(unit: Unit, f: Function) -> bool:
    """Whether a function may have one more parameter behind all others: it is no member of a class."""
    params = unit.t[f.params[0] + 1 : f.params[1]]
    if params == ["void"] or not _NOT_LAST.isdisjoint(params):
        return False
    scope: Scope | None = unit.declarations.scope_at(f.name_at)
    while scope is not None:
        if scope.kind not in _OPEN_SCOPES:
            return False
        scope = scope.parent
    return True


def with_flag(unit: Unit, brackets: tuple[int, int], text: str) -> Edit:
    """A parameter or an argument more, behind all others."""
    opener, close = brackets
    return insert(unit.end(close - 1), text if close == opener + 1 else f", {text}")


def statement_around(unit: Unit, i: int, block: tuple[int, ...]) -> tuple[int, bool, int]:
    """The first token of the statement that a call at token i is in, whether the call is always reached in it, and how
    many of the brackets around it are around the statement. Raises UnclearError in the head of a loop and in lambdas.
    """
    t = unit.t
    around = next((k for k, b in enumerate(block) if t[b] != "{"), len(block))
    if any(t[b] == "{" or t[b - 1] in ("for", "while") for b in block[around:]):
        raise UnclearError
    k = block[around] if around < len(block) else i
    while k > 0:
        d = unit.in_directive(k - 1)
        if d is not None:
            k = d.first
        elif t[k - 1] in _ENDS:
            break
        else:
            k = unit.match[k - 1] if t[k - 1] in (")", "]") and unit.match[k - 1] >= 0 else k - 1
    return k, not any(t[j] in _BRANCHES or t[j] in _LABELS for j in range(k, i)), around
