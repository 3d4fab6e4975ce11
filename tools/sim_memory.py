"""The memory that the simulator takes: the largest process while a program is built, and the program itself.

    python tools/sim_memory.py --corpus HECBENCH/src --list FACTS [--tier 1]... [--count 40] [--seed 1] [--wave 64]

Programs and their arguments are those of `simulate_rate.py`; `--count` of them are drawn. Sizes are the highest
resident size of one process (Linux), in MB, and not below that of the Python that starts it (some 20 MB). Programs that
do not build or do not pass are named and do not count.

Exit: 0 when one was measured, else 1.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
from simulate_rate import FOLDER, TABLE, Entry, entries, made_smaller, program_of, recipe, verdict

from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, sim_compiler, simulate


def peak_mb(work: Callable[[], str]) -> tuple[float, str]:
    """Do something in a process of its own. Returns the size of its largest child, and what the work says."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def child() -> None:
        said = work()
        theirs.send((resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, said))

    process = context.Process(target=child)
    process.start()
    theirs.close()
    try:
        found: tuple[float, str] = ours.recv()
    except EOFError:
        found = (0.0, "it crashed")
    process.join()
    return found


def measured(entry: Entry, corpus: Path, wave: int, toolchain: sim_compiler.Toolchain) -> tuple[float, float, str]:
    """MB of the largest compiler and of the program, and why they do not count ("" if they do)."""
    how = recipe(entry, tomllib.loads(TABLE.read_text()), corpus)
    folder = corpus / f"{entry.name}-cuda"
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)

        def build() -> str:
            try:
                copy = made_smaller(folder, how.smaller, scratch / folder.name) if how.smaller else None
                binary = sim_build.build(program_of(folder, how, copy), scratch, (wave,), toolchain)[wave]
            except CannotRun as e:
                return f"not built: {str(e).splitlines()[0][:100]}"
            binary.rename(scratch / "program")
            return ""

        def run() -> str:
            settings = {"CU2PORT_SIM_DEVICES": str(how.devices)}
            ran = simulate.run(scratch / "program", how.arguments, simulate.Limits(60), capture=True, settings=settings)
            return "" if verdict(ran, how.silent)[0] == "pass" else "it does not pass"

        building, why = peak_mb(build)
        running, why = (0.0, why) if why else peak_mb(run)
    return building, running, why


@click.command(help=__doc__)
@click.option("--corpus", type=FOLDER, required=True)
@click.option("--list", "listed", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--tier", type=click.Choice(["1", "2", "3"]), multiple=True, default=("1", "2", "3"))
@click.option("--count", default=40)
@click.option("--seed", default=1)
@click.option("--wave", default="64", type=click.Choice(["32", "64"]))
def main(corpus: Path, listed: Path, tier: tuple[str, ...], count: int, seed: int, wave: str) -> None:
    known = sorted(entries(listed, tier), key=lambda e: e.name)
    chosen = random.Random(seed).sample(known, min(count, len(known)))
    toolchain = sim_compiler.find_toolchain()
    found: list[tuple[float, float]] = []
    for entry in chosen:
        building, running, why = measured(entry, corpus, int(wave), toolchain)
        if not why:
            found.append((building, running))
        click.echo(f"{entry.name}: {why or f'{building:.0f} MB to build, {running:.0f} MB to run'}")
    if found:
        for what, sizes in zip(("to build", "to run"), zip(*found, strict=True), strict=True):
            click.echo(f"{what}: median {statistics.median(sizes):.0f} MB, most {max(sizes):.0f} MB, of {len(sizes)}")
    sys.exit(0 if found else 1)


if __name__ == "__main__":
    main()
