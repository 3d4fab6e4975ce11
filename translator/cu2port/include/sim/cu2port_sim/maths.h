// Device math: what the C library lacks, integer and conversion intrinsics. Rounding is to nearest unless named.
#pragma once

#include <math.h>

#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core.h"

namespace cu2port_sim {

template <class To, class From>
To as(From v) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To out;
    std::memcpy(&out, &v, sizeof out);
    return out;
}

// Float to integer as the GPU does it: NaN is 0, what does not fit becomes the nearest end.
template <class To, class From>
To clamp_to(From v) {
    if (v != v) return 0;
    if (v <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (v >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(v);
}

// An operation under another rounding mode. Operands go through volatiles, or the compiler would fold them.
template <int mode, class T, class F>
T rounded(T a, T b, F f) {
    const int before = std::fegetround();
    std::fesetround(mode);
    volatile T x = a, y = b;
    volatile T out = f(x, y);
    std::fesetround(before);
    return out;
}

template <int mode, class To, class From>
To convert(From v) {
    const int before = std::fegetround();
    std::fesetround(mode);
    volatile From x = v;
    volatile To out = static_cast<To>(x);
    std::fesetround(before);
    return out;
}

inline double normal_quantile(double p) {  // Newton on erfc
    if (!(p > 0) || !(p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    double x = 0;
    for (int i = 0; i < 100; ++i) {
        const double f = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
        const double slope = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
        double step = f / (slope > 1e-300 ? slope : 1e-300);
        step = step > 1 ? 1 : step < -1 ? -1 : step;
        x -= step;
        if (std::fabs(step) < 1e-16 * (1 + std::fabs(x))) break;
    }
    return x;
}

}  // namespace cu2port_sim

// --- floating point ----------------------------------------------------------------------------------------------

#define CU2PORT_SIM_ONE(name, T, expression) inline T name(T x) { return expression; }
#define CU2PORT_SIM_TWO(name, T, expression) inline T name(T x, T y) { return expression; }

CU2PORT_SIM_ONE(rsqrt, double, 1 / std::sqrt(x))
CU2PORT_SIM_ONE(rsqrtf, float, 1 / std::sqrt(x))
CU2PORT_SIM_ONE(rcbrt, double, 1 / std::cbrt(x))
CU2PORT_SIM_ONE(rcbrtf, float, 1 / std::cbrt(x))
CU2PORT_SIM_ONE(sinpi, double, std::sin(M_PI * std::fmod(x, 2.0)))
CU2PORT_SIM_ONE(sinpif, float, static_cast<float>(std::sin(M_PI * std::fmod(static_cast<double>(x), 2.0))))
CU2PORT_SIM_ONE(cospi, double, std::cos(M_PI * std::fmod(x, 2.0)))
CU2PORT_SIM_ONE(cospif, float, static_cast<float>(std::cos(M_PI * std::fmod(static_cast<double>(x), 2.0))))
CU2PORT_SIM_ONE(normcdf, double, 0.5 * std::erfc(-x / std::sqrt(2.0)))
CU2PORT_SIM_ONE(normcdff, float, static_cast<float>(0.5 * std::erfc(-x / std::sqrt(2.0))))
CU2PORT_SIM_ONE(normcdfinv, double, cu2port_sim::normal_quantile(x))
CU2PORT_SIM_ONE(normcdfinvf, float, static_cast<float>(cu2port_sim::normal_quantile(x)))
CU2PORT_SIM_ONE(erfinv, double, cu2port_sim::normal_quantile((x + 1) / 2) / std::sqrt(2.0))
CU2PORT_SIM_ONE(erfinvf, float, static_cast<float>(cu2port_sim::normal_quantile((x + 1.0) / 2) / std::sqrt(2.0)))
CU2PORT_SIM_ONE(erfcinv, double, -cu2port_sim::normal_quantile(x / 2) / std::sqrt(2.0))
CU2PORT_SIM_ONE(erfcinvf, float, static_cast<float>(-cu2port_sim::normal_quantile(x / 2.0) / std::sqrt(2.0)))
CU2PORT_SIM_ONE(erfcx, double, std::exp(x * x) * std::erfc(x))
CU2PORT_SIM_ONE(erfcxf, float, static_cast<float>(std::exp(static_cast<double>(x) * x) * std::erfc(static_cast<double>(x))))
CU2PORT_SIM_ONE(__saturatef, float, x < 0 ? 0.f : x > 1 ? 1.f : x == x ? x : 0.f)
CU2PORT_SIM_ONE(__expf, float, std::exp(x))
CU2PORT_SIM_ONE(__exp10f, float, std::pow(10.f, x))
CU2PORT_SIM_ONE(__exp2f, float, std::exp2(x))
CU2PORT_SIM_ONE(__log2f, float, std::log2(x))
CU2PORT_SIM_ONE(__log10f, float, std::log10(x))
CU2PORT_SIM_ONE(__logf, float, std::log(x))
CU2PORT_SIM_ONE(__sinf, float, std::sin(x))
CU2PORT_SIM_ONE(__cosf, float, std::cos(x))
CU2PORT_SIM_ONE(__tanf, float, std::tan(x))
CU2PORT_SIM_ONE(__frcp_rn, float, 1 / x)
CU2PORT_SIM_ONE(__fsqrt_rn, float, std::sqrt(x))
CU2PORT_SIM_ONE(__frsqrt_rn, float, static_cast<float>(1 / std::sqrt(static_cast<double>(x))))
CU2PORT_SIM_ONE(__drcp_rn, double, 1 / x)
CU2PORT_SIM_ONE(__dsqrt_rn, double, std::sqrt(x))
CU2PORT_SIM_TWO(__powf, float, std::pow(x, y))
CU2PORT_SIM_TWO(__fdividef, float, x / y)
CU2PORT_SIM_TWO(fdividef, float, x / y)
CU2PORT_SIM_TWO(__fdiv_rn, float, x / y)
CU2PORT_SIM_TWO(__fadd_rn, float, x + y)
CU2PORT_SIM_TWO(__fsub_rn, float, x - y)
CU2PORT_SIM_TWO(__fmul_rn, float, x * y)
CU2PORT_SIM_TWO(__dadd_rn, double, x + y)
CU2PORT_SIM_TWO(__dsub_rn, double, x - y)
CU2PORT_SIM_TWO(__dmul_rn, double, x * y)
CU2PORT_SIM_TWO(__ddiv_rn, double, x / y)
CU2PORT_SIM_TWO(rhypot, double, 1 / std::hypot(x, y))
CU2PORT_SIM_TWO(rhypotf, float, 1 / std::hypot(x, y))
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }
inline float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
inline float norm4df(float a, float b, float c, float d) { return std::sqrt(a * a + b * b + c * c + d * d); }
inline float rnorm4df(float a, float b, float c, float d) { return 1 / norm4df(a, b, c, d); }
inline double norm3d(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return std::sqrt(a * a + b * b + c * c + d * d); }
// By its power series, whose terms are all positive: not every C++ library has std::cyl_bessel_i.
inline double cu2port_sim_bessel_i(int order, double x) {
    const double q = x * x / 4;
    double term = order == 0 ? 1 : std::fabs(x) / 2, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
        term *= q / (static_cast<double>(k) * (k + order));
        sum += term;
    }
    return sum;
}
inline double cyl_bessel_i0(double x) { return cu2port_sim_bessel_i(0, x); }
inline float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(x)); }
inline double cyl_bessel_i1(double x) { return std::copysign(cu2port_sim_bessel_i(1, x), x); }
inline float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(x)); }
inline double norm(int n, const double* v) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += v[i] * v[i];
    return std::sqrt(sum);
}
inline float normf(int n, const float* v) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += v[i] * v[i];
    return std::sqrt(sum);
}
inline double rnorm(int n, const double* v) { return 1 / norm(n, v); }
inline float rnormf(int n, const float* v) { return 1 / normf(n, v); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
#undef CU2PORT_SIM_ONE
#undef CU2PORT_SIM_TWO

#define CU2PORT_SIM_ROUND(suffix, mode)                                                                             \
    inline float __fadd_##suffix(float a, float b) {                                                                \
        return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x + y; });                            \
    }                                                                                                               \
    inline float __fsub_##suffix(float a, float b) {                                                                \
        return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x - y; });                            \
    }                                                                                                               \
    inline float __fmul_##suffix(float a, float b) {                                                                \
        return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x * y; });                            \
    }                                                                                                               \
    inline float __fdiv_##suffix(float a, float b) {                                                                \
        return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x / y; });                            \
    }                                                                                                               \
    inline double __dadd_##suffix(double a, double b) {                                                             \
        return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x + y; });                          \
    }                                                                                                               \
    inline double __dsub_##suffix(double a, double b) {                                                             \
        return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x - y; });                          \
    }                                                                                                               \
    inline double __dmul_##suffix(double a, double b) {                                                             \
        return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x * y; });                          \
    }                                                                                                               \
    inline double __ddiv_##suffix(double a, double b) {                                                             \
        return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x / y; });                          \
    }                                                                                                               \
    inline float __fsqrt_##suffix(float a) {                                                                        \
        return cu2port_sim::rounded<mode>(a, a, [](float x, float) { return std::sqrt(x); });                       \
    }                                                                                                               \
    inline float __frcp_##suffix(float a) { return __fdiv_##suffix(1.f, a); }                                       \
    inline float __double2float_##suffix(double a) { return cu2port_sim::convert<mode, float>(a); }                 \
    inline float __int2float_##suffix(int a) { return cu2port_sim::convert<mode, float>(a); }                       \
    inline float __uint2float_##suffix(unsigned a) { return cu2port_sim::convert<mode, float>(a); }                 \
    inline float __ll2float_##suffix(long long a) { return cu2port_sim::convert<mode, float>(a); }                  \
    inline float __ull2float_##suffix(unsigned long long a) { return cu2port_sim::convert<mode, float>(a); }        \
    inline double __ll2double_##suffix(long long a) { return cu2port_sim::convert<mode, double>(a); }               \
    inline double __ull2double_##suffix(unsigned long long a) { return cu2port_sim::convert<mode, double>(a); }
