// 16-bit floats: stored in 16 bits, computed in float or double, rounded once to nearest even.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "atomics.h"
#include "maths.h"
#include "vectors.h"
#include "warp.h"

namespace cu2port_sim {

// Double to float with the last bit set when inexact: a second rounding to fewer bits is then right.
inline float to_odd(double v) {
    float f = static_cast<float>(v);
    if (static_cast<double>(f) == v || f != f || std::isinf(f)) return f;
    std::uint32_t bits = as<std::uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --bits;  // towards zero
    return as<float>(bits | 1u);
}

enum class Round { nearest, zero, up, down };

// The bits of `v` shortened by `drop` bits under a rounding mode; the caller has handled special values.
inline std::uint32_t shorten(std::uint32_t magnitude, int drop, bool negative, Round mode) {
    const std::uint32_t rest = magnitude & ((1u << drop) - 1), half = 1u << (drop - 1);
    std::uint32_t out = magnitude >> drop;
    switch (mode) {
        case Round::nearest: out += rest > half || (rest == half && (out & 1)); break;
        case Round::zero: break;
        case Round::up: out += rest != 0 && !negative; break;
        case Round::down: out += rest != 0 && negative; break;
    }
    return out;
}

inline std::uint16_t half_bits(float v, Round mode = Round::nearest) {
    const std::uint32_t bits = as<std::uint32_t>(v), magnitude = bits & 0x7fffffffu;
    const std::uint16_t sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude == 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    std::uint32_t out;
    if (magnitude >= 0x38800000u) {  // normal
        out = shorten(magnitude - 0x38000000u, 13, sign != 0, mode);
        if (out > 0x7c00u) out = 0x7c00u;
        if (magnitude > 0x477fe000u && out >= 0x7c00u &&
            (mode == Round::zero || (mode == Round::up && sign) || (mode == Round::down && !sign)))
            out = 0x7bffu;
    } else {
        const int shift = 126 - static_cast<int>(magnitude >> 23);  // denormal: value * 2^24 is the mantissa
        const std::uint32_t mantissa = (magnitude & 0x7fffffu) | (magnitude >> 23 ? 0x800000u : 0u);
        if (shift > 30)
            out = magnitude && ((mode == Round::up && !sign) || (mode == Round::down && sign)) ? 1 : 0;
        else
            out = shorten(mantissa, shift, sign != 0, mode);
    }
    return static_cast<std::uint16_t>(sign | out);
}

inline float half_value(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return as<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u) return as<float>(sign | ((rest << 13) + 0x38000000u));
    const float v = static_cast<float>(rest) * 5.9604644775390625e-8f;  // 2^-24
    return sign ? -v : v;
}

inline std::uint16_t bf16_bits(float v, Round mode = Round::nearest) {
    const std::uint32_t bits = as<std::uint32_t>(v), magnitude = bits & 0x7fffffffu;
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7fffu);
    if (magnitude == 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7f80u);
    return static_cast<std::uint16_t>(sign | shorten(magnitude, 16, sign != 0, mode));
}
inline float bf16_value(std::uint16_t b) { return as<float>(static_cast<std::uint32_t>(b) << 16); }

}  // namespace cu2port_sim

// A 16-bit float type T with its raw struct, and the operators that C++ code uses: friends, as in HIP's __half, which a
// type that only converts to T, as torch's, does not find.
#define CU2PORT_SIM_SMALL(T, Raw, pack, unpack)                                                                     \
    struct Raw {                                                                                                    \
        unsigned short x;                                                                                           \
    };                                                                                                              \
    struct T {                                                                                                      \
        unsigned short __x;                                                                                         \
        T() = default;                                                                                              \
        constexpr T(const Raw& r) : __x(r.x) {}                                                                     \
        T(float v) : __x(cu2port_sim::pack(v)) {}                                                                   \
        T(double v) : __x(cu2port_sim::pack(cu2port_sim::to_odd(v))) {}                                             \
        template <class I, class = std::enable_if_t<std::is_integral_v<I>>>                                         \
        T(I v) : __x(cu2port_sim::pack(cu2port_sim::to_odd(static_cast<double>(v)))) {}                             \
        static T cu2port_sim_from(float v, cu2port_sim::Round mode) { return T(Raw{cu2port_sim::pack(v, mode)}); }     \
        operator Raw() const { return {__x}; }                                                                      \
        operator float() const { return cu2port_sim::unpack(__x); }                                                 \
        explicit operator bool() const { return (__x & 0x7fff) != 0; }                                              \
        template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>, class = void> \
        explicit operator I() const { return static_cast<I>(cu2port_sim::unpack(__x)); }                            \
        explicit operator double() const { return cu2port_sim::unpack(__x); }                                       \
        T operator-() const { return T(Raw{static_cast<unsigned short>(__x ^ 0x8000)}); }                           \
        T operator+() const { return *this; }                                                                       \
        T& operator+=(T b) { return *this = T(float(*this) + float(b)); }                                           \
        T& operator-=(T b) { return *this = T(float(*this) - float(b)); }                                           \
        T& operator*=(T b) { return *this = T(float(*this) * float(b)); }                                           \
        T& operator/=(T b) { return *this = T(float(*this) / float(b)); }                                           \
        T& operator++() { return *this += T(1.f); }                                                                 \
        T& operator--() { return *this -= T(1.f); }                                                                 \
        T operator++(int) { T old = *this; return *this += T(1.f), old; }                                           \
        T operator--(int) { T old = *this; return *this -= T(1.f), old; }                                           \
        friend T operator+(T a, T b) { return T(float(a) + float(b)); }                                             \
        friend T operator-(T a, T b) { return T(float(a) - float(b)); }                                             \
        friend T operator*(T a, T b) { return T(float(a) * float(b)); }                                             \
        friend T operator/(T a, T b) { return T(float(a) / float(b)); }                                             \
        friend bool operator==(T a, T b) { return float(a) == float(b); }                                           \
        friend bool operator!=(T a, T b) { return float(a) != float(b); }                                           \
        friend bool operator<(T a, T b) { return float(a) < float(b); }                                             \
        friend bool operator>(T a, T b) { return float(a) > float(b); }                                             \
        friend bool operator<=(T a, T b) { return float(a) <= float(b); }                                           \
        friend bool operator>=(T a, T b) { return float(a) >= float(b); }                                           \
    };

