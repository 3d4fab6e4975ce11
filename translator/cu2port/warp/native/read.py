"""What code says of lanes at a place of a function, by the forms of the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from cu2port.core.model import Edit
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import own_tokens
from cu2port.syntax.tree import Binary, CallExpr, Eval, Expr, If, Loop, Name, Num, Stmt, Unary, callee, walk
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.native.groups import group
from cu2port.warp.native.match import Bound, expression, matches, matches_statement, statement
from cu2port.warp.native.patterns import CONVERSIONS, FORMS, HUGE_LITERAL, IDENTITIES, WHO, WORDS, Form
from cu2port.warp.native.state import Kind, Proved, State
from cu2port.warp.native.types import casts, holds_threads, is_cast


class Found(NamedTuple):
    """Code that is a form. `bound`: what is in its holes and in those of forms inside; `edits`: what is rewritten."""

    bound: Mapping[str, Expr]
    edits: tuple[Edit, ...] = ()


_KINDS = {"tid": Kind.TID, "lane": Kind.LANE, "warp": Kind.WARP, "count": Kind.COUNT}
_MEANINGS = frozenset(f.means for f in FORMS)


@cache
def _forms(means: str, node: type) -> tuple[tuple[Form, Expr | Stmt], ...]:
    """The forms of a meaning that some kind of code may have."""
    own = (f for f in FORMS if f.means == means)
    rows = ((f, statement(f.cuda) if f.cuda.endswith(";") else expression(f.cuda)) for f in own)
    return tuple((f, p) for f, p in rows if isinstance(p, (node, Name)))


def read(s: State, e: Expr | Stmt, means: str) -> Found | None:
    """What code says that has a meaning; None if it has none."""
    around = () if isinstance(e, (Eval, If, Loop)) else casts(s.fn.unit, e)  # type: ignore[arg-type]  # an Expr
    if not all(holds_threads(x) for x in around):
        return None
    if isinstance(e, Name) and means in _KINDS and s.kind(e) is _KINDS[means]:
        return Found({means.upper(): e})
    where = "row" if not s.fn.rows else "plane" if not s.fn.deep else "deep"
    node: type = type(e)
    for form, p in _forms(means, node):
        if form.where in ("", where):
            ways = matches_statement(p, e) if isinstance(e, (Eval, If, Loop)) else matches(p, e)  # type: ignore[arg-type]  # an Expr
            for way in ways:
                if (got := _filled(s, form, e, way)) is not None:
                    return got
    return None


def _filled(s: State, form: Form, e: Expr | Stmt, way: Bound) -> Found | None:
    """What code says if what is in each hole may stand there."""
    bound: dict[str, Expr] = {}
    edits: tuple[Edit, ...] = ()
    for hole, x in way:
        if hole in bound and not s.fn.facts.same(x, bound[hole]) and hole.lower() not in _MEANINGS:
            return None
        if hole.lower() in _MEANINGS:
            inner = read(s, x, hole.lower())
            if inner is None:
                return None
            bound |= inner.bound
            edits += inner.edits
        elif hole in HOLES and not HOLES[hole](s, x):
            return None
        bound[hole] = bound.get(hole, x) if hole.lower() not in _MEANINGS else x
    if not form.place:
        return Found(bound, edits)
    span = _span(s, form, e, bound)
    if span is None:
        return None
    start, end = s.fn.unit.p[span[0]], s.fn.unit.end(span[1])
    inner_edits = edits if form.place != "ALL" else ()
    return Found(bound, (*inner_edits, Edit(start, end, (form.text.format(_size(s, bound)),))))


def _size(s: State, bound: Mapping[str, Expr]) -> str:
    """How many threads the warps are of that a form counts, as text."""
    few = bound.get("FEW")
    if few is not None:
        text = s.fn.unit.t[few.at]
        return f"{text} * 32" if isinstance(few, Name) else str((s.constant(few) or 0) * 32)
    return s.fn.unit.t[bound["MANY"].at] if "MANY" in bound else s.fn.threads


# --- places -----------------------------------------------------------------------------------------------------------


def _span(s: State, form: Form, e: Expr | Stmt, bound: Mapping[str, Expr]) -> tuple[int, int] | None:
    """The tokens that a form rewrites; None where they are not certain."""
    unit = s.fn.unit
    if form.place == "TAIL" and isinstance(e, Binary):
        return (e.at, e.b.at) if unit.tok(e.at - 1) != ")" else None
    if form.place != "ALL":
        at = bound[form.place].at
        return at, at
    return own_tokens(e) if isinstance(e, (Binary, CallExpr)) else None


# --- holes ------------------------------------------------------------------------------------------------------------


def _token(s: State, e: Expr) -> bool:
    return isinstance(e, Num) or (isinstance(e, Name) and not (e.qualified or e.targs))


def _is(value: int) -> Callable[[State, Expr], bool]:
    return lambda s, e: s.fn.facts.number(e) == value


def _one_token(value: int) -> Callable[[State, Expr], bool]:
    return lambda s, e: _token(s, e) and s.fn.facts.number(e) == value


def _many(s: State, e: Expr) -> bool:
    n = s.fn.facts.number(e) if _token(s, e) else None
    return n is not None and n > 0 and n % 64 == 0


def _few(s: State, e: Expr) -> bool:
    n = s.constant(e) if isinstance(e, (Num, Name)) else None
    return n is not None and 0 < n <= 32 and n % 2 == 0


def _up_to(most: int) -> Callable[[State, Expr], bool]:
    def small(s: State, e: Expr) -> bool:
        n = s.fn.facts.number(e)
        return n is not None and n <= most

    return small


def _index(which: str) -> Callable[[State, Expr], bool]:
    def is_index(s: State, e: Expr) -> bool:
        if not isinstance(e, CallExpr) or not isinstance(e.callee, Name) or e.callee.qualified:
            return False
        own = s.fn.look(e.callee.text) if e.callee.text not in s.env else None
        return isinstance(own, Proved) and own.index == which

    return is_index


#: What may be in a hole that is no form itself. Other holes take anything.
HOLES: dict[str, Callable[[State, Expr], bool]] = {
    "SIZE": _one_token(32),  # a warp's
    "LAST": _one_token(31),
    "FIVE": _one_token(5),
    "WIDE": _is(32),
    "TOP": _is(31),
    "ONE": lambda s, e: s.fn.facts.fold(e) == 1,
    "ZERO": lambda s, e: s.fn.facts.fold(e) == 0,
    "MANY": _many,  # threads, whole wavefronts
    "FEW": _few,  # warps, whole wavefronts
    "FRACTION": lambda s, e: isinstance(e, Num) and s.fn.unit.t[e.at] in ("32.f", "32.0f", "32.", "32.0"),
    "UP_TO_32": _up_to(32),
    "UP_TO_33": _up_to(33),
    "BLOCK": lambda s, e: group(s.fn.unit, s.fn.facts.number, e) == "block",
    "LANE_INDEX": _index("lane"),  # a function of the file that returns it
    "WARP_INDEX": _index("warp"),
    "PLAIN": lambda s, e: who(s, e) is None,
    "MASK": lambda s, e: s.fn.facts.full(e),
    "TILE": lambda s, e: s.kind(e) is Kind.TILE,
    "ARRAY": lambda s, e: isinstance(e, Name),
    "V": lambda s, e: isinstance(e, Name),
}


# --- identities -------------------------------------------------------------------------------------------------------


def is_identity(unit: Unit, op: str, e: Expr, typ: str) -> bool:
    """Whether a value changes nothing where it takes part in an operation on values of a type."""
    if op in ("max", "min", "and") and not {*casts(unit, e)} <= {typ, "float", "double"}:
        return False
    if isinstance(e, CallExpr) and len(e.args) == 1 and callee(e) in CONVERSIONS and isinstance(e.callee, Name):
        e = e.args[0]
    rows = (row for row in IDENTITIES if row.op == op and (not row.types or typ in row.types))
    ways = (way for row in rows for way in matches(expression(row.cuda), e))
    return any(all(_is_word(unit, hole, x) and (x is e or not is_cast(x)) for hole, x in way) for way in ways)


def _is_word(unit: Unit, hole: str, e: Expr) -> bool:
    """Whether an expression is one of a hole's words."""
    if isinstance(e, CallExpr):
        limits = "numeric_limits::" if "numeric_limits" in unit.t[max(0, e.at - 7) : e.at] else ""
        return not WORDS[hole].isdisjoint((callee(e), limits + callee(e)))
    text = unit.t[e.at] if isinstance(e, (Num, Name)) else ""
    return text in WORDS[hole] or (HUGE_LITERAL in WORDS[hole] and _is_huge(text))


