// A barrier in both arms of a branch between warps. Solo only.
#include "report.h"

__global__ void arms(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = 1;
    if (t < 32) {
        s[t] = 2;
        __syncthreads();
        out[t] = s[t + 32];
    } else {
        s[t] = 3;
        __syncthreads();
        out[t] = s[t - 32];
    }
}

int main() {
    std::vector<int> want(64, 2);
    for (int i = 0; i < 32; ++i) want[i] = 3;
    int* out = sent(std::vector<int>(64));
    arms<<<1, 64>>>(out);
    return report(out, want);
}
