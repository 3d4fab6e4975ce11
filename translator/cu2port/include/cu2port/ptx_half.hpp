// cu2port ptx_half: f16, bf16, packed and small formats and conversions of ptx.hpp, which includes it after
// ptx_approx.hpp. This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#ifndef CU2PORT_PTX_HALF_HPP
#define CU2PORT_PTX_HALF_HPP

namespace cu2port {
namespace ptx {

// --- f16 and bf16 ----------------------------------------------------------------------------------------------------
// In wider formats, where products are exact and sums rounded to odd; on AMD GPUs f16 has instructions of its own.

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

template <class F_> CU2PORT_PTX bool is_nan_16(u16 a) { return (a & 0x7fff) > F_::infinity; }
// A key by which patterns of numbers stand in order, -0 before +0.
CU2PORT_PTX u16 key_16(u16 a) { return static_cast<u16>(a & 0x8000 ? ~a : a | 0x8000); }
template <class F_> CU2PORT_PTX u16 least_16(u16 a, u16 b, bool nan, bool most) {
    const bool nan_a = is_nan_16<F_>(a), nan_b = is_nan_16<F_>(b);
    if ((nan && (nan_a || nan_b)) || (nan_a && nan_b)) return 0x7fff;
    if (nan_a) return b;
    if (nan_b) return a;
    return (key_16(a) < key_16(b)) != most ? a : b;
}
template <class F_> CU2PORT_PTX u16 least_xorsign_16(u16 a, u16 b, bool nan, bool most) {
    const u16 out = least_16<F_>(a & 0x7fff, b & 0x7fff, nan, most);
    return is_nan_16<F_>(out) ? out : static_cast<u16>(out | ((a ^ b) & 0x8000));
}

#define CU2PORT_PTX_16(type, one)                                                                                     \
    CU2PORT_PTX u16 abs_##type(u16 a) { return a & 0x7fff; }                                                          \
    CU2PORT_PTX u16 neg_##type(u16 a) { return a ^ 0x8000; }                                                          \
    CU2PORT_PTX u16 min_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, false, false); }                  \
    CU2PORT_PTX u16 max_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, false, true); }                   \
    CU2PORT_PTX u16 min_NaN_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, true, false); }               \
    CU2PORT_PTX u16 max_NaN_##type(u16 a, u16 b) { return least_16<type##_format>(a, b, true, true); }                \
    CU2PORT_PTX u16 min_xorsign_abs_##type(u16 a, u16 b) { \
        return least_xorsign_16<type##_format>(a, b, false, false); \
    } \
    CU2PORT_PTX u16 max_xorsign_abs_##type(u16 a, u16 b) { \
        return least_xorsign_16<type##_format>(a, b, false, true); \
    } \
    CU2PORT_PTX u16 min_NaN_xorsign_abs_##type(u16 a, u16 b) { \
        return least_xorsign_16<type##_format>(a, b, true, false); \
    } \
    CU2PORT_PTX u16 max_NaN_xorsign_abs_##type(u16 a, u16 b) { \
        return least_xorsign_16<type##_format>(a, b, true, true); \
    } \
    CU2PORT_PTX u16 ftz_##type(u16 a) { return (a & 0x7fff) >> type##_format::fraction ? a : a & 0x8000; }            \
    CU2PORT_PTX u16 relu_##type(u16 a) { return is_nan_16<type##_format>(a) ? 0x7fff : a & 0x8000 ? 0 : a; }          \
    CU2PORT_PTX u16 sat_##type(u16 a) { return is_nan_16<type##_format>(a) || (a & 0x8000) ? 0 : a < one ? a : one; }
CU2PORT_PTX_16(f16, 0x3c00)
CU2PORT_PTX_16(bf16, 0x3f80)
#undef CU2PORT_PTX_16

// --- packed formats --------------------------------------------------------------------------------------------------

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
        return packed(from(element(a, 0), element(b, 0), element(c, 0)), from(element(a, 1), element(b, 1), \
            element(c, 1))); \
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

// --- conversions -----------------------------------------------------------------------------------------------------

