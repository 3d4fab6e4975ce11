"""An audit for a terminal, and as Markdown. Pure functions of the document `cu2port-audit/1`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cu2port.core.families import OWN
from cu2port.core.plain import one_line

WAYS = {
    "self": "converts by itself",
    "review": "converts, needs review",
    "hand": "by hand",
    "none": "no counterpart",
}
_MOST = 12
_MOST_ROWS = 200  # of a table that grows with the tree


def text(doc: Mapping[str, Any]) -> str:
    """The summary that `cu2port audit` prints."""
    return "".join(f"{one_line(line)}\n" for line in _text(doc))


def _text(doc: Mapping[str, Any]) -> Iterator[str]:
    s, e = doc["summary"], doc["effort"]
    yield size(s)
    yield f"effort: {e['words']}"
    for p in e["parts"]:
        yield f"  {p['minutes'] / 60:>6,.1f} h  {p['what']}: {p['count']:,}"
    if gone := [f"{x['path']}: {x['message']}" for x in _own(doc)]:
        yield ""
        yield f"cu2port could not look at {_count(len(gone), 'file')} as it should; more may be left than is said here"
        yield from (f"  {line}" for line in gone[:_MOST])
        if len(gone) > _MOST:
            yield f"  and {len(gone) - _MOST} more"
    if tree := s.get("hip"):
        yield f"code for HIP: {tree['message']}"
        if tree["mixed_widths"]:
            reached = [f"{x['converted']} -> {x['hip']}" for x in tree["mixed_widths"]]
            yield f"warps of 32 lanes in converted code reach code for whole wavefronts: {_some(reached)}"
    if s.get("ignored"):
        yield f"left out, since git ignores them: {_some(s['ignored'])}"
    yield ""
    yield "lines that hold something of CUDA's, names of CUDA's, and kernels, by what a port does with them"
    yield f"{'':<24}{'lines':>9}{'names':>8}{'kernels':>9}{'findings':>10}"
    for way, title in WAYS.items():
        cells = [s["by_way"][k][way] for k in ("lines", "names", "kernels", "findings")]
        yield f"{title:<24}{cells[0]:>9,}{cells[1]:>8,}{cells[2]:>9,}" + (
            f"{cells[3]:>10,}" if way != "self" else f"{'':>10}"
        )
    if top := top_work(doc["findings"])[:_MOST]:
        yield ""
        yield "what takes the most time"
        for x in top:
            yield f"  {x['minutes'] / 60:>6,.1f} h  {x['code']}: {x['message']} ({_count(x['count'], 'place')})"
    if doc["libraries"]:
        yield ""
        yield "libraries"
        for lib in doc["libraries"]:
            gaps = f"; without a counterpart: {_some(lib['gaps'])}" if lib["gaps"] else ""
            uses = f"{_count(lib['names'], 'name')}, {_count(lib['uses'], 'use')}"
            yield f"  {lib['title']} -> {lib['target'] or 'none'}: {uses}{gaps}"
    if doc["wave64"]:
        yield ""
        yield f"wavefronts of 64 lanes, worst first; {open_risks(doc):,} left for a person hang or give wrong results"
        for w in doc["wave64"][:_MOST]:
            path, line = w["places"][0]
            more = f" and {w['count'] - 1} more" if w["count"] > 1 else ""
            of_them = "" if w["open"] == w["count"] else f" ({w['open']} left for a person)"
            yield f"  {w['harm']}: {path}:{line}{more}{of_them}: {w['code']} {w['name']}: {w['message']}"
        if len(doc["wave64"]) > _MOST:
            yield f"  and {len(doc['wave64']) - _MOST} more kinds"
    if doc["ptx"]:
        total, lifted = sum(p["count"] for p in doc["ptx"]), sum(p["lifted"] for p in doc["ptx"])
        left = [f"{p['instruction']} ({p['count'] - p['lifted']})" for p in doc["ptx"] if p["lifted"] < p["count"]]
        yield ""
        yield f"inline PTX: {lifted} of {total} instructions become C++" + (f"; left: {_some(left)}" if left else "")
    if doc["requirements"]:
        yield ""
        yield "what it asks of the machine"
        for r in doc["requirements"]:
            yield f"  {r['title']} ({_count(len(r['places']), 'place')}): {r['note']}"
    if doc["build"]:
        lines, files = len(doc["build"]), len({b["path"] for b in doc["build"]})
        yield ""
        yield f"build files that name CUDA: {_count(lines, 'line')} in {_count(files, 'file')}"
        for k in build_kinds(doc):
            yield f"  {k['what']}: {_count(k['lines'], 'line')} in {_count(k['files'], 'file')} -> {k['instead']}"
    if doc["bindings"]:
        yield ""
        yield "other languages that use CUDA; convert reads C++ alone"
        for language, places in by_language(doc).items():
            at = "{path}:{line}".format(**places[0])
            found = _count(len({b["path"] for b in places}), "file")
            yield f"  {language}: {found}, first {at} -> {places[0]['instead']}"
    if doc["order"]:
        yield ""
        yield "port first"
        for o in doc["order"][:_MOST]:
            n = o["needed_by"]
            yield f"  {o['path']}" + (f" ({_count(n, 'file')} depend{'s' if n == 1 else ''} on it)" if n else "")
    if "compare" in doc:
        c = doc["compare"]
        yield ""
        yield f"since then: {c['fixed']} fixed, {c['new']} new, {c['left']} left"
        for x in c["new_findings"][:_MOST]:
            yield f"  new: {x['path']}:{x['line']}: {x['code']}: {x['message']}"


def _own(doc: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What cu2port could not do."""
    return [x for x in doc["findings"] if OWN.has(x["code"]) and x["way"] == "hand"]


