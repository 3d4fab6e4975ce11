// ggml's product of small batches by tiles (mmf.cuh on mma.cuh), against sums in double. The headers that those two
// include are replaced by what they use of them: -DSOURCE="<path of mmf.cuh>", and common.cuh and convert.cuh beside it
// from ggml_common.cuh.
#include SOURCE
#include <cmath>
#include <cstdio>
#include <cstdlib>

template <typename T, int per> static int run(int rows, int columns, int k, const char* name) {
    constexpr int nwarps = 2;
    char *X;
    float *Y, *D;
    const int bytes = int(sizeof(T)) / per;  // of an element
    cudaMallocManaged(&X, rows * k * bytes), cudaMallocManaged(&Y, columns * k * sizeof(float));
    cudaMallocManaged(&D, rows * columns * sizeof(float));
    double* exact = new double[rows * k];
    for (int i = 0; i < rows * k; ++i) {
        const float x = std::rand() % 200 / 100.f - 1;
        if (per == 1) {
            reinterpret_cast<float*>(X)[i] = float(exact[i] = std::rand() % 64 / 64.0 - 0.5);
        } else if (sizeof(T) == sizeof(half2) && name[0] == 'h') {
            const half h = __float2half(x);
            reinterpret_cast<half*>(X)[i] = h, exact[i] = __half2float(h);
        } else {
            const nv_bfloat16 b = __float2bfloat16(x);
            reinterpret_cast<nv_bfloat16*>(X)[i] = b, exact[i] = __bfloat162float(b);
        }
    }
    for (int i = 0; i < columns * k; ++i) Y[i] = std::rand() % 64 / 64.f - 0.5f;  // exact in every format
    const int shared = int(sizeof(int)) * 2 * 16 * 36 * nwarps + 16 * (nwarps * 32 + 4) * 4;
    mul_mat_f<T, 32, 8, nwarps, false><<<rows / 32, dim3(32, nwarps), shared>>>(reinterpret_cast<const T*>(X), Y, nullptr,
        D, k / per, columns, 1, k / per, k / per, rows, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double sum = 0, size = 0;
            for (int x = 0; x < k; ++x) {
                const double p = exact[i * k + x] * Y[j * k + x];
                sum += p, size += std::fabs(p);
            }
            const double got = D[j * rows + i];
            if (!(std::fabs(got - sum) <= size * 1e-4 + 1e-5) && wrong++ < 5)
                std::printf("[%d][%d] is %g, not %g\n", i, j, got, sum);
        }
    std::printf("ggml %s %d x %d x %d: %d of %d wrong\n", name, rows, columns, k, wrong, rows * columns);
    return wrong;
}

int main() {
    const int wrong = run<half2, 2>(64, 8, 128, "half2") + run<nv_bfloat162, 2>(32, 8, 256, "bfloat162") +
                      run<float, 1>(32, 8, 64, "tf32");
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
