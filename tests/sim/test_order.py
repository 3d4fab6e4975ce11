"""--check: what barriers, pipelines, atomics and fences of a block order, and what they do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

BAR = "__shared__ Bar bar; if (t == 0) init(&bar, 128); __syncthreads(); "
FULL_EMPTY = "__shared__ Bar full, empty; if (t == 0) { init(&full, 128); init(&empty, 128); } __syncthreads(); "
PIPE = (
    "auto block = cooperative_groups::this_thread_block(); "
    "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; "
)
ALL = PIPE + "auto pipe = cuda::make_pipeline(block, &state); "
PARTS = PIPE + (
    "auto role = t < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer; "
    "auto pipe = cuda::make_pipeline(block, &state, role); "
)
FLAG = (
    "__shared__ int f; cuda::atomic_ref<int, cuda::thread_scope_block> flag(f); (void)flag; volatile int* plain = &f; "
    "(void)plain; if (t == 0) f = 0; __syncthreads(); "
)
COPY = "cuda::memcpy_async(s + 128 * (k % 2) + t, g + t + k, sizeof(int), pipe); "
# name -> a clean body of `k(int* d, int* g)` and one with a race; 128 threads, 2 blocks
TWINS: dict[str, tuple[str, str]] = {
    "arrives and waits": (
        BAR + "s[t] = t; bar.arrive_and_wait(); d[i] = s[127 - t];",
        BAR + "s[t] = t; (void)bar.arrive(); d[i] = s[127 - t];",
    ),
    "a tile used again": (
        BAR + "for (int k = 0; k < 4; ++k) { s[t] = t + k; auto x = bar.arrive(); bar.wait(std::move(x)); "
        "d[i] += s[127 - t]; bar.arrive_and_wait(); }",
        BAR + "for (int k = 0; k < 4; ++k) { s[t] = t + k; auto x = bar.arrive(); bar.wait(std::move(x)); "
        "d[i] += s[127 - t]; }",
    ),
    "two barriers between two halves": (
        FULL_EMPTY + "for (int k = 0; k < 4; ++k) if (t < 64) { if (k) empty.arrive_and_wait(); s[t] = t + k; "
        "(void)full.arrive(); } else { full.arrive_and_wait(); d[i] += s[127 - t]; if (k < 3) (void)empty.arrive(); }",
        FULL_EMPTY + "for (int k = 0; k < 4; ++k) if (t < 64) { if (k) empty.arrive_and_wait(); (void)full.arrive(); "
        "s[t] = t + k; } else { full.arrive_and_wait(); d[i] += s[127 - t]; if (k < 3) (void)empty.arrive(); }",
    ),
    "parity": (
        BAR + "for (int k = 0; k < 4; ++k) { s[t + 128 * (k % 2)] = t; (void)bar.arrive(); bar.wait_parity(k % 2); "
        "d[i] += s[127 - t + 128 * (k % 2)]; }",
        BAR + "for (int k = 0; k < 4; ++k) { s[t + 128 * (k % 2)] = t; (void)bar.arrive(); bar.wait_parity(k % 2); "
        "d[i] += s[127 - t + 128 * (1 - k % 2)]; }",
    ),
    "a pipeline of all threads": (
        ALL + "for (int k = 0; k < 5; ++k) { pipe.producer_acquire(); " + COPY + "pipe.producer_commit(); "
        "pipe.consumer_wait(); d[i] += s[128 * (k % 2) + 127 - t]; pipe.consumer_release(); }",
        ALL + "for (int k = 0; k < 5; ++k) { pipe.producer_acquire(); " + COPY + "pipe.producer_commit(); "
        "d[i] += s[128 * (k % 2) + 127 - t]; pipe.consumer_wait(); pipe.consumer_release(); }",
    ),
    "a pipeline in two parts": (
        PARTS + "for (int k = 0; k < 5; ++k) if (t < 64) { pipe.producer_acquire(); s[64 * (k % 2) + t] = g[t + k]; "
        "pipe.producer_commit(); } else { pipe.consumer_wait(); d[i] += s[64 * (k % 2) + 127 - t]; "
        "pipe.consumer_release(); }",
        PARTS + "for (int k = 0; k < 5; ++k) if (t < 64) { pipe.producer_acquire(); s[64 * (k % 2) + t] = g[t + k]; "
        "pipe.producer_commit(); } else { pipe.consumer_wait(); pipe.consumer_release(); "
        "d[i] += s[64 * (k % 2) + 127 - t]; }",
    ),
    "a flag that is released": (
        FLAG + "if (t == 0) { s[0] = 5; flag.store(1, cuda::memory_order_release); } "
        "else if (t >= 32) { while (flag.load(cuda::memory_order_acquire) == 0) {} d[i] = s[0]; }",
        FLAG + "if (t == 0) { s[0] = 5; flag.store(1, cuda::memory_order_relaxed); } "
        "else if (t >= 32) { while (flag.load(cuda::memory_order_acquire) == 0) {} d[i] = s[0]; }",
    ),
    "a flag that is acquired": (
        FLAG + "if (t == 0) { s[0] = 5; __threadfence_block(); flag.store(1, cuda::memory_order_relaxed); } "
        "else if (t >= 32) { while (flag.load(cuda::memory_order_relaxed) == 0) {} "
        "cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block); d[i] = s[0]; }",
        FLAG + "if (t == 0) { s[0] = 5; __threadfence_block(); flag.store(1, cuda::memory_order_relaxed); } "
        "else if (t >= 32) { while (flag.load(cuda::memory_order_relaxed) == 0) {} d[i] = s[0]; }",
    ),
    "a volatile flag of a warp": (
        FLAG + "if (t < 32) { s[t] = t; __threadfence_block(); __syncwarp(); if (t == 0) *plain = 1; } "
        "else if (t < 64) { if (t == 32) while (*plain == 0) {} __syncwarp(); d[i] = s[t - 32]; }",
        FLAG + "if (t < 32) { s[t] = t; __syncwarp(); if (t == 0) *plain = 1; } "
        "else if (t < 64) { if (t == 32) while (*plain == 0) {} __syncwarp(); d[i] = s[t - 32]; }",
    ),
    "through a third warp": (
        FLAG + "if (t == 0) { s[0] = 5; flag.store(1, cuda::memory_order_release); } "
        "else if (t == 32) { while (flag.load(cuda::memory_order_acquire) != 1) {} "
        "flag.store(2, cuda::memory_order_release); } "
        "else if (t >= 64) { while (flag.load(cuda::memory_order_acquire) != 2) {} d[i] = s[0]; }",
        FLAG + "if (t == 0) { s[0] = 5; flag.store(1, cuda::memory_order_relaxed); } "
        "else if (t == 32) { while (flag.load(cuda::memory_order_acquire) != 1) {} "
        "flag.store(2, cuda::memory_order_release); } "
        "else if (t >= 64) { while (flag.load(cuda::memory_order_acquire) != 2) {} d[i] = s[0]; }",
    ),
}


def source(bodies: list[str]) -> str:
    kernels = "".join(
        f"__global__ void k{n}(int* d, int* g) {{\n __shared__ int s[256]; (void)s; (void)g;\n"
        f" const int t = threadIdx.x, i = blockIdx.x * 128 + t; (void)i;\n {body}\n}}\n"
        for n, body in enumerate(bodies)
    )
    table = ", ".join(f"k{n}" for n in range(len(bodies)))
    return (
        "#include <cuda/atomic>\n#include <cuda/barrier>\n#include <cuda/pipeline>\n#include <cooperative_groups.h>\n"
        "#include <cstdio>\n#include <cstdlib>\nusing Bar = cuda::barrier<cuda::thread_scope_block>;\n"
        f"{kernels}int main(int, char** argv) {{\n void (*all[])(int*, int*) = {{{table}}};\n int *d, *g, h[256];\n"
        " cudaMalloc(&d, 1024); cudaMalloc(&g, 1024); cudaMemset(d, 0, 1024); cudaMemset(g, 1, 1024);\n"
        " all[atoi(argv[1])]<<<2, 128>>>(d, g);\n cudaMemcpy(h, d, 1024, cudaMemcpyDeviceToHost);\n"
        ' for (int x : h) printf("%d\\n", x);\n}\n'
    )


@pytest.fixture(scope="module")
def checked(
    tmp_path_factory: pytest.TempPathFactory, toolchain: sim_compiler.Toolchain
) -> Callable[[int], list[sim_check.Verdict]]:
    """The verdicts on kernel n: of each pair of twins the clean one first."""
    folder = tmp_path_factory.mktemp("order")
    path = folder / "kernels.cu"
    path.write_text(source([body for pair in TWINS.values() for body in pair]))
    binaries = sim_build.build(sim_build.find_program(path), folder, (32,), toolchain, check=True)
    return lambda n: sim_check.check(binaries, (str(n),), simulate.Limits(30))[1]


@pytest.mark.slow
@pytest.mark.parametrize("n", range(len(TWINS)), ids=list(TWINS))
def test_what_flags_order_is_no_race_and_what_they_do_not_is_one(
    n: int, checked: Callable[[int], list[sim_check.Verdict]]
) -> None:
    assert [v.text for v in checked(2 * n)] == []
    assert "race" in {v.kind for v in checked(2 * n + 1)}
