// cu2port small_floats: CUDA's 4- and 6-bit floats and its scales of 8 bits (e8m0), on every GPU and with every ROCm.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// HIP has such types since ROCm 7. These give CUDA's bits, without instructions for them: what is too large becomes the
// largest number, as NaN does, which these formats do not have; a scale has no sign, and 0xff is its NaN.
#ifndef CU2PORT_SMALL_FLOATS_HPP
#define CU2PORT_SMALL_FLOATS_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include "fp8.hpp"

namespace cu2port {

enum round_mode { round_nearest, round_zero, round_pos_inf, round_min_inf };
enum fp4_interpretation_t { E2M1 };
enum fp6_interpretation_t { E2M3, E3M2 };
typedef unsigned char fp4_storage_t, fp4x2_storage_t, fp6_storage_t;
typedef unsigned short fp4x4_storage_t, fp6x2_storage_t;
typedef unsigned int fp6x4_storage_t;

namespace small_floats {

// Bits behind the point, bias of the exponent, bits without the sign. Two numbers are `step` bits apart.
struct e2m1 {
    enum { fraction = 1, bias = 1, width = 3, step = 4 };
    typedef fp4_storage_t one;
    typedef fp4x2_storage_t two;
    typedef fp4x4_storage_t four;
};
struct e2m3 {
    enum { fraction = 3, bias = 1, width = 5, step = 8 };
    typedef fp6_storage_t one;
    typedef fp6x2_storage_t two;
    typedef fp6x4_storage_t four;
};
struct e3m2 : e2m3 {
    enum { fraction = 2, bias = 3 };
};

template <class F_> __host__ __device__ inline unsigned int encoded(float value, round_mode mode) {
    const unsigned int bits = fp8_detail::bits_of(value), size = bits & 0x7fffffffu;
    const unsigned int largest = (1u << F_::width) - 1, sign = bits >> 31 << F_::width;
    if (size > 0x7f800000u) return largest;
    const float plain = fp8_detail::float_of(size);
    unsigned int code;
    if (mode == round_nearest) {
        code = fp8_detail::encoded(plain, true, F_::fraction, F_::bias, largest, largest);
    } else {
        const unsigned int exponent = static_cast<unsigned int>(127 - F_::bias) << 23;
        const unsigned int cut = (1u << (23 - F_::fraction)) - 1;
        const float unit = fp8_detail::float_of(static_cast<unsigned int>(126 + F_::bias + F_::fraction) << 23);
        const bool is_small = size < exponent + (1u << 23);
        const float units = is_small ? plain * unit : 0.0f;
        code = is_small ? static_cast<unsigned int>(units) : (size - exponent) >> (23 - F_::fraction);
        const bool inexact = is_small ? units != static_cast<float>(code) : (size & cut) != 0;
        if (inexact && mode == (sign ? round_min_inf : round_pos_inf)) ++code;
    }
    return sign | (code <= largest ? code : largest);
}

template <class F_> __host__ __device__ inline float decoded(unsigned int code) {
    const unsigned int size = code & ((1u << F_::width) - 1), sign = (code >> F_::width & 1u) << 31;
    const float unit = fp8_detail::float_of(static_cast<unsigned int>(128 - F_::bias - F_::fraction) << 23);
    const unsigned int small = fp8_detail::bits_of(static_cast<float>(size) * unit);
    const unsigned int other = (size << (23 - F_::fraction)) + (static_cast<unsigned int>(127 - F_::bias) << 23);
    return fp8_detail::float_of(sign | (size >> F_::fraction == 0 ? small : other));
}

template <class F_> __host__ __device__ inline unsigned int both(float low, float high, round_mode mode) {
    return encoded<F_>(low, mode) | encoded<F_>(high, mode) << F_::step;
}

__host__ __device__ inline float wide(__hip_bfloat16_raw value) {
    return fp8_detail::float_of(static_cast<unsigned int>(value.x) << 16);
}
__host__ __device__ inline float wide(unsigned short bits) {
    return fp8_detail::float_of(static_cast<unsigned int>(bits) << 16);
}
__host__ __device__ inline float low(__half2_raw value) { return __low2float(__half2(value)); }
__host__ __device__ inline float high(__half2_raw value) { return __high2float(__half2(value)); }

// A scale: the exponent of a number, that of the power of two which is not below it (round_pos_inf), or of the nearest,
// in the middle the larger one.
__host__ __device__ inline unsigned char scale(float value, __hip_saturation_t saturate, round_mode mode) {
    const unsigned int size = fp8_detail::bits_of(value) & 0x7fffffffu, rest = size & 0x7fffffu;
    if (size > 0x7f800000u) return 0xff;
    const unsigned int least = mode == round_nearest ? (size < 0x800000u ? 0x600000u : 0x400000u)
                                                     : (size < 0x800000u ? 0x400001u : 1u);
    const bool more = mode != round_zero && size < 0x7f800000u && rest >= least;
    const unsigned int code = (size >> 23) + (more ? 1 : 0);
    return static_cast<unsigned char>(code == 0xff && saturate == __HIP_SATFINITE ? 0xfe : code);
}
__host__ __device__ inline unsigned short scale_as_bfloat16(unsigned int code) {
    return static_cast<unsigned short>(code == 0xff ? 0x7fff : code == 0 ? 0x40 : code << 7);
}

}  // namespace small_floats

// --- functions -------------------------------------------------------------------------------------------------------

#define CU2PORT_SMALL_FLOATS(fp, kind_t, choose)                                                                       \
    __host__ __device__ inline fp##_storage_t cvt_float_to_##fp(float value, kind_t kind, round_mode mode) {           \
        return static_cast<fp##_storage_t>(choose(kind, encoded, (value, mode)));                                      \
    }                                                                                                                  \
    __host__ __device__ inline fp##_storage_t cvt_double_to_##fp(double value, kind_t kind, round_mode mode) {         \
        return cvt_float_to_##fp(fp8_detail::cut(value), kind, mode);                                                  \
    }                                                                                                                  \
    __host__ __device__ inline fp##_storage_t cvt_halfraw_to_##fp(__half_raw value, kind_t kind, round_mode mode) {    \
        return cvt_float_to_##fp(__half2float(__half(value)), kind, mode);                                             \
    }                                                                                                                  \
    __host__ __device__ inline fp##_storage_t cvt_bfloat16raw_to_##fp(                                                 \
        __hip_bfloat16_raw value, kind_t kind, round_mode mode) {                                                      \
        return cvt_float_to_##fp(small_floats::wide(value), kind, mode);                                               \
    }                                                                                                                  \
    __host__ __device__ inline fp##x2_storage_t cvt_float2_to_##fp##x2(float2 value, kind_t kind, round_mode mode) {   \
        return static_cast<fp##x2_storage_t>(choose(kind, both, (value.x, value.y, mode)));                            \
    }                                                                                                                  \
    __host__ __device__ inline fp##x2_storage_t cvt_double2_to_##fp##x2(double2 value, kind_t kind, round_mode mode) { \
        const float x = fp8_detail::cut(value.x), y = fp8_detail::cut(value.y);                                        \
        return cvt_float2_to_##fp##x2(make_float2(x, y), kind, mode);                                                  \
    }                                                                                                                  \
    __host__ __device__ inline fp##x2_storage_t cvt_halfraw2_to_##fp##x2(                                              \
        __half2_raw value, kind_t kind, round_mode mode) {                                                             \
        return cvt_float2_to_##fp##x2(make_float2(small_floats::low(value), small_floats::high(value)), kind, mode);   \
    }                                                                                                                  \
    __host__ __device__ inline fp##x2_storage_t cvt_bfloat16raw2_to_##fp##x2(                                          \
        __hip_bfloat162_raw value, kind_t kind, round_mode mode) {                                                     \
        return cvt_float2_to_##fp##x2(                                                                                 \
            make_float2(small_floats::wide(value.x), small_floats::wide(value.y)), kind, mode);                        \
    }                                                                                                                  \
    __host__ __device__ inline __half_raw cvt_##fp##_to_halfraw(fp##_storage_t code, kind_t kind) {                    \
        return static_cast<__half_raw>(__float2half(choose(kind, decoded, (code))));                                   \
    }                                                                                                                  \
    __host__ __device__ inline __half2_raw cvt_##fp##x2_to_halfraw2(fp##x2_storage_t code, kind_t kind) {              \
        const int step = sizeof(fp##x2_storage_t) * 4;                                                                 \
        const __half low = __float2half(choose(kind, decoded, (code)));                                                \
        return static_cast<__half2_raw>(__halves2half2(low, __float2half(choose(kind, decoded, (code >> step)))));     \
    }                                                                                                                  \
    __host__ __device__ inline __hip_bfloat16_raw cvt_##fp##_to_bf16raw(fp##_storage_t code, kind_t kind) {            \
        return static_cast<__hip_bfloat16_raw>(__float2bfloat16(choose(kind, decoded, (code))));                       \
    }                                                                                                                  \
    __host__ __device__ inline __hip_bfloat162_raw cvt_##fp##x2_to_bf162raw(fp##x2_storage_t code, kind_t kind) {      \
        const int step = sizeof(fp##x2_storage_t) * 4;                                                                 \
        __hip_bfloat162_raw out;                                                                                       \
        out.x = static_cast<__hip_bfloat16_raw>(__float2bfloat16(choose(kind, decoded, (code)))).x;                    \
        out.y = static_cast<__hip_bfloat16_raw>(__float2bfloat16(choose(kind, decoded, (code >> step)))).x;            \
        return out;                                                                                                    \
    }
