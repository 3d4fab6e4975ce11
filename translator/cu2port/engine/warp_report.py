"""Hazards and verdicts as findings: where, what happens on which GPU, and the chain of reasons in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check
from cu2port.engine.solo import solo as solo_of
from cu2port.facts.unit import Unit
from cu2port.warp.functions import device_functions
from cu2port.warp.hazard_kinds import HazardKind
from cu2port.warp.triggers import triggers

if TYPE_CHECKING:
    from cu2port.warp.analyse import WarpFacts
    from cu2port.warp.hazards import Hazard
    from cu2port.warp.values import Step

_SOLVED = "with `--warp solo` a wavefront holds one CUDA warp, and this does not happen"


def facts_of(unit: Unit) -> WarpFacts:
    """The analysis as far as the mode needs it."""
    from cu2port.warp.analyse import analyse

    return analyse(unit, hazards_only=unit.options.warp != "flag")


@lru_cache(maxsize=2)
def hazards_of(unit: Unit) -> tuple[Hazard, ...]:
    """The hazards of a file. The analysis is loaded for a file that may have some."""
    if not device_functions(unit) or not unit.once(triggers):
        return ()
    from cu2port.warp.hazards import hazards

    return hazards(facts_of(unit))


def in_words(unit: Unit, steps: Iterable[Step]) -> tuple[str, ...]:
    """A chain of reasons, one step a line, each with its line number."""
    out: list[str] = []
    for s in steps:
        line = unit.text.count("\n", 0, unit.p[s.at]) + 1
        text = f"line {line}: {s.text}"
        if text not in out:
            out.append(text)
    return tuple(out)


def _is_solo(unit: Unit, i: int) -> bool:
    """Whether the function around token i has a wavefront for each warp."""
    asked = solo_of(unit)
    if asked is None:
        return False
    f = unit.function_at(i)
    return asked.whole or (f is not None and any(f.first == g.first for g in (*asked.kernels, *asked.functions)))


def hazard_findings(check: Check, unit: Unit, kind: HazardKind, what: str) -> Iterator[Finding]:
    """The findings of one kind of hazard. `what`: what happens (`hang`, `wrong-result`)."""
    for h in hazards_of(unit):
        if h.kind is not kind:
            continue
        solo = not h.both and _is_solo(unit, h.at)
        severity = Severity.INFO if solo or (not h.sure and kind is HazardKind.OTHER_ARM) else check.severity
        effects = (("all" if h.both else "wave64", "none" if solo else what),)
        yield check.finding(
            h.what,
            unit.p[h.at],
            unit.end(h.last),
            severity=severity,
            effects=effects,
            why=(*in_words(unit, h.steps), *check.reasons, *((_SOLVED,) if solo else ())),
        )
