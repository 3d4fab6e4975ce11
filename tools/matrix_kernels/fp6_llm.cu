// fp6_llm's GEMM of batches of up to 8: weights of 6 bits, packed by its own function for the host, against sums in double.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int run(int m, int n, int k, int split) {
    std::vector<unsigned char> packed(m * k * 6 / 8 + 16);
    std::vector<half> exact(m * k), ones(m);
    for (unsigned char& b : packed) b = static_cast<unsigned char>(std::rand());
    uint4* W;
    half *scales, *B, *C;
    float* space;
    cudaMallocManaged(&W, m * k * 6 / 8), cudaMallocManaged(&scales, m * sizeof(half)), cudaMallocManaged(&B, n * k * sizeof(half));
    cudaMallocManaged(&C, n * m * sizeof(half)), cudaMallocManaged(&space, split * n * m * sizeof(float));
    for (int i = 0; i < m; ++i) scales[i] = __float2half(0.5f + std::rand() % 8 / 8.f);
    for (int i = 0; i < n * k; ++i) B[i] = __float2half(std::rand() % 200 / 100.f - 1);
    DeQuantMatrix_FP6_To_FP16(exact.data(), packed.data(), m, k, scales);
    weight_matrix_prepacking(reinterpret_cast<int*>(W), reinterpret_cast<int*>(packed.data()), m, k);
    if (split == 1) {
        Kernel_Ex<TilingConfig<4, 1, 1>, half, 3, 2>(0, W, scales, B, C, m, n, k, split);
    } else {
        Kernel_Ex<TilingConfig<4, 1, 1>, float, 3, 2>(0, W, scales, B, space, m, n, k, split);
        SplitK_Reduction<<<m * n / REDUCTION_ELEMENT_PER_THREADBLOCK, WARP_SIZE>>>(C, space, m, n, split);
    }
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            double sum = 0, size = 0;
            for (int x = 0; x < k; ++x) {
                const double p = double(__half2float(exact[i * k + x])) * __half2float(B[j * k + x]);
                sum += p, size += std::fabs(p);
            }
            const double got = __half2float(C[j * m + i]);
            if (!(std::fabs(got - sum) <= size * 2e-3 + 1e-3) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("fp6_llm %d x %d x %d, %d parts: %d of %d wrong\n", m, n, k, split, wrong, m * n);
    return wrong;
}

int main() {
    const int wrong = run(256, 8, 128, 1) + run(256, 8, 128, 2);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
