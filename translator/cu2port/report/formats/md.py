"""Markdown, for an issue or a wiki."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cu2port.report.audit_parts import (
    WAYS,
    build_kinds,
    by_language,
    count,
    folded,
    open_risks,
    own,
    size,
    some,
)

_MOST_ROWS = 200  # of a table that grows with the tree


def of_audit(doc: Mapping[str, Any]) -> str:
    """The audit."""
    return "\n".join(_markdown(doc)) + "\n"


def _markdown(doc: Mapping[str, Any]) -> Iterator[str]:
    s, e = doc["summary"], doc["effort"]
    yield "# What porting to HIP takes"
    yield ""
    yield f"{size(s)}. Effort: {cell(e['words'])}."
    if gone := len(own(doc)):
        yield f"**cu2port could not read {count(gone, 'file')} completely**; more work may be left than is shown here."
    if s.get("hip"):
        yield f"Code for HIP: {cell(s['hip']['message'])}."
    yield ""
    yield "Lines with CUDA code, CUDA names, and kernels, by what a port does with them:"
    yield ""
    yield from _table(
        ("", "lines", "names", "kernels", "findings"),
        (
            (title, *(f"{s['by_way'][k][way]:,}" for k in ("lines", "names", "kernels", "findings")))
            for way, title in WAYS.items()
        ),
    )
    yield from _table(
        ("part of the effort", "count", "hours"),
        ((p["what"], f"{p['count']:,}", f"{p['minutes'] / 60:,.1f}") for p in e["parts"]),
    )
    if "compare" in doc:
        c = doc["compare"]
        yield f"Since the older audit: **{c['fixed']} fixed, {c['new']} new, {c['left']} left**."
        yield ""
    for section in _SECTIONS:
        rows = list(section.rows(doc))
        if rows or section.always:
            yield f"## {section.title}"
            yield ""
            if section.intro is not None:
                yield section.intro(doc)
                yield ""
            yield from _table(section.head, rows[: section.most], max(0, len(rows) - section.most))
    yield f"*{cell(e['method'])}*"


class _Section(NamedTuple):
    """A table of the report under its title. `always`: also where it has no rows."""

    title: str
    head: tuple[str, ...]
    rows: Callable[[Mapping[str, Any]], Iterable[tuple[object, ...]]]
    always: bool = False
    intro: Callable[[Mapping[str, Any]], str] | None = None
    most: int = sys.maxsize


_SECTIONS = (
    _Section(
        "Libraries",
        ("CUDA", "HIP", "names", "uses", "without a counterpart"),
        lambda doc: (
            (x["title"], x["target"] or "none", x["names"], x["uses"], some(x["gaps"])) for x in doc["libraries"]
        ),
        always=True,
    ),
    _Section(
        "Wavefronts of 64 lanes",
        ("harm", "rule", "what", "first place", "places", "open"),
        lambda doc: (
            (w["harm"], w["code"], w["message"], "{}:{}".format(*w["places"][0]), w["count"], w["open"])
            for w in doc["wave64"]
        ),
        intro=lambda doc: f"{open_risks(doc):,} for manual work hang or give wrong results.",
    ),
    _Section(
        "Inline PTX",
        ("instruction", "how it is multiplied, or why it stays", "uses", "become C++"),
        lambda doc: ((p["instruction"], p["how"], p["count"], p["lifted"]) for p in doc["ptx"]),
    ),
    _Section(
        "Requirements",
        ("what", "on AMD GPUs", "places", "first"),
        lambda doc: (
            (r["title"], r["note"], len(r["places"]), "{}:{} {}".format(*r["places"][0])) for r in doc["requirements"]
        ),
    ),
    _Section(
        "Build files",
        ("what", "for HIP", "lines", "files", "first"),
        lambda doc: (
            (k["what"], k["instead"], k["lines"], k["files"], "{}:{}".format(*k["places"][0])) for k in build_kinds(doc)
        ),
    ),
    _Section(
        "Other languages",
        ("language", "for HIP", "lines", "first"),
        lambda doc: (
            (name, places[0]["instead"], len(places), "{path}:{line}".format(**places[0]))
            for name, places in by_language(doc).items()
        ),
    ),
    _Section(
        "Order",
        ("", "file", "files that depend on it", "risk"),
        lambda doc: ((n, o["path"], o["needed_by"], o["risk"]) for n, o in enumerate(doc["order"], 1)),
        always=True,
        most=_MOST_ROWS,
    ),
    _Section(
        "What is left",
        ("first place", "places", "rule", "what"),
        lambda doc: (
            (x["place"], x["count"], f"{x['code']} {x['name']}", x["message"]) for x in folded(doc["findings"])
        ),
        always=True,
        most=_MOST_ROWS,
    ),
)


def _table(head: Sequence[str], rows: Any, more: int = 0) -> Iterator[str]:
    """`more`: how many rows are left out."""
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(cell(str(x)) for x in row) + " |"
    yield ""
    if more > 0:
        yield f"and {more:,} more; the JSON has them all"
        yield ""


_ACTIVE = {c: f"&#{ord(c)};" for c in "&<>|`*_[]\\#!~"}


def cell(text: str) -> str:
    """Text inside a table: nothing in it is Markdown or HTML."""
    return "".join(_ACTIVE.get(c, c if c.isprintable() else " ") for c in text)
