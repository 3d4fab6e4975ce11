"""Hetero-Mark's CUDA programs with a check on the CPU, converted, in the simulator at 32 and 64 lanes.

    python tools/hetero_mark.py HETERO-MARK [--only NAME]... [--limit S]

Each of nine programs is built from the sources that its CMakeLists name, converted, and runs with `--verify`. Data that
is downloaded otherwise is made here, small, from a fixed seed: a text and a key (aes), sequences (ga), points (kmeans),
places (knn), a graph (pr). Two more have CUDA code and are left out: `be` reads a film by OpenCV, `bst` checks nothing.
A program passes when it ends with 0 and says that its check did.

Exit: 0 when all pass at both sizes, else 1.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from cu2port.project.tree import CannotRun
from cu2port.verify import simulate
from cu2port.verify.sim_build import Program, build
from cu2port.verify.sim_compiler import find_toolchain

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
GOOD = re.compile(rb"^Passed|All distances correctly matched", re.MULTILINE)
COMMON = ("benchmark", "command_line_option", "time_measurement")
#: A header of theirs names `std::runtime_error`, which headers that it includes no longer bring.
STDEXCEPT = ("-include", "stdexcept")
Words = list[str]


def nothing(folder: Path, draw: random.Random) -> Words:
    return []


def aes(folder: Path, draw: random.Random) -> Words:
    """2 KiB of text and a key of 32 bytes, in hexadecimal."""
    (folder / "text").write_text(draw.randbytes(2048).hex())
    (folder / "key").write_text(draw.randbytes(32).hex())
    return ["-i", str(folder / "text"), "-k", str(folder / "key")]


def ga(folder: Path, draw: random.Random) -> Words:
    """A short sequence and a longer one that holds it, of a multiple of 1024: the program copies so much at a time."""
    query = "".join(draw.choices("ACGT", k=64))
    target = "".join(draw.choices("ACGT", k=1484)) + query + "".join(draw.choices("ACGT", k=500))
    (folder / "sequences").write_text(f"{query}\n{target}\n")
    return ["-i", str(folder / "sequences")]


def kmeans(folder: Path, draw: random.Random) -> Words:
    """500 points of 8 features, each with its number before it."""
    rows = (f"{n} " + " ".join(str(draw.randrange(256)) for _ in range(8)) for n in range(500))
    (folder / "points").write_text("\n".join(f"{r} " for r in rows) + "\n")
    return ["-i", str(folder / "points")]


def knn(folder: Path, draw: random.Random) -> Words:
    """1000 records of 49 characters, in which two numbers of five characters stand at 28; and a list of files."""
    rows = (f"{n:027d} {draw.uniform(10, 60):5.1f}{draw.uniform(10, 60):5.1f}{'x':>10}" for n in range(1000))
    (folder / "db").write_text("".join(f"{r[:48]}\n" for r in rows))
    (folder / "list").write_text(f"{folder / 'db'}\n")
    return ["-i", str(folder / "list")]


def pr(folder: Path, draw: random.Random) -> Words:
    """A graph of 256 nodes as rows of a sparse matrix; each column's values come to one, and a ring leaves no column
    empty. The program shows the step before its last one, so it needs a sum that stays, and enough steps."""
    links = [sorted({(i + 1) % 256, *draw.sample(range(256), draw.randrange(1, 9))}) for i in range(256)]
    into = [sum(k in row for row in links) for k in range(256)]
    offsets = [0]
    for row in links:
        offsets.append(offsets[-1] + len(row))
    columns = [k for row in links for k in row]
    values = [1 / into[k] for k in columns]
    lines = ([len(columns), 256], offsets, columns, values)
    (folder / "graph").write_text("\n".join(" ".join(map(str, x)) for x in lines) + "\n")
    return ["-i", str(folder / "graph"), "--max-iteration", "200"]


PROGRAMS: Mapping[str, Callable[[Path, random.Random], Words]] = {
    "aes": aes,
    "bs": nothing,
    "ep": lambda folder, draw: ["--max-generation", "5", "--population", "128"],
    "fir": lambda folder, draw: ["--num-data-per-block", "1024", "--num-block", "4"],
    "ga": ga,
    "hist": nothing,
    "kmeans": kmeans,
    "knn": knn,
    "pr": pr,
}


def sources(root: Path, name: str) -> tuple[Path, ...]:
    """What a program is made of, without tests."""
    folders = [root / "src" / name / "cuda", root / "src" / name, *(root / "src" / "common" / c for c in COMMON)]
    found = (p for f in folders for p in sorted(f.iterdir()) if p.suffix in (".cc", ".cu"))
    return tuple(p for p in found if not p.stem.endswith("_test"))


def said(root: Path, name: str, limit: float) -> dict[int, str]:
    """How a program ended at each wave size."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        words = PROGRAMS[name](folder, random.Random(1))
        try:
            program = Program(sources(root, name), (root,), flags=STDEXCEPT, cuda=True)
            binaries = build(program, folder, (32, 64), find_toolchain())
        except CannotRun as e:
            error = next((x for x in str(e).splitlines() if "error" in x), str(e))
            return dict.fromkeys((32, 64), f"does not build: {error[:200]}")
        out = {}
        for wave, binary in binaries.items():
            ran = simulate.run(binary, ["--verify", "--quiet", *words], simulate.Limits(limit), capture=True)
            last = (ran.errors or ran.output).decode("utf-8", "replace").strip().rpartition("\n")[2]
            good = ran.code == 0 and GOOD.search(ran.output)
            out[wave] = "passes" if good else f"exit code {ran.code}: {last[:160]}"
        return out


@click.command(help=__doc__)
@click.argument("root", type=FOLDER)
@click.option("--only", multiple=True, type=click.Choice(sorted(PROGRAMS)))
@click.option("--limit", type=float, default=120.0, help="Seconds for one run.")
def main(root: Path, only: tuple[str, ...], limit: float) -> None:
    passed = {32: 0, 64: 0}
    chosen = only or tuple(PROGRAMS)
    for name in chosen:
        for wave, text in said(root.resolve(), name, limit).items():
            passed[wave] += text == "passes"
            print(f"{name}: wave {wave}: {text}", flush=True)
    print(", ".join(f"{n} of {len(chosen)} pass at {wave} lanes" for wave, n in passed.items()))
    raise SystemExit(0 if min(passed.values()) == len(chosen) else 1)


if __name__ == "__main__":
    main()
