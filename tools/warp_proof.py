"""Programs with warp code, renamed or converted in each mode, run with 32 and with 64 lanes; what foretold failures.

    python tools/warp_proof.py --corpus HECBENCH/src --list FACTS [--only NAME]... [--json FILE] [--causes]
    python tools/warp_proof.py --folder tests/warp/programs [--causes]

The programs are those of tools/simulate_rate.py that use warp primitives, of all tiers, or the .cu files of a folder.
A program that prints an answer and does not judge it passes where it prints what the first mode gives on 32 lanes.
Each is built in these modes and simulated at both wave sizes:

    widened   renamed only; a mask 0xffffffff becomes ~0ull, as ports by hand do (tools/warp_rename.h)
    cast      renamed only; masks are cast to 64 bits
    logical, solo, native     `cu2port convert --warp MODE`

A renamed program *fails at 64* when it is right at 32 and not at 64. It was *foretold* when a finding of `--warp flag`
says wrong-result, hang or compile-error for wavefronts of 64. That the findings are about the cause: the program with
`--warp logical` is right, and each line in which it differs from the renamed one bears such a finding; a line that does
not is listed as unforetold. `--causes` takes each of those changes back alone: where the program then fails again, the
line is named as its cause.

Exit: 0; 1 when a failure was not foretold, or a converted program is right at 32 and wrong at 64; 2 could not run.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import click
import simulate_rate as rate

from cu2port.catalog import load_catalog
from cu2port.catalog.uses import declared_names
from cu2port.core.model import Options, Project
from cu2port.engine.effects import on
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit
from cu2port.project.config import WARP_MODES
from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, sim_compiler, simulate
from cu2port.verify.lines import source_lines

SHIM = Path(__file__).with_name("warp_rename.h")
RENAMED = {"widened": ("-include", str(SHIM)), "cast": ("-include", str(SHIM), "-DWARP_RENAME_CAST")}
CONVERTED = tuple(m for m in ("logical", "solo", "native") if m in WARP_MODES)
BAD = frozenset({"wrong-result", "hang", "compile-error"})
ARCH = "gfx942"
_OURS = re.compile(r'#\s*include\s*[<"]cu2port/')


#: A run, or why there was none.
Ran = simulate.Ran | str


@dataclass(frozen=True)
class Told:
    """A finding that says what goes wrong on wavefronts of 64 lanes. Lines count from 1."""

    file: str
    line: int
    last: int
    code: str
    effect: str
    function: str


@dataclass
class Row:
    """A program. `runs`: (mode, wave) as `mode/wave` -> `pass` or why not."""

    name: str
    runs: dict[str, str] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unforetold: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)

    def right(self, mode: str, wave: int) -> bool:
        return self.runs.get(f"{mode}/{wave}") == "pass"

    def fails(self, mode: str) -> bool:
        """Whether it is right at 32 lanes and not at 64."""
        return self.right(mode, 32) and not self.right(mode, 64)


@dataclass(frozen=True)
class Job:
    """A program to build, how it is run, and whether it says nothing when all is well."""

    name: str
    path: Path
    how: rate.Recipe


def jobs(corpus: Path | None, listed: Path | None, folder: Path | None) -> Iterator[Job]:
    """The programs of a list or of a folder."""
    if folder is not None:
        for path in sorted(folder.glob("*.cu")):
            yield Job(path.stem, path, rate.Recipe((), (), (), 1, False))
    if corpus is None or listed is None:
        return
    table = tomllib.loads(rate.TABLE.read_text())
    for tier in "123":
        for entry in rate.entries(listed, (tier,)):
            if entry.warp:
                yield Job(entry.name, corpus / f"{entry.name}-cuda", rate.recipe(entry, table, corpus))


def program(job: Job, copy: Path | None, mode: str) -> sim_build.Program:
    """The program in a mode. `copy`: of its folder, with smaller constants."""
    if job.path.is_dir():
        found = rate.program_of(job.path, job.how, copy)
    else:
        found = sim_build.Program((job.path,), (job.path.parent,), (), job.how.flags)
    if mode in RENAMED:
        return replace(found, flags=(*found.flags, *RENAMED[mode]), warp="flag")
    return replace(found, warp=mode)


def run(built: sim_build.Program, how: rate.Recipe, waves: Sequence[int], tools: Tools) -> dict[int, Ran]:
    """Build a program and run it at each wave size, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            binaries = sim_build.build(built, Path(scratch), waves, tools.toolchain)
        except sim_compiler.CannotBuild as e:
            first = next((x for x in str(e).splitlines() if "error" in x), str(e))
            return dict.fromkeys(waves, f"does not build: {first[:160]}")
        settings = {"CU2PORT_SIM_DEVICES": str(how.devices)}
        limits = simulate.Limits(tools.limit)
        with contextlib.chdir(scratch):
            return {
                wave: simulate.run(binary, how.arguments, limits, capture=True, settings=settings)
                for wave, binary in binaries.items()
            }