#define CU2PORT_SMALL_FLOATS_4(kind, function, args) ((void)(kind), small_floats::function<small_floats::e2m1> args)
#define CU2PORT_SMALL_FLOATS_6(kind, function, args) \
    ((kind) == E2M3 ? small_floats::function<small_floats::e2m3> args : small_floats::function<small_floats::e3m2> args)
CU2PORT_SMALL_FLOATS(fp4, fp4_interpretation_t, CU2PORT_SMALL_FLOATS_4)
CU2PORT_SMALL_FLOATS(fp6, fp6_interpretation_t, CU2PORT_SMALL_FLOATS_6)
#undef CU2PORT_SMALL_FLOATS
#undef CU2PORT_SMALL_FLOATS_4
#undef CU2PORT_SMALL_FLOATS_6

#define CU2PORT_SMALL_FLOATS(name, two_name, T, T2, one, low, high)                                                    \
    __host__ __device__ inline __hip_fp8_storage_t name(T value, __hip_saturation_t saturate, round_mode mode) {       \
        return small_floats::scale(one, saturate, mode);                                                               \
    }                                                                                                                  \
    __host__ __device__ inline __hip_fp8x2_storage_t two_name(                                                         \
        T2 value, __hip_saturation_t saturate, round_mode mode) {                                                      \
        return static_cast<__hip_fp8x2_storage_t>(                                                                     \
            small_floats::scale(low, saturate, mode) | small_floats::scale(high, saturate, mode) << 8);                \
    }
