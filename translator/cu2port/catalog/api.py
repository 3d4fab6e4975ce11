"""From CUDA names to findings: which tokens are CUDA's, what the catalogue says of them, which edits follow.

The rules of checks/api_*.py make findings of these; the loop over the tokens is done once a file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from cu2port.catalog import Form, Row, lack_images, target, version_key, without_images
from cu2port.catalog.argtypes import is_of_type
from cu2port.catalog.calls import rewritten_call
from cu2port.catalog.cases import comparison_findings, label_findings
from cu2port.catalog.findings import Kind, RowFinding, by_kind
from cu2port.catalog.uses import Use, unknown, uses
from cu2port.core.files import suffix
from cu2port.core.late import dataclass
from cu2port.core.model import Edit, Severity, Span, Trust, replace
from cu2port.facts.conditionals import Cover
from cu2port.facts.declared import stands_in
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import LOGICAL, SPACE


@dataclass(frozen=True, slots=True)
class ApiFacts:
    """What the catalogue finds in a file, the names that are there, and those that no edit deals with."""

    findings: Mapping[Kind, tuple[RowFinding, ...]]
    seen: frozenset[str]
    left: frozenset[str]


#: what there is to do in code that is HIP's already
NO_FACTS = ApiFacts({}, frozenset(), frozenset())


def api_facts(unit: Unit) -> ApiFacts:
    """What the catalogue says of the names in a file."""
    return unit.once(_scan)


def _scan(unit: Unit) -> ApiFacts:
    findings: list[RowFinding] = []
    seen: set[str] = set()
    left: set[str] = set()
    guessed: set[int] = set()
    found = list(uses(unit, guessed))
    labels = comparison_findings(unit, found) | label_findings(unit, found)
    for use in found:
        seen.add(use.row.cuda)
        finding = labels.get(use.first) or _judge_use(unit, use)
        if finding is not None:
            findings.append(finding)
            if not finding.edits:
                left.add(use.row.cuda)
    findings = _without_dropped(findings)
    for f in _taken_for_own(unit, guessed):
        findings.append(f)
        if f.severity is not None:
            seen.add(f.cuda)
            left.add(f.cuda)
    for i in unknown(unit):
        seen.add(unit.t[i])
        left.add(unit.t[i])
        findings.append(
            RowFinding(
                Kind.UNKNOWN,
                f"`{unit.t[i]}` looks like a CUDA name, but the catalogue does not know it",
                unit.p[i],
                unit.end(i),
                cuda=unit.t[i],
            )
        )
    return ApiFacts(by_kind(findings), frozenset(seen), frozenset(left))


def _taken_for_own(unit: Unit, guessed: Iterable[int]) -> Iterator[RowFinding]:
    """A finding for the first place of each name that stays although nothing in the file calls it the project's."""
    first: dict[str, int] = {}
    for i in sorted(guessed):
        first.setdefault(unit.t[i], i)
    for name, i in first.items():
        member = unit.is_member(i)
        yield RowFinding(
            Kind.OWN,
            f"`{name}` stays: "
            + (
                "it is a member; where a macro or a function pointer declares it, its name is HIP's there"
                if member
                else "a file that is included here declares this name itself; check that it is meant"
            ),
            unit.p[i],
            unit.end(i),
            severity=None if member else Severity.WARNING,
            cuda=name,
        )


def _without_dropped(findings: list[RowFinding]) -> list[RowFinding]:
    """Leave out findings on text that the rewriting of a call or a label replaces: they go with it."""
    gone: list[Span] = []
    whole = (Kind.CHANGE, Kind.LABEL)
    for f in findings:
        if f.kind not in whole:
            continue
        for e in f.edits:
            position = e.start
            for part in sorted(x for x in e.parts if isinstance(x, Span)):
                gone.append(Span(position, part.start))
                position = part.end
            gone.append(Span(position, e.end))
    gone = [s for s in gone if s.end > s.start]
    if not gone:
        return findings
    cover = Cover(gone)
    return [f for f in findings if f.kind in whole or not cover.holds(f.start, f.end)]


