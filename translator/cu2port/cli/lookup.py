"""The commands that look things up: `query`, `explain`, `rules`."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cu2port.catalog import Catalog, Row, load_catalog
from cu2port.cli.console import echo, echo_document, echo_lines
from cu2port.cli.options import shared
from cu2port.core.plain import json_of
from cu2port.engine.name_mapping import mapping_of
from cu2port.project.config import find_config
from cu2port.project.tree import CannotRun
from cu2port.report.pages import marked, pages

_CLOSE = 5
_TYPES = {"*": "a pointer", "!*": "no pointer"}


def query(name: str, as_json: bool) -> int:
    """Show a row of the catalogue; 1 when there is none, 2 when the project's rules cannot be read."""
    try:
        own = shared({}, find_config(Path.cwd())).rules
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2
    catalog = load_catalog(own)
    name = name.strip().removeprefix("::").removesuffix("()")
    row = catalog.get(name)
    if row is None and name in catalog.headers:
        return _header(catalog, name, as_json)
    if row is None:
        near = _near(catalog, name)
        if as_json:
            echo_document(json_of({"cuda": name, "mapping": None, "near": near}) + "\n")
        else:
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            echo(f"{name}: not in the catalogue{hint}", err=True)
        return 1
    if as_json:
        echo_document(json_of(_row_values(catalog, row, own)) + "\n")
    else:
        for line in _row_lines(catalog, row, own):
            echo_lines(line)  # of a field, which may fill several
    return 0


def explain(rule: str) -> int:
    """Show the page of a rule; 1 when there is none."""
    found = pages().values()
    wanted = rule.strip().lower()
    page = next((p for p in found if wanted in (p.code.lower(), p.name)), None)
    if page is None:
        near = difflib.get_close_matches(wanted, [w for p in found for w in (p.code.lower(), p.name)], _CLOSE)
        hint = f"; did you mean {', '.join(n.upper() if n.startswith('cu') else n for n in near)}?" if near else ""
        echo(f"{rule}: no such rule{hint} (`cu2port rules` lists them)", err=True)
        return 1
    echo_lines(f"{page.code} {page.name}\n\n{page.text}")
    return 0


def rules(as_json: bool) -> int:
    """List code, name and first line of every rule; as JSON also its severity and page."""
    if as_json:
        found = [
            {"code": p.code, "name": p.name, "severity": p.severity, "title": p.title, "text": p.text}
            for p in pages().values()
        ]
        echo_document(json_of({"rules": found}) + "\n")
        return 0
    width = max(len(p.name) for p in pages().values())
    for page in pages().values():
        echo(f"{page.code} {page.name:<{width}}  {page.title}")
    return 0


def _near(catalog: Catalog, name: str) -> list[str]:
    """Names that someone may have meant: other case, the last part of a qualified name, small slips."""
    names = list(catalog.names)
    same = [n for n in names if n.lower() == name.lower() or n.endswith((f"::{name}", f".{name}"))]
    pool = [n for n in names if n[:2].lower() == name[:2].lower()] or names
    return list(dict.fromkeys((*same, *difflib.get_close_matches(name, pool, _CLOSE))))[:_CLOSE]


def _title(catalog: Catalog, library: str) -> tuple[str, str]:
    found = next((lib for lib in catalog.libraries if lib.name == library), None)
    return (found.title, found.target) if found else (library, "")


