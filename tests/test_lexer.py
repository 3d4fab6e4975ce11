"""The lexer loses nothing and finds what it must in ugly texts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cu2port.syntax.lexer import lex, split

#: Pieces out of which a C++ text goes wrong soonest.
NASTY = st.lists(
    st.sampled_from(
        [
            *"()[]{}<>#\"'\\/*\n\r\t ,;x0",
            '"',
            "//",
            "/*",
            "*/",
            'R"x(',
            ')x"',
            "\\\n",
            "\\\r\n",
            "<<<",
            ">>>",
            "%:",
            "<:",
            "<::",
            "#if 0\n",
            "#else\n",
            "#endif\n",
            "#define A(x) x##y\n",
            "u8",
            "L'",
            "1'000",
            ".5e+3",
            "\xe9",
            "\0",
            "operator()",
        ]
    ),
    max_size=60,
).map("".join)


@given(st.binary(max_size=300))
@example(b'R"(')
@example(b"'")
@example(b"/*")
@example(b"\\")
def test_any_bytes_rejoin(data: bytes) -> None:
    text = data.decode("latin-1")
    assert "".join(split(text)) == text


@given(NASTY)
def test_nasty_texts_rejoin_and_tokens_lie_where_they_say(text: str) -> None:
    assert "".join(split(text)) == text
    lexed = lex(text)
    for tok, at in zip(lexed.t, lexed.p, strict=True):
        assert text.startswith(tok, at)
    assert lexed.p == sorted(lexed.p)
    for i, j in enumerate(lexed.match):
        assert j == -1 or lexed.match[j] == i
    for d in lexed.directives:
        assert lexed.t[d.first] in ("#", "%:")
        assert 0 <= d.start <= d.end <= len(text)
    for g in lexed.groups:
        assert g.start <= g.end or g.start >= len(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a<b<int>>c", ["a", "<", "b", "<", "int", ">", ">", "c"]),
        ("k<<<g, b>>>(x)", ["k", "<<<", "g", ",", "b", ">", ">", ">", "(", "x", ")"]),
        ("x = 1'000'000u;", ["x", "=", "1'000'000u", ";"]),
        ("1.5e-3f+.5", ["1.5e-3f", "+", ".5"]),
        ('R"d(a"b)d" c', ['R"d(a"b)d"', "c"]),
        ('R"""({"a": 1})""" c', ['R"""({"a": 1})"""', "c"]),
        ('u8R"(x)" L"y"', ['u8R"(x)"', 'L"y"']),
        ("a // b \\\n c\nd", ["a", "d"]),
        ("a /* ** */ b", ["a", "b"]),
        ("#error don't stop\nx", ["#", "error", "don", "'", "t", "stop", "x"]),
        ("'a' '\\''", ["'a'", "'\\''"]),
        ("x<::y::z>", ["x", "<", "::", "y", "::", "z", ">"]),
        ("%:define A <% %>", ["%:", "define", "A", "<%", "%>"]),
        ('"unterminated\nnext', ['"unterminated', "next"]),
        ("a\\\nb", ["a", "b"]),
        ("p->*q .* r", ["p", "->*", "q", ".*", "r"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert lex(text).t == tokens


def test_directives_end_where_the_logical_line_ends() -> None:
    text = "#define A(x) \\\n  f(x) /* y\n */ g // z\nint b;\r\n  # if 1\r\n#endif"
    found = [(d.keyword, text[d.start : d.end]) for d in lex(text).directives]
    assert found == [
        ("define", "#define A(x) \\\n  f(x) /* y\n */ g // z"),
        ("if", "# if 1"),
        ("endif", "#endif"),
    ]


def test_a_hash_inside_a_line_is_no_directive() -> None:
    assert not lex("a # b\n/* x */ c # d").directives
    assert [d.keyword for d in lex("/* x */ # define A").directives] == ["define"]


def test_brackets_match_over_both_branches() -> None:
    lexed = lex("f(\n#if A\n x) {\n#else\n y) {\n#endif\n z; }")
    close = len(lexed.t) - 1
    assert lexed.t[close] == "}"
    assert lexed.t[lexed.match[close]] == "{"
    first = lexed.t.index("(")
    assert lexed.match[first] > first


def test_brackets_below_if_0_match_there_alone() -> None:
    lexed = lex("namespace n {\n#if 0\n} f() { // for an editor\n#endif\nint x;\n#if 0\n#else\n}\n#endif\n")
    opened, lone, inner, close = (i for i, tok in enumerate(lexed.t) if tok in "{}")
    assert (lexed.match[opened], lexed.match[lone], lexed.match[inner]) == (close, -1, -1)


def test_stray_closers_do_not_steal_partners() -> None:
    lexed = lex("{ ( ] }")
    assert lexed.match[0] == 3
    assert lexed.match[2] == -1


def test_nesting_depth_is_no_limit() -> None:
    depth = 10_000
    lexed = lex("(" * depth + ")" * depth)
    assert lexed.match[0] == 2 * depth - 1


def test_groups_tell_the_branches_of_a_conditional() -> None:
    text = "#if A\nx\n#elif B\ny\n#else\nz\n#endif\n"
    groups = lex(text).groups
    assert [text[g.start : g.end].strip() for g in groups] == ["x", "y", "z"]
    assert len({g.chain for g in groups}) == 1


def test_a_conditional_that_never_ends_reaches_to_the_end() -> None:
    text = "#if A\nx"
    (g,) = lex(text).groups
    assert text[g.start : g.end] == "\nx"