// The same under the names of ROCm's device library: towards plus and minus infinity and zero.
#define CU2PORT_SIM_OCML(suffix, mode)                                                                              \
    inline float __ocml_add_##suffix##_f32(float a, float b) { return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x + y; }); } \
    inline float __ocml_sub_##suffix##_f32(float a, float b) { return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x - y; }); } \
    inline float __ocml_mul_##suffix##_f32(float a, float b) { return cu2port_sim::rounded<mode>(a, b, [](float x, float y) { return x * y; }); } \
    inline double __ocml_add_##suffix##_f64(double a, double b) { return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x + y; }); } \
    inline double __ocml_sub_##suffix##_f64(double a, double b) { return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x - y; }); } \
    inline double __ocml_mul_##suffix##_f64(double a, double b) { return cu2port_sim::rounded<mode>(a, b, [](double x, double y) { return x * y; }); } \
    inline float __ocml_fma_##suffix##_f32(float a, float b, float c) { return cu2port_sim::rounded<mode>(a, b, [c](float x, float y) { return std::fma(x, y, c); }); } \
    inline double __ocml_fma_##suffix##_f64(double a, double b, double c) { return cu2port_sim::rounded<mode>(a, b, [c](double x, double y) { return std::fma(x, y, c); }); }
CU2PORT_SIM_OCML(rtp, FE_UPWARD)
CU2PORT_SIM_OCML(rtn, FE_DOWNWARD)
CU2PORT_SIM_OCML(rtz, FE_TOWARDZERO)
#undef CU2PORT_SIM_OCML
CU2PORT_SIM_ROUND(ru, FE_UPWARD)
CU2PORT_SIM_ROUND(rd, FE_DOWNWARD)
CU2PORT_SIM_ROUND(rz, FE_TOWARDZERO)
#undef CU2PORT_SIM_ROUND
inline float __double2float_rn(double a) { return static_cast<float>(a); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline float __ll2float_rn(long long a) { return static_cast<float>(a); }
inline float __ull2float_rn(unsigned long long a) { return static_cast<float>(a); }
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }
inline double __ll2double_rn(long long a) { return static_cast<double>(a); }
inline double __ull2double_rn(unsigned long long a) { return static_cast<double>(a); }