#define CU2PORT_SIM_SMALL_PAIR(T2, Raw2, T, Raw)                                                                    \
    struct Raw2 {                                                                                                   \
        unsigned short x, y;                                                                                        \
    };                                                                                                              \
    struct alignas(4) T2 {                                                                                          \
        T x, y;                                                                                                     \
        T2() = default;                                                                                             \
        T2(T a, T b) : x(a), y(b) {}                                                                                \
        explicit T2(T a) : x(a), y(a) {}                                                                            \
        T2(const Raw2& a) : x(Raw{a.x}), y(Raw{a.y}) {}                                                             \
        operator Raw2() const { return {x.__x, y.__x}; }                                                            \
        T2& operator+=(const T2& b) { return x += b.x, y += b.y, *this; }                                           \
        T2& operator-=(const T2& b) { return x -= b.x, y -= b.y, *this; }                                           \
        T2& operator*=(const T2& b) { return x *= b.x, y *= b.y, *this; }                                           \
        T2& operator/=(const T2& b) { return x /= b.x, y /= b.y, *this; }                                           \
        T2 operator-() const { return T2(-x, -y); }                                                                 \
    };                                                                                                              \
    inline T2 operator+(T2 a, const T2& b) { return a += b; }                                                       \
    inline T2 operator-(T2 a, const T2& b) { return a -= b; }                                                       \
    inline T2 operator*(T2 a, const T2& b) { return a *= b; }                                                       \
    inline T2 operator/(T2 a, const T2& b) { return a /= b; }                                                       \
    inline bool operator==(const T2& a, const T2& b) { return a.x == b.x && a.y == b.y; }                           \
    inline bool operator!=(const T2& a, const T2& b) { return !(a == b); }                                          \
    inline bool operator<(const T2& a, const T2& b) { return float(a.x) < float(b.x) && float(a.y) < float(b.y); }  \
    inline bool operator>(const T2& a, const T2& b) { return b < a; }                                               \
    inline bool operator<=(const T2& a, const T2& b) { return !(b < a); } /* as HIP has it, other than CUDA */      \
    inline bool operator>=(const T2& a, const T2& b) { return !(a < b); }

#define CU2PORT_SIM_BOTH1(T, T2, one, two, expression)                                 \
    inline T one(T a) { return T(expression); }                                        \
    inline T2 two(T2 a) { return T2(one(a.x), one(a.y)); }
#define CU2PORT_SIM_BOTH2(T, T2, one, two, expression)                                 \
    inline T one(T a, T b) { return T(expression); }                                   \
    inline T2 two(T2 a, T2 b) { return T2(one(a.x, b.x), one(a.y, b.y)); }
#define CU2PORT_SIM_COMPARE(T, T2, name, op)                                           \
    inline bool __h##name(T a, T b) { return float(a) op float(b); }                   \
    inline bool __h##name##u(T a, T b) { return a != a || b != b || float(a) op float(b); } \
    inline T2 __h##name##2(T2 a, T2 b) { return T2(T(float(__h##name(a.x, b.x))), T(float(__h##name(a.y, b.y)))); } \
    inline T2 __h##name##u2(T2 a, T2 b) { return T2(T(float(__h##name##u(a.x, b.x))), T(float(__h##name##u(a.y, b.y)))); } \
    inline bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
    inline bool __hb##name##u2(T2 a, T2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }

// The intrinsics that both types have under the same names.
#define CU2PORT_SIM_SMALL_INTRINSICS(T, T2)                                                                         \
    CU2PORT_SIM_BOTH2(T, T2, __hadd, __hadd2, float(a) + float(b))                                                  \
    CU2PORT_SIM_BOTH2(T, T2, __hsub, __hsub2, float(a) - float(b))                                                  \
    CU2PORT_SIM_BOTH2(T, T2, __hmul, __hmul2, float(a) * float(b))                                                  \
    CU2PORT_SIM_BOTH2(T, T2, __hdiv, __h2div, float(a) / float(b))                                                  \
    CU2PORT_SIM_BOTH2(T, T2, __hadd_sat, __hadd2_sat, __saturatef(float(a) + float(b)))                             \
    CU2PORT_SIM_BOTH2(T, T2, __hsub_sat, __hsub2_sat, __saturatef(float(a) - float(b)))                             \
    CU2PORT_SIM_BOTH2(T, T2, __hmul_sat, __hmul2_sat, __saturatef(float(a) * float(b)))                             \
    CU2PORT_SIM_BOTH2(T, T2, __hmax, __hmax2, std::fmax(float(a), float(b)))                                        \
    CU2PORT_SIM_BOTH2(T, T2, __hmin, __hmin2, std::fmin(float(a), float(b)))                                        \
    CU2PORT_SIM_BOTH2(T, T2, __hmax_nan, __hmax2_nan, a != a ? a : b != b ? b : a < b ? b : a)                      \
    CU2PORT_SIM_BOTH2(T, T2, __hmin_nan, __hmin2_nan, a != a ? a : b != b ? b : b < a ? b : a)                      \
    CU2PORT_SIM_BOTH1(T, T2, __hneg, __hneg2, -a)                                                                   \
    CU2PORT_SIM_BOTH1(T, T2, __habs, __habs2, std::fabs(float(a)))                                                  \
    CU2PORT_SIM_BOTH1(T, T2, hsqrt, h2sqrt, std::sqrt(float(a)))                                                    \
    CU2PORT_SIM_BOTH1(T, T2, hrsqrt, h2rsqrt, cu2port_sim::to_odd(1 / std::sqrt(double(float(a)))))                 \
    CU2PORT_SIM_BOTH1(T, T2, hrcp, h2rcp, 1 / float(a))                                                             \
    CU2PORT_SIM_BOTH1(T, T2, hexp, h2exp, cu2port_sim::to_odd(std::exp(double(float(a)))))                          \
    CU2PORT_SIM_BOTH1(T, T2, hexp2, h2exp2, cu2port_sim::to_odd(std::exp2(double(float(a)))))                       \
    CU2PORT_SIM_BOTH1(T, T2, hexp10, h2exp10, cu2port_sim::to_odd(std::pow(10.0, double(float(a)))))                \
    CU2PORT_SIM_BOTH1(T, T2, hlog, h2log, cu2port_sim::to_odd(std::log(double(float(a)))))                          \
    CU2PORT_SIM_BOTH1(T, T2, hlog2, h2log2, cu2port_sim::to_odd(std::log2(double(float(a)))))                       \
    CU2PORT_SIM_BOTH1(T, T2, hlog10, h2log10, cu2port_sim::to_odd(std::log10(double(float(a)))))                    \
    CU2PORT_SIM_BOTH1(T, T2, hsin, h2sin, cu2port_sim::to_odd(std::sin(double(float(a)))))                          \
    CU2PORT_SIM_BOTH1(T, T2, hcos, h2cos, cu2port_sim::to_odd(std::cos(double(float(a)))))                          \
    CU2PORT_SIM_BOTH1(T, T2, hceil, h2ceil, std::ceil(float(a)))                                                    \
    CU2PORT_SIM_BOTH1(T, T2, hfloor, h2floor, std::floor(float(a)))                                                 \
    CU2PORT_SIM_BOTH1(T, T2, htrunc, h2trunc, std::trunc(float(a)))                                                 \
    CU2PORT_SIM_BOTH1(T, T2, hrint, h2rint, std::nearbyint(float(a)))                                               \
    CU2PORT_SIM_COMPARE(T, T2, eq, ==)                                                                              \
    CU2PORT_SIM_COMPARE(T, T2, ne, !=)                                                                              \
    CU2PORT_SIM_COMPARE(T, T2, lt, <)                                                                               \
    CU2PORT_SIM_COMPARE(T, T2, le, <=)                                                                              \
    CU2PORT_SIM_COMPARE(T, T2, gt, >)                                                                               \
    CU2PORT_SIM_COMPARE(T, T2, ge, >=)                                                                              \
    inline T __hfma(T a, T b, T c) {                                                                                \
        return T(cu2port_sim::to_odd(std::fma(double(float(a)), double(float(b)), double(float(c)))));              \
    }                                                                                                               \
    inline T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }                \
    inline T __hfma_sat(T a, T b, T c) { return T(__saturatef(float(__hfma(a, b, c)))); }                           \
    inline T2 __hfma2_sat(T2 a, T2 b, T2 c) { return T2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); }    \
    inline bool __hisnan(T a) { return std::isnan(float(a)); }                                                      \
    inline int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0; }                         \
    inline T2 __hisnan2(T2 a) { return T2(T(float(__hisnan(a.x))), T(float(__hisnan(a.y)))); }                      \
    inline T __shfl(T v, int source, int width = warpSize, CU2PORT_SIM_WHERE) {                                     \
        return cu2port_sim::permute("__shfl", v, cu2port_sim::shfl_index(cu2port_sim::lane_id(), source, width), where); \
    }                                                                                                               \
    inline T __shfl_up(T v, unsigned d, int width = warpSize, CU2PORT_SIM_WHERE) {                                  \
        return cu2port_sim::permute("__shfl_up", v, cu2port_sim::shfl_up_index(cu2port_sim::lane_id(), d, width), where); \
    }                                                                                                               \
    inline T __shfl_down(T v, unsigned d, int width = warpSize, CU2PORT_SIM_WHERE) {                                \
        return cu2port_sim::permute("__shfl_down", v, cu2port_sim::shfl_down_index(cu2port_sim::lane_id(), d, width), where); \
    }                                                                                                               \
    inline T __shfl_xor(T v, int bits, int width = warpSize, CU2PORT_SIM_WHERE) {                                   \
        return cu2port_sim::permute("__shfl_xor", v, cu2port_sim::shfl_xor_index(cu2port_sim::lane_id(), bits, width), where); \
    }                                                                                                               \
    inline T2 __shfl(T2 v, int source, int width = warpSize, CU2PORT_SIM_WHERE) {                                   \
        return cu2port_sim::permute("__shfl", v, cu2port_sim::shfl_index(cu2port_sim::lane_id(), source, width), where); \
    }                                                                                                               \
    inline T2 __shfl_up(T2 v, unsigned d, int width = warpSize, CU2PORT_SIM_WHERE) {                                \
        return cu2port_sim::permute("__shfl_up", v, cu2port_sim::shfl_up_index(cu2port_sim::lane_id(), d, width), where); \
    }                                                                                                               \
    inline T2 __shfl_down(T2 v, unsigned d, int width = warpSize, CU2PORT_SIM_WHERE) {                              \
        return cu2port_sim::permute("__shfl_down", v, cu2port_sim::shfl_down_index(cu2port_sim::lane_id(), d, width), where); \
    }                                                                                                               \
    inline T2 __shfl_xor(T2 v, int bits, int width = warpSize, CU2PORT_SIM_WHERE) {                                 \
        return cu2port_sim::permute("__shfl_xor", v, cu2port_sim::shfl_xor_index(cu2port_sim::lane_id(), bits, width), where); \
    }

