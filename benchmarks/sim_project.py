"""A CMake project of many CUDA units under `cu2port simulate -- COMMAND`, beside g++ for the units' expanded code.

    python benchmarks/sim_project.py [--units 50] [--rounds 1]

The units are made up: three kernels each (a block's reduction by shuffles, a histogram, a tiled transposition) with
sizes that depend on the unit's number, and the host's calls. The project is built once with one unit before, so that
what is made once is there. Expanded code is what `cu2port sim-cc -E` gives; g++ compiles it with the build's options.
Both run one process at a time. Prints CPU seconds and wall seconds of both, and the ratio. Exit: 0 when both built.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

UNIT = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void sum{n}(const float* in, float* out, int size) {{
    __shared__ float part[32];
    float x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) x += in[i] * {n};
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {{
        x = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
        if (threadIdx.x == 0) atomicAdd(out, x);
    }}
}}
__global__ void histogram{n}(const unsigned* in, unsigned* bins, int size) {{
    __shared__ unsigned mine[{n} + 16];
    for (int i = threadIdx.x; i < {n} + 16; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x) atomicAdd(&mine[in[i] % ({n} + 16)], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < {n} + 16; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}}
template <int T> __global__ void turn{n}(const double* in, double* out, int width) {{
    __shared__ double tile[T][T + 1];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * T + threadIdx.y) * width + blockIdx.x * T + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * T + threadIdx.y) * width + blockIdx.y * T + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
int run{n}() {{
    float *x, *y, got;
    cudaMalloc(&x, 1024 * sizeof(float));
    cudaMalloc(&y, sizeof(float));
    cudaMemset(y, 0, sizeof(float));
    sum{n}<<<4, 128>>>(x, y, 1024);
    histogram{n}<<<1, 64>>>((unsigned*)x, (unsigned*)x, 64);
    turn{n}<16><<<dim3(1, 1), dim3(16, 16)>>>((double*)x, (double*)x, 16);
    cudaMemcpy(&got, y, sizeof(float), cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) std::printf("unit {n} failed\\n");
    cudaFree(x);
    return cudaFree(y);
}}
"""
BUILD = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > cmake.log && make -C build > make.log"


def write(folder: Path, units: int) -> None:
    """Write the project's sources and its CMakeLists.txt."""
    for n in range(units):
        (folder / f"unit{n}.cu").write_text(UNIT.format(n=n))
    calls = "".join(f"int run{n}(); " for n in range(units))
    total = " + ".join(f"run{n}()" for n in range(units))
    (folder / "main.cu").write_text(f"{calls}\nint main() {{ return {total}; }}\n")
    names = " ".join(f"unit{n}.cu" for n in range(units))
    project = "cmake_minimum_required(VERSION 3.21)\nproject(many LANGUAGES CXX CUDA)\n"
    (folder / "CMakeLists.txt").write_text(f"{project}add_executable(many main.cu {names})\n")


def timed(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """CPU seconds and wall seconds of a command. Ends the program when it fails."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    wall, after = time.monotonic() - start, os.times()
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return after.children_user + after.children_system - before.children_user - before.children_system, wall


def measure(units: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The build, and g++ for the expanded code."""
    port = [sys.executable, "-m", "cu2port"]
    with tempfile.TemporaryDirectory() as scratch:
        for folder, n in ((Path(scratch, "one"), 1), (Path(scratch, "all"), units)):
            folder.mkdir()
            write(folder, n)
            build = timed([*port, "simulate", "--wave", "64", "--", "sh", "-c", BUILD], folder)
        for n in range(units):
            timed([*port, "sim-cc", "-E", f"unit{n}.cu", "-o", f"unit{n}.ii"], folder)
        plain = [
            timed(["g++", "-std=c++17", "-O3", "-w", "-fpermissive", "-c", f"unit{n}.ii"], folder) for n in range(units)
        ]
    return build, (sum(c for c, _ in plain), sum(w for _, w in plain))


@click.command(help=__doc__)
@click.option("--units", default=50)
@click.option("--rounds", default=1)
def main(units: int, rounds: int) -> None:
    for _ in range(rounds):
        build, plain = measure(units)
        click.echo(f"{units} units: build {build[0]:.1f} s CPU, {build[1]:.1f} s wall")
        click.echo(f"{units} units: g++ of the expanded code {plain[0]:.1f} s CPU, {plain[1]:.1f} s wall")
        click.echo(f"ratio {build[0] / plain[0]:.2f} CPU, {build[1] / plain[1]:.2f} wall")


if __name__ == "__main__":
    main()
