"""HIP's code is left alone by every rule: what happens to findings in it, or whose edits would reach into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cu2port.checks import true_of_hip
from cu2port.core.model import Edit, Finding, Span, Trust
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import cuda_branches, untouched
from cu2port.facts.unit import Unit


def left_alone(unit: Unit, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Findings without an edit in HIP's code. In that code only what is true of HIP is said, and done by nobody but a
    person; a finding of other code that needs an edit there is a person's too. Nothing is said of what HIP's compiler
    leaves out of that code (`#ifdef __HIP_PLATFORM_NVIDIA__`)."""
    cover = untouched(unit) if findings else None
    return tuple(_outside(cover, Cover(cuda_branches(unit)), findings)) if cover else findings


def _outside(cover: Cover, left_out: Cover, findings: Sequence[Finding]) -> Iterator[Finding]:
    for f in findings:
        if f.start in cover:
            if f.code in true_of_hip() and f.start not in left_out:
                yield _by_hand(f, f.message) if f.edits else f
        elif any(reaches_into(cover, e) for e in f.edits):
            yield _by_hand(f, f"{f.message}; left to do, since it would change code that is for HIP already")
        else:
            yield f


def _by_hand(f: Finding, message: str) -> Finding:
    return replace(f, message=message, edits=(), trust=Trust.MANUAL, needs=(), helpers=())


def reaches_into(cover: Cover, e: Edit) -> bool:
    """Whether an edit replaces a byte of some spans, or inserts between two."""
    at = e.start
    for kept in sorted(x for x in e.parts if isinstance(x, Span)):
        if kept.start > at and cover.touches(at, kept.start):
            return True
        at = max(at, kept.end)
    return cover.touches(at, e.end) if at < e.end or e.start == e.end else False


def outside(unit: Unit, names: frozenset[str]) -> frozenset[str]:
    """Those of some CUDA names that are in code which is not HIP's already."""
    cover = untouched(unit)
    if not cover:
        return names
    return frozenset(n for n in names if any(unit.p[i] not in cover for i in unit.find(_last(n))))


def _last(name: str) -> str:
    return name.replace(".", "::").rpartition("::")[2]
