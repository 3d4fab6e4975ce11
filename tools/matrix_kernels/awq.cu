// llm-awq's GEMM of four-bit weights, against sums in double: -DSOURCE="<gemm_cuda_gen.cu up to its host function>".
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int run(int m, int n, int k) {
    constexpr int G = 64;
    const int groups = k / G, words = (((groups + 7) / 8) + 1) / 2 * 2;  // of zeros in a row; of scales eight times
    half *A, *S, *C;
    int *B, *zeros;
    cudaMallocManaged(&A, m * k * sizeof(half)), cudaMallocManaged(&C, m * n * sizeof(half));
    cudaMallocManaged(&S, n * words * 8 * sizeof(half));
    cudaMallocManaged(&B, n * k / 8 * sizeof(int)), cudaMallocManaged(&zeros, n * words * sizeof(int));
    for (int i = 0; i < m * k; ++i) A[i] = __float2half(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < n * words * 8; ++i) S[i] = __float2half(0.01f + std::rand() % 100 / 1000.f);
    for (int i = 0; i < n * k / 8; ++i) B[i] = std::rand() ^ std::rand() << 16;
    for (int i = 0; i < n * words; ++i) zeros[i] = std::rand() ^ std::rand() << 16;
    gemm_forward_4bit_cuda_m128n64k32<G><<<(m + 127) / 128 * (n / 64), dim3(32, 4)>>>(1, A, B, S, zeros, m, k, n, C);
    if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("not launched"), 1;
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (int x = 0; x < k; ++x) {
                const int g = x / G;
                const int q = unsigned(B[j * (k / 8) + x / 8]) >> 4 * (x % 8) & 15;
                const int zero = unsigned(zeros[j * words + g / 8]) >> 4 * (g % 8) & 15;
                const float w = __half2float(__float2half(__half2float(S[j * words * 8 + g]) * float(q - zero)));
                const double p = double(__half2float(A[i * k + x])) * w;
                sum += p, size += std::fabs(p);
            }
            const double got = __half2float(C[i * n + j]);
            if (!(std::fabs(got - sum) <= size * 1e-3 + 1e-3) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("awq m=%d n=%d k=%d: %d of %d wrong\n", m, n, k, wrong, m * n);
    return wrong;
}

int main() {
    const int wrong = run(128, 64, 128) + run(70, 128, 64);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
