// A warp goes on until none of its lanes has work left, and counts its rounds.
#include <algorithm>

#include "report.h"

__global__ void work(const int* load, int* rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = load[i], many = 0;
    while (__any_sync(0xffffffff, left > 0)) {
        --left;
        ++many;
    }
    rounds[i] = many;
}

int main() {
    const int n = 256;
    const std::vector<int> load = numbers(n, 20);
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 32; ++k) want[i] = std::max(want[i], load[i / 32 * 32 + k]);
    int* out = sent(std::vector<int>(n));
    work<<<1, n>>>(sent(load), out);
    return report(out, want);
}