def _judge_use(unit: Unit, use: Use) -> RowFinding | None:
    row = use.row
    start, end = unit.p[use.first], unit.end(use.last)
    written = unit.text[start:end]
    if row.mapping == "unsupported":
        return RowFinding(
            Kind.UNSUPPORTED,
            f"`{row.cuda}` has no HIP counterpart: {row.why}",
            start,
            end,
            why=(row.instead,),
            cuda=row.cuda,
            effects=(("all", "compile-error"),),
            subject=f"{row.cuda.partition('::')[0]}: {row.why}",
        )
    if row.no_images and lack_images(unit.options.archs):
        row = without_images(row)
        use = dataclasses.replace(use, row=row)
    if row.pointer and unit.tok(use.last + 1) != "(" and unit.in_directive(use.last) is None:
        return _renamed(row, row.pointer, start, end, (replace(start, end, row.pointer),))
    if row.c_call and suffix(unit.path) == ".c":
        why = "cu2port's is C++." if row.helper else "HIP's has a default value, in C++ alone."
        row = dataclasses.replace(row, mapping="change", call=row.c_call, helper="", why=why)
        use = dataclasses.replace(use, row=row)
    hip, problem = target(row, unit.options.rocm)
    if problem and row.cuda in LOGICAL and unit.options.warp != "flag":
        return None  # warp.hpp has it for every ROCm
    if problem:
        return RowFinding(
            Kind.VERSION,
            f"`{row.cuda}`: {problem}",
            start,
            end,
            cuda=row.cuda,
            hip=row.hip,
            effects=(("all", "compile-error"),),
        )
    if hip.startswith(SPACE) and unit.options.warp == "flag":
        return _not_applied(row, hip, start, end, "warp code is left as it is with `--warp flag`")
    name = (hip.partition(".")[2] or hip) if "." in row.cuda else hip
    rename = () if name in (written, row.cuda) else (replace(start, end, name),)  # also through an alias
    if row.drop:
        after = unit.p[use.last + 1] if use.last + 1 < len(unit.p) else end
        rename = (
            replace(
                start, after if not unit.text[end:after].strip() and unit.in_directive(use.last) is None else end, ""
            ),
        )
    elif row.tag and unit.tok(use.first - 1) in ("struct", "enum", "union"):
        rename = (replace(start, end, row.tag),)
    elif name == "void" and unit.tok(use.first - 1) == "struct" and unit.tok(use.last + 1) == ";":
        start, end = unit.p[use.first - 1], unit.end(use.last + 1)  # nothing is left to declare
        rename = (replace(start, end, ""),)
    elif (
        row.bare
        and unit.tok(use.first - 1) in ("struct", "enum", "union")
        and unit.tok(use.last + 1) not in (";", "{", ":")
    ):
        start = unit.p[use.first - 1]
        rename = (replace(start, end, name),)
    if row.mapping == "rename":
        call = unit.call(use.last) if row.argc else None
        count = _count(unit, call) if call is not None else None
        if count is not None and count not in row.argc:
            return _not_applied(use.row, hip, start, end, _other_count(count, row))
        if not rename:
            return None
        return _renamed(row, hip, start, end, rename)
    return _change(unit, use, hip, rename)


def _change(unit: Unit, use: Use, hip: str, rename: tuple[Edit, ...]) -> RowFinding | None:
    row = use.row
    start, end = unit.p[use.first], unit.end(use.last)
    edits: tuple[Edit, ...] = rename
    problem = ""
    if hip.isidentifier() and _is_stand_in(unit, use.last):
        return _renamed(row, hip, start, end, rename)
    if row.args or row.call or row.argc or row.values or row.forms:
        call = unit.call(use.last)
        count = _count(unit, call) if call is not None else None
        form, problem = _form(unit, row, call, count)
        if form is not None:
            row = dataclasses.replace(
                row, hip=form.hip, args=form.args, call=form.call, trust=form.trust, values=(), argc=()
            )
            if form.hip != use.row.hip:
                hip, rename = form.hip, (replace(start, end, form.hip),)
            use = dataclasses.replace(use, row=row)
        if form is not None and form.hip_since and unit.options.rocm < version_key(form.hip_since)[:2]:
            problem = f"{hip} needs ROCm {form.hip_since}"
        if problem:
            return _not_applied(row, hip, start, end, problem)
        if call is None and (row.args or row.call):
            problem = "it is not called here, so its arguments cannot be changed in place"
        elif count is not None and row.argc and count not in row.argc:
            problem = _other_count(count, row)
        elif call is not None and (count is not None or row.args or row.call):
            rewritten = rewritten_call(unit, use, call, rename)
            if rewritten is None:
                problem = "its arguments do not fit the change"
            else:
                if rewritten == rename and row.trust is Trust.EXACT and not (row.args or row.call):
                    if not rename:  # of its forms, the one that HIP has too
                        return None
                    return _renamed(row, hip, start, end, rename)  # of its forms, the one whose arguments stay
                edits, end = rewritten, unit.end(call.close)
    if problem:
        return _not_applied(row, hip, start, end, problem)
    return RowFinding(
        Kind.CHANGE,
        f"`{row.cuda}` {'is dropped' if row.drop else _becomes(row, hip)}: {row.why}",
        start,
        end,
        edits=edits,
        trust=row.trust,
        severity=None if row.trust is Trust.EXACT else Severity.WARNING,
        why=(row.why, *_unchecked(row, hip)),
        cuda=row.cuda,
        hip=hip,
        needs=row.headers,
        helpers=_helpers(row, hip),
    )


