"""Random warp kernels, converted and run by machine code of AMD GPUs, by the simulator and by a model of CUDA's warps.

    python tools/second_executor.py EMULATOR [--mode logical] [--count 100] [--seed 1] [--keep DIR]

EMULATOR is a folder with an executor of AMD GPU code objects, which is no part of cu2port:
`EMULATOR/amdemu/build.sh ARCH IN.hip OUT.so` compiles a program, and `EMULATOR/venv/bin/python` runs it, kernels and
all, by `EMULATOR/amdemu/run.py OUT.so`. `--build` and `--run` name other commands. Kernels come from `warp_kernels.py`,
many in one program; what they must come to is worked out there, with 32 lanes in a warp, whatever the GPU. Each is run

    by gfx942 machine code (wavefronts of 64 lanes), by gfx1100 machine code (32), by the simulator at 64 and at 32

tinygrad's emulator does not extend the sign of 24-bit operands (v_mul_i32_i24 and its kin):
kernels whose code has these may differ from the model in the highest byte.

Programs are kept in DIR by what they are made of; a second call compiles nothing. Kernels that disagree are written to
DIR/disagree with what each run gave.

Exit: 0 when all agree; 1 when some do not; 2 could not run.
"""

from __future__ import annotations

import hashlib
import random
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

import click
from warp_kernels import PRELUDE, SEED, Kernel, Writer
from warp_values import COUNTERS

from cu2port.data import cache_dir
from cu2port.verify import sim_build

ARCHES = ("gfx942", "gfx1100")
WAVES = (64, 32)
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


class Batch:
    """Some kernels in one program, built for each executor."""

    def __init__(self, kernels: Sequence[Kernel], mode: str, keep: Path, build: str, runner: str, flags: str) -> None:
        self.kernels, self.mode, self.runner, self.flags = kernels, mode, runner, flags
        text = program(kernels)
        inputs = hashlib.sha256(f"{mode}{build}{flags}{text}".encode())
        for path in sorted(sim_build.TRAVELLING.rglob("*")):
            inputs.update(path.read_bytes() if path.is_file() else b"")
        self.folder = keep / f"{mode}-{inputs.hexdigest()[:12]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source = self.folder / "kernels.cu"
        self.source.write_text(text)
        self.build = build

    def commands(self) -> dict[str, list[str]]:
        """Each executor's command; programs that are not there yet are built."""
        hip = self.folder / "hip" / "kernels.hip"
        if not hip.is_file():
            hip.parent.mkdir(exist_ok=True)
            call = [sys.executable, "-m", "cu2port", "convert", str(self.source), "-o", str(hip), "--warp", self.mode]
            done = subprocess.run(call, capture_output=True, text=True)
            if not hip.is_file():
                raise click.ClickException(done.stdout + done.stderr)
        out = {}
        for arch in ARCHES:
            made = self.folder / f"{arch}.so"
            if not made.is_file():
                part = made.with_suffix(".part")
                done = subprocess.run(
                    [*shlex.split(self.build), arch, str(hip), str(part), *shlex.split(self.flags)],
                    capture_output=True,
                    text=True,
                )
                if done.returncode:
                    raise CompileError(f"{arch}: {done.stderr[:300]}")
                part.replace(made)
            out[arch] = [*shlex.split(self.runner), str(made)]
        missing = [w for w in WAVES if not (self.folder / f"program-{w}").is_file()]
        if missing:
            found = sim_build.Program((self.source,), flags=("-O0",), warp=self.mode)
            sim_build.build(found, self.folder, missing, sim_build.find_toolchain(), jobs=1)
        for wave in WAVES:
            out[f"simulator {wave}"] = [str(self.folder / f"program-{wave}")]
        return out

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


def kernels_of(first: int, count: int, leaders: bool) -> list[Kernel]:
    """Kernels by number: each is the same whatever else is asked for."""
    return [Writer(random.Random(n), f"k{n}", leaders).kernel() for n in range(first, first + count)]


