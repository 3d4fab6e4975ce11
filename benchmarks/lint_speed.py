"""How fast `lint` and `audit` are on real files: wall time, and processor time of the command with all its children.

    python benchmarks/lint_speed.py TREE [--files 100] [--audit]

All but `audit` are held to one core. `one`: a single file, nothing cached; `least`: a file of one line. `many`:
`--files` files of the tree that no cache knows. `again`: the same, answered from the cache. `audit`: the whole tree on
all cores, with the peak memory of its largest process. Before, everything is run once, as after an installation:
modules are compiled, the catalogue and libclang's header are kept. Each row is the best of `--runs`. The machine's load
is printed, since wall time means little without it; of libclang's process the wall time alone knows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUFFIXES = (".cu", ".cuh", ".hip")
ROOT = Path(__file__).resolve().parent.parent / "translator"


def run(words: list[str], folder: Path, cache: Path) -> tuple[float, float]:
    """Wall seconds and processor seconds of a command of cu2port."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CU2PORT_CACHE_DIR": str(cache)}
    env["PYTHONPYCACHEPREFIX"] = str(cache / "pyc")  # an installed package comes compiled
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "cu2port", *words], cwd=folder, env=env, capture_output=True, check=False
    )
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode("utf-8", "replace"))
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--audit", action="store_true")
    asked = parser.parse_args()
    tree = asked.tree.resolve()
    found = sorted(p for p in tree.rglob("*") if p.suffix in SUFFIXES and p.is_file() and not p.is_symlink())
    step = max(1, len(found) // asked.files)
    names = [str(p.relative_to(tree)) for p in found[::step]][: asked.files]
    print(f"load {os.getloadavg()[0]:.1f}, {len(found)} files in {tree.name}")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        common = ["lint", "--isolated", "--jobs", "1", "--exit-zero", "--quiet"]
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
        if cores:
            os.sched_setaffinity(0, {max(cores)})
        least = cache / "tree" / "least.cu"
        least.parent.mkdir()
        least.write_text("int main() { return 0; }\n", encoding="utf-8")
        run([*common, "--no-cache", *names], tree, cache)
        middle = names[len(names) // 2]
        show("least", [run([*common, "--no-cache", least.name], least.parent, cache) for _ in range(asked.runs)])
        show("one", [run([*common, "--no-cache", middle], tree, cache) for _ in range(asked.runs)])
        show(f"many ({len(names)})", [run([*common, "--no-cache", *names], tree, cache) for _ in range(asked.runs)])
        run([*common, *names], tree, cache)
        show("again", [run([*common, *names], tree, cache) for _ in range(asked.runs)])
        if cores:
            os.sched_setaffinity(0, cores)
        if asked.audit:
            show("audit", [run(["audit", tree.name, "-o", str(cache / "x.html")], tree.parent, cache)])
            print(
                f"{'':<14}{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB at most in one process"
            )


def show(what: str, times: list[tuple[float, float]]) -> None:
    """One row: the best run."""
    wall, processor = min(times)
    print(f"{what:<14}{wall:6.2f} s wall {processor:6.2f} s processor")


if __name__ == "__main__":
    main()
