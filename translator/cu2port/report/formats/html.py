"""An audit as one HTML file that needs nothing else: a pure function of the document `cu2port-audit/1`.

jinja2 escapes whatever comes from source; the charts and the file tree are made here, and escape it themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from cu2port.report.audit_parts import WAYS, build_kinds, open_risks, size, top_work
from cu2port.report.pages import pages

MOST_BYTES = 4_900_000  # of a page; one that is larger is made again with half of everything
_MOST_TEXT = 400  # characters of a message
_MOST_WORD = 2_000  # characters of anything
_TOP_BARS = 12
_TOP_ROWS = 8
_MOST_NAME = 52  # characters of a name beside a bar
_TAGS = {"none": "no counterpart", "hand": "by hand", "review": "review", "note": "note"}
_ORDER = {"none": 0, "hand": 1, "review": 2, "note": 3}


class _Bounds(NamedTuple):
    """How many rows a section has at most: kinds of findings, places of one, files in the tree (beyond, folders alone),
    files of the order, risks of 64 lanes, PTX instructions."""

    groups: int = 2_000
    places: int = 12
    files: int = 3_000
    order: int = 300
    risks: int = 500
    instructions: int = 500

    def half(self) -> _Bounds:
        return _Bounds(*(max(1, n // 2) for n in self))


def of_audit(doc: Mapping[str, Any]) -> str:
    """The page as text, of at most 5 MB."""
    most = _Bounds()
    while True:
        text = _render(doc, most)
        small = len(text) <= MOST_BYTES // 4 or len(text.encode("utf-8", "backslashreplace")) <= MOST_BYTES
        if small or max(most) == 1:
            return text
        most = most.half()


def _render(doc: Mapping[str, Any], most: _Bounds) -> str:
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    groups = list(_groups(doc["findings"], most.places))
    top = top_work(doc["findings"])[:_TOP_ROWS]
    codes = sorted({g["code"] for g in groups} | {w["code"] for w in doc["wave64"]})
    known = pages()
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        finalize=lambda x: _visible(x) if isinstance(x, str) and not isinstance(x, Markup) else x,
    )
    environment.filters["code"] = lambda text: Markup(_code(text))
    still = [x for x in doc["findings"] if x["way"] in ("hand", "none")]
    return environment.get_template("audit.html.j2").render(
        doc=doc,
        most=most,
        title=", ".join(map(_visible, doc["options"]["inputs"])),
        ways=WAYS,
        tags=_TAGS,
        open_count=len(still),
        harmful=open_risks(doc),
        shares=Markup(_shares(doc["summary"]["by_way"])),
        bars=Markup(_bars(doc["files"])),
        tree=Markup("".join(_tree(doc["files"], most.files))),
        groups=groups[: most.groups],
        top=top,
        groups_left=max(0, len(groups) - most.groups),
        codes=codes,
        size=size(doc["summary"]),
        builds=build_kinds(doc),
        pages=[known[c] for c in codes if c in known],
    )


def _code(text: str) -> str:
    """Text whose stretches between backticks are code, as HTML."""
    parts = _visible(text).split("`")
    if len(parts) % 2 == 0:  # one backtick has no fellow
        return escape("`".join(parts))
    return "".join(f"<code>{escape(p)}</code>" if n % 2 else escape(p) for n, p in enumerate(parts))


def _visible(text: str) -> str:
    """Text without characters that turn or hide what stands around them, and not without end."""
    if len(text) > _MOST_WORD:
        text = text[:_MOST_WORD] + "..."
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _groups(findings: Sequence[Mapping[str, Any]], places: int) -> Iterator[dict[str, Any]]:
    """Findings of one rule, way and message, the hardest first."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for x in findings:
        groups[x["way"], x["code"], x["message"]].append(x)
    ordered = sorted(groups.items(), key=lambda g: (_ORDER[g[0][0]], -sum(x["minutes"] for x in g[1]), g[0][1:]))
    for (way, code, message), found in ordered:
        yield {
            "way": way,
            "code": code,
            "message": _visible(message if len(message) <= _MOST_TEXT else message[:_MOST_TEXT] + " ..."),
            "why": found[0]["why"],
            "before": found[0]["before"],
            "after": found[0]["after"],
            "count": len(found),
            "minutes": round(sum(x["minutes"] for x in found), 1),
            "places": [(_visible(x["path"]), x["line"]) for x in found[:places]],
        }


