#pragma once

// A device function in a header that two units include: each has its own.
__device__ float warp_sum(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    return x;
}

__constant__ float offset;
