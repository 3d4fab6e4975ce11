"""How many kernels of real projects `cu2port trial` runs, and what it says of them.

    python tools/trial_rate.py FOLDER... [--list FACTS] [-I DIR]... [--warp MODE] [--time S] [--most N] [--json FILE]

FACTS has a program a line, see tools/simulate_rate.py: of a FOLDER that holds folders `NAME-cuda`, those programs are
taken. Prints a line for each kernel, then the kernels that ran (same or differ), and the others by reason.

Exit: 0 when at least 60 % of the kernels ran, else 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from cu2port.core.plain import one_line
from cu2port.project.tree import CannotRun
from cu2port.verify.sim_build import Program, find_toolchain, plain_sources
from cu2port.verify.trial.run import Asked, find_programs, try_program
from cu2port.verify.trial.verdict import Verdict

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
ENTRY = re.compile(r"^D (\S+)", re.MULTILINE)
REASON = re.compile(r"[:(].*|\d+ ?%.*")


def folders(roots: tuple[Path, ...], facts: Path | None) -> Iterator[Path]:
    """The folders to try, in order."""
    names = ENTRY.findall(facts.read_text(encoding="utf-8")) if facts else []
    for root in roots:
        inner = [root / f"{n}-cuda" for n in names if (root / f"{n}-cuda").is_dir()]
        yield from inner or [root]


def reason(v: Verdict) -> str:
    """A reason without what is particular to one kernel."""
    return REASON.sub("", v.why).strip()


def tried(folder: Path, asked: Asked, like: Program, jobs: int) -> Iterator[Verdict]:
    """The kernels of a folder."""
    done: set[Path] = set()
    try:
        for program in find_programs(folder, like):
            yield from try_program(program, asked, find_toolchain(), jobs, frozenset(done))
            done |= plain_sources(program).keys()
    except CannotRun as e:
        print(f"{folder}: {e}")


@click.command()
@click.argument("roots", nargs=-1, type=FOLDER, required=True)
@click.option("--list", "facts", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-I", "include_dirs", multiple=True, type=FOLDER)
@click.option("--warp", default="logical")
@click.option("--time", "time_s", type=float, default=6.0)
@click.option("--most", type=int, default=0, help="Kernels to try.")
@click.option("--skip", type=int, default=0, help="Folders to leave out at the start.")
@click.option("-j", "--jobs", type=int, default=1)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    roots: tuple[Path, ...],
    facts: Path | None,
    include_dirs: tuple[Path, ...],
    warp: str,
    time_s: float,
    most: int,
    skip: int,
    jobs: int,
    json_file: Path | None,
) -> None:
    """Try the kernels of some folders."""
    verdicts: list[Verdict] = []
    for folder in list(folders(roots, facts))[skip:]:
        like = Program((), (folder, *include_dirs), warp=warp)
        for v in tried(folder, Asked(time_s=time_s), like, jobs):
            print(one_line(v.text), flush=True)
            verdicts.append(v)
            if json_file:
                json_file.write_text(json.dumps([asdict(x) for x in verdicts], indent=1), encoding="utf-8")
        if most and len(verdicts) >= most:
            break
    counts = Counter(v.outcome for v in verdicts)
    ran = counts["same"] + counts["differs"]
    print(f"{len(verdicts)} kernels: {ran} ran ({ran / max(1, len(verdicts)):.0%}), {counts['differs']} differ")
    for why, n in Counter(reason(v) for v in verdicts if v.outcome == "could not").most_common():
        print(f"{n:5} {why}")
    raise SystemExit(0 if ran >= 0.6 * len(verdicts) else 1)


if __name__ == "__main__":
    main()
