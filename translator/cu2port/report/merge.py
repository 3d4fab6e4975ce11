"""The reports of the parts of a run (`convert --shard`) made one: the report that the whole run would have written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cu2port.core.model import Outcome, Severity
from cu2port.project.tree import CannotRun

_Report = Mapping[str, Any]


def merged(reports: Sequence[tuple[str, _Report]]) -> dict[str, Any]:
    """The document of the whole run. `reports`: (name for messages, content). Raises CannotRun where they are not the
    parts of one run, each once."""
    if not reports:
        raise CannotRun("report merge: name the reports of all parts")
    name, first = reports[0]
    parts: dict[int, tuple[str, _Report]] = {}
    for path, report in reports:
        part, count = _part(path, report)
        if count != _part(name, first)[1]:
            raise CannotRun(f"{path}: part {part} of {count}, and {name} is one of {_part(name, first)[1]}")
        if part in parts:
            raise CannotRun(f"{path}: part {part} is in {parts[part][0]} already")
        for key in ("tool", "options", "hip"):
            if report.get(key) != first.get(key):
                raise CannotRun(f"{path}: its {key} differs from that of {name}, so these are not parts of one run")
        parts[part] = (path, report)
    missing = [str(n) for n in range(1, _part(name, first)[1] + 1) if n not in parts]
    if missing:
        raise CannotRun(f"report merge: part {', '.join(missing)} of {_part(name, first)[1]} is missing")
    found = [report for _, (_, report) in sorted(parts.items())]
    return _whole(found)


def left(report: _Report) -> int:
    """How many findings are left for manual work, as `RunRecord.open` counts them."""
    applied, info = Outcome.APPLIED.value, Severity.INFO.value
    count: int = sum(e["outcome"] != applied and e["severity"] != info for f in report["files"] for e in f["findings"])
    return count + bool(report.get("hip", {}).get("mixed_widths"))


def _part(path: str, report: _Report) -> tuple[int, int]:
    shard = report.get("shard")
    try:
        order, seen = shard["order"], shard["seen"]  # type: ignore[index] # what is none raises
        sound = all(isinstance(n, int) for n in order) and all(isinstance(n, str) for n in seen)
        part, count = int(shard["part"]), int(shard["of"])  # type: ignore[index] # as above
    except (TypeError, KeyError, ValueError):
        sound, part, count = False, 0, 0
    if not sound or not 1 <= part <= count or len(order) > len(report["files"]):
        raise CannotRun(f"{path}: it is no report of a part; convert --shard I/N --report FILE.json writes those")
    return part, count


def _whole(reports: Sequence[_Report]) -> dict[str, Any]:
    """The parts as one document."""
    placed: list[tuple[int, dict[str, Any]]] = []
    others: dict[str, dict[str, Any]] = {}  # of no single file: a header that is in the way
    for report in reports:
        order = report["shard"]["order"]
        placed += zip(order, report["files"], strict=False)
        others |= {str(f["path"]): f for f in report["files"][len(order) :]}
    files = [f for _, f in sorted(placed, key=lambda x: x[0])] + [f for _, f in sorted(others.items())]
    seen = {name for report in reports for name in report["shard"]["seen"]}
    names = {name for report in reports for name in report["summary"]["cuda_names"]["left"]}
    outcomes = Counter(e["outcome"] for f in files for e in f["findings"])
    whole = {
        "schema": reports[0]["schema"],
        "tool": reports[0]["tool"],
        "options": reports[0]["options"],
        "summary": {
            "files": len(files),
            "converted": sum(f["status"] in ("converted", "partial") for f in files),
            "ignored": reports[0]["summary"]["ignored"],
            "by_outcome": {o.value: outcomes[o.value] for o in Outcome},
            "by_code": dict(sorted(Counter(e["code"] for f in files for e in f["findings"]).items())),
            "cuda_names": {"seen": len(seen), "converted": len(seen - names), "left": sorted(names)},
        },
    }
    return {**whole, **({"hip": reports[0]["hip"]} if "hip" in reports[0] else {}), "files": files}
