"""How fast the simulator is: barriers of threads a second, and vector addition beside plain C++.

    python benchmarks/sim_speed.py [--compiler CMD]

Both on one core: 256 threads a block that meet at `__syncthreads` again and again, and `c[i] = a[i] + b[i]` as a
kernel and as a loop at -O2, over arrays that fit into the cache (for information) and over ones that do not.

Exit: 0 when 30 million thread-barriers a second and a factor of 3 are reached, else 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from cu2port.verify import sim_build, sim_compiler

BARRIERS_A_SECOND = 30e6
FACTOR = 3.0
SOURCE = """
#include <hip/hip_runtime.h>
#include <algorithm>
#include <ctime>
#include <cstdio>
#include <vector>
__global__ void meet(int* out, int n) {
    int v = 0;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        v += i;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__attribute__((noinline)) void plain(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
double cpu() {  // of this thread: other processes do not count
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
template <class F>
double best(int times, F f) {
    double least = 1e9;
    for (int k = 0; k < times; ++k) {
        const double t = cpu();
        f();
        least = std::min(least, cpu() - t);
    }
    return least;
}
int main() {
    int* out;
    (void)hipMalloc(&out, 256 * 4);
    const double barrier = best(7, [&] { meet<<<1, 256>>>(out, 4000); });
    printf("{\\"barriers\\": %.0f", 256 * 4000 / barrier);
    for (int n : {1 << 14, 1 << 24}) {
        float *a, *b, *c;
        (void)hipMalloc(&a, n * 4);
        (void)hipMalloc(&b, n * 4);
        (void)hipMalloc(&c, n * 4);
        const int turns = (1 << 24) / n;
        for (int i = 0; i < n; ++i) a[i] = b[i] = i;
        const double kernel = best(7, [&] { for (int k = 0; k < turns; ++k) add<<<n / 256, 256>>>(a, b, c, n); });
        const double loop = best(7, [&] { for (int k = 0; k < turns; ++k) plain(a, b, c, n); });
        printf(", \\"%d\\": [%g, %g]", n, kernel / (1 << 24) * 1e9, loop / (1 << 24) * 1e9);
    }
    printf("}\\n");
}
"""


@click.command(help=__doc__)
@click.option("--compiler", default="", help="C++17 compiler.")
def main(compiler: str) -> None:
    toolchain = sim_compiler.find_toolchain(compiler)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "speed.hip"
        path.write_text(SOURCE)
        binary = sim_build.build(sim_build.find_program(path), Path(scratch), (64,), toolchain)[64]
        environment = {**os.environ, "CU2PORT_SIM_THREADS": "1"}
        done = subprocess.run([str(binary)], env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    rate = found.pop("barriers")
    print(f"{toolchain.version}\nthread-barriers a second: {rate / 1e6:.1f} million")
    good = rate >= BARRIERS_A_SECOND
    for n, (kernel, loop) in found.items():
        print(f"vector add of {n} floats: {kernel:.2f} ns an element, plain loop {loop:.2f}: {kernel / loop:.2f} times")
    good = (
        good and kernel <= FACTOR * loop
    )  # of the last size: arrays that memory bounds, as programs for GPUs have them
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
