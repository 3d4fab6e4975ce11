// Three small functions in inline PTX, each checked against plain C++.
#include <cstdint>
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

__device__ __forceinline__ unsigned int lane_id() {
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Bits [pos, pos + len) of x.
__device__ __forceinline__ uint32_t extract(uint32_t x, uint32_t pos, uint32_t len) {
    uint32_t bits;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(bits) : "r"(x), "r"(pos), "r"(len));
    return bits;
}

// The high word of a 64-bit sum: an add with carry out, then one with carry in.
__device__ __forceinline__ uint32_t add_high(uint32_t a_low, uint32_t a_high, uint32_t b_low, uint32_t b_high) {
    uint32_t high;
    asm volatile(
        "{\n\t"
        ".reg .u32 low;\n\t"
        "add.cc.u32 low, %1, %3;\n\t"
        "addc.u32 %0, %2, %4;\n\t"
        "}"
        : "=r"(high)
        : "r"(a_low), "r"(a_high), "r"(b_low), "r"(b_high));
    return high;
}

__device__ __forceinline__ int load_once(const int* p) {
    int value;
    asm volatile("ld.global.cs.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__global__ void run(const int* in, uint32_t* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t x = uint32_t(load_once(in + i));
    out[i] = extract(x, 4, 8) + add_high(x, 1u, 0xffffffffu, 2u) + lane_id();
}

int main() {
    const int n = 1024;
    std::vector<int> in(n);
    std::vector<uint32_t> out(n);
    for (int i = 0; i < n; ++i) in[i] = i * 40503;

    int* dev_in;
    uint32_t* dev_out;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(int)));
    CUDA_CHECK(hipMalloc(&dev_out, n * sizeof(uint32_t)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
    run<<<n / 128, 128>>>(dev_in, dev_out, n);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipMemcpy(out.data(), dev_out, n * sizeof(uint32_t), hipMemcpyDeviceToHost));

    bool ok = true;
    for (int i = 0; i < n; ++i) {
        const uint32_t x = uint32_t(in[i]);
        const uint64_t sum = ((uint64_t(1) << 32) | x) + ((uint64_t(2) << 32) | 0xffffffffu);
        ok = ok && out[i] == ((x >> 4) & 0xffu) + uint32_t(sum >> 32) + uint32_t(i % 32);
    }
    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(dev_out));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
