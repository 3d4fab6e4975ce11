"""Faults that `cu2port trial` finds: mutants of converted kernels, made by a seeded list of operators.

    python tools/trial_mutants.py FOLDER... [--list FACTS] [-I DIR]... [--seed N] [--count N] [--each N] [--read FILE]
        [--unmutated N]

A mutant is a converted kernel with one change, in the kernel or in a function that it needs:

    width    a shuffle's width, or the width 16 where it has none
    mask     `& m` with a mask of some low bits gets one bit less; a full mask of lanes in a vote loses its upper half
    shift    a number after `<<`, `>>`, `<<=` or `>>=` becomes one more
    lane     31, 32 or 5 beside a lane's number (`% 32`, `& 31`, `/ 32`, `>> 5`) becomes that of 64 or of 16 lanes
    barrier  a barrier of the block or of the warp is taken out

Kernels are taken in an order that the seed gives, as far as the trial of the converted kernel as it is says `same`:
each is also an unmutated one that must not be said to differ. A kernel gives at most `--each` mutants. With
`--unmutated N` so many kernels are tried as they are, and no mutants.

A mutant counts as non-equivalent when the trial's program for it (x86, -O1) is not byte for byte the original's, and
nobody has read that it means the same: FILE of `--read` has a line `FOLDER/NAME LINE OPERATOR REASON` for each that has
been read. All others that the trial does not find are missed. A mutant that does not compile is no mutant.

Of a kernel whose result depends on the order of its threads, trial says `could not`, and so of its mutants. These are
counted apart, `--each` of a kernel, as if none were found; the last line has the part that is found with them.

Exit: 0 when at least 90 % of the non-equivalent mutants were found and no unmutated kernel differs, else 1.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
from trial_rate import programs

from cu2port.facts.unit import Unit
from cu2port.project.tree import CannotRun
from cu2port.syntax.lexer import is_identifier
from cu2port.verify.reach import read
from cu2port.verify.sim_build import Program
from cu2port.verify.sim_compiler import INCLUDE_DIR, CannotBuild, find_toolchain
from cu2port.verify.trial.kernels import Kernel, Unclear
from cu2port.verify.trial.program import LackingError, Side, names_for
from cu2port.verify.trial.run import UNORDERED, Asked, Trial, open_trial, work_folder
from cu2port.verify.trial.slices import kept
from cu2port.verify.trial.verdict import Verdict

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
SHUFFLE = re.compile(r"(?:__)?shfl(?:_up|_down|_xor)?(?:_sync)?")
VOTE = re.compile(r"(?:__)?(?:ballot|any|all|match_any|match_all)(?:_sync)?")
FULL = re.compile(r"(?:0x[fF]{8}[uU]?|~0[uU]?|-1)")
NUMBER = re.compile(r"(0x[0-9a-fA-F]+|[0-9]+)([uUlL]*)")
LANES = {("%", 32): 64, ("/", 32): 64, ("&", 31): 15, (">>", 5): 6, ("<", 32): 16, ("==", 31): 15, ("*", 32): 16}
BARRIERS = frozenset({"__syncthreads", "syncwarp", "__syncwarp"})
_MOST_EQUAL = 10  # mutants of a kernel whose code is the original's: some have hundreds
SHIFTS = frozenset({"<<", ">>", "<<=", ">>="})


@dataclass(frozen=True)
class Mutant:
    """One change: bytes [start, end) of a file's converted text become `text`."""

    path: Path
    line: int
    operator: str
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}:{self.line}: {self.operator} {self.text or 'nothing'}"


def number_of(word: str) -> tuple[int, str] | None:
    """The value of a literal, and its suffix."""
    m = NUMBER.fullmatch(word)
    return (int(m[1], 0), m[2]) if m and (m[1].startswith("0x") or m[1] == "0" or m[1][0] != "0") else None


Change = tuple[str, int, int, str]  # operator, tokens [first, stop), the new text


