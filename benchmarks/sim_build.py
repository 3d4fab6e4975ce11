"""What it takes to build programs for the simulator: CPU seconds of the compiler, one wave size, headers kept.

    python benchmarks/sim_build.py PROGRAM... [--wave 64] [--rounds 3] [--json FILE]

Each PROGRAM is a source or a folder, as `cu2port simulate` takes it. Each is built once before it is timed, so that
what is compiled once (the runtime, precompiled headers) is there. Prints each program's least time, and the median.
Programs that do not build are named and do not count. Exit: 0 when one was built, else 1.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import click

from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, sim_compiler


def compiler_s(path: Path, wave: int, toolchain: sim_compiler.Toolchain) -> float:
    """CPU seconds of child processes while a program is built. Raises CannotRun."""
    with tempfile.TemporaryDirectory() as scratch:
        before = os.times()
        sim_build.build(sim_build.find_program(path), Path(scratch), (wave,), toolchain)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@click.command(help=__doc__)
@click.argument("programs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--wave", default=64, type=click.Choice([32, 64]))
@click.option("--rounds", default=3)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path))
def main(programs: tuple[Path, ...], wave: int, rounds: int, file: Path | None) -> None:
    toolchain = sim_compiler.find_toolchain()
    took: dict[str, float] = {}
    for path in programs:
        try:
            compiler_s(path, wave, toolchain)
            took[str(path)] = min(compiler_s(path, wave, toolchain) for _ in range(rounds))
        except CannotRun as e:
            click.echo(f"{path}: not built: {str(e).splitlines()[0][:120]}")
            continue
        click.echo(f"{path}: {took[str(path)]:.2f} s")
    if took:
        click.echo(f"median of {len(took)}: {statistics.median(took.values()):.2f} s")
    if file is not None:
        file.write_text(json.dumps(took, indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if took else 1)


if __name__ == "__main__":
    main()
