"""What is around a token: the expressions that it is a part of, from the smallest one to its whole statement.

Only the statement that holds the token is read, so this is cheap where few tokens are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from cu2port.core.late import dataclass
from cu2port.syntax.lexer import Directive
from cu2port.syntax.operands import children, tokens
from cu2port.syntax.source import Source
from cu2port.syntax.statements import Parser
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    Eval,
    Expr,
    Index,
    Member,
    Stmt,
    Switch,
    Unary,
    heads,
    statements,
)
from cu2port.syntax.words import CONDITIONS

_MOST_SEMICOLONS = 3  # that the head of a `for` has before a token, and one more
_Kind = Literal["statement", "condition", "brackets"]
_LONGEST = 500  # tokens of a statement, to each side
_SHORT = 32  # steps of a walk that is not worth keeping


def around(source: Source, i: int) -> tuple[Expr, ...]:
    """The expressions that token i is a part of, the smallest first; () where the statement is not understood, or the
    token belongs to a type, to a name that is declared, or to a keyword."""
    found = head_around(source, i)
    path = [*_path(found[1], i)] if found is not None else []
    while path and not tokens(path[-1])[0] <= i <= tokens(path[-1])[1]:
        path.pop()
    return tuple(reversed(path))


def is_statement(source: Source, i: int) -> bool:
    """Whether the whole expression around token i is a statement by itself, and no condition, value or initialiser."""
    found = head_around(source, i)
    return found is None or isinstance(found[0], Eval)


def head_around(source: Source, i: int) -> tuple[Stmt, Expr] | None:
    """The statement and the whole expression of it that token i is a part of."""
    for s in statements(statement_around(source, i)):
        for head in heads(s):
            first, last = tokens(head)
            if first <= i <= last:
                return s, head
    return None


def use(path: tuple[Expr, ...]) -> tuple[Expr, Expr] | None:
    """The object that a path begins in, with its members and elements, and the expression around it; None if there is
    none: `a.b[i]` and `&a.b[i]`, for the path of `a`."""
    for inner, outer in pairwise(path):
        if not (isinstance(outer, (Member, Index)) and outer.base is inner):
            return inner, outer
    return None


def is_changed(path: tuple[Expr, ...]) -> bool:
    """Whether the object that a path begins in may get another value there: it is assigned to, counted up or down, read
    from a stream, or its address is taken."""
    inner, outer = use(path) or (None, None)
    if isinstance(outer, Unary):
        return outer.op in ("&", "++", "--", "p++", "p--")
    return (isinstance(outer, Assign) and outer.target is inner) or (
        isinstance(outer, Binary) and outer.op == ">>" and outer.b is inner
    )


def _path(e: Expr, i: int) -> Iterator[Expr]:
    """The expressions around token i, the whole one first."""
    inner: Expr | None = e
    while inner is not None:
        yield inner
        # the operands of a long run are told by their side: their extents take as long as the run
        if isinstance(inner, Binary):
            inner = inner.a if i < inner.at else inner.b if i > inner.at else None
        else:
            inner = next((x for x in children(inner) if tokens(x)[0] <= i <= tokens(x)[1]), None)


def statement_around(source: Source, i: int) -> Stmt | None:
    """The statement that holds token i; the condition of an `if`, `while` or `switch` and of a directive by itself.
    None where there is none, or it is too long."""
    first, stop, kind = _extent(source, i)
    return _read(source, first, stop, kind) if first <= i < stop else None


@lru_cache(maxsize=16)
def _read(source: Source, first: int, stop: int, kind: _Kind) -> Stmt:
    """The statement of tokens [first, stop). Those next to one another are asked for one after the other."""
    parser = Parser(source, first, stop)
    if kind == "statement":
        return parser.block(stop)
    return Switch(first, parser.bracketed(stop) if kind == "brackets" else parser.expr(stop), Block(first, ()))


@dataclass(frozen=True, slots=True)
class _Walks:
    """What long walks found, by the tokens that they passed: the next walk ends where it meets one of them, so that to
    ask for each token of a long statement takes as long as one walk."""

    begins: dict[int, tuple[int, int, int]]  # what `_begin` tells
    ends: dict[int, dict[int, int]]  # by the end of the text that was walked: the end of the statement


@lru_cache(maxsize=2)
def _walks(source: Source) -> _Walks:
    return _Walks({}, {})


def _extent(source: Source, i: int) -> tuple[int, int, _Kind]:
    """Tokens [first, stop) of the statement around token i, of the condition of a directive, or of that of a control
    statement with its brackets; none if it is too long."""
    t, match = source.t, source.match
    d = source.lexed.directive_at(i)
    low, high = (0, len(t)) if d is None else _body(source, d)
    if d is not None and d.keyword in ("if", "elif"):
        return low, high, "condition"
    first, opener, brace = _begin(source, i, low)
    if opener >= 0 and t[opener - 1] != "for" and ";" not in t[opener : match[opener]]:
        return opener, match[opener] + 1, "brackets"
    end = match[brace] if brace >= 0 else -1
    stop = _end(source, max(i, end + 1), high)
    stop = min(max(stop, match[opener] if opener >= 0 else 0) + 1, high)
    is_long = stop - i > _LONGEST or i - first > _LONGEST
    return (i, i, "statement") if is_long else (first, stop, "statement")


def _end(source: Source, i: int, high: int) -> int:
    """The end of the statement around token i, within tokens [i, high): its `;`, or the end of the block around it."""
    t, match = source.t, source.match
    known = _walks(source).ends.setdefault(high, {})
    passed = []
    stop = i
    while stop < high and t[stop] not in (";", "}"):
        if stop in known:
            stop = known[stop]
            break
        passed.append(stop)
        stop = match[stop] + 1 if t[stop] in ("(", "[", "{") and match[stop] > stop else stop + 1
    if len(passed) > _SHORT:
        known.update(dict.fromkeys(passed, stop))
    return stop


def _body(source: Source, d: Directive) -> tuple[int, int]:
    """What a directive is about: the condition of `#if`, the body of a macro."""
    if d.keyword == "define" and d.first + 2 < d.stop:
        for m in source.macros.get(source.t[d.first + 2], ()):
            if d.first <= m.first <= d.stop == m.stop:
                return m.first, m.stop
    return d.first + 2, d.stop


def _begin(source: Source, i: int, low: int) -> tuple[int, int, int]:
    """Where the statement around token i begins; the bracket of the control statement that it is the head of; the
    outermost brace of initialisers around it. -1 for what there is not."""
    begins = _walks(source).begins
    passed: list[int] = []
    first, opener, brace = _walk_back(source, i, low, begins, passed)
    if len(passed) > _SHORT:
        for k in passed:
            begins[k] = (first, opener, brace if k >= brace else -1)
    return first, opener, brace


def _walk_back(
    source: Source, i: int, low: int, known: Mapping[int, tuple[int, int, int]], passed: list[int]
) -> tuple[int, int, int]:
    """What `_begin` tells. `passed` gets the tokens of the statement itself."""
    t, match, lexed = source.t, source.match, source.lexed
    edge = low  # no directive begins between it and token k
    if lexed.directive_index(i) < 0:
        edge = max(low, lexed.after_directives(i))
    found = -1  # after a `;`, if this is not the head of a `for`
    semicolons = 0
    brace = -1
    k = i - 1
    while k >= low:
        if k < edge:
            d = lexed.directive_at(k)
            if d is not None:
                k = d.first - 1
                continue
            edge = max(low, lexed.after_directives(k))
        if found < 0:
            if k in known:
                first, opener, outer = known[k]
                return first, opener, outer if outer >= 0 else brace
            passed.append(k)
        tok = t[k]
        if tok in (")", "]") and low <= match[k] < k:
            k = match[k] - 1
            continue
        if tok == "(" and k > low and t[k - 1] in CONDITIONS:
            return k - 1, k, brace
        if tok == ";":
            found = found if found >= 0 else k + 1
            semicolons += 1
        if tok == "{" and found < 0 and _initialises(t, k, low):
            brace = k
        elif tok in ("{", "}") or semicolons == _MOST_SEMICOLONS or (tok == "(" and found >= 0):
            break
        k -= 1
    return (found if found >= 0 else k + 1), -1, brace


def _initialises(t: list[str], k: int, low: int) -> bool:
    """Whether the brace at token k begins a list of values, and no block."""
    while k > low and t[k] == "{":
        k -= 1
    return t[k] in ("=", ",", "(", "return")
