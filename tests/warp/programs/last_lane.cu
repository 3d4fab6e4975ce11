// The last lane that takes a branch stores its number for the warp.
#include "report.h"

__global__ void last(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 5 != 0) {
        const unsigned here = __activemask();
        if ((threadIdx.x & 31) == 31 - __clz(here)) out[i / 32] = in[i];
    }
}

int main() {
    const int n = 256;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(n / 32);
    for (int i = 0; i < n; ++i)
        if (in[i] % 5 != 0) want[i / 32] = in[i];
    int* out = sent(std::vector<int>(n / 32));
    last<<<1, n>>>(sent(in), out);
    return report(out, want);
}
