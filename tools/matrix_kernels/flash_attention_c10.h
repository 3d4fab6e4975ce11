// What flash-attention's kernels use of torch's headers.
#ifndef FLASH_ATTENTION_C10
#define FLASH_ATTENTION_C10
#include <cstdint>
#include <tuple>
#define C10_CUDA_CHECK(x) (void)(x)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() (void)0
namespace at {
struct PhiloxCudaState {
    std::uint64_t seed, offset;
};
namespace cuda::philox {
__host__ __device__ inline std::tuple<std::uint64_t, std::uint64_t> unpack(PhiloxCudaState s) {
    return {s.seed, s.offset};
}
}  // namespace cuda::philox
}  // namespace at
#endif
