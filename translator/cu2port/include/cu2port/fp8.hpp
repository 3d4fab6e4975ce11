// cu2port fp8: CUDA's 8-bit floats, which are those of the Open Compute Project, on every GPU.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// HIP's `__hip_fp8_e4m3` has no functions for the device on gfx942, whose instructions are for other formats; its
// conversions give bits of those there, and where GPUs have instructions, a pair is not saturated. These types and
// functions give CUDA's bits, without such instructions. A NaN becomes 0x7f.
#ifndef CU2PORT_FP8_HPP
#define CU2PORT_FP8_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes them by itself
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#endif

namespace cu2port {
namespace fp8_detail {

__host__ __device__ inline unsigned int bits_of(float value) {
    unsigned int bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
__host__ __device__ inline float float_of(unsigned int bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// To the nearest number, ties to even. `fraction`: bits behind the point; `bias`: of the exponent; `largest`: the bits
// of the largest number; `over`: those of what is larger, without saturation.
__host__ __device__ inline unsigned int encoded(
    float value, bool saturated, int fraction, int bias, unsigned int largest, unsigned int over) {
    const unsigned int bits = bits_of(value), sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
    const int drop = 23 - fraction;
    if (size > 0x7f800000u) return 0x7fu;
    unsigned int code;
    if (size >= static_cast<unsigned int>(128 - bias) << 23) {
        code = size - (static_cast<unsigned int>(127 - bias) << 23);
        code = (code + (1u << (drop - 1)) - 1 + (code >> drop & 1u)) >> drop;
    } else {  // in units of the smallest number: an addition rounds it
        const float unit = float_of(static_cast<unsigned int>(128 - bias + drop) << 23);
        code = bits_of(float_of(size) + unit) - bits_of(unit);
    }
    return sign | (code <= largest ? code : saturated ? largest : over);
}

__host__ __device__ inline unsigned char encoded(
    float value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    const bool saturated = saturate == __HIP_SATFINITE;
    return static_cast<unsigned char>(
        kind == __HIP_E4M3 ? encoded(value, saturated, 3, 7, 0x7e, 0x7f)
                           : encoded(value, saturated, 2, 15, 0x7b, 0x7c));
}

// A float that rounds as the number does: its last bit says that something was cut off.
__host__ __device__ inline float cut(double value) {
    const float near = static_cast<float>(value);
    unsigned int bits = bits_of(near);
    if (static_cast<double>(near) == value || near != near) return near;
    bits -= (near < 0 ? -static_cast<double>(near) : static_cast<double>(near)) > (value < 0 ? -value : value);
    return float_of(bits | 1u);
}

__host__ __device__ inline float decoded(unsigned int code, __hip_fp8_interpretation_t kind) {
    const int fraction = kind == __HIP_E4M3 ? 3 : 2, bias = kind == __HIP_E4M3 ? 7 : 15;
    const unsigned int size = code & 0x7fu, sign = (code & 0x80u) << 24;
    if (kind == __HIP_E4M3 ? size == 0x7fu : size > 0x7cu) return float_of(0x7fffffffu);
    if (kind != __HIP_E4M3 && size == 0x7cu) return float_of(sign | 0x7f800000u);
    if (size >> fraction == 0) {
        const float unit = float_of(static_cast<unsigned int>(128 - bias - fraction) << 23);
        return float_of(sign | bits_of(static_cast<float>(size) * unit));
    }
    return float_of(sign | ((size << (23 - fraction)) + (static_cast<unsigned int>(127 - bias) << 23)));
}

template <class Integer>
__host__ __device__ inline Integer whole(float value, Integer low, Integer high) {
    if (value != value) return sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : 0;  // as PTX's cvt
    if (value >= static_cast<float>(high)) return high;
    return value <= static_cast<float>(low) ? low : static_cast<Integer>(value);
}

}  // namespace fp8_detail

__host__ __device__ inline __hip_fp8_storage_t cvt_float_to_fp8(
    float value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return fp8_detail::encoded(value, saturate, kind);
}
__host__ __device__ inline __hip_fp8_storage_t cvt_double_to_fp8(
    double value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return fp8_detail::encoded(fp8_detail::cut(value), saturate, kind);
}
__host__ __device__ inline __hip_fp8_storage_t cvt_halfraw_to_fp8(
    __half_raw value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return fp8_detail::encoded(__half2float(__half(value)), saturate, kind);
}
__host__ __device__ inline __hip_fp8_storage_t cvt_bfloat16raw_to_fp8(
    __hip_bfloat16_raw value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return fp8_detail::encoded(fp8_detail::float_of(static_cast<unsigned int>(value.x) << 16), saturate, kind);
}
__host__ __device__ inline __hip_fp8x2_storage_t cvt_float2_to_fp8x2(
    float2 value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return static_cast<__hip_fp8x2_storage_t>(
        cvt_float_to_fp8(value.x, saturate, kind) | cvt_float_to_fp8(value.y, saturate, kind) << 8);
}
__host__ __device__ inline __hip_fp8x2_storage_t cvt_double2_to_fp8x2(
    double2 value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    return cvt_float2_to_fp8x2(make_float2(fp8_detail::cut(value.x), fp8_detail::cut(value.y)), saturate, kind);
}
__host__ __device__ inline __hip_fp8x2_storage_t cvt_halfraw2_to_fp8x2(
    __half2_raw value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    const __half2 both(value);
    return cvt_float2_to_fp8x2(make_float2(__low2float(both), __high2float(both)), saturate, kind);
}
__host__ __device__ inline __hip_fp8x2_storage_t cvt_bfloat16raw2_to_fp8x2(
    __hip_bfloat162_raw value, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
    const float low = fp8_detail::float_of(static_cast<unsigned int>(value.x) << 16);
    const float high = fp8_detail::float_of(static_cast<unsigned int>(value.y) << 16);
    return cvt_float2_to_fp8x2(make_float2(low, high), saturate, kind);
}
__host__ __device__ inline __half_raw cvt_fp8_to_halfraw(__hip_fp8_storage_t code, __hip_fp8_interpretation_t kind) {
    const float value = fp8_detail::decoded(code, kind);
    __half_raw bits = static_cast<__half_raw>(__float2half(value));
    if (value != value) bits.x = 0x7fff;
    return bits;
}
__host__ __device__ inline __half2_raw cvt_fp8x2_to_halfraw2(
    __hip_fp8x2_storage_t code, __hip_fp8_interpretation_t kind) {
    const __half low(cvt_fp8_to_halfraw(static_cast<__hip_fp8_storage_t>(code & 255), kind));
    const __half high(cvt_fp8_to_halfraw(static_cast<__hip_fp8_storage_t>(code >> 8), kind));
    return static_cast<__half2_raw>(__halves2half2(low, high));
}

__host__ __device__ inline __hip_bfloat16_raw cvt_fp8_to_bf16raw(
    __hip_fp8_storage_t code, __hip_fp8_interpretation_t kind) {
    __hip_bfloat16_raw out;
    out.x = static_cast<unsigned short>(fp8_detail::bits_of(fp8_detail::decoded(code, kind)) >> 16);
    return out;
}
__host__ __device__ inline __hip_bfloat162_raw cvt_fp8x2_to_bf162raw(
    __hip_fp8x2_storage_t code, __hip_fp8_interpretation_t kind) {
    __hip_bfloat162_raw out;
    out.x = cvt_fp8_to_bf16raw(static_cast<__hip_fp8_storage_t>(code & 255), kind).x;
    out.y = cvt_fp8_to_bf16raw(static_cast<__hip_fp8_storage_t>(code >> 8), kind).x;
    return out;
}

// One, two and four numbers of a format. Constructors saturate, and conversions to integers too.
#define CU2PORT_FP8_INTEGER(type, low, high)                                                                         \
    __host__ __device__ explicit operator type() const {                                                             \
        return fp8_detail::whole<type>(static_cast<float>(*this), low, high);                                        \
    }
#define CU2PORT_FP8_FROM(type)                                                                                       \
    __host__ __device__ explicit one_of_fp8(type value) : one_of_fp8(static_cast<float>(value)) {}
template <__hip_fp8_interpretation_t kind>
struct one_of_fp8 {
    __hip_fp8_storage_t __x;
    one_of_fp8() = default;
    __host__ __device__ explicit one_of_fp8(float value) : __x(cvt_float_to_fp8(value, __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit one_of_fp8(double value) : __x(cvt_double_to_fp8(value, __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit one_of_fp8(__half value) : one_of_fp8(__half2float(value)) {}
    __host__ __device__ explicit one_of_fp8(__hip_bfloat16 value) : one_of_fp8(__bfloat162float(value)) {}
    CU2PORT_FP8_FROM(short)
    CU2PORT_FP8_FROM(unsigned short)
    CU2PORT_FP8_FROM(int)
    CU2PORT_FP8_FROM(unsigned int)
    CU2PORT_FP8_FROM(long)
    CU2PORT_FP8_FROM(unsigned long)
    CU2PORT_FP8_FROM(long long)
    CU2PORT_FP8_FROM(unsigned long long)
    __host__ __device__ explicit operator float() const { return fp8_detail::decoded(__x, kind); }
    __host__ __device__ explicit operator double() const { return fp8_detail::decoded(__x, kind); }
    __host__ __device__ explicit operator __half() const { return __half(cvt_fp8_to_halfraw(__x, kind)); }
    __host__ __device__ explicit operator __hip_bfloat16() const {
        return __float2bfloat16(fp8_detail::decoded(__x, kind));
    }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }
    CU2PORT_FP8_INTEGER(char, char(-128) < 0 ? char(-128) : 0, char(-128) < 0 ? 127 : char(255))
    CU2PORT_FP8_INTEGER(signed char, -128, 127)
    CU2PORT_FP8_INTEGER(unsigned char, 0, 255)
    CU2PORT_FP8_INTEGER(short, -32768, 32767)
    CU2PORT_FP8_INTEGER(unsigned short, 0, 65535)
    CU2PORT_FP8_INTEGER(int, -2147483647 - 1, 2147483647)
    CU2PORT_FP8_INTEGER(unsigned int, 0, 4294967295u)
    CU2PORT_FP8_INTEGER(long, -__LONG_MAX__ - 1, __LONG_MAX__)
    CU2PORT_FP8_INTEGER(unsigned long, 0, ~0ul)
    CU2PORT_FP8_INTEGER(long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
    CU2PORT_FP8_INTEGER(unsigned long long, 0, ~0ull)
};
#undef CU2PORT_FP8_INTEGER
#undef CU2PORT_FP8_FROM

template <__hip_fp8_interpretation_t kind>
struct alignas(2) two_of_fp8 {
    __hip_fp8x2_storage_t __x;
    two_of_fp8() = default;
    __host__ __device__ explicit two_of_fp8(float2 value) : __x(cvt_float2_to_fp8x2(value, __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit two_of_fp8(double2 value) : __x(cvt_double2_to_fp8x2(value, __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit two_of_fp8(__half2 value)
        : __x(cvt_float2_to_fp8x2(make_float2(__low2float(value), __high2float(value)), __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit two_of_fp8(__hip_bfloat162 value)
        : __x(cvt_bfloat16raw2_to_fp8x2(static_cast<__hip_bfloat162_raw>(value), __HIP_SATFINITE, kind)) {}
    __host__ __device__ explicit operator float2() const {
        return make_float2(fp8_detail::decoded(__x & 255, kind), fp8_detail::decoded(__x >> 8, kind));
    }
    __host__ __device__ explicit operator __half2() const { return __half2(cvt_fp8x2_to_halfraw2(__x, kind)); }
};

template <__hip_fp8_interpretation_t kind>
struct alignas(4) four_of_fp8 {
    __hip_fp8x4_storage_t __x;
    four_of_fp8() = default;
    __host__ __device__ explicit four_of_fp8(float4 value)
        : four_of_fp8(two(make_float2(value.x, value.y)), two(make_float2(value.z, value.w))) {}
    __host__ __device__ explicit four_of_fp8(double4 value)
        : four_of_fp8(two(make_double2(value.x, value.y)), two(make_double2(value.z, value.w))) {}
    __host__ __device__ explicit four_of_fp8(__half2 low, __half2 high) : four_of_fp8(two(low), two(high)) {}
    __host__ __device__ explicit four_of_fp8(__hip_bfloat162 low, __hip_bfloat162 high)
        : four_of_fp8(two(low), two(high)) {}
    __host__ __device__ explicit operator float4() const {
        return make_float4(fp8_detail::decoded(__x & 255, kind), fp8_detail::decoded(__x >> 8 & 255, kind),
                           fp8_detail::decoded(__x >> 16 & 255, kind), fp8_detail::decoded(__x >> 24, kind));
    }

private:
    typedef two_of_fp8<kind> two;
    __host__ __device__ four_of_fp8(two low, two high)
        : __x(low.__x | static_cast<__hip_fp8x4_storage_t>(high.__x) << 16) {}
};

typedef one_of_fp8<__HIP_E4M3> fp8_e4m3;
typedef one_of_fp8<__HIP_E5M2> fp8_e5m2;
typedef two_of_fp8<__HIP_E4M3> fp8x2_e4m3;
typedef two_of_fp8<__HIP_E5M2> fp8x2_e5m2;
typedef four_of_fp8<__HIP_E4M3> fp8x4_e4m3;
typedef four_of_fp8<__HIP_E5M2> fp8x4_e5m2;

}  // namespace cu2port

}  // extern "C++"
#endif
#endif
