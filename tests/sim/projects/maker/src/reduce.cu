#include "parts.h"
#include "warp_sum.cuh"

__device__ int lane() { return threadIdx.x & 31; }

__global__ void reduce(const float* in, float* out, int n)
{
    __shared__ float sums[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = warp_sum(i < n ? in[i] : offset);
    if (lane() == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        const float y = warp_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) atomicAdd(out, y);
    }
}

float sum_on_device(const float* host, int n)
{
    float *in, *out, sum = 0;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(float));
    reduce<<<(n + 127) / 128, 128>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return sum;
}
