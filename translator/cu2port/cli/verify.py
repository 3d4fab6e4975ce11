"""The `verify` command, and what `convert --verify` does after converting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cu2port.cli.console import echo
from cu2port.cli.options import shared
from cu2port.cli.reports import progress, report_paths, write_reports, write_text
from cu2port.core import verified
from cu2port.core.model import Options
from cu2port.core.record import RunRecord
from cu2port.core.verified import VerifyRecord
from cu2port.core.version import __version__
from cu2port.project import compile_db, plan
from cu2port.project.config import find_config
from cu2port.project.tree import CannotRun
from cu2port.report import json_report
from cu2port.verify.compile import Request, listed, run

_GPUS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")  # one of each family that ROCm supports

_COLOURS = {"error": "red", "warning": "yellow"}


def command(path: str, words: Sequence[str], verbosity: int, asked: Mapping[str, Any]) -> int:
    """Run `verify`; returns the exit code. `words`: a command that builds the tree, if one is given."""
    try:
        reports = report_paths(asked["reports"], "run")
        earlier = {p: json_report.earlier(p) if name == "json" else None for p, name in reports.items()}
        pairs = [pair for content in earlier.values() if content for pair in json_report.outputs(content)]
        common = shared(asked, find_config(Path.cwd()))
        request = Request(
            path=path,
            archs=common.archs or _GPUS,
            compiler=asked["compiler"],
            rocm_path=asked["rocm_path"],
            include_dirs=common.include_dirs,
            defines=common.defines,
            std=_standard(asked["std"]),
            commands=compile_db.load(Path(asked["build"])) if asked["build"] else None,
            workers=asked["jobs"] or 0,
            limit_s=asked["time_limit"],
            sources=tuple(pairs),
            build=not asked["no_build"],
            build_args=asked["build_args"],
            build_with=asked["build_with"] or "",
            torch=asked["torch"],
            command=tuple(words),
            only=asked["only"],
        )
        if asked["listing"]:
            for name, language in sorted(listed(request)):
                echo(f"{language:<5} {name}")
            return 0
        with progress(verbosity, "compiling") as tick:
            found = run(request, tick)
        show(found, verbosity)
        for p, content in earlier.items():
            if content is not None:
                write_text(p, json_report.with_verify(content, found))
        write_reports({p: name for p, name in reports.items() if earlier[p] is None}, "run", _alone(found))
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2
    return end(found)


def _standard(text: str) -> str:
    if text and not compile_db.is_standard(text):
        raise CannotRun(f"--std {text}: a version of the language such as c++17")
    return text


def after_convert(request: plan.Request, record: RunRecord, archs: tuple[str, ...], verbosity: int) -> VerifyRecord:
    """`convert --verify`: compile what convert has just written, with the same include folders and macros."""
    options = request.options
    records = []
    for path in (request.out,) if request.mode == "out" else request.inputs:
        asked = Request(
            path=path,
            archs=archs,
            include_dirs=options.include_dirs,
            defines=options.defines,
            commands=request.commands,
            workers=request.workers,
            sources=tuple((f.output, f.path) for f in record.files),
        )
        with progress(verbosity, "compiling") as tick:
            records.append(run(asked, tick))
    found = records[0]._replace(
        units=tuple(u for r in records for u in r.units),
        notes=tuple(dict.fromkeys(n for r in records for n in r.notes)),
    )
    show(found, verbosity)
    return found


def show(found: VerifyRecord, verbosity: int) -> None:
    """Errors at their lines, then the summary."""
    for severity, line in verified.lines(found, verbosity):
        echo(line, fg=_COLOURS.get(severity))
    if verbosity >= 0:
        for note in found.notes:
            echo(f"note: {note}", err=True)
        for line in verified.summary(found):
            echo(line)


def end(found: VerifyRecord) -> int:
    """The exit code, with a word on why it is 2."""
    if found.exit_code == 2:
        echo("cu2port: nothing could be judged: the headers named above are not on this machine", err=True)
    return found.exit_code


def _alone(found: VerifyRecord) -> RunRecord:
    """A run that converted nothing; the ROCm it is for is that of the headers."""
    parts = found.hip_version.split(".")
    default = Options()
    rocm = ".".join(parts[:2]) if len(parts) > 1 else f"{default.rocm[0]}.{default.rocm[1]}"
    options = {"rocm": rocm, "trust": default.trust.label, "launch": default.launch}
    return RunRecord(__version__, options, (), found)
