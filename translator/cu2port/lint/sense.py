"""What findings mean where they are: code that is HIP's already means HIP's warps, and one problem is one finding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from cu2port.catalog.api import api_facts
from cu2port.catalog.includes import HELPER
from cu2port.checks import all_checks, by_code
from cu2port.core.families import NAMES, OWN
from cu2port.core.model import Finding, InHip, Severity, Span, Trust
from cu2port.engine.check import Fold
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import cuda_branches, hip_branches, hip_spans
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import WARP_HEADERS, tokens
from cu2port.lint.intent import lanes_32
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.headers import has_width, header_facts

if TYPE_CHECKING:
    from cu2port.lint.run import LintFinding

# Names of what lanes of a wavefront do, and of its size: with them a 32 beside a count of lanes is one of two sizes.
_WAVE = LANE_OPERATIONS - {"__syncwarp"} | {
    "warpSize", "__lane_id", "__lanemask_lt", "__lanemask_eq", "__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__",
}  # fmt: skip
_BUILTIN = re.compile(r"__builtin_amdgcn_(?:ds_b?permute|mov_dpp|update_dpp|readlane|ballot|mbcnt|permlane|wave|icmp)")
_OWN_SPACES = frozenset({"warp", "wave", "solo"})
_HIP_FILE = re.compile(r"(?i)\.hip(?:\.[^./\\]+)?\Z")
_HIP_HEADERS = ("hip", "miopen/", "rccl/", "roc", "amd_smi/")
_HIP_NAME = re.compile(r"hip[A-Z]|__builtin_amdgcn_")
_CUDA_NAME = re.compile(r"cu|CU|nv|NV|nccl")
_MOST_LINES = 5
_NEAR = 16  # leaders before a finding that may hold it; calls nest less deeply
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def hips(unit: Unit) -> tuple[Span, ...]:
    """The bytes that are HIP's code: all of a file that includes HIP's headers or uses HIP's names, and nothing of
    CUDA's; of any other file the branches that ask for HIP."""
    whole = (Span(0, len(unit.text)),)
    paths = [inc.path for inc in unit.includes]
    if any(p in unit.catalog.headers for p in paths):
        found = hip_spans(unit)
        return () if found == whole else found
    if any(p.startswith(_HIP_HEADERS) or "cu2port/" in p for p in paths) or _HIP_FILE.search(unit.path):
        return whole
    kept = unit.project.keeps_warps
    hip_names = kept or any(_HIP_NAME.match(w) or w == "cu2port" for w in unit.words)
    if hip_names and not any(_CUDA_NAME.match(n) and not (kept and _stays(unit, n)) for n in api_facts(unit).seen):
        return whole
    return hip_spans(unit)


def _stays(unit: Unit, name: str) -> bool:
    """Whether a conversion leaves a CUDA name as it is."""
    row = unit.catalog.get(name)
    return row is None or row.mapping == "unsupported"


def keeps_warps(unit: Unit) -> bool:
    """Whether a file was converted so that CUDA's warps keep their 32 lanes: it includes the headers of ours that do
    it, or uses what is in them."""
    if any(HELPER.search(inc.path) and inc.path.rpartition("/")[2] in WARP_HEADERS for inc in unit.includes):
        return True
    return any(unit.tok(i + 1) == "::" and unit.tok(i + 2) in _OWN_SPACES for i in unit.find("cu2port"))


def in_spans(at: int, spans: Sequence[Span]) -> bool:
    """Whether a byte is in one of some spans."""
    return any(s.start <= at < s.end for s in spans)


def narrowed(unit: Unit, findings: Iterable[Finding]) -> list[Finding]:
    """Findings with the severity that they have where they are: what is HIP's own way there is `info`."""
    found = list(findings)
    spans = hips(unit)
    if not spans or not found:
        return found
    kept, sure = keeps_warps(unit), is_renamed_cuda(unit, spans)
    branches = hip_branches(unit)
    meaning = InHip.WIDE if sure and not kept else InHip.OWN if kept else InHip.PLAIN  # not HIP's own way here
    whole = tuple(spans) == (Span(0, len(unit.text)),)
    cudas = Cover(cuda_branches(unit) if whole else ())
    counts = _wrong_counts(unit, kept, sure) if any(InHip.COUNT in f.in_hip for f in found) else ()

    def is_right(f: Finding) -> bool:
        if f.start in cudas and not OWN.has(f.code):
            return True
        if InHip.COUNT in f.in_hip and in_spans(f.start, spans) and not in_spans(f.start, counts):
            return True
        own = branches if f.in_hip & meaning else spans
        return InHip.OWN in f.in_hip and in_spans(f.start, own) and ("all", "compile-error") not in f.effects

    return [replace(f, severity=Severity.INFO) if is_right(f) else f for f in found]


def is_renamed_cuda(unit: Unit, spans: Sequence[Span]) -> bool:
    """Whether a file is CUDA code with HIP's names: all of it is HIP's (`spans`), its warps certainly have 32 lanes."""
    return tuple(spans) == (Span(0, len(unit.text)),) and lanes_32(unit) is Trust.EXACT


