// llmq's GEMM by `mma` (bf16 with f32 sums) against sums in double.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>

void cuda_throw_on_error(cudaError_t status, const char* what, const char*, int) {
    if (status != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(status)), std::exit(1);
}
[[noreturn]] void throw_not_divisible(long long a, long long b) { std::printf("%lld / %lld\n", a, b), std::exit(1); }

int main() {
    constexpr int m = 128, n = 128, k = 128;
    nv_bfloat16 *a, *b, *bias, *out;
    cudaMallocManaged(&a, m * k * sizeof *a), cudaMallocManaged(&b, n * k * sizeof *b);
    cudaMallocManaged(&bias, m * sizeof *bias), cudaMallocManaged(&out, n * m * sizeof *out);
    for (int i = 0; i < m * k; ++i) a[i] = __float2bfloat16(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < n * k; ++i) b[i] = __float2bfloat16(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < m; ++i) bias[i] = __float2bfloat16(float(std::rand() % 9 - 4));
    gemm_mma_tn_launcher(out, a, b, m, n, k, (const float*)nullptr, (const float*)nullptr, bias, false, type_v<float>, 0);
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return std::puts("not launched"), 1;
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            double sum = __bfloat162float(bias[j]), size = 4;
            for (int x = 0; x < k; ++x) {
                const double p = double(__bfloat162float(b[i * k + x])) * __bfloat162float(a[j * k + x]);
                sum += p, size += std::fabs(p);
            }
            const double got = __bfloat162float(out[i * m + j]);
            if (!(std::fabs(got - sum) <= std::fabs(sum) * 0.01 + size * 0.005) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("llmq %d x %d x %d: %d of %d wrong\n", m, n, k, wrong, m * n);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
