// Flash-LLM's product with a sparse matrix of weights, in one part and in two along k, against sums in double.
// N is 64: with less its blocks ask for more than 64 KiB of shared memory.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include SOURCE

constexpr int M = 256, N = 64, K = 128;

int main() {
    half *A, *B, *C, *parts;
    cudaMallocManaged(&A, M * K * sizeof *A), cudaMallocManaged(&B, N * K * sizeof *B);
    cudaMallocManaged(&C, M * N * sizeof *C), cudaMallocManaged(&parts, 2 * M * N * sizeof *parts);
    for (int i = 0; i < M * K; ++i) A[i] = __float2half(std::rand() % 10 < 2 ? std::rand() % 200 / 100.f - 1 : 0.f);
    for (int i = 0; i < N * K; ++i) B[i] = __float2half(std::rand() % 200 / 100.f - 1);
    uint32_t* packed;
    int* offsets;
    const int count = InitSparseMatrixA_API(A, M, N, K, &packed, &offsets);
    const size_t bytes = 16 * size_t(offsets[count - 1]);  // what is not zero, in groups of four
    uint4* weights;
    int* where;
    cudaMallocManaged(&weights, bytes), cudaMallocManaged(&where, count * sizeof *where);
    std::memcpy(weights, packed, bytes), std::memcpy(where, offsets, count * sizeof *where);
    int all = 0;
    for (int split = 1; split <= 2; ++split) {
        const auto error = SpMM_SplitK_API(nullptr, A, weights, where, B, C, M, N, K, parts, split);
        if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
            return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
        int wrong = 0;
        for (int m = 0; m < M; ++m)
            for (int n = 0; n < N; ++n) {
                double sum = 0, size = 0;
                for (int k = 0; k < K; ++k) {
                    const double p = double(__half2float(A[m * K + k])) * __half2float(B[n * K + k]);
                    sum += p, size += std::fabs(p);
                }
                const double got = __half2float(C[n * M + m]);
                if (!(std::fabs(got - sum) <= 1e-3 * size + 1e-4) && wrong++ < 5)
                    std::printf("[%d][%d] is %g, not %g\n", m, n, got, sum);
            }
        std::printf("Flash-LLM %d x %d x %d in %d: %d of %d wrong\n", M, N, K, split, wrong, M * N);
        all += wrong;
    }
    std::puts(all ? "FAIL" : "PASS");
    return all != 0;
}
