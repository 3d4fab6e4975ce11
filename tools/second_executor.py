"""Random warp kernels, converted and run by machine code of AMD GPUs, by the simulator and by a model of CUDA's warps.

    python tools/second_executor.py EMULATOR [--mode logical] [--count 100] [--seed 1] [--keep DIR]

EMULATOR is a folder with an executor of AMD GPU code objects, which is no part of cu2port:
`EMULATOR/amdemu/build.sh ARCH IN.hip OUT.so` compiles a program, and `EMULATOR/venv/bin/python` runs it, kernels and
all, by `EMULATOR/amdemu/run.py OUT.so`, here with `emulator_run.py` around it. `--build` and `--run` name other
commands. Kernels come from `warp_kernels.py`, many in one program; what they must come to is worked out there, with 32
lanes in a warp, whatever the GPU. Each is run

    by gfx942 machine code (wavefronts of 64 lanes), by gfx1100 machine code (32), by the simulator at 64 and at 32

tinygrad's emulator does not extend the sign of 24-bit operands (v_mul_i32_i24 and its kin):
kernels whose code has these may differ from the model in the highest byte.

Programs are kept in DIR by what they are made of; a second call compiles nothing. So is what the emulator makes of each
kind of instruction, which takes minutes the first time. Kernels that disagree are written to DIR/disagree with what
each run gave.

A kernel for which clang itself fails is named and left out (22.1 leaves an addition of 64 bits unencoded on gfx1100).

Exit: 0 when all agree, except for kernels with findings for manual work; 1 when others do not; 2
could not run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path

import click
from warp_kernels import PRELUDE, SEED, Kernel, Writer
from warp_values import COUNTERS

from cu2port.core.data import cache_dir
from cu2port.verify import sim_build, sim_compiler

ARCHES = ("gfx942", "gfx1100")
WAVES = (64, 32)
CLANGS = ("clang++-22", "clang++")
RUN_S = 600
MAIN = """
static unsigned long long shown(const unsigned* p, unsigned n) {
  unsigned long long h = 1469598103934665603ull;
  for (unsigned i = 0; i < n; ++i) h = (h ^ p[i]) * 1099511628211ull;
  return h;
}
template <class K> static void go(const char* name, K kernel, unsigned blocks, unsigned threads, bool all) {
  const unsigned n = blocks * threads, sums = blocks * ((threads + 31) / 32) * COUNTERS, size = (n + sums) * 4;
  unsigned* d;
  cudaMalloc((void**)&d, size);
  cudaMemset(d, 0, size);
  printf("%s ", name);
  fflush(stdout);
  kernel<<<blocks, threads>>>(d, d + n, SEED);
  if (cudaDeviceSynchronize() != cudaSuccess) printf("failed ");
  unsigned* h = (unsigned*)malloc(size);
  cudaMemcpy(h, d, size, cudaMemcpyDeviceToHost);
  printf("%016llx\\n", shown(h, n + sums));
  for (unsigned i = 0; all && i < n + sums; ++i) printf("%u%c", h[i], i + 1 < n + sums ? ' ' : '\\n');
  fflush(stdout);
  cudaFree(d);
}
int main(int argc, char** argv) {
  const int first = argc > 1 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : 1 << 30;
  const bool all = argc > 3;
  int n = 0;
"""


def program(kernels: Sequence[Kernel]) -> str:
    """A program of CUDA that runs kernels number ARGV[1] to ARGV[2]; a third argument shows all numbers."""
    runs = "".join(
        f'  if (n >= first && n < last) go("{k.name}", {k.name}, {k.blocks}, {k.threads}, all);\n  ++n;\n'
        for k in kernels
    )
    main = MAIN.replace("COUNTERS", f"{COUNTERS}u").replace("SEED", f"{SEED}u")
    return f"#include <cstdlib>\n{PRELUDE}{''.join(k.text for k in kernels)}{main}{runs}}}\n"


def digest(words: Sequence[int]) -> str:
    """What the program prints of its numbers."""
    h = 1469598103934665603
    for w in words:
        h = (h ^ w) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


class CompileError(Exception):
    """A compiler for AMD GPUs gave up; with what it said."""


@dataclass(frozen=True)
class Setup:
    """How kernels are converted, where programs are kept, and the commands that build and run those for AMD GPUs."""

    mode: str
    keep: Path
    build: str
    runner: str
    flags: str
    cxx: str


def spent() -> float:
    """Seconds of a processor that this process and its children took."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in both)


class Batch:
    """Some kernels in one program, built for each executor."""

    def __init__(self, kernels: Sequence[Kernel], setup: Setup) -> None:
        self.kernels, self.setup = kernels, setup
        text = program(kernels)
        inputs = hashlib.sha256(f"{setup.mode}{setup.build}{setup.flags}{setup.cxx}{text}".encode())
        for path in sorted(sim_compiler.INCLUDE_DIR.rglob("*")):
            inputs.update(path.read_bytes() if path.is_file() else b"")
        self.folder = setup.keep / f"{setup.mode}-{inputs.hexdigest()[:12]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.hip = self.folder / "hip" / "kernels.hip"
        self.source = self.folder / "kernels.cu"
        self.source.write_text(text)

    def convert(self) -> dict[str, str]:
        """Write the HIP program; returns the kernels of which cu2port leaves something to a person, with its codes."""
        report = self.folder / "report.json"
        if not report.is_file():
            self.hip.parent.mkdir(exist_ok=True)
            part = self.folder / "part.json"
            call = [sys.executable, "-m", "cu2port", "convert", str(self.source), "-o", str(self.hip), "--force"]
            call += ["--warp", self.setup.mode, "--report", str(part)]
            done = subprocess.run(call, capture_output=True, text=True)
            if not part.is_file():
                raise click.ClickException(done.stdout + done.stderr)
            part.replace(report)
        ends = list(accumulate((k.text.count("\n") for k in self.kernels), initial=1 + PRELUDE.count("\n")))
        left: dict[str, set[str]] = {}
        for x in json.loads(report.read_text())["files"][0]["findings"]:
            n = bisect_left(ends, x["start"]["line"]) - 1
            if x["outcome"] != "applied" and 0 <= n < len(self.kernels):
                left.setdefault(self.kernels[n].name, set()).add(x["code"])
        return {name: " ".join(sorted(codes)) for name, codes in left.items()}

    def compile(self, arch: str) -> list[str]:
        """The command that runs a GPU's machine code. Raises CompileError."""
        made = self.folder / f"{arch}.so"
        if not made.is_file():
            part = made.with_suffix(".part")
            call = [*shlex.split(self.setup.build), arch, str(self.hip), str(part), *shlex.split(self.setup.flags)]
            done = subprocess.run(call, capture_output=True, text=True)
            if done.returncode:
                raise CompileError(f"{arch}: {done.stderr[:300]}")
            part.replace(made)
        return [*shlex.split(self.setup.runner), str(made)]

    def simulated(self, wave: int) -> list[str]:
        """The command that runs the simulator."""
        made = self.folder / f"program-{wave}"
        if not made.is_file():
            found = sim_build.Program((self.hip,), flags=("-O0", "-fno-exceptions"), warp=self.setup.mode)
            sim_build.build(found, self.folder, [wave], sim_compiler.find_toolchain(self.setup.cxx), jobs=1)
        return [str(made)]

    def run(self, command: Sequence[str]) -> dict[str, str]:
        """What each kernel came to. After one that ends the program the next one starts a new run."""
        out: dict[str, str] = {}
        first = 0
        while first < len(self.kernels):
            try:
                done = subprocess.run([*command, str(first)], capture_output=True, text=True, timeout=RUN_S)
                said, why = done.stdout, done.stderr.strip().splitlines()[:1]
            except subprocess.TimeoutExpired as e:
                said, why = (e.stdout or b"").decode(), ["time out"]
            for line in said.splitlines():
                name, _, value = line.partition(" ")
                out[name] = value.strip()
            done_now = [n for n, k in enumerate(self.kernels) if out.get(k.name)]
            first = max(done_now, default=first - 1) + 1
            if first < len(self.kernels):
                out[self.kernels[first].name] = f"ended: {' '.join(why)}"
                first += 1
        return out


@dataclass
class Answers:
    """What executors answered for some kernels, and the seconds that it took.

    `left`: codes of what cu2port leaves to a person in a kernel. `failed`: why clang does not compile the one kernel.
    """

    folder: Path
    kernels: list[Kernel]
    left: dict[str, str]
    executors: dict[str, dict[str, str]]
    seconds: dict[str, float]
    failed: str = ""


def examine(setup: Setup, leaders: bool, first: int, count: int) -> list[Answers]:
    """Build and run some kernels. Where they do not compile for a GPU, their halves are tried."""
    seconds: dict[str, float] = {}
    mark = spent()

    def took(what: str) -> None:
        nonlocal mark
        now = spent()
        seconds[what] = seconds.get(what, 0.0) + now - mark
        mark = now

    kernels = kernels_of(first, count, leaders)
    took("model")
    batch = Batch(kernels, setup)
    left = batch.convert()
    took("converting")
    answers: dict[str, dict[str, str]] = {}
    for arch in ARCHES:
        try:
            command = batch.compile(arch)
        except CompileError as e:
            if count > 1:
                half = count // 2
                return examine(setup, leaders, first, half) + examine(setup, leaders, first + half, count - half)
            return [Answers(batch.folder, kernels, left, {}, seconds, str(e))]
        took("compiling for GPUs")
        answers[arch] = batch.run(command)
        took(f"running {arch}")
    for wave in WAVES:
        command = batch.simulated(wave)
        took("compiling for the simulator")
        answers[f"simulator {wave}"] = batch.run(command)
        took("running the simulator")
    return [Answers(batch.folder, kernels, left, answers, seconds)]


def kernels_of(first: int, count: int, leaders: bool) -> list[Kernel]:
    """Kernels by number: each is the same whatever else is asked for."""
    return [Writer(random.Random(n), f"k{n}", leaders).kernel() for n in range(first, first + count)]


def judge(found: Answers, setup: Setup) -> list[tuple[Kernel, str]]:
    """The kernels in which an executor and the model differ, and which executors."""
    wrong = []
    for k in found.kernels:
        want = digest(k.expected)
        bad = [name for name, got in found.executors.items() if got.get(k.name) != want]
        if bad:
            wrong.append((k, ", ".join(bad)))
            folder = setup.keep / "disagree"
            folder.mkdir(exist_ok=True)
            told = "".join(f"// {name}: {got.get(k.name)}\n" for name, got in found.executors.items())
            text = f"// {found.folder}\n// model: {want}\n{told}// {' '.join(sorted(k.tags))}\n{program([k])}"
            (folder / f"{setup.mode}-{k.name}.cu").write_text(text)
            (folder / f"{setup.mode}-{k.name}.txt").write_text(" ".join(map(str, k.expected)))
    return wrong


@click.command(help=__doc__)
@click.argument("emulator", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", default="logical", type=click.Choice(["logical", "solo"]))
@click.option("--count", default=100, help="Kernels in all.")
@click.option("--seed", default=1, help="Number of the first kernel.")
@click.option("--batch", "size", default=75, help="Kernels in one program, at most.")
@click.option("--jobs", default=2, help="Programs at a time.")
@click.option("--leaders/--no-leaders", default=True, help="Unset values through functions and groups.")
@click.option("--build", default="", help="Command in place of EMULATOR/amdemu/build.sh.")
@click.option("--run", "runner", default="", help="Command in place of emulator_run.py.")
@click.option("--flags", default="", help="More flags for the build command.")
@click.option("--cxx", default="", help="Compiler for the simulator; by default a clang, which is quicker at -O0.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Folder for programs and disagreements.")
def main(
    emulator: Path,
    mode: str,
    count: int,
    seed: int,
    size: int,
    jobs: int,
    leaders: bool,
    build: str,
    runner: str,
    flags: str,
    cxx: str,
    keep: Path | None,
) -> None:
    keep = (keep or cache_dir() / "executor").absolute()
    keep.mkdir(parents=True, exist_ok=True)
    root = emulator.absolute()
    build = build or shlex.quote(str(root / "amdemu" / "build.sh"))
    if not runner:
        os.environ["PYTHONPYCACHEPREFIX"] = str(keep / "python")  # reading the emulator's sources takes seconds
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        script = Path(__file__).with_name("emulator_run.py")
        words = [root / "venv" / "bin" / "python", script, root, keep / "instructions"]
        runner = shlex.join(map(str, words))
    cxx = cxx or next((c for c in CLANGS if shutil.which(c)), "")
    setup = Setup(mode, keep, build, runner, flags, cxx)
    began = time.monotonic()
    agree: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    tags: Counter[str] = Counter()
    wrong: list[tuple[Kernel, str]] = []
    silent = failed = 0
    parts = max(-(-count // size), min(jobs, count))
    edges = [seed + count * n // parts for n in range(parts + 1)]
    with ProcessPoolExecutor(jobs) as pool:
        todo = [pool.submit(examine, setup, leaders, a, b - a) for a, b in pairwise(edges)]
        for found in chain.from_iterable(job.result() for job in todo):
            if found.failed:
                print(f"{mode} {found.kernels[0].name}: clang fails, {found.failed.splitlines()[0]}", flush=True)
                failed += 1
            differ = judge(found, setup)
            wrong += differ
            for what, s in found.seconds.items():
                seconds[what] = seconds.get(what, 0.0) + s
            for k in found.kernels:
                tags.update(k.tags)
            for name, got in found.executors.items():
                agree[name] += sum(got.get(k.name) == digest(k.expected) for k in found.kernels)
            for k, names in differ:
                said = f"; cu2port names {found.left[k.name]}" if k.name in found.left else ""
                silent += not said
                print(f"{mode} {k.name}: {names} differ from the model{said}  ({' '.join(sorted(k.tags))})", flush=True)
    total = sum(seconds.values())
    print(
        f"{mode}: {count - failed - len(wrong)} of {count - failed} kernels agree everywhere; "
        f"{failed} that clang does not compile; {time.monotonic() - began:.0f} s, {total:.0f} s of a processor"
    )
    for name, n in agree.items():
        print(f"  {name:<13} {n} of {count - failed} as the model")
    print("  seconds of a processor: " + ", ".join(f"{what} {s:.0f}" for what, s in seconds.items()))
    print("  kernels with: " + ", ".join(f"{t} {n}" for t, n in sorted(tags.items())))
    raise SystemExit(1 if silent else 0)


if __name__ == "__main__":
    main()
