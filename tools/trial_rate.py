"""How many kernels of real projects `cu2port trial` runs, and what it says of them.

    python tools/trial_rate.py FOLDER... [--list FACTS] [-I DIR]... [-D NAME]... [--warp MODE] [--time S] [--every N]
        [--json FILE]

FACTS has a program a line, see tools/simulate_rate.py: of a FOLDER that holds folders `NAME-cuda`, those programs are
taken. `--every N` takes each N-th translation unit with kernels of each FOLDER. Prints a line for each kernel, then for
each FOLDER and for all the kernels that ran (same or differ), and the others by reason.

Exit: 0 when at least 60 % of the kernels ran, else 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path

import click

from cu2port.core.plain import one_line
from cu2port.project.tree import CannotRun
from cu2port.verify.sim_build import Program, plain_sources
from cu2port.verify.sim_compiler import find_toolchain
from cu2port.verify.trial.programs import find_programs
from cu2port.verify.trial.run import Asked, try_program
from cu2port.verify.trial.verdict import Verdict

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
ENTRY = re.compile(r"^D (\S+)", re.MULTILINE)
REASON = re.compile(r"[:(].*|\d+ ?%.*")


def programs(root: Path, facts: Path | None, like: Program) -> Iterator[Program]:
    """What there is to try below a folder, in order."""
    names = ENTRY.findall(facts.read_text(encoding="utf-8")) if facts else []
    for folder in [root / f"{n}-cuda" for n in names if (root / f"{n}-cuda").is_dir()] or [root]:
        yield from find_programs(folder, replace(like, include_dirs=(folder, *like.include_dirs)))


def reason(v: Verdict) -> str:
    """A reason without what is particular to one kernel."""
    return REASON.sub("", v.why).strip()


def tried(taken: Iterable[Program], asked: Asked, jobs: int) -> Iterator[Verdict]:
    """The kernels of some programs, each once."""
    done: set[Path] = set()
    for program in taken:
        try:
            its = replace(asked, root=program.include_dirs[0])
            yield from try_program(program, its, find_toolchain(), jobs, frozenset(done))
            done |= plain_sources(program).keys()
        except CannotRun as e:
            print(f"{program.units[0]}: {e}")


def summary(name: str, verdicts: Sequence[Verdict]) -> tuple[str, bool]:
    """A line on some kernels, and whether enough ran."""
    counts = Counter(v.outcome for v in verdicts)
    ran = counts["same"] + counts["differs"]
    text = f"{name}: {len(verdicts)} kernels: {ran} ran ({ran / max(1, len(verdicts)):.0%}), {counts['differs']} differ"
    return text, ran >= 0.6 * len(verdicts)


@click.command()
@click.argument("roots", nargs=-1, type=FOLDER, required=True)
@click.option("--list", "facts", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-I", "include_dirs", multiple=True, type=FOLDER)
@click.option("-D", "defines", multiple=True)
@click.option("--warp", default="logical")
@click.option("--time", "time_s", type=float, default=6.0)
@click.option("--every", type=click.IntRange(min=1), default=1, help="Take each N-th translation unit.")
@click.option("-j", "--jobs", type=int, default=1)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    roots: tuple[Path, ...],
    facts: Path | None,
    include_dirs: tuple[Path, ...],
    defines: tuple[str, ...],
    warp: str,
    time_s: float,
    every: int,
    jobs: int,
    json_file: Path | None,
) -> None:
    """Try the kernels of some folders."""
    verdicts: list[Verdict] = []
    lines = []
    like = Program((), include_dirs, defines, warp=warp)
    for root in roots:
        before = len(verdicts)
        for v in tried(islice(programs(root, facts, like), 0, None, every), Asked(time_s=time_s), jobs):
            print(one_line(v.text), flush=True)
            verdicts.append(v)
            if json_file:
                json_file.write_text(json.dumps([asdict(x) for x in verdicts], indent=1), encoding="utf-8")
        lines.append(summary(root.name, verdicts[before:])[0])
    text, enough = summary("all", verdicts)
    print(*lines, text, sep="\n")
    for why, n in Counter(reason(v) for v in verdicts if v.outcome == "could not").most_common():
        print(f"{n:5} {why}")
    raise SystemExit(0 if enough else 1)


if __name__ == "__main__":
    main()
