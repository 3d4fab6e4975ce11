#include "votes.h"

namespace {
__global__ void vote(const int* in, int* out)
{
    const int all = __all_sync(0xffffffff, in[threadIdx.x] > 0);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = all;
}
}  // namespace

__attribute__((visibility("default"))) int votes(const int* device, int n)
{
    int *out, host[32] = {}, sum = 0;
    cudaMalloc(&out, sizeof(host));
    vote<<<1, n>>>(device, out);
    cudaMemcpy(host, out, n / 32 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n / 32; ++i) sum += host[i];
    cudaFree(out);
    return sum;
}
