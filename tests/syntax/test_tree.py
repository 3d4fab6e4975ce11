"""Syntax trees keep all of a text: extents nest and cover it, whatever it is, and reading takes linear time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.syntax.cursor import ALTERNATIVE
from cu2port.syntax.operands import (
    children,
    first_token,
    last_token,
    own_tokens,
    tokens,
)
from cu2port.syntax.statements import read_body, read_expression
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Eval,
    Expr,
    Index,
    Member,
    Other,
    Paren,
    Ternary,
    Unary,
    Unread,
    callee,
    expressions,
    heads,
    statements,
)

_WORDS = (
    "a b f T int float unsigned x y 0 1 32u 1.5f 'c' \"s\" ( ) ( ) [ ] { } < > < > , , ; . -> :: ? : + - * / % & | ^ "
    "! ~ && || == != <= << >> = += ++ -- static_cast static_cast<int>( (int) (T) (T*) f< return [&] sizeof "
    "sizeof(int) new delete throw and not operator f<<< "
    "template new std:: if for while do else asm case"
)
PIECES = (*_WORDS.split(), "\n#if X\n", "\n#else\n", "\n#endif\n", "[&](int i) {", "f<<<1, 2>>>(")
#: Tokens that stand between the parts of an expression, by its type; other types may have any.
_SIGNS = {
    Index: {"[", "]", ":>"},
    CallExpr: {"(", ")", "{", "}", "%>", ","},
    Ternary: {"?", ":"},
}


def _unit(text: str) -> Unit:
    return Unit(text, load_catalog())


def _all(e: Expr) -> Iterator[Expr]:
    yield e
    for x in children(e):
        yield from _all(x)


def _gaps(unit: Unit, e: Expr) -> list[str]:
    """The tokens of an expression itself, not of its parts."""
    first, last = own_tokens(e)
    out: list[int] = []
    for x in children(e):
        out += range(first, first_token(x))
        first = last_token(x) + 1
    return [unit.t[k] for k in (*out, *range(first, last + 1)) if unit.in_directive(k) is None]


def problems(unit: Unit, e: Expr) -> Iterator[str]:
    """What is wrong with the extents of an expression and all in it."""
    home = unit.in_directive(e.at)
    for x in _all(e):
        name = f"{type(x).__name__} at {x.at}"
        own = own_tokens(x)
        if own[0] <= own[1] and {*map(unit.in_directive, own)} != {home}:
            yield f"{name}: {own} begins or ends in a directive"
        if own[0] > own[1] + 1 or (own[0] > own[1] and not isinstance(x, Other)):
            yield f"{name} is empty: {own}"
        for y in children(x):
            if tokens(y)[0] < own[0] or tokens(y)[1] > own[1]:
                yield f"{name} {own} does not hold {type(y).__name__} {tokens(y)}"
        ends = [tokens(y) for y in children(x)]
        if any(a[1] >= b[0] for a, b in pairwise(ends)):
            yield f"{name}: parts overlap {ends}"
        for w in x.around:
            if own[0] <= own[1] and not (w.first <= own[0] and own[1] <= w.last):
                yield f"{name}: {w} does not hold {own}"
            if isinstance(w, Paren) and unit.match[w.first] not in (w.last, -1):
                yield f"{name}: {w}"
            own = (w.first, w.last)
        between = _gaps(unit, x)
        if isinstance(x, (Binary, Assign)) and "".join(ALTERNATIVE.get(w, w) for w in between) != x.op:
            yield f"{name}: {between} around {x.op}"
        if isinstance(x, Unary) and [ALTERNATIVE.get(w, w) for w in between] != [x.op.removeprefix("p")]:
            yield f"{name}: {between} beside {x.op}"
        if isinstance(x, Member) and between[:1] not in (["."], ["->"]):
            yield f"{name}: {between} before {x.name}"
        if not set(between) <= _SIGNS.get(type(x), set(between)):
            yield f"{name}: {between}"


TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)


@given(TEXTS)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_extents_nest_and_cover(text: str) -> None:
    unit = _unit(text)
    for s in statements(read_body(unit, 0, len(unit.t))):
        for e in heads(s):
            assert list(problems(unit, e)) == []
            assert -1 <= last_token(e) < len(unit.t)


@given(st.text(st.sampled_from("ab1(<[{}]>)*&,;:?=+-.\"' \n#\\/~!"), max_size=40))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_is_read(text: str) -> None:
    unit = _unit(text)
    for s in statements(read_body(unit, 0, len(unit.t))):
        for e in heads(s):
            assert list(problems(unit, e)) == []


def _shown(unit: Unit, e: Expr) -> str:
    """An expression with the kinds of what is around it."""
    out = unit.source(own_tokens(e)[0], own_tokens(e)[1] + 1)
    for w in e.around:
        kind = unit.source(w.type_first, w.type_stop) if isinstance(w, Cast) else ""
        out = f"{type(w).__name__}{':' if kind else ''}{kind}[{out}]"
    return out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("((a + b))", "Paren[Paren[a + b]]"),
        ("(const float *)(p + 1)", "Cast:const float *[Paren[p + 1]]"),
        ("(T)(float)(x)", "Cast:T[Cast:float[Paren[x]]]"),
        ("(f)(x)", "(f)(x)"),
        ("(int)-a.b[2]", "Cast:int[-a.b[2]]"),
        ("static_cast<std::vector<int>>(x)", "Cast:std::vector<int>[x]"),
        ("unsigned int(x)", "Cast:unsigned int[x]"),
        ("float{x}", "Cast:float[x]"),
        ("__int_as_float(x)", "Cast[x]"),
        ("(a ; b)", "Paren[a ; b]"),
        ("(a;)", "Paren[Unread[a]]"),
        ("f(a)(b)[c].d->e", "f(a)(b)[c].d->e"),
        ("a::b<c>::d<e>(f)", "a::b<c>::d<e>(f)"),
        ("::a", "::a"),
        ("p++", "p++"),
        ("[&](int i) { return i; }(3)", "[&](int i) { return i; }(3)"),
        ("{a, b}", "{a, b}"),
        ("(a, b)", "Paren[a, b]"),
        ("((sizeof(int)))", "Paren[Paren[sizeof(int)]]"),
        ("(k<1><<<a, b>>>(c))", "Paren[k<1><<<a, b>>>(c)]"),
    ],
)
def test_what_is_around_an_expression(text: str, shown: str) -> None:
    unit = _unit(text)
    assert _shown(unit, read_expression(unit, 0, len(unit.t))) == shown


def test_a_macro_without_a_semicolon_ends_before_what_follows() -> None:
    unit = _unit("void f() { CHECK k<<<g, 2 * n>>>(a); LAST x += 1; }")
    shown = [_shown(unit, s.expr) for s in statements(read_body(unit, 5, len(unit.t) - 1)) if isinstance(s, Eval)]
    assert shown == ["CHECK", "k<<<g, 2 * n>>>(a)", "LAST", "x += 1"]


def test_what_is_not_understood_is_kept_beside_an_argument() -> None:
    unit = _unit("f(a b, c)")
    e = read_expression(unit, 0, len(unit.t))
    assert isinstance(e, CallExpr)
    assert [_shown(unit, x) for x in e.args] == ["Unread[a]", "c"]
    assert isinstance(e.args[0].around[0], Unread)
    assert tokens(e.args[0]) == (2, 3)


@pytest.mark.parametrize("value", [" = f(x)", "(f(x))", "{f(x)}"])
def test_bound_names_are_declared(value: str) -> None:
    unit = _unit(f"const auto& [a, b]{value}; q[a] = f(x);")
    a, b, last = read_body(unit, 0, len(unit.t)).body
    assert isinstance(a, Decl) and isinstance(b, Decl) and isinstance(last, Eval)
    assert [(d.name, d.dims) for d in (a, b)] == [("a", ()), ("b", ())]
    assert [callee(x) for d in (a, b) for x in expressions(d) if isinstance(x, CallExpr)] == ["f"]
