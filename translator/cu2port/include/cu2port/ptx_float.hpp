// cu2port ptx_float: rounding, f32 and f64 of ptx.hpp, which includes it.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// f32 and f64 are float and double; every other format (f16, bf16, tf32, fp8, ...) is its bits in an unsigned integer,
// packed ones with the first element in the low bits. A function is named after its instruction; those of formats that
// C++ has no type for end in the format. Results are NVIDIA's, bit for bit; only which NaN comes out of a NaN differs.
#ifndef CU2PORT_PTX_FLOAT_HPP
#define CU2PORT_PTX_FLOAT_HPP

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
template <class F_> CU2PORT_PTX u64 rounded(bool negative, u64 m, int e, bool sticky, rounding mode) {
    const u64 sign = negative ? F_::sign : 0;
    if (m == 0) return sign;
    const int zeros = __builtin_clzll(m);
    m <<= zeros;
    e -= zeros;
    const int least = F_::lowest - e;
    const int shift = least > 63 - F_::fraction ? least : 63 - F_::fraction;
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
    if (kept >> (F_::fraction + 1)) {
        kept >>= 1;
        ++e;
    }
    if (kept == 0) return sign;
    const int field = e - F_::lowest;  // the leading bit of a normal number adds 1
    const u64 pattern = (u64(field) << F_::fraction) + kept;
    if (field > (1 << F_::exponent) || pattern > F_::largest) {
        const bool inward = mode == rounding::rz || (mode == rounding::rm && !negative) ||
            (mode == rounding::rp && negative);
        return sign | (inward ? F_::largest : F_::overflow);
    }
    return sign | pattern;
}

// --- double as the working format ------------------------------------------------------------------------------------

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
template <class F_> CU2PORT_PTX u64 narrow(double a, rounding mode) {
    const u64 bits = bits_of(a);
    const bool negative = bits >> 63;
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    u64 m = bits & 0xfffffffffffff;
    if (exponent == 0x7ff) return m ? F_::nan : (negative ? F_::sign : 0) | F_::overflow;
    if (exponent) m |= u64(1) << 52;
    return rounded<F_>(negative, m, (exponent ? exponent : 1) - 1075, false, mode);
}

// A float as a smaller format, to nearest: as `narrow`, on 32 bits. `beyond`: what a number becomes that is too large.
template <class F_> CU2PORT_PTX u32 narrow_rn(float a, u64 beyond) {
    const u32 bits = bits_of(a), sign = bits >> 31 ? static_cast<u32>(F_::sign) : 0;
    const int exponent = static_cast<int>(bits >> 23 & 255), least = 127 + F_::lowest + F_::fraction;
    if (exponent == 255) return bits << 9 ? static_cast<u32>(F_::nan) : sign | static_cast<u32>(beyond);
    const u32 m = (bits & 0x7fffff) | (exponent ? 0x800000 : 0);
    const int e = exponent ? exponent : 1, scale = e > least ? e : least, shift = 23 - F_::fraction + scale - e;
    if (shift > 24) return sign;
    const u32 kept = (m + (1u << (shift - 1)) - 1 + (m >> shift & 1)) >> shift;
    const u32 pattern = (static_cast<u32>(scale - least) << F_::fraction) + kept;
    return sign | (pattern > F_::largest ? static_cast<u32>(beyond) : pattern);
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
template <class F_> CU2PORT_PTX double widen(u64 bits) {
    const bool negative = bits & F_::sign;
    bits &= F_::sign - 1;
    u64 out;
    if (F_::overflow == F_::infinity && bits >= F_::infinity)
        out = bits == F_::infinity ? u64(0x7ff) << 52 : 0x7fffffffffffffff;
    else if (F_::largest < F_::nan && bits == F_::nan)
        out = 0x7fffffffffffffff;
    else if (bits >> F_::fraction)
        out = (bits << (52 - F_::fraction)) + (u64(1024 - (1 << (F_::exponent - 1))) << 52);
    else
        out = bits_of(static_cast<double>(bits) * of_bits(u64(1023 + F_::lowest) << 52));
    return of_bits(out | u64(negative) << 63);
}

// --- f32 and f64 -----------------------------------------------------------------------------------------------------

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
CU2PORT_PTX float sqrt_directed(float a, rounding mode) {
    return narrow_f32(__builtin_sqrt(static_cast<double>(a)), mode);
}

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
CU2PORT_PTX float ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    // Built with -fgpu-flush-denormals-to-zero, one instruction does it, or the one that made the value has done it.
    if (__builtin_canonicalizef(0x1p-149f) == 0.0f) return __builtin_canonicalizef(a);
#endif
    return __builtin_fabsf(a) < 0x1p-126f ? __builtin_copysignf(0.0f, a) : a;
}
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

// The lesser or the greater; -0 is below +0; NaN loses against a number, or wins in the .NaN forms, as NVIDIA's own.
CU2PORT_PTX float canonical(float) { return __builtin_bit_cast(float, 0x7fffffffu); }
CU2PORT_PTX double canonical(double) { return __builtin_bit_cast(double, u64(-1) >> 1); }
#define CU2PORT_PTX_LEAST(T, entry, builtin)                                                                       \
    CU2PORT_PTX T entry(T a, T b) { return builtin(a, b); }                                                         \
    CU2PORT_PTX T entry##_NaN(T a, T b) { return __builtin_isunordered(a, b) ? canonical(a) : builtin(a, b); }      \
    CU2PORT_PTX T entry##_xorsign_abs(T a, T b) {                                                                   \
        const T out = entry(abs(a), abs(b));                                                                        \
        return out != out || is_negative(a) == is_negative(b) ? out : -out;                                        \
    }                                                                                                              \
    CU2PORT_PTX T entry##_NaN_xorsign_abs(T a, T b) {                                                               \
        const T out = entry##_NaN(abs(a), abs(b));                                                                  \
        return out != out || is_negative(a) == is_negative(b) ? out : -out;                                        \
    }
#if CU2PORT_PTX_HAS(__builtin_elementwise_minimumnum)
#define CU2PORT_PTX_MIN __builtin_elementwise_minimumnum
#define CU2PORT_PTX_MAX __builtin_elementwise_maximumnum
#else
template <class T> CU2PORT_PTX T least(T a, T b) {
    if (a != a) return b;
    return b != b || a < b || (a == b && is_negative(a)) ? a : b;
}
template <class T> CU2PORT_PTX T most(T a, T b) {
    if (a != a) return b;
    return b != b || a > b || (a == b && !is_negative(a)) ? a : b;
}
#define CU2PORT_PTX_MIN least
#define CU2PORT_PTX_MAX most
#endif
CU2PORT_PTX_LEAST(float, min, CU2PORT_PTX_MIN)
CU2PORT_PTX_LEAST(double, min, CU2PORT_PTX_MIN)
CU2PORT_PTX_LEAST(float, max, CU2PORT_PTX_MAX)
CU2PORT_PTX_LEAST(double, max, CU2PORT_PTX_MAX)
#undef CU2PORT_PTX_LEAST
#undef CU2PORT_PTX_MIN
#undef CU2PORT_PTX_MAX

}  // namespace ptx
}  // namespace cu2port

#endif  // CU2PORT_PTX_FLOAT_HPP
