"""The JSON report, `cu2port-report/1`. The schema beside this file describes every key."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from cu2port.report.locate import Place
from cu2port.report.record import Entry, FileRecord, RunRecord

SCHEMA = "cu2port-report/1"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the report."""
    text = files("cu2port.report").joinpath("cu2port-report-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def render(run: RunRecord) -> str:
    """The report as JSON text; the same run gives the same bytes."""
    return json.dumps(document(run), indent=1, ensure_ascii=False) + "\n"


def document(run: RunRecord) -> dict[str, Any]:
    """The report as JSON values."""
    seen, left = run.seen, run.left
    return {
        "schema": SCHEMA,
        "tool": {"version": run.version},
        "options": dict(run.options),
        "summary": {
            "files": len(run.files),
            "converted": sum(f.status in ("converted", "partial") for f in run.files),
            "by_outcome": run.by_outcome,
            "by_code": run.by_code,
            "cuda_names": {"seen": len(seen), "converted": len(seen - left), "left": sorted(left)},
        },
        "files": [_file(f) for f in run.files],
    }


def _file(f: FileRecord) -> dict[str, Any]:
    return {"path": f.path, "output": f.output, "status": f.status, "findings": [_finding(e) for e in f.entries]}


def _finding(e: Entry) -> dict[str, Any]:
    return {
        "code": e.code,
        "name": e.name,
        "severity": e.severity,
        "message": e.message,
        "outcome": e.outcome,
        "trust": e.trust,
        "start": _place(e.start),
        "end": _place(e.end),
        "effects": dict(e.effects),
        "why": list(e.why),
        "cuda": e.cuda,
        "hip": e.hip,
    }


def _place(p: Place) -> dict[str, int]:
    return {"line": p.line, "column": p.column, "offset": p.offset}
