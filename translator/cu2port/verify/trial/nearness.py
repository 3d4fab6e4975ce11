"""How near a condition came to its other way, as C++ that is evaluated beside it: for integers that are compared.

Only what may be evaluated twice: names, members, elements and arithmetic.
"""

from __future__ import annotations

from cu2port.facts.unit import Unit
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Binary, Cast, Expr, Index, Member, Name, Num, Paren, Unary, walk

_COMPARISONS = frozenset("< > <= >= == !=".split())
_NOWHERE = "0u"
_UNCHANGING = frozenset("! ~ - + *".split())
_LONGEST = 60  # tokens of a condition


def nearness(unit: Unit, first: int, stop: int) -> str:
    """Of the condition of tokens [first, stop); "" where nothing tells."""
    return _of(unit, read_expression(unit, first, stop)) if stop - first <= _LONGEST else ""


def _of(unit: Unit, e: Expr) -> str:
    if not all(isinstance(x, Paren) for x in e.around):
        return ""
    if isinstance(e, Unary) and e.op == "!":
        return _of(unit, e.x)
    if not isinstance(e, Binary) or not _is_pure(e):
        return ""
    if e.op in _COMPARISONS:
        return f"::cu2port_trial::cu2port_nearness({_source(unit, e.a)}, {_source(unit, e.b)})"
    if e.op not in ("&&", "||"):
        return ""
    behind = _of(unit, e.b)  # what decides where the left side does not
    left = _source(unit, e.a)
    return behind and (f"({left} ? {behind} : {_NOWHERE})" if e.op == "&&" else f"({left} ? {_NOWHERE} : {behind})")


def _is_pure(e: Expr) -> bool:
    return all(
        isinstance(x, (Num, Name, Member, Index, Binary)) or (isinstance(x, Unary) and x.op in _UNCHANGING)
        for x in walk(e)
    ) and all(isinstance(a, (Paren, Cast)) for x in walk(e) for a in x.around)


def _source(unit: Unit, e: Expr) -> str:
    """An expression's text in brackets and on one line."""
    first, last = tokens(e)
    words = (unit.t[i] + " " * (unit.end(i) < unit.p[i + 1]) for i in range(first, last))
    return f"({''.join(words)}{unit.t[last]})"