def widths(unit: Unit, i: int) -> Iterator[Change]:
    """Of a shuffle whose name is token i."""
    call = unit.call(i) if SHUFFLE.fullmatch(unit.t[i]) else None
    if call is None:
        return
    with_width = len(call.args) - unit.t[i].count("_sync") - ("cu2port" in unit.t[max(0, i - 4) : i]) >= 3
    if with_width:
        span = call.args[-1]
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        n = number_of(unit.t[first]) if stop == first + 1 else None
        if n and n[0] > 2:
            yield "width", first, stop, str(n[0] // 2)
    elif len(call.args) >= 2:
        yield "width", call.close, call.close + 1, ", 16)"


def masks(unit: Unit, i: int) -> Iterator[Change]:
    """Of a bitwise and with a number of low bits at token i, or of a full mask in a vote."""
    n = (
        number_of(unit.tok(i + 1))
        if unit.t[i] == "&" and i and (unit.t[i - 1] in (")", "]") or is_identifier(unit.t[i - 1]))
        else None
    )
    if n and n[0] > 0 and n[0] & (n[0] + 1) == 0 and n[0] != 31:
        yield "mask", i + 1, i + 2, f"{n[0] >> 1}{n[1]}"
    call = unit.call(i) if VOTE.fullmatch(unit.t[i]) else None
    if call and call.args:
        first, stop = unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end)
        if FULL.fullmatch("".join(unit.t[first:stop])):
            yield "mask", first, stop, "0x0000ffffu"


def shifts(unit: Unit, i: int) -> Iterator[Change]:
    """Of a shift at token i."""
    n = (
        number_of(unit.tok(i + 1))
        if unit.t[i] in SHIFTS and unit.tok(i + 2) in (")", ";", ",", "]", "+", "-", "&", "|")
        else None
    )
    if n and 0 < n[0] < 31 and n[0] != 5:
        yield "shift", i + 1, i + 2, f"{n[0] + 1}{n[1]}"


def lanes(unit: Unit, i: int) -> Iterator[Change]:
    """Of an operator at token i and one of a warp's numbers."""
    n = number_of(unit.tok(i + 1))
    other = LANES.get((unit.t[i], n[0])) if n and i and (unit.t[i - 1] == ")" or is_identifier(unit.t[i - 1])) else None
    if n and other is not None:
        yield "lane", i + 1, i + 2, f"{other}{n[1]}"


def barriers(unit: Unit, i: int) -> Iterator[Change]:
    """Of a barrier that is a statement and whose name is token i."""
    call = unit.call(i) if unit.t[i] in BARRIERS else None
    if call is None or unit.tok(call.close + 1) != ";":
        return
    first = i
    while unit.tok(first - 1) == "::" or (unit.tok(first) == "::" and is_identifier(unit.tok(first - 1))):
        first -= 1
    if unit.tok(first - 1) in (";", "{", "}"):
        yield "barrier", first, call.close + 1, ""


OPERATORS: Sequence[Callable[[Unit, int], Iterator[Change]]] = (widths, masks, shifts, lanes, barriers)


def mutants(side: Side, kernel: Kernel) -> list[Mutant]:
    """All mutants of a converted kernel, by operator."""
    out = []
    for path, unit in side.units.items():
        if INCLUDE_DIR in path.parents:
            continue
        for e in kept(unit, names_for(side, kernel)):
            if not any(
                f.first >= e.first and f.body[1] < e.stop
                for f in unit.functions
                if f.sides & {"__global__", "__device__"}
            ):
                continue
            for i in range(e.first, e.stop):
                if unit.in_directive(i) is not None:
                    continue
                for operator in OPERATORS:
                    for name, first, stop, text in operator(unit, i):
                        start, end = unit.p[first], unit.end(stop - 1)
                        out.append(Mutant(path, unit.text.count("\n", 0, start) + 1, name, start, end, text))
    return out


def mutated(side: Side, m: Mutant) -> Side:
    """A side with one change."""
    unit = side.units[m.path]
    text = unit.text[: m.start] + m.text + unit.text[m.end :]
    return replace(side, units={**side.units, m.path: read(text, unit.path)})


def in_turn(found: list[Mutant], draw: random.Random, counts: Counter[str]) -> list[Mutant]:
    """In an order that the seed gives, with those first whose operator was taken least."""
    draw.shuffle(found)
    return sorted(found, key=lambda m: counts[m.operator])


def programs_in(folder: Path) -> list[bytes]:
    """The programs of the converted kernel that were built last; those that are watched have their text's digest."""
    return [hashlib.sha256((folder / f"hip-{wave}").read_bytes()).digest() for wave in (32, 64)]


@dataclass
class Score:
    """What was seen so far."""

    unmutated: list[Verdict]
    tried: list[tuple[Mutant, str, str]]  # mutant, kernel, `found`, `missed`, `equal code` or `read`
    unordered: int = 0  # mutants of kernels whose result depends on the order of threads

    def count(self, word: str) -> int:
        return sum(said == word for _, _, said in self.tried)

    @property
    def mutants(self) -> int:
        return self.count("found") + self.count("missed")


