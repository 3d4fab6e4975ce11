// Predicates are packed into words, one a warp: N is the lanes of a warp here and the bits of a word there.
#include "report.h"

#define N 32

__global__ void pack(const int* in, unsigned* words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned word = __ballot_sync(0xffffffff, in[i] > 50);
    if (threadIdx.x % N == 0) words[i / N] = word << 3 | word >> (N - 3);
}

int main() {
    const int n = 512;
    const std::vector<int> in = numbers(n, 100);
    std::vector<unsigned> want(n / N);
    for (int i = 0; i < n; ++i) want[i / N] |= unsigned(in[i] > 50) << (i % N);
    for (unsigned& w : want) w = w << 3 | w >> (N - 3);
    unsigned* out = sent(std::vector<unsigned>(n / N));
    pack<<<2, 256>>>(sent(in), out);
    return report(out, want);
}
