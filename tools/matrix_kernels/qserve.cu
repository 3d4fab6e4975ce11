// QServe's GEMM with 8-bit activations, and weights of 8 bits or (G: packed as its Python packs them) 4, against sums of
// integers.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int CTA_M, int CTA_N, int CTA_K, int WARP_M, int WARP_N, int WARP_K, int STAGES> static int run(int m, int n, int k) {
    int8_t *A, *B;
    half2 *ws, *wz;
    half *as, *sums, *C;
    cudaMallocManaged(&A, m * k), cudaMallocManaged(&B, n * k);
    cudaMallocManaged(&ws, n * sizeof(half)), cudaMallocManaged(&wz, n * sizeof(half));
    cudaMallocManaged(&as, m * sizeof(half)), cudaMallocManaged(&sums, m * sizeof(half));
    cudaMallocManaged(&C, m * n * sizeof(half));
    std::vector<int> w(n * k);
    for (int i = 0; i < m * k; ++i) A[i] = int8_t(std::rand() % 255 - 127);
    for (int i = 0; i < m; ++i) as[i] = __float2half(0.05f + std::rand() % 10 / 200.f), sums[i] = __float2half(std::rand() % 9 - 4.f);
    for (int i = 0; i < n; ++i) {
        reinterpret_cast<half*>(ws)[i] = __float2half(0.005f + std::rand() % 10 / 2000.f);
        reinterpret_cast<half*>(wz)[i] = __float2half(std::rand() % 9 / 8.f);
    }
#ifdef FOUR_BITS
    for (int& x : w) x = std::rand() % 16;
    for (int row = 0; row < n; ++row)
        for (int col = 0; col < k; ++col) {  // row: 32, a of 2, b of 2, c of 8; column: 32, e of 2, f of 4, g of 4
            const int a = row / 16 % 2, b = row / 8 % 2, c = row % 8, e = col / 16 % 2, f = col / 4 % 4, g = col % 4;
            const int at = ((row / 32 * (k / 32) + col / 32) * 8 + c) * 64 + f * 16 + e * 8 + b * 4 + g;
            int8_t& byte = B[at];
            byte = a ? int8_t((byte & 15) | w[row * k + col] << 4) : int8_t((byte & ~15) | w[row * k + col]);
        }
    auto kernel = dense_kernel0<CTA_M, CTA_N, CTA_K, WARP_M, WARP_N, WARP_K, STAGES, 128>;
    const int smem = (CTA_M * (CTA_K + SMEM_PAD_A) + CTA_N * (CTA_K + SMEM_PAD_B) / 2) * STAGES + CTA_N * (CTA_K / 128 + 1) * 2 * STAGES;
#else
    for (int i = 0; i < n * k; ++i) B[i] = int8_t(w[i] = std::rand() % 255 - 127);
    auto kernel = dense_kernel0<CTA_M, CTA_N, CTA_K, WARP_M, WARP_N, WARP_K, STAGES>;
    const int smem = (CTA_M * (CTA_K + SMEM_PAD_A) + CTA_N * (CTA_K + SMEM_PAD_B)) * STAGES;
#endif
    const int blocks_m = (m + CTA_M - 1) / CTA_M, blocks_n = n / CTA_N, tile = 1 << get_log_tile<8>(blocks_m);
    const dim3 grid(blocks_n * tile, (blocks_m + tile - 1) / tile), block(32, CTA_M / WARP_M * (CTA_N / WARP_N) * (CTA_K / WARP_K));
#ifdef FOUR_BITS
    kernel<<<grid, block, smem>>>(A, B, ws, as, wz, sums, C, m, n, k);
#else
    kernel<<<grid, block, smem>>>(A, B, ws, as, C, m, n, k);
#endif
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            long long sum = 0;
            for (int x = 0; x < k; ++x) sum += A[i * k + x] * w[j * k + x];
            double wanted = double(sum) * __half2float(reinterpret_cast<half*>(ws)[j]) * __half2float(as[i]);
#ifdef FOUR_BITS
            wanted -= double(__half2float(reinterpret_cast<half*>(wz)[j])) * __half2float(sums[i]);
#endif
            const double got = __half2float(C[i * n + j]);
            if (!(std::fabs(got - wanted) <= 1e-3 * std::fabs(wanted) + 1e-2) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, wanted);
        }
    std::printf("QServe %d x %d x %d: %d of %d wrong\n", m, n, k, wrong, m * n);
    return wrong;
}

int main() {
#ifdef FOUR_BITS
    const int wrong = run<32, 64, 128, 32, 32, 64, 3>(40, 128, 256);
#else
    const int wrong = run<64, 64, 64, 32, 32, 64, 6>(70, 128, 256);
#endif
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
