// cu2port ptx_float: the floating point of ptx.hpp, which includes it.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// f32 and f64 are float and double; every other format (f16, bf16, tf32, fp8, ...) is its bits in an unsigned integer,
// packed ones with the first element in the low bits. A function is named after its instruction; those of formats that
// C++ has no type for end in the format. Results are NVIDIA's, bit for bit; only which NaN comes out of a NaN differs.
#pragma once

// Results that PTX rounds by themselves must not be contracted into a neighbouring operation.
#ifdef __clang__
#define CU2PORT_PTX_EXACT _Pragma("clang fp contract(off)")
#else
#define CU2PORT_PTX_EXACT
#endif
#ifdef __has_builtin
#define CU2PORT_PTX_HAS(builtin) __has_builtin(builtin)
#else
#define CU2PORT_PTX_HAS(builtin) 0
#endif

namespace cu2port {
namespace ptx {

// To nearest with ties to even, to nearest with ties away from zero, to zero, down, up.
enum class rounding { rn, rna, rz, rm, rp };

// Bits of exponent and fraction. Formats without infinity keep the largest pattern for NaN, or (no NaN) for a number.
template <int Exponent, int Fraction, bool Infinite = true, bool Nan = true> struct format {
    static constexpr int exponent = Exponent, fraction = Fraction, lowest = 2 - (1 << (Exponent - 1)) - Fraction;
    static constexpr u64 sign = u64(1) << (Exponent + Fraction), nan = sign - 1;
    static constexpr u64 infinity = ((u64(1) << Exponent) - 1) << Fraction;
    static constexpr u64 largest = Infinite ? infinity - 1 : sign - 1 - (Nan ? 1 : 0);
    static constexpr u64 overflow = Infinite ? infinity : nan;
};
typedef format<11, 52> f64_format;
typedef format<8, 23> f32_format;
typedef format<5, 10> f16_format;
typedef format<8, 7> bf16_format;
typedef format<5, 2> e5m2_format;
typedef format<4, 3, false> e4m3_format;
typedef format<3, 2, false, false> e3m2_format;
typedef format<2, 3, false, false> e2m3_format;
typedef format<2, 1, false, false> e2m1_format;

CU2PORT_PTX u32 bits_of(float a) { return __builtin_bit_cast(u32, a); }
CU2PORT_PTX u64 bits_of(double a) { return __builtin_bit_cast(u64, a); }
CU2PORT_PTX float of_bits(u32 a) { return __builtin_bit_cast(float, a); }
CU2PORT_PTX double of_bits(u64 a) { return __builtin_bit_cast(double, a); }

// The pattern of format F nearest to m * 2^e, or to a little more than that if `sticky`; then m is not 0.
template <class F> CU2PORT_PTX u64 rounded(bool negative, u64 m, int e, bool sticky, rounding mode) {
    const u64 sign = negative ? F::sign : 0;
    if (m == 0) return sign;
    const int zeros = __builtin_clzll(m);
    m <<= zeros;
    e -= zeros;
    const int least = F::lowest - e;
    const int shift = least > 63 - F::fraction ? least : 63 - F::fraction;
    const u64 half = u64(1) << 63;
    u64 kept = shift < 64 ? m >> shift : 0;
    const u64 rest = shift < 64 ? m << (64 - shift) : shift == 64 ? m : 1;
    const bool inexact = rest != 0 || sticky;
    const bool more = rest > half || (rest == half && sticky), tie = rest == half && !sticky;
    const bool up = mode == rounding::rn    ? more || (tie && (kept & 1))
                    : mode == rounding::rna ? more || tie
                    : mode == rounding::rm  ? inexact && negative
                    : mode == rounding::rp  ? inexact && !negative
                                            : false;
    kept += up;
    e += shift;
    if (kept >> (F::fraction + 1)) {
        kept >>= 1;
        ++e;
    }
    if (kept == 0) return sign;
    const int field = e - F::lowest;  // the leading bit of a normal number adds 1
    const u64 pattern = (u64(field) << F::fraction) + kept;
    if (field > (1 << F::exponent) || pattern > F::largest) {
        const bool inward = mode == rounding::rz || (mode == rounding::rm && !negative) || (mode == rounding::rp && negative);
        return sign | (inward ? F::largest : F::overflow);
    }
    return sign | pattern;
}

// --- double as the working format --------------------------------------------------------------------------------------

// An approximation whose error has the sign of `error`, rounded to odd: what is rounded again after that is right.
CU2PORT_PTX double to_odd(double a, double error) {
    const u64 bits = bits_of(a);
    if (!(error > 0 || error < 0) || (bits & 1)) return a;
    return of_bits((error > 0) == (a > 0) ? bits + 1 : bits - 1);
}

// a + b, rounded to odd.
CU2PORT_PTX double add_odd(double a, double b) {
    CU2PORT_PTX_EXACT
    const double sum = a + b, of_b = sum - a, of_a = sum - of_b;
    return to_odd(sum, (a - of_a) + (b - of_b));
}

// A double as another format.
template <class F> CU2PORT_PTX u64 narrow(double a, rounding mode) {
    const u64 bits = bits_of(a);
    const bool negative = bits >> 63;
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    u64 m = bits & 0xfffffffffffff;
    if (exponent == 0x7ff) return m ? F::nan : (negative ? F::sign : 0) | F::overflow;
    if (exponent) m |= u64(1) << 52;
    return rounded<F>(negative, m, (exponent ? exponent : 1) - 1075, false, mode);
}

// A float as a smaller format, to nearest: as `narrow`, on 32 bits. `beyond`: what a number becomes that is too large.
template <class F> CU2PORT_PTX u32 narrow_rn(float a, u64 beyond) {
    const u32 bits = bits_of(a), sign = bits >> 31 ? static_cast<u32>(F::sign) : 0;
    const int exponent = static_cast<int>(bits >> 23 & 255), least = 127 + F::lowest + F::fraction;
    if (exponent == 255) return bits << 9 ? static_cast<u32>(F::nan) : sign | static_cast<u32>(beyond);
    const u32 m = (bits & 0x7fffff) | (exponent ? 0x800000 : 0);
    const int e = exponent ? exponent : 1, scale = e > least ? e : least, shift = 23 - F::fraction + scale - e;
    if (shift > 24) return sign;
    const u32 kept = (m + (1u << (shift - 1)) - 1 + (m >> shift & 1)) >> shift;
    const u32 pattern = (static_cast<u32>(scale - least) << F::fraction) + kept;
    return sign | (pattern > F::largest ? static_cast<u32>(beyond) : pattern);
}

// A double as a float that may be rounded again: if it is none, the one beside it whose last bit is set.
CU2PORT_PTX float odd_f32(double a) {
    const float near = static_cast<float>(a);
    const double back = near;
    const u32 bits = bits_of(near);
    if (!(back < a || back > a) || (bits & 1)) return near;
    return of_bits((back < a) == (a > 0) ? bits + 1 : bits - 1);
}

// A float from a double whose sign and size are right, in any rounding mode.
CU2PORT_PTX float narrow_f32(double a, rounding mode) {
    const float to_nearest = static_cast<float>(a);
    const double back = to_nearest;
    const u32 bits = bits_of(to_nearest);
    const bool too_low = back < a, too_high = back > a;
    if (mode == rounding::rz && (back > 0 ? too_high : back < 0 && too_low)) return of_bits(bits - 1);
    if (mode == rounding::rm && too_high) return of_bits(bits >> 31 ? bits + 1 : bits - 1);
    if (mode == rounding::rp && too_low) return of_bits(bits >> 31 ? bits - 1 : bits + 1);
    return to_nearest;
}

// A pattern of a smaller format as a double.
template <class F> CU2PORT_PTX double widen(u64 bits) {
    const bool negative = bits & F::sign;
    bits &= F::sign - 1;
    u64 out;
    if (F::overflow == F::infinity && bits >= F::infinity)
        out = bits == F::infinity ? u64(0x7ff) << 52 : 0x7fffffffffffffff;
    else if (F::largest < F::nan && bits == F::nan)
        out = 0x7fffffffffffffff;
    else if (bits >> F::fraction)
        out = (bits << (52 - F::fraction)) + (u64(1024 - (1 << (F::exponent - 1))) << 52);
    else
        out = bits_of(static_cast<double>(bits) * of_bits(u64(1023 + F::lowest) << 52));
    return of_bits(out | u64(negative) << 63);
}

// --- f32 and f64 -------------------------------------------------------------------------------------------------------

template <class T> CU2PORT_PTX bool is_finite(T a) { return a - a == 0; }
CU2PORT_PTX bool is_negative(float a) { return bits_of(a) >> 31; }
CU2PORT_PTX bool is_negative(double a) { return bits_of(a) >> 63; }

// With one rounding, which no neighbouring operation may swallow.
#define CU2PORT_PTX_RN(T)                                                                  \
    CU2PORT_PTX T add_rn(T a, T b) { CU2PORT_PTX_EXACT return a + b; }                     \
    CU2PORT_PTX T sub_rn(T a, T b) { CU2PORT_PTX_EXACT return a - b; }                     \
    CU2PORT_PTX T mul_rn(T a, T b) { CU2PORT_PTX_EXACT return a * b; }                     \
    CU2PORT_PTX T div_rn(T a, T b) { CU2PORT_PTX_EXACT return a / b; }
CU2PORT_PTX_RN(float)
CU2PORT_PTX_RN(double)
#undef CU2PORT_PTX_RN
CU2PORT_PTX float fma_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CU2PORT_PTX double fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
CU2PORT_PTX float sqrt_rn(float a) { return __builtin_sqrtf(a); }
CU2PORT_PTX double sqrt_rn(double a) { return __builtin_sqrt(a); }

// Directed rounding of f32: double holds products exactly, and sums rounded to odd.
CU2PORT_PTX float fma_directed(float a, float b, float c, rounding mode) {
    CU2PORT_PTX_EXACT
    const double product = static_cast<double>(a) * static_cast<double>(b), third = c;
    const double sum = add_odd(product, third);
    if (sum == 0 && mode == rounding::rm && (is_negative(product) || is_negative(third))) return -0.0f;
    return narrow_f32(sum, mode);
}
CU2PORT_PTX float mul_directed(float a, float b, rounding mode) {
    return narrow_f32(static_cast<double>(a) * static_cast<double>(b), mode);
}
// No quotient or root of floats lies so close to a float that double would not tell them apart.
CU2PORT_PTX float div_directed(float a, float b, rounding mode) {
    return narrow_f32(static_cast<double>(a) / static_cast<double>(b), mode);
}
CU2PORT_PTX float sqrt_directed(float a, rounding mode) { return narrow_f32(__builtin_sqrt(static_cast<double>(a)), mode); }

// Directed rounding of f64, which AMD's instructions have only as a mode of the whole wave: on integers.
struct parts {
    bool negative;
    u64 m;  // the number is m * 2^e
    int e;
};
CU2PORT_PTX parts parts_of(double a) {
    const u64 bits = bits_of(a), m = bits & 0xfffffffffffff;
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    return {bits >> 63 != 0, exponent ? m | u64(1) << 52 : m, (exponent ? exponent : 1) - 1075};
}
CU2PORT_PTX int zeros_of(u128 a) {
    const u64 high = static_cast<u64>(a >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<u64>(a) | 1);
}
CU2PORT_PTX double rounded_f64(bool negative, u128 m, int e, rounding mode) {
    const int zeros = zeros_of(m);
    m <<= zeros;
    const u64 high = static_cast<u64>(m >> 64);
    return of_bits(rounded<f64_format>(negative, high, e - zeros + 64, static_cast<u64>(m) != 0, mode));
}
CU2PORT_PTX double fma_directed(double a, double b, double c, rounding mode) {
    if (!is_finite(a) || !is_finite(b) || !is_finite(c)) return __builtin_fma(a, b, c);
    const parts x = parts_of(a), y = parts_of(b), z = parts_of(c);
    bool negative = x.negative != y.negative;
    u128 big = static_cast<u128>(x.m) * y.m, small = z.m;
    if (big == 0) {
        if (z.m != 0) return c;
        return negative == z.negative ? c : mode == rounding::rm ? -0.0 : 0.0;
    }
    int e = x.e + y.e;
    if (small == 0) return rounded_f64(negative, big, e, mode);
    int shift = zeros_of(big) - 1;  // both get their leading bit at the second place, so that the sum has room
    big <<= shift;
    e -= shift;
    shift = zeros_of(small) - 1;
    small <<= shift;
    int behind = e - (z.e - shift);
    bool small_negative = z.negative;
    if (behind < 0 || (behind == 0 && small > big)) {
        const u128 swapped = big;
        big = small;
        small = swapped;
        small_negative = negative;
        negative = z.negative;
        e -= behind;
        behind = -behind;
    }
    if (behind > 127)
        small = 1;
    else if (behind > 0)
        small = small >> behind | ((small << (128 - behind)) != 0);
    if (negative == small_negative) return rounded_f64(negative, big + small, e, mode);
    if (big == small) return mode == rounding::rm ? -0.0 : 0.0;
    return rounded_f64(negative, big - small, e, mode);
}
CU2PORT_PTX double mul_directed(double a, double b, rounding mode) {
    if (!is_finite(a) || !is_finite(b)) return a * b;
    const parts x = parts_of(a), y = parts_of(b);
    const bool negative = x.negative != y.negative;
    if (x.m == 0 || y.m == 0) return negative ? -0.0 : 0.0;
    return rounded_f64(negative, static_cast<u128>(x.m) * y.m, x.e + y.e, mode);
}
// The significand as a number in [1, 2), with what it lacks of the whole in `e`.
CU2PORT_PTX double scaled(parts a, int* e) {
    const int zeros = __builtin_clzll(a.m) - 11;
    *e = a.e - zeros + 52;
    return static_cast<double>(a.m << zeros) * 0x1p-52;
}
// A quotient or root near 1 that is off by less than half of its last bit, on the side that `error` tells.
CU2PORT_PTX double corrected(bool negative, double near, double error, int e, rounding mode) {
    const parts x = parts_of(near);
    const u64 m = x.m * 4 + (error > 0 ? 1 : 0) - (error < 0 ? 1 : 0);
    return of_bits(rounded<f64_format>(negative, m, x.e - 2 + e, false, mode));
}
CU2PORT_PTX double div_directed(double a, double b, rounding mode) {
    if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0) return a / b;
    int ea, eb;
    const double x = scaled(parts_of(a), &ea), y = scaled(parts_of(b), &eb), quotient = x / y;
    return corrected(is_negative(a) != is_negative(b), quotient, __builtin_fma(-quotient, y, x), ea - eb, mode);
}
CU2PORT_PTX double sqrt_directed(double a, rounding mode) {
    if (!is_finite(a) || !(a > 0)) return __builtin_sqrt(a);
    int e;
    double x = scaled(parts_of(a), &e);
    if (e & 1) {
        x *= 2;
        --e;
    }
    const double root = __builtin_sqrt(x);
    return corrected(false, root, __builtin_fma(-root, root, x), e / 2, mode);
}

#define CU2PORT_PTX_DIRECTED(T, mode)                                                               \
    CU2PORT_PTX T add_##mode(T a, T b) { return fma_directed(a, T(1), b, rounding::mode); }         \
    CU2PORT_PTX T sub_##mode(T a, T b) { return fma_directed(a, T(1), -b, rounding::mode); }        \
    CU2PORT_PTX T mul_##mode(T a, T b) { return mul_directed(a, b, rounding::mode); }               \
    CU2PORT_PTX T fma_##mode(T a, T b, T c) { return fma_directed(a, b, c, rounding::mode); }       \
    CU2PORT_PTX T div_##mode(T a, T b) { return div_directed(a, b, rounding::mode); }               \
    CU2PORT_PTX T sqrt_##mode(T a) { return sqrt_directed(a, rounding::mode); }
CU2PORT_PTX_DIRECTED(float, rz)
CU2PORT_PTX_DIRECTED(float, rm)
CU2PORT_PTX_DIRECTED(float, rp)
CU2PORT_PTX_DIRECTED(double, rz)
CU2PORT_PTX_DIRECTED(double, rm)
CU2PORT_PTX_DIRECTED(double, rp)
#undef CU2PORT_PTX_DIRECTED

CU2PORT_PTX float abs(float a) { return __builtin_fabsf(a); }
CU2PORT_PTX double abs(double a) { return __builtin_fabs(a); }
// The sign of a on the magnitude of b; C has them the other way round.
CU2PORT_PTX float copysign(float a, float b) { return __builtin_copysignf(b, a); }
CU2PORT_PTX double copysign(double a, double b) { return __builtin_copysign(b, a); }
// .ftz: a denormal becomes the zero of its sign.
CU2PORT_PTX float ftz(float a) { return __builtin_fabsf(a) < 0x1p-126f ? __builtin_copysignf(0.0f, a) : a; }
// .sat: clamped to [0, 1], NaN becomes 0.
CU2PORT_PTX float sat(float a) { return a > 0 ? a < 1 ? a : 1.0f : 0.0f; }
CU2PORT_PTX double sat(double a) { return a > 0 ? a < 1 ? a : 1.0 : 0.0; }
// .relu: what is negative becomes 0, NaN stays.
CU2PORT_PTX float relu(float a) { return a > 0 || a != a ? a : 0.0f; }

#define CU2PORT_PTX_TESTS(T, infinity, normal)                                            \
    CU2PORT_PTX bool testp_finite(T a) { return abs(a) < infinity; }                      \
    CU2PORT_PTX bool testp_infinite(T a) { return abs(a) == infinity; }                   \
    CU2PORT_PTX bool testp_number(T a) { return a == a; }                                 \
    CU2PORT_PTX bool testp_notanumber(T a) { return a != a; }                             \
    CU2PORT_PTX bool testp_subnormal(T a) { return abs(a) < normal && a != 0; }           \
    CU2PORT_PTX bool testp_normal(T a) { return testp_finite(a) && !testp_subnormal(a); }
CU2PORT_PTX_TESTS(float, __builtin_inff(), 0x1p-126f)
CU2PORT_PTX_TESTS(double, __builtin_inf(), 0x1p-1022)
#undef CU2PORT_PTX_TESTS

// The lesser or the greater; -0 is below +0; NaN loses against a number, or wins in the .NaN forms.
#define CU2PORT_PTX_LEAST(T, name, builtin, builtin_NaN)  \
    CU2PORT_PTX T name(T a, T b) { return builtin(a, b); }                                                         \
    CU2PORT_PTX T name##_NaN(T a, T b) { return builtin_NaN(a, b); }                                               \
    CU2PORT_PTX T name##_xorsign_abs(T a, T b) {                                                                   \
        const T out = name(abs(a), abs(b));                                                                        \
        return out != out || is_negative(a) == is_negative(b) ? out : -out;                                        \
    }                                                                                                              \
    CU2PORT_PTX T name##_NaN_xorsign_abs(T a, T b) {                                                               \
        const T out = name##_NaN(abs(a), abs(b));                                                                  \
        return out != out || is_negative(a) == is_negative(b) ? out : -out;                                        \
    }
