// cu2port solo: kernels that run with one of CUDA's warps on each wavefront, whatever its size.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// Two warps that share a wavefront of 64 lanes cannot wait for each other. Alone on its wavefront a warp can: such a
// kernel is launched with twice the threads, the upper 32 lanes of each wavefront return at once, and the others count
// themselves as CUDA does. On wavefronts of 32 lanes nothing is different.
#ifndef CU2PORT_SOLO_HPP
#define CU2PORT_SOLO_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <cstdio>

#include <hip/hip_runtime.h>

#define CU2PORT_SOLO __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace solo {
namespace detail {

// A number along x of threads that are there, made from one of lanes, of which the lower half counts.
CU2PORT_SOLO unsigned counted(unsigned x) {
    return __builtin_amdgcn_wavefrontsize() == 64 ? (x >> 6 << 5) + (x & 31u) : x;
}

}  // namespace detail

/// Whether this lane is no thread of CUDA's. A kernel starts with `if (cu2port::solo::idle()) return;`.
CU2PORT_SOLO bool idle() { return __builtin_amdgcn_wavefrontsize() == 64 && (threadIdx.x & 32u) != 0; }

/// CUDA's `threadIdx` and `blockDim`.
CU2PORT_SOLO uint3 thread_idx() { return make_uint3(detail::counted(threadIdx.x), threadIdx.y, threadIdx.z); }
CU2PORT_SOLO dim3 block_dim() { return dim3(detail::counted(blockDim.x), blockDim.y, blockDim.z); }

namespace detail {

// This thread's number in CUDA's block, and how many there are.
CU2PORT_SOLO unsigned rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * counted(blockDim.x) + counted(threadIdx.x);
}
CU2PORT_SOLO unsigned threads() { return counted(blockDim.x) * blockDim.y * blockDim.z; }

}  // namespace detail

/// What PTX reads from `%warpid`.
CU2PORT_SOLO unsigned warp_id() { return detail::rank() / 32; }

/// The block to launch for a block of CUDA's. Rows of threads must be whole warps, unless there is just one row; a
/// block has at most 512 threads where wavefronts have 64 lanes. Else the launch fails: with an empty block, or too
/// large a one.
inline dim3 block(dim3 asked) {
    int device = 0, lanes = 0;
    if (hipGetDevice(&device) != hipSuccess ||
        hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, device) != hipSuccess || lanes != 64)
        return asked;
    const unsigned rest = asked.x % 32, rows = asked.y * asked.z, x = (asked.x - rest) * 2 + rest;
    if (rest != 0 && rows != 1) {
        std::fprintf(stderr, "cu2port/solo.hpp: rows of %u threads are no whole warps\n", unsigned(asked.x));
        return dim3(0, 0, 0);
    }
    if (x * rows > 1024)
        std::fprintf(stderr, "cu2port/solo.hpp: a block of %u threads; 512 fit\n", unsigned(asked.x * rows));
    return dim3(x, asked.y, asked.z);
}

}  // namespace solo
}  // namespace cu2port

#undef CU2PORT_SOLO

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_SOLO_HPP
