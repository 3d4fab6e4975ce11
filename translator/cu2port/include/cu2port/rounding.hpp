// cu2port rounding: CUDA's operations that round once, by themselves, where HIP's do not.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::fmul_rn` is CUDA's `__fmul_rn`, and so on. HIP's `__fmul_rn(a, b)` is `a * b`, which becomes part of an fma
// where it is added to something; these never do. HIP's `__fsqrt_rn` and `__frsqrt_rn` are approximations; these are
// the nearest numbers. (`__fsqrt_rn` is as exact as `sqrtf`, which some options of clang, such as -ffast-math, loosen.)
#ifndef CU2PORT_ROUNDING_HPP
#define CU2PORT_ROUNDING_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

#ifdef __clang__
#define CU2PORT_ROUNDING_ALONE _Pragma("clang fp contract(off)")
#else
#define CU2PORT_ROUNDING_ALONE
#endif
#define CU2PORT_ROUNDING(name, T, op) \
    __device__ inline T name(T a, T b) { CU2PORT_ROUNDING_ALONE return a op b; }

namespace cu2port {

CU2PORT_ROUNDING(fadd_rn, float, +)
CU2PORT_ROUNDING(fsub_rn, float, -)
CU2PORT_ROUNDING(fmul_rn, float, *)
CU2PORT_ROUNDING(dadd_rn, double, +)
CU2PORT_ROUNDING(dsub_rn, double, -)
CU2PORT_ROUNDING(dmul_rn, double, *)

__device__ inline float fsqrt_rn(float a) { return __builtin_sqrtf(a); }

// 1 / sqrt(a). v_rsq_f32 is off by at most one place, and takes subnormal numbers for 0; the error of its result is
// exact in double, and what a series of two terms makes of it rounds as the exact number does, for every float.
__device__ inline float frsqrt_rn(float a) {
#ifdef __AMDGCN__
    const bool is_small = __builtin_fabsf(a) < 1.17549435e-38f;
    const float scaled = is_small ? a * 16777216.0f : a, near = __builtin_amdgcn_rsqf(scaled);
    const double x = scaled, y = near, error = __builtin_fma(-(x * y), y, 1.0);
    const float exact = static_cast<float>(y + y * error * (0.5 + 0.375 * error));
    const float found = near > 0 && near < __builtin_huge_valf() ? exact : near;
    return is_small ? found * 4096.0f : found;
#else
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
#endif
}

}  // namespace cu2port

#undef CU2PORT_ROUNDING
#undef CU2PORT_ROUNDING_ALONE

}  // extern "C++"
#endif
#endif  // CU2PORT_ROUNDING_HPP
