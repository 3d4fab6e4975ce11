// A scan by shuffles, of which lane 31 holds the total: with 64 lanes that is the lower warp's.
#include "report.h"

#define FULL_MASK 0xffffffffu

__device__ int scanned(int v, int lane) {
    for (int d = 1; d < 32; d <<= 1) {
        const int other = __shfl_up_sync(FULL_MASK, v, d);
        if (lane >= d) v += other;
    }
    return v;
}

__global__ void shares(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int sum = scanned(in[i], threadIdx.x & 31);
    const int total = __shfl_sync(FULL_MASK, sum, 31);
    out[i] = total - sum;
}

int main() {
    const int n = 256;
    const std::vector<int> in = numbers(n, 50);
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i)
        for (int k = i + 1; k % 32 != 0; ++k) want[i] += in[k];
    int* out = sent(std::vector<int>(n));
    shares<<<2, 128>>>(sent(in), out);
    return report(out, want);
}
