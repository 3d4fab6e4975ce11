// One slot of shared memory for each lane; lanes are counted by `warpSize`.
#include "report.h"

__global__ void columns(const int* in, int* out) {
    __shared__ int slot[32], after[32];
    if (threadIdx.x < 32) slot[threadIdx.x] = after[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&slot[threadIdx.x % warpSize], in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = slot[threadIdx.x] - after[threadIdx.x];
}

int main() {
    const int n = 256;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(32);
    for (int i = 0; i < n; ++i) want[i % 32] += in[i];
    int* out = sent(std::vector<int>(32));
    columns<<<1, n>>>(sent(in), out);
    return report(out, want);
}
