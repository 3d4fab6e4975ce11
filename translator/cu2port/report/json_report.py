"""The JSON report, `cu2port-report/1`. The schema beside this file describes every key."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cu2port.report.locate import Place
from cu2port.report.record import Entry, FileRecord, RunRecord

SCHEMA = "cu2port-report/1"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the report."""
    text = Path(__file__).with_name("cu2port-report-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def render(run: RunRecord) -> str:
    """The report as JSON text, a finding a line; the same run gives the same bytes."""
    content = document(run)
    files = content.pop("files")
    head = json.dumps(content, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f'{head},\n "files": [{_lines(map(_file_text, files), 1)}]\n}}\n'


def _file_text(f: dict[str, Any]) -> str:
    findings = f.pop("findings")
    head = json.dumps(f, ensure_ascii=False).removesuffix("}")
    return f'{head}, "findings": [{_lines((json.dumps(e, ensure_ascii=False) for e in findings), 2)}]}}'


def _lines(items: Iterable[str], depth: int) -> str:
    """The items of a JSON array, one a line."""
    body = ",".join("\n" + " " * (depth + 1) + item for item in items)
    return body and f"{body}\n{' ' * depth}"


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