def _is_stand_in(unit: Unit, i: int) -> bool:
    """Whether token i is the name of a function that a file declares where there is no CUDA."""
    f = unit.function_at(i)
    return (f.name_at == i if f is not None else unit.declares(i)) and unit.once(_stands_in)


def _stands_in(unit: Unit) -> bool:
    return stands_in(unit.declarations)


def _form(unit: Unit, row: Row, call: Call | None, count: int | None) -> tuple[Form | None, str]:
    """The form that a call has, None for the row's own; or why that cannot be findings."""
    for form in row.forms:
        if call is None or count not in form.argc:
            continue
        answers = {i: is_of_type(unit, call.args[i], wanted) for i, wanted in form.types}
        if False in answers.values():
            continue
        unsure = [i for i, fits in answers.items() if fits is None]
        if not unsure:
            return form, ""
        return None, f"the type of argument {unsure[0] + 1} decides how, and it is not known here"
    return None, ""


def _renamed(row: Row, hip: str, start: int, end: int, edits: tuple[Edit, ...]) -> RowFinding:
    return RowFinding(
        Kind.RENAME,
        f"`{row.cuda}` is `{hip}`{', not checked against HIP headers' if row.unchecked else ''}",
        start,
        end,
        edits=edits,
        why=_unchecked(row, hip),
        cuda=row.cuda,
        hip=hip,
        needs=row.headers,
        helpers=_helpers(row, hip),
    )


def _becomes(row: Row, hip: str) -> str:
    return "keeps its name" if hip == row.cuda else f"becomes `{hip}`"


def _unchecked(row: Row, hip: str) -> tuple[str, ...]:
    return (f"`{hip}` was not checked against HIP's headers: no available header declares it.",) * row.unchecked


def _helpers(row: Row, hip: str) -> tuple[str, ...]:
    """The header of ours that declares the target: one row may have a HIP target and, for older ROCm, of ours."""
    ours = hip.startswith("cu2port::") or any(text.startswith("cu2port::") for _, text in row.args)
    return (row.helper,) if row.helper and ours else ()


def _not_applied(row: Row, hip: str, start: int, end: int, problem: str) -> RowFinding:
    return RowFinding(
        Kind.NOT_APPLIED,
        f"`{row.cuda}` {_becomes(row, hip)}{' with a change' if row.mapping == 'change' else ''}: {problem}",
        start,
        end,
        why=(row.why or "Other versions of the library took other arguments: bring the call to HIP's form.",),
        cuda=row.cuda,
        hip=hip,
        effects=(("all", "compile-error"),),
    )


def _count(unit: Unit, call: Call) -> int | None:
    """How many arguments a call has; None if `__VA_ARGS__` or a pack stands for some."""
    texts = (unit.text[a.start : a.end] for a in call.args)
    return None if any(x.endswith(("__VA_ARGS__", "...")) for x in texts) else len(call.args)


def _other_count(count: int, row: Row) -> str:
    known = " or ".join(map(str, sorted({*row.argc, *(n for f in row.forms for n in f.argc)})))
    what = "the change is known for" if row.mapping == "change" else "HIP's takes"
    return f"called with {count} arguments, and {what} {known}"