#if CU2PORT_PTX_HAS(__builtin_elementwise_minimumnum) && CU2PORT_PTX_HAS(__builtin_elementwise_minimum)
#define CU2PORT_PTX_MIN __builtin_elementwise_minimumnum
#define CU2PORT_PTX_MAX __builtin_elementwise_maximumnum
#define CU2PORT_PTX_MIN_NAN __builtin_elementwise_minimum
#define CU2PORT_PTX_MAX_NAN __builtin_elementwise_maximum
#else
template <class T> CU2PORT_PTX T least(T a, T b) {
    if (a != a) return b;
    return b != b || a < b || (a == b && is_negative(a)) ? a : b;
}
template <class T> CU2PORT_PTX T most(T a, T b) {
    if (a != a) return b;
    return b != b || a > b || (a == b && !is_negative(a)) ? a : b;
}
template <class T> CU2PORT_PTX T least_NaN(T a, T b) { return a != a || b != b ? a + b : least(a, b); }
template <class T> CU2PORT_PTX T most_NaN(T a, T b) { return a != a || b != b ? a + b : most(a, b); }
#define CU2PORT_PTX_MIN least
#define CU2PORT_PTX_MAX most
#define CU2PORT_PTX_MIN_NAN least_NaN
#define CU2PORT_PTX_MAX_NAN most_NaN
#endif
CU2PORT_PTX_LEAST(float, min, CU2PORT_PTX_MIN, CU2PORT_PTX_MIN_NAN)
CU2PORT_PTX_LEAST(double, min, CU2PORT_PTX_MIN, CU2PORT_PTX_MIN_NAN)
CU2PORT_PTX_LEAST(float, max, CU2PORT_PTX_MAX, CU2PORT_PTX_MAX_NAN)
CU2PORT_PTX_LEAST(double, max, CU2PORT_PTX_MAX, CU2PORT_PTX_MAX_NAN)
#undef CU2PORT_PTX_LEAST
#undef CU2PORT_PTX_MIN
#undef CU2PORT_PTX_MAX
#undef CU2PORT_PTX_MIN_NAN
#undef CU2PORT_PTX_MAX_NAN

