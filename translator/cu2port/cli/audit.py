"""The `audit` command: options in, a report and an exit code out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cu2port.audit import compare
from cu2port.audit.run import audit
from cu2port.cli.console import echo, echo_document
from cu2port.cli.options import shared
from cu2port.core.model import Options
from cu2port.core.plain import json_of
from cu2port.project import compile_db
from cu2port.project.config import find_config
from cu2port.project.output import write_named
from cu2port.project.plan import Request
from cu2port.project.tree import CannotRun, parse_size
from cu2port.report import audit_text

_SUFFIXES = {".html": "html", ".json": "json", ".sarif": "sarif", ".md": "md", ".txt": "text"}


def command(paths: tuple[str, ...], asked: Mapping[str, Any]) -> int:
    """Run `audit`; returns the exit code."""
    try:
        out = Path(asked["output"]) if asked["output"] else None
        chosen = asked["format"] or (_SUFFIXES.get(out.suffix.lower(), "") if out else "text")
        if not chosen:
            raise CannotRun(f"-o {out}: the suffix says no format; there is {', '.join(_SUFFIXES)}, or --format")
        if out is not None and not out.absolute().parent.is_dir():
            raise CannotRun(f"-o {out}: there is no folder {out.parent}")
        older = compare.load(Path(asked["compare"])) if asked["compare"] else None
        document = audit(_request(paths, asked))
        if older is not None:
            document["compare"] = compare.compare(older, document)
            if not compare.share_files(older, document):
                echo(f"cu2port: --compare {asked['compare']}: no file of it is among these inputs", err=True)
        _deliver(_text(document, chosen), out)
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2
    if out is not None:
        echo(f"{out}: {document['effort']['words']}", err=True)
    left = any(x["way"] in ("hand", "none") for x in document["findings"]) or document["bindings"]
    return 1 if left else 0


def _request(paths: tuple[str, ...], asked: Mapping[str, Any]) -> Request:
    if "-" in paths:
        raise CannotRun("audit looks at files and folders; `-` is neither")
    common = shared(asked, find_config(Path.cwd()))
    return Request(
        inputs=paths,
        mode="dry-run",
        options=Options(rocm=common.rocm, archs=common.archs, include_dirs=common.include_dirs, defines=common.defines),
        commands=compile_db.load(Path(asked["build"])) if asked["build"] else None,
        exclude=common.exclude,
        workers=asked["jobs"] or 0,
        max_size=parse_size(asked["max_size"]),
    )


def _text(document: dict[str, Any], chosen: str) -> str:
    if chosen == "json":
        return json_of(document) + "\n"
    if chosen == "md":
        return audit_text.markdown(document)
    if chosen == "text":
        return audit_text.text(document)
    if chosen == "sarif":
        from cu2port.report import sarif
        from cu2port.report.pages import pages

        return sarif.render_audit(document, pages())
    from cu2port.report import audit_html

    return audit_html.render(document)


def _deliver(text: str, out: Path | None) -> None:
    if out is None:
        echo_document(text)
        return
    write_named("-o", out, text.encode("utf-8", "backslashreplace"))
