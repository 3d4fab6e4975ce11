// Matrix product through tiles in shared memory: one kernel with a fixed tile, one whose tile is chosen at launch.
#pragma once

#include <hip/hip_runtime.h>

constexpr int kTile = 16;

// C = A * B, all n x n and row major. Block: kTile x kTile.
__global__ void multiply_static(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                int n) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile + 1];
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;

    float sum = 0.0f;
    for (int k = 0; k < n; k += kTile) {
        const int ka = k + threadIdx.x;
        const int kb = k + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = kb < n && col < n ? b[kb * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; ++i) sum = __fmaf_rn(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

// The same with blockDim.x == blockDim.y as the tile; needs 2 * tile * tile floats of dynamic shared memory.
template <typename T>
__global__ void multiply_dynamic(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int n) {
    extern __shared__ __align__(16) unsigned char storage[];
    const int tile = blockDim.x;
    T* tile_a = reinterpret_cast<T*>(storage);
    T* tile_b = tile_a + tile * tile;
    const int row = blockIdx.y * tile + threadIdx.y;
    const int col = blockIdx.x * tile + threadIdx.x;

    T sum = T(0);
    for (int k = 0; k < n; k += tile) {
        const int ka = k + threadIdx.x;
        const int kb = k + threadIdx.y;
        tile_a[threadIdx.y * tile + threadIdx.x] = row < n && ka < n ? __ldg(&a[row * n + ka]) : T(0);
        tile_b[threadIdx.y * tile + threadIdx.x] = kb < n && col < n ? __ldg(&b[kb * n + col]) : T(0);
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += tile_a[threadIdx.y * tile + i] * tile_b[i * tile + threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
