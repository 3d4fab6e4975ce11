// cu2port ptx, the device: what lanes do together, fences, clocks and other special registers. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#pragma once

#include "warp.hpp"

#define CU2PORT_PTX_DEVICE __device__ inline __attribute__((always_inline))

namespace cu2port {
namespace ptx {

// --- shuffles with a clamp and segments of their own; c is ((32 - width) << 8) | clamp ----------------------------------

CU2PORT_PTX_DEVICE u32 shfl_last(u32 c) { return (warp::lane_id() & c >> 8 & 31) | (c & ~(c >> 8) & 31); }
CU2PORT_PTX_DEVICE u32 shfl_idx_from(u32 b, u32 c) { return (warp::lane_id() & c >> 8 & 31) | (b & ~(c >> 8) & 31); }
// Whether the lane that is asked for can be reached: the predicate that shfl may give.
CU2PORT_PTX_DEVICE bool shfl_up_reaches(u32 b, u32 c) { return s32(warp::lane_id() - b) >= s32(shfl_last(c)); }
CU2PORT_PTX_DEVICE bool shfl_down_reaches(u32 b, u32 c) { return warp::lane_id() + b <= shfl_last(c); }
CU2PORT_PTX_DEVICE bool shfl_bfly_reaches(u32 b, u32 c) { return (warp::lane_id() ^ b) <= shfl_last(c); }
CU2PORT_PTX_DEVICE bool shfl_idx_reaches(u32 b, u32 c) { return shfl_idx_from(b, c) <= shfl_last(c); }
// A lane out of reach leaves a lane its own value.
template <class T> CU2PORT_PTX_DEVICE T shfl_up(T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_up_reaches(b, c) ? warp::lane_id() - b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_down(T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_down_reaches(b, c) ? warp::lane_id() + b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_bfly(T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_bfly_reaches(b, c) ? warp::lane_id() ^ b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_idx(T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_idx_reaches(b, c) ? shfl_idx_from(b, c) : warp::lane_id()));
}

template <class T> CU2PORT_PTX_DEVICE u32 match_all(u32 mask, T value) {
    int same;
    return warp::match_all(mask, value, &same);
}

// --- fences ----------------------------------------------------------------------------------------------------------

#ifdef CU2PORT_SIMULATED
#define CU2PORT_PTX_FENCE(name, order, scope) CU2PORT_PTX_DEVICE void name() { __threadfence_system(); }
#else
#define CU2PORT_PTX_FENCE(name, order, scope) CU2PORT_PTX_DEVICE void name() { __builtin_amdgcn_fence(order, scope); }
#endif
#define CU2PORT_PTX_FENCES(name, order)                               \
    CU2PORT_PTX_FENCE(fence_##name##_cta, order, "workgroup")         \
    CU2PORT_PTX_FENCE(fence_##name##_cluster, order, "workgroup")     \
    CU2PORT_PTX_FENCE(fence_##name##_gpu, order, "agent")             \
    CU2PORT_PTX_FENCE(fence_##name##_sys, order, "")
CU2PORT_PTX_FENCES(sc, __ATOMIC_SEQ_CST)
CU2PORT_PTX_FENCES(acq_rel, __ATOMIC_ACQ_REL)
CU2PORT_PTX_FENCES(acquire, __ATOMIC_ACQUIRE)
CU2PORT_PTX_FENCES(release, __ATOMIC_RELEASE)
#undef CU2PORT_PTX_FENCES
#undef CU2PORT_PTX_FENCE

// --- special registers -----------------------------------------------------------------------------------------------

// Which warp of the block; threads count along x, then y, then z.
CU2PORT_PTX_DEVICE u32 warpid() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}
CU2PORT_PTX_DEVICE u32 smid() { return __smid(); }
// Ticks of the compute unit's clock.
CU2PORT_PTX_DEVICE u64 clock64() { return u64(::clock64()); }
// Nanoseconds, of a clock that counts in steps of ten.
CU2PORT_PTX_DEVICE u64 globaltimer() { return u64(::wall_clock64()) * 10; }

// Waits for about so many nanoseconds, at most twice as long.
CU2PORT_PTX_DEVICE void nanosleep(u32 nanoseconds) {
#ifdef CU2PORT_SIMULATED
    (void)nanoseconds;
    __builtin_amdgcn_s_sleep(1);
#else
    for (u32 left = nanoseconds / 32; left > 0; --left) __builtin_amdgcn_s_sleep(1);  // 64 ticks of a clock near 2 GHz
#endif
}

#if defined(__clang__)
CU2PORT_PTX_DEVICE void brkpt() { __builtin_debugtrap(); }
#else
CU2PORT_PTX_DEVICE void brkpt() { __builtin_trap(); }
#endif

#if defined(__HIP_DEVICE_COMPILE__) && !defined(CU2PORT_SIMULATED)
// Bytes of shared memory that the launch asked for: part of what the runtime passes to each kernel (code object 5 on).
CU2PORT_PTX_DEVICE u32 dynamic_smem_size() {
    return *(const u32*)((const CU2PORT_PTX_SPACE(4) char*)__builtin_amdgcn_implicitarg_ptr() + 120);
}
CU2PORT_PTX_DEVICE u32 total_smem_size() { return __builtin_amdgcn_groupstaticsize() + dynamic_smem_size(); }
#else
CU2PORT_PTX_DEVICE u32 dynamic_smem_size() { return 0; }
CU2PORT_PTX_DEVICE u32 total_smem_size() { return 0; }
#endif

}  // namespace ptx
}  // namespace cu2port

#undef CU2PORT_PTX_DEVICE