def _row_values(catalog: Catalog, row: Row, own: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    title, target = _title(catalog, row.library)
    found = mapping_of(row, own)
    return {
        "cuda": row.cuda,
        "mapping": found.mapping,
        "hip": found.hip or None,
        "library": {"name": row.library, "title": title, "target": target},
        "headers": list(row.headers) or [h for h in (catalog.hip_headers.get(row.library),) if h and row.hip],
        "versions": dict(row.versions),
        "older": {"until": row.older_until, "hip": row.older_hip} if row.older_until else None,
        "trust": row.trust.label if row.mapping == "change" else "exact" if row.mapping == "rename" else None,
        "no_images": row.no_images or None,
        "args": {str(i): text for i, text in row.args},
        "call": row.call or None,
        "argc": list(row.argc),
        "forms": [
            {
                "argc": list(f.argc),
                "types": {str(i): t for i, t in f.types},
                "hip": f.hip,
                "args": {str(i): t for i, t in f.args},
                "call": f.call or None,
            }
            for f in row.forms
        ],
        "values": {str(i): dict(pairs) for i, pairs in row.values},
        "helper": row.helper or None,
        "drop": row.drop,
        "why": row.why,
        "instead": row.instead,
        "example": {"before": row.before, "after": row.after} if row.before else None,
        "unchecked": row.unchecked,
        "rules": [asdict(rule) for rule in found.rules],
    }


def _row_lines(catalog: Catalog, row: Row, own: tuple[tuple[str, str], ...]) -> Iterator[str]:
    title, target = _title(catalog, row.library)
    found = mapping_of(row, own)
    if found.mapping == "unsupported":
        yield f"{row.cuda} -> not in HIP"
    elif row.drop:
        yield f"{row.cuda} -> removed"
    elif found.hip == row.cuda:
        yield f"{row.cuda} -> the same in HIP"
    else:
        yield f"{row.cuda} -> {found.hip}"
    said = {"rename": "same arguments, same meaning", "change": "changed", "unsupported": "unsupported"}[found.mapping]
    if found.mapping == "rename" and any(not rule.kept for rule in found.rules):
        said = "same arguments; the rules below say where the meaning differs"
    yield _field("library", f"{title} ({target})" if target else title)
    yield _field("mapping", f"{said}; trust: {row.trust.label}" if row.mapping == "change" else said)
    for rule in found.rules:
        where = " (with `--warp flag`, and in code for HIP)" if rule.kept else ""
        yield _field("rule", f"{rule.code} {rule.name}{where}: {rule.message}")
    header = ", ".join(row.headers) or (catalog.hip_headers.get(row.library, "") if row.hip else "")
    if header:
        yield _field("header", header)
    since = [f"{key.replace('cuda', 'CUDA').replace('hip', 'HIP').replace('_', ' ')} {v}" for key, v in row.versions]
    if since:
        yield _field("versions", ", ".join(since))
    if row.older_until:
        yield _field("older", f"{row.older_hip} before ROCm {row.older_until}")
    if row.no_images:
        yield _field("no images", f"{row.no_images} for --arch gfx942 and others without texture units")
    for index, text in row.args:
        yield _field("argument", f"{index}: {text}")
    if row.call:
        yield _field("call", row.call)
    if row.argc:
        yield _field("holds for", f"{' or '.join(map(str, row.argc))} arguments")
    for form in row.forms:
        changes = "; ".join((*(f"argument {i}: {t}" for i, t in form.args), *filter(None, [form.call])))
        which = f"{' or '.join(map(str, form.argc))} arguments"
        which += "".join(f", argument {i} {_TYPES.get(t, f'a {t}')}" for i, t in form.types)
        yield _field("form", f"{which}: {form.hip}{f' ({changes})' if changes else ''}")
    for index, pairs in row.values:
        yield _field("value", f"argument {index}: {', '.join(f'{a} -> {b}' for a, b in pairs)}")
    if row.helper:
        yield _field("helper", f"cu2port/{row.helper} is copied to the output")
    for key, text in (("why", row.why), ("instead", row.instead)):
        if text:
            yield _field(key, text)
    if row.before:
        yield marked("before ", row.before)
        yield marked("after  ", row.after)
    if row.unchecked:
        yield _field("note", "not checked against HIP's headers: no available header declares it")


def _field(key: str, text: str) -> str:
    lead = f"  {key:<10}"
    return textwrap.fill(text, 100, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False)


def _header(catalog: Catalog, name: str, as_json: bool) -> int:
    hip = catalog.headers[name]
    if as_json:
        echo_document(json_of({"cuda": name, "mapping": "header", "hip": hip or None}) + "\n")
    else:
        echo(f"#include <{name}> -> " + (f"#include <{hip}>" if hip else "dropped; HIP needs none"))
    return 0
