// SageAttention's attention with 8-bit queries and keys (sm80) against sums in double. With BLOCKS, SpargeAttn's, which
// reads the blocks of keys that a table names.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int d = 64, CTA_Q = 128, CTA_K = 64, WARP_Q = 32, WARP_K = 64, warps = CTA_Q / WARP_Q;
constexpr auto gran = QuantGranularity::kPerWarp;

template <MaskMode mask> static int run(int rows, int keys) {
    const int blocks_q = (rows + CTA_Q - 1) / CTA_Q, blocks_k = (keys + CTA_K - 1) / CTA_K;
    int8_t *Q, *K;
    half *V, *O;
    float *qs, *ks;
    cudaMallocManaged(&Q, rows * d), cudaMallocManaged(&K, keys * d);
    cudaMallocManaged(&V, keys * d * sizeof(half)), cudaMallocManaged(&O, rows * d * sizeof(half));
    cudaMallocManaged(&qs, blocks_q * warps * sizeof(float)), cudaMallocManaged(&ks, blocks_k * sizeof(float));
    for (int i = 0; i < rows * d; ++i) Q[i] = int8_t(std::rand() % 255 - 127);
    for (int i = 0; i < keys * d; ++i) K[i] = int8_t(std::rand() % 255 - 127), V[i] = __float2half(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < blocks_q * warps; ++i) qs[i] = 0.01f + std::rand() % 10 / 1000.f;
    for (int i = 0; i < blocks_k; ++i) ks[i] = 0.01f + std::rand() % 10 / 1000.f;
    std::vector<char> read(blocks_q * blocks_k, 1);
    const size_t smem = std::max(CTA_Q * d + CTA_K * d + CTA_K * d * sizeof(half), CTA_Q * d * sizeof(half));
    const dim3 grid(blocks_q, 1, 1), block(32, warps);
#ifdef BLOCKS
    int32_t *lut, *valid;
    cudaMallocManaged(&lut, blocks_q * blocks_k * sizeof *lut), cudaMallocManaged(&valid, blocks_q * sizeof *valid);
    for (int q = 0; q < blocks_q; ++q) {
        int last = 0, n = 0;
        for (int k = 0; k < blocks_k; ++k)  // each second block of the first rows, all but the first of the others
            if ((read[q * blocks_k + k] = q ? k > 0 : k % 2 == 0)) lut[q * blocks_k + n++] = k - last, last = k;
        valid[q] = n;
    }
    auto kernel = qk_int_sv_f16_block_sparse_attn_kernel<CTA_Q, CTA_K, WARP_Q, WARP_K, d, DataType::kInt8, gran, gran, true,
        PVThresholdMode::kNone, half, ComputeUnit::kTensorCore, mask, false>;
    kernel<<<grid, block, smem>>>(Q, K, V, O, nullptr, lut, valid, nullptr, qs, ks, rows, keys, 1, rows * d, d, d, keys * d, d, d,
        keys * d, d, d, rows * d, d, d, 0.125f);
#else
    auto kernel = qk_int_sv_f16_attn_kernel<CTA_Q, CTA_K, WARP_Q, WARP_K, d, DataType::kInt8, gran, gran, float, false, half,
        ComputeUnit::kTensorCore, mask, false, false>;
    kernel<<<grid, block, smem>>>(Q, K, V, O, nullptr, qs, ks, nullptr, rows, keys, 1, rows * d, d, d, keys * d, d, d, keys * d, d,
        d, rows * d, d, d, 0.125f);
#endif
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    std::vector<double> s(keys);
    for (int i = 0; i < rows; ++i) {
        double most = -1e30, sum = 0;
        const auto seen = [&](int j) { return read[i / CTA_Q * blocks_k + j / CTA_K] && (mask == MaskMode::kNone || j <= i); };
        for (int j = 0; j < keys; ++j) {
            long long dot = 0;
            for (int x = 0; x < d; ++x) dot += Q[i * d + x] * K[j * d + x];
            s[j] = double(dot) * qs[i / WARP_Q] * ks[j / CTA_K] * 0.125;
            if (seen(j)) most = std::fmax(most, s[j]);
        }
        for (int j = 0; j < keys; ++j) sum += s[j] = seen(j) ? std::exp(s[j] - most) : 0;
        for (int x = 0; x < d; ++x) {
            double out = 0;
            for (int j = 0; j < keys; ++j) out += s[j] / sum * __half2float(V[j * d + x]);
            const double got = __half2float(O[i * d + x]);
            if (!(std::fabs(got - out) <= 4e-3) && wrong++ < 5) std::printf("[%d][%d] is %g, not %g\n", i, x, got, out);
        }
    }
    std::printf("attention%s %d x %d x %d: %d of %d wrong\n", mask == MaskMode::kCausal ? " causal" : "", rows, keys, d, wrong, rows * d);
    return wrong;
}

int main() {
#ifdef BLOCKS
    const int wrong = run<MaskMode::kNone>(140, 150);
#else
    const int wrong = run<MaskMode::kNone>(140, 150) + run<MaskMode::kCausal>(100, 100);
#endif
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
