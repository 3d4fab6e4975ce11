// Each lane takes the number of the next one, the last that of the first.
#include "report.h"

__global__ void rotate(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    out[i] = __shfl_sync(0xffffffff, in[i], (lane + 1) & 31);
}

int main() {
    const int n = 192;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) want[i] = in[i / 32 * 32 + (i + 1) % 32];
    int* out = sent(std::vector<int>(n));
    rotate<<<1, n>>>(sent(in), out);
    return report(out, want);
}