#define CU2PORT_SIM_TO(from, F, name, T)                                                                            \
    inline T __##from##2##name##_rn(F v) { return cu2port_sim::clamp_to<T>(std::nearbyint(v)); }                    \
    inline T __##from##2##name##_rz(F v) { return cu2port_sim::clamp_to<T>(std::trunc(v)); }                        \
    inline T __##from##2##name##_ru(F v) { return cu2port_sim::clamp_to<T>(std::ceil(v)); }                         \
    inline T __##from##2##name##_rd(F v) { return cu2port_sim::clamp_to<T>(std::floor(v)); }
CU2PORT_SIM_TO(float, float, int, int)
CU2PORT_SIM_TO(float, float, uint, unsigned)
CU2PORT_SIM_TO(float, float, ll, long long)
CU2PORT_SIM_TO(float, float, ull, unsigned long long)
CU2PORT_SIM_TO(double, double, int, int)
CU2PORT_SIM_TO(double, double, uint, unsigned)
CU2PORT_SIM_TO(double, double, ll, long long)
CU2PORT_SIM_TO(double, double, ull, unsigned long long)
#undef CU2PORT_SIM_TO

inline int __float_as_int(float v) { return cu2port_sim::as<int>(v); }
inline unsigned __float_as_uint(float v) { return cu2port_sim::as<unsigned>(v); }
inline float __int_as_float(int v) { return cu2port_sim::as<float>(v); }
inline float __uint_as_float(unsigned v) { return cu2port_sim::as<float>(v); }
inline long long __double_as_longlong(double v) { return cu2port_sim::as<long long>(v); }
inline double __longlong_as_double(long long v) { return cu2port_sim::as<double>(v); }
inline int __double2hiint(double v) { return static_cast<int>(cu2port_sim::as<long long>(v) >> 32); }
inline int __double2loint(double v) { return static_cast<int>(cu2port_sim::as<long long>(v)); }
inline double __hiloint2double(int hi, int lo) {
    return cu2port_sim::as<double>((static_cast<long long>(hi) << 32) | static_cast<unsigned>(lo));
}

