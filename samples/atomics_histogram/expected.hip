// Histogram of bytes: counted in shared memory first, then added to the total; plus the other atomics.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kBins = 256;

struct Extremes {
    int low;
    int high;
    unsigned int blocks_done;
    int last_block;
};

__global__ void histogram(const unsigned char* data, int n, unsigned int* bins, Extremes* extremes) {
    __shared__ unsigned int local[kBins];
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&local[data[i]], 1u);
        atomicMin(&extremes->low, int(data[i]));
        atomicMax(&extremes->high, int(data[i]));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) {
        if (local[i] != 0) atomicAdd(&bins[i], local[i]);
    }

    __threadfence();
    if (threadIdx.x == 0) {
        const unsigned int ticket = atomicInc(&extremes->blocks_done, gridDim.x - 1);
        if (ticket == gridDim.x - 1) atomicExch(&extremes->last_block, blockIdx.x);
    }
}

int main() {
    const int n = 1 << 20, blocks = 64;
    std::vector<unsigned char> data(n);
    std::vector<unsigned int> want(kBins, 0), got(kBins);
    for (int i = 0; i < n; ++i) {
        data[i] = static_cast<unsigned char>((i * 2654435761u) >> 25);
        ++want[data[i]];
    }

    unsigned char* dev_data;
    unsigned int* dev_bins;
    Extremes* dev_extremes;
    Extremes extremes = {INT_MAX, INT_MIN, 0, -1};
    CUDA_CHECK(hipMalloc(&dev_data, n));
    CUDA_CHECK(hipMalloc(&dev_bins, kBins * sizeof(unsigned int)));
    CUDA_CHECK(hipMalloc(&dev_extremes, sizeof(Extremes)));
    CUDA_CHECK(hipMemcpy(dev_data, data.data(), n, hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemset(dev_bins, 0, kBins * sizeof(unsigned int)));
    CUDA_CHECK(hipMemcpy(dev_extremes, &extremes, sizeof(extremes), hipMemcpyHostToDevice));

    histogram<<<blocks, 256>>>(dev_data, n, dev_bins, dev_extremes);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipMemcpy(got.data(), dev_bins, kBins * sizeof(unsigned int), hipMemcpyDeviceToHost));
    CUDA_CHECK(hipMemcpy(&extremes, dev_extremes, sizeof(extremes), hipMemcpyDeviceToHost));

    int low = kBins, high = -1;
    for (int i = 0; i < kBins; ++i) {
        if (want[i] == 0) continue;
        if (low == kBins) low = i;
        high = i;
    }
    const bool ok = got == want && extremes.low == low && extremes.high == high && extremes.last_block >= 0;
    CUDA_CHECK(hipFree(dev_data));
    CUDA_CHECK(hipFree(dev_bins));
    CUDA_CHECK(hipFree(dev_extremes));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