// --- f16 and bf16 ------------------------------------------------------------------------------------------------------
// In wider formats, where products are exact and sums rounded to odd; on AMD GPUs f16 has instructions of its own.

#if defined(__HIP_DEVICE_COMPILE__) && !defined(CU2PORT_SIMULATED)
#define CU2PORT_PTX_NATIVE_F16
#endif

CU2PORT_PTX float cvt_f32_bf16(u16 a) { return of_bits(static_cast<u32>(a) << 16); }
CU2PORT_PTX double cvt_f64_bf16(u16 a) { return cvt_f32_bf16(a); }
#ifdef CU2PORT_PTX_NATIVE_F16
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
CU2PORT_PTX _Float16 half_of(u16 a) { return __builtin_bit_cast(_Float16, a); }
CU2PORT_PTX half2 half_of(u32 a) { return __builtin_bit_cast(half2, a); }
CU2PORT_PTX u16 bits_of(_Float16 a) { return __builtin_bit_cast(u16, a); }
CU2PORT_PTX u32 bits_of(half2 a) { return __builtin_bit_cast(u32, a); }
CU2PORT_PTX float cvt_f32_f16(u16 a) { return static_cast<float>(half_of(a)); }
#define CU2PORT_PTX_HALF(word, type)                                                                            \
    CU2PORT_PTX word add_rn_##type(word a, word b) { CU2PORT_PTX_EXACT return bits_of(half_of(a) + half_of(b)); } \
    CU2PORT_PTX word sub_rn_##type(word a, word b) { CU2PORT_PTX_EXACT return bits_of(half_of(a) - half_of(b)); } \
    CU2PORT_PTX word mul_rn_##type(word a, word b) { CU2PORT_PTX_EXACT return bits_of(half_of(a) * half_of(b)); } \
    CU2PORT_PTX word fma_rn_##type(word a, word b, word c) {                                                    \
        return bits_of(__builtin_elementwise_fma(half_of(a), half_of(b), half_of(c)));                          \
    }
