// cu2port host_math: functions of CUDA's math library that HIP has for the device alone, for both sides; and those that
// HIP has for double alone, for float too.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#ifndef CU2PORT_HOST_MATH_HPP
#define CU2PORT_HOST_MATH_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <cmath>
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#define CU2PORT_MATH __host__ __device__ inline
#else
#define CU2PORT_MATH inline
#endif

namespace cu2port {
namespace math {

// sin(pi x + quarter turns): the quarters of x are taken off before they are rounded by pi.
inline double sine_of_pi(double x, int quarters) {
    int q = 0;
    const double rest = 3.14159265358979323846 * std::remquo(x, 0.5, &q);
    switch ((q + quarters) & 3) {
        case 0: return std::sin(rest);
        case 1: return std::cos(rest);
        case 2: return -std::sin(rest);
        default: return -std::cos(rest);
    }
}
inline double length(double a, double b, double c, double d = 0) {
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
}

}  // namespace math

// `name` for double and float, and `name` with an f: what the device calls, and what the host computes in double.
#ifdef __HIP_DEVICE_COMPILE__
#define CU2PORT_MATH_BODY(device, host) return device;
#else
#define CU2PORT_MATH_BODY(device, host) return host;
#endif
#define CU2PORT_MATH_1(name, value)                                                                   \
    CU2PORT_MATH double name(double a) { CU2PORT_MATH_BODY(::name(a), value) }                        \
    CU2PORT_MATH float name##f(float a) { CU2PORT_MATH_BODY(::name##f(a), static_cast<float>(value)) } \
    CU2PORT_MATH float name(float a) { return cu2port::name##f(a); }
#define CU2PORT_MATH_N(name, parameters, float_parameters, arguments, value)                                       \
    CU2PORT_MATH double name parameters { CU2PORT_MATH_BODY(::name arguments, value) }                             \
    CU2PORT_MATH float name##f float_parameters { CU2PORT_MATH_BODY(::name##f arguments, static_cast<float>(value)) } \
    CU2PORT_MATH float name float_parameters { return cu2port::name##f arguments; }

CU2PORT_MATH_1(rsqrt, 1 / std::sqrt(static_cast<double>(a)))
CU2PORT_MATH_1(rcbrt, 1 / std::cbrt(static_cast<double>(a)))
CU2PORT_MATH_1(sinpi, math::sine_of_pi(a, 0))
CU2PORT_MATH_1(cospi, math::sine_of_pi(a, 1))
CU2PORT_MATH_1(normcdf, 0.5 * std::erfc(a * -0.70710678118654752440))
CU2PORT_MATH_N(rhypot, (double a, double b), (float a, float b), (a, b), 1 / math::length(a, b, 0))
CU2PORT_MATH_N(norm3d, (double a, double b, double c), (float a, float b, float c), (a, b, c), math::length(a, b, c))
CU2PORT_MATH_N(rnorm3d, (double a, double b, double c), (float a, float b, float c), (a, b, c),
               1 / math::length(a, b, c))
CU2PORT_MATH_N(norm4d, (double a, double b, double c, double d), (float a, float b, float c, float d), (a, b, c, d),
               math::length(a, b, c, d))
CU2PORT_MATH_N(rnorm4d, (double a, double b, double c, double d), (float a, float b, float c, float d), (a, b, c, d),
               1 / math::length(a, b, c, d))
CU2PORT_MATH float fdividef(float a, float b) { CU2PORT_MATH_BODY(::fdividef(a, b), a / b) }

CU2PORT_MATH void sincospi(double a, double* sine, double* cosine) { *sine = sinpi(a), *cosine = cospi(a); }
CU2PORT_MATH void sincospif(float a, float* sine, float* cosine) { *sine = sinpif(a), *cosine = cospif(a); }
CU2PORT_MATH void sincospi(float a, float* sine, float* cosine) { cu2port::sincospif(a, sine, cosine); }
CU2PORT_MATH void sincos(double a, double* sine, double* cosine) {
    CU2PORT_MATH_BODY(::sincos(a, sine, cosine), static_cast<void>((*sine = std::sin(a), *cosine = std::cos(a))))
}
CU2PORT_MATH void sincos(float a, float* sine, float* cosine) {
    CU2PORT_MATH_BODY(::sincosf(a, sine, cosine), static_cast<void>((*sine = std::sin(a), *cosine = std::cos(a))))
}

#ifdef __HIPCC__
// For the device alone; an integer is as ambiguous as it is in CUDA.
#define CU2PORT_MATH_OF_FLOAT(name)                                     \
    __device__ inline double name(double a) { return ::name(a); }       \
    __device__ inline float name(float a) { return ::name##f(a); }
#define CU2PORT_MATH_OF_ORDER(name)                                               \
    __device__ inline double name(int n, double a) { return ::name(n, a); }       \
    __device__ inline float name(int n, float a) { return ::name##f(n, a); }
CU2PORT_MATH_OF_FLOAT(exp10)
CU2PORT_MATH_OF_FLOAT(erfinv)
CU2PORT_MATH_OF_FLOAT(erfcinv)
CU2PORT_MATH_OF_FLOAT(erfcx)
CU2PORT_MATH_OF_FLOAT(normcdfinv)
CU2PORT_MATH_OF_FLOAT(j0)
CU2PORT_MATH_OF_FLOAT(j1)
CU2PORT_MATH_OF_FLOAT(y0)
CU2PORT_MATH_OF_FLOAT(y1)
CU2PORT_MATH_OF_FLOAT(cyl_bessel_i0)
CU2PORT_MATH_OF_FLOAT(cyl_bessel_i1)
CU2PORT_MATH_OF_ORDER(jn)
CU2PORT_MATH_OF_ORDER(yn)
#undef CU2PORT_MATH_OF_FLOAT
#undef CU2PORT_MATH_OF_ORDER
#endif

#undef CU2PORT_MATH_N
#undef CU2PORT_MATH_1
#undef CU2PORT_MATH_BODY
#undef CU2PORT_MATH

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_HOST_MATH_HPP
