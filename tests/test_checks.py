"""Every check does what its examples say, and nothing when it runs again; the documentation shows the examples too."""

from __future__ import annotations

import pytest

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks, applicable, gates
from cu2port.core.files import HEADER_SUFFIXES, suffix
from cu2port.core.model import Judged, Options, Outcome
from cu2port.engine.check import Check, Example
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit

CASES = [
    pytest.param(check, example, id=f"{check.code}-{check.name}-{n}")
    for check in all_checks()
    for n, example in enumerate(check.examples)
]
#: Checks whose code depends on --rocm alone have no text that shows them under the default.
NO_HIT = {"CU104"}
#: Checks whose edits are whole directives, which are in no macro body or argument.
WHOLE_LINES = {"CU107", "CU115", "CU205", "CU212", "CU219", "CU266", "CU711"}


def _mine(check: Check, example: Example) -> list[Judged]:
    result = translate(example.before, example.options, path=example.path)
    return [j for j in result.findings if j.finding.code == check.code]


@pytest.mark.parametrize(("check", "example"), CASES)
def test_example(check: Check, example: Example) -> None:
    result = translate(example.before, example.options, path=example.path)
    mine = [j for j in result.findings if j.finding.code == check.code]
    if example.after is None:
        assert not mine, "a quiet example has findings"
    else:
        assert result.output.decode() == example.after
        assert mine, "no finding"
    assert not [j for j in result.findings if j.outcome is Outcome.CONFLICT], "two rules want the same text"
    if example.findings is not None:
        assert len(mine) == example.findings
    again = translate(result.output, example.options, path=example.path)
    assert again.output == result.output, "converting again changes it"


@pytest.mark.parametrize("check", all_checks(), ids=lambda c: c.code)
def test_a_check_shows_a_hit_a_quiet_case_and_macros(check: Check) -> None:
    hits = [e for e in check.examples if e.after is not None]
    assert check.page.strip()
    if check.code in NO_HIT:
        return
    assert hits
    assert any(e.after is None for e in check.examples)
    if check.code in WHOLE_LINES:
        return
    if any(j.finding.edits for e in hits for j in _mine(check, e)):
        notes = " ".join(e.note for e in check.examples)
        assert "in a macro body" in notes or check.code == "CU109"
        assert "as a macro's argument" in notes


def test_codes_and_names_are_well_formed() -> None:
    for check in all_checks():
        assert check.code[:2] == "CU"
        assert check.code[2:].isdigit()
        assert len(check.code) == 5
        assert check.name == check.name.lower()
        assert check.title.endswith((".", ":"))


@pytest.mark.parametrize("check", [c for c in all_checks() if c.triggers is not None], ids=lambda c: c.code)
def test_triggers_are_names(check: Check) -> None:
    assert check.triggers
    assert [w for w in check.triggers if not (w.isascii() and w.isidentifier())] == []


def test_a_check_that_is_not_applicable_finds_nothing() -> None:
    every = all_checks()
    for example in (e for c in every for e in c.examples):
        unit = Unit(example.before, load_catalog(), example.options, example.path)
        asked = applicable(unit)  # before the text is read by the lexer
        assert asked == [c for c in every if c in asked]
        for check in every:
            called = check in asked or not (check.modes is None or check.modes & example.options.modes)
            called |= check.of_headers and suffix(example.path) not in HEADER_SUFFIXES
            assert called or list(check.run(unit)) == [], (check.code, example.before)
        assert set(applicable(unit)) <= set(asked)


def test_modes_are_words_of_options() -> None:
    known = {"flag", "native", "solo", "ggl", "comments"}
    assert Options().modes == {"logical", "keep"}
    assert Options(warp="flag", launch="ggl", comments=True, kernels=(("k", "solo"),)).modes == known - {"native"}
    assert {m for c in all_checks() for m in c.modes or ()} == known


def test_what_decides_whether_a_check_is_called_is_that_of_its_class() -> None:
    assert [(g.code, g.triggers, g.modes, g.true_of_hip, g.of_headers) for g in gates()] == [
        (c.code, c.triggers, c.modes, c.true_of_hip, c.of_headers) for c in all_checks()
    ]