CU2PORT_SMALL_FLOATS(cvt_float_to_e8m0, cvt_float2_to_e8m0x2, float, float2, value, value.x, value.y)
CU2PORT_SMALL_FLOATS(cvt_double_to_e8m0, cvt_double2_to_e8m0x2, double, double2, fp8_detail::cut(value),
                     fp8_detail::cut(value.x), fp8_detail::cut(value.y))
CU2PORT_SMALL_FLOATS(cvt_bfloat16raw_to_e8m0, cvt_bfloat162raw_to_e8m0x2, __hip_bfloat16_raw, __hip_bfloat162_raw,
                     small_floats::wide(value), small_floats::wide(value.x), small_floats::wide(value.y))
#undef CU2PORT_SMALL_FLOATS
__host__ __device__ inline __hip_bfloat16_raw cvt_e8m0_to_bf16raw(__hip_fp8_storage_t code) {
    __hip_bfloat16_raw out;
    out.x = small_floats::scale_as_bfloat16(code);
    return out;
}
__host__ __device__ inline __hip_bfloat162_raw cvt_e8m0x2_to_bf162raw(__hip_fp8x2_storage_t code) {
    __hip_bfloat162_raw out;
    out.x = small_floats::scale_as_bfloat16(code & 255);
    out.y = small_floats::scale_as_bfloat16(code >> 8 & 255);
    return out;
}

// --- types -----------------------------------------------------------------------------------------------------------

// One number of a format that `as_float` and `from` define. Conversions to integers stay within their range.
#define CU2PORT_SMALL_FLOATS_INTEGER(type, low, high)                                                                  \
    __host__ __device__ explicit operator type() const {                                                               \
        return fp8_detail::whole<type>(static_cast<float>(*this), low, high);                                          \
    }
