// cu2port complex: CUDA's size and quotient of complex numbers, which do not overflow on the way.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::cabsf` is CUDA's `cuCabsf`, and so on. HIP's `hipCabs` and `hipCdiv` take squares: of numbers beyond 1.8e19
// in float and 1.3e154 in double they make infinities, and of those as small as their reciprocals zeros and NaN.
#ifndef CU2PORT_COMPLEX_HPP
#define CU2PORT_COMPLEX_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_complex.h>

namespace cu2port {

// The larger part, times the size of what is left: 1 and the ratio of both. Else a zero, an infinity or NaN.
#define CU2PORT_COMPLEX_ABS(name, C_, T, most, abs, root)                                  \
    __host__ __device__ inline T name(C_ z) {                                              \
        const T a = abs(z.x), b = abs(z.y);                                                \
        const T large = a > b ? a : b, small = a > b ? b : a, ratio = small / large;       \
        if (large == 0 || large > most || small > most) return large + small;              \
        return large * root(1 + ratio * ratio);                                            \
    }
CU2PORT_COMPLEX_ABS(cabsf, hipFloatComplex, float, 3.402823466e38f, __builtin_fabsf, __builtin_sqrtf)
CU2PORT_COMPLEX_ABS(cabs, hipDoubleComplex, double, 1.79769313486231571e308, __builtin_fabs, __builtin_sqrt)
#undef CU2PORT_COMPLEX_ABS

// Both numbers are divided by the sum of the sizes of the divisor's parts first.
#define CU2PORT_COMPLEX_DIV(name, C_, T, abs)                                              \
    __host__ __device__ inline C_ name(C_ p, C_ q) {                                       \
        const T scale = 1 / (abs(q.x) + abs(q.y));                                         \
        const T a = p.x * scale, b = p.y * scale, c = q.x * scale, d = q.y * scale;        \
        const T by = 1 / (c * c + d * d);                                                  \
        C_ out;                                                                            \
        out.x = (a * c + b * d) * by;                                                      \
        out.y = (b * c - a * d) * by;                                                      \
        return out;                                                                        \
    }
CU2PORT_COMPLEX_DIV(cdivf, hipFloatComplex, float, __builtin_fabsf)
CU2PORT_COMPLEX_DIV(cdiv, hipDoubleComplex, double, __builtin_fabs)
#undef CU2PORT_COMPLEX_DIV

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_COMPLEX_HPP
