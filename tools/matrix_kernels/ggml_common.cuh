// What ggml's mma.cuh and mmf.cuh use of its common.cuh and convert.cuh, for GPUs with Turing's and Ampere's products.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#define TURING_MMA_AVAILABLE
#define AMPERE_MMA_AVAILABLE
#define WARP_SIZE 32
#define GGML_CUDA_CC_AMPERE 800
#define GGML_CUDA_CC_IS_CDNA(cc) false
#define GGML_PAD(x, n) (((x) + (n)-1) & ~((n)-1))
#define GGML_UNUSED(x) (void)(x)
#define NO_DEVICE_CODE __trap()
#define GGML_ASSERT(x) (void)(x)
#define GGML_ABORT(...) (void)0
#define CUDA_CHECK(x) (void)(x)
template <class... T> __host__ __device__ constexpr void ggml_unused_vars_impl(T&&...) {}
#define GGML_UNUSED_VARS(...) ggml_unused_vars_impl(__VA_ARGS__)
enum ggml_type { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_MXFP4, GGML_TYPE_NVFP4 };
struct ggml_tensor;
struct ggml_backend_cuda_context;
constexpr __host__ __device__ int ggml_cuda_get_physical_warp_size() { return 32; }
constexpr __device__ int ggml_cuda_get_max_cpy_bytes() { return 16; }
template <int bytes> __device__ void ggml_cuda_memcpy_1(void* to, const void* from) { memcpy(to, from, bytes); }
template <class T, class F> __device__ T ggml_cuda_cast(F x) {
    if constexpr (std::is_same_v<T, half2>) {
        return __floats2half2_rn(x.x, x.y);
    } else if constexpr (std::is_same_v<T, nv_bfloat162>) {
        return __floats2bfloat162_rn(x.x, x.y);
    } else {
        return T(x);
    }
}
