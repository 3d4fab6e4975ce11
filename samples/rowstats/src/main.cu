#include <cstdio>
#include <vector>

#include <cublas_v2.h>

#include "check.cuh"
#include "rows.cuh"

void covariance(cublasHandle_t handle, const float* matrix, int rows, int columns, float* result);

int main() {
    constexpr int kRows = 4096, kColumns = 512;
    cudaDeviceProp properties;
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s\n", properties.name);

    std::vector<float> host(size_t{kRows} * kColumns);
    for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 101) - 50.0f;

    float *matrix, *product;
    float2* moments;
    CUDA_CHECK(cudaMalloc(&matrix, host.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&product, kColumns * kColumns * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&moments, kRows * sizeof(float2)));
    CUDA_CHECK(cudaMemcpy(matrix, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));

    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    row_moments(matrix, kRows, kColumns, moments, stream);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    covariance(handle, matrix, kRows, kColumns, product);
    CUDA_CHECK(cudaStreamSynchronize(stream));

    float first[2];
    CUDA_CHECK(cudaMemcpy(first, moments, sizeof(first), cudaMemcpyDeviceToHost));
    std::printf("row 0: mean %g, variance %g\n", first[0], first[1]);
    cublasDestroy(handle);
    CUDA_CHECK(cudaFree(matrix));
    CUDA_CHECK(cudaFree(product));
    CUDA_CHECK(cudaFree(moments));
}
