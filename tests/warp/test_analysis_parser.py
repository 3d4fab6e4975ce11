"""The tolerant parser: shapes it must tell apart, and that nothing makes it fail."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.statements import read_body, read_expression
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Jump,
    Lambda,
    Loop,
    Member,
    Name,
    Num,
    Operator,
    Other,
    Ternary,
    Unary,
)
from cu2port.warp.analyse import analyse
from cu2port.warp.classify import classify
from cu2port.warp.hazards import hazards
from cu2port.warp.lockstep import tails


def _unit(text: str) -> Unit:
    return Unit(text, load_catalog(), path="a.cu")


def _expr(text: str) -> Expr:
    unit = _unit(text)
    return read_expression(unit, 0, len(unit.t))


def _body(text: str) -> Block:
    unit = _unit(text)
    return read_body(unit, 0, len(unit.t))


def _shown(e: Expr) -> str:
    """An expression with all brackets."""
    if isinstance(e, Num):
        return str(e.value)
    if isinstance(e, Name):
        return e.text + (f"<{', '.join(map(_shown, e.targs))}>" if e.targs else "")
    if isinstance(e, Binary):
        return f"({_shown(e.a)} {e.op} {_shown(e.b)})"
    if isinstance(e, Unary):
        return f"({e.op} {_shown(e.x)})"
    if isinstance(e, CallExpr):
        return f"{_shown(e.callee)}({', '.join(map(_shown, e.args))})"
    if isinstance(e, Index):
        return f"{_shown(e.base)}[{_shown(e.inner)}]"
    if isinstance(e, Member):
        return f"{_shown(e.base)}.{e.name}"
    if isinstance(e, Ternary):
        return f"({_shown(e.cond)} ? {_shown(e.a)} : {_shown(e.b)})"
    if isinstance(e, Operator):
        return e.word
    if isinstance(e, Assign):
        return f"({_shown(e.target)} {e.op} {_shown(e.value)})"
    if isinstance(e, Other):
        return f"?{'{' + ', '.join(map(_shown, e.parts)) + '}' if e.parts else ''}"
    return "lambda"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a + b * c >> 5 & 31", "(((a + (b * c)) >> 5) & 31)"),
        ("a = b ? c : d + 1", "(a = (b ? c : (d + 1)))"),
        ("threadIdx.x / 32u", "(threadIdx.x / 32)"),
        ("(int)threadIdx.x % 0x20", "(threadIdx.x % 32)"),
        ("(unsigned)(a) & 31", "(a & 31)"),
        ("(a) & 31", "(a & 31)"),
        ("static_cast<int>(a) - 1", "(a - 1)"),
        ("f<32>(a, g(b))[i].x", "f<32>(a, g(b))[i].x"),
        ("i < n && n > (m)", "((i < n) && (n > m))"),
        ("cg::tiled_partition<32>(cg::this_thread_block())", "tiled_partition<32>(this_thread_block())"),
        ("p->q->r(1)", "p.q.r(1)"),
        ("*p++ - -a", "((* (p++ p)) - (- a))"),
        ("x >> 5 > 3", "((x >> 5) > 3)"),
        ("!a || ~b", "((! a) || (~ b))"),
        ("not a or compl b and c", "((! a) || ((~ b) && c))"),
        ("x < y >> 5", "(x < (y >> 5))"),
        ("f(g<T, 4>, a < b, c > d)", "f(g<T, 4>, (a < b), (c > d))"),
        ("c ? k<T, 1> : k<T, 2>", "(c ? k<T, 1> : k<T, 2>)"),
        ("is_same_v<T, f<2>> && a", "(is_same_v<T, f<2>> && a)"),
        ("a.template operator()<T>(x)", "a.operator(x)"),
        ("int(t) % 32", "(t % 32)"),
        ("1'000 + 0b11 + 017", "((1000 + 3) + 15)"),
        ("sizeof(x) * 32", "(sizeof * 32)"),
    ],
)
def test_expressions(text: str, shown: str) -> None:
    assert _shown(_expr(text)) == shown


def test_declarations_are_told_from_expressions() -> None:
    body = _body(
        "const unsigned int a = 1, *b = p; float4 v[4][8]; T<int, 3>::type c(x); a * b; f(a); volatile int *s;"
    )
    kinds = [(type(s).__name__, getattr(s, "name", "")) for s in body.body]
    assert kinds == [("Decl", n) for n in ("a", "b", "v", "c", "b")] + [("Eval", ""), ("Decl", "s")]
    v = body.body[2]
    assert isinstance(v, Decl)
    assert len(v.dims) == 2


def test_statements() -> None:
    body = _body(
        "if (a) b(); else if (c) { d(); } for (int i = 0; i < 4; i++, j--) e(); do { f(); } while (g); return h;"
    )
    assert [type(s) for s in body.body] == [If, Loop, Loop, Jump]
    first = body.body[0]
    assert isinstance(first, If)
    assert isinstance(first.other, If)


def test_macros_without_a_semicolon_do_not_swallow_the_next_statement() -> None:
    body = _body("UNROLL for (;;) a(); CHECK(b) c = 1; PRAGMA() if (d) e();")
    assert [type(s) for s in body.body] == [Eval, Loop, Eval, Eval, Eval, If]


def test_both_sides_of_a_conditional_are_read() -> None:
    body = _body("a();\n#if X\nb();\n#else\nc();\n#endif\nd();")
    calls = [s.expr for s in body.body if isinstance(s, Eval) and isinstance(s.expr, CallExpr)]
    assert [c.callee.text for c in calls if isinstance(c.callee, Name)] == ["a", "b", "c", "d"]
    assert len(body.body) == 4


def test_a_lambda_has_a_body() -> None:
    e = _expr("[=] __device__ (int i) mutable -> int { return i; }")
    assert isinstance(e, Lambda)
    assert [p.name for p in e.params] == ["i"]


@pytest.mark.parametrize(
    ("token", "value"),
    [("32u", 32), ("0x1F", 31), ("5ULL", 5), ("1e3", None), ("1.0f", None), ("010", 8), ("08", None), ("x", None)],
)
def test_integers(token: str, value: int | None) -> None:
    assert integer(token) == value


_PIECES = st.sampled_from(
    "{ } ( ) [ ] ; , < > >> << <<< >>> = += == && || ! ~ * & . -> :: ? : if else for while do switch case return break "
    'int float const volatile __shared__ __global__ void k template typename struct asm "bar.sync 1;" threadIdx . x '
    "32 31 5 warpSize lane tid s [ tid ] __syncthreads ( ) __shfl_sync ( 0xffffffff , v , 0 ) atomicCAS ( l , 0 , 1 ) "
    "\n#if\n \n#else\n \n#endif\n \n#define\\ M(a) \\".split(" ")
)


@given(st.lists(_PIECES, max_size=60))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_nothing_makes_the_analysis_fail(pieces: list[str]) -> None:
    for text in (
        " ".join(pieces),
        "__global__ void k(int *l, int v) { int tid = threadIdx.x; " + " ".join(pieces) + " }",
    ):
        unit = _unit(text)
        for only in (False, True):
            facts = analyse(unit, hazards_only=only)
            hazards(facts)
            list(tails(unit, facts))
        classify(unit)


def test_deep_nesting_ends() -> None:
    for text in ("(" * 3000 + "1" + ")" * 3000, "{" * 3000 + "}" * 3000, "a[" * 2000 + "]" * 2000, "!" * 5000 + "a"):
        unit = _unit("__global__ void k() { int lane = threadIdx.x & 31; while (atomicCAS(" + text + ")); }")
        hazards(analyse(unit))


def test_recursion_between_functions_ends() -> None:
    unit = _unit(
        "__device__ int a(int n) { return n ? b(n - 1) : threadIdx.x & 31; }\n"
        "__device__ int b(int n) { return n ? a(n - 1) : 0; }\n"
        "#define M(x) N(x)\n#define N(x) M(x)\n__global__ void k() { a(3) + M(32); }\n"
    )
    assert [v.lanes for v in classify(unit) if unit.t[v.at] == "31"] == [True]
