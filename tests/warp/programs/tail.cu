// A scan and a sum in shared memory that trust the lanes of a warp to run in step, statement by statement.
#include "report.h"

__device__ int scanned(int v, volatile int* s, int i) {
    int t = s[i] = v;
    s[i] = t += s[i - 1];
    s[i] = t += s[i - 2];
    s[i] = t += s[i - 4];
    s[i] = t += s[i - 8];
    s[i] = t += s[i - 16];
    return t;
}

__global__ void both(const int* in, int* out) {
    __shared__ volatile int place[128], sum[128];
    const int t = threadIdx.x, i = 2 * t - t % 32 + 32;
    place[i - 32] = 0;
    sum[t] = in[t];
    sum[t + 64] = 0;
    __syncthreads();
    out[t] = scanned(in[t], place, i);
    if (t < 32) {
        sum[t] += sum[t + 32];
        sum[t] += sum[t + 16];
        sum[t] += sum[t + 8];
        sum[t] += sum[t + 4];
        sum[t] += sum[t + 2];
        sum[t] += sum[t + 1];
    }
    if (t == 0) out[64] = sum[0];
}

int main() {
    const std::vector<int> in = numbers(64, 100);
    std::vector<int> want(65);
    for (int i = 0; i < 64; ++i) {
        want[i] = in[i] + (i % 32 != 0 ? want[i - 1] : 0);
        want[64] += in[i];
    }
    int* out = sent(std::vector<int>(65));
    both<<<1, 64>>>(sent(in), out);
    return report(out, want);
}
