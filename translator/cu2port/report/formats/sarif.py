"""Findings as SARIF 2.1.0 (OASIS), inside the limits that GitHub's code scanning sets.

Paths are relative to the tree's root (`%SRCROOT%`). Columns count Unicode characters. A result's fingerprint is made
from its rule and the words of its line, and its number among equal ones in the file, so that unrelated edits leave it
alone.
"""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cu2port.core.locate import Place
from cu2port.core.plain import json_of
from cu2port.core.version import __version__
from cu2port.lint.run import FileLint, LintFinding
from cu2port.report.pages import Page, pages

# What GitHub takes: https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning
MOST_RESULTS = 25_000  # of a run
MOST_BYTES = 9_500_000  # of a log after gzip, which the upload applies; 10 MB less what another gzip may add
_MOST_RELATED = 20  # further places of a result
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ORDER = {"error": 0, "warning": 1, "info": 2}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def of_lint(files: Sequence[FileLint], note: str = "") -> str:
    """The SARIF log as text. `note`: what there is to say of the whole tree."""
    rules = pages()
    most = MOST_RESULTS
    while True:
        text = json_of(document(files, rules, most, note)) + "\n"
        size = len(text)  # a log that is small enough as it is need not be packed to know
        if size > MOST_BYTES // 4:
            size = len(gzip.compress(text.encode("utf-8", "backslashreplace"), 6))
        if size <= MOST_BYTES or most <= 1:
            return text
        most = max(1, int(min(most, sum(len(f.findings) for f in files)) * MOST_BYTES / size * 0.9))


def of_audit(audit: Mapping[str, Any]) -> str:
    """The findings of an audit as a SARIF log; files are named from the working folder, those outside from the input
    that holds them."""
    files = []
    for path, found in groupby(audit["findings"], key=lambda x: x["path"]):
        shown = _from_here(path, audit["options"]["inputs"])
        files.append(FileLint(shown, tuple(_of_audit(x) for x in found if x["way"] != "note")))
    tree = audit["summary"].get("hip")
    return of_lint(files, f"code for HIP: {tree['message']}" if tree else "")


def _from_here(path: str, inputs: Sequence[str]) -> str:
    """A path of an audit as a log may name it: relative, and not leading out."""
    here, file = Path.cwd(), Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are named
    tops = [Path(os.path.abspath(i)) for i in inputs]  # noqa: PTH100
    tops = [top if len(tops) == 1 and top != file else top.parent for top in tops]
    for folder in (here, *tops):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.name


def _of_audit(x: Mapping[str, Any]) -> LintFinding:
    start, end = Place(x["line"], x["column"], 0), Place(x["line"], x["column"] + 1, 0)
    marks = (x["code"], x["name"], x["severity"], x["message"], start, end, x["before"], x["fingerprint"])
    return LintFinding(*marks, effects=tuple(x["effects"].items()), why=tuple(x["why"]))


def document(files: Sequence[FileLint], rules: Mapping[str, Page], most: int, note: str = "") -> dict[str, Any]:
    """The SARIF log as JSON values. Of more than `most` results the least severe are left out, and the log says so."""
    pairs = [(f.path, x) for f in files for x in f.findings]
    every = len(pairs)
    if every > most:
        pairs = sorted(pairs, key=lambda p: _ORDER[p[1].severity])[:most]
    codes = sorted({x.code for _, x in pairs})
    index = {code: i for i, code in enumerate(codes)}
    notes = [{"level": "note", "message": {"text": note}}] if note else []
    if every > most:
        text = f"{every} findings; the {most} most severe are listed"
        notes.append({"level": "warning", "message": {"text": text}})
    run = {
        "tool": {
            "driver": {
                "name": "cu2port",
                "semanticVersion": __version__,
                "rules": [_rule(rules[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the root of the tree that was looked at"}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": list(_results(pairs, index)),
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(page: Page) -> dict[str, Any]:
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.why or page.title},
        "help": {"text": page.body, "markdown": page.markdown},
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
    }


def _results(pairs: Iterable[tuple[str, LintFinding]], index: Mapping[str, int]) -> Iterable[dict[str, Any]]:
    seen: Counter[tuple[str, str]] = Counter()
    for path, x in pairs:
        number = seen[path, x.mark]
        seen[path, x.mark] += 1
        uri = {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
        text = x.message if not x.why else f"{x.message}\n\n" + "\n".join(x.why)
        result: dict[str, Any] = {
            "ruleId": x.code,
            "ruleIndex": index[x.code],
            "level": _LEVELS[x.severity],
            "message": {"text": text},
            "locations": [{"physicalLocation": {"artifactLocation": uri, "region": _region(x)}}],
            "partialFingerprints": {"cu2port/v1": f"{x.mark}:{number}"},
        }
        if x.also:
            result["relatedLocations"] = [
                {
                    "message": {"text": "the same again"},
                    "physicalLocation": {
                        "artifactLocation": uri,
                        "region": {"startLine": p.line, "startColumn": p.column},
                    },
                }
                for p in x.also[:_MOST_RELATED]
            ]
        if x.effects:
            result["properties"] = {"effects": dict(x.effects)}
        if x.fix is not None:
            result["fixes"] = [
                {
                    "description": {"text": f"what cu2port would write ({x.fix.trust})"},
                    "artifactChanges": [
                        {
                            "artifactLocation": uri,
                            "replacements": [
                                {"deletedRegion": _region(x.fix), "insertedContent": {"text": x.fix.text}},
                            ],
                        }
                    ],
                }
            ]
        yield result


def _region(x: Any) -> dict[str, int]:
    return {
        "startLine": x.start.line,
        "startColumn": x.start.column,
        "endLine": x.end.line,
        "endColumn": x.end.column,
    }