#define CU2PORT_SMALL_FLOATS_ONE(name)                                                                                 \
    name() = default;                                                                                                  \
    __host__ __device__ explicit name(float value) : __x(from(value)) {}                                               \
    __host__ __device__ explicit name(double value) : __x(from(fp8_detail::cut(value))) {}                             \
    __host__ __device__ explicit name(__half value) : __x(from(__half2float(value))) {}                                \
    __host__ __device__ explicit name(__hip_bfloat16 value) : __x(from(__bfloat162float(value))) {}                    \
    __host__ __device__ explicit name(short value) : name(static_cast<float>(value)) {}                                \
    __host__ __device__ explicit name(unsigned short value) : name(static_cast<float>(value)) {}                       \
    __host__ __device__ explicit name(int value) : name(static_cast<double>(value)) {}                                 \
    __host__ __device__ explicit name(unsigned int value) : name(static_cast<double>(value)) {}                        \
    __host__ __device__ explicit name(long value) : __x(from(of_whole(value < 0, value))) {}                           \
    __host__ __device__ explicit name(unsigned long value) : __x(from(of_whole(false, value))) {}                      \
    __host__ __device__ explicit name(long long value) : __x(from(of_whole(value < 0, value))) {}                      \
    __host__ __device__ explicit name(unsigned long long value) : __x(from(of_whole(false, value))) {}                 \
    __host__ __device__ explicit operator float() const { return as_float(__x); }                                      \
    __host__ __device__ explicit operator double() const { return as_float(__x); }                                     \
    __host__ __device__ explicit operator __half() const { return __float2half(as_float(__x)); }                       \
    __host__ __device__ explicit operator __hip_bfloat16() const { return __float2bfloat16(as_float(__x)); }           \
    CU2PORT_SMALL_FLOATS_INTEGER(char, char(-128) < 0 ? char(-128) : 0, char(-128) < 0 ? 127 : char(255))              \
    CU2PORT_SMALL_FLOATS_INTEGER(signed char, -128, 127)                                                               \
    CU2PORT_SMALL_FLOATS_INTEGER(unsigned char, 0, 255)                                                                \
    CU2PORT_SMALL_FLOATS_INTEGER(short, -32768, 32767)                                                                 \
    CU2PORT_SMALL_FLOATS_INTEGER(unsigned short, 0, 65535)                                                             \
    CU2PORT_SMALL_FLOATS_INTEGER(int, -2147483647 - 1, 2147483647)                                                     \
    CU2PORT_SMALL_FLOATS_INTEGER(unsigned int, 0, 4294967295u)                                                         \
    CU2PORT_SMALL_FLOATS_INTEGER(long, -__LONG_MAX__ - 1, __LONG_MAX__)                                                \
    CU2PORT_SMALL_FLOATS_INTEGER(unsigned long, 0, ~0ul)                                                               \
    CU2PORT_SMALL_FLOATS_INTEGER(long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)                                 \
    CU2PORT_SMALL_FLOATS_INTEGER(unsigned long long, 0, ~0ull)                                                         \
                                                                                                                       \
private:                                                                                                               \
    /* A float that rounds as the integer does. */                                                                     \
    __host__ __device__ static float of_whole(bool negative, unsigned long long value) {                               \
        const unsigned long long size = negative ? 0 - value : value, kept = size >> 32 ? size >> 32 << 32 : size;     \
        const float out = fp8_detail::cut(static_cast<double>(kept) + (kept != size ? 1.0 : 0.0));                     \
        return negative ? -out : out;                                                                                  \
    }

template <class F_> struct one_small_float {
    typename F_::one __x;
    __host__ __device__ explicit operator bool() const { return (__x & ((1 << F_::width) - 1)) != 0; }
    CU2PORT_SMALL_FLOATS_ONE(one_small_float)
    __host__ __device__ static typename F_::one from(float value) {
        return static_cast<typename F_::one>(small_floats::encoded<F_>(value, round_nearest));
    }
    __host__ __device__ static float as_float(unsigned int code) { return small_floats::decoded<F_>(code); }
};

