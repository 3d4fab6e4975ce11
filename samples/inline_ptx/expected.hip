// Three small functions in inline PTX, each checked against plain C++.
#include "cu2port/ptx.hpp"
#include "cu2port/warp.hpp"
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
    lane = cu2port::warp::lane_id();
    return lane;
}

// Bits [pos, pos + len) of x.
__device__ __forceinline__ uint32_t extract(uint32_t x, uint32_t pos, uint32_t len) {
    uint32_t bits;
    bits = cu2port::ptx::bfe_u32(x, pos, len);
    return bits;
}

// The high word of a 64-bit sum: an add with carry out, then one with carry in.
__device__ __forceinline__ uint32_t add_high(uint32_t a_low, uint32_t a_high, uint32_t b_low, uint32_t b_high) {
    uint32_t high;
    {
        bool carry;
        std::uint32_t low = cu2port::ptx::add_cc<std::uint32_t>(a_low, b_low, carry);
        high = a_high + b_high + std::uint32_t(carry);
    }
    return high;
}

__device__ __forceinline__ int load_once(const int* p) {
    int value;
    asm volatile("" ::: "memory");
    value = cu2port::ptx::ld_global_cs<std::int32_t>(p);
    asm volatile("" ::: "memory");
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