def judged(ran: Ran, how: rate.Recipe, want: Ran | None) -> str:
    """`pass`, or why not. `want`: a run that printed the answer, for programs that do not judge it."""
    if isinstance(ran, str):
        return ran
    word, detail = rate.verdict(ran, how.silent or how.compared)
    if word == "pass" and how.compared and isinstance(want, simulate.Ran):
        word, detail = next((("another answer", b or a) for a, b in simulate.differences(want, ran)), (word, detail))
    return word if word == "pass" else f"{word}: {detail}"[:160]


@dataclass(frozen=True)
class Tools:
    """The compiler, and how long a run may take, in seconds."""

    toolchain: sim_compiler.Toolchain
    limit: float


def told(path: Path, data: bytes, project: Project) -> Iterator[Told]:
    """What `--warp flag` says of a file about wavefronts of 64 lanes."""
    result = translate(data, Options(warp="flag"), path=str(path), project=project)
    unit = Unit(data.decode("latin-1"), load_catalog())
    for judged in result.findings:
        f = judged.finding
        effect = on(f, ARCH)
        if effect not in BAD or not f.code.startswith(("CU3", "CU4")):
            continue
        first, last = (data.count(b"\n", 0, at) + 1 for at in (f.start, max(f.start, f.end - 1)))
        where = next((g.name for g in unit.functions if unit.p[g.first] <= f.start < unit.p[g.body[1]]), "")
        yield Told(path.name, first, last, f.code, effect, where)


@dataclass(frozen=True)
class Change:
    """Lines of the renamed text [first, stop), what stands there when converted, and the CUDA lines they came from."""

    path: Path
    first: int
    stop: int
    text: tuple[str, ...]
    lines: tuple[int, ...]


def changes(path: Path, data: bytes, renamed: str, converted: str) -> Iterator[Change]:
    """Where the converted text differs from the renamed one, our own includes left out."""
    a, b = renamed.split("\n"), converted.split("\n")
    came = source_lines(data, renamed.encode("latin-1"))
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal" or (i1 == i2 and all(_OURS.search(x) or not x.strip() for x in b[j1:j2])):
            continue
        if i2 - i1 == j2 - j1:  # line by line
            for k in range(i2 - i1):
                yield Change(path, i1 + k, i1 + k + 1, (b[j1 + k],), (came[i1 + k],))
        else:
            lines = tuple(sorted({came[k] for k in range(i1, i2)} or {came[min(i1, len(came) - 1)]}))
            yield Change(path, i1, i2, tuple(b[j1:j2]), lines)


def explain(row: Row, built: sim_build.Program, how: rate.Recipe, tools: Tools | None, want: Ran | None = None) -> None:
    """Fill in what was foretold and what conversion changes; with `tools`, which changes alone are needed."""
    renamed = sim_build.sources(replace(built, warp="flag"))
    converted = sim_build.sources(replace(built, warp="logical"))
    read = {p: p.read_bytes() for p in renamed if sim_compiler.INCLUDE_DIR not in p.parents}
    project = Project(declared=frozenset(n for d in read.values() for n in declared_names(d.decode("latin-1")).own))
    row.told = [t for p, data in read.items() for t in told(p, data, project)]
    found = [c for p, data in read.items() for c in changes(p, data, renamed[p].hip, converted[p].hip)]
    for c in found:
        names = [f"{c.path.name}:{n}" for n in c.lines]
        codes = {t.code for t in row.told if t.file == c.path.name and any(t.line <= n <= t.last for n in c.lines)}
        row.changed += [f"{names[0]} {'+'.join(sorted(codes))}"]
        if not codes:
            row.unforetold += names[:1]
    if tools is None:
        return
    texts = {p: t.hip for p, t in renamed.items()}
    for c in found:
        with tempfile.TemporaryDirectory() as scratch:
            mixed = mix(Path(scratch), built, texts, [x for x in found if x is not c])
            verdict = judged(run(mixed, how, (64,), tools)[64], how, want)
        if verdict != "pass" and not verdict.startswith("does not build"):
            row.causes.append(f"{c.path.name}:{c.lines[0]}")


