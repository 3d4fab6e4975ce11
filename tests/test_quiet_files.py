"""Files without anything of CUDA's are not lexed, and what is told of a text before that is true of its tokens."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks, dependent_name
from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.facts import tokens
from cu2port.facts.structure import find_launches, may_be_in_macro, may_name_dependent
from cu2port.facts.tokens import Tokens
from cu2port.facts.unit import Unit
from cu2port.syntax.endings import is_orderly
from cu2port.syntax.lexer import GAP, Lexed, lex

WORDS = st.lists(
    st.sampled_from(
        "cudaFree if else endif include define pragma 32 1'000 0x1f .5e+x \xe9 $ \xb5s #if #endif #ifdef // /* */ ' \" "
        '\\\n \n u8 L R" ( ) { } ; <<< << < >>> :: ## %: warpSize __global__ \xef\xbb\xbf \xa0 \x85'.split(" ")
    ),
    max_size=30,
)
TEXTS = st.one_of(WORDS.map("".join), WORDS.map(" ".join), st.text(st.characters(max_codepoint=255), max_size=30))
PLAIN = """/* A reader of matrices. Don't ask "why". */
#ifndef MATRIX_H
#define MATRIX_H
#include <stdio.h>
#include "local.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#ifdef __cplusplus
extern "C" {
#endif
struct matrix { int rows, columns; double *values; };  // row by row
static int read(FILE *f, struct matrix *m) {
    char name[80] = "";
    if (fscanf(f, "%79s %d\\n", name, &m->rows) != 2 || name[0] == '#') return 1 << 3;
    for (int i = 0; i < m->rows; i++) m->values[i] *= MAX(i, 2) / 'a';
    return 0;
}
#ifdef __cplusplus
}
#endif
#endif
"""


@given(TEXTS)
@example("\xef\xbb\xbfcudaFree")
@example("1\xe9cudaFree cudaFree\xe9 32\xe9")
@example("0x1'cudaFree")
def test_a_word_that_is_a_token_may_be_held(text: str) -> None:
    vocabulary = Tokens(text).words
    places = lex(text).places
    assert all(vocabulary.isdisjoint((w,)) is False for w in places)
    fresh = Tokens(text)
    asked = frozenset({"cudaFree", "32", "warpSize", "<<<", "nothing"})
    assert fresh.words & asked == asked & places.keys() == asked & fresh.words
    assert Tokens(text).find("cudaFree") == places.get("cudaFree", [])
    assert Tokens(text).find("32", "<<<") == sorted(places.get("32", []) + places.get("<<<", []))
    assert set(Tokens(text).words) == places.keys()


@given(TEXTS)
def test_names_of_a_pattern_are_those_of_the_tokens(text: str) -> None:
    pattern = re.compile(r"cuda[A-Z]\w*|warp\w+\Z|_\w+")
    found = {w for w in lex(text).places if w[0] in "cw_" and pattern.match(w)}
    assert Tokens(text).names(pattern, "cw_") == found


@given(TEXTS)
@example("#if1\n#endif\n")
@example('"a"b')
@example("1'0\"'\"'")
@example("// a \\\n#if b\n")
@example("#define A \\\n#if\n#endif\n")
@example("\\\r\n#if\n#endif\n")
@example("/* \n */ #if a\n#endif\n")
@example("#/**/if a\n")
@example("'\"' /* ' */ \"/*\"")
def test_orderly_texts_have_no_loose_ends(text: str) -> None:
    if not is_orderly(text):
        return
    unit = Unit(text, load_catalog())
    assert unit.lexed.text is text  # from here on the lexer tells
    found = {c.code for c in all_checks() if c.code in ("CU224", "CU240") for _ in c.run(unit)}
    assert not found


@given(TEXTS)
def test_signs_of_macros_and_launches_are_seen_before_the_lexer(text: str) -> None:
    unit = Unit(text, load_catalog())
    for sign in ";#":
        inside = any(sign in unit.t[m.first : m.stop] for found in unit.macros.values() for m in found)
        assert may_be_in_macro(text, sign) or not inside
    if "<<<" not in text:
        assert all(x.spaced for x in find_launches(unit))


@pytest.mark.parametrize("path", ["matrix.c", "matrix.h"])
def test_a_file_without_cuda_is_never_lexed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(text: str) -> Lexed:
        frames = [f for f in traceback.extract_stack() if "cu2port" in Path(f.filename).parts]
        asked.append(" < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames)))
        return lex(text)

    monkeypatch.setattr(tokens, "lex", counted)
    result = translate(PLAIN, Options(), path=path)
    assert result.status == "copied" and not result.findings
    assert not asked, "ask `unit.words`, `unit.names` or the text before what takes the lexer"
    translate(PLAIN + "void f(void) { cudaFree(0); }\n", Options(), path=path)
    assert len(asked) == 1, "this test sees the lexer"


_PARTS = "T x A :: : ; { } ( * < > , = class typename using template /*c*/ //c\n \\\n \n".split(" ")
TEMPLATES = st.lists(st.sampled_from([*_PARTS, " "]), max_size=20)


@given(TEMPLATES.map("".join))
@example("void f() { T/*c*/::x y; }")
@example("void f() { T //c\n::x y; }")
@example("void f() { T\\\n::x y; }")
@example("void f() { T::x y; A ::z; }")
@example("typename T::x(); T::x(")
def test_what_may_depend_on_a_template_s_parameter_is_told_without_the_lexer(text: str) -> None:
    """A parameter before `::` with any gap between, and a type that is named by `typename` and made a value."""
    found = Tokens(f"template <class T> {text}")
    names = {found.t[i] for i in range(1, len(found.t)) if found.t[i - 1] in ("class", "typename")}
    before = {found.t[i - 1] for i in found.find("::")}
    parameters = {name for name in names if re.search(rf"(?:class|typename)\s+{re.escape(name)}\s*[,>=]", found.text)}
    if "T" in parameters & before:
        assert may_name_dependent(Unit(found.text, load_catalog()), re.compile(f"{GAP}::"))
    named = set(re.findall(r"\btypename\s+([A-Za-z_]\w*::\w+)", text))
    if any(m[1] in named for m in re.finditer(r"(?<![:\w])([A-Za-z_]\w*+::\w++)\s*+[({]", text)):
        assert dependent_name._may_make(text)
