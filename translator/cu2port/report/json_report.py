"""The JSON report, `cu2port-report/1`. The schema beside this file describes every key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cu2port.core import verified
from cu2port.core.files import read_json
from cu2port.core.locate import Place
from cu2port.core.plain import json_of
from cu2port.core.record import Entry, FileRecord, PartRecord, RunRecord
from cu2port.core.verified import VerifyRecord
from cu2port.project.tree import CannotRun

SCHEMA = "cu2port-report/1"
_MAX_BYTES = 1 << 30


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the report."""
    text = Path(__file__).with_name("cu2port-report-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def render(run: RunRecord) -> str:
    """The report as JSON text, a finding a line; the same run gives the same bytes."""
    return _text(document(run))


def earlier(path: Path) -> dict[str, Any] | None:
    """The report that stands at `path`, or None when nothing does. Raises CannotRun when something else does."""
    try:
        content = read_json(path, _MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise CannotRun(f"--report {path}: {e.strerror}") from e
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or not isinstance(content.get("files"), list):
        raise CannotRun(f"--report {path}: there is a file that is no report of cu2port's; choose another name")
    return content


def outputs(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The (output, input) of each file of a report."""
    files = [f for f in content["files"] if isinstance(f, dict)]
    return [(str(f["output"]), str(f["path"])) for f in files if f.get("output") and f.get("path")]


def with_verify(content: Mapping[str, Any], found: VerifyRecord) -> str:
    """A report as JSON text with the results of `verify` in it, in place of older ones."""
    return _text({**content, "verify": verified.document(found)})


def text_of(content: Mapping[str, Any]) -> str:
    """A report as it is written."""
    return _text(dict(content))


def _text(content: dict[str, Any]) -> str:
    files = content.pop("files")
    head = json_of(content).removesuffix("\n}")
    return f'{head},\n "files": [{_lines(map(_file_text, files), 1)}]\n}}\n'


def _file_text(f: dict[str, Any]) -> str:
    findings = f.pop("findings", [])
    head = json_of(f, None).removesuffix("}")
    return f'{head}, "findings": [{_lines((json_of(e, None) for e in findings), 2)}]}}'


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
            "ignored": list(run.ignored),
            "by_outcome": run.by_outcome,
            "by_code": run.by_code,
            "cuda_names": {"seen": len(seen), "converted": len(seen - left), "left": sorted(left)},
        },
        **({"shard": _shard(run.shard, seen)} if run.shard else {}),
        **({"hip": run.hip.document()} if run.hip else {}),
        **({"verify": verified.document(run.verify)} if run.verify else {}),
        "files": [_file(f) for f in run.files],
    }


def _shard(part: PartRecord, seen: frozenset[str]) -> dict[str, Any]:
    return {"part": part.part, "of": part.of, "order": list(part.order), "seen": sorted(seen)}


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
