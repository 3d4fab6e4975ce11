// Sum, prefix sum and sort with CUB: device-wide calls, and a block-wide reduction inside a kernel.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <hipcub/hipcub.hpp>
#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kBlock = 256;

__global__ void block_sums(const int* in, int* sums) {
    using BlockReduce = hipcub::BlockReduce<int, kBlock>;
    __shared__ typename BlockReduce::TempStorage storage;
    const int value = in[blockIdx.x * kBlock + threadIdx.x];
    const int sum = BlockReduce(storage).Sum(value);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// CUB asks twice: first how much scratch memory, then for the work itself.
template <typename Call>
static void with_scratch(Call call) {
    size_t bytes = 0;
    CUDA_CHECK(call(nullptr, bytes));
    void* scratch = nullptr;
    CUDA_CHECK(hipMalloc(&scratch, bytes));
    CUDA_CHECK(call(scratch, bytes));
    CUDA_CHECK(hipFree(scratch));
}

int main() {
    const int blocks = 64, n = blocks * kBlock;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 1000;

    int *dev_in, *dev_out, *dev_sum;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(int)));
    CUDA_CHECK(hipMalloc(&dev_out, n * sizeof(int)));
    CUDA_CHECK(hipMalloc(&dev_sum, blocks * sizeof(int)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(int), hipMemcpyHostToDevice));

    std::vector<int> sums(blocks), out(n);
    block_sums<<<blocks, kBlock>>>(dev_in, dev_sum);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipMemcpy(sums.data(), dev_sum, blocks * sizeof(int), hipMemcpyDeviceToHost));
    const int want = std::accumulate(in.begin(), in.end(), 0);
    bool ok = std::accumulate(sums.begin(), sums.end(), 0) == want;

    with_scratch([&](void* scratch, size_t& bytes) {
        return hipcub::DeviceReduce::Sum(scratch, bytes, dev_in, dev_sum, n);
    });
    int sum = 0;
    CUDA_CHECK(hipMemcpy(&sum, dev_sum, sizeof(int), hipMemcpyDeviceToHost));
    ok = ok && sum == want;

    with_scratch([&](void* scratch, size_t& bytes) {
        return hipcub::DeviceScan::ExclusiveSum(scratch, bytes, dev_in, dev_out, n);
    });
    CUDA_CHECK(hipMemcpy(out.data(), dev_out, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0, before = 0; i < n; before += in[i], ++i) ok = ok && out[i] == before;

    hipcub::DoubleBuffer<int> keys(dev_in, dev_out);
    with_scratch([&](void* scratch, size_t& bytes) { return hipcub::DeviceRadixSort::SortKeys(scratch, bytes, keys, n); });
    CUDA_CHECK(hipMemcpy(out.data(), keys.Current(), n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 1; i < n; ++i) ok = ok && out[i - 1] <= out[i];

    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(dev_out));
    CUDA_CHECK(hipFree(dev_sum));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
