"""How fast cu2port converts a tree of CUDA files, beside the one peer that pip brings (torch.utils.hipify).

    python benchmarks/speed.py TREE [--only GLOB]... [--json FILE] [--rounds 3] [--torch PYTHON]

Prints one Markdown table. CUDA files (.cu, .cuh) that match --only are converted; other source files that match
are beside them, as includes need, and are copied. Every run is `cu2port convert` in a process of its own with an empty
output folder. The catalogue and libclang's precompiled header are cached, results are not (`--no-cache`).

Times are the best of --rounds. Wall time is what a user waits, and other work on the machine lengthens it; CPU time is
user and system time of the process and all its children, and files/s and lines/s are given for both. Memory is the
highest resident size of a worker plus that of its libclang process; pages that they share count for each.
CPU time of libclang's processes and memory are seen on Linux only.

The peer runs when this Python has its module, or with --torch another one; torch itself is not loaded,
so the peer is timed at its best. It is given the same files; those that are not UTF-8 it cannot read and skips.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread

CUDA = frozenset({".cu", ".cuh"})
SOURCES = CUDA | frozenset(".h .hpp .hxx .hh .inl .inc .c .cc .cpp .cxx .ipp".split())
CU2PORT = (sys.executable, "-c", "from cu2port.cli import main; main()")
SMALL = """#include <cuda_runtime.h>
__global__ void add(int n, const float* a, float* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}
int main() {
    float *a, *b;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    add<<<1, 256>>>(256, a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
"""
FIND_PEER = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
PEER = """
import contextlib, io, os, sys
sys.path.insert(0, sys.argv[1])
from hipify import hipify_python as h
root = sys.argv[2]
files = [os.path.join(d, f) for d, _, names in os.walk(root) for f in names if f.endswith(('.cu', '.cuh'))]
clean = h.GeneratedFileCleaner(keep_intermediates=True)
stats = {'unsupported_calls': [], 'kernel_launches': []}
lost = 0
for f in files:
    try:
        h.preprocess_file_and_save_result(root, f, files, (), stats, False, True, clean, False)
    except UnicodeDecodeError:
        lost += 1
print(lost)
"""
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Ran:
    """One process and its descendants. Seconds; `worker_kb`, `parent_kb`: 0 where they cannot be seen."""

    wall_s: float
    cpu_s: float
    worker_kb: int
    output: str
    parent_kb: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table. `files` and `lines` are 0 for what is not a matter of throughput."""

    what: str
    wall_s: float
    cpu_s: float
    files: int = 0
    lines: int = 0
    worker_kb: int = 0
    note: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        def rate(count: int, seconds: float) -> str:
            return f"{count / seconds:,.0f}" if count else ""

        memory = f"{self.worker_kb / 1024:.0f} MB" if self.worker_kb else ""
        rates = (
            rate(self.files, self.wall_s),
            rate(self.lines, self.wall_s),
            rate(self.files, self.cpu_s),
            rate(self.lines, self.cpu_s),
        )
        return (self.what, f"{self.wall_s:.2f} s", f"{self.cpu_s:.2f} s", *rates, memory, self.note)


HEADINGS = ("", "wall", "CPU", "files/s (wall)", "lines/s (wall)", "files/s (CPU)", "lines/s (CPU)", "a worker", "")


# --- measuring --------------------------------------------------------------------------------------------------------


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends first, so that their CPU time is counted. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def measure(command: Sequence[str], env: dict[str, str]) -> Ran:
    """Run a command to its end. Ends this one when it could not do its work (exit code 0 and 1 are fine)."""
    before = os.times()
    began = time.perf_counter()
    stop = Event()
    peaks: dict[int, int] = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    watch = Thread(target=_watch, args=(process.pid, stop, peaks), daemon=True)
    watch.start()
    output, errors = process.communicate()
    wall = time.perf_counter() - began
    stop.set()
    watch.join()
    _reap()
    after = os.times()
    if process.returncode not in (0, 1) or "No module named" in errors:  # Python itself exits with 1 then
        sys.exit(f"{' '.join(command[-4:])}: exit code {process.returncode}: {errors.strip()[-500:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    parent = peaks.pop(process.pid, 0)
    return Ran(wall, cpu, max(peaks.values(), default=0), output, parent)


def _reap() -> None:
    """Wait for adopted processes, which have been told to end."""
    if sys.platform == "linux":
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _watch(root: int, stop: Event, peaks: dict[int, int]) -> None:
    """Note the highest memory of `root` and of each child of it, its own children included, until told to stop."""
    if not Path("/proc/self/stat").is_file():
        return
    while not stop.wait(0.25):
        peaks[root] = max(peaks.get(root, 0), _peak_kb(root))
        children = _children()
        for worker in children.get(root, ()):
            family = [worker, *children.get(worker, ())]
            peaks[worker] = max(peaks.get(worker, 0), sum(map(_peak_kb, family)))


def _children() -> dict[int, list[int]]:
    """Parent -> children, of all processes."""
    out: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/stat", "rb") as f:  # noqa: PTH123 - hundreds of times a second
                    fields = f.read().rpartition(b")")[2].split()
            except OSError:  # it is gone
                continue
            out.setdefault(int(fields[1]), []).append(int(entry.name))
    return out


def _peak_kb(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def best(rounds: int, run: Callable[[], Ran]) -> Ran:
    """The run with the least CPU time, with the least wall time of all."""
    runs = [run() for _ in range(rounds)]
    least = min(runs, key=lambda r: r.cpu_s)
    return Ran(min(r.wall_s for r in runs), least.cpu_s, max(r.worker_kb for r in runs), least.output)


# --- what is measured -------------------------------------------------------------------------------------------------


def stage(tree: Path, only: Sequence[str], out: Path) -> tuple[list[Path], list[str]]:
    """Copy the sources that match to `out`. Returns the CUDA files, and globs for the others there."""
    wanted: list[Path] = []
    others: set[str] = set()
    for path in _sources(tree):
        relative = path.relative_to(tree)
        if only and not any(fnmatch.fnmatch(relative.as_posix(), g) for g in only):
            continue
        target = out / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        if path.suffix in CUDA:
            wanted.append(target)
        else:
            others.add(f"*{path.suffix}")
    return wanted, sorted(others)


def _sources(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in SOURCES and path.is_file() and not path.is_symlink():
                yield path


def fresh(work: Path) -> Path:
    """A new folder. The last run's is not removed before the next: for minutes after that ext4 passes over each freed
    inode whenever a file is made, which costs more than the rest of writing it (1 ms a file)."""
    return Path(tempfile.mkdtemp(dir=work))


def count_lines(paths: Iterable[Path]) -> int:
    return sum(p.read_bytes().count(b"\n") for p in paths)


def cu2port_lines(tree: Path, only: Sequence[str], work: Path, rounds: int) -> Iterator[Line]:
    env = {**os.environ, "CU2PORT_CACHE_DIR": str(work / "cache")}
    small = work / "small.cu"
    small.write_text(SMALL)
    one = (*CU2PORT, "convert", str(small), "-o", str(work / "small.hip"))
    ran = best(rounds, lambda: measure((sys.executable, "-c", "pass"), env))
    yield Line("`python -c pass`", ran.wall_s, ran.cpu_s, note="for scale")
    first = measure(one, env)
    yield Line("first run ever: one small file, caches made", first.wall_s, first.cpu_s)
    doubtful = work / "doubtful.cu"  # a name of its own that looks like CUDA's: libclang is asked, so its cache is made
    doubtful.write_text(SMALL + "static int cudaFree(float* p, int n) { return n; }\nint x = cudaFree(nullptr, 1);\n")
    two = (*CU2PORT, "convert", str(doubtful), "-o", str(work / "doubtful.hip"))
    measure(two, env)
    ran = best(rounds, lambda: measure((*CU2PORT, "--help"), env))
    yield Line("`cu2port --help`", ran.wall_s, ran.cpu_s)
    ran = best(rounds, lambda: measure(one, env))
    yield Line("one small file, cold", ran.wall_s, ran.cpu_s, note="new process, tokens alone decide")
    ran = best(rounds, lambda: measure(two, env))
    yield Line("one small file, cold, libclang asked", ran.wall_s, ran.cpu_s, note="new process")
    staged = work / "in"
    files, others = stage(tree, only, staged)
    lines = count_lines(files)
    globs = [word for glob in others for word in ("--exclude", glob)]
    for workers in (1, 2):

        def convert(workers: int = workers) -> Ran:
            out = fresh(work)
            words = ("convert", "-q", "--no-cache", str(staged), "-o", str(out), "-j", str(workers), *globs)
            return measure((*CU2PORT, *words), env)

        ran = best(rounds, convert)
        what = f"{len(files):,} CUDA files, {lines:,} lines, -j {workers}"
        yield Line(what, ran.wall_s, ran.cpu_s, len(files), lines, ran.worker_kb)


def peer_lines(tree: Path, only: Sequence[str], work: Path, rounds: int, python: str) -> Iterator[Line]:
    """torch.utils.hipify, if that Python has it."""
    env = dict(os.environ)
    found = subprocess.run((python, "-c", FIND_PEER), capture_output=True, text=True, check=False, env=env)
    if found.returncode:
        return
    utils = str(Path(found.stdout.strip(), "utils"))

    def hipify(source: Callable[[Path], None]) -> Ran:
        out = fresh(work)
        source(out)
        return measure((python, "-c", PEER, utils, str(out)), env)

    def small(out: Path) -> None:
        (out / "small.cu").write_text(SMALL)

    ran = best(rounds, lambda: hipify(small))
    yield Line("hipify (torch): one small file, cold", ran.wall_s, ran.cpu_s, note="regular expressions only")
    counts: list[tuple[int, int]] = []

    def whole(out: Path) -> None:
        files, _ = stage(tree, only, out)
        counts.append((len(files), count_lines(files)))

    ran = best(rounds, lambda: hipify(whole))
    files, lines = counts[0]
    what = f"hipify (torch): {files:,} files, one process"
    lost = int(ran.output.split()[-1])
    note = "regular expressions only" + (f"; {lost} files not read (not UTF-8)" if lost else "")
    yield Line(what, ran.wall_s, ran.cpu_s, files, lines, note=note)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast cu2port converts a tree of CUDA files.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="relative paths to take; else all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--rounds", type=int, default=3, help="each figure is the best of so many runs")
    parser.add_argument("--torch", default=sys.executable, metavar="PYTHON", help="the Python that has torch")
    args = parser.parse_args()
    if not args.tree.is_dir():
        sys.exit(f"{args.tree}: no such folder")
    adopt_orphans()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # where cu2port is installed, it is compiled once
    rows: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="cu2port-speed-") as scratch:
        work = Path(scratch)
        for i, row in enumerate(cu2port_lines(args.tree, args.only, work, args.rounds)):
            _print(row, head=i == 0)
            rows.append(row)
        for row in peer_lines(args.tree, args.only, work, args.rounds, args.torch):
            _print(row)
            rows.append(row)
    if args.json:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
        text = json.dumps({"machine": machine, "rows": [asdict(r) for r in rows]}, indent=1)
        args.json.write_text(text + "\n", encoding="utf-8")


def _print(row: Line, head: bool = False) -> None:
    if head:
        print("| " + " | ".join(HEADINGS) + " |\n| --- |" + " --: |" * (len(HEADINGS) - 2) + " --- |")
    print("| " + " | ".join(row.cells) + " |", flush=True)


if __name__ == "__main__":
    main()
