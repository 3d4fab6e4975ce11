// One atomic for all lanes that take a branch: the leader and the ranks come from the mask of active lanes.
#include "report.h"

__device__ int taken(int* counter) {
    const unsigned active = __activemask();
    const int leader = __ffs(active) - 1;
    const int lane = threadIdx.x & 31;
    int base = 0;
    if (lane == leader) base = atomicAdd(counter, __popc(active));
    base = __shfl_sync(active, base, leader);
    return base + __popc(active & ((1u << lane) - 1u));
}

__global__ void odd(const int* in, int* counter, int* marks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) atomicAdd(&marks[taken(counter)], 1);
}

int main() {
    const int n = 512;
    const std::vector<int> in = numbers(n, 1000);
    int many = 0;
    for (int x : in) many += x & 1;
    std::vector<int> want(n + 1);
    for (int i = 0; i < many; ++i) want[i + 1] = 1;
    want[0] = many;
    int* out = sent(std::vector<int>(n + 1));
    odd<<<2, 256>>>(sent(in), out, out + 1);
    return report(out, want);
}
