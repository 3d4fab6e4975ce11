// What the lanes of a warp do together.
#pragma once

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
    return value;
}

// How many lanes below this one have their bit in `mask`.
__device__ __forceinline__ int rank_in(unsigned mask) {
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    return __popc(mask & below);
}
