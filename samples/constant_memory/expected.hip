// A 1-D stencil whose weights, settings and label live in constant memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

struct Settings {
    float scale;
    int clamp;
};

constexpr int kRadius = 2;
__constant__ float weights[2 * kRadius + 1];
__constant__ Settings settings;
__constant__ char label[16];
__device__ unsigned int clamped;

__global__ void stencil(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int d = -kRadius; d <= kRadius; ++d) {
        int j = i + d;
        if (j < 0 || j >= n) {
            atomicAdd(&clamped, 1u);
            j = settings.clamp ? min(max(j, 0), n - 1) : i;
        }
        sum += weights[d + kRadius] * in[j];
    }
    out[i] = label[0] == 's' ? settings.scale * sum : 0.0f;
}

int main() {
    const int n = 4096;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = std::sin(0.01f * i);

    const float outer[] = {0.1f, 0.2f};
    const float center = 0.4f;
    const Settings host_settings = {2.0f, 1};
    const char host_label[16] = "stencil";
    const unsigned int zero = 0;
    CUDA_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), outer, sizeof(outer)));
    CUDA_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), &center, sizeof(float), 2 * sizeof(float)));
    const float mirrored[] = {outer[1], outer[0]};
    CUDA_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), mirrored, sizeof(mirrored), 3 * sizeof(float), hipMemcpyHostToDevice));
    CUDA_CHECK(hipMemcpyToSymbolAsync(HIP_SYMBOL(settings), &host_settings, sizeof(Settings), 0, hipMemcpyHostToDevice, 0));
    CUDA_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(label), host_label, std::strlen(host_label) + 1));
    CUDA_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(clamped), &zero, sizeof(zero)));

    size_t weight_bytes = 0;
    void* label_address = nullptr;
    CUDA_CHECK(hipGetSymbolSize(&weight_bytes, HIP_SYMBOL(weights)));
    CUDA_CHECK(hipGetSymbolAddress(&label_address, HIP_SYMBOL(label)));
    hipFuncAttributes attributes;
    CUDA_CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(stencil)));
    bool ok = weight_bytes == sizeof(weights) && label_address && attributes.maxThreadsPerBlock >= 256;

    float *dev_in, *dev_out;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_out, n * sizeof(float)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(float), hipMemcpyHostToDevice));
    stencil<<<n / 256, 256>>>(dev_in, dev_out, n);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipMemcpy(out.data(), dev_out, n * sizeof(float), hipMemcpyDeviceToHost));
    unsigned int host_clamped = 0;
    CUDA_CHECK(hipMemcpyFromSymbol(&host_clamped, HIP_SYMBOL(clamped), sizeof(host_clamped)));

    for (int i = kRadius; i < n - kRadius; ++i) {
        const float want = 2.0f * (0.1f * (in[i - 2] + in[i + 2]) + 0.2f * (in[i - 1] + in[i + 1]) + 0.4f * in[i]);
        ok = ok && std::fabs(out[i] - want) < 1e-5f;
    }
    ok = ok && host_clamped == 2 * (2 + 1);
    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(dev_out));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
