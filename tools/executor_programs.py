"""Whole CUDA programs, converted: what they print in the simulator and as machine code of AMD GPUs.

    python tools/executor_programs.py EMULATOR --corpus HECBENCH/src --list FACTS [--only NAME]... [--count N]

EMULATOR is a folder with an executor of GPU code objects, as `cu2port simulate --executor` takes one. Programs and
their arguments are those of `simulate_rate.py`, but for the smaller ones that `[executor]` in its table has; `--small`
takes only the programs named there. Each runs in the simulator at 64 and 32 lanes and as gfx942 and gfx1100
code; where the simulator's run passes in a quarter of a second, output and exit code are compared. Lines about time may
have other numbers.

Exit: 0 when all that the executor ran to their end agree, 1 when some do not.
"""

from __future__ import annotations

import os
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

import click
from simulate_rate import FOLDER, TABLE, Entry, entries, made_smaller, program_of, recipe, verdict

from cu2port.core.data import cache_dir
from cu2port.core.plain import one_line
from cu2port.project.tree import CannotRun
from cu2port.verify import simulate
from cu2port.verify.executor import WAVES, Executor, build, find_executor
from cu2port.verify.sim_build import build as build_simulated
from cu2port.verify.sim_compiler import CannotBuild, find_toolchain

SHORT_S = 0.25  # a program that takes the simulator longer is left out
TRACEBACK = b"Traceback (most recent call last)"  # of the executor, which lacks a function of HIP's runtime
CANNOT = 99  # what the executor ends with when it lacks something


def tried(entry: Entry, corpus: Path, executor: Executor, limit: float) -> dict[str, str]:
    """What a program's code for each target says; nothing where the simulator's run does not pass, or takes long."""
    table = tomllib.loads(TABLE.read_text())
    how = recipe(entry, {**table, "arguments": table["arguments"] | table["executor"]}, corpus)
    folder = corpus / f"{entry.name}-cuda"
    limits = simulate.Limits(limit)
    out: dict[str, str] = {}
    store = cache_dir() / "executor" / "instructions"
    before = [str(Path(__file__).with_name("emulator_run.py")), str(executor.folder), str(store)]
    with tempfile.TemporaryDirectory() as scratch:
        copy = made_smaller(folder, how.smaller, Path(scratch) / folder.name) if how.smaller else None
        program = program_of(folder, how, copy)
        binaries = build_simulated(program, Path(scratch), tuple(WAVES.values()), find_toolchain())
        for target, wave in WAVES.items():
            began = time.monotonic()
            theirs = simulate.run(binaries[wave], how.arguments, limits, capture=True)
            if verdict(theirs, how.silent)[0] != "pass" or time.monotonic() - began > SHORT_S:
                return {}
            try:
                made = build(program, Path(scratch), target, executor)
            except CannotBuild as e:
                error = next((x for x in str(e).splitlines() if "error" in x), str(e))
                out[target] = f"does not compile: {error[:160]}"
                continue
            ours = simulate.run(executor.python, [*before, str(made), *how.arguments], limits, capture=True)
            pairs = simulate.differences(theirs, ours)
            said = ours.errors.decode("utf-8", "replace").strip().splitlines()[-1:]
            broken = TRACEBACK in ours.errors or ours.code in (CANNOT, simulate.CANNOT) or ours.code > 128
            if ours.timed_out or broken:
                out[target] = f"did not run: {'time limit' if ours.timed_out else ours.code} {''.join(said)[:160]}"
            else:
                out[target] = f"differs: {pairs[0]}" if pairs else "agrees"
    return out


@click.command(help=__doc__)
@click.argument("emulator", type=FOLDER)
@click.option("--corpus", type=FOLDER, required=True)
@click.option("--list", "listed", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--only", multiple=True, help="Only these programs.")
@click.option("--small", is_flag=True, help="Only programs with arguments for an executor.")
@click.option("--count", type=int, default=10, help="So many programs that ran for both targets.")
@click.option("--limit", type=float, default=120.0, help="Seconds for one run.")
def main(
    emulator: Path, corpus: Path, listed: Path, only: tuple[str, ...], small: bool, count: int, limit: float
) -> None:
    only = only or (tuple(tomllib.loads(TABLE.read_text())["executor"]) if small else ())
    executor, corpus, listed = find_executor(str(emulator.resolve())), corpus.resolve(), listed.resolve()
    scratch = tempfile.TemporaryDirectory()
    os.chdir(scratch.name)  # programs write files where they run
    os.environ["PYTHONPYCACHEPREFIX"] = str(cache_dir() / "executor" / "python")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    words: Counter[str] = Counter()
    ran = 0
    for entry in entries(listed, ("1", "2", "3")):
        if ran >= count or (only and entry.name not in only):
            continue
        try:
            found = tried(entry, corpus, executor, limit)
        except CannotRun as e:
            found = {}
            print(one_line(f"{entry.name}: {e}")[:200], flush=True)
        for target, said in found.items():
            words[f"{target} {said.partition(':')[0]}"] += 1
            print(one_line(f"{entry.name}: {target}: {said}"), flush=True)
        ran += len(found) == len(WAVES) and all(s.startswith(("agrees", "differs")) for s in found.values())
    print(f"{ran} programs ran for both targets; " + ", ".join(f"{w} {n}" for w, n in sorted(words.items())))
    raise SystemExit(1 if any("differs" in w for w in words) else 0)


if __name__ == "__main__":
    main()
