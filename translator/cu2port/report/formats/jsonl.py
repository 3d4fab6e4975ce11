"""JSON lines: an object a finding, with the same keys for every command, so that `grep` and `jq` take them one by one.

`state` is what happened to a finding: its outcome in convert (`applied`, `manual`, `conflict`), its way in an audit
(`review`, `hand`, `none`, `note`), `open` in lint. `also`: lines of the same file where it is found again. Errors of
a compiler that verify ran have no code and the name `compile-error`; what could not be judged, `missing-header`. A tree
with code for HIP has one row without path and code, `hip-side`, with the decision about it as state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cu2port.core import verified
from cu2port.core.plain import json_of
from cu2port.core.record import RunRecord
from cu2port.core.verified import MISSING, VerifyRecord
from cu2port.lint.run import FileLint

_KEYS = ("path", "line", "column", "code", "name", "severity", "state", "message", "cuda", "hip", "also")
_OF_REPORT = ("code", "name", "severity", "outcome", "message", "cuda", "hip")
_OF_AUDIT = ("path", "line", "column", "code", "name", "severity", "way", "message", "cuda", "hip")


def of_run(run: RunRecord) -> str:
    """The findings of convert, then what verify found."""
    rows = [
        (f.path, e.start.line, e.start.column, e.code, e.name, e.severity, e.outcome, e.message, e.cuda, e.hip, ())
        for f in run.files
        for e in f.entries
    ]
    tree = _tree(run.hip.document()) if run.hip else ()
    return _lines((*tree, *rows, *(_compiled(run.verify) if run.verify is not None else ())))


def lines_of_report(report: Mapping[str, Any]) -> str:
    """The findings of a report, as `of_run` gives them."""
    rows = (
        (f["path"], e["start"]["line"], e["start"]["column"], *(e[key] for key in _OF_REPORT), ())
        for f in report["files"]
        for e in f["findings"]
    )
    return _lines((*(_tree(report["hip"]) if "hip" in report else ()), *rows))


def of_lint(files: Sequence[FileLint]) -> str:
    """The findings as lint shows them: one for all the places of a CUDA name in a file."""
    return _lines(
        (f.path, x.start.line, x.start.column, x.code, x.name, x.severity, "open", x.message, x.cuda, "", again)
        for f in files
        for x in f.findings
        for again in ([p.line for p in x.also],)
    )


def of_audit(doc: Mapping[str, Any]) -> str:
    """The findings that the document lists."""
    tree = _tree(doc["summary"]["hip"]) if doc["summary"].get("hip") else ()
    return _lines((*tree, *((*(x[key] for key in _OF_AUDIT), ()) for x in doc["findings"])))


def _tree(hip: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The decision about a tree with code for HIP."""
    yield "", 0, 0, "", "hip-side", "info", hip["decision"], hip["message"], "", "", ()


def _compiled(found: VerifyRecord) -> Iterator[tuple[object, ...]]:
    """The errors, at their CUDA lines where those are known, and the files that were not judged."""
    for unit in found.units:
        for e, targets in verified.by_error(unit).items():
            place = (e.source, e.source_line, 0) if e.source else (e.path, e.line, e.column)
            message = f"{e.message} ({', '.join(targets)})"
            yield *place, "", "compile-error", "error", "manual", message, "", "", ()
        if unit.verdict == MISSING:
            header = next(t.header for t in unit.targets if t.header)
            message = f"not judged: the header {header} is not on this machine"
            yield unit.source or unit.path, 0, 0, "", MISSING, "warning", "manual", message, "", "", ()


def _lines(rows: Iterable[tuple[object, ...]]) -> str:
    """`rows`: values of `_KEYS`."""
    return "".join(f"{json_of(dict(zip(_KEYS, row, strict=True)), None)}\n" for row in rows)
