// How many warps hold numbers in order: all lanes of a warp must agree.
#include "report.h"

__global__ void sorted(const int* in, int* many) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int before = __shfl_up_sync(0xffffffff, in[i], 1);
    const bool fine = threadIdx.x % 32 == 0 || before <= in[i];
    if (__all_sync(0xffffffff, fine) && threadIdx.x % 32 == 0) atomicAdd(many, 1);
}

int main() {
    const int n = 512;
    std::vector<int> in = numbers(n, 1000), want(1);
    for (int i = 0; i < n; ++i)
        if (i / 32 % 4 != 1) in[i] = i;  // three warps of four
    for (int w = 0; w < n / 32; ++w) {
        bool fine = true;
        for (int k = 1; k < 32; ++k) fine &= in[w * 32 + k - 1] <= in[w * 32 + k];
        want[0] += fine;
    }
    int* out = sent(std::vector<int>(1));
    sorted<<<2, 256>>>(sent(in), out);
    return report(out, want);
}
