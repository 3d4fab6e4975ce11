// 8-bit floats: the two of the Open Compute Project (E4M3, E5M2) and the two of gfx942 (FNUZ: no infinities, no
// minus zero, 0x80 is NaN, the bias is one more).
#pragma once

#include "small_floats.h"

enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

namespace cu2port_sim {

struct Fp8 {
    int mantissa, bias;
    unsigned largest;   // code of the largest finite number
    unsigned overflow;  // what is above it
    unsigned nan;
    bool fnuz;
};
constexpr Fp8 fp8_format(__hip_fp8_interpretation_t kind) {
    switch (kind) {
        case __HIP_E4M3: return {3, 7, 0x7e, 0x7f, 0x7f, false};
        case __HIP_E5M2: return {2, 15, 0x7b, 0x7c, 0x7f, false};
        case __HIP_E4M3_FNUZ: return {3, 8, 0x7f, 0x80, 0x80, true};
        default: return {2, 16, 0x7f, 0x80, 0x80, true};
    }
}

// To nearest, ties to even. Saturation keeps finite numbers finite; infinities stay what they are, as in hardware.
inline __hip_fp8_storage_t fp8_bits(double v, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    const Fp8 f = fp8_format(kind);
    const unsigned sign = f.fnuz ? 0 : std::signbit(v) ? 0x80 : 0;
    if (v != v) return static_cast<__hip_fp8_storage_t>(sign | f.nan);
    const double magnitude = std::fabs(v);
    if (magnitude > std::numeric_limits<double>::max()) return static_cast<__hip_fp8_storage_t>(sign | f.overflow);
    const int exponent = magnitude > std::ldexp(1.0, 1 - f.bias) ? std::ilogb(magnitude) : 1 - f.bias;
    const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
    const double code = units + std::ldexp(exponent + f.bias - 1, f.mantissa);
    const bool over = code > f.largest;
    const unsigned rest = !over ? static_cast<unsigned>(code) : saturate ? f.largest : f.overflow;
    const bool minus = std::signbit(v) && rest != 0 && rest != 0x80;
    return static_cast<__hip_fp8_storage_t>(sign | (minus ? 0x80 : 0) | rest);
}

inline float fp8_value(__hip_fp8_storage_t code, __hip_fp8_interpretation_t kind) {
    const Fp8 f = fp8_format(kind);
    const unsigned rest = code & 0x7f;
    if (f.fnuz ? code == 0x80 : rest > (kind == __HIP_E4M3 ? 0x7eu : 0x7cu)) return std::numeric_limits<float>::quiet_NaN();
    float v;
    if (!f.fnuz && kind == __HIP_E5M2 && rest == 0x7c) {
        v = std::numeric_limits<float>::infinity();
    } else {
        const int exponent = static_cast<int>(rest >> f.mantissa), one = 1 << f.mantissa;
        const int units = static_cast<int>(rest & (one - 1)) + (exponent ? one : 0);
        v = std::ldexp(static_cast<float>(units), (exponent ? exponent : 1) - f.bias - f.mantissa);
    }
    return code & 0x80 ? -v : v;
}

inline unsigned two(unsigned a, unsigned b) { return a | b << 8; }

}  // namespace cu2port_sim

#define CU2PORT_SIM_FP8_ARGUMENTS __hip_saturation_t s, __hip_fp8_interpretation_t k
inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, CU2PORT_SIM_FP8_ARGUMENTS) { return cu2port_sim::fp8_bits(v, s, k); }
inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(double v, CU2PORT_SIM_FP8_ARGUMENTS) { return cu2port_sim::fp8_bits(v, s, k); }
inline __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw v, CU2PORT_SIM_FP8_ARGUMENTS) {
    return cu2port_sim::fp8_bits(cu2port_sim::half_value(v.x), s, k);
}
inline __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw v, CU2PORT_SIM_FP8_ARGUMENTS) {
    return cu2port_sim::fp8_bits(cu2port_sim::bf16_value(v.x), s, k);
}
#define CU2PORT_SIM_FP8_PAIR(name, one, V, V1)                                                                         \
    inline __hip_fp8x2_storage_t name(V v, CU2PORT_SIM_FP8_ARGUMENTS) {                                             \
        return static_cast<__hip_fp8x2_storage_t>(cu2port_sim::two(one(V1{v.x}, s, k), one(V1{v.y}, s, k)));            \
    }
