// Equal keys of a warp are counted by their first lane.
#include "report.h"

__global__ void count_keys(const int* keys, int* most) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const unsigned peers = __match_any_sync(~0u, keys[i]);
    if (lane == __ffs(peers) - 1) atomicMax(&most[i / 32], __popc(peers));
}

int main() {
    const int n = 256;
    const std::vector<int> keys = numbers(n, 4);
    std::vector<int> want(n / 32);
    for (int w = 0; w < n / 32; ++w)
        for (int key = 0; key < 4; ++key) {
            int many = 0;
            for (int k = 0; k < 32; ++k) many += keys[w * 32 + k] == key;
            if (many > want[w]) want[w] = many;
        }
    int* out = sent(std::vector<int>(n / 32));
    count_keys<<<1, n>>>(sent(keys), out);
    return report(out, want);
}
