"""The formats of reports: a module here and a row of `FORMATS` each. The options of all commands are made of the table.

To add one: write its module with a function for each kind of run that it can show, `of_run(record)`, `of_lint(files)`,
`of_audit(document)`, which returns the whole text, and put a row for it here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal

from cu2port.core.late import dataclass

Kind = Literal["run", "lint", "audit"]  # the record of convert or verify, the files of lint, the document of an audit


@dataclass(frozen=True, slots=True)
class Format:
    """`name`: what `--format` calls it, and its module. `suffix`: of the files that hold it; "" if none means it.
    `takes`: the kinds of runs that it shows."""

    name: str
    suffix: str
    takes: tuple[Kind, ...]


FORMATS = (
    Format("text", ".txt", ("lint", "audit")),
    Format("json", ".json", ("run", "lint", "audit")),
    Format("jsonl", ".jsonl", ("run", "lint", "audit")),
    Format("sarif", ".sarif", ("lint", "audit")),
    Format("md", ".md", ("audit",)),
    Format("html", ".html", ("audit",)),
    Format("junit", ".xml", ("lint",)),
    Format("github", "", ("lint",)),
    Format("gitlab", "", ("lint",)),
)


def names(kind: Kind) -> tuple[str, ...]:
    """The formats that a kind of run can be shown in."""
    return tuple(f.name for f in FORMATS if kind in f.takes)


def by_suffix(kind: Kind) -> Mapping[str, str]:
    """Suffix -> format, of those that a kind of run can be shown in."""
    return {f.suffix: f.name for f in FORMATS if f.suffix and kind in f.takes}


def render(name: str, kind: Kind, what: Any) -> str:
    """A report as text. `what`: a RunRecord, a sequence of FileLint, or an audit's document."""
    module = importlib.import_module(f"{__name__}.{name}")
    text: str = getattr(module, f"of_{kind}")(what)
    return text
