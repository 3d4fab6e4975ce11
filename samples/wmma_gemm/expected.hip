// C = A * B in tiles of 16 x 16 x 16 on tensor cores: half inputs, float sums.
#include "cu2port/wmma.hpp"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

using namespace cu2port::nvcuda;

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kTile = 16;

// One warp a block computes one tile of C. A is row major, B column major, C row major; all n x n.
__global__ void multiply(const half* a, const half* b, float* c, int n) {
    cu2port::wmma::fragment<cu2port::wmma::matrix_a, kTile, kTile, kTile, half, cu2port::wmma::row_major> frag_a;
    cu2port::wmma::fragment<cu2port::wmma::matrix_b, kTile, kTile, kTile, half, cu2port::wmma::col_major> frag_b;
    cu2port::wmma::fragment<cu2port::wmma::accumulator, kTile, kTile, kTile, float> sum;
    const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;

    cu2port::wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += kTile) {
        cu2port::wmma::load_matrix_sync(frag_a, a + row * n + k, n);
        cu2port::wmma::load_matrix_sync(frag_b, b + col * n + k, n);
        cu2port::wmma::mma_sync(sum, frag_a, frag_b, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
    cu2port::wmma::store_matrix_sync(c + row * n + col, sum, n, cu2port::wmma::mem_row_major);
}

int main() {
    const int n = 128;
    std::vector<half> a(n * n), b(n * n);
    std::vector<float> c(n * n);
    for (int i = 0; i < n * n; ++i) {
        a[i] = __float2half(float(i % 5) - 2.0f);
        b[i] = __float2half(float(i % 3) - 1.0f);
    }
    half *dev_a, *dev_b;
    float* dev_c;
    CUDA_CHECK(hipMalloc(&dev_a, n * n * sizeof(half)));
    CUDA_CHECK(hipMalloc(&dev_b, n * n * sizeof(half)));
    CUDA_CHECK(hipMalloc(&dev_c, n * n * sizeof(float)));
    CUDA_CHECK(hipMemcpy(dev_a, a.data(), n * n * sizeof(half), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpy(dev_b, b.data(), n * n * sizeof(half), hipMemcpyHostToDevice));

    multiply<<<dim3(n / kTile, n / kTile), 32>>>(dev_a, dev_b, dev_c, n);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipMemcpy(c.data(), dev_c, n * n * sizeof(float), hipMemcpyDeviceToHost));

    bool ok = true;
    for (int row = 0; row < n; ++row) {
        for (int col = 0; col < n; ++col) {
            float want = 0.0f;
            for (int k = 0; k < n; ++k) want += __half2float(a[row * n + k]) * __half2float(b[col * n + k]);
            ok = ok && std::fabs(c[row * n + col] - 0.5f * want) < 1e-2f;
        }
    }
    CUDA_CHECK(hipFree(dev_a));
    CUDA_CHECK(hipFree(dev_b));
    CUDA_CHECK(hipFree(dev_c));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
