// Votes and shuffles of before CUDA 9, which have no mask.
#include "report.h"

__global__ void old(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned votes = __ballot(in[i] > 500);
    const int first = __shfl(in[i], 0);
    out[i] = __popc(votes) * 1000 + first;
}

int main() {
    const int n = 128;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 32; ++k) want[i] += in[i / 32 * 32 + k] > 500 ? 1000 : 0;
        want[i] += in[i / 32 * 32];
    }
    int* out = sent(std::vector<int>(n));
    old<<<1, n>>>(sent(in), out);
    return report(out, want);
}
