// y = a * x + y two halves at a time, and a dot product of bfloat16 numbers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_bf16.h>
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

__global__ void axpy(half a, const half2* x, half2* y, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const half2 sum = __hfma2(__half2half2(a), x[i], y[i]);
    // Halves overflow early: keep the result finite.
    const half limit = __float2half_rn(60000.0f);
    y[i] = __halves2half2(__hgt(__low2half(sum), limit) ? limit : __low2half(sum),
                          __hgt(__high2half(sum), limit) ? limit : __high2half(sum));
}

__global__ void dot(const __hip_bfloat16* x, const __hip_bfloat16* y, int n, float* result) {
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += __bfloat162float(x[i]) * __bfloat162float(y[i]);
    }
    atomicAdd(result, mine);
}

int main() {
    const int n = 1 << 16;
    std::vector<half2> x(n / 2), y(n / 2);
    std::vector<__hip_bfloat16> u(n), v(n);
    for (int i = 0; i < n / 2; ++i) {
        x[i] = __floats2half2_rn(float(i % 32), float(i % 16));
        y[i] = __float22half2_rn(make_float2(1.0f, 2.0f));
    }
    float want_dot = 0.0f;
    for (int i = 0; i < n; ++i) {
        u[i] = __float2bfloat16(float(i % 4));
        v[i] = __float2bfloat16(0.5f);
        want_dot += 0.5f * float(i % 4);
    }

    half2 *dev_x, *dev_y;
    __hip_bfloat16 *dev_u, *dev_v;
    float* dev_dot;
    CUDA_CHECK(hipMalloc(&dev_x, x.size() * sizeof(half2)));
    CUDA_CHECK(hipMalloc(&dev_y, y.size() * sizeof(half2)));
    CUDA_CHECK(hipMalloc(&dev_u, n * sizeof(__hip_bfloat16)));
    CUDA_CHECK(hipMalloc(&dev_v, n * sizeof(__hip_bfloat16)));
    CUDA_CHECK(hipMalloc(&dev_dot, sizeof(float)));
    CUDA_CHECK(hipMemcpy(dev_x, x.data(), x.size() * sizeof(half2), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpy(dev_y, y.data(), y.size() * sizeof(half2), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpy(dev_u, u.data(), n * sizeof(__hip_bfloat16), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpy(dev_v, v.data(), n * sizeof(__hip_bfloat16), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemset(dev_dot, 0, sizeof(float)));

    axpy<<<(n / 2 + 255) / 256, 256>>>(__float2half(3.0f), dev_x, dev_y, n / 2);
    dot<<<32, 256>>>(dev_u, dev_v, n, dev_dot);
    CUDA_CHECK(hipGetLastError());
    float got_dot = 0.0f;
    CUDA_CHECK(hipMemcpy(y.data(), dev_y, y.size() * sizeof(half2), hipMemcpyDeviceToHost));
    CUDA_CHECK(hipMemcpy(&got_dot, dev_dot, sizeof(float), hipMemcpyDeviceToHost));

    bool ok = std::fabs(got_dot - want_dot) < 1.0f;
    for (int i = 0; i < n / 2; ++i) {
        const float2 got = __half22float2(y[i]);
        ok = ok && got.x == 3.0f * (i % 32) + 1.0f && got.y == 3.0f * (i % 16) + 2.0f;
    }
    CUDA_CHECK(hipFree(dev_x));
    CUDA_CHECK(hipFree(dev_y));
    CUDA_CHECK(hipFree(dev_u));
    CUDA_CHECK(hipFree(dev_v));
    CUDA_CHECK(hipFree(dev_dot));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
