// A block's sum in two stages, one slot a warp. The slots are counted by `warpSize`, their number with 32.
#include "report.h"

__global__ void block_sums(const int* in, int* out) {
    __shared__ int slot[32];
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x < 32) slot[threadIdx.x] = 1000000;
    __syncthreads();
    if (threadIdx.x % warpSize == 0) slot[threadIdx.x / warpSize] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) sum += slot[w];
        out[blockIdx.x] = sum;
    }
}

int main() {
    const std::vector<int> in = numbers(1024, 100);
    std::vector<int> want(4);
    for (int i = 0; i < 1024; ++i) want[i / 256] += in[i];
    int* out = sent(std::vector<int>(4));
    block_sums<<<4, 256>>>(sent(in), out);
    return report(out, want);
}
