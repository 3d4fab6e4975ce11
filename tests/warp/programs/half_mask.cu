// Sixteen lanes of each warp vote for themselves; their mask names lanes of the lower warp alone.
#include "report.h"

__global__ void halves(const int* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    unsigned votes = 0;
    if (lane < 16) {
        votes = __ballot_sync(0x0000ffffu, in[i] & 1);
    } else {
        votes = __ballot_sync(0xffff0000u, in[i] & 2);
    }
    out[i] = votes & mask;
}

int main() {
    const int n = 128;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<unsigned> want(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 32; ++k)
            if (k / 16 == i % 32 / 16) want[i] |= unsigned((in[i / 32 * 32 + k] & (k < 16 ? 1 : 2)) != 0) << k;
    unsigned* out = sent(std::vector<unsigned>(n));
    halves<<<1, n>>>(sent(in), out);
    return report(out, want);
}