def key_of(m: Mutant) -> tuple[str, int, str]:
    """A mutant, as files of `--read` name it."""
    return f"{m.path.parent.name}/{m.path.name}", m.line, m.operator


def judge(trial: Trial, kernel: Kernel, options: Options, score: Score) -> None:
    """One kernel as it is, then some of its mutants."""
    counts = Counter(m.operator for m, _, _ in score.tried)
    found = in_turn(mutants(trial.hip, kernel), options.draw, counts)
    if not found:
        return
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        if isinstance(recorded, Verdict):
            if recorded.why.startswith(UNORDERED):
                some = [m for m in found[: options.each] if key_of(m) not in options.read]
                score.unordered += len(some)
                print(*(f"{m}: {kernel.path}: {recorded.why}" for m in some), sep="\n", flush=True)
            return
        plain = trial.compare(recorded, trial.hip)
        if plain.outcome == "could not":
            return
        score.unmutated.append(plain)
        if plain.outcome == "differs" or options.unmutated:
            print(f"{kernel.path}: as it is: {plain.outcome} {plain.why}", flush=True)
        if plain.outcome == "differs" or options.unmutated:
            return
        code = programs_in(folder)
        done = equal = 0
        for m in found:
            if done == options.each or score.mutants >= options.count or equal == _MOST_EQUAL:
                return
            side = mutated(trial.hip, m)
            try:
                said = "found" if trial.compare(recorded, side).outcome == "differs" else "missed"
            except CannotBuild:
                continue
            if said == "missed" and programs_in(folder) == code:
                said = "equal code"
            elif said == "missed" and key_of(m) in options.read:
                said = "read"
            done += said in ("found", "missed")
            equal += said == "equal code"
            print(f"{m}: {kernel.path}: {said}", flush=True)
            score.tried.append((m, kernel.path, said))


@dataclass(frozen=True)
class Options:
    """How many mutants, of a kernel and in all; which were read to mean the same."""

    count: int
    each: int
    draw: random.Random
    read: frozenset[tuple[str, int, str]]
    unmutated: int = 0

    def is_enough(self, score: Score) -> bool:
        if self.unmutated:
            return len(score.unmutated) >= self.unmutated
        return score.mutants >= self.count


def run(
    roots: Sequence[Path], facts: Path | None, include_dirs: tuple[Path, ...], asked: Asked, options: Options
) -> Score:
    """Mutants of the kernels of some folders."""
    score = Score([], [])
    found = [p for root in roots for p in programs(root, facts, Program((), include_dirs))]
    options.draw.shuffle(found)
    toolchain = find_toolchain()
    for program in found:
        try:
            opened = open_trial(program, replace(asked, root=program.include_dirs[0]), toolchain)
        except CannotRun:
            continue
        for _, kernel in opened[1] if opened else ():
            if opened is None or isinstance(kernel, Unclear) or options.is_enough(score):
                continue
            try:
                judge(opened[0], kernel, options, score)
            except (LackingError, CannotBuild):
                continue
        if options.is_enough(score):
            break
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
@click.option("--unmutated", type=int, default=0, help="Kernels as they are, and no mutants.")
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
    options = Options(count, each, random.Random(seed), read_before(read_file), unmutated)
    score = run(roots, facts, include_dirs, Asked(time_s=time_s), options)
    if json_file:
        rows = [{**asdict(m), "path": str(m.path), "kernel": k, "said": said} for m, k, said in score.tried]
        json_file.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    differs = sum(v.outcome == "differs" for v in score.unmutated)
    print(f"{len(score.unmutated)} kernels as they are: {differs} differ")
    found = score.count("found")
    alike = f"{score.count('equal code')} others have equal code, {score.count('read')} were read"
    print(f"{score.mutants} mutants: {found} found; {alike}")
    for name in ("width", "mask", "shift", "lane", "barrier"):
        said = Counter(word for m, _, word in score.tried if m.operator == name)
        print(f"  {name}: {said['found']} of {said['found'] + said['missed']}")
    every = score.mutants + score.unordered
    print(f"with {score.unordered} of kernels that depend on the order of threads: {found / max(1, every):.0%} found")
    raise SystemExit(0 if found >= 0.9 * score.mutants and not differs else 1)


if __name__ == "__main__":
    main()