CU2PORT_PTX_HALF(u16, f16)
CU2PORT_PTX_HALF(u32, f16x2)
#undef CU2PORT_PTX_HALF
CU2PORT_PTX u16 f16_rn(float a) { return bits_of(static_cast<_Float16>(a)); }
#else
CU2PORT_PTX float cvt_f32_f16(u16 a) { return static_cast<float>(widen<f16_format>(a)); }
CU2PORT_PTX u16 f16_rn(float a) { return static_cast<u16>(narrow_rn<f16_format>(a, f16_format::infinity)); }
CU2PORT_PTX u16 fma_rn_f16(u16 a, u16 b, u16 c) {
    CU2PORT_PTX_EXACT
    const double product = widen<f16_format>(a) * widen<f16_format>(b);
    return f16_rn(odd_f32(add_odd(product, widen<f16_format>(c))));
}
// Two numbers of f16 in float: the product is exact, a sum has enough bits more to be rounded again.
CU2PORT_PTX u16 mul_rn_f16(u16 a, u16 b) { return f16_rn(mul_rn(cvt_f32_f16(a), cvt_f32_f16(b))); }
CU2PORT_PTX u16 add_rn_f16(u16 a, u16 b) { return f16_rn(add_rn(cvt_f32_f16(a), cvt_f32_f16(b))); }
CU2PORT_PTX u16 sub_rn_f16(u16 a, u16 b) { return f16_rn(sub_rn(cvt_f32_f16(a), cvt_f32_f16(b))); }
#endif
CU2PORT_PTX double cvt_f64_f16(u16 a) { return cvt_f32_f16(a); }

