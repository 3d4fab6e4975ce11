"""The `audit` command: options in, a report and an exit code out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cu2port.audit import compare
from cu2port.audit.run import audit
from cu2port.cli.console import echo, echo_document
from cu2port.cli.options import commands_of, shared
from cu2port.cli.reports import format_of, report_paths, write_reports, write_text
from cu2port.core.model import Options
from cu2port.project.config import find_config
from cu2port.project.plan import Request
from cu2port.project.tree import CannotRun, parse_size
from cu2port.report import formats


def command(paths: tuple[str, ...], asked: Mapping[str, Any]) -> int:
    """Run `audit`; returns the exit code."""
    try:
        out = Path(asked["output"]) if asked["output"] else None
        chosen = format_of(out, "audit", "-o", asked["format"] or "") if out else asked["format"] or "text"
        reports = report_paths(asked["reports"], "audit")
        older = compare.load(Path(asked["compare"])) if asked["compare"] else None
        document = audit(_request(paths, asked))
        if older is not None:
            document["compare"] = compare.compare(older, document)
            if not compare.share_files(older, document):
                echo(f"cu2port: --compare {asked['compare']}: no file of it is among these inputs", err=True)
        text = formats.render(chosen, "audit", document)
        if out is None:
            echo_document(text)
        else:
            write_text(out, text, "-o")
        write_reports(reports, "audit", document)
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
    config = find_config(Path.cwd())
    common = shared(asked, config)
    return Request(
        build_files=False,  # they are read line by line
        hip_side=config.hip_side or "auto",
        inputs=paths,
        mode="dry-run",
        options=Options(
            rocm=common.rocm,
            archs=common.archs,
            include_dirs=common.include_dirs,
            defines=common.defines,
            rules=common.rules,
        ),
        commands=commands_of(asked["build"], paths)[0],
        exclude=common.exclude,
        workers=asked["jobs"] or 0,
        max_size=parse_size(asked["max_size"]),
    )
