#include "parts.h"
#include "warp_sum.cuh"

// The same name as in reduce.cu, and another function.
__device__ int lane() { return 0; }

__global__ void scale(float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * SCALE + offset + lane();
}

void scale_on_device(float* host, int n, float by)
{
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(offset, &by, sizeof(by));
    scale<<<(n + 63) / 64, 64>>>(x, n);
    cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
}
