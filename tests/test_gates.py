"""What a check asks of the text before the lexer is exact: where it says no, the check finds nothing with the lexer."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache

import pytest

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks, implicit_header, repeated_arguments
from cu2port.checks.float_math import FloatMath
from cu2port.checks.repeated_arguments import RepeatedArguments
from cu2port.checks.shared_constructor import SharedConstructor
from cu2port.core.model import Options
from cu2port.engine.check import Check
from cu2port.engine.translate import examine
from cu2port.facts import prefix_macros
from cu2port.facts.unit import Unit
from cu2port.syntax.endings import is_orderly
from cu2port.syntax.lexer import split

_ALWAYS = re.compile("")
# the module, its pattern, the rule, and what is in the texts that are tried
GATES = [
    ("checks.half_braces", "_MAY_ASSIGN", "CU241", r"\b(?:half|bfloat)"),
    ("checks.texture_reference", "_MAY_DECLARE", "CU208", r"texture|surface"),
    ("checks.template_operator", "_MAY_HAVE_FIELD", "CU242", r"operator"),
    ("checks.mixed_min_max", "_CALL", "CU214", r"\bm(?:in|ax)\b"),
    ("checks.token_paste", "_MAY_BEGIN", "CU109", r"##|%:"),
    ("checks.value_restrict", "_RESTRICT", "CU228", r"__restrict"),
    ("checks.host_decltype", "_CALL", "CU261", r"decltype|sizeof"),
    ("checks.stream_vector", "_OPERATOR", "CU258", r"istream"),
    ("checks.device_declval", "_CALL", "CU257", r"declval"),
    ("checks.kernel_string", "_SIGN", "CU217", r"\""),
    ("checks.dependent_template", "_NAMED", "CU232", r"template\b"),
    ("warp.uninitialized", "_MAY_BRANCH", "CU319", r"define[^\n]*;"),
]
_GAPS = ("", " ", "\n", "/*c*/", " \\\n", "// c\n")


@cache
def _texts() -> tuple[tuple[str, str, Options], ...]:
    found = {(e.before, e.path, e.options) for check in all_checks() for e in check.examples}
    return tuple(sorted(found, key=lambda x: x[:2]))


def _varied(text: str) -> Iterator[str]:
    """A text as it is, without one of its signs, and with other gaps."""
    yield text
    pieces = split(text)
    for gap in _GAPS:
        yield "".join(p if "#" in p or "\n" in p or not p.strip() else gap + p.strip() for p in pieces)
    for sign in "={<(.,":
        yield text.replace(sign, " ")


@pytest.mark.parametrize(("module", "name", "code", "seed"), GATES, ids=[g[0] for g in GATES])
def test_a_gate_keeps_no_finding_away(
    module: str, name: str, code: str, seed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = importlib.import_module(f"cu2port.{module}")
    tried = 0
    for text, path, options in _texts():
        for varied in _varied(text) if re.search(seed, text) else ():
            closed = list(examine(varied, options, path=path, codes=frozenset({code})).findings)
            with monkeypatch.context() as patch:
                patch.setattr(gate, name, _ALWAYS)
                opened = list(examine(varied, options, path=path, codes=frozenset({code})).findings)
            assert closed == opened, varied
            tried += 1
    assert tried > 20


def test_texts_with_plain_strings_are_orderly() -> None:
    assert is_orderly('f("ERROR", "%: %d", R, a % b);\n// R" %:\n')
    assert not any(map(is_orderly, ('R"(a)"', 'u8R"(a)"', "%:if a\n%:endif\n", 'AR"s"')))


def test_all_names_that_change_are_active() -> None:
    """`TokenPaste` asks for these alone."""
    catalog = load_catalog()
    changed = (n for n in catalog.names if (row := catalog.get(n)) is not None and row.hip != row.cuda)
    assert all(n in catalog.active for n in changed if n.isidentifier())


@pytest.mark.parametrize(
    "text", ['#include "a.h"\n x #include "b.h"\n\t# include <c>\n/**/#include <d> #include <e>\n', ""]
)
def test_includes_of_other_files_begin_their_line(text: str) -> None:
    plain = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\r\n]+)[>"]', re.M)
    assert list(implicit_header._includes(text)) == plain.findall(text)


@pytest.mark.parametrize("variable", ["float x[32];", "const unsigned int x;", "volatile double *x;"])
def test_a_shared_variable_of_a_built_in_type_needs_no_declarations(variable: str) -> None:
    unit = Unit(f"__global__ void k() {{ __shared__ {variable} }}\n", load_catalog())
    assert not list(SharedConstructor().run(unit))
    assert "declarations" not in vars(unit)


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (FloatMath(), "__global__ void k(float* p) { float j0 = p[0], y1 = 2; p[1] = j0 * y1; }\n"),
        (RepeatedArguments(), "template <class T> T f(T x) { if (g<T>(x)) return h<T>(x) + 1; k<T>(x); return x; }\n"),
    ],
    ids=["FloatMath", "RepeatedArguments"],
)
def test_what_is_no_call_and_no_definition_needs_no_declarations(check: Check, text: str) -> None:
    unit = Unit(text, load_catalog())
    assert not list(check.run(unit))
    assert "declarations" not in vars(unit)


def test_a_definition_is_told_from_a_call_by_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [v for text, _, _ in _texts() if "template" in text for v in _varied(text)]
    closed = [list(RepeatedArguments().run(Unit(v, load_catalog()))) for v in texts]
    assert sum(map(bool, closed)) > 5
    monkeypatch.setattr(repeated_arguments, "BEHIND_CALLS", frozenset())
    assert [list(RepeatedArguments().run(Unit(v, load_catalog()))) for v in texts] == closed


def test_a_shared_variable_of_a_class_has_its_own_function_read_alone() -> None:
    others = "".join(f"__device__ float f{k}() {{ float x, shared = 1; return shared; }}\n" for k in range(9))
    unit = Unit(f"struct P {{ int a; }};\n{others}__global__ void k() {{ __shared__ P shared; }}\n", load_catalog())
    assert not list(SharedConstructor().run(unit))
    functions = [s for s in unit.declarations.file.children if s.kind == "function"]
    assert len(functions) == 10
    assert sum("shared" in inner.names for s in functions for inner in (s, *s.children)) == 1
    assert not any("x" in inner.names for s in functions for inner in (s, *s.children))


@pytest.mark.parametrize("word", ["cuda", "Cu", "CU", "cU_1", "xcuda", "c", "é", "écu", "cué", "u", "", "cu-", "cu "])
@pytest.mark.parametrize("gap", ["", " ", "\t ", "\n", "/**/"])
@pytest.mark.parametrize("before", ["", " ", "##", "a", "-", "ª"])
def test_words_that_are_pasted_are_seen_as_a_pattern_sees_them(word: str, gap: str, before: str) -> None:
    text = f"#define F(x) {before}{word}{gap}##x"
    found = re.search(r"\b[cC][uU]\w*[ \t]*##", text) is not None
    assert prefix_macros._may_paste(text) is found
