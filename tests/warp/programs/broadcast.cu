// A warp's first lane fetches a number for all: of 64 lanes, the upper half gets the other warp's.
#include "report.h"

__global__ void tickets(int* next, const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = in[i];
    first = __shfl_sync(0xffffffff, first, 0);
    out[i] = first + (threadIdx.x & 31);
}

int main() {
    const int n = 512;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) want[i] = in[i / 32 * 32] + i % 32;
    int* out = sent(std::vector<int>(n));
    tickets<<<n / 128, 128>>>(nullptr, sent(in), out);
    return report(out, want);
}
