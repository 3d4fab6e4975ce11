// Sums an array in one launch: tiles of 32 threads, then blocks, then the whole grid meets.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

namespace cg = cooperative_groups;

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kBlock = 256;

__device__ int tile_sum(const cg::thread_block_tile<32>& tile, int value) {
    for (unsigned int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    return value;  // right in the tile's first thread
}

__device__ int block_sum(const cg::thread_block& block, int value) {
    __shared__ int partial[kBlock / 32];
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    value = tile_sum(tile, value);
    if (tile.thread_rank() == 0) partial[block.thread_rank() / 32] = value;
    block.sync();
    int total = 0;
    if (block.thread_rank() == 0) {
        for (int i = 0; i < kBlock / 32; ++i) total += partial[i];
    }
    block.sync();
    return total;
}

__global__ void sum_all(const int* in, int n, int* per_block, int* result) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int mine = 0;
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) mine += in[i];
    const int sum = block_sum(block, mine);
    if (block.thread_rank() == 0) per_block[block.group_index().x] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += per_block[b];
        *result = total;
    }
}

int main() {
    int device = 0, supported = 0, processors = 0, blocks_each = 0;
    CUDA_CHECK(hipGetDevice(&device));
    CUDA_CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, device));
    if (!supported) {
        std::printf("SKIP: the device has no cooperative launch\n");
        return EXIT_SUCCESS;
    }
    CUDA_CHECK(hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, device));
    CUDA_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, sum_all, kBlock, 0));
    const int blocks = processors * blocks_each;

    int n = 1000003, want = 0;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) want += in[i] = i % 17 - 8;

    int *dev_in, *per_block, *dev_result;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(int)));
    CUDA_CHECK(hipMalloc(&per_block, blocks * sizeof(int)));
    CUDA_CHECK(hipMalloc(&dev_result, sizeof(int)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(int), hipMemcpyHostToDevice));

    void* args[] = {&dev_in, &n, &per_block, &dev_result};
    CUDA_CHECK(hipLaunchCooperativeKernel((void*)sum_all, dim3(blocks), dim3(kBlock), args, 0, 0));
    int got = 0;
    CUDA_CHECK(hipMemcpy(&got, dev_result, sizeof(int), hipMemcpyDeviceToHost));

    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(per_block));
    CUDA_CHECK(hipFree(dev_result));
    std::printf("%s\n", got == want ? "PASS" : "FAIL");
    return got == want ? EXIT_SUCCESS : EXIT_FAILURE;
}
