#include "rows.h"

__global__ void swapped(const int* in, int* out)
{
    __shared__ int row[64];
    const int t = threadIdx.x;
    row[t] = in[t];
#ifdef FIXED
    __syncwarp();
#endif
    out[t] = row[t ^ 1];
}

__global__ void shifted(const int* in, int* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i + 1 < n) out[i + 1] = in[i];
#else
    if (i < n) out[i + 1] = in[i];
#endif
}

template <class Launch>
static int with_copies(const int* in, int* out, int n, Launch launch)
{
    int *from, *to;
    cudaMalloc(&from, n * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    launch(from, to);
    cudaMemcpy(out, to, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(from);
    return cudaFree(to);
}

int swap_neighbours(const int* in, int* out, int n)
{
    return with_copies(in, out, n, [](int* from, int* to) { swapped<<<1, 64>>>(from, to); });
}

int shift_right(const int* in, int* out, int n)
{
    return with_copies(in, out, n, [n](int* from, int* to) { shifted<<<(n + 63) / 64, 64>>>(from, to, n); });
}