// --- integers ----------------------------------------------------------------------------------------------------

// The types are those of HIP 7.1's amd_device_functions.h, which are not CUDA's.
#ifdef CU2PORT_SIM_CUDA
using cu2port_sim_count = int;
using cu2port_sim_product = unsigned;
using cu2port_sim_position = unsigned;
#else
using cu2port_sim_count = unsigned;
using cu2port_sim_product = int;
using cu2port_sim_position = int;
#endif
inline cu2port_sim_count __popc(unsigned v) { return static_cast<cu2port_sim_count>(__builtin_popcount(v)); }
inline cu2port_sim_count __popcll(unsigned long long v) { return static_cast<cu2port_sim_count>(__builtin_popcountll(v)); }
inline int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
#ifndef CU2PORT_SIM_CUDA
inline int __ffs(unsigned v) { return __builtin_ffs(static_cast<int>(v)); }
inline int __ffsll(unsigned long long v) { return __builtin_ffsll(static_cast<long long>(v)); }
inline int __ffsll(unsigned long v) { return __builtin_ffsll(static_cast<long long>(v)); }
inline int __ffsll(long v) { return __builtin_ffsll(v); }
#endif
inline unsigned long long __brevll(unsigned long long v) {
    v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    return __builtin_bswap64(v);
}
inline unsigned __brev(unsigned v) { return static_cast<unsigned>(__brevll(v) >> 32); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    const std::uint64_t both = std::uint64_t{y} << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) out |= static_cast<unsigned>(both >> (8 * (s >> (4 * i) & 7)) & 255) << (8 * i);
    return out;
}
inline int __mul24(int a, int b) { return static_cast<int>((static_cast<long long>(a << 8) >> 8) * (b << 8 >> 8)); }
inline cu2port_sim_product __umul24(unsigned a, unsigned b) {
    return static_cast<cu2port_sim_product>((a & 0xffffff) * (b & 0xffffff));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((std::uint64_t{a} + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1); }
inline unsigned __sad(int a, int b, unsigned c) { return static_cast<unsigned>(a > b ? a - b : b - a) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return static_cast<unsigned>((std::uint64_t{hi} << 32 | lo) << (s & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return static_cast<unsigned>((std::uint64_t{hi} << 32 | lo) >> (s & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
inline unsigned __bitextract_u32(unsigned v, unsigned offset, unsigned width) {
    offset &= 31, width &= 31;
    return width == 0 ? 0 : v << (32 - offset - width) >> (32 - width);
}
inline unsigned long long __bitextract_u64(unsigned long long v, unsigned offset, unsigned width) {
    offset &= 63, width &= 63;
    return width == 0 ? 0 : v << (64 - offset - width) >> (64 - width);
}
inline unsigned __bitinsert_u32(unsigned v, unsigned bits, unsigned offset, unsigned width) {
    offset &= 31, width &= 31;
    const unsigned mask = (1u << width) - 1;
    return (v & ~(mask << offset)) | (bits & mask) << offset;
}
inline unsigned long long __bitinsert_u64(unsigned long long v, unsigned long long bits, unsigned offset, unsigned width) {
    offset &= 63, width &= 63;
    const unsigned long long mask = (1ull << width) - 1;
    return (v & ~(mask << offset)) | (bits & mask) << offset;
}
inline unsigned long long __lastbit_u32_u64(unsigned long long v) {
    return v == 0 ? static_cast<unsigned long long>(-1) : __builtin_ctzll(v);
}
inline int __fns64(unsigned long long mask, unsigned base, int offset) {
    if (offset == 0) return mask >> base & 1 ? static_cast<int>(base) : -1;
    const int step = offset < 0 ? -1 : 1;
    for (int i = static_cast<int>(base); i >= 0 && i < 64; i += step)
        if ((mask >> i & 1) && (offset -= step) == 0) return i;
    return -1;
}
inline int __fns32(unsigned long long mask, unsigned base, int offset) { return __fns64(mask & 0xffffffffu, base, offset); }
inline cu2port_sim_position __fns(unsigned mask, unsigned base, int offset) {
    return static_cast<cu2port_sim_position>(__fns64(mask, base, offset));
}

template <class T>
inline T __ldg(const T* p) {
    return *p;
}

#define CU2PORT_SIM_MINMAX(T)                           \
    inline T min(T a, T b) { return b < a ? b : a; }    \
    inline T max(T a, T b) { return a < b ? b : a; }
CU2PORT_SIM_MINMAX(int)
CU2PORT_SIM_MINMAX(unsigned)
CU2PORT_SIM_MINMAX(long)
CU2PORT_SIM_MINMAX(unsigned long)
CU2PORT_SIM_MINMAX(long long)
CU2PORT_SIM_MINMAX(unsigned long long)
#undef CU2PORT_SIM_MINMAX
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return std::fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return std::fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return std::fmax(a, static_cast<double>(b)); }
namespace cu2port_sim {

// What `min` and `max` compare two numbers of different types in: HIP's compiler takes them to double (clang's
// __clang_hip_cmath.h), integers too; CUDA has overloads for them.
template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>>>
#ifdef CU2PORT_SIM_CUDA
using Mixed = std::common_type_t<A, B>;
#else
using Mixed = double;
#endif

}  // namespace cu2port_sim

template <class A, class B>
inline cu2port_sim::Mixed<A, B> min(A a, B b) {
    return min(static_cast<cu2port_sim::Mixed<A, B>>(a), static_cast<cu2port_sim::Mixed<A, B>>(b));
}
template <class A, class B>
inline cu2port_sim::Mixed<A, B> max(A a, B b) {
    return max(static_cast<cu2port_sim::Mixed<A, B>>(a), static_cast<cu2port_sim::Mixed<A, B>>(b));
}
#ifndef CU2PORT_SIM_CUDA
inline float pow(float x, int n) { return std::pow(x, static_cast<float>(n)); }  // CUDA's gives double
#endif