// A float as an integer, clamped to its range. NaN is 0, or the top bit alone where either has 64 bits.
template <class T, class F_> CU2PORT_PTX T clamped(F_ a, const T*) {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr int digits = 8 * sizeof(T) - is_signed;
    constexpr T most = static_cast<T>(~u64(0) >> (64 - digits)), least = static_cast<T>(is_signed ? ~most : 0);
    constexpr F_ limit = static_cast<F_>(u64(1) << (digits - 1)) * 2;
    if (a >= limit) return most;
    if (a < (is_signed ? -limit : F_(0))) return least;
    if (a != a) return sizeof(F_) == 8 || sizeof(T) == 8 ? static_cast<T>(u64(1) << (8 * sizeof(T) - 1)) : T(0);
    return static_cast<T>(a);
}
#ifdef CU2PORT_PTX_AMD
// AMD's conversions to 32 bits clamp by themselves and make 0 of NaN; C++ has no word for them.
#define CU2PORT_PTX_CLAMPED(T, F_, instruction, nan)                                     \
    CU2PORT_PTX T clamped(F_ a, const T*) {                                              \
        if (__builtin_constant_p(a)) return clamped<T, F_>(a, static_cast<const T*>(0)); \
        T out;                                                                           \
        __asm__(instruction " %0, %1" : "=v"(out) : "v"(a));                             \
        return nan;                                                                      \
    }
CU2PORT_PTX_CLAMPED(s32, float, "v_cvt_i32_f32", out)
CU2PORT_PTX_CLAMPED(u32, float, "v_cvt_u32_f32", out)
CU2PORT_PTX_CLAMPED(s32, double, "v_cvt_i32_f64", a != a ? -0x7fffffff - 1 : out)
CU2PORT_PTX_CLAMPED(u32, double, "v_cvt_u32_f64", a != a ? 0x80000000u : out)
#undef CU2PORT_PTX_CLAMPED
#endif
CU2PORT_PTX float clamped(float a, const float*) { return a; }
CU2PORT_PTX double clamped(double a, const double*) { return a; }
#define CU2PORT_PTX_INTEGRAL(mode, builtin)                                                                         \
    template <class T> CU2PORT_PTX T cvt_##mode(float a) { return clamped(builtin##f(a), static_cast<const T*>(0)); } \
    template <class T> CU2PORT_PTX T cvt_##mode(double a) { return clamped(builtin(a), static_cast<const T*>(0)); }
CU2PORT_PTX_INTEGRAL(rni, __builtin_rint)
// A conversion to an integer cuts off what is behind the point by itself.
template <class T, class F_> CU2PORT_PTX T cut(F_ a, const T* t) { return clamped(a, t); }
CU2PORT_PTX float cut(float a, const float*) { return __builtin_truncf(a); }
CU2PORT_PTX double cut(double a, const double*) { return __builtin_trunc(a); }
template <class T> CU2PORT_PTX T cvt_rzi(float a) { return cut(a, static_cast<const T*>(0)); }
template <class T> CU2PORT_PTX T cvt_rzi(double a) { return cut(a, static_cast<const T*>(0)); }
CU2PORT_PTX_INTEGRAL(rmi, __builtin_floor)
CU2PORT_PTX_INTEGRAL(rpi, __builtin_ceil)
#undef CU2PORT_PTX_INTEGRAL

// Any number as a format's bits.
template <class F_> CU2PORT_PTX u64 number(float a, rounding mode) { return narrow<F_>(a, mode); }
template <class F_> CU2PORT_PTX u64 number(double a, rounding mode) { return narrow<F_>(a, mode); }
template <class F_, class T> CU2PORT_PTX u64 number(T a, rounding mode) {
    const bool negative = a < 0;
    const u64 wide = static_cast<u64>(a);
    return rounded<F_>(negative, negative ? 0 - wide : wide, 0, false, mode);
}
// .satfinite: what is beyond the largest number becomes that; so does NaN where the format has none.
template <class F_> CU2PORT_PTX u64 finite(float a, rounding mode) {
    if (mode == rounding::rn) return narrow_rn<F_>(a, F_::largest);
    const u64 out = narrow<F_>(a, mode);
    return a != a || (out & (F_::sign - 1)) <= F_::largest ? out : (out & F_::sign) | F_::largest;
}
template <class S_> CU2PORT_PTX float number_as(S_ a, rounding mode, const float*) {
    return of_bits(static_cast<u32>(number<f32_format>(a, mode)));
}
CU2PORT_PTX float number_as(double a, rounding mode, const float*) { return narrow_f32(a, mode); }
template <class S_> CU2PORT_PTX double number_as(S_ a, rounding mode, const double*) {
    return of_bits(number<f64_format>(a, mode));
}
#define CU2PORT_PTX_CVT(mode)                                                                                          \
    template <class T, class S_> CU2PORT_PTX T cvt_##mode(S_ a) {                                                      \
        return number_as(a, rounding::mode, static_cast<const T*>(0));                                                 \
    }                                                                                                                  \
    template <class S_> CU2PORT_PTX u16 cvt_##mode##_f16(S_ a) { \
        return static_cast<u16>(number<f16_format>(a, rounding::mode)); \
    } \
    template <class S_> CU2PORT_PTX u16 cvt_##mode##_bf16(S_ a) { \
        return static_cast<u16>(number<bf16_format>(a, rounding::mode)); \
    }