def _is_huge(text: str) -> bool:
    """Whether a literal is one that no data reach."""
    m = re.fullmatch(r"(\d+\.?\d*[eE]\+?\d+)[fF]?", text)
    return m is not None and float(m[1]) >= float(HUGE_LITERAL)


def accept(s: State, found: Found) -> State:
    """With the text that a form rewrites."""
    return s.edit(*found.edits)


# --- questions --------------------------------------------------------------------------------------------------------


def who(s: State, e: Expr) -> tuple[str, Found] | None:
    """Who comes where a condition holds: "leader", "first", "slots", "thread"; None if lanes do not decide."""
    if not isinstance(e, (Binary, Unary)):
        return None
    for tag in WHO:
        if (got := read(s, e, tag)) is not None:
            return ("thread" if tag == "leader" and s.here.role == "first" else tag), got
    return None


def is_sure(s: State, e: Expr) -> bool:
    """Whether the first thread certainly comes where a condition lets nobody else in."""
    if isinstance(e, Binary) and e.op == "&&":
        return is_sure(s, e.a) and is_sure(s, e.b)
    return who(s, e) is not None or any(read(s, e, f"{axis}_zero") is not None for axis in "xyz")


def index_of(s: State) -> str:
    """Whether a function returns the "lane" or the "warp" and does nothing else; else ""."""
    body = s.fn.d.body.body
    value = getattr(body[0], "value", None) if len(body) == 1 and not s.fn.d.params else None
    if not isinstance(value, Binary):
        return ""
    return next((x for x in ("lane", "warp") if read(s, value, x) is not None), "")


def is_cudas(s: State, e: Expr) -> bool:
    """Whether all cross-lane operations in an expression are CUDA's."""
    calls = [x for x in walk(e) if isinstance(x, CallExpr) and callee(x) in LANE_OPERATIONS]
    return all(x.at in s.fn.facts.cudas for x in calls)
