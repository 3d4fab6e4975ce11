"""Tables of a document that are written by the tools that measure.

A table is between two comments. The first one names it and says how it is made, for whoever reads the source:

    <!-- census: python tools/census.py TREE --row 'NAME COMMIT' --write docs/validation.md -->
    | tree | files |
    | --- | --: |
    <!-- /census -->
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


class NoTableError(Exception):
    """The document has no table of that name. The text is a message for the user."""


def row_text(cells: Sequence[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |\n"


def replaced(text: str, name: str, table: str) -> str:
    """The document's text with another table of that name."""
    start, end = _span(text, name)
    return text[:start] + table + text[end:]


def put_row(page: Path, name: str, cells: Sequence[str]) -> None:
    """Write a row of a table: over the one with the same first cell, else where its first cell sorts."""
    text = page.read_text(encoding="utf-8")
    start, end = _span(text, name)
    head, rule, *rows = text[start:end].splitlines(keepends=True)
    fresh = row_text(cells)
    kept = [row for row in rows if _first(row) != cells[0]]
    table = "".join([head, rule, *sorted([*kept, fresh], key=lambda row: _first(row).lower())])
    page.write_text(replaced(text, name, table), encoding="utf-8")


def _span(text: str, name: str) -> tuple[int, int]:
    """Where the table is, without its two comments."""
    found = re.search(rf"<!-- {re.escape(name)}\b[^>]*-->\n(.*?)<!-- /{re.escape(name)} -->", text, re.S)
    if found is None:
        raise NoTableError(f"no <!-- {name} --> and <!-- /{name} --> in it")
    return found.span(1)


def _first(row: str) -> str:
    return row.split("|")[1].strip()
