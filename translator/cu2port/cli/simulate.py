"""The `simulate` command: a whole HIP program on the CPU, at wave 32, at wave 64, or at both."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cu2port.cli import sim_findings
from cu2port.cli.console import echo, echo_lines
from cu2port.cli.options import shared
from cu2port.core.data import cache_dir
from cu2port.core.scratch import scratch_folder
from cu2port.project.config import find_config
from cu2port.project.single import write_single
from cu2port.project.tree import CannotRun, parse_size
from cu2port.verify import executor, sim_build, sim_check, sim_compiler, simulate
from cu2port.verify.instrument import instrument
from cu2port.verify.reach import reached, read

_WAVES = {"32": (32,), "64": (64,), "both": (32, 64)}


def command(path: str, arguments: Sequence[str], asked: dict[str, Any]) -> int:
    """Run `simulate`; returns the exit code."""
    try:
        sim_findings.refuse_files(asked)
        if asked["executor"]:
            return _executed(path, arguments, asked)
        asked["wave"] = asked["wave"] or "both"
        if asked["cflags"]:
            return _cflags(asked)
        program = _program(path, asked)
        if asked["instrument"]:
            return _instrument(program, asked["output"])
        return _simulate(program, arguments, asked)
    except sim_compiler.CannotBuild as e:
        echo_lines(str(e), err=True)
        echo("cu2port simulate: the program does not build", err=True)
        return simulate.CANNOT
    except CannotRun as e:
        echo(f"cu2port simulate: {e}", err=True)
        return simulate.CANNOT


def _program(path: str, asked: dict[str, Any]) -> sim_build.Program:
    if not path:
        raise CannotRun("simulate: a file or a folder")
    common = shared(asked, find_config(Path.cwd()))
    program = sim_build.find_program(Path(path), common.include_dirs, common.defines)
    return replace(program, warp=asked["warp"] or program.warp)


def _executed(path: str, arguments: Sequence[str], asked: dict[str, Any]) -> int:
    """Run a GPU's machine code with an executor that the user has laid out."""
    target = asked["executor"]
    for key in ("wave", "compiler", "check", "instrument", "cflags", "threads"):
        if asked[key]:
            raise CannotRun(f"--executor: --{key} is for the simulator; {target} has {executor.WAVES[target]} lanes")
    found = executor.find_executor(asked["executor_dir"])
    program, limits = _program(path, asked), simulate.Limits(asked["time_limit"])
    with _scratch() as scratch:
        made = executor.build(program, scratch, target, found, asked["std"])
        ran = simulate.run(found.python, [str(found.script), str(made), *arguments], limits)
    _say_end(ran, limits, f" as code of {target}")
    return ran.code


@contextmanager
def _scratch() -> Iterator[Path]:
    home = cache_dir() / "sim"
    try:
        with scratch_folder(home, "run") as folder:
            yield folder
    except OSError as e:
        raise CannotRun(f"{e.filename or home}: {e.strerror}") from e


def _toolchain(asked: dict[str, Any]) -> sim_compiler.Toolchain:
    """The compiler, and the C++ that it is to take. Raises CannotRun."""
    standard = asked["std"] or "c++17"
    if not re.fullmatch(r"(?:c|gnu)\+\+\w\w", standard):
        raise CannotRun(f"--std {standard}: a standard of C++, such as c++20")
    return replace(sim_compiler.find_toolchain(asked["compiler"]), standard=standard)


def _cflags(asked: dict[str, Any]) -> int:
    toolchain = _toolchain(asked)
    if asked["wave"] == "both":
        raise CannotRun("--cflags: say --wave 32 or --wave 64")
    # behind -Wl, so that a build that gives the same flags to compile and to link gets no word about it
    runtime = str(toolchain.runtime()) if toolchain.is_zig else f"-Wl,{toolchain.runtime()}"
    echo(shlex.join((*toolchain.flags(int(asked["wave"])), runtime)))
    return 0


def _instrument(program: sim_build.Program, output: str) -> int:
    texts = sim_build.sources(program)
    units = {p: read(text, str(p)) for p, (text, _) in texts.items()}
    text, lines = texts[sim_build.absolute_path(program.units[0])]
    shown = read(text, str(program.units[0]))
    data = instrument(shown, reached(units.values()), lines=lines).encode("latin-1")
    if output in ("", "-"):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    write_single("-o", Path(output), data, frozenset(), None, None)
    return 0


def _simulate(program: sim_build.Program, arguments: Sequence[str], asked: dict[str, Any]) -> int:
    toolchain = _toolchain(asked)
    waves = _WAVES[asked["wave"]]
    limits = simulate.Limits(asked["time_limit"], parse_size(asked["memory"], "--memory"), asked["threads"] or 0)
    with _scratch() as scratch:
        binaries = sim_build.build(program, scratch, waves, toolchain, asked["jobs"] or 0, asked["check"])
        if asked["check"]:
            return _check(*sim_check.check(binaries, arguments, limits), limits, asked)
        if len(waves) == 1:
            ran = simulate.run(binaries[waves[0]], arguments, limits)
            _say_end(ran, limits, "")
            return ran.code
        runs = [simulate.run(binaries[w], arguments, limits, capture=True) for w in waves]
    return _compare(waves, runs, limits)


def _compare(waves: Sequence[int], runs: Sequence[simulate.Ran], limits: simulate.Limits) -> int:
    for wave, ran in zip(waves, runs, strict=True):
        if wave == waves[0] or ran.errors != runs[0].errors:
            sys.stderr.buffer.write(ran.errors)
            sys.stderr.buffer.flush()
        stopped = _say_end(ran, limits, f" at wave {wave}")
    pairs = simulate.differences(runs[0], runs[1])
    sys.stdout.buffer.write(runs[0].output)
    sys.stdout.buffer.flush()
    if not pairs:
        agree = "print the same up to where they were stopped" if stopped else "agree"
        echo(f"cu2port simulate: wave 32 and wave 64 {agree}", err=True)
        return runs[0].code
    echo("cu2port simulate: wave 32 and wave 64 differ, so the program depends on the wave size", err=True)
    for line in simulate.side_by_side(pairs, ("wave 32", "wave 64")):
        echo(line, err=True)
    return simulate.DIFFERENT


def _check(
    runs: dict[int, simulate.Ran],
    verdicts: Sequence[sim_check.Verdict],
    limits: simulate.Limits,
    asked: dict[str, Any],
) -> int:
    first = next(iter(runs.values()))
    sys.stdout.buffer.write(first.output)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(first.errors)
    sys.stderr.buffer.flush()
    for wave, ran in runs.items():
        _say_end(ran, limits, f" at wave {wave}")
    sim_findings.tell([(v, 1) for v in verdicts], asked)
    if not verdicts:
        echo("cu2port simulate: nothing found", err=True)
    return first.code or (simulate.DIFFERENT if verdicts else 0)


def _say_end(ran: simulate.Ran, limits: simulate.Limits, which: str) -> bool:
    """Say why a run did not come to its end; whether that is so."""
    if ran.too_large:
        echo(f"cu2port simulate: stopped, it took more memory than this machine has{which}", err=True)
    elif ran.timed_out:
        echo(f"cu2port simulate: stopped after {limits.time_s:g} s{which} (--time-limit)", err=True)
    elif ran.code > 128:
        echo(f"cu2port simulate: the program was ended by signal {ran.code - 128}{which}", err=True)
    else:
        return False
    return True
