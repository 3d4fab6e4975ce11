#include <cstdio>

#include "lanes.h"

__global__ void ranks(int* out)
{
    // lanes with an odd number call in the first and the third turn, the others in the second: they do not meet
    int rank = -1;
    for (int i = 0; i < 3; ++i)
        if ((i + threadIdx.x) % 2) rank = rank_in_warp(threadIdx.x % 4 < 2);
    out[threadIdx.x] = rank;
}

int main()
{
    int *out, wrong = 0, n = 0;
    cudaMallocManaged(&out, 64 * sizeof(int));
    ranks<<<1, 64>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    for (int t = 0; t < 64; ++t) {
        int want = 0;
        for (int u = t / 32 * 32; u < t; ++u) want += u % 2 == t % 2 && u % 4 < 2;
        if (out[t] != want) ++wrong;
    }
    cudaMemcpyFromSymbol(&n, calls, sizeof(n));
    std::printf("%d wrong, %d calls\n", wrong, n);
    return wrong != 0 || n != 96;
}
