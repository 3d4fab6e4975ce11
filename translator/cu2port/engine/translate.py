"""The straight line: bytes -> facts -> findings -> edits, applied once -> result."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cu2port.catalog import load_catalog
from cu2port.catalog.api import NO_FACTS, api_facts
from cu2port.catalog.includes import added_includes, runtime_on_top
from cu2port.checks import applicable, true_of_hip
from cu2port.checks.include import IncludeHeader
from cu2port.core import edits
from cu2port.core.file_rules import NOT_TEXT
from cu2port.core.late import dataclass
from cu2port.core.model import Finding, Options, Outcome, Project, Result
from cu2port.engine import hipside
from cu2port.engine.effects import narrowed
from cu2port.engine.inactive import inactive, told_as_left_out
from cu2port.engine.plain_c import in_c
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import is_whole
from cu2port.facts.unit import Unit

if TYPE_CHECKING:
    from cu2port.facts.clang import ClangService

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BOM = codecs.BOM_UTF8.decode("latin-1")


def translate(
    source: str | bytes,
    options: Options | None = None,
    *,
    path: str = "<stdin>",
    project: Project | None = None,
    clang: ClangService | None = None,
) -> Result:
    """Convert one CUDA source text to HIP.

    `source`: text, or bytes in any 8-bit encoding (text is taken as UTF-8). `path` decides what kind of file it is
    and is used in reports. `clang`: a running service for questions that tokens cannot answer; without it such
    places are decided by the lexer alone. Never raises for anything that is in `source`.
    """
    codes = true_of_hip() if project is not None and project.side == "hip" else None  # nothing else is said
    found = examine(source, options, path=path, project=project, clang=clang, codes=codes)
    result = settle(found)
    if found.unit is not None:
        found.unit.forget()
    return result


@dataclass(frozen=True, slots=True)
class Examined:
    """A text and everything that was found in it, before anything is decided. `unit` None: it is no 8-bit text."""

    path: str
    data: bytes
    options: Options
    unit: Unit | None
    findings: tuple[Finding, ...]


def examine(
    source: str | bytes,
    options: Options | None = None,
    *,
    path: str = "<stdin>",
    project: Project | None = None,
    clang: ClangService | None = None,
    codes: frozenset[str] | None = None,
) -> Examined:
    """What checks find in a text. `codes`: those that are run; all if None. Else arguments as for `translate`."""
    options = options or Options()
    data = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    bad = _not_text(data)
    if bad is not None:
        return Examined(path, data, options, None, (bad,))
    unit = Unit(data.decode("latin-1"), load_catalog(options.rules, options.warp), options, path, project, clang)
    findings = [f for check in applicable(unit, codes) for f in check.run(unit)]
    if options.warp == "native" or options.kernels:
        from cu2port.checks.native_kernel import NativeKernel
        from cu2port.warp.native.asked import not_replaced

        findings = not_replaced(unit, findings, NativeKernel.code)
    if options.skip_inactive:
        left_out = Cover(inactive(unit, findings))
        findings = [f for f in findings if f.start not in left_out]
    findings = told_as_left_out(unit, findings)
    if path.endswith(".c") and not unit.project.as_cuda:
        findings = [in_c(f) for f in findings]
    if options.archs:
        findings = [narrowed(f, options.archs) for f in findings]
    return Examined(path, data, options, unit, tuple(findings))


def settle(found: Examined, wanted: Iterable[Finding] | None = None) -> Result:
    """Apply the edits of findings as far as they are trusted, and add the includes that they need.

    `wanted`: those that count, and then nothing else is changed; None: all, and the file becomes one that HIP's
    compiler takes, with the runtime's header.
    """
    options, data, unit = found.options, found.data, found.unit
    hips = unit is not None and is_whole(unit)
    runtime = wanted is None and unit is not None and not hips and runtime_on_top(unit)
    if wanted is None:
        wanted = found.findings if unit is None else hipside.left_alone(unit, found.findings)
    judged, taken = edits.judge(wanted, options.trust)
    if unit is None:
        return Result(found.path, data, data, judged, "copied")
    applied = [j.finding for j in judged if j.outcome is Outcome.APPLIED]
    needs = frozenset(n for f in applied for n in f.needs)
    helpers = frozenset(h for f in applied for h in f.helpers)
    bom = len(_BOM) if unit.text.startswith(_BOM) else 0
    added = added_includes(unit, needs, helpers, runtime, bom)
    if added is not None:
        more, extra_edits = edits.judge((IncludeHeader().of_row(added),), options.trust)
        judged, taken = (*more, *judged), (*taken, *extra_edits)
    output = edits.apply(unit.text, taken).encode("latin-1") if taken else data
    api = NO_FACTS if hips else api_facts(unit)
    seen = hipside.outside(unit, api.seen)
    left = api.left | frozenset(j.finding.cuda for j in judged if j.finding.cuda and j.outcome is not Outcome.APPLIED)
    return Result(
        path=found.path,
        data=data,
        output=output,
        findings=judged,
        status="partial" if unit.clang_failed else "converted" if output != data else "copied",
        seen=seen,
        left=left & seen,
        helpers=helpers,
        notes=(unit.clang_failed,) if unit.clang_failed else (),
        asked=unit.asked,
    )


def _not_text(data: bytes) -> Finding | None:
    """A finding for files that are not 8-bit text; they are copied as they are."""
    if data.startswith(_UTF16):
        message = "the file is UTF-16; save it as UTF-8 and convert again (copied unchanged)"
    elif b"\0" in data:
        message = "the file holds NUL bytes, so it is no C++ text (copied unchanged)"
    else:
        return None
    return NOT_TEXT.finding(message)