def judge(batch: Batch, executors: dict[str, dict[str, str]], keep: Path) -> list[tuple[Kernel, str]]:
    """The kernels in which an executor and the model differ, and which executors."""
    wrong = []
    for k in batch.kernels:
        want = digest(k.expected)
        bad = [name for name, got in executors.items() if got.get(k.name) != want]
        if bad:
            wrong.append((k, ", ".join(bad)))
            folder = keep / "disagree"
            folder.mkdir(exist_ok=True)
            told = "".join(f"// {name}: {got.get(k.name)}\n" for name, got in executors.items())
            text = f"// {batch.folder}\n// model: {want}\n{told}// {' '.join(sorted(k.tags))}\n{program([k])}"
            (folder / f"{batch.mode}-{k.name}.cu").write_text(text)
            (folder / f"{batch.mode}-{k.name}.txt").write_text(" ".join(map(str, k.expected)))
    return wrong


@click.command(help=__doc__)
@click.argument("emulator", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", default="logical", type=click.Choice(["logical", "solo"]))
@click.option("--count", default=100, help="Kernels in all.")
@click.option("--seed", default=1, help="Number of the first kernel.")
@click.option("--batch", "size", default=25, help="Kernels in one program.")
@click.option("--jobs", default=2, help="Programs at a time.")
@click.option("--leaders/--no-leaders", default=True, help="Unset values through functions and groups.")
@click.option("--build", default="", help="Command in place of EMULATOR/amdemu/build.sh.")
@click.option("--run", "runner", default="", help="Command in place of EMULATOR's python and run.py.")
@click.option("--flags", default="", help="More flags for the build command.")
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
    keep: Path | None,
) -> None:
    keep = (keep or cache_dir() / "executor").absolute()
    keep.mkdir(parents=True, exist_ok=True)
    root = emulator.absolute()
    build = build or shlex.quote(str(root / "amdemu" / "build.sh"))
    runner = runner or shlex.join([str(root / "venv" / "bin" / "python"), str(root / "amdemu" / "run.py")])
    spent: Counter[str] = Counter()

    def timed(what: str, call: Callable[[], dict[str, str]]) -> dict[str, str]:
        began = time.monotonic()
        out = call()
        spent[what] += round(time.monotonic() - began)
        return out

    def one(kernels: Sequence[Kernel]) -> list[tuple[Batch, dict[str, dict[str, str]]]]:
        began = time.monotonic()
        batch = Batch(kernels, mode, keep, build, runner, flags)
        try:
            commands = batch.commands()
        except CompileError as e:
            if len(kernels) > 1:
                return one(kernels[: len(kernels) // 2]) + one(kernels[len(kernels) // 2 :])
            return [(batch, {str(e): {kernels[0].name: "does not compile"}})]
        finally:
            spent["making"] += round(time.monotonic() - began)
        return [(batch, {name: timed(name, partial(batch.run, c)) for name, c in commands.items()})]

    def numbered(first: int) -> list[tuple[Batch, dict[str, dict[str, str]]]]:
        return one(kernels_of(first, min(size, seed + count - first), leaders))

    agree: Counter[str] = Counter()
    wrong: list[tuple[Kernel, str]] = []
    tags: Counter[str] = Counter()
    began = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        for batch, executors in chain.from_iterable(pool.map(numbered, range(seed, seed + count, size))):
            found = judge(batch, executors, keep)
            wrong += found
            for k in batch.kernels:
                tags.update(k.tags)
            for name, got in executors.items():
                agree[name] += sum(got.get(k.name) == digest(k.expected) for k in batch.kernels)
            for k, names in found:
                print(f"{mode} {k.name}: {names} differ from the model  ({' '.join(sorted(k.tags))})", flush=True)
    print(f"{mode}: {count - len(wrong)} of {count} kernels agree everywhere, {time.monotonic() - began:.0f} s")
    for name, n in agree.items():
        print(f"  {name:<13} {n} of {count} as the model, {spent[name]} s")
    print(f"  converting, compiling and the model: {spent['making']} s")
    print("  kernels with: " + ", ".join(f"{t} {n}" for t, n in sorted(tags.items())))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
