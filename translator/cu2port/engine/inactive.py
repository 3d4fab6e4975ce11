"""Branches that HIP's compiler leaves out: nothing in them is work, and with `--skip-inactive` they are not converted.

A condition that asks for CUDA or HIP has another answer there than under nvcc, and edits change it; so the condition is
decided as it will are in the output. Of other conditions libclang tells, which knows the macros of the command line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from cu2port.core import edits
from cu2port.core.model import Edit, Finding, Severity, Span
from cu2port.facts.atoms import CUDA_MACROS, is_of_one_arch, names_hip, of_pass
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import CONDITIONS, condition_of, is_whole
from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.conditions import ONE, Lookup, Macro, truth
from cu2port.syntax.lexer import Group, lex


def inactive(unit: Unit, findings: Iterable[Finding]) -> tuple[Span, ...]:
    """The branches that neither pass of HIP takes when the edits of findings are made."""
    told = Cover(unit.inactive)
    by_platform = _by_platform(unit)
    out = [Span(g.start, g.end) for g in _decided(unit, by_platform, findings)]
    doubtful = Cover(g for g in unit.groups if g.chain[0] in by_platform and told.holds(g.start, g.end))
    for g in unit.groups:
        if g.chain[0] not in by_platform and told.holds(g.start, g.end) and not doubtful.holds(g.start, g.end):
            out.append(Span(g.start, g.end))
    return (*out, *unit.dead)


def told_as_left_out(unit: Unit, findings: list[Finding]) -> list[Finding]:
    """The same findings; what needs work by hand in a branch that neither pass of HIP takes, whatever macros a build
    sets, is for information, since nobody has to do it."""
    open_ones = [f for f in findings if not f.edits and f.severity is not Severity.INFO]
    branches = Cover(unit.groups) if open_ones else ()
    open_ones = [f for f in open_ones if f.start in branches]
    if not open_ones:
        return findings
    decided = () if is_whole(unit) else _decided(unit, _by_platform(unit), findings)  # edits of HIP's code are dropped
    left_out = Cover((*decided, *unit.dead))
    found = {id(f) for f in open_ones if f.start in left_out}
    return [_as_information(f) if id(f) in found else f for f in findings]


def _as_information(f: Finding) -> Finding:
    return replace(f, severity=Severity.INFO, message=f"{f.message}; HIP's compiler leaves this branch out")


def _by_platform(unit: Unit) -> frozenset[int]:
    """The conditionals, by their first directive, that ask for CUDA or HIP."""
    words = {w for w in unit.words if w in CUDA_MACROS or names_hip(w) or is_of_one_arch(w)}
    words |= unit.project.hip_macros & unit.words
    asking = {n for i in unit.find(*words) if (n := unit.lexed.directive_index(i)) >= 0} if words else set()
    asking = {n for n in asking if unit.directives[n].keyword in CONDITIONS}
    return frozenset(g.chain[0] for g in unit.groups if g.opener in asking)


def _decided(unit: Unit, chains: frozenset[int], findings: Iterable[Finding]) -> list[Group]:
    """The branches of some conditionals that neither pass takes."""
    if not chains:
        return []
    applied = [e for f in findings if f.edits and f.trust >= unit.options.trust for e in f.edits]
    applied.sort(key=lambda e: e.start)
    worlds = [_with_defines(unit, device) for device in (False, True)]
    before: dict[int, list[bool | None]] = {}
    out = []
    for g in sorted((g for g in unit.groups if g.chain[0] in chains), key=lambda g: g.opener):
        above = before.setdefault(g.chain[0], [False, False])
        words = _as_written(unit, g, applied)
        held = [truth(words, macro) for macro in worlds]
        if all(a or h is False for a, h in zip(above, held, strict=True)):
            out.append(g)
        before[g.chain[0]] = [_either(a, h) for a, h in zip(above, held, strict=True)]
    return out


def _either(a: bool | None, b: bool | None) -> bool | None:
    return True if a or b else None if a is None or b is None else False


def _as_written(unit: Unit, g: Group, applied: list[Edit]) -> list[str]:
    """The condition of a branch as it is in the output."""
    d = unit.directives[g.opener]
    first, last = (bisect_left(applied, at, key=lambda e: e.start) for at in (d.start, d.end + 1))
    inside = [e for e in applied[first:last] if e.end <= d.end]
    if not inside:
        return condition_of(d.keyword, unit.t[d.first + 2 : d.stop])
    _, keyword, *words = lex(edits.apply_within(unit.text, d.start, d.end, inside)).t
    return condition_of(keyword, words)


def _with_defines(unit: Unit, device: bool) -> Lookup:
    """What is known of macros in a pass, with those of the command line."""
    known = {}
    for text in unit.options.defines:
        name, given, value = text.partition("=")
        number = constants.literal(value) if given else None
        known[name] = ONE if not given else Macro(True, number, bool(number and number.value))
    base = of_pass(device, unit.project.hip_macros)
    return lambda word: known.get(word) or base(word)