def mix(folder: Path, built: sim_build.Program, texts: dict[Path, str], wanted: Sequence[Change]) -> sim_build.Program:
    """The renamed program with some of the changes made, written below a folder."""
    for path, text in texts.items():
        if sim_compiler.INCLUDE_DIR in path.parents:
            continue
        lines = text.split("\n")
        for c in sorted((x for x in wanted if x.path == path), key=lambda x: -x.first):
            lines[c.first : c.stop] = c.text
        helpers = ['#include "cu2port/warp.hpp"'] if any("cu2port::warp" in x for x in lines) else []
        target = sim_build.mirrored(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        guard = next((k for k, x in enumerate(lines) if _OURS.search(x)), -1)
        if helpers and guard < 0:
            lines[0:0] = helpers
        target.write_bytes("\n".join(lines).encode("latin-1"))
    units = tuple(sim_build.mirrored(folder, Path(u).absolute()) for u in built.units)
    dirs = tuple(sim_build.mirrored(folder, Path(d).absolute()) for d in built.include_dirs)
    real = tuple(f"-idirafter{Path(d).absolute()}" for d in built.include_dirs)
    return sim_build.Program(units, dirs, (), (*built.flags, *real), "flag")


def examine(job: Job, modes: Sequence[str], tools: Tools, causes: bool) -> Row:
    """Run one program in all modes, and look at what foretold its failures."""
    row = Row(job.name)
    with tempfile.TemporaryDirectory() as scratch:
        copy = None
        if job.how.smaller:
            copy = rate.made_smaller(job.path, job.how.smaller, Path(scratch) / job.path.name)
        want: Ran | None = None
        for mode in modes:
            for wave, ran in run(program(job, copy, mode), job.how, (32, 64), tools).items():
                row.runs[f"{mode}/{wave}"] = judged(ran, job.how, want)
                want = want or ran
        wanted = causes and row.fails("widened") and row.right("logical", 64)
        explain(row, program(job, copy, "widened"), job.how, tools if wanted else None, want)
    return row


def line(row: Row, modes: Sequence[str]) -> str:
    """A row of the table."""
    cells = []
    for mode in modes:
        a, b = (row.runs.get(f"{mode}/{w}", "-") for w in (32, 64))
        short = [x if x in ("pass", "-") else f"**{x.partition(':')[0]}**" for x in (a, b)]
        cells.append(short[0] if short[0] == short[1] else " / ".join(short))
    counts: dict[str, int] = {}
    for t in row.told:
        counts[t.code] = counts.get(t.code, 0) + 1
    foretold = " ".join(f"{code} {n}" for code, n in sorted(counts.items())) or "nothing"
    extra = f"; cause: {', '.join(row.causes)}" if row.causes else ""
    extra += f"; **unforetold**: {', '.join(row.unforetold)}" if row.unforetold else ""
    return f"| {row.name} | {' | '.join(cells)} | {foretold}{extra} |"


@click.command(help=__doc__)
@click.option("--corpus", type=rate.FOLDER)
@click.option("--list", "listed", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--folder", type=rate.FOLDER)
@click.option("--only", multiple=True, help="Only these programs.")
@click.option("--mode", "modes", multiple=True, type=click.Choice((*RENAMED, *CONVERTED)), help="Only these modes.")
@click.option("--limit", type=float, default=60.0, help="Seconds for one run.")
@click.option("--causes", is_flag=True, help="Name the lines that alone make a renamed program fail.")
@click.option("--json", "report", type=click.Path(path_type=Path), help="Write all rows.")
def main(
    corpus: Path | None,
    listed: Path | None,
    folder: Path | None,
    only: tuple[str, ...],
    modes: tuple[str, ...],
    limit: float,
    causes: bool,
    report: Path | None,
) -> None:
    chosen = modes or (*RENAMED, *CONVERTED)
    try:
        tools = Tools(sim_compiler.find_toolchain(), limit)
        rows = []
        print(f"| program | {' | '.join(chosen)} | foretold |\n|{' --- |' * (len(chosen) + 2)}")
        for job in jobs(corpus, listed, folder):
            if only and job.name not in only:
                continue
            rows.append(examine(job, chosen, tools, causes))
            print(line(rows[-1], chosen), flush=True)
            if report is not None:
                report.write_text(json.dumps([asdict(r) for r in rows], indent=1))
    except CannotRun as e:
        click.echo(f"warp_proof: {e}", err=True)
        sys.exit(2)
    sys.exit(summary(rows, chosen))


def summary(rows: Sequence[Row], modes: Sequence[str]) -> int:
    """Print the counts; returns the exit code."""
    bad = 0
    for mode in modes:
        right = [r.name for r in rows if r.right(mode, 32)]
        failing = [r for r in rows if r.fails(mode)]
        print(f"{mode}: right at 32: {len(right)} of {len(rows)}; of those wrong at 64: {len(failing)}")
        if mode in RENAMED:
            unseen = [r.name for r in failing if not r.told]
            silent = [r.name for r in rows if r.told and r.right(mode, 64)]
            print(f"  foretold: {len(failing) - len(unseen)}; not: {unseen}; foretold and right: {silent}")
            bad += len(unseen)
        else:
            bad += len(failing)
            for r in failing:
                print(f"  {r.name}: {r.runs[f'{mode}/64']}")
    return 1 if bad else 0


if __name__ == "__main__":
    main()
