"""JSON: `cu2port-report/1` of convert and verify, `cu2port-lint/1`, `cu2port-audit/1`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cu2port.core.locate import Place
from cu2port.core.plain import json_of
from cu2port.core.record import RunRecord
from cu2port.core.version import __version__
from cu2port.lint.run import FileLint, LintFinding
from cu2port.report import json_report

SCHEMA = "cu2port-lint/1"


def of_run(run: RunRecord) -> str:
    """A run of convert or verify."""
    return json_report.render(run)


def of_audit(doc: Mapping[str, Any]) -> str:
    """An audit, with all that is in it."""
    return json_of(doc) + "\n"


def of_lint(files: Sequence[FileLint]) -> str:
    """The findings."""
    return json_of(json_document(files)) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `of_lint`."""
    text = (Path(__file__).parent.parent / "cu2port-lint-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def json_document(files: Sequence[FileLint]) -> dict[str, Any]:
    """The findings as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "summary": {
            "files": len(files),
            "findings": sum(len(f.findings) for f in files),
            "fixed": sum(f.fixed for f in files),
            "by_code": dict(sorted(Counter(x.code for f in files for x in f.findings).items())),
        },
        "findings": [_json(f.path, x) for f in files for x in f.findings],
    }


def _json(path: str, x: LintFinding) -> dict[str, Any]:
    return {
        "path": path,
        "code": x.code,
        "name": x.name,
        "severity": x.severity,
        "message": x.message,
        "start": _place(x.start),
        "end": _place(x.end),
        "also": [_place(p) for p in x.also],
        "fingerprint": x.mark,
        "effects": dict(x.effects),
        "why": list(x.why),
        "fix": x.fix
        and {"start": _place(x.fix.start), "end": _place(x.fix.end), "text": x.fix.text, "trust": x.fix.trust},
    }


def _place(p: Place) -> dict[str, int]:
    return {"line": p.line, "column": p.column, "offset": p.offset}