CU2PORT_SIM_FP8_PAIR(__hip_cvt_float2_to_fp8x2, __hip_cvt_float_to_fp8, float2, float)
CU2PORT_SIM_FP8_PAIR(__hip_cvt_double2_to_fp8x2, __hip_cvt_double_to_fp8, double2, double)
CU2PORT_SIM_FP8_PAIR(__hip_cvt_halfraw2_to_fp8x2, __hip_cvt_halfraw_to_fp8, __half2_raw, __half_raw)
CU2PORT_SIM_FP8_PAIR(__hip_cvt_bfloat16raw2_to_fp8x2, __hip_cvt_bfloat16raw_to_fp8, __hip_bfloat162_raw, __hip_bfloat16_raw)
#undef CU2PORT_SIM_FP8_PAIR
#undef CU2PORT_SIM_FP8_ARGUMENTS
inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t v, __hip_fp8_interpretation_t k) {
    return {cu2port_sim::half_bits(cu2port_sim::fp8_value(v, k))};
}
inline __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t v, __hip_fp8_interpretation_t k) {
    return {__hip_cvt_fp8_to_halfraw(v & 255, k).x, __hip_cvt_fp8_to_halfraw(static_cast<__hip_fp8_storage_t>(v >> 8), k).x};
}

// One, two and four numbers of a format. Constructors saturate.
#define CU2PORT_SIM_FP8(kind, T, T2, T4)                                                                            \
    struct T {                                                                                                      \
        __hip_fp8_storage_t __x;                                                                                    \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                 \
        static constexpr __hip_fp8_interpretation_t __default_interpret = kind;                                     \
        T() = default;                                                                                              \
        T(float v) : __x(cu2port_sim::fp8_bits(v, __HIP_SATFINITE, kind)) {}                                        \
        T(double v) : __x(cu2port_sim::fp8_bits(v, __HIP_SATFINITE, kind)) {}                                       \
        T(__half v) : T(float(v)) {}                                                                                \
        T(__hip_bfloat16 v) : T(float(v)) {}                                                                        \
        template <class I, class = std::enable_if_t<std::is_integral_v<I>>>                                         \
        T(I v) : T(static_cast<double>(v)) {}                                                                       \
        operator float() const { return cu2port_sim::fp8_value(__x, kind); }                                        \
        explicit operator double() const { return cu2port_sim::fp8_value(__x, kind); }                              \
        explicit operator __half() const { return __half(float(*this)); }                                           \
        explicit operator __hip_bfloat16() const { return __hip_bfloat16(float(*this)); }                           \
        explicit operator bool() const { return float(*this) != 0; }                                                \
        template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>             \
        explicit operator I() const {                                                                               \
            return cu2port_sim::clamp_to<I>(float(*this));                                                          \
        }                                                                                                           \
    };                                                                                                              \
    struct alignas(2) T2 {                                                                                          \
        __hip_fp8x2_storage_t __x;                                                                                  \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                 \
        static constexpr __hip_fp8_interpretation_t __default_interpret = kind;                                     \
        T2() = default;                                                                                             \
        T2(double2 v) : __x(__hip_cvt_double2_to_fp8x2(v, __HIP_SATFINITE, kind)) {}                                \
        T2(float2 v) : __x(__hip_cvt_float2_to_fp8x2(v, __HIP_SATFINITE, kind)) {}                                  \
        T2(__half2 v) : T2(float2(float(v.x), float(v.y))) {}                                                       \
        T2(__hip_bfloat162 v) : T2(float2(float(v.x), float(v.y))) {}                                               \
        operator float2() const {                                                                                   \
            return float2(cu2port_sim::fp8_value(__x & 255, kind), cu2port_sim::fp8_value(__x >> 8 & 255, kind));   \
        }                                                                                                           \
        operator __half2() const {                                                                                  \
            const float2 v = *this;                                                                                 \
            return __half2(__half(v.x), __half(v.y));                                                               \
        }                                                                                                           \
    };                                                                                                              \
    struct alignas(4) T4 {                                                                                          \
        __hip_fp8x4_storage_t __x;                                                                                  \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                 \
        static constexpr __hip_fp8_interpretation_t __default_interpret = kind;                                     \
        T4() = default;                                                                                             \
        T4(T2 low, T2 high) : __x(low.__x | static_cast<unsigned>(high.__x) << 16) {}                               \
        T4(double4 v) : T4(T2(double2(v.x, v.y)), T2(double2(v.z, v.w))) {}                                         \
        T4(float4 v) : T4(T2(float2(v.x, v.y)), T2(float2(v.z, v.w))) {}                                            \
        T4(__half2 low, __half2 high) : T4(T2(low), T2(high)) {}                                                    \
        T4(__hip_bfloat162 low, __hip_bfloat162 high) : T4(T2(low), T2(high)) {}                                    \
        operator float4() const {                                                                                   \
            return float4(cu2port_sim::fp8_value(__x & 255, kind), cu2port_sim::fp8_value(__x >> 8 & 255, kind),    \
                          cu2port_sim::fp8_value(__x >> 16 & 255, kind), cu2port_sim::fp8_value(__x >> 24, kind));  \
        }                                                                                                           \
    };
CU2PORT_SIM_FP8(__HIP_E4M3, __hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3)
CU2PORT_SIM_FP8(__HIP_E5M2, __hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2)
CU2PORT_SIM_FP8(__HIP_E4M3_FNUZ, __hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz)
CU2PORT_SIM_FP8(__HIP_E5M2_FNUZ, __hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz)
#undef CU2PORT_SIM_FP8
