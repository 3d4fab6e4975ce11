"""The `convert` command: options in, lines and exit code out."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cu2port.cli.console import echo
from cu2port.cli.options import commands_of, shared
from cu2port.cli.reports import progress, report_paths, write_reports
from cu2port.core.file_rules import IN_THE_WAY
from cu2port.core.model import Options, Trust
from cu2port.project.config import find_config
from cu2port.project.convert import Ran, run
from cu2port.project.plan import Mode, Request
from cu2port.project.tree import CannotRun, parse_size
from cu2port.report import terminal

_COLOURS = {"error": "red", "warning": "yellow"}


def command(paths: tuple[str, ...], verbosity: int, asked: Mapping[str, Any]) -> int:
    """Run `convert`; returns the exit code."""
    try:
        request = _request(paths, asked)
        archs = _archs(request, asked["verify"])
        reports = report_paths(asked["reports"], "run")
        stdin = sys.stdin.buffer.read() if request.inputs == ("-",) else None
        with progress(verbosity) as tick:
            ran = run(request, stdin, tick)
        if ran.stdout:
            sys.stdout.buffer.write(ran.stdout)
            sys.stdout.buffer.flush()
        _show(request, ran, verbosity)
        verified = _verify(request, ran, archs, verbosity) if archs and not ran.in_the_way else 0
        write_reports(reports, "run", ran.record)
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2
    if ran.in_the_way:
        left = "outputs that were changed by hand were left alone"
        echo(f"cu2port: {left} ({IN_THE_WAY.code}); --force replaces them", err=True)
        return 2
    return max(verified, 1 if ran.record.open else 0)


def _verify(request: Request, ran: Ran, archs: tuple[str, ...], verbosity: int) -> int:
    """Compile what was converted, put the results in the record, and return the exit code for that."""
    from cu2port.cli import verify

    try:
        found = verify.after_convert(request, ran.record, archs, verbosity)
    except CannotRun as e:  # converted it is all the same, and a report says so
        echo(f"cu2port: {e}", err=True)
        return 2
    ran.record = replace(ran.record, verify=found)
    return verify.end(found)


def _request(paths: tuple[str, ...], asked: Mapping[str, Any]) -> Request:
    config = find_config(Path.cwd())
    common = shared(asked, config)
    options = Options(
        rocm=common.rocm,
        trust=Trust[asked["trust"].upper()],
        launch=asked["launch"],
        ptx=asked["ptx"],
        ptx_fp=asked["ptx_fp"],
        cuda_arch=_cuda_arch(asked["cuda_arch"]),
        warp=asked["warp"] or config.warp or "logical",
        kernels=tuple(sorted({**config.kernels, **dict(map(_kernel, asked["kernels"]))}.items())),
        archs=common.archs,
        rename=_suffix(asked["rename"]),
        skip_inactive=asked["skip_inactive"],
        comments=asked["comments"],
        include_dirs=common.include_dirs,
        defines=common.defines,
        rules=common.rules,
    )
    mode, out = _mode(paths, asked)
    commands, note = commands_of(asked["build"], paths)
    return Request(
        inputs=paths,
        mode=mode,
        out=out,
        options=options,
        commands=commands,
        notes=(note,) if note else (),
        exclude=common.exclude,
        named_kernels=tuple(name for name, _ in map(_kernel, asked["kernels"])),
        workers=asked["jobs"] or 0,
        max_size=parse_size(asked["max_size"]),
        force=asked["force"],
        hip_side=asked["hip_side"] or config.hip_side or "auto",
        build_files=not asked["no_build_files"],
        cache=not asked["no_cache"],
        shard=_shard(asked, mode),
        scheduler=asked["scheduler"],
    )


def _mode(paths: tuple[str, ...], asked: Mapping[str, Any]) -> tuple[Mode, str]:
    """What to do with the output; exactly one way, and `-` alone needs none."""
    chosen: list[Mode] = []
    flags: tuple[tuple[str, Mode], ...] = (("in_place", "in-place"), ("diff", "diff"), ("dry_run", "dry-run"))
    chosen += [mode for key, mode in flags if asked[key]]
    if asked["output"] is not None:
        chosen.append("out")
    if not chosen and paths == ("-",):
        return "out", "-"
    if len(chosen) != 1:
        what = " and ".join("-o" if m == "out" else f"--{m}" for m in chosen) + " exclude each other" if chosen else ""
        raise CannotRun(what or "say where the output goes: -o OUT, --in-place, --diff or --dry-run")
    if asked["output"] == "":
        raise CannotRun("-o: an empty name")
    return chosen[0], asked["output"] or ""


def _shard(asked: Mapping[str, Any], mode: Mode) -> tuple[int, int] | None:
    """The part of --shard. Raises CannotRun."""
    text = asked["shard"]
    if not text:
        return None
    m = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not m or not 1 <= int(m[1]) <= int(m[2]):
        raise CannotRun(f"--shard {text}: a part and how many there are, such as 1/4")
    if mode != "out":
        raise CannotRun("--shard writes its part of a folder, so it needs -o OUT")
    if asked["verify"] is not None:
        raise CannotRun("--shard and --verify exclude each other: run `cu2port verify OUT` when all parts are done")
    return int(m[1]), int(m[2])


def _archs(request: Request, text: str | None) -> tuple[str, ...]:
    """The GPUs of --verify."""
    if text is None:
        return ()
    if request.mode not in ("out", "in-place") or request.out == "-":
        raise CannotRun("--verify compiles files, and there are none without -o or --in-place")
    from cu2port.verify.toolchain import check_archs

    return check_archs(text)


def _kernel(text: str) -> tuple[str, str]:
    """A kernel of --kernel and its mode."""
    m = re.fullmatch(r"([A-Za-z_]\w*)=(solo|native)", text)
    if not m:
        raise CannotRun(f"--kernel {text}: a kernel's name and a mode, NAME=solo or NAME=native")
    return m[1], m[2]


def _suffix(text: str) -> str:
    if text and not re.fullmatch(r"\.\w[\w.]*", text):
        raise CannotRun(f"--rename {text}: a suffix such as .hip")
    return "" if text == ".cu" else text


def _cuda_arch(text: str) -> int:
    """The `__CUDA_ARCH__` of --cuda-arch; 0 for none. Raises CannotRun."""
    m = re.fullmatch(r"(?:sm_)?(\d{2,3})", text)
    if text and (m is None or int(m[1]) < 72):
        raise CannotRun(f"--cuda-arch {text}: a GPU from sm_72 on, such as sm_80")
    return 10 * int(m[1]) if m else 0


def _show(request: Request, ran: Ran, verbosity: int) -> None:
    """Findings and summary; on standard error where standard output carries code or a diff."""
    err = request.mode == "diff" or request.out in ("-",)
    for severity, line in terminal.findings(ran.record, verbosity):
        echo(line, fg=_COLOURS.get(severity), err=err)
    if verbosity < 0:
        return
    for note in ran.notes:
        echo(f"note: {note}", err=True)
    if request.out != "-" or verbosity > 0:
        for line in terminal.summary(ran.record):
            echo(line, err=err)
