// Marlin's int4 GEMM on small sizes, against sums in double; with GPTQ the kernel that vLLM made of it.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Where Marlin wants what: each 16 by 64 tile of weights is 1024 numbers in this order, eight to a word.
static std::vector<int> tile_order() {
    std::vector<int> out;
    for (int i = 0; i < 32; ++i)
        for (int j = 0; j < 4; ++j)
            for (int n : {0, 2, 4, 6, 1, 3, 5, 7}) {
                const int block = n / 4, r = n % 4;
                const int row = r < 2 ? 2 * (i % 4) + r : 2 * (i % 4 + 4) + r - 2;
                out.push_back(16 * row + i / 4 + 8 * block + 256 * j);
            }
    return out;
}

#ifdef GPTQ
template <int Rows, int Columns, int Steps, int Groups>  // in blocks of 16; what it loads ahead needs less than 64 KiB
static void launch(half* A, int* B, half* C, half* S, int m, int n, int k, int* locks) {
    const auto kernel =
        &marlin::Marlin<half, vllm::kU4B8.id(), 256, Rows, Columns, Steps, marlin::pipe_stages, false, false, Groups>;
    const int shared = 64 * 1024;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<2, 256, shared>>>((const int4*)A, (const int4*)B, (int4*)C, nullptr, (const int4*)S, nullptr, nullptr,
                               Groups == -1 ? 1 : k / 128, m, n, k, locks, false);
}
static int marlin_cuda(half* A, int* B, half* C, half* S, int m, int n, int k, int* locks, int groupsize) {
    if (groupsize == -1)
        launch<1, 8, 8, -1>(A, B, C, S, m, n, k, locks);
    else if (m <= 16)
        launch<1, 8, 8, 8>(A, B, C, S, m, n, k, locks);
    else
        launch<2, 16, 4, 8>(A, B, C, S, m, n, k, locks);
    return 0;
}
#define ON_TWO_BLOCKS
#else
#define ON_TWO_BLOCKS , 0, 0, -1, -1, 2
#endif

static int run(int m, int n, int k, int groupsize) {
    const int groups = groupsize == -1 ? 1 : k / groupsize;
    std::vector<int> q(k * n);
    std::vector<float> scale(groups * n), a(m * k);
    for (auto& x : q) x = std::rand() % 16;
    for (auto& x : scale) x = __half2float(__float2half(0.01f + std::rand() % 100 / 1000.f));
    for (auto& x : a) x = __half2float(__float2half(std::rand() % 200 / 100.f - 1));
    half *A, *C, *S;
    int *B, *workspace;
    cudaMallocManaged(&A, m * k * sizeof(half)), cudaMallocManaged(&C, m * n * sizeof(half));
    cudaMallocManaged(&S, groups * n * sizeof(half)), cudaMallocManaged(&B, k * n / 2);
    cudaMallocManaged(&workspace, n / 128 * 16 * sizeof(int));
    for (int i = 0; i < n / 128 * 16; ++i) workspace[i] = 0;
    for (int i = 0; i < m * k; ++i) A[i] = __float2half(a[i]);
    // tiles of 16 by 16 in a row of tiles one after the other, then 1024 numbers by the order above
    const auto order = tile_order();
    for (int row = 0; row < k / 16; ++row) {
        std::vector<int> line(n * 16), mixed(n * 16);
        for (int x = 0; x < n * 16; ++x) line[x] = q[(16 * row + x / 16 % 16) * n + x / 256 * 16 + x % 16];
        for (int x = 0; x < n * 16; ++x) mixed[x] = line[x / 1024 * 1024 + order[x % 1024]];
        for (int w = 0; w < n * 2; ++w) {
            unsigned word = 0;
            for (int i = 0; i < 8; ++i) word |= unsigned(mixed[8 * w + i]) << 4 * i;
            B[row * n * 2 + w] = int(word);
        }
    }
    for (int x = 0; x < groups * n; ++x) {
        const int single[8] = {0, 1, 8, 9, 16, 17, 24, 25};
        const int from = groupsize == -1 ? x / 32 * 32 + 2 * (x % 32 / 8) + single[x % 8]
                                         : x / 64 * 64 + x % 64 / 8 + 8 * (x % 8);
        S[x] = __float2half(scale[from]);
    }
    const int failed = marlin_cuda(A, B, C, S, m, n, k, workspace, groupsize ON_TWO_BLOCKS);
    const auto error = cudaGetLastError();
    if (failed || error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %d, %s\n", failed, cudaGetErrorString(error)), 1;
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0, size = 0;
            for (int x = 0; x < k; ++x) {
                const double s = scale[(groupsize == -1 ? 0 : x / groupsize) * n + j];
                const double p = a[i * k + x] * (q[x * n + j] - 8) * s;
                sum += p, size += std::fabs(p);
            }
            const double got = __half2float(C[i * n + j]);
            if (!(std::fabs(got - sum) <= size * 3e-3 + 1e-3) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("marlin m=%d n=%d k=%d group=%d: %d of %d wrong\n", m, n, k, groupsize, wrong, m * n);
    return wrong;
}

int main() {
    const int wrong = run(16, 256, 256, -1) + run(5, 128, 128, 128) + run(32, 256, 128, 128);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
