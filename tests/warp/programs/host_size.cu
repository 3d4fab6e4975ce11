// The host asks the device for its warp size and makes room from it, one slot a warp; the kernel counts with 32.
#include "report.h"

constexpr int kWarp = 32;

__global__ void warp_sums(const int* in, int slots, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    int v = in[i];
    for (int d = kWarp / 2; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    if (lane == 0 && warp < slots) out[blockIdx.x * slots + warp] = v;
}

int main() {
    const int blocks = 3, threads = 128;
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, 0);
    const int slots = threads / prop.warpSize;
    const std::vector<int> in = numbers(blocks * threads, 100);
    std::vector<int> want(blocks * threads / kWarp);
    for (int i = 0; i < blocks * threads; ++i) want[i / kWarp] += in[i];
    int* out = sent(std::vector<int>(want.size()));
    warp_sums<<<blocks, threads>>>(sent(in), slots, out);
    return report(out, want);
}
