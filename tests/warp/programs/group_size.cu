// Lanes that came along form a group; its size is stored.
#include <cooperative_groups.h>

#include "report.h"

namespace cg = cooperative_groups;

__global__ void sizes(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 2 == 0) {
        cg::coalesced_group g = cg::coalesced_threads();
        out[i] = g.size() * 100 + g.thread_rank();
    }
}

int main() {
    const int n = 128;
    const std::vector<int> in = numbers(n, 1000);
    std::vector<int> want(n);
    for (int w = 0; w < n; w += 32) {
        int many = 0;
        for (int k = 0; k < 32; ++k) many += in[w + k] % 2 == 0;
        for (int k = 0, rank = 0; k < 32; ++k)
            if (in[w + k] % 2 == 0) want[w + k] = many * 100 + rank++;
    }
    int* out = sent(std::vector<int>(n));
    sizes<<<1, n>>>(sent(in), out);
    return report(out, want);
}
