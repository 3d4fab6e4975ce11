"""What a second run of `convert` costs in a large tree after one file changed, or none.

    python benchmarks/rerun.py TREE [--files 5000] [-j 2] [--keep FOLDER]

The tree is made of the CUDA files of TREE with the headers beside them: whole folders are copied under new names until
there are --files CUDA files, and in each copy the names of kernels and functions get another ending, so that no two
files are alike. Prints one Markdown table. CPU time is that of the process and all its children.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from speed import CU2PORT, CUDA, SOURCES, adopt_orphans, measure

_FUNCTION = re.compile(rb"\bvoid\s+([A-Za-z_]\w{3,})\s*\(")
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


def main() -> None:
    parser = argparse.ArgumentParser(description="What a second run of convert costs in a large tree.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for the trees; one that is there is used again")
    asked = parser.parse_args()
    adopt_orphans()
    work = asked.keep or Path(tempfile.mkdtemp(prefix="cu2port-rerun-"))
    made = work / "in"
    if not made.is_dir():
        print(f"{make_tree(asked.tree, made, asked.files)} CUDA files", file=sys.stderr)
    env = {**os.environ, "CU2PORT_CACHE_DIR": str(work / "cache")}
    words = (*CU2PORT, "convert", "-q", str(made), "-o", str(work / "out"), "-j", str(asked.jobs))
    touched = sorted(made.rglob("*.cu"))[0]
    print("| run | wall | CPU |\n|---|---:|---:|")
    for what in ("first", "nothing changed", "one file changed"):
        if what == "one file changed":
            with touched.open("ab") as f:
                f.write(b"// touched\n")
        ran = measure(words, env)
        print(f"| {what} | {ran.wall_s:.2f} s | {ran.cpu_s:.2f} s |", flush=True)
    if asked.keep is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