def open_risks(doc: Mapping[str, Any]) -> int:
    """How many findings that are left for a person hang or give wrong results on 64 lanes."""
    return sum(w["open"] for w in doc["wave64"] if w["harm"] in ("hang", "wrong-result"))


def top_work(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rules and messages that an hour or more goes to, most first."""
    out = [x for x in folded(findings) if x["minutes"] >= 60]
    return sorted(out, key=lambda x: (-x["minutes"], x["code"], x["message"]))


def folded(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is left for a person: findings of one rule with one message as one, what has no counterpart first."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for x in findings:
        if x["way"] in ("hand", "none"):
            groups[x["way"], x["code"], x["message"]].append(x)
    out = [
        {
            "way": way,
            "code": code,
            "name": found[0]["name"],
            "message": message,
            "count": len(found),
            "minutes": round(sum(x["minutes"] for x in found), 1),
            "place": f"{found[0]['path']}:{found[0]['line']}",
        }
        for (way, code, message), found in groups.items()
    ]
    return sorted(out, key=lambda x: (x["way"] != "none", -x["minutes"], x["code"], x["message"]))


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def size(s: Mapping[str, Any]) -> str:
    """How large the tree is, in words."""
    own = f"{_count(s['cuda_files'], 'CUDA file')} with {_count(s['cuda_lines'], 'line')}"
    words = f"{own}, of {_count(s['files'], 'source file')}"
    return words + (f"; {s['other_files']:,} are for HIP or SYCL already" if s["other_files"] else "")


def by_language(doc: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Lines of other languages that use CUDA, by language."""
    out: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for b in doc["bindings"]:
        out[b["language"]].append(b)
    return dict(sorted(out.items()))


def build_kinds(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lines of build files by what they say: `lines`, `files`, and the `places` as (path, line, text)."""
    groups: dict[tuple[str, str], list[tuple[str, int, str]]] = defaultdict(list)
    for b in doc["build"]:
        groups[b["what"], b["instead"]].append((b["path"], b["line"], b["text"]))
    out = [
        {"what": what, "instead": instead, "lines": len(p), "files": len({path for path, _, _ in p}), "places": p}
        for (what, instead), p in groups.items()
    ]
    return sorted(out, key=lambda x: (-x["lines"], x["what"]))


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST]) + (f", and {len(items) - _MOST} more" if len(items) > _MOST else "")


def markdown(doc: Mapping[str, Any]) -> str:
    """The audit as Markdown, for an issue or a wiki."""
    return "\n".join(_markdown(doc)) + "\n"


def _markdown(doc: Mapping[str, Any]) -> Iterator[str]:
    s, e = doc["summary"], doc["effort"]
    yield "# What porting to HIP takes"
    yield ""
    yield f"{size(s)}. Effort: {cell(e['words'])}."
    if gone := len(_own(doc)):
        yield f"**cu2port could not look at {_count(gone, 'file')} as it should**; more may be left than is said here."
    yield ""
    yield "Lines that hold something of CUDA's, names of CUDA's, and kernels, by what a port does with them:"
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
        ((x["title"], x["target"] or "none", x["names"], x["uses"], _some(x["gaps"])) for x in doc["libraries"]),
    )
    if doc["wave64"]:
        yield "## Wavefronts of 64 lanes"
        yield ""
        yield f"{open_risks(doc):,} left for a person hang or give wrong results."
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
