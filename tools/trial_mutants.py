"""Faults that `cu2port trial` finds: mutants of converted kernels, made by a seeded list of operators.

    python tools/trial_mutants.py FOLDER... [--list FACTS] [-I DIR]... [--seed N] [--count N] [--each N] [--read FILE]
        [--unmutated N] [--json FILE]

A mutant is a converted kernel with one change, in the kernel or in a function that it needs (`mutants.py` has which).
Kernels are taken in an order that the seed gives, as far as the trial of the converted kernel as it is says `same`:
each is also an unmutated one that must not be said to differ. A kernel gives at most `--each` mutants. Once there are
`--count` mutants, kernels are tried as they are until there are `--unmutated` of these.

A mutant counts as non-equivalent when the trial's program for it (x86, -O1) is not byte for byte the original's, and
nobody has read that it means the same: FILE of `--read` has a line `FOLDER/NAME LINE OPERATOR REASON` for each that has
been read, which are not tried again. All others that the trial does not find are missed. A mutant that does not compile
is no mutant.

FILE of `--json` is written after each kernel. A run that was stopped goes on from there: what it has is not tried
again. Name another after a change of cu2port, of the seed or of a list.

Of a kernel whose result depends on the order of its threads, trial says `could not`, and so of its mutants. These are
counted apart, `--each` of a kernel, as if none were found; the last line has the part that is found with them.

Exit: 0 when at least 90 % of the non-equivalent mutants were found and no unmutated kernel differs, else 1.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
from mutants import Mutant, mutants, mutated
from trial_rate import programs

from cu2port.project.tree import CannotRun
from cu2port.verify.sim_build import Program
from cu2port.verify.sim_compiler import CannotBuild, find_toolchain
from cu2port.verify.trial.kernels import Kernel, Unclear
from cu2port.verify.trial.program import LackingError, Side
from cu2port.verify.trial.run import Asked, Recorded, Trial, open_trial, work_folder
from cu2port.verify.trial.verdict import UNORDERED, Verdict

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_MOST_EQUAL = 4  # mutants of a kernel whose code is the original's: some have hundreds


def in_turn(found: list[Mutant], draw: random.Random, counts: Counter[str]) -> list[Mutant]:
    """In an order that the seed gives, with those first whose operator was taken least."""
    draw.shuffle(found)
    return sorted(found, key=lambda m: counts[m.operator])


def program_of(trial: Trial, recorded: Recorded, side: Side, wave: int) -> bytes:
    """The digest of the program of a converted kernel."""
    return hashlib.sha256(trial.converted(recorded, side, wave).read_bytes()).digest()


@dataclass(frozen=True)
class Row:
    """What was seen of a kernel. `outcome`: as it is, `same`, `differs`, `could not` or `none` (it gives no mutants);
    `mutants`: each with `found`, `missed`, `equal code` or `read`; `unordered`: mutants that were not tried, as its
    result depends on the order of threads."""

    unit: str
    number: int
    kernel: str
    outcome: str
    why: str = ""
    mutants: tuple[tuple[str, str, str], ...] = ()  # text, operator, what was said
    unordered: int = 0


@dataclass
class Score:
    """What was seen so far. `ended`: units with all their files, which need not be read again."""

    seed: int
    rows: dict[tuple[str, int], Row]
    ended: dict[str, list[str]]

    @classmethod
    def read(cls, path: Path | None, seed: int) -> Score:
        if path is None or not path.is_file():
            return cls(seed, {}, {})
        had = json.loads(path.read_text(encoding="utf-8"))
        if had["seed"] != seed:
            raise click.UsageError(f"{path} is of seed {had['seed']}")
        rows = [Row(**{**r, "mutants": tuple(tuple(m) for m in r["mutants"])}) for r in had["rows"]]
        return cls(seed, {(r.unit, r.number): r for r in rows}, had["ended"])

    def write(self, path: Path | None) -> None:
        if path is not None:
            kept = {"seed": self.seed, "rows": [asdict(r) for r in self.rows.values()], "ended": self.ended}
            path.with_suffix(".new").write_text(json.dumps(kept, indent=1), encoding="utf-8")
            path.with_suffix(".new").replace(path)

    def count(self, word: str) -> int:
        return sum(said == word for r in self.rows.values() for _, _, said in r.mutants)

    @property
    def counts(self) -> Counter[str]:
        return Counter(operator for r in self.rows.values() for _, operator, _ in r.mutants)

    @property
    def mutants(self) -> int:
        return self.count("found") + self.count("missed")

    def unmutated(self, *outcomes: str) -> int:
        return sum(r.outcome in outcomes for r in self.rows.values())


def key_of(m: Mutant) -> tuple[str, int, str]:
    """A mutant, as files of `--read` name it."""
    return f"{m.path.parent.name}/{m.path.name}", m.line, m.operator


def judge(trial: Trial, kernel: Kernel, row: Row, options: Options, score: Score) -> Row:
    """One kernel as it is, then some of its mutants. Raises LackingError, CannotBuild."""
    left = options.count - score.mutants
    draw = random.Random(f"{options.seed} {row.unit} {row.number}")
    found = in_turn(mutants(trial.hip, kernel), draw, score.counts) if left > 0 else []
    if not found and left > 0:
        return row
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        if isinstance(recorded, Verdict):
            unordered = recorded.why.startswith(UNORDERED)
            some = [m for m in found[: options.each] if key_of(m) not in options.read] if unordered else []
            return replace(row, outcome="could not", why=recorded.why, unordered=len(some))
        plain = trial.compare(recorded, trial.hip)
        row = replace(row, outcome=plain.outcome, why=plain.why)
        if plain.outcome != "same":
            return row
        code = {wave: program_of(trial, recorded, trial.hip, wave) for wave in trial.asked.waves}
        done: list[tuple[str, str, str]] = []
        while found:
            m = found.pop(0)
            of = Counter(said for _, _, said in done)
            if of["found"] + of["missed"] == min(options.each, left) or of["equal code"] == _MOST_EQUAL:
                break
            if key_of(m) in options.read:
                done.append((str(m), m.operator, "read"))
                continue
            side = mutated(trial.hip, m)
            try:
                if all(program_of(trial, recorded, side, wave) == x for wave, x in code.items()):
                    said = "equal code"  # as all of a function's that this kernel does not use: those come last
                    found.sort(key=lambda x: (x.path, x.function) == (m.path, m.function))
                else:
                    said = "found" if trial.compare(recorded, side).outcome == "differs" else "missed"
            except CannotBuild:
                continue
            done.append((str(m), m.operator, said))
        return replace(row, mutants=tuple(done))


@dataclass(frozen=True)
class Options:
    """How many mutants, of a kernel and in all, and kernels as they are; which were read to mean the same."""

    count: int
    each: int
    seed: int
    read: frozenset[tuple[str, int, str]]
    unmutated: int = 0
    json_file: Path | None = None

    def is_enough(self, score: Score) -> bool:
        return score.mutants >= self.count and score.unmutated("same", "differs") >= self.unmutated


def run(
    roots: Sequence[Path], facts: Path | None, include_dirs: tuple[Path, ...], asked: Asked, options: Options
) -> Score:
    """Mutants of the kernels of some folders."""
    score = Score.read(options.json_file, options.seed)
    found = [p for root in roots for p in programs(root, facts, Program((), include_dirs))]
    random.Random(options.seed).shuffle(found)
    toolchain = find_toolchain()
    for program in found:
        if options.is_enough(score):
            break
        unit = str(program.units[0].relative_to(program.include_dirs[0].parent))
        if unit in score.ended:
            continue
        done = {Path(x) for files in score.ended.values() for x in files}
        try:
            opened = open_trial(program, replace(asked, root=program.include_dirs[0]), toolchain, done)
        except CannotRun:
            continue
        for number, (_, kernel) in enumerate(opened[1] if opened else ()):
            if (
                opened is None
                or isinstance(kernel, Unclear)
                or (unit, number) in score.rows
                or options.is_enough(score)
            ):
                continue
            row = Row(unit, number, kernel.path, "none")
            try:
                row = judge(opened[0], kernel, row, options, score)
            except (LackingError, CannotBuild) as e:
                row = replace(row, outcome="could not", why=str(e))
            score.rows[unit, number] = row
            score.write(options.json_file)
            print(f"{unit}: {row.kernel}: as it is: {row.outcome} {row.why}", flush=True)
            print(*(f"  {text}: {said}\n" for text, _, said in row.mutants), sep="", end="", flush=True)
        if not options.is_enough(score):
            score.ended[unit] = [str(x) for x in opened[0].cuda.units] if opened else []
            score.write(options.json_file)
    return score


def read_before(path: Path | None) -> frozenset[tuple[str, int, str]]:
    """The mutants that a person has read to mean the same."""
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    fields = [x.split(maxsplit=3) for x in lines if x and not x.startswith("#")]
    return frozenset((f[0], int(f[1]), f[2]) for f in fields)


@click.command()
@click.argument("roots", nargs=-1, type=FOLDER, required=True)
@click.option("--list", "facts", type=FILE)
@click.option("-I", "include_dirs", multiple=True, type=FOLDER)
@click.option("--seed", type=int, default=1)
@click.option("--count", type=int, default=100, help="Non-equivalent mutants.")
@click.option("--each", type=int, default=2, help="Mutants of a kernel.")
@click.option("--unmutated", type=int, default=0, help="Kernels as they are.")
@click.option("--time", "time_s", type=float, default=4.0)
@click.option("--read", "read_file", type=FILE)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    roots: tuple[Path, ...],
    facts: Path | None,
    include_dirs: tuple[Path, ...],
    seed: int,
    count: int,
    each: int,
    unmutated: int,
    time_s: float,
    read_file: Path | None,
    json_file: Path | None,
) -> None:
    """Try mutants of converted kernels."""
    options = Options(count, each, seed, read_before(read_file), unmutated, json_file)
    score = run(roots, facts, include_dirs, Asked(time_s=time_s), options)
    differs = score.unmutated("differs")
    print(f"{score.unmutated('same', 'differs')} kernels as they are: {differs} differ")
    found = score.count("found")
    alike = f"{score.count('equal code')} others have equal code, {score.count('read')} were read"
    print(f"{score.mutants} mutants: {found} found; {alike}")
    for name in ("width", "mask", "shift", "lane", "barrier"):
        said = Counter(word for r in score.rows.values() for _, operator, word in r.mutants if operator == name)
        print(f"  {name}: {said['found']} of {said['found'] + said['missed']}")
    unordered = sum(r.unordered for r in score.rows.values())
    part = found / max(1, score.mutants + unordered)
    print(f"with {unordered} of kernels that depend on the order of threads: {part:.0%} found")
    raise SystemExit(0 if found >= 0.9 * score.mutants and not differs else 1)


if __name__ == "__main__":
    main()
