"""Edits: all of a finding or none, in any order, nested where the outer one keeps the bytes."""

from __future__ import annotations

import dataclasses
import random

from hypothesis import given
from hypothesis import strategies as st

from cu2port.core.edits import _compatible, _fits, apply, judge
from cu2port.core.model import Edit, Finding, Outcome, Severity, Side, Span, Trust, insert, replace

TEXT = "0123456789"


def finding(*edits: Edit, trust: Trust = Trust.EXACT, at: int = 0) -> Finding:
    start = min((e.start for e in edits), default=at)
    end = max((e.end for e in edits), default=at)
    return Finding("CU000", "test", Severity.WARNING, "m", start, end, edits=edits, trust=trust)


def run(*findings: Finding, minimum: Trust = Trust.REVIEW) -> tuple[str, list[Outcome]]:
    judged, edits = judge(findings, minimum)
    return apply(TEXT, edits), [j.outcome for j in judged]


def test_replacements_and_insertions() -> None:
    assert run(finding(replace(2, 4, "ab")), finding(insert(0, "<"), insert(10, ">", Side.LEFT)))[0] == "<01ab456789>"


def test_identical_edits_merge() -> None:
    a = finding(replace(2, 4, "x"), replace(6, 7, "y"))
    b = finding(replace(2, 4, "x"))
    assert run(a, b) == ("01x45y789", [Outcome.APPLIED, Outcome.APPLIED])


def test_the_loser_of_an_overlap_is_a_conflict_and_none_of_it_applies() -> None:
    a = finding(replace(2, 5, "x"))
    b = finding(replace(4, 6, "y"), replace(8, 9, "z"), trust=Trust.REVIEW)
    assert run(b, a) == ("01x56789", [Outcome.APPLIED, Outcome.CONFLICT])


def test_nested_edits_stand_when_the_outer_keeps_the_bytes() -> None:
    outer = finding(Edit(1, 9, ("f(", Span(6, 8), ", ", Span(2, 4), ")")))
    inner = finding(replace(2, 3, "x"))
    assert run(outer, inner)[0] == "0f(67, x3)9"


def test_nested_edits_conflict_when_the_outer_drops_the_bytes() -> None:
    outer = finding(Edit(1, 9, ("f(", Span(6, 8), ")")))
    inner = finding(replace(2, 3, "x"), trust=Trust.REVIEW)
    text, outcomes = run(outer, inner)
    assert text == "0f(67)9"
    assert outcomes == [Outcome.APPLIED, Outcome.CONFLICT]


def test_of_a_name_that_is_taken_out_nothing_is_said() -> None:
    name = dataclasses.replace(finding(replace(2, 3, "x"), trust=Trust.REVIEW), cuda="2")
    assert run(finding(Edit(1, 9, ("f(", Span(6, 8), ")"))), name) == ("0f(67)9", [Outcome.APPLIED])
    spelled_out = finding(Edit(1, 9, ("2(", Span(6, 8), ")")))
    assert run(spelled_out, name) == ("02(67)9", [Outcome.APPLIED, Outcome.CONFLICT])


def test_a_wrapped_neighbour_keeps_its_brackets() -> None:
    a = finding(insert(2, "A("), insert(4, ")", Side.LEFT))
    b = finding(insert(4, "B("), insert(6, ")", Side.LEFT))
    assert run(a, b)[0] == "01A(23)B(45)6789"


def test_less_trust_than_asked_stays_manual() -> None:
    assert run(finding(replace(0, 1, "x"), trust=Trust.REVIEW), minimum=Trust.EXACT) == (TEXT, [Outcome.MANUAL])


def test_no_edits_is_manual() -> None:
    assert run(finding(at=3)) == (TEXT, [Outcome.MANUAL])


edits = st.builds(
    lambda a, n, keep, text: Edit(a, min(10, a + n), (text, Span(a, min(10, a + n))) if keep else (text,)),
    st.integers(0, 10),
    st.integers(0, 4),
    st.booleans(),
    st.sampled_from(["", "x", "yy"]),
)
findings = st.builds(
    lambda es, trust: finding(*es, trust=trust),
    st.lists(edits, min_size=1, max_size=3),
    st.sampled_from([Trust.REVIEW, Trust.EXACT]),
)


@given(st.lists(findings, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_findings_does_not_matter(fs: list[Finding], rng: random.Random) -> None:
    first = run(*fs)
    shuffled = fs.copy()
    rng.shuffle(shuffled)
    assert run(*shuffled) == first


@given(st.lists(findings, max_size=6))
def test_all_or_nothing(fs: list[Finding]) -> None:
    judged, made = judge(fs, Trust.REVIEW)
    for j in judged:
        if j.outcome is Outcome.APPLIED:
            assert set(j.finding.edits) <= set(made)
    wanted = {e for j in judged if j.outcome is Outcome.APPLIED for e in j.finding.edits}
    assert set(made) == wanted


def test_a_finding_on_text_that_is_taken_out_goes_with_it() -> None:
    outer = finding(replace(1, 9, ""))
    inner = finding(replace(2, 3, "x"))
    assert run(outer, inner) == ("09", [Outcome.APPLIED])


def _random_edit(rng: random.Random, depth: int = 0, start: int = 0, end: int = 24) -> list[Edit]:
    """An edit in [start, end), mostly one that keeps some of its bytes, and some in it."""
    a, b = sorted((rng.randint(start, end), rng.randint(start, end)))
    if a == b or depth == 4:
        return [insert(a, "+", rng.choice((Side.LEFT, Side.RIGHT)))]
    c, d = sorted((rng.randint(a, b), rng.randint(a, b)))
    out = [Edit(a, b, ("<", Span(c, d), ">") if rng.random() < 0.9 else ("-",))]
    for _ in range(rng.randint(0, 2)):
        out += _random_edit(rng, depth + 1, c, d)
    return out


def test_the_fast_answer_is_that_of_all_pairs() -> None:
    rng, compatible = random.Random(3), 0
    for _ in range(4000):
        edits = list(dict.fromkeys(e for _ in range(rng.randint(1, 2)) for e in _random_edit(rng)))
        fits = all(_fits(a, b) for k, a in enumerate(edits) for b in edits[:k])
        compatible += _compatible(edits)
        assert fits or not _compatible(edits), edits
    assert 1000 < compatible < 3500


def test_calls_may_nest_deeper_than_functions() -> None:
    n = 3000
    fs = [finding(Edit(2 * k, 4 * n - 2 * k, ("h(", Span(2 * k + 2, 4 * n - 2 * k - 1), ")"))) for k in range(n)]
    judged, edits = judge(fs, Trust.REVIEW)
    assert {j.outcome for j in judged} == {Outcome.APPLIED}
    assert apply("f(" * n + "))" * n, edits) == "h(" * n + ")" * (2 * n)