CU2PORT_PTX_CVT(rn)
CU2PORT_PTX_CVT(rz)
CU2PORT_PTX_CVT(rm)
CU2PORT_PTX_CVT(rp)
#undef CU2PORT_PTX_CVT
CU2PORT_PTX u16 cvt_rn_f16(float a) { return f16_rn(a); }
CU2PORT_PTX u16 cvt_rn_bf16(float a) { return bf16_rn(a); }
CU2PORT_PTX u16 cvt_rz_bf16(float a) { return static_cast<u16>(a != a ? 0x7fff : bits_of(a) >> 16); }
#define CU2PORT_PTX_SATFINITE(mode)                                                                                    \
    CU2PORT_PTX u16 cvt_##mode##_satfinite_f16(float a) { \
        return static_cast<u16>(finite<f16_format>(a, rounding::mode)); \
    } \
    CU2PORT_PTX u16 cvt_##mode##_satfinite_bf16(float a) { \
        return static_cast<u16>(finite<bf16_format>(a, rounding::mode)); \
    }
CU2PORT_PTX_SATFINITE(rn)
CU2PORT_PTX_SATFINITE(rz)
#undef CU2PORT_PTX_SATFINITE
// The first operand goes to the upper half.
#define CU2PORT_PTX_PAIR(mode, type) \
    CU2PORT_PTX u32 cvt_##mode##_##type##x2(float a, float b) { \
        return packed(cvt_##mode##_##type(b), cvt_##mode##_##type(a)); \
    }
CU2PORT_PTX_PAIR(rn, f16)
CU2PORT_PTX_PAIR(rz, f16)
CU2PORT_PTX_PAIR(rn, bf16)
CU2PORT_PTX_PAIR(rz, bf16)
CU2PORT_PTX_PAIR(rn_satfinite, f16)
CU2PORT_PTX_PAIR(rz_satfinite, f16)
CU2PORT_PTX_PAIR(rn_satfinite, bf16)
CU2PORT_PTX_PAIR(rz_satfinite, bf16)
#undef CU2PORT_PTX_PAIR
// tf32 is in the upper 19 bits of a register. `half`: what is added to the bits that are cut.
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
template <class F_> CU2PORT_PTX u32 small_f16(u32 bits) {
    const u32 size = bits & static_cast<u32>(F_::sign - 1), sign = bits & static_cast<u32>(F_::sign) ? 0x8000 : 0;
    if (size > F_::largest) return size == F_::infinity && F_::overflow == F_::infinity ? sign | 0x7c00 : 0x7fff;
    if (size >> F_::fraction) return sign | ((size << (10 - F_::fraction)) + ((16 - (1 << (F_::exponent - 1))) << 10));
    return sign | f16_rn(static_cast<float>(size) * of_bits(static_cast<u32>(127 + F_::lowest) << 23));
}
// Two small floats in one word, the first operand above the second. PTX's fp8 are the OCP formats; MI300's are others.
#define CU2PORT_PTX_SMALL(word, type, width)                                                                           \
    CU2PORT_PTX word cvt_rn_satfinite_##type##x2(float a, float b) {                                                   \
        return static_cast<word>(finite<type##_format>(a, rounding::rn) << width | \
            finite<type##_format>(b, rounding::rn)); \
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

// --- approximations --------------------------------------------------------------------------------------------------

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

}  // namespace ptx
}  // namespace cu2port

#endif  // CU2PORT_PTX_HALF_HPP
