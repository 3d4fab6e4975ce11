// bitsandbytes' GEMM of fp4 and nf4 weights, against sums in double: -DSOURCE="<path of gemm_4bit_sm80.cu>".
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>

static const float kNf4[16] = {-1.0f, -0.6961928f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f,
    0.0f, 0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f};
static const float kFp4[8] = {0.0f, 0.005208333333f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f};

static int run(int m, int n, int k, int type) {
    constexpr int block = 64;
    half *A, *C;
    uint8_t* B;
    float* absmax;
    cudaMallocManaged(&A, m * k * sizeof(half)), cudaMallocManaged(&C, m * n * sizeof(half));
    cudaMallocManaged(&B, n * k / 2), cudaMallocManaged(&absmax, n * k / block * sizeof(float));
    for (int i = 0; i < m * k; ++i) A[i] = __float2half(std::rand() % 200 / 100.f - 1);
    for (int i = 0; i < n * k / 2; ++i) B[i] = std::rand() % 256;
    for (int i = 0; i < n * k / block; ++i) absmax[i] = 0.1f + std::rand() % 100 / 100.f;
    const GpuProps gpu = {0, 20, 8, 6};
    launch_gemm_4bit_sm80_m16n8k16<half>(A, B, absmax, nullptr, nullptr, nullptr, C, nullptr, m, n, k, block, type, gpu, 0);
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (int x = 0; x < k; ++x) {
                const int at = j * k + x, code = x % 2 ? B[at / 2] & 15 : B[at / 2] >> 4;
                const float value = type == 2 ? kNf4[code] : code < 8 ? kFp4[code] : -kFp4[code - 8];
                const double p = double(__half2float(A[i * k + x])) * value * absmax[at / block];
                sum += p, size += std::fabs(p);
            }
            const double got = __half2float(C[i * n + j]);
            if (!(std::fabs(got - sum) <= size * 2e-3 + 1e-3) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("bitsandbytes m=%d n=%d k=%d %s: %d of %d wrong\n", m, n, k, type == 2 ? "nf4" : "fp4", wrong, m * n);
    return wrong;
}

int main() {
    const int wrong = run(20, 40, 128, 1) + run(50, 64, 64, 2);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
