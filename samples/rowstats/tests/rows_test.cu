// Compares the kernels of rows.cu with plain loops. Ends with 0 when all is right.
#include <cmath>
#include <cstdio>
#include <vector>

#include "../src/rows.cu"

int main() {
    constexpr int kRows = 12, kColumns = 200;
    std::vector<float> host(kRows * kColumns);
    for (int i = 0; i < kRows * kColumns; ++i) host[i] = static_cast<float>(i * 7919 % 1000) / 1000.0f;
    for (int row = 0; row < kRows; row += 2) {  // outliers: alone, and two in one warp
        host[row * kColumns + 3] = 90.0f;
        host[row * kColumns + 9 + row] = -80.0f;
    }

    float* matrix;
    float2* moments;
    Outlier* found;
    int* count;
    CUDA_CHECK(cudaMalloc(&matrix, host.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&moments, kRows * sizeof(float2)));
    CUDA_CHECK(cudaMalloc(&found, host.size() * sizeof(Outlier)));
    CUDA_CHECK(cudaMalloc(&count, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(matrix, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(count, 0, sizeof(int)));
    row_moments(matrix, kRows, kColumns, moments, nullptr);
    find_outliers(matrix, kRows, kColumns, moments, 5.0f, found, count, nullptr);

    std::vector<float2> got(kRows);
    int outliers = 0;
    CUDA_CHECK(cudaMemcpy(got.data(), moments, kRows * sizeof(float2), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&outliers, count, sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0, wanted = 0;
    for (int row = 0; row < kRows; ++row) {
        double sum = 0, square = 0;
        for (int c = 0; c < kColumns; ++c) {
            const double v = host[row * kColumns + c];
            sum += v;
            square += v * v;
        }
        const double mean = sum / kColumns, variance = square / kColumns - mean * mean;
        for (int c = 0; c < kColumns; ++c) wanted += std::fabs(host[row * kColumns + c] - mean) > 5 * std::sqrt(variance);
        wrong += std::fabs(got[row].x - mean) > 1e-4 || std::fabs(got[row].y - variance) > 1e-2;
    }
    std::printf("%d of %d rows are wrong, %d outliers, %d expected\n", wrong, kRows, outliers, wanted);
    return wrong != 0 || outliers != wanted;
}
