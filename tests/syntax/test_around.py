"""The expressions around a token, read from its statement alone, are those of the whole body's tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, is_changed, is_statement, statement_around, use
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Expr, heads, statements
from cu2port.verify.reach import read

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "samples").glob("*/*.cu"))


def whole(e: Expr, unit: Unit) -> str:
    first, last = tokens(e)
    return " ".join(unit.t[first : last + 1])


def path_of(text: str, name: str = "x", nth: int = 0) -> list[str]:
    unit = read(text, "a.cu")
    return [whole(e, unit) for e in around(unit, unit.find(name)[nth])]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.parent.name)
def test_it_is_what_the_whole_body_tells(path: Path) -> None:
    unit = read(path.read_bytes().decode("latin-1"), str(path))
    for f in unit.functions:
        for s in statements(read_body(unit, f.body[0] + 1, f.body[1])):
            for head in heads(s):
                first, last = tokens(head)
                for i in range(first, last + 1):
                    found = around(unit, i)
                    assert all(tokens(e)[0] <= i <= tokens(e)[1] for e in found)
                    if "{" not in unit.t[first:last]:  # a lambda has statements of its own
                        assert found
                        assert whole(found[-1], unit) == whole(head, unit)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f() { a = b + x.c[1] * 2; }", ["x", "x . c", "x . c [ 1 ]", "x . c [ 1 ] * 2", "b + x . c [ 1 ] * 2",
                                              "a = b + x . c [ 1 ] * 2"]),
        ("void f() { if (a < (x)) b = c; }", ["( x )", "a < ( x )"]),
        ("void f() { for (int i = 0; i < x; i++) a[i] = 0; }", ["x", "i < x"]),
        ("void f() { for (int i = 0; i < n; i += x) a[i] = 0; }", ["x", "i += x"]),
        ("void f() { for (;;) { } int b = x; }", ["x"]),
        ("void f() { switch (a) { case 1: b = -x; } }", ["x", "- x", "b = - x"]),
        ("#if A && defined(x)\n#endif", ["x", "defined ( x )", "A && defined ( x )"]),
        ("#if A && !defined x\n#endif", ["x", "defined x", "! defined x", "A && ! defined x"]),
        ("#define M(a) (a + x)\nint b;", ["x", "( a + x )"]),
        ("void f() {\n a = b\n#if C\n + x\n#endif\n ; }", ["x", "b # if C + x", "a = b # if C + x"]),
        ("struct x { }; int y;", []),
        ("void f() { k << <x, 2>> > (a); }", ["x", "k << < x , 2 > > > ( a )"]),
        ("int a = 3, b[x + 1];", ["x", "x + 1"]),
    ],
)  # fmt: skip
def test_paths(text: str, expected: list[str]) -> None:
    assert path_of(text) == expected


def test_a_long_statement_is_left() -> None:
    assert path_of("int a = " + "1 + " * 3000 + "x;") == []


@pytest.mark.parametrize("change", "x = 1; x.a[2] += 1; ++x; x--; cin >> x; g(&x);".split("; "))
def test_changes(change: str) -> None:
    unit = read(f"void f() {{ {change.rstrip(';')}; }}", "a.cu")
    assert is_changed(around(unit, unit.find("x")[0]))


@pytest.mark.parametrize("use_", "y = x; x == 1; g(x); a[x] = 1; -x; x >> 1; return x".split("; "))
def test_no_changes(use_: str) -> None:
    unit = read(f"void f() {{ {use_}; }}", "a.cu")
    assert not is_changed(around(unit, unit.find("x")[0]))


def test_the_object_and_what_is_around_it() -> None:
    unit = read("void f() { a = -x.b[1]; x; }", "a.cu")
    first, second = unit.find("x")
    inner, outer = use(around(unit, first)) or (None, None)
    assert inner is not None and outer is not None
    assert (whole(inner, unit), whole(outer, unit)) == ("x . b [ 1 ]", "- x . b [ 1 ]")
    assert use(around(unit, second)) is None
    assert is_statement(unit, second)
    assert is_statement(unit, first)
    unit = read("int f() { if (x) return x; }", "a.cu")
    assert not any(is_statement(unit, i) for i in unit.find("x"))


def test_each_token_of_a_long_statement_has_the_same_extent() -> None:
    """What an earlier walk found is what a walk of its own finds, in any order."""
    text = (
        "#define M(a) (" + "a + " * 60 + "x)\n"
        "void f() {\n int y = 0;\n for (int i = 0; i < n; ++i) { g(a, " + "{1, x}, " * 40 + "h(x), x + 1); }\n"
        "#if C\n z = " + "x + " * 60 + "1;\n#endif\n return x; }\n"
    )
    alone = []
    for i in range(len(read(text, "a.cu").t)):
        unit = read(text, "a.cu")
        alone.append(str(statement_around(unit, i)))
    for order in (1, -1):
        unit = read(text, "a.cu")
        found = {i: str(statement_around(unit, i)) for i in range(len(alone))[::order]}
        assert [found[i] for i in range(len(alone))] == alone
