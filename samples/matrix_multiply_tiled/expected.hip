// Multiplies two matrices with the kernels of kernel.cuh and compares both with the host's product.
#include <hip/hip_runtime.h>
#include "kernel.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(hipError_t status, const char* what) {
    if (status == hipSuccess) return;
    std::fprintf(stderr, "%s: %s (%s)\n", what, hipGetErrorString(status), hipGetErrorName(status));
    std::exit(EXIT_FAILURE);
}

static bool agrees(const std::vector<float>& a, const std::vector<float>& b, const float* dev_c, int n) {
    std::vector<float> c(n * n);
    check(hipMemcpy(c.data(), dev_c, c.size() * sizeof(float), hipMemcpyDeviceToHost), "copy back");
    for (int row = 0; row < n; ++row) {
        for (int col = 0; col < n; ++col) {
            double want = 0.0;
            for (int k = 0; k < n; ++k) want += double(a[row * n + k]) * b[k * n + col];
            if (std::fabs(c[row * n + col] - want) > 1e-3) return false;
        }
    }
    return true;
}

int main() {
    const int n = 250;  // not a multiple of any tile
    std::vector<float> a(n * n), b(n * n);
    for (int i = 0; i < n * n; ++i) {
        a[i] = 0.01f * (i % 97);
        b[i] = 0.01f * (i % 89) - 0.4f;
    }

    float* dev[3];
    for (float*& p : dev) check(hipMalloc(&p, n * n * sizeof(float)), "allocate");
    check(hipMemcpy(dev[0], a.data(), a.size() * sizeof(float), hipMemcpyHostToDevice), "copy a");
    check(hipMemcpy(dev[1], b.data(), b.size() * sizeof(float), hipMemcpyHostToDevice), "copy b");

    const dim3 block(kTile, kTile);
    const dim3 grid((n + kTile - 1) / kTile, (n + kTile - 1) / kTile);
    multiply_static<<<grid, block>>>(dev[0], dev[1], dev[2], n);
    check(hipGetLastError(), "launch multiply_static");
    bool ok = agrees(a, b, dev[2], n);

    const int tile = 32;
    const size_t shared = 2 * tile * tile * sizeof(float);
    check(hipFuncSetAttribute(reinterpret_cast<const void*>(multiply_dynamic<float>), hipFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
          "raise the shared memory limit");
    check(hipFuncSetCacheConfig(reinterpret_cast<const void*>(multiply_dynamic<float>), hipFuncCachePreferShared), "prefer shared memory");
    int blocks_per_sm = 0;
    check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, multiply_dynamic<float>, tile * tile, shared),
          "occupancy");

    check(hipMemset(dev[2], 0, n * n * sizeof(float)), "clear");
    const int tiles = (n + tile - 1) / tile;
    multiply_dynamic<float><<<dim3(tiles, tiles), dim3(tile, tile), shared>>>(dev[0], dev[1], dev[2], n);
    check(hipGetLastError(), "launch multiply_dynamic");
    ok = agrees(a, b, dev[2], n) && ok && blocks_per_sm > 0;

    for (float* p : dev) check(hipFree(p), "free");
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
