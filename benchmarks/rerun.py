"""What a repository of thousands of CUDA files costs: again after one file changed, in memory, with two workers.

    python benchmarks/rerun.py TREE [--files 5000] [--fewer 1000] [-j 2] [--part again|workers]... [--keep FOLDER]

The tree is made of the CUDA files of TREE with the headers beside them: whole folders are copied under new names until
there are --files CUDA files, and in each copy the names of kernels and functions get another ending, so that no two
files are alike. CPU time is that of the process and all its children. Prints Markdown tables.

again: a first run, one with nothing changed and one after a touched file, for --fewer files too. Memory is the highest
resident size of the process, and of a worker with its libclang process; pages that they share count for each.

workers: one worker, two, and two of a dask cluster on this machine, without the cache; before and after each, one loop
in Python and two at once, so that what else the machine does is in both figures.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from speed import CU2PORT, CUDA, SOURCES, adopt_orphans, measure

_FUNCTION = re.compile(rb"\bvoid\s+([A-Za-z_]\w{3,})\s*\(")
LOOP = "n = 0\nfor i in range(10_000_000): n += i & 7"
_KEPT = frozenset({b"main", b"operator"})


def varied(data: bytes, number: int) -> bytes:
    """A text whose functions without result have other names; version 0 is the text itself."""
    names = set(_FUNCTION.findall(data)) - _KEPT
    if not number or not names:
        return data + b"// version %d\n" % number if number else data
    words = re.compile(rb"\b(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\b")
    return words.sub(lambda m: b"%s_v%d" % (m[0], number), data)


def folders(tree: Path) -> Iterator[tuple[Path, list[str]]]:
    """Folders that hold CUDA files, with their source files."""
    for folder, below, names in os.walk(tree):
        below[:] = sorted(f for f in below if f != ".git")
        found = sorted(n for n in names if Path(n).suffix in SOURCES and Path(folder, n).is_file())
        if any(Path(n).suffix in CUDA for n in found):
            yield Path(folder), found


def make_tree(tree: Path, out: Path, files: int) -> int:
    """Fill `out` with `files` CUDA files or a few more; how many there are."""
    count, number = 0, 0
    places = list(folders(tree))
    if not places:
        sys.exit(f"{tree}: no CUDA files")
    while count < files:
        for folder, names in places:
            target = out / f"v{number}" / folder.relative_to(tree)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                (target / name).write_bytes(varied((folder / name).read_bytes(), number))
                count += Path(name).suffix in CUDA
            if count >= files:
                break
        number += 1
    return count


def again(tree: Path, files: int, jobs: int, work: Path) -> None:
    """Print what runs cost one after the other."""
    made = tree_of(tree, files, work)
    env = {**os.environ, "CU2PORT_CACHE_DIR": str(work / f"cache-{files}")}
    words = (*CU2PORT, "convert", "-q", str(made), "-o", str(work / f"out-{files}"), "-j", str(jobs))
    touched = min(made.rglob("*.cu"))
    for what in ("first", "nothing changed", "one file changed"):
        if what == "one file changed":
            with touched.open("ab") as f:
                f.write(b"// touched\n")
        ran = measure(words, env)
        memory = f"{ran.parent_kb / 1024:.0f} MB | {ran.worker_kb / 1024:.0f} MB"
        print(f"| {files:,} | {what} | {ran.wall_s:.2f} s | {ran.cpu_s:.2f} s | {memory} |", flush=True)


def workers(tree: Path, files: int, work: Path) -> None:
    """Print how much sooner two workers are done than one, beside two loops."""
    made = tree_of(tree, files, work)
    env = {**os.environ, "CU2PORT_CACHE_DIR": str(work / f"cache-{files}")}
    outs: list[str] = []

    def seconds(*options: str) -> float:
        out = tempfile.mkdtemp(prefix="out-workers-", dir=work)  # see `fresh` in speed.py
        outs.append(out)
        began = time.perf_counter()
        words = (*CU2PORT, "convert", "-q", "--no-cache", str(made), "-o", out, *options)
        code = subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        if code not in (0, 1):
            sys.exit(f"{' '.join(options)}: exit code {code}")
        return time.perf_counter() - began

    seconds("-j", "2")  # so that the files are in memory
    loops = [loop_gain()]
    walls = {}
    for n in (1, 2):
        walls[f"-j {n}"] = seconds("-j", str(n))
        loops.append(loop_gain())
    walls["dask, 2 workers"] = with_dask(seconds)
    loops.append(loop_gain())
    gain, of_loops = walls["-j 1"] / walls["-j 2"], sum(loops) / len(loops)
    print(f"\n{files:,} files: {', '.join(f'{what} {wall:.1f} s' for what, wall in walls.items())}")
    print(f"two workers: {gain:.2f} times one; two loops: {of_loops:.2f} times one; {gain / of_loops:.0%} of that")
    print(f"dask: {walls['dask, 2 workers'] / walls['-j 2']:.2f} times the time of -j 2")
    for out in outs:
        shutil.rmtree(out)


def with_dask(seconds: Callable[..., float]) -> float:
    """The time with a dask cluster of two processes."""
    import distributed  # an extra

    dask: Any = distributed
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        seconds("--scheduler", cluster.scheduler_address)  # its workers load cu2port
        return seconds("--scheduler", cluster.scheduler_address)


def loop_gain() -> float:
    """How many loops in Python two processes end in the time of one process's one."""

    def run(count: int) -> float:
        began = time.perf_counter()
        loops = [subprocess.Popen((sys.executable, "-c", LOOP)) for _ in range(count)]
        for loop in loops:
            loop.wait()
        return time.perf_counter() - began

    return 2 * run(1) / run(2)


def tree_of(tree: Path, files: int, work: Path) -> Path:
    made = work / f"in-{files}"
    if not made.is_dir():
        print(f"{make_tree(tree, made, files)} CUDA files", file=sys.stderr)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="What a repository of thousands of CUDA files costs.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--fewer", type=int, default=1000)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--part", action="append", choices=("again", "workers"), help="what to measure; else all")
    parser.add_argument("--keep", type=Path, help="folder for the trees; those that are there are used again")
    asked = parser.parse_args()
    adopt_orphans()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # where cu2port is installed, it is compiled once
    work = asked.keep or Path(tempfile.mkdtemp(prefix="cu2port-rerun-"))
    parts = asked.part or ("again", "workers")
    if "again" in parts:
        print("| files | run | wall | CPU | parent | a worker |\n|---:|---|---:|---:|---:|---:|")
        for files in (asked.fewer, asked.files):
            again(asked.tree, files, asked.jobs, work)
    if "workers" in parts:
        workers(asked.tree, asked.files, work)
    if asked.keep is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
