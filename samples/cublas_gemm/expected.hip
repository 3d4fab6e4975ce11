// C = alpha * A * B + beta * C with cuBLAS: in single precision, and from half with single-precision sums.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hipblas/hipblas.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define CUBLAS_CHECK(call)                                                                  \
    do {                                                                                    \
        const hipblasStatus_t status_ = (call);                                              \
        if (status_ != HIPBLAS_STATUS_SUCCESS) {                                             \
            std::fprintf(stderr, "%s:%d: cuBLAS status %d\n", __FILE__, __LINE__, status_); \
            std::exit(EXIT_FAILURE);                                                        \
        }                                                                                   \
    } while (0)

__global__ void to_half(const float* in, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(in[i]);
}

int main() {
    const int m = 64, n = 48, k = 32;  // column major, as in Fortran
    std::vector<float> a(m * k), b(k * n), want(m * n), got(m * n);
    for (size_t i = 0; i < a.size(); ++i) a[i] = float(i % 13) / 16.0f;
    for (size_t i = 0; i < b.size(); ++i) b[i] = float(i % 7) / 8.0f;
    for (int col = 0; col < n; ++col)
        for (int row = 0; row < m; ++row)
            for (int i = 0; i < k; ++i) want[col * m + row] += 2.0f * a[i * m + row] * b[col * k + i];

    float *dev_a, *dev_b, *dev_c;
    __half *half_a, *half_b;
    CUDA_CHECK(hipMalloc(&dev_a, a.size() * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_b, b.size() * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_c, want.size() * sizeof(float)));
    CUDA_CHECK(hipMalloc(&half_a, a.size() * sizeof(__half)));
    CUDA_CHECK(hipMalloc(&half_b, b.size() * sizeof(__half)));
    CUBLAS_CHECK(hipblasSetMatrix(m, k, sizeof(float), a.data(), m, dev_a, m));
    CUBLAS_CHECK(hipblasSetMatrix(k, n, sizeof(float), b.data(), k, dev_b, k));

    hipblasHandle_t handle;
    hipStream_t stream;
    CUDA_CHECK(hipStreamCreate(&stream));
    CUBLAS_CHECK(hipblasCreate(&handle));
    CUBLAS_CHECK(hipblasSetStream(handle, stream));
    CUBLAS_CHECK(hipblasSetPointerMode(handle, HIPBLAS_POINTER_MODE_HOST));
    CUBLAS_CHECK(hipblasSetMathMode(handle, HIPBLAS_DEFAULT_MATH));

    const float alpha = 2.0f, beta = 0.0f;
    CUBLAS_CHECK(hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, &alpha, dev_a, m, dev_b, k, &beta, dev_c, m));
    CUDA_CHECK(hipStreamSynchronize(stream));
    CUBLAS_CHECK(hipblasGetMatrix(m, n, sizeof(float), dev_c, m, got.data(), m));
    bool ok = true;
    for (size_t i = 0; i < want.size(); ++i) ok = ok && std::fabs(got[i] - want[i]) < 1e-4f;

    to_half<<<(m * k + 255) / 256, 256, 0, stream>>>(dev_a, half_a, m * k);
    to_half<<<(k * n + 255) / 256, 256, 0, stream>>>(dev_b, half_b, k * n);
    CUDA_CHECK(hipGetLastError());
    CUBLAS_CHECK(hipblasGemmEx(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, &alpha, half_a, HIP_R_16F, m, half_b,
                              HIP_R_16F, k, &beta, dev_c, HIP_R_32F, m, HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT));
    float norm = 0.0f;
    CUBLAS_CHECK(hipblasSnrm2(handle, m * n, dev_c, 1, &norm));
    CUDA_CHECK(hipStreamSynchronize(stream));
    CUBLAS_CHECK(hipblasGetMatrix(m, n, sizeof(float), dev_c, m, got.data(), m));
    for (size_t i = 0; i < want.size(); ++i) ok = ok && std::fabs(got[i] - want[i]) < 1e-2f;
    ok = ok && norm > 0.0f;

    CUBLAS_CHECK(hipblasDestroy(handle));
    CUDA_CHECK(hipStreamDestroy(stream));
    for (void* p : {(void*)dev_a, (void*)dev_b, (void*)dev_c, (void*)half_a, (void*)half_b}) CUDA_CHECK(hipFree(p));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
