"""Text for people: findings as a compiler shows them, and the summary of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cu2port.core.families import OWN
from cu2port.core.plain import one_line, visible
from cu2port.lint.run import FileLint, LintFinding
from cu2port.report.audit_parts import (
    WAYS,
    build_kinds,
    by_language,
    count,
    open_risks,
    own,
    size,
    some,
    top_work,
)

_MOST = 12


def of_lint(files: Sequence[FileLint]) -> str:
    """The findings, each with its source line and a caret."""
    return "".join(f"{one_line(line)}\n" for f in files for _, line in text_lines(f, True))


def of_audit(doc: Mapping[str, Any]) -> str:
    """The summary that `cu2port audit` prints."""
    return "".join(f"{one_line(line)}\n" for line in _text(doc))


def text_lines(f: FileLint, fix: bool) -> Iterator[tuple[str, str]]:
    """(severity, line): a finding as a compiler shows it, source line and caret. `fix`: mark what can be fixed."""
    path = visible(f.path)
    for x in f.findings:
        mark = "" if x.fix is None else f" [{'*' if x.fix.trust == 'exact' else '~'}]" if fix else ""
        if OWN.has(x.code) and not x.line:
            yield x.severity, f"{path}: {x.code} {x.name}: {x.message}"
            continue
        yield x.severity, f"{path}:{x.start.line}:{x.start.column}: {x.code} {x.name}: {x.message}{mark}"
        yield from (("", line) for line in _source(x))


def _source(x: LintFinding) -> tuple[str, str]:
    """The source line, and one with a caret under the finding; tabs keep their width."""
    first = x.start.column - 1 - x.cut
    last = x.end.column - 1 - x.cut if x.end.line == x.start.line else len(x.line.rstrip())
    width = max(1, min(last, len(x.line)) - first)
    indent = "".join("\t" if c == "\t" else " " for c in x.line[:first])
    number = f"{x.start.line:>5}"
    return f"{number} | {x.line}", f"{' ' * len(number)} | {indent}^{'~' * (width - 1)}"


def statistics_lines(files: Sequence[FileLint]) -> Iterator[str]:
    """How many findings of each rule, most first."""
    counts = Counter((x.code, x.name) for f in files for x in f.findings)
    for (code, name), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{n:>7}  {code} {name}"


def _text(doc: Mapping[str, Any]) -> Iterator[str]:
    yield size(doc["summary"])
    yield from _effort(doc)
    for section in _SECTIONS:
        lines = list(section(doc))
        if lines:
            yield from ("", *lines)


def _effort(doc: Mapping[str, Any]) -> Iterator[str]:
    yield f"effort: {doc['effort']['words']}"
    for p in doc["effort"]["parts"]:
        yield f"  {p['minutes'] / 60:>6,.1f} h  {p['what']}: {p['count']:,}"


def _unread(doc: Mapping[str, Any]) -> Iterator[str]:
    if gone := [f"{x['path']}: {x['message']}" for x in own(doc)]:
        yield f"cu2port could not read {count(len(gone), 'file')} completely; more work may be left than is shown here"
        yield from (f"  {line}" for line in gone[:_MOST])
        if len(gone) > _MOST:
            yield f"  and {len(gone) - _MOST} more"
    if tree := doc["summary"].get("hip"):
        yield f"code for HIP: {tree['message']}"
        if tree["mixed_widths"]:
            reached = [f"{x['converted']} -> {x['hip']}" for x in tree["mixed_widths"]]
            yield f"warps of 32 lanes in converted code reach code for whole wavefronts: {some(reached)}"
    if doc["summary"].get("ignored"):
        yield f"left out, since git ignores them: {some(doc['summary']['ignored'])}"


def _ways(doc: Mapping[str, Any]) -> Iterator[str]:
    yield "lines with CUDA code, CUDA names, and kernels, by what a port does with them"
    yield f"{'':<24}{'lines':>9}{'names':>8}{'kernels':>9}{'findings':>10}"
    for way, title in WAYS.items():
        cells = [doc["summary"]["by_way"][k][way] for k in ("lines", "names", "kernels", "findings")]
        yield f"{title:<24}{cells[0]:>9,}{cells[1]:>8,}{cells[2]:>9,}" + (
            f"{cells[3]:>10,}" if way != "self" else f"{'':>10}"
        )


def _top(doc: Mapping[str, Any]) -> Iterator[str]:
    if top := top_work(doc["findings"])[:_MOST]:
        yield "most time"
        for x in top:
            yield f"  {x['minutes'] / 60:>6,.1f} h  {x['code']}: {x['message']} ({count(x['count'], 'place')})"


def _libraries(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["libraries"]:
        yield "libraries"
    for lib in doc["libraries"]:
        gaps = f"; without a counterpart: {some(lib['gaps'])}" if lib["gaps"] else ""
        uses = f"{count(lib['names'], 'name')}, {count(lib['uses'], 'use')}"
        yield f"  {lib['title']} -> {lib['target'] or 'none'}: {uses}{gaps}"


def _wave64(doc: Mapping[str, Any]) -> Iterator[str]:
    if not doc["wave64"]:
        return
    yield f"wavefronts of 64 lanes, worst first; {open_risks(doc):,} for manual work hang or give wrong results"
    for w in doc["wave64"][:_MOST]:
        path, line = w["places"][0]
        more = f" and {w['count'] - 1} more" if w["count"] > 1 else ""
        of_them = "" if w["open"] == w["count"] else f" ({w['open']} for manual work)"
        yield f"  {w['harm']}: {path}:{line}{more}{of_them}: {w['code']} {w['name']}: {w['message']}"
    if len(doc["wave64"]) > _MOST:
        yield f"  and {len(doc['wave64']) - _MOST} more kinds"


def _ptx(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["ptx"]:
        total, lifted = sum(p["count"] for p in doc["ptx"]), sum(p["lifted"] for p in doc["ptx"])
        left = [f"{p['instruction']} ({p['count'] - p['lifted']})" for p in doc["ptx"] if p["lifted"] < p["count"]]
        yield f"inline PTX: {lifted} of {total} instructions become C++" + (f"; left: {some(left)}" if left else "")
        kinds: Counter[str] = Counter()
        for p in doc["ptx"]:
            if p["how"] and p["lifted"]:
                kinds[p["how"]] += p["lifted"]
        for how, n in kinds.most_common():
            yield f"  {n:,} {'product' if n == 1 else 'products'} {how}"


def _requirements(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["requirements"]:
        yield "hardware requirements"
    for r in doc["requirements"]:
        yield f"  {r['title']} ({count(len(r['places']), 'place')}): {r['note']}"


def _build(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["build"]:
        lines, files = len(doc["build"]), len({b["path"] for b in doc["build"]})
        yield f"build files that name CUDA: {count(lines, 'line')} in {count(files, 'file')}"
        for k in build_kinds(doc):
            yield f"  {k['what']}: {count(k['lines'], 'line')} in {count(k['files'], 'file')} -> {k['instead']}"


def _bindings(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["bindings"]:
        yield "other languages that use CUDA; of them `convert` ports cgo alone"
        for language, places in by_language(doc).items():
            at = "{path}:{line}".format(**places[0])
            found = count(len({b["path"] for b in places}), "file")
            yield f"  {language}: {found}, first {at} -> {places[0]['instead']}"


def _order(doc: Mapping[str, Any]) -> Iterator[str]:
    if doc["order"]:
        yield "port first"
        for o in doc["order"][:_MOST]:
            n = o["needed_by"]
            yield f"  {o['path']}" + (f" ({count(n, 'file')} depend{'s' if n == 1 else ''} on it)" if n else "")


def _compared(doc: Mapping[str, Any]) -> Iterator[str]:
    if "compare" in doc:
        c = doc["compare"]
        yield f"compared with the baseline: {c['fixed']} fixed, {c['new']} new, {c['left']} left"
        for x in c["new_findings"][:_MOST]:
            yield f"  new: {x['path']}:{x['line']}: {x['code']}: {x['message']}"


#: The parts of the summary, in this order, with an empty line before each.
_SECTIONS: tuple[Callable[[Mapping[str, Any]], Iterator[str]], ...] = (
    _unread,
    _ways,
    _top,
    _libraries,
    _wave64,
    _ptx,
    _requirements,
    _build,
    _bindings,
    _order,
    _compared,
)
