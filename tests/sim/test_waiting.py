"""Lanes that wait for other waves or blocks by an operation of their wave: one lane asks, and tells the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cu2port.verify import simulate

Simulated = Callable[..., simulate.Ran]

ASK = """#include <hip/hip_runtime.h>
#include <cstdio>
__device__ bool set(unsigned* flag) {
    int seen = 0;
    if (threadIdx.x % warpSize == 0) seen = atomicOr(flag, 0u) != 0;
    return __shfl(seen, 0);
}
"""
WAITS = (
    ASK
    + """
__global__ void waves(unsigned* flag, int* out) {
    if (threadIdx.x < 64) {
        while (!set(flag)) {}
        out[0] = 7;
    } else if (threadIdx.x == 64) {
        atomicExch(flag, 1u);
    }
}
__global__ void blocks(unsigned* flag, int* out) {
    if (blockIdx.x < 3) {
        while (true) if (set(flag + 1)) break;
        if (threadIdx.x == 0) atomicAdd(out + 1, 1);
    } else if (threadIdx.x == 0) {
        atomicExch(flag + 1, 1u);
    }
}
__global__ void counted(unsigned* flag, int* out) {
    int turns = 0;
    if (blockIdx.x == 0) {
        do { ++turns; } while (!set(flag + 2));
        if (threadIdx.x == 0) out[2] = turns > 1;
    } else if (threadIdx.x == 0) {
        atomicExch(flag + 2, 1u);
    }
}
int main() {
    unsigned* f;
    int* o;
    (void)hipMallocManaged(&f, 16);
    (void)hipMallocManaged(&o, 16);
    for (int i = 0; i < 4; ++i) f[i] = o[i] = 0;
    waves<<<1, 128>>>(f, o);
    blocks<<<4, 64>>>(f, o);
    counted<<<2, 64>>>(f, o);
    (void)hipDeviceSynchronize();
    printf("%d %d %d", o[0], o[1], o[2]);
}
"""
)


@pytest.mark.parametrize("wave", [32, 64])
def test_waves_and_blocks_that_others_wait_for_get_turns(wave: int, simulated: Simulated) -> None:
    """With one thread of the host; one of the loops counts, so that its lanes are never as they were."""
    ran = simulated(WAITS, wave, threads=1, time_s=20.0)
    assert (ran.code, ran.output) == (0, b"7 3 1"), ran.errors


@pytest.mark.parametrize("threads", [1, 2])
def test_lock_that_nobody_gives_back(threads: int, simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_SIM_PATIENCE", "0.5")
    text = (
        ASK
        + """__global__ void never(unsigned* lock) {
    bool held = true;
    while (held) {
        if (threadIdx.x % 32 == 1) held = atomicOr(lock, 1u) != 0;
        held = __shfl(held, 1, 32);
    }
}
int main() {
    unsigned* f;
    (void)hipMalloc(&f, 4);
    (void)hipMemset(f, 0, 4);
    never<<<3, 128>>>(f);
    (void)hipDeviceSynchronize();
}
"""
    )
    ran = simulated(text, 64, threads=threads, time_s=20.0)
    said = ran.errors.decode()
    assert ran.code == simulate.TIMED_OUT
    assert "hang" in said and "come again and again to __shfl" in said and "program.hip:12" in said, said


def test_loops_that_change_only_memory_are_no_hangs(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their lanes are the same at each turn; a counter is in shared memory, or is reached by an atomic alone."""
    monkeypatch.setenv("CU2PORT_SIM_PATIENCE", "0.1")
    text = (
        ASK
        + """__global__ void shared_counter(unsigned n, unsigned* out) {
    __shared__ volatile unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    while (true) {
        if (threadIdx.x == 0) count = count + 1;
        if (__any(count >= n)) break;
    }
    out[0] = count;
}
__global__ void atomic_counter(unsigned n, unsigned* out) {
    while (true) {
        if (threadIdx.x == 0) atomicAdd(out + 1, 1u);
        if (__any(threadIdx.x == 0 && *(volatile unsigned*)(out + 1) >= n)) break;
    }
}
int main() {
    unsigned* o;
    (void)hipMallocManaged(&o, 8);
    o[0] = o[1] = 0;
    shared_counter<<<1, 32>>>(150000, o);
    atomic_counter<<<1, 32>>>(150000, o);
    (void)hipDeviceSynchronize();
    printf("%u %u", o[0], o[1]);
}
"""
    )
    ran = simulated(text, 32, threads=1, time_s=30.0)
    assert (ran.code, ran.output) == (0, b"150000 150000"), ran.errors