def _wrong_counts(unit: Unit, kept: bool, sure: bool) -> tuple[Span, ...]:
    """Where lanes of a whole wavefront act, so that 32 is not their number: the file, or where CUDA's warps are
    `kept` the functions that do so in spite of it. Where warps `sure`ly have 32 lanes, an operation of the file itself
    is what is wrong, and not the number."""
    kept = kept or unit.project.keeps_warps
    words = (_WAVE & unit.words) | {w for w in unit.words if _BUILTIN.match(w)}
    acts = [] if sure else [i for i in tokens(unit, words) if not has_width(unit, i)]
    if not kept:
        acts += unit.find(*(unit.words & header_facts(unit).whole))
        return (Span(0, len(unit.text)),) if acts else ()
    branches = hip_branches(unit)
    functions = [unit.function_at(i) for i in acts if not in_spans(unit.p[i], branches)]
    return tuple(Span(unit.p[f.first], unit.end(f.body[1])) for f in functions if f is not None)


def folded(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Findings in groups that say one thing of one place: the one to show, then the others."""
    folds = _folds()
    # of two rules whose findings fold into each other, the one with the higher code is shown
    order = sorted({fold.code for into in folds.values() for fold in into}, reverse=True)
    rank = {code: n for n, code in enumerate(order)}
    ordered = sorted(findings, key=lambda f: (_RANK[f.severity], rank.get(f.code, len(order)), f.start, -f.end, f.code))
    groups: list[list[Finding]] = []
    leaders: dict[str, tuple[list[int], list[int]]] = {c: ([], []) for c in order}  # starts, and numbers of groups
    for f in ordered:
        number = _leader(f, folds.get(f.code, ()), leaders, groups)
        if number >= 0:
            groups[number].append(f)
            continue
        if f.code in leaders:
            starts, numbers = leaders[f.code]
            at = bisect_right(starts, f.start)  # almost always the end: they come in this order
            starts.insert(at, f.start)
            numbers.insert(at, len(groups))
        groups.append([f])
    return sorted(map(tuple, groups), key=lambda g: _place(g[0]))


@lru_cache(maxsize=1)
def _folds() -> Mapping[str, tuple[Fold, ...]]:
    """Code -> what findings of that rule fold into."""
    return {c.code: c.lint.folds_into for c in all_checks() if c.lint.folds_into}


def _leader(
    f: Finding,
    folds: Sequence[Fold],
    leaders: Mapping[str, tuple[list[int], list[int]]],
    groups: Sequence[Sequence[Finding]],
) -> int:
    """The number of the group whose first finding says what `f` says, or -1."""
    for fold in folds:
        starts, numbers = leaders[fold.code]
        at = bisect_right(starts, f.end)
        for n in reversed(numbers[max(0, at - _NEAR) : at]):
            lead = groups[n][0]
            if lead.start < f.end and f.start < lead.end:
                same = f.edits == lead.edits != ()
                return n if same or (not f.edits and not fold.same_fix) else -1
    return -1


def said(group: Sequence[Finding]) -> Finding:
    """The finding that stands for a group; what the others add is among its effects and reasons."""
    lead, *others = group
    if not others:
        return lead
    effects = dict(lead.effects)
    for f in others:
        for where, what in f.effects:
            effects.setdefault(where, what)
    more = tuple(f"{f.code} {f.name}: {f.message}" for f in others)
    return replace(lead, effects=tuple(effects.items()), why=(*lead.why, *more))


def once(unit: Unit, findings: Iterable[Finding]) -> list[Finding]:
    """Findings without those that an earlier one of the same function said in the same words."""
    bounds = sorted((unit.p[f.body[0]], unit.end(f.body[1])) for f in unit.functions)
    starts = [b[0] for b in bounds]
    seen: set[tuple[int, str, str]] = set()
    out = []
    for f in findings:
        check = by_code().get(f.code)
        if check is not None and check.lint.once_a_function:
            at = bisect_right(starts, f.start) - 1
            key = (at, f.code, f.message)
            if key in seen:
                continue
            seen.add(key)
        out.append(f)
    return out


def _place(f: Finding) -> tuple[int, int, str, str]:
    return f.start, -f.end, f.code, f.message


def folded_names(found: Sequence[LintFinding]) -> tuple[LintFinding, ...]:
    """A file's findings with those on one CUDA name as one, at its first place; of a namespace that has no counterpart
    for one reason, as one for all its names. What lanes do is said at every place: each needs work of its own."""
    groups: dict[tuple[str, str], list[LintFinding]] = {}
    out: list[tuple[str, str]] = []
    for n, x in enumerate(found):
        key = (x.code, x.subject or x.message) if NAMES.has(x.code) and x.fix is None else ("", str(n))
        if key not in groups:
            out.append(key)
        groups.setdefault(key, []).append(x)
    return tuple(_as_one(groups[key]) for key in out)


def _as_one(group: Sequence[LintFinding]) -> LintFinding:
    first, *others = group
    if not others:
        return first
    names = {x.message for x in group}
    lines = sorted({x.start.line for x in others} - {first.start.line})
    shown = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
    what = f"{len(others)} more {'place' if len(others) == 1 else 'places'} in this file"
    if len(names) > 1:
        what = f"{len(names) - 1} more {'name' if len(names) == 2 else 'names'} of its namespace, {what}"
    where = f": {'line' if len(lines) == 1 else 'lines'} {shown}" if lines else ""
    return replace(first, message=f"{first.message} ({what}{where})", also=tuple(x.start for x in others))
