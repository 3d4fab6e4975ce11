"""Launches in which the floats of a kernel are rounding alone, as where it divides by how little they differ.

No bound tells these: CUDA's kernel is run again with each float of its arguments one unit in the last place higher or
lower. Where that moves each result that differs as far as the converted kernel is from it, the launch says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from cu2port.verify.trial.verdict import Said, without_cases


class Call(Protocol):
    """Runs a program of a trial: a word, the rest of its command line, settings."""

    def __call__(self, word: str, rest: Sequence[str], settings: Mapping[str, str] | None = None) -> Said: ...


def with_nudges(
    cuda: Call, hip: Call, runs: Mapping[str, Said], settings: Mapping[str, Mapping[str, str]], case: int
) -> dict[str, Said]:
    """How runs went, with launches that are so as `rounding`: first `case`, and where that is, all that differ in
    floats alone. `runs` and `settings` by what was run."""
    first = _asked(cuda, hip, runs, settings, {case})
    if case not in {n for x in first.values() for n in x.numbers("rounding")}:
        return first
    return _asked(cuda, hip, first, settings, {n for x in first.values() for n in x.floats()})


def _asked(
    cuda: Call, hip: Call, runs: Mapping[str, Said], settings: Mapping[str, Mapping[str, str]], cases: set[int]
) -> dict[str, Said]:
    out = dict(runs)
    of = {name: [n for n in said.floats() if n in cases] for name, said in runs.items()}
    if nudged := sorted({n for its in of.values() for n in its}):
        cuda("nudge", [*map(str, nudged)])
    for name, its in of.items():
        if its:
            found = hip("compare", [*map(str, its)], settings[name]).of("rounding")
            kept = without_cases(out, {*found.numbers("rounding")})[name]
            out[name] = replace(kept, cases=(*kept.cases, *found.cases))
    return out