CU2PORT_PTX u16 bf16_rn(float a) {
    const u32 bits = bits_of(a);
    return static_cast<u16>(a != a ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
CU2PORT_PTX u16 fma_rn_bf16(u16 a, u16 b, u16 c) {
    CU2PORT_PTX_EXACT
    return bf16_rn(odd_f32(add_odd(cvt_f64_bf16(a) * cvt_f64_bf16(b), cvt_f64_bf16(c))));
}
CU2PORT_PTX u16 mul_rn_bf16(u16 a, u16 b) { return bf16_rn(odd_f32(cvt_f64_bf16(a) * cvt_f64_bf16(b))); }
// A sum of bf16s rounded to float has enough bits more to be rounded again.
CU2PORT_PTX u16 add_rn_bf16(u16 a, u16 b) { return bf16_rn(add_rn(cvt_f32_bf16(a), cvt_f32_bf16(b))); }
CU2PORT_PTX u16 sub_rn_bf16(u16 a, u16 b) { return bf16_rn(sub_rn(cvt_f32_bf16(a), cvt_f32_bf16(b))); }

template <class F> CU2PORT_PTX bool is_nan_16(u16 a) { return (a & 0x7fff) > F::infinity; }
// A key by which patterns of numbers stand in order, -0 before +0.
CU2PORT_PTX u16 key_16(u16 a) { return static_cast<u16>(a & 0x8000 ? ~a : a | 0x8000); }
template <class F> CU2PORT_PTX u16 least_16(u16 a, u16 b, bool nan, bool most) {
    const bool nan_a = is_nan_16<F>(a), nan_b = is_nan_16<F>(b);
    if ((nan && (nan_a || nan_b)) || (nan_a && nan_b)) return 0x7fff;
    if (nan_a) return b;
    if (nan_b) return a;
    return (key_16(a) < key_16(b)) != most ? a : b;
}
template <class F> CU2PORT_PTX u16 least_xorsign_16(u16 a, u16 b, bool nan, bool most) {
    const u16 out = least_16<F>(a & 0x7fff, b & 0x7fff, nan, most);
    return is_nan_16<F>(out) ? out : static_cast<u16>(out | ((a ^ b) & 0x8000));
}

#define CU2PORT_PTX_16(type, one)                                                                                     \
    CU2PORT_PTX u16 abs_##type(u16 a) { return a & 0x7fff; }                                                          \
    CU2PORT_PTX u16 neg_##type(u16 a) { return a ^ 0x8000; }                                                          \
    CU2PORT_PTX u16 min_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, false, false); }                  \
    CU2PORT_PTX u16 max_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, false, true); }                   \
    CU2PORT_PTX u16 min_NaN_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, true, false); }               \
    CU2PORT_PTX u16 max_NaN_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, true, true); }                \
    CU2PORT_PTX u16 min_xorsign_abs_##type(u16 a, u16 b) { return least_xorsign_16<type##_format>(a, b, false, false); } \
    CU2PORT_PTX u16 max_xorsign_abs_##type(u16 a, u16 b) { return least_xorsign_16<type##_format>(a, b, false, true); }  \
    CU2PORT_PTX u16 min_NaN_xorsign_abs_##type(u16 a, u16 b) { return least_xorsign_16<type##_format>(a, b, true, false); } \
    CU2PORT_PTX u16 max_NaN_xorsign_abs_##type(u16 a, u16 b) { return least_xorsign_16<type##_format>(a, b, true, true); }  \
    CU2PORT_PTX u16 ftz_##type(u16 a) { return (a & 0x7fff) >> type##_format::fraction ? a : a & 0x8000; }            \
    CU2PORT_PTX u16 relu_##type(u16 a) { return is_nan_16<type##_format>(a) ? 0x7fff : a & 0x8000 ? 0 : a; }          \
    CU2PORT_PTX u16 sat_##type(u16 a) { return is_nan_16<type##_format>(a) || (a & 0x8000) ? 0 : a < one ? a : one; }
CU2PORT_PTX_16(f16, 0x3c00)
CU2PORT_PTX_16(bf16, 0x3f80)
#undef CU2PORT_PTX_16

// --- packed formats ----------------------------------------------------------------------------------------------------

CU2PORT_PTX u16 element(u32 a, int i) { return static_cast<u16>(a >> 16 * i); }
CU2PORT_PTX u32 packed(u16 low, u16 high) { return static_cast<u32>(high) << 16 | low; }
CU2PORT_PTX float element(u64 a, int i) { return of_bits(static_cast<u32>(a >> 32 * i)); }
CU2PORT_PTX u64 packed(float low, float high) { return static_cast<u64>(bits_of(high)) << 32 | bits_of(low); }

#define CU2PORT_PTX_1(word, name, from)                                               \
    CU2PORT_PTX word name##x2(word a) { return packed(from(element(a, 0)), from(element(a, 1))); }
#define CU2PORT_PTX_2(word, name, from)                                               \
    CU2PORT_PTX word name##x2(word a, word b) {                                       \
        return packed(from(element(a, 0), element(b, 0)), from(element(a, 1), element(b, 1))); \
    }
#define CU2PORT_PTX_3(word, name, from)                                               \
    CU2PORT_PTX word name##x2(word a, word b, word c) {                               \
        return packed(from(element(a, 0), element(b, 0), element(c, 0)), from(element(a, 1), element(b, 1), element(c, 1))); \
    }
