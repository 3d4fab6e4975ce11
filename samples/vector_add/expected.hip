// Adds two vectors; the smallest complete CUDA program.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                      \
    do {                                                                                      \
        hipError_t err_ = (call);                                                            \
        if (err_ != hipSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                          \
        }                                                                                     \
    } while (0)

__global__ void add(const float* a, const float* b, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

int main() {
    const int n = 1 << 20;
    const size_t bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), sum(n);
    for (int i = 0; i < n; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(2 * i);
    }

    float *dev_a, *dev_b, *dev_sum;
    CUDA_CHECK(hipMalloc(&dev_a, bytes));
    CUDA_CHECK(hipMalloc(&dev_b, bytes));
    CUDA_CHECK(hipMalloc((void**)&dev_sum, bytes));
    CUDA_CHECK(hipMemcpy(dev_a, a.data(), bytes, hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpy(dev_b, b.data(), bytes, hipMemcpyHostToDevice));

    const int block = 256;
    add<<<(n + block - 1) / block, block>>>(dev_a, dev_b, dev_sum, n);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipDeviceSynchronize());
    CUDA_CHECK(hipMemcpy(sum.data(), dev_sum, bytes, hipMemcpyDeviceToHost));

    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += sum[i] != a[i] + b[i];

    CUDA_CHECK(hipFree(dev_a));
    CUDA_CHECK(hipFree(dev_b));
    CUDA_CHECK(hipFree(dev_sum));
    std::printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
