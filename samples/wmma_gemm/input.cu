// C = A * B in tiles of 16 x 16 x 16 on tensor cores: half inputs, float sums.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t err_ = (call);                                                       \
        if (err_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

constexpr int kTile = 16;

// One warp a block computes one tile of C. A is row major, B column major, C row major; all n x n.
__global__ void multiply(const half* a, const half* b, float* c, int n) {
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> frag_a;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> frag_b;
    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
    const int row = blockIdx.y * kTile, col = blockIdx.x * kTile;

    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += kTile) {
        wmma::load_matrix_sync(frag_a, a + row * n + k, n);
        wmma::load_matrix_sync(frag_b, b + col * n + k, n);
        wmma::mma_sync(sum, frag_a, frag_b, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
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
    CUDA_CHECK(cudaMalloc(&dev_a, n * n * sizeof(half)));
    CUDA_CHECK(cudaMalloc(&dev_b, n * n * sizeof(half)));
    CUDA_CHECK(cudaMalloc(&dev_c, n * n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(dev_a, a.data(), n * n * sizeof(half), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dev_b, b.data(), n * n * sizeof(half), cudaMemcpyHostToDevice));

    multiply<<<dim3(n / kTile, n / kTile), 32>>>(dev_a, dev_b, dev_c, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(c.data(), dev_c, n * n * sizeof(float), cudaMemcpyDeviceToHost));

    bool ok = true;
    for (int row = 0; row < n; ++row) {
        for (int col = 0; col < n; ++col) {
            float want = 0.0f;
            for (int k = 0; k < n; ++k) want += __half2float(a[row * n + k]) * __half2float(b[col * n + k]);
            ok = ok && std::fabs(c[row * n + col] - 0.5f * want) < 1e-2f;
        }
    }
    CUDA_CHECK(cudaFree(dev_a));
    CUDA_CHECK(cudaFree(dev_b));
    CUDA_CHECK(cudaFree(dev_c));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