struct fp8_e8m0 {
    __hip_fp8_storage_t __x;
    __host__ __device__ explicit operator bool() const { return true; }
    CU2PORT_SMALL_FLOATS_ONE(fp8_e8m0)
    __host__ __device__ static __hip_fp8_storage_t from(float value) {
        return small_floats::scale(value, __HIP_SATFINITE, round_pos_inf);
    }
    __host__ __device__ static float as_float(unsigned int code) {
        return small_floats::wide(small_floats::scale_as_bfloat16(code));
    }
};
#undef CU2PORT_SMALL_FLOATS_INTEGER
#undef CU2PORT_SMALL_FLOATS_ONE

// Two and four numbers, the first in the low bits.
template <class One_, class Two_, int step> struct two_small_floats {
    Two_ __x;
    two_small_floats() = default;
    __host__ __device__ explicit two_small_floats(float2 value) : two_small_floats(One_(value.x), One_(value.y)) {}
    __host__ __device__ explicit two_small_floats(double2 value) : two_small_floats(One_(value.x), One_(value.y)) {}
    __host__ __device__ explicit two_small_floats(__half2 value)
        : two_small_floats(One_(__low2float(value)), One_(__high2float(value))) {}
    __host__ __device__ explicit two_small_floats(__hip_bfloat162 value)
        : two_small_floats(One_(__low2float(value)), One_(__high2float(value))) {}
    __host__ __device__ explicit operator float2() const { return make_float2(number(0), number(1)); }
    __host__ __device__ explicit operator __half2() const { return __floats2half2_rn(number(0), number(1)); }
    __host__ __device__ explicit operator __hip_bfloat162() const {
        return __halves2bfloat162(__float2bfloat16(number(0)), __float2bfloat16(number(1)));
    }

private:
    __host__ __device__ two_small_floats(One_ low, One_ high) : __x(static_cast<Two_>(low.__x | high.__x << step)) {}
    __host__ __device__ float number(int i) const {
        One_ one;
        one.__x = static_cast<unsigned char>(__x >> (i * step));
        return static_cast<float>(one);
    }
};

template <class One_, class Four_, int step> struct four_small_floats {
    Four_ __x;
    four_small_floats() = default;
    __host__ __device__ explicit four_small_floats(float4 value)
        : __x(packed(One_(value.x), One_(value.y), One_(value.z), One_(value.w))) {}
    __host__ __device__ explicit four_small_floats(double4 value)
        : __x(packed(One_(value.x), One_(value.y), One_(value.z), One_(value.w))) {}
    __host__ __device__ explicit four_small_floats(__half2 low, __half2 high)
        : four_small_floats(make_float4(__low2float(low), __high2float(low), __low2float(high), __high2float(high))) {}
    __host__ __device__ explicit four_small_floats(__hip_bfloat162 low, __hip_bfloat162 high)
        : four_small_floats(make_float4(__low2float(low), __high2float(low), __low2float(high), __high2float(high))) {}
    __host__ __device__ explicit operator float4() const {
        return make_float4(number(0), number(1), number(2), number(3));
    }

private:
    __host__ __device__ static Four_ packed(One_ a, One_ b, One_ c, One_ d) {
        return static_cast<Four_>(a.__x | static_cast<unsigned int>(b.__x) << step |
                                  static_cast<unsigned int>(c.__x) << 2 * step |
                                  static_cast<unsigned int>(d.__x) << 3 * step);
    }
    __host__ __device__ float number(int i) const {
        One_ one;
        one.__x = static_cast<unsigned char>(__x >> (i * step));
        return static_cast<float>(one);
    }
};

#define CU2PORT_SMALL_FLOATS(fp, kind)                                                               \
    typedef one_small_float<small_floats::kind> fp##_##kind;                                          \
    typedef two_small_floats<fp##_##kind, fp##x2_storage_t, small_floats::kind::step> fp##x2_##kind;  \
    typedef four_small_floats<fp##_##kind, fp##x4_storage_t, small_floats::kind::step> fp##x4_##kind;
CU2PORT_SMALL_FLOATS(fp4, e2m1)
CU2PORT_SMALL_FLOATS(fp6, e2m3)
CU2PORT_SMALL_FLOATS(fp6, e3m2)
#undef CU2PORT_SMALL_FLOATS
typedef two_small_floats<fp8_e8m0, __hip_fp8x2_storage_t, 8> fp8x2_e8m0;
typedef four_small_floats<fp8_e8m0, __hip_fp8x4_storage_t, 8> fp8x4_e8m0;

}  // namespace cu2port

}  // extern "C++"
#endif
#endif  // CU2PORT_SMALL_FLOATS_HPP
