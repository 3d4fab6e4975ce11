// Reductions of a whole warp: sum, maximum and bits.
#include <algorithm>

#include "report.h"

__global__ void reduce(const int* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = in[i];
    const unsigned sum = __reduce_add_sync(0xffffffff, v);
    const unsigned most = __reduce_max_sync(0xffffffff, v);
    const unsigned bits = __reduce_xor_sync(0xffffffff, v);
    if (threadIdx.x % 32 == 0) {
        out[i / 32 * 3] = sum;
        out[i / 32 * 3 + 1] = most;
        out[i / 32 * 3 + 2] = bits;
    }
}

int main() {
    const int n = 128;
    const std::vector<int> in = numbers(n, 5000);
    std::vector<unsigned> want(n / 32 * 3);
    for (int i = 0; i < n; ++i) {
        unsigned* w = &want[i / 32 * 3];
        w[0] += in[i];
        w[1] = std::max(w[1], unsigned(in[i]));
        w[2] ^= in[i];
    }
    unsigned* out = sent(std::vector<unsigned>(want.size()));
    reduce<<<1, n>>>(sent(in), out);
    return report(out, want);
}
