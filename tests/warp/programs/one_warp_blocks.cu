// Blocks of one warp and a half: the last warp is not full.
#include "report.h"

__global__ void ragged(const int* in, int n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned mask = __activemask();
    const int many = __popc(__ballot_sync(mask, in[i] > 10));
    if (threadIdx.x % 32 == 0) out[blockIdx.x * 2 + threadIdx.x / 32] = many;
}

int main() {
    const int n = 48 * 5;
    const std::vector<int> in = numbers(n, 30);
    std::vector<int> want(10);
    for (int i = 0; i < n; ++i) want[i / 48 * 2 + i % 48 / 32] += in[i] > 10;
    int* out = sent(std::vector<int>(10));
    ragged<<<5, 48>>>(sent(in), n, out);
    return report(out, want);
}
