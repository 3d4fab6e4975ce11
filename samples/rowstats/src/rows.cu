#include "rows.cuh"

#include "check.cuh"
#include "warp.cuh"

namespace {

constexpr int kThreads = 128;

// Copies 16 bytes from global to shared memory without a register between.
__device__ __forceinline__ void copy16(float* shared, const float* global) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global));
}

__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// One block for each row. `columns` is a multiple of 4.
__global__ void __launch_bounds__(kThreads, 8) moments_kernel(const float* matrix, int columns, float2* moments) {
    __shared__ float4 row[kMaxColumns / 4];
    __shared__ float sums[kThreads / 32], squares[kThreads / 32];
    const float* from = matrix + static_cast<size_t>(blockIdx.x) * columns;
    for (int i = threadIdx.x; i < columns / 4; i += kThreads) {
        copy16(&row[i].x, from + 4 * i);
    }
    wait_for_copies();
    __syncthreads();

    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < columns / 4; i += kThreads) {
        const float4 v = row[i];
        sum += v.x + v.y + v.z + v.w;
        square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = warp_sum(sum);
    square = warp_sum(square);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = square = 0;
        for (int w = 0; w < kThreads / 32; ++w) {
            sum += sums[w];
            square += squares[w];
        }
        const float mean = sum / columns;
        moments[blockIdx.x] = make_float2(mean, square / columns - mean * mean);
    }
}

// Asks for a row of the matrix before its threads do.
__device__ __forceinline__ void prefetch(const float* row, int columns) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(row), "r"(4 * columns));
}

// One block for each row. The lanes of a warp that have found something take their places by one atomic addition.
__global__ void outlier_kernel(const float* matrix, int columns, const float2* moments, float limit, Outlier* found,
                               int* count) {
    const float* row = matrix + static_cast<size_t>(blockIdx.x) * columns;
    if (threadIdx.x == 0) prefetch(row, columns);
    const float2 m = moments[blockIdx.x];
    for (int start = threadIdx.x & ~31; start < columns; start += kThreads) {
        const int column = start + threadIdx.x % 32;
        const float away = column < columns ? row[column] - m.x : 0.0f;
        const bool mine = away * away > limit * limit * m.y;
        const unsigned votes = __ballot_sync(kAllLanes, mine);
        int base;
        if (threadIdx.x % 32 == 0) base = atomicAdd(count, __popc(votes));
        base = __shfl_sync(kAllLanes, base, 0);
        if (mine) found[base + rank_in(votes)] = {static_cast<int>(blockIdx.x), column};
    }
}

}  // namespace

void row_moments(const float* matrix, int rows, int columns, float2* moments, cudaStream_t stream) {
    // find_outliers reads the matrix again.
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, sizeof(float) * rows * columns));
    moments_kernel<<<rows, kThreads, 0, stream>>>(matrix, columns, moments);
    CUDA_CHECK(cudaGetLastError());
}

void find_outliers(const float* matrix, int rows, int columns, const float2* moments, float limit, Outlier* found,
                   int* count, cudaStream_t stream) {
    outlier_kernel<<<rows, kThreads, 0, stream>>>(matrix, columns, moments, limit, found, count);
    CUDA_CHECK(cudaGetLastError());
}
