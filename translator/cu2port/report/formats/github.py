"""Workflow commands, which GitHub shows beside the code."""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.core.plain import visible
from cu2port.lint.run import FileLint

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def of_lint(files: Sequence[FileLint]) -> str:
    """A line a finding."""
    out = []
    for f in files:
        for x in f.findings:
            end = x.end.line if x.end.line > x.start.line else x.start.line
            where = f"file={_property(f.path)},line={x.start.line},col={x.start.column},endLine={end}"
            title = _property(f"{x.code} {x.name}")
            out.append(f"::{_LEVELS[x.severity]} {where},title={title}::{_message(x.message)}\n")
    return "".join(out)


def _message(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
