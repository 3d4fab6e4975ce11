// Kernels with launch bounds and template arguments.
#pragma once

#include <hip/hip_runtime.h>

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;

struct Plus {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

struct Times {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const {
        return a * b;
    }
};

// out[i] = op(a[i], b[i]), Items of them a thread.
template <typename T, int Items, typename Op>
__global__ void __launch_bounds__(kThreads) combine(const T* a, const T* b, T* out, int n, Op op) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * Items;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        if (first + i < n) out[first + i] = op(a[first + i], b[first + i]);
    }
}

template <typename T>
__launch_bounds__(kThreads) __global__ void fill(T* out, int n, T value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
