"""Markdown, for an issue or a wiki."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
    yield "## Libraries"
    yield ""
    yield from _table(
        ("CUDA", "HIP", "names", "uses", "without a counterpart"),
        ((x["title"], x["target"] or "none", x["names"], x["uses"], some(x["gaps"])) for x in doc["libraries"]),
    )
    if doc["wave64"]:
        yield "## Wavefronts of 64 lanes"
        yield ""
        yield f"{open_risks(doc):,} for manual work hang or give wrong results."
        yield ""
        yield from _table(
            ("harm", "rule", "what", "first place", "places", "open"),
            (
                (w["harm"], w["code"], w["message"], "{}:{}".format(*w["places"][0]), w["count"], w["open"])
                for w in doc["wave64"]
            ),
        )
    if doc["ptx"]:
        yield "## Inline PTX"
        yield ""
        yield from _table(
            ("instruction", "uses", "become C++"), ((p["instruction"], p["count"], p["lifted"]) for p in doc["ptx"])
        )
    if doc["requirements"]:
        yield "## Requirements"
        yield ""
        yield from _table(
            ("what", "on AMD GPUs", "places", "first"),
            (
                (r["title"], r["note"], len(r["places"]), "{}:{} {}".format(*r["places"][0]))
                for r in doc["requirements"]
            ),
        )
    if doc["build"]:
        yield "## Build files"
        yield ""
        yield from _table(
            ("what", "for HIP", "lines", "files", "first"),
            (
                (k["what"], k["instead"], k["lines"], k["files"], "{}:{}".format(*k["places"][0]))
                for k in build_kinds(doc)
            ),
        )
    if doc["bindings"]:
        yield "## Other languages"
        yield ""
        yield from _table(
            ("language", "for HIP", "lines", "first"),
            (
                (name, places[0]["instead"], len(places), "{path}:{line}".format(**places[0]))
                for name, places in by_language(doc).items()
            ),
        )
    yield "## Order"
    yield ""
    yield from _table(
        ("", "file", "files that depend on it", "risk"),
        ((n, o["path"], o["needed_by"], o["risk"]) for n, o in enumerate(doc["order"][:_MOST_ROWS], 1)),
        len(doc["order"]) - _MOST_ROWS,
    )
    yield "## What is left"
    yield ""
    left = folded(doc["findings"])
    yield from _table(
        ("first place", "places", "rule", "what"),
        ((x["place"], x["count"], f"{x['code']} {x['name']}", x["message"]) for x in left[:_MOST_ROWS]),
        len(left) - _MOST_ROWS,
    )
    yield f"*{cell(e['method'])}*"


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
