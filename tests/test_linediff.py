"""Unified diffs: they lead from one text to the other, and are those of difflib where one way is plain."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from cu2port.project import linediff

LINES = st.lists(st.sampled_from([f"{c}{n}\n" for c in "abc" for n in range(4)]), max_size=30)


def patched(a: list[str], diff: list[str]) -> list[str]:
    """Text `a` after a diff."""
    out: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, size = line.split()[1][1:].partition(",")
            first = int(start) - (size != "0")
            out, at = out + a[at:first], first
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            assert a[at] == line[1:]
            out += [line[1:]] if line.startswith(" ") else []
            at += 1
    return out + a[at:]


@given(LINES, LINES)
def test_diff_leads_from_one_text_to_the_other(a: list[str], b: list[str]) -> None:
    diff = list(linediff.unified(a, b, "x", "y"))
    assert bool(diff) == (a != b)
    assert patched(a, diff) == b


@given(st.lists(st.booleans(), max_size=60))
def test_diff_of_lines_that_differ_is_that_of_difflib(changed: list[bool]) -> None:
    a = [f"line {n}\n" for n in range(len(changed))]
    b = [f"new {n}\n" if new else line for n, (line, new) in enumerate(zip(a, changed, strict=True))]
    assert list(linediff.unified(a, b, "x", "y")) == list(difflib.unified_diff(a, b, "x", "y"))
