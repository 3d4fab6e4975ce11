"""How many real CUDA programs run on the CPU once cu2port has converted them, at 32 lanes and, those with
warp primitives or with --both-waves all, at 64.

    python tools/simulate_rate.py --corpus HECBENCH/src --list FACTS [--tier 1]... [--both-waves] [--only NAME]...

FACTS has a program a line: a letter, the name, `key=value` columns and `run_args=[...]` last; lines with the letter D
under the headings of the tiers are taken, each program once. Each program `NAME-cuda` is converted, built and run with
small arguments (tools/simulate_rate.toml, else the listed ones scaled down). Where a size is no argument but a
constant of the source, the same table gives a smaller one; such programs are marked with *. A program counts when it
ends with 0, prints PASS (or another word of success that it has) and no word of failure.

Exit: 0 when at least 80 % pass at wave 32, else 1; 2 could not run.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, sim_compiler, simulate

TABLE = Path(__file__).with_suffix(".toml")
GOOD = re.compile(rb"\bpass(?:ed)?\b|\bsuccess|\bcorrect\b|\bverified\b|\bok\b|\bmatch", re.IGNORECASE)
_NONE = (  # `failures: 0`, `mismatch count = 0 of 64`, and not `mismatch at i=0` or `mismatch: 0 != 3`
    rb"(?!\w*(?: (?:tests|cases|checks|counts?|rate|values|elements)){0,2} ?[:=] ?0(?:\.0+)?"
    rb"(?:[ %.)]*(?:\Z|[\r\n])|[ ,;%(]*(?:of|out of|/|pass|total|success)))"
)
_SOME = rb"(?<!\b0 )(?<!\bno )\b(?:fail|mismatch|incorrect\b|wrong\b)"
BAD = re.compile(_SOME + _NONE + rb"|\berror at|\bnot correct", re.IGNORECASE)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@dataclass(frozen=True)
class Entry:
    """A program of the list."""

    name: str
    warp: bool
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """How a program is built and run: arguments, compiler flags, constants made smaller and races mended, GPUs it
    sees, whether it says nothing when all is well, and whether it prints an answer that it does not judge."""

    arguments: tuple[str, ...]
    flags: tuple[str, ...]
    smaller: tuple[tuple[str, str], ...]
    devices: int
    silent: bool
    compared: bool = False


def recipe(entry: Entry, table: dict[str, dict[str, Any]], corpus: Path) -> Recipe:
    """What the table says of a program, else what the list says."""
    given = table["arguments"].get(entry.name)
    return Recipe(
        tuple(given.split()) if given is not None else entry.arguments,
        tuple(table["flags"].get(entry.name, "").format(corpus=corpus.resolve()).split()),
        tuple((old, new) for kind in ("smaller", "mended") for old, new in table[kind].get(entry.name, [])),
        table["devices"].get(entry.name, 1),
        entry.name in table["silent"]["names"],
        entry.name in table["compared"]["names"],
    )


@dataclass(frozen=True)
class Outcome:
    """What happened to a program at one wave size: `pass`, or a reason."""

    name: str
    wave: int
    verdict: str
    detail: str
    seconds: float


def entries(path: Path, tiers: tuple[str, ...]) -> Iterator[Entry]:
    """The D programs of some tiers."""
    inside = False
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            inside = line.startswith(tuple(f"## TIER {tier}" for tier in tiers))
        if not inside or not line.startswith("D "):
            continue
        found = re.search(r"run_args=\[(.*)\]", line)
        listed = (found[1] if found else "").split(";")[0].split()
        warp = re.search(r"warp_tokens=(\d+)", line)
        yield Entry(line.split()[1], warp is not None and warp[1] != "0", tuple(map(scaled, listed)))


def scaled(argument: str) -> str:
    """A listed argument made small: what is above 512 becomes a 512th, but not below 64."""
    if not re.fullmatch(r"\d+", argument):
        return argument
    n = int(argument)
    if n <= 100:
        return "1" if n == 100 else argument
    return str(max(64, n // 512)) if n > 512 else argument


def verdict(ran: simulate.Ran, silent: bool = False) -> tuple[str, str]:
    """`pass` or why not, and the last thing that was said. `silent`: the program says nothing when all is well."""
    said = (ran.errors or ran.output).decode("utf-8", "replace").strip().splitlines()
    last = said[-1][:160] if said else ""
    if ran.timed_out:
        return "time limit", last
    if ran.code:
        return f"exit code {ran.code}", last
    if bad := BAD.search(ran.output):
        return "prints a failure", f"{bad[0].decode()} | {last}"
    if not silent and not GOOD.search(ran.output + ran.errors):
        return "prints no PASS", last
    return "pass", ""


def make_rules(folder: Path) -> tuple[tuple[str, ...], tuple[Path, ...], tuple[str, ...]]:
    """What a Makefile names: sources (none: all there are), folders of includes, macros as compiler flags."""
    path = folder / "Makefile"
    if not path.is_file():
        return (), (), ()
    text = path.read_text("latin-1").replace("\\\n", " ")
    listed = re.search(r"^source\s*=(.*)", text, re.MULTILINE)
    flags = " ".join(re.findall(r"^CFLAGS\s*:?=(.*)", text, re.MULTILINE)).split()
    names = tuple(n for n in (listed[1].split() if listed else ()) if (folder / n).is_file())
    dirs = tuple((folder / f[2:]).resolve() for f in flags if f.startswith("-I") and (folder / f[2:]).is_dir())
    return names, dirs, tuple(f for f in flags if f.startswith("-D") and "$" not in f)


def program_of(folder: Path, how: Recipe, built: Path | None = None) -> sim_build.Program:
    """A program as its Makefile builds it. `built`: a copy of the folder that is built instead."""
    names, dirs, flags = make_rules(folder)
    here = built or folder
    units = tuple(here / n for n in names) or sim_build.find_program(here).units
    return sim_build.Program(units, (here, *dirs), (), (*flags, *how.flags))


def made_smaller(folder: Path, smaller: tuple[tuple[str, str], ...], out: Path) -> Path:
    """A copy of a program with constants replaced: pairs of a text and what stands for it. Raises CannotRun."""
    shutil.copytree(folder, out)
    for old, new in smaller:
        found = False
        for path in out.rglob("*"):
            if path.suffix in sim_build.UNITS | {".h", ".hpp", ".cuh"} and path.is_file():
                text = path.read_bytes()
                found |= old.encode() in text
                path.write_bytes(text.replace(old.encode(), new.encode()))
        if not found:
            raise CannotRun(f"{folder.name}: nowhere {old!r}")
    return out


def attempt(
    folder: Path, entry: Entry, how: Recipe, toolchain: sim_compiler.Toolchain, limit: float, both_waves: bool = False
) -> list[Outcome]:
    """Convert, build and run one program: at wave 32, and at 64 where it has warp primitives or `both_waves` asks."""
    began = time.monotonic()
    waves = (32, 64) if entry.warp or both_waves else (32,)
    settings = {"CU2PORT_SIM_DEVICES": str(how.devices)}

    def both(word: str, detail: str) -> list[Outcome]:
        return [Outcome(entry.name, w, word, detail[:300], round(time.monotonic() - began, 1)) for w in waves]

    with tempfile.TemporaryDirectory() as scratch:
        try:
            copy = made_smaller(folder, how.smaller, Path(scratch) / folder.name) if how.smaller else None
            program = program_of(folder, how, copy)
            binaries = sim_build.build(program, Path(scratch), waves, toolchain)
        except sim_compiler.CannotBuild as e:
            first = next((x for x in str(e).splitlines() if "error" in x), str(e))
            return both("does not build", first)
        except CannotRun as e:
            return both("cannot run", str(e))
        out = []
        for wave, binary in binaries.items():
            began = time.monotonic()
            ran = simulate.run(binary, how.arguments, simulate.Limits(limit), capture=True, settings=settings)
            word, detail = verdict(ran, how.silent)
            out.append(Outcome(entry.name, wave, word, detail, round(time.monotonic() - began, 1)))
        return out


@click.command(help=__doc__)
@click.option("--corpus", type=FOLDER, required=True)
@click.option("--list", "listed", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--tier", type=click.Choice(["1", "2", "3"]), multiple=True, default=("1",))
@click.option("--both-waves", is_flag=True, help="Programs without warp primitives at 64 lanes, too.")
@click.option("--only", multiple=True, help="Only these programs.")
@click.option("--limit", type=float, default=60.0, help="Seconds for one run.")
@click.option("--json", "report", type=click.Path(path_type=Path), help="Write all outcomes.")
def main(
    corpus: Path,
    listed: Path,
    tier: tuple[str, ...],
    both_waves: bool,
    only: tuple[str, ...],
    limit: float,
    report: Path | None,
) -> None:
    table = tomllib.loads(TABLE.read_text())
    if shutil.which("c++") is None and shutil.which("clang++") is None:
        click.echo("no C++ compiler", err=True)
        sys.exit(2)
    toolchain = sim_compiler.find_toolchain()
    chosen = [e for e in entries(listed, tier) if not only or e.name in only]
    outcomes: list[Outcome] = []
    for entry in chosen:
        how = recipe(entry, table, corpus)
        got = attempt(corpus / f"{entry.name}-cuda", entry, how, toolchain, limit, both_waves)
        outcomes += got
        text = "; ".join(f"wave {o.wave}: {o.verdict} {o.detail} ({o.seconds} s)" for o in got)
        mark = "*" if how.smaller else ""
        print(f"{entry.name}{mark} {' '.join(how.arguments)}: {text}", flush=True)
        if report is not None:
            report.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    passed = [o for o in outcomes if o.wave == 32 and o.verdict == "pass"]
    print(f"wave 32: {len(passed)} of {len(chosen)} pass")
    warps = {e.name for e in chosen if e.warp or both_waves}
    passed64 = [o.name for o in outcomes if o.wave == 64 and o.name in warps and o.verdict == "pass"]
    print(f"{'all' if both_waves else 'with warp primitives'}, wave 64: {len(passed64)} of {len(warps)} pass")
    rate = sum(o.wave == 32 and o.verdict == "pass" for o in outcomes) / max(1, len(chosen))
    sys.exit(0 if rate >= 0.8 else 1)


if __name__ == "__main__":
    main()
