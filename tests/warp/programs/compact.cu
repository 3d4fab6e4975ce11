// Stream compaction by ballots: counts in 32 bits see half of a wavefront.
#include "report.h"

__global__ void compact(const int* in, int n, int* count, int* marks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const bool keep = i < n && in[i] % 3 == 0;
    const unsigned votes = __ballot_sync(0xffffffff, keep);
    int at = 0;
    if (lane == 0) at = atomicAdd(count, __popc(votes));
    at = __shfl_sync(0xffffffff, at, 0);
    if (keep) atomicAdd(&marks[at + __popc(votes & ((1u << lane) - 1))], 1);
}

int main() {
    const int n = 1000;
    const std::vector<int> in = numbers(n, 300);
    int kept = 0;
    for (int x : in) kept += x % 3 == 0;
    std::vector<int> want(n + 1);  // each place is taken once
    for (int i = 0; i < kept; ++i) want[i + 1] = 1;
    want[0] = kept;
    int* out = sent(std::vector<int>(n + 1));
    compact<<<4, 256>>>(sent(in), n, out, out + 1);
    return report(out, want);
}
