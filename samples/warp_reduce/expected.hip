// Sums a block with warp shuffles and compacts an array with ballots: code that counts on 32 lanes.
#include "cu2port/warp.hpp"
#include <cstdio>
#include <cstdlib>
#include <numeric>
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

#define FULL_MASK 0xffffffffu
constexpr int kBlock = 256;

__inline__ __device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += cu2port::warp::shfl_down(FULL_MASK, value, offset);
    return value;
}

__global__ void block_sums(const float* in, float* sums, int n) {
    __shared__ float partial[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % cu2port::warp::size;
    const int warp = threadIdx.x / cu2port::warp::size;

    float value = warp_sum(i < n ? in[i] : 0.0f);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / cu2port::warp::size ? partial[lane] : 0.0f;
        value = warp_sum(value);
        if (lane == 0) sums[blockIdx.x] = value;
    }
}

// Writes the positive numbers; one atomic a warp.
__global__ void keep_positive(const float* in, float* out, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keep = i < n && in[i] > 0.0f;
    const unsigned int kept = cu2port::warp::ballot(FULL_MASK, keep);
    const unsigned int lane = threadIdx.x & 31;
    int first = 0;
    if (lane == 0) first = atomicAdd(count, __popc(kept));
    first = cu2port::warp::shfl(FULL_MASK, first, 0);
    if (keep) out[first + int(__popc(kept & ((1u << lane) - 1)))] = in[i];
    __syncwarp();
}

int main() {
    const int n = 10000, blocks = (n + kBlock - 1) / kBlock;
    std::vector<float> in(n), sums(blocks), kept(n);
    int want_count = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = float(i % 21 - 10);
        want_count += in[i] > 0.0f;
    }

    float *dev_in, *dev_sums, *dev_kept;
    int* dev_count;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_sums, blocks * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_kept, n * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_count, sizeof(int)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(float), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemset(dev_count, 0, sizeof(int)));

    block_sums<<<blocks, kBlock>>>(dev_in, dev_sums, n);
    keep_positive<<<blocks, kBlock>>>(dev_in, dev_kept, dev_count, n);
    CUDA_CHECK(hipGetLastError());
    int count = 0;
    CUDA_CHECK(hipMemcpy(sums.data(), dev_sums, blocks * sizeof(float), hipMemcpyDeviceToHost));
    CUDA_CHECK(hipMemcpy(&count, dev_count, sizeof(int), hipMemcpyDeviceToHost));
    CUDA_CHECK(hipMemcpy(kept.data(), dev_kept, n * sizeof(float), hipMemcpyDeviceToHost));

    float got = std::accumulate(sums.begin(), sums.end(), 0.0f), want = std::accumulate(in.begin(), in.end(), 0.0f);
    bool ok = got == want && count == want_count;
    for (int i = 0; i < count && ok; ++i) ok = kept[i] > 0.0f;
    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(dev_sums));
    CUDA_CHECK(hipFree(dev_kept));
    CUDA_CHECK(hipFree(dev_count));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