#define CU2PORT_PTX_SAME1(name) CU2PORT_PTX_1(u32, name, name)
#define CU2PORT_PTX_SAME2(name) CU2PORT_PTX_2(u32, name, name)
#define CU2PORT_PTX_ARITHMETIC(type)    \
    CU2PORT_PTX_SAME2(add_rn_##type)    \
    CU2PORT_PTX_SAME2(sub_rn_##type)    \
    CU2PORT_PTX_SAME2(mul_rn_##type)    \
    CU2PORT_PTX_3(u32, fma_rn_##type, fma_rn_##type)
#define CU2PORT_PTX_16(type)                \
    CU2PORT_PTX_SAME1(abs_##type)           \
    CU2PORT_PTX_SAME1(neg_##type)           \
    CU2PORT_PTX_SAME1(ftz_##type)           \
    CU2PORT_PTX_SAME1(sat_##type)           \
    CU2PORT_PTX_SAME1(relu_##type)          \
    CU2PORT_PTX_SAME2(min_##type)           \
    CU2PORT_PTX_SAME2(max_##type)           \
    CU2PORT_PTX_SAME2(min_NaN_##type)       \
    CU2PORT_PTX_SAME2(max_NaN_##type)       \
    CU2PORT_PTX_SAME2(min_xorsign_abs_##type) \
    CU2PORT_PTX_SAME2(max_xorsign_abs_##type) \
    CU2PORT_PTX_SAME2(min_NaN_xorsign_abs_##type) \
    CU2PORT_PTX_SAME2(max_NaN_xorsign_abs_##type)
#ifndef CU2PORT_PTX_NATIVE_F16
CU2PORT_PTX_ARITHMETIC(f16)
#endif
CU2PORT_PTX_ARITHMETIC(bf16)
CU2PORT_PTX_16(f16)
CU2PORT_PTX_16(bf16)
#define CU2PORT_PTX_F32(mode)                           \
    CU2PORT_PTX_2(u64, add_##mode##_f32, add_##mode)    \
    CU2PORT_PTX_2(u64, sub_##mode##_f32, sub_##mode)    \
    CU2PORT_PTX_2(u64, mul_##mode##_f32, mul_##mode)    \
    CU2PORT_PTX_3(u64, fma_##mode##_f32, fma_##mode)
CU2PORT_PTX_F32(rn)
CU2PORT_PTX_F32(rz)
CU2PORT_PTX_F32(rm)
CU2PORT_PTX_F32(rp)
CU2PORT_PTX_1(u64, ftz_f32, ftz)
#undef CU2PORT_PTX_F32
#undef CU2PORT_PTX_SAME1
#undef CU2PORT_PTX_SAME2
#undef CU2PORT_PTX_ARITHMETIC
#undef CU2PORT_PTX_16

// --- conversions -------------------------------------------------------------------------------------------------------

// An integral float as an integer, clamped to its range. NaN is 0, or the top bit alone where either has 64 bits.
template <class T, class F> CU2PORT_PTX T clamped(F a, const T*) {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr int digits = 8 * sizeof(T) - is_signed;
    constexpr T most = static_cast<T>(~u64(0) >> (64 - digits)), least = static_cast<T>(is_signed ? ~most : 0);
    constexpr F limit = static_cast<F>(u64(1) << (digits - 1)) * 2;
    if (a >= limit) return most;
    if (a < (is_signed ? -limit : F(0))) return least;
    if (a != a) return sizeof(F) == 8 || sizeof(T) == 8 ? static_cast<T>(u64(1) << (8 * sizeof(T) - 1)) : T(0);
    return static_cast<T>(a);
}
CU2PORT_PTX float clamped(float a, const float*) { return a; }
CU2PORT_PTX double clamped(double a, const double*) { return a; }
#define CU2PORT_PTX_INTEGRAL(mode, builtin)                                                                         \
    template <class T> CU2PORT_PTX T cvt_##mode(float a) { return clamped(builtin##f(a), static_cast<const T*>(0)); } \
    template <class T> CU2PORT_PTX T cvt_##mode(double a) { return clamped(builtin(a), static_cast<const T*>(0)); }
CU2PORT_PTX_INTEGRAL(rni, __builtin_rint)
CU2PORT_PTX_INTEGRAL(rzi, __builtin_trunc)
CU2PORT_PTX_INTEGRAL(rmi, __builtin_floor)
CU2PORT_PTX_INTEGRAL(rpi, __builtin_ceil)
#undef CU2PORT_PTX_INTEGRAL

// Any number as a format's bits.
template <class F> CU2PORT_PTX u64 number(float a, rounding mode) { return narrow<F>(a, mode); }
template <class F> CU2PORT_PTX u64 number(double a, rounding mode) { return narrow<F>(a, mode); }
template <class F, class T> CU2PORT_PTX u64 number(T a, rounding mode) {
    const bool negative = a < 0;
    const u64 wide = static_cast<u64>(a);
    return rounded<F>(negative, negative ? 0 - wide : wide, 0, false, mode);
}
// .satfinite: what is beyond the largest number becomes that; so does NaN where the format has none.
template <class F> CU2PORT_PTX u64 finite(float a, rounding mode) {
    if (mode == rounding::rn) return narrow_rn<F>(a, F::largest);
    const u64 out = narrow<F>(a, mode);
    return a != a || (out & (F::sign - 1)) <= F::largest ? out : (out & F::sign) | F::largest;
}
template <class S> CU2PORT_PTX float number_as(S a, rounding mode, const float*) {
    return of_bits(static_cast<u32>(number<f32_format>(a, mode)));
}
CU2PORT_PTX float number_as(double a, rounding mode, const float*) { return narrow_f32(a, mode); }
template <class S> CU2PORT_PTX double number_as(S a, rounding mode, const double*) {
    return of_bits(number<f64_format>(a, mode));
}
#define CU2PORT_PTX_CVT(mode)                                                                                          \
    template <class T, class S> CU2PORT_PTX T cvt_##mode(S a) {                                                        \
        return number_as(a, rounding::mode, static_cast<const T*>(0));                                                 \
    }                                                                                                                  \
    template <class S> CU2PORT_PTX u16 cvt_##mode##_f16(S a) { return static_cast<u16>(number<f16_format>(a, rounding::mode)); } \
    template <class S> CU2PORT_PTX u16 cvt_##mode##_bf16(S a) { return static_cast<u16>(number<bf16_format>(a, rounding::mode)); }
CU2PORT_PTX_CVT(rn)
CU2PORT_PTX_CVT(rz)
CU2PORT_PTX_CVT(rm)
CU2PORT_PTX_CVT(rp)
#undef CU2PORT_PTX_CVT
CU2PORT_PTX u16 cvt_rn_f16(float a) { return f16_rn(a); }
CU2PORT_PTX u16 cvt_rn_bf16(float a) { return bf16_rn(a); }
CU2PORT_PTX u16 cvt_rz_bf16(float a) { return static_cast<u16>(a != a ? 0x7fff : bits_of(a) >> 16); }
#define CU2PORT_PTX_SATFINITE(mode)                                                                                    \
    CU2PORT_PTX u16 cvt_##mode##_satfinite_f16(float a) { return static_cast<u16>(finite<f16_format>(a, rounding::mode)); } \
    CU2PORT_PTX u16 cvt_##mode##_satfinite_bf16(float a) { return static_cast<u16>(finite<bf16_format>(a, rounding::mode)); }
CU2PORT_PTX_SATFINITE(rn)
CU2PORT_PTX_SATFINITE(rz)
#undef CU2PORT_PTX_SATFINITE
// The first operand goes to the upper half.
#define CU2PORT_PTX_PAIR(mode, type) \
    CU2PORT_PTX u32 cvt_##mode##_##type##x2(float a, float b) { return packed(cvt_##mode##_##type(b), cvt_##mode##_##type(a)); }
CU2PORT_PTX_PAIR(rn, f16)
CU2PORT_PTX_PAIR(rz, f16)
CU2PORT_PTX_PAIR(rn, bf16)
CU2PORT_PTX_PAIR(rz, bf16)
CU2PORT_PTX_PAIR(rn_satfinite, f16)
CU2PORT_PTX_PAIR(rz_satfinite, f16)
CU2PORT_PTX_PAIR(rn_satfinite, bf16)
CU2PORT_PTX_PAIR(rz_satfinite, bf16)
#undef CU2PORT_PTX_PAIR
// tf32 stands in the upper 19 bits of a register. `half`: what is added to the bits that are cut.
CU2PORT_PTX u32 tf32_of(float a, u32 half, bool satfinite) {
    if (a != a) return 0x7fffe000;
    const u32 out = (bits_of(a) + half) & 0xffffe000;
    return satfinite && (out & 0x7fffffff) == 0x7f800000 ? out - 0x2000 : out;
}
#define CU2PORT_PTX_TF32(mode, half)                                                              \
    CU2PORT_PTX u32 cvt_##mode##_tf32(float a) { return tf32_of(a, half, false); }                \
    CU2PORT_PTX u32 cvt_##mode##_satfinite_tf32(float a) { return tf32_of(a, half, true); }
CU2PORT_PTX_TF32(rn, 0xfff + (bits_of(a) >> 13 & 1))
CU2PORT_PTX_TF32(rna, 0x1000)
CU2PORT_PTX_TF32(rz, 0)
#undef CU2PORT_PTX_TF32
CU2PORT_PTX u32 relu_tf32(u32 a) { return (a & 0x7fffffff) > 0x7f800000 ? a : a >> 31 ? 0 : a; }
#define CU2PORT_PTX_ROUND(mode)                                                                       \
    CU2PORT_PTX u16 cvt_##mode##_f16(u16 a) { return cvt_rn_f16(cvt_##mode<float>(cvt_f32_f16(a))); } \
    CU2PORT_PTX u16 cvt_##mode##_bf16(u16 a) { return cvt_rn_bf16(cvt_##mode<float>(cvt_f32_bf16(a))); }
CU2PORT_PTX_ROUND(rni)
CU2PORT_PTX_ROUND(rzi)
CU2PORT_PTX_ROUND(rmi)
CU2PORT_PTX_ROUND(rpi)
#undef CU2PORT_PTX_ROUND

// A pattern of a smaller format as f16, which holds all their numbers.
template <class F> CU2PORT_PTX u32 small_f16(u32 bits) {
    const u32 size = bits & static_cast<u32>(F::sign - 1), sign = bits & static_cast<u32>(F::sign) ? 0x8000 : 0;
    if (size > F::largest) return size == F::infinity && F::overflow == F::infinity ? sign | 0x7c00 : 0x7fff;
    if (size >> F::fraction) return sign | ((size << (10 - F::fraction)) + ((16 - (1 << (F::exponent - 1))) << 10));
    return sign | f16_rn(static_cast<float>(size) * of_bits(static_cast<u32>(127 + F::lowest) << 23));
}
// Two small floats in one word, the first operand above the second. PTX's fp8 are the OCP formats; MI300's are others.
#define CU2PORT_PTX_SMALL(word, type, width)                                                                           \
    CU2PORT_PTX word cvt_rn_satfinite_##type##x2(float a, float b) {                                                   \
        return static_cast<word>(finite<type##_format>(a, rounding::rn) << width | finite<type##_format>(b, rounding::rn)); \
    }                                                                                                                  \
    CU2PORT_PTX u32 cvt_rn_f16x2_##type##x2(word a) {                                                                  \
        return small_f16<type##_format>(static_cast<u32>(a) >> width) << 16 | small_f16<type##_format>(a);             \
    }                                                                                                                  \
    CU2PORT_PTX u32 cvt_rn_bf16x2_##type##x2(word a) {                                                                 \
        const u32 halves = cvt_rn_f16x2_##type##x2(a);                                                                 \
        return packed(bf16_rn(cvt_f32_f16(element(halves, 0))), bf16_rn(cvt_f32_f16(element(halves, 1))));             \
    }
CU2PORT_PTX_SMALL(u16, e4m3, 8)
CU2PORT_PTX_SMALL(u16, e5m2, 8)
CU2PORT_PTX_SMALL(u16, e3m2, 8)
CU2PORT_PTX_SMALL(u16, e2m3, 8)
CU2PORT_PTX_SMALL(u8, e2m1, 4)
#undef CU2PORT_PTX_SMALL

// ue8m0: a power of two without sign, 2^(x - 127); 255 is NaN.
CU2PORT_PTX u32 scale_of(float a, bool up, u32 overflow) {
    const u32 exponent = bits_of(a) >> 23 & 255, fraction = bits_of(a) & 0x7fffff;
    if (exponent == 255) return fraction ? 255 : overflow;
    const u32 out = exponent + (up && fraction > (exponent ? 0u : 0x400000u));
    return out == 255 ? overflow : out;
}
#define CU2PORT_PTX_SCALE(name, up, overflow)                                                                          \
    CU2PORT_PTX u16 name(float a, float b) {                                                                           \
        return static_cast<u16>(scale_of(a, up, overflow) << 8 | scale_of(b, up, overflow));                           \
    }
CU2PORT_PTX_SCALE(cvt_rz_ue8m0x2, false, 255)
CU2PORT_PTX_SCALE(cvt_rp_ue8m0x2, true, 255)
CU2PORT_PTX_SCALE(cvt_rz_satfinite_ue8m0x2, false, 254)
CU2PORT_PTX_SCALE(cvt_rp_satfinite_ue8m0x2, true, 254)
#undef CU2PORT_PTX_SCALE
CU2PORT_PTX u32 scale_bf16(u32 a) { return a == 255 ? 0x7fff : a ? a << 7 : 0x40; }
CU2PORT_PTX u32 cvt_rn_bf16x2_ue8m0x2(u16 a) { return scale_bf16(a >> 8) << 16 | scale_bf16(a & 255); }

// --- approximations ----------------------------------------------------------------------------------------------------
// AMD's instructions have an error of one unit in the last place, and take denormals to be zero, operands and results.
// The plain forms scale such operands and results by powers of two, which changes no other bit.

CU2PORT_PTX float rcp_approx_ftz(float a) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_rcpf(a);
#else
    return ftz(1.0f / ftz(a));
#endif
}
CU2PORT_PTX float sqrt_approx_ftz(float a) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_sqrtf(a);
#else
    return __builtin_sqrtf(ftz(a));
#endif
}
CU2PORT_PTX float rsqrt_approx_ftz(float a) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_rsqf(a);
#else
    return 1.0f / __builtin_sqrtf(ftz(a));
#endif
}
CU2PORT_PTX float lg2_approx_ftz(float a) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_logf(a);
#else
    return __builtin_log2f(ftz(a));
#endif
}
CU2PORT_PTX float ex2_approx_ftz(float a) {
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_exp2f(a);
#else
    return ftz(__builtin_exp2f(ftz(a)));
#endif
}
CU2PORT_PTX float rcp_approx(float a) {
    const float size = abs(a), scale = size < 0x1p-126f ? 0x1p24f : size > 0x1p125f ? 0x1p-24f : 1.0f;
    return rcp_approx_ftz(a * scale) * scale;
}
CU2PORT_PTX float sqrt_approx(float a) {
    return a < 0x1p-126f ? sqrt_approx_ftz(a * 0x1p24f) * 0x1p-12f : sqrt_approx_ftz(a);
}
CU2PORT_PTX float rsqrt_approx(float a) {
    return a < 0x1p-126f ? rsqrt_approx_ftz(a * 0x1p24f) * 0x1p12f : rsqrt_approx_ftz(a);
}
CU2PORT_PTX float lg2_approx(float a) { return a < 0x1p-126f ? lg2_approx_ftz(a * 0x1p24f) - 24 : lg2_approx_ftz(a); }
CU2PORT_PTX float ex2_approx(float a) {
    return a < -126 ? ex2_approx_ftz(a + 64) * 0x1p-64f : ex2_approx_ftz(a);
}
// a * (1 / b), where 1 / b is 0 if it would be denormal; one more step, since both factors are off by a little.
CU2PORT_PTX float div_approx_fast(float a, float b) { return a * rcp_approx_ftz(b); }
CU2PORT_PTX float div_approx(float a, float b) {
    const float scale = abs(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    b *= scale;
    const float inverse = rcp_approx_ftz(b), near = a * inverse;
    const float better = __builtin_fmaf(__builtin_fmaf(-b, near, a), inverse, near);
    return (is_finite(better) ? better : near) * scale;
}
CU2PORT_PTX float div_full(float a, float b) { return a / b; }
// The error of AMD's sine is not documented: polynomials on [-pi/4, pi/4], good to 2^-22 there.
CU2PORT_PTX float wave_approx(float a, int quarter) {
    if (abs(a) > 0x1p17f) {  // beyond what the manual promises anything for: only kept within a turn
        const float turns = a * 0.159154943f;
        a = (turns - __builtin_rintf(turns)) * 6.28318531f;
    }
    const float quarters = __builtin_rintf(a * 0.636619772f);
    float x = __builtin_fmaf(quarters, -1.57079637f, a);  // pi/2 in two parts
    x = __builtin_fmaf(quarters, 4.37113883e-8f, x);
    const float y = x * x;
    const int turn = (quarters == quarters ? static_cast<int>(quarters) : 0) + quarter;
    const float even = __builtin_fmaf(
        __builtin_fmaf(__builtin_fmaf(2.48015873e-5f, y, -1.38888889e-3f), y, 4.16666667e-2f), y, -0.5f);
    const float odd = __builtin_fmaf(
        __builtin_fmaf(__builtin_fmaf(2.75573192e-6f, y, -1.98412698e-4f), y, 8.33333333e-3f), y, -1.66666667e-1f);
    const float out = turn & 1 ? __builtin_fmaf(even, y, 1.0f) : __builtin_fmaf(odd * y, x, x);
    return turn & 2 ? -out : out;
}
CU2PORT_PTX float sin_approx(float a) { return wave_approx(a, 0); }
CU2PORT_PTX float cos_approx(float a) { return wave_approx(a, 1); }
#ifdef __HIP_DEVICE_COMPILE__
CU2PORT_PTX float sin_approx_fast(float a) { return __builtin_amdgcn_sinf(a * 0.159154943f); }
CU2PORT_PTX float cos_approx_fast(float a) { return __builtin_amdgcn_cosf(a * 0.159154943f); }
#else
CU2PORT_PTX float sin_approx_fast(float a) { return sin_approx(a); }
CU2PORT_PTX float cos_approx_fast(float a) { return cos_approx(a); }
#endif
CU2PORT_PTX float tanh_approx(float a) {
    const float size = abs(a), square = a * a;
    if (size < 0.25f) return __builtin_fmaf(__builtin_fmaf(square, 0.133333333f, -0.333333333f) * square, a, a);
    return copysign(a, 1 - 2 * rcp_approx_ftz(ex2_approx_ftz(size * 2.88539008f) + 1));
}
#define CU2PORT_PTX_APPROX(type)                                                                                       \
    CU2PORT_PTX u16 tanh_approx_##type(u16 a) { return cvt_rn_##type(tanh_approx(cvt_f32_##type(a))); }                \
    CU2PORT_PTX u16 ex2_approx_##type(u16 a) { return cvt_rn_##type(ex2_approx(cvt_f32_##type(a))); }                  \
    CU2PORT_PTX_1(u32, tanh_approx_##type, tanh_approx_##type)                                                         \
    CU2PORT_PTX_1(u32, ex2_approx_##type, ex2_approx_##type)
CU2PORT_PTX_APPROX(f16)
CU2PORT_PTX_APPROX(bf16)
#undef CU2PORT_PTX_APPROX
#undef CU2PORT_PTX_1
#undef CU2PORT_PTX_2
#undef CU2PORT_PTX_3
// f64 estimates of the upper 32 bits; below them are zeros, also in operands.
CU2PORT_PTX double upper(double a) {
    const u64 bits = bits_of(a) & 0xffffffff00000000;
    return of_bits(bits & 0x7ff0000000000000 ? bits : bits & 0x8000000000000000);
}
CU2PORT_PTX double rcp_approx_ftz(double a) {
    return a != a ? of_bits(u64(0x7fffffff00000000)) : upper(1 / upper(a));
}
CU2PORT_PTX double rsqrt_approx_ftz(double a) {
    a = upper(a);
    return a != a || a < 0 ? of_bits(u64(0x7fffffff00000000)) : a == 0 ? copysign(a, __builtin_inf()) : upper(1 / __builtin_sqrt(a));
}
CU2PORT_PTX double rsqrt_approx(double a) {
    return a == 0 ? copysign(a, __builtin_inf()) : 1 / __builtin_sqrt(a);
}

}  // namespace ptx
}  // namespace cu2port
