"""GitLab's Code Quality report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cu2port.core.plain import json_of
from cu2port.lint.run import FileLint

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def of_lint(files: Sequence[FileLint]) -> str:
    """A row a finding; equal findings of a file are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    rows = []
    for f in files:
        for x in f.findings:
            number = seen[f.path, x.mark]
            seen[f.path, x.mark] += 1
            rows.append(
                {
                    "description": f"{x.code} {x.name}: {x.message}",
                    "check_name": x.code,
                    "fingerprint": f"{f.path}:{x.mark}:{number}",
                    "severity": _SEVERITIES[x.severity],
                    "location": {
                        "path": f.path,
                        "lines": {"begin": x.start.line, "end": max(x.start.line, x.end.line)},
                    },
                }
            )
    return json_of(rows) + "\n"