namespace cu2port_sim {
// Integers of more than 24 bits round once: what is lost on the way to float stays visible in its last bit.
template <class T, class I>
T small_from(I v, Round mode) {
    return T::cu2port_sim_from(to_odd(static_cast<double>(v)), mode);
}
}  // namespace cu2port_sim

// Conversions to and from integers, under the four rounding modes.
#define CU2PORT_SIM_SMALL_INTEGERS(T, word, name, I)                                                                \
    inline I __##word##2##name##_rn(T a) { return cu2port_sim::clamp_to<I>(std::nearbyint(float(a))); }             \
    inline I __##word##2##name##_rz(T a) { return cu2port_sim::clamp_to<I>(std::trunc(float(a))); }                 \
    inline I __##word##2##name##_ru(T a) { return cu2port_sim::clamp_to<I>(std::ceil(float(a))); }                  \
    inline I __##word##2##name##_rd(T a) { return cu2port_sim::clamp_to<I>(std::floor(float(a))); }                 \
    inline T __##name##2##word##_rn(I v) { return T(v); }                                                           \
    inline T __##name##2##word##_rz(I v) { return cu2port_sim::small_from<T>(v, cu2port_sim::Round::zero); }         \
    inline T __##name##2##word##_ru(I v) { return cu2port_sim::small_from<T>(v, cu2port_sim::Round::up); }           \
    inline T __##name##2##word##_rd(I v) { return cu2port_sim::small_from<T>(v, cu2port_sim::Round::down); }

// Loads with a cache hint are loads.
#define CU2PORT_SIM_LOADS(T)                        \
    inline T __ldca(const T* p) { return *p; }      \
    inline T __ldcg(const T* p) { return *p; }      \
    inline T __ldcs(const T* p) { return *p; }