def _shares(by_way: Mapping[str, Mapping[str, int]]) -> str:
    """Stacked bars: which share of lines, names and kernels goes which way."""
    width, row = 400, 34
    parts = []
    words = []
    for y, kind in enumerate(("lines", "names", "kernels")):
        counts = by_way[kind]
        total = sum(counts.values())
        own = f"{counts['self'] / total:.0%} by itself" if total else "none"
        parts.append(f'<text x="0" y="{y * row + 11}">{kind}</text>')
        parts.append(f'<text x="{width}" y="{y * row + 11}" text-anchor="end">{own}</text>')
        x = 0.0
        for way, title in WAYS.items():
            length = width * counts[way] / total if total else 0.0
            if length:
                label = f"{kind}, {title}: {counts[way]:,} ({counts[way] / total:.0%})"
                words.append(label)
                parts.append(
                    f'<rect class="f-{way}" x="{x:.1f}" y="{y * row + 15}" width="{max(1.0, length):.1f}" height="13">'
                    f"<title>{escape(label)}</title></rect>"
                )
            x += length
    return _svg(width, 3 * row, "Shares of lines, names and kernels: " + "; ".join(words), parts)


def _bars(files: Sequence[Mapping[str, Any]]) -> str:
    """Bars of minutes: the folders (or files, if there is one folder) with the most."""
    sums: dict[str, float] = defaultdict(float)
    for f in files:
        sums[f["path"].rpartition("/")[0] or "."] += f["minutes"]
    if len(sums) < 2:
        sums = defaultdict(float, {f["path"].rpartition("/")[2]: f["minutes"] for f in files})
    rows = sorted(((n, name) for name, n in sums.items() if n > 0), key=lambda r: (-r[0], r[1]))[:_TOP_BARS]
    if not rows:
        return '<p class="soft">There is none.</p>'
    width, row = 400, 29
    most = rows[0][0]
    parts = []
    for y, (n, name) in enumerate(rows):
        shown = _visible(name if len(name) <= _MOST_NAME else "..." + name[3 - _MOST_NAME :])
        parts.append(f'<text x="0" y="{y * row + 11}">{escape(shown)}</text>')
        parts.append(f'<text x="{width}" y="{y * row + 11}" text-anchor="end">{n / 60:,.1f} h</text>')
        length = max(2.0, width * n / most)
        parts.append(f'<rect class="f-bar" x="0" y="{y * row + 14}" width="{length:.1f}" height="8"></rect>')
    label = "Hours of work: " + "; ".join(f"{_visible(name)} {n / 60:,.1f}" for n, name in rows)
    return _svg(width, len(rows) * row + 4, label, parts)


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
    return f"{head}{''.join(parts)}</svg>"


def _tree(files: Sequence[Mapping[str, Any]], most_files: int) -> Iterator[str]:
    """The files with findings as nested lists, hottest first."""
    hot = [f for f in files if f["minutes"] > 0 or f["failed"]]
    if not hot:
        yield '<p class="soft">No file has work left in it.</p>'
        return
    most = max(f["minutes"] for f in hot) or 1.0
    root: dict[str, Any] = {}
    for f in hot:
        node = root
        *folders, name = f["path"].split("/")
        for folder in folders:
            node = node.setdefault(folder + "/", {})
        node[name] = f
    yield from _branch(root, most, len(hot) <= most_files, 0)


def _minutes(node: Mapping[str, Any]) -> float:
    if "path" in node and isinstance(node["path"], str):
        return float(node["minutes"])
    return sum(_minutes(x) for x in node.values())


def _branch(node: Mapping[str, Any], most: float, with_files: bool, depth: int) -> Iterator[str]:
    yield "<ul>"
    for name, below in sorted(node.items(), key=lambda item: (-_minutes(item[1]), item[0])):
        n = _minutes(below)
        heat = f'<span class="heat" aria-hidden="true"><i style="width:{min(1.0, n / most):.0%}"></i></span>'
        if name.endswith("/"):
            # a chain of folders that hold nothing else is one line
            while len(below) == 1 and next(iter(below)).endswith("/"):
                inner = next(iter(below))
                name, below = name + inner, below[inner]
            opened = " open" if depth == 0 and len(node) <= 4 else ""
            shown = f'<code>{escape(_visible(name))}</code> <span class="soft">{n:,.0f}</span>'
            label = f'{heat}<span class="name">{shown}</span>'
            yield f"<li><details{opened}><summary>{label}</summary>"
            yield from _branch(below, most, with_files, depth + 1)
            yield "</details></li>"
        elif with_files:
            text = _visible(below["failed"]) or f"{n:,.0f}; {below['kernels']} kernels"
            label = f'<code>{escape(_visible(name))}</code> <span class="soft">{escape(text)}</span>'
            yield f'<li><span>{heat}<span class="name">{label}</span></span></li>'
    yield "</ul>"
