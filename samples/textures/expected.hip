// Halves an image with a texture object: linear filter, clamped edges, normalised coordinates.
#include <cmath>
#include <cstdio>
#include <cstdlib>
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

__global__ void halve(hipTextureObject_t image, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    // The middle of four texels: the filter returns their mean.
    out[y * width + x] = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
}

int main() {
    const int width = 128, height = 64;
    std::vector<float> image(width * height);
    for (int i = 0; i < width * height; ++i) image[i] = float((i * 7) % 256);

    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray_t array;
    CUDA_CHECK(hipMallocArray(&array, &format, width, height));
    CUDA_CHECK(hipMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                                   hipMemcpyHostToDevice));

    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipTextureDesc sampler = {};
    sampler.addressMode[0] = hipAddressModeClamp;
    sampler.addressMode[1] = hipAddressModeClamp;
    sampler.filterMode = hipFilterModeLinear;
    sampler.readMode = hipReadModeElementType;
    sampler.normalizedCoords = 1;
    hipTextureObject_t texture = 0;
    CUDA_CHECK(hipCreateTextureObject(&texture, &resource, &sampler, nullptr));

    const int out_width = width / 2, out_height = height / 2;
    float* dev_out;
    CUDA_CHECK(hipMalloc(&dev_out, out_width * out_height * sizeof(float)));
    dim3 block(16, 16);
    dim3 grid((out_width + block.x - 1) / block.x, (out_height + block.y - 1) / block.y);
    halve<<<grid, block>>>(texture, dev_out, out_width, out_height);
    CUDA_CHECK(hipGetLastError());

    std::vector<float> out(out_width * out_height);
    CUDA_CHECK(hipMemcpy(out.data(), dev_out, out.size() * sizeof(float), hipMemcpyDeviceToHost));
    bool ok = true;
    for (int y = 0; y < out_height; ++y) {
        for (int x = 0; x < out_width; ++x) {
            const float* at = &image[2 * y * width + 2 * x];
            const float mean = 0.25f * (at[0] + at[1] + at[width] + at[width + 1]);
            ok = ok && std::fabs(out[y * out_width + x] - mean) < 1.0f;  // the filter's weights have 8 bits
        }
    }

    CUDA_CHECK(hipDestroyTextureObject(texture));
    CUDA_CHECK(hipFreeArray(array));
    CUDA_CHECK(hipFree(dev_out));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
