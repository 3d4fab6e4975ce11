"""Lint findings as text, JSON, and what GitHub's, GitLab's and other CI servers read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cu2port.core.families import OWN
from cu2port.core.locate import Place
from cu2port.core.plain import json_of, one_line, visible
from cu2port.core.version import __version__
from cu2port.lint.run import FileLint, LintFinding

SCHEMA = "cu2port-lint/1"
_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}
_GITLAB = {"error": "major", "warning": "minor", "info": "info"}
_BAD_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


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


def json_text(files: Sequence[FileLint]) -> str:
    """The findings as JSON, `cu2port-lint/1`."""
    return json_of(json_document(files)) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `json_text`."""
    text = Path(__file__).with_name("cu2port-lint-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def json_document(files: Sequence[FileLint]) -> dict[str, Any]:
    """The findings as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "summary": {
            "files": len(files),
            "findings": sum(len(f.findings) for f in files),
            "fixed": sum(f.fixed for f in files),
            "by_code": dict(sorted(Counter(x.code for f in files for x in f.findings).items())),
        },
        "findings": [_json(f.path, x) for f in files for x in f.findings],
    }


def _json(path: str, x: LintFinding) -> dict[str, Any]:
    return {
        "path": path,
        "code": x.code,
        "name": x.name,
        "severity": x.severity,
        "message": x.message,
        "start": _place(x.start),
        "end": _place(x.end),
        "also": [_place(p) for p in x.also],
        "fingerprint": x.mark,
        "effects": dict(x.effects),
        "why": list(x.why),
        "fix": x.fix
        and {"start": _place(x.fix.start), "end": _place(x.fix.end), "text": x.fix.text, "trust": x.fix.trust},
    }


def _place(p: Place) -> dict[str, int]:
    return {"line": p.line, "column": p.column, "offset": p.offset}


def github_lines(files: Sequence[FileLint]) -> Iterator[str]:
    """Workflow commands, which GitHub shows beside the code."""
    for f in files:
        for x in f.findings:
            end = x.end.line if x.end.line > x.start.line else x.start.line
            where = f"file={_property(f.path)},line={x.start.line},col={x.start.column},endLine={end}"
            title = _property(f"{x.code} {x.name}")
            yield f"::{_GITHUB[x.severity]} {where},title={title}::{_message(x.message)}"


def _message(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def gitlab_text(files: Sequence[FileLint]) -> str:
    """A Code Quality report."""
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
                    "severity": _GITLAB[x.severity],
                    "location": {
                        "path": f.path,
                        "lines": {"begin": x.start.line, "end": max(x.start.line, x.end.line)},
                    },
                }
            )
    return json_of(rows) + "\n"


def junit_text(files: Sequence[FileLint]) -> str:
    """JUnit's XML: a test case a file, a failure a finding."""
    out = []
    failures = 0
    for f in files:
        out.append(f"  <testcase name={_attribute(f.path)} classname={_attribute('cu2port.lint')}>")
        for x in f.findings:
            failures += 1
            text = _xml(one_line(f"{f.path}:{x.start.line}:{x.start.column}: {x.code} {x.name}: {x.message}"))
            out.append(f"    <failure message={_attribute(x.message)} type={_attribute(x.code)}>{text}</failure>")
        out.append("  </testcase>")
    head = f'<testsuite name="cu2port lint" tests="{len(files)}" failures="{failures}" errors="0">'
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *out, "</testsuite>")) + "\n"


def _clean(text: str) -> str:
    return text.translate(_BAD_XML).encode("utf-8", "replace").decode("utf-8")


def _xml(text: str) -> str:
    from html import escape  # its table of entities takes longer to load than most reports to write

    escaped = escape(_clean(text), quote=False)
    return "".join(c if c.isprintable() or c in "\t\n\r" else f"&#{ord(c)};" for c in escaped)


def _attribute(text: str) -> str:
    text = _xml(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    return f'"{text}"'


def statistics_lines(files: Sequence[FileLint]) -> Iterator[str]:
    """How many findings of each rule, most first."""
    counts = Counter((x.code, x.name) for f in files for x in f.findings)
    for (code, name), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{n:>7}  {code} {name}"
