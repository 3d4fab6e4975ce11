"""The `report` command: reports in, one report out."""

from __future__ import annotations

from pathlib import Path

from cu2port.cli.console import echo
from cu2port.cli.reports import format_of, write_text
from cu2port.project.tree import CannotRun
from cu2port.report import json_report
from cu2port.report.formats import jsonl
from cu2port.report.merge import left, merged


def merge(paths: tuple[str, ...], out: str) -> int:
    """Run `report merge`; returns the exit code."""
    try:
        chosen = format_of(Path(out), "run", "-o") if out else "json"
        found = []
        for path in paths:
            report = json_report.earlier(Path(path))
            if report is None:
                raise CannotRun(f"{path}: no such file")
            found.append((path, report))
        try:
            whole = merged(found)
            count, files = left(whole), len(whole["files"])
            text = jsonl.lines_of_report(whole) if chosen == "jsonl" else json_report.text_of(whole)
        except (KeyError, TypeError, AttributeError):
            raise CannotRun("report merge: a report is not as cu2port writes it; convert that part again") from None
        if out:
            write_text(Path(out), text, "-o")
            echo(f"{out}: {files} files, {count} findings left", err=True)
        else:
            echo(text.rstrip("\n"))
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2
    return 1 if count else 0
