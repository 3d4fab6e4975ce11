// AutoAWQ's GEMM of four-bit weights, against sums in double: -DSOURCE="<gemm_cuda_gen.cu up to its host functions>".
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Column 8 * w + j of a row is nibble PLACE[j] of its word w.
constexpr int PLACE[8] = {0, 4, 1, 5, 2, 6, 3, 7};

static int nibble(const int* words, int row, int columns, int j) {
    return unsigned(words[row * (columns / 8) + j / 8]) >> 4 * PLACE[j % 8] & 15;
}

static int run(int m, int n, int k, int splits) {
    constexpr int G = 64;
    half *A, *S, *C;
    int *B, *zeros;
    cudaMallocManaged(&A, m * k * sizeof(half)), cudaMallocManaged(&C, splits * m * n * sizeof(half));
    cudaMallocManaged(&S, k / G * n * sizeof(half)), cudaMallocManaged(&zeros, k / G * n / 8 * sizeof(int));
    cudaMallocManaged(&B, k * n / 8 * sizeof(int));
    for (int i = 0; i < m * k; ++i) A[i] = __float2half(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < k / G * n; ++i) S[i] = __float2half(0.01f + std::rand() % 100 / 1000.f);
    for (int i = 0; i < k * n / 8; ++i) B[i] = std::rand() ^ std::rand() << 16;
    for (int i = 0; i < k / G * n / 8; ++i) zeros[i] = std::rand() ^ std::rand() << 16;
    const dim3 threads(32, 2);
    const int columns = n % 128 == 0 ? 128 : 64, blocks = (m + 15) / 16 * (n / columns) * splits;
    if (columns == 128)
        gemm_forward_4bit_cuda_m16n128k32<<<blocks, threads>>>(G, splits, A, B, S, zeros, m, k, n, C);
    else
        gemm_forward_4bit_cuda_m16n64k32<<<blocks, threads>>>(G, splits, A, B, S, zeros, m, k, n, C);
    if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("not launched"), 1;
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0, size = 0, got = 0;
            for (int x = 0; x < k; ++x) {
                const int q = nibble(B, x, n, j) - nibble(zeros, x / G, n, j);
                const float w = __half2float(__float2half(__half2float(S[x / G * n + j]) * float(q)));
                const double p = double(__half2float(A[i * k + x])) * w;
                sum += p, size += std::fabs(p);
            }
            for (int part = 0; part < splits; ++part) got += __half2float(C[(part * m + i) * n + j]);
            if (!(std::fabs(got - sum) <= size * 1e-3 + 1e-3) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("autoawq m=%d n=%d k=%d: %d of %d wrong\n", m, n, k, wrong, m * n);
    return wrong;
}

int main() {
    const int wrong = run(32, 128, 128, 2) + run(20, 192, 128, 1);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
