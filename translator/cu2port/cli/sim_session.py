"""Commands run with stand-in compilers: `simulate -- COMMAND`, `simulate --shell`, `sim-cc`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from cu2port.cli import sim_findings
from cu2port.cli.console import echo
from cu2port.project.tree import CannotRun, parse_size
from cu2port.verify import simulate
from cu2port.verify.sim_compiler import CannotBuild, find_toolchain
from cu2port.verify.standin import session

_NOT_HERE = (
    ("instrument", "--instrument"),
    ("cflags", "--cflags"),
    ("output", "-o"),
    ("executor", "--executor"),
)


def command(words: Sequence[str], asked: dict[str, Any]) -> int:
    """Run a command, or a shell where there are no words; returns its exit code."""
    try:
        for key, option in (*_NOT_HERE, ("include_dirs", "-I"), ("defines", "-D"), ("jobs", "-j")):
            if asked[key]:
                raise CannotRun(f"{option} is for a file or a folder; the command has options of its own")
        sim_findings.refuse_files(asked)
        if asked["wave"] == "both":
            raise CannotRun("a build has one wave size: say --wave 32 or --wave 64")
        wave = int(asked["wave"] or 64)
        toolchain = find_toolchain(asked["compiler"])
        limits = simulate.Limits(memory=parse_size(asked["memory"], "--memory"), threads=asked["threads"] or 0)
        if toolchain.is_zig:
            raise CannotRun("stand-ins need g++ or clang++: objects of ziglang's compiler and of others do not mix")
        shell = [os.environ.get("SHELL") or "/bin/sh"]
        if not words:
            echo(f"cu2port simulate: nvcc and hipcc build for the CPU at wave {wave}; exit ends it", err=True)
        ended = session.run(words or shell, toolchain, wave, limits, asked["time_limit"], asked["warp"], asked["check"])
    except CannotBuild as e:
        echo(f"cu2port simulate: the runtime does not build: {e}", err=True)
        return simulate.CANNOT
    except CannotRun as e:
        echo(f"cu2port simulate: {e}", err=True)
        return simulate.CANNOT
    lines = session.summary(ended.told, wave)
    found = session.findings(ended.told) if asked["check"] else []
    if asked["check"]:
        lines += session.checked(ended.told, len(found))
    for line in lines:
        echo(f"cu2port simulate: {line}", err=True)
    try:
        sim_findings.tell(found, asked)
    except CannotRun as e:
        echo(f"cu2port simulate: {e}", err=True)
        return simulate.CANNOT
    return ended.code or (simulate.DIFFERENT if found else 0)


def stand_in(mode: str, words: Sequence[str]) -> int:
    """Act as a compiler; returns its exit code."""
    from cu2port.verify.standin.driver import main

    sys.stdout.flush()
    return main(mode, words)
