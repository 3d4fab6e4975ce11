// cu2port half: functions of CUDA's cuda_fp16.h and cuda_bf16.h that HIP has not, or for one type, or otherwise.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::hmax2` is CUDA's `__hmax2`, `cu2port::htanh_approx` is `htanh_approx`, and so on, for half and bfloat16.
// What HIP has is called, but for its conversions between half and integers, which know one rounding each; its fma of
// bfloat16 rounds twice. A NaN that comes out may have other bits. Errors: htanh that of HIP's tanhf, rounded;
// htanh_approx 2^-11.9 for half and 2^-8.9 for bfloat16 (PTX grants 2^-10.987 and 2^-8).
#ifndef CU2PORT_HALF_HPP
#define CU2PORT_HALF_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes them by itself
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#endif

namespace cu2port {
namespace half_functions {

__host__ __device__ inline float wide(__half a) { return __half2float(a); }
__host__ __device__ inline float wide(__hip_bfloat16 a) { return __bfloat162float(a); }
__host__ __device__ inline __half low(__half2 a) { return __low2half(a); }
__host__ __device__ inline __half high(__half2 a) { return __high2half(a); }
__host__ __device__ inline __hip_bfloat16 low(__hip_bfloat162 a) { return __low2bfloat16(a); }
__host__ __device__ inline __hip_bfloat16 high(__hip_bfloat162 a) { return __high2bfloat16(a); }
__host__ __device__ inline __half2 pair(__half a, __half b) { return __halves2half2(a, b); }
__host__ __device__ inline __hip_bfloat162 pair(__hip_bfloat16 a, __hip_bfloat16 b) { return __halves2bfloat162(a, b); }

__device__ inline float tanh_approx(float a) {
    const float size = a < 0 ? -a : a;
    if (size < 0.125f) return a * (1 - a * a * 0.333333333f);  // the difference below would cancel
    const float ratio = 1 - 2 / (exp2f(size * 2.88539008f) + 1);
    return a < 0 ? -ratio : ratio;
}

enum class Round { nearest, zero, down, up };

// What is added to a number whose last `drop` bits are cut off: 1 <= drop < 64.
__host__ __device__ inline unsigned int carry(unsigned long long all, int drop, bool negative, Round mode) {
    const unsigned long long rest = all & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    if (mode == Round::nearest) return rest > half || (rest == half && (all >> drop & 1));
    return rest != 0 && ((mode == Round::up && !negative) || (mode == Round::down && negative));
}

__host__ __device__ inline __hip_bfloat16 bfloat16_of(float a, Round mode) {
    unsigned int bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return __ushort_as_bfloat16(0x7fff);
    return __ushort_as_bfloat16(static_cast<unsigned short>((bits >> 16) + carry(bits, 16, bits >> 31, mode)));
}

// Of whole numbers, rounded once.
__host__ __device__ inline __hip_bfloat16 bfloat16_of(bool negative, unsigned long long size, Round mode) {
    unsigned int bits = 0;
    if (size != 0) {
        const int drop = 56 - __builtin_clzll(size);  // eight bits are kept, of which the first adds to the exponent
        bits = static_cast<unsigned int>(drop > 0 ? size >> drop : size << -drop);
        if (drop > 0) bits += carry(size, drop, negative, mode);
        bits += static_cast<unsigned int>(133 + drop) << 7;
    }
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits | (negative ? 0x8000u : 0u)));
}
template <class I_> __host__ __device__ inline __hip_bfloat16 bfloat16_of_whole(I_ a, Round mode) {
    const unsigned long long word = static_cast<unsigned long long>(a);
    return bfloat16_of(a < 0, a < 0 ? 0 - word : word, mode);
}


// A number of size * 2^exponent as half, where size has at most 24 bits or exponent is 0.
__host__ __device__ inline __half half_of(bool negative, unsigned long long size, int exponent, Round mode) {
    unsigned int bits = 0;
    if (size != 0) {
        const int first = 63 - __builtin_clzll(size) + exponent;  // 2^first is its first bit
        const int last = first < -14 ? -24 : first - 10;          // 2^last the last that a half keeps
        const int drop = last - exponent < 63 ? last - exponent : 63;
        bits = static_cast<unsigned int>(drop > 0 ? size >> drop : size << -drop);
        if (drop > 0) bits += carry(size, drop, negative, mode);
        bits += static_cast<unsigned int>(last + 24) << 10;
        const bool away = mode == Round::nearest || mode == (negative ? Round::down : Round::up);
        if (bits >= 0x7c00u) bits = away ? 0x7c00u : 0x7bffu;
    }
    const unsigned short word = static_cast<unsigned short>(bits | (negative ? 0x8000u : 0u));
    __half out;
    __builtin_memcpy(&out, &word, sizeof out);
    return out;
}
__host__ __device__ inline __half half_of(float a, Round mode) {
    unsigned int bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    const unsigned int size = bits & 0x7fffffffu, field = size >> 23;
    if (size >= 0x7f800000u) return __float2half(a);
    return half_of(bits >> 31, (size & 0x7fffffu) | (field ? 0x800000u : 0u), (field ? int(field) : 1) - 150, mode);
}
template <class I_> __host__ __device__ inline __half half_of_whole(I_ a, Round mode) {
    const unsigned long long word = static_cast<unsigned long long>(a);
    return half_of(a < 0, a < 0 ? 0 - word : word, 0, mode);
}

// Of a number without a fraction: one that a type does not hold becomes that type's nearest, NaN what PTX's cvt gives.
template <class I_> __host__ __device__ inline I_ whole(float a) {
    constexpr bool has_sign = static_cast<I_>(-1) < static_cast<I_>(1);
    constexpr int bits = 8 * sizeof(I_) - (has_sign ? 1 : 0);
    constexpr I_ most = static_cast<I_>(~0ull >> (64 - bits)), least = static_cast<I_>(-most - 1);
    constexpr float end = 2.0f * static_cast<float>(1ull << (bits - 1));
    const bool above = a >= end, below = a <= (has_sign ? -end : 0.0f), is_nan = a != a;
    const I_ held = static_cast<I_>(above || below || is_nan ? 0.0f : a);
    const I_ low = is_nan ? static_cast<I_>(sizeof(I_) == 8 ? 1ull << 63 : 0) : has_sign ? least : static_cast<I_>(0);
    return above ? most : below || is_nan ? low : held;
}

}  // namespace half_functions

// --- to and from other numbers ---------------------------------------------------------------------------------------

#define CU2PORT_HALF_WHOLE(name, I_, mode, round)                                                       \
    __host__ __device__ inline I_ half2##name##_##mode(__half a) {                                      \
        return half_functions::whole<I_>(round(half_functions::wide(a)));                               \
    }                                                                                                   \
    __host__ __device__ inline I_ bfloat162##name##_##mode(__hip_bfloat16 a) {                          \
        return half_functions::whole<I_>(round(half_functions::wide(a)));                               \
    }
#define CU2PORT_HALF_WHOLES(name, I_)                                                                   \
    CU2PORT_HALF_WHOLE(name, I_, rn, __builtin_rintf)                                                   \
    CU2PORT_HALF_WHOLE(name, I_, rz, __builtin_truncf)                                                  \
    CU2PORT_HALF_WHOLE(name, I_, rd, __builtin_floorf)                                                  \
    CU2PORT_HALF_WHOLE(name, I_, ru, __builtin_ceilf)
CU2PORT_HALF_WHOLES(int, int)
CU2PORT_HALF_WHOLES(uint, unsigned int)
CU2PORT_HALF_WHOLES(short, short)
CU2PORT_HALF_WHOLES(ushort, unsigned short)
CU2PORT_HALF_WHOLES(ll, long long)
CU2PORT_HALF_WHOLES(ull, unsigned long long)
CU2PORT_HALF_WHOLE(char, signed char, rz, __builtin_truncf)
CU2PORT_HALF_WHOLE(uchar, unsigned char, rz, __builtin_truncf)
#undef CU2PORT_HALF_WHOLE
#undef CU2PORT_HALF_WHOLES

// On the GPU, HIP's functions of floats round as their names say; on the host they round to nearest. What two of them
// round in one direction is rounded once.
#ifdef __HIP_DEVICE_COMPILE__
#define CU2PORT_HALF_OF(a, name, mode) __float2half_##name(a)
#define CU2PORT_HALF_OF_WHOLE(a, wide, name, mode) __float2half_##name(__##wide##2float_##name(a))
#else
#define CU2PORT_HALF_OF(a, name, mode) half_functions::half_of(a, half_functions::Round::mode)
#define CU2PORT_HALF_OF_WHOLE(a, wide, name, mode) half_functions::half_of_whole(a, half_functions::Round::mode)
#endif
#define CU2PORT_HALF_TO(name, mode)                                                                                    \
    __host__ __device__ inline __half float2half_##name(float a) { return CU2PORT_HALF_OF(a, name, mode); }            \
    CU2PORT_HALF_TO_FROM(int, int, int, name, mode)                                                                    \
    CU2PORT_HALF_TO_FROM(uint, unsigned int, uint, name, mode)                                                         \
    CU2PORT_HALF_TO_FROM(short, short, int, name, mode)                                                                \
    CU2PORT_HALF_TO_FROM(ushort, unsigned short, uint, name, mode)                                                     \
    CU2PORT_HALF_TO_FROM(ll, long long, ll, name, mode)                                                                \
    CU2PORT_HALF_TO_FROM(ull, unsigned long long, ull, name, mode)
#define CU2PORT_HALF_TO_FROM(from, I_, wide, name, mode)                                                               \
    __host__ __device__ inline __half from##2half_##name(I_ a) { return CU2PORT_HALF_OF_WHOLE(a, wide, name, mode); }
CU2PORT_HALF_TO(rz, zero)
CU2PORT_HALF_TO(rd, down)
CU2PORT_HALF_TO(ru, up)
#undef CU2PORT_HALF_OF
#undef CU2PORT_HALF_OF_WHOLE
#undef CU2PORT_HALF_TO
#undef CU2PORT_HALF_TO_FROM

#define CU2PORT_HALF_TO(name, mode)                                                                     \
    __host__ __device__ inline __hip_bfloat16 float2bfloat16_##name(float a) {                          \
        return half_functions::bfloat16_of(a, half_functions::Round::mode);                             \
    }                                                                                                   \
    CU2PORT_HALF_TO_FROM(int, int, name, mode)                                                          \
    CU2PORT_HALF_TO_FROM(uint, unsigned int, name, mode)                                                \
    CU2PORT_HALF_TO_FROM(short, short, name, mode)                                                      \
    CU2PORT_HALF_TO_FROM(ushort, unsigned short, name, mode)                                            \
    CU2PORT_HALF_TO_FROM(ll, long long, name, mode)                                                     \
    CU2PORT_HALF_TO_FROM(ull, unsigned long long, name, mode)
#define CU2PORT_HALF_TO_FROM(from, I_, name, mode)                                                      \
    __host__ __device__ inline __hip_bfloat16 from##2bfloat16_##name(I_ a) {                            \
        return half_functions::bfloat16_of_whole(a, half_functions::Round::mode);                       \
    }
CU2PORT_HALF_TO(rn, nearest)
CU2PORT_HALF_TO(rz, zero)
CU2PORT_HALF_TO(rd, down)
CU2PORT_HALF_TO(ru, up)
#undef CU2PORT_HALF_TO
#undef CU2PORT_HALF_TO_FROM

// --- of one number and of pairs --------------------------------------------------------------------------------------

// HIP's functions for bfloat16 serve the host too, those for half do not.
#define CU2PORT_HALF_TYPES(macro, ...)                                   \
    macro(__device__, __half, __half2, __VA_ARGS__)                      \
    macro(__host__ __device__, __hip_bfloat16, __hip_bfloat162, __VA_ARGS__)
#define CU2PORT_HALF_TYPES_OF_DEVICE(macro, ...)                         \
    macro(__device__, __half, __half2, __VA_ARGS__)                      \
    macro(__device__, __hip_bfloat16, __hip_bfloat162, __VA_ARGS__)

#define CU2PORT_HALF_1(side, T, T2, one, two, ...)                       \
    side inline T one(T a) { return __VA_ARGS__; }                       \
    side inline T2 two(T2 a) {                                           \
        const T low = cu2port::one(half_functions::low(a));              \
        return half_functions::pair(low, cu2port::one(half_functions::high(a))); \
    }
#define CU2PORT_HALF_2(side, T, T2, one, two, ...)                       \
    side inline T one(T a, T b) { return __VA_ARGS__; }                  \
    CU2PORT_HALF_2_PAIR(side, T, T2, two, cu2port::one)
#define CU2PORT_HALF_2_PAIR(side, T, T2, two, one)                       \
    side inline T2 two(T2 a, T2 b) {                                     \
        const T low = one(half_functions::low(a), half_functions::low(b)); \
        return half_functions::pair(low, one(half_functions::high(a), half_functions::high(b))); \
    }
#define CU2PORT_HALF_3(side, T, T2, one, two, ...)                       \
    side inline T one(T a, T b, T c) { return __VA_ARGS__; }             \
    side inline T2 two(T2 a, T2 b, T2 c) {                               \
        const T low = cu2port::one(half_functions::low(a), half_functions::low(b), half_functions::low(c)); \
        return half_functions::pair(                                     \
            low, cu2port::one(half_functions::high(a), half_functions::high(b), half_functions::high(c))); \
    }

#define CU2PORT_HALF_CLAMPS(side, T, T2, narrow)                         \
    side inline T saturated(T a) {                                       \
        return wide(a) > 0 ? (wide(a) < 1 ? a : narrow(1.0f)) : narrow(0.0f); \
    }                                                                    \
    side inline T not_negative(T a) { return wide(a) <= 0 ? narrow(0.0f) : a; }
namespace half_functions {
CU2PORT_HALF_CLAMPS(__host__ __device__, __half, __half2, __float2half)
CU2PORT_HALF_CLAMPS(__host__ __device__, __hip_bfloat16, __hip_bfloat162, __float2bfloat16)
__host__ __device__ inline __half narrow(float a, __half) { return __float2half(a); }
__host__ __device__ inline __hip_bfloat16 narrow(float a, __hip_bfloat16) { return __float2bfloat16(a); }
}  // namespace half_functions
#undef CU2PORT_HALF_CLAMPS

// Never made part of an fma.
namespace half_functions {
#ifdef __AMDGCN__
#define CU2PORT_HALF_ALONE(name, plain, op)                                                              \
    __device__ inline __half name(__half a, __half b) {                                                  \
        _Pragma("clang fp contract(off)") return __half_raw{static_cast<__half_raw>(a).data op           \
                                                            static_cast<__half_raw>(b).data};            \
    }
#else
#define CU2PORT_HALF_ALONE(name, plain, op)                                                              \
    __device__ inline __half name(__half a, __half b) { return plain(a, b); }
#endif
CU2PORT_HALF_ALONE(add, __hadd, +)
CU2PORT_HALF_ALONE(sub, __hsub, -)
CU2PORT_HALF_ALONE(mul, __hmul, *)
#undef CU2PORT_HALF_ALONE
__device__ inline __hip_bfloat16 add(__hip_bfloat16 a, __hip_bfloat16 b) { return __hadd(a, b); }
__device__ inline __hip_bfloat16 sub(__hip_bfloat16 a, __hip_bfloat16 b) { return __hsub(a, b); }
__device__ inline __hip_bfloat16 mul(__hip_bfloat16 a, __hip_bfloat16 b) { return __hmul(a, b); }
}  // namespace half_functions
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_2, hadd_rn, hadd2_rn, half_functions::add(a, b))
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_2, hsub_rn, hsub2_rn, half_functions::sub(a, b))
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_2, hmul_rn, hmul2_rn, half_functions::mul(a, b))

CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_1, htanh, h2tanh, half_functions::narrow(tanhf(half_functions::wide(a)), a))
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_1, htanh_approx, h2tanh_approx,
                             half_functions::narrow(half_functions::tanh_approx(half_functions::wide(a)), a))
CU2PORT_HALF_TYPES(CU2PORT_HALF_2_PAIR, hmax2, __hmax)
CU2PORT_HALF_TYPES(CU2PORT_HALF_2_PAIR, hmin2, __hmin)
CU2PORT_HALF_TYPES(CU2PORT_HALF_2, hmax_nan, hmax2_nan, __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b))
CU2PORT_HALF_TYPES(CU2PORT_HALF_2, hmin_nan, hmin2_nan, __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b))
CU2PORT_HALF_TYPES(CU2PORT_HALF_2, hadd_sat, hadd2_sat, half_functions::saturated(__hadd(a, b)))
CU2PORT_HALF_TYPES(CU2PORT_HALF_2, hsub_sat, hsub2_sat, half_functions::saturated(__hsub(a, b)))
CU2PORT_HALF_TYPES(CU2PORT_HALF_2, hmul_sat, hmul2_sat, half_functions::saturated(__hmul(a, b)))
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_3, hfma_sat, hfma2_sat, half_functions::saturated(__hfma(a, b, c)))
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_3, hfma_relu, hfma2_relu, half_functions::not_negative(__hfma(a, b, c)))

// a * b + c of complex numbers, the real part first.
#define CU2PORT_HALF_COMPLEX(side, T, T2, name)                                                          \
    side inline T2 name(T2 a, T2 b, T2 c) {                                                              \
        const T re = half_functions::low(a), im = half_functions::high(a);                               \
        const T x = half_functions::low(b), y = half_functions::high(b);                                 \
        return half_functions::pair(__hfma(__hneg(im), y, __hfma(re, x, half_functions::low(c))),        \
                                    __hfma(im, x, __hfma(re, y, half_functions::high(c))));              \
    }
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_COMPLEX, hcmadd)

// --- comparisons -----------------------------------------------------------------------------------------------------

// Of both types on both sides. HIP's operators of pairs, and <= and >= of half, mean something else than CUDA's.
#define CU2PORT_HALF_OPERATORS(side, T, T2, one)                                                         \
    __host__ __device__ inline bool hle(T a, T b) { return half_functions::wide(a) <= half_functions::wide(b); } \
    __host__ __device__ inline bool hge(T a, T b) { return half_functions::wide(a) >= half_functions::wide(b); } \
    namespace half_functions {                                                                           \
    __host__ __device__ inline bool lt(T a, T b) { return wide(a) < wide(b); }                           \
    __host__ __device__ inline bool gt(T a, T b) { return wide(a) > wide(b); }                           \
    __host__ __device__ inline bool equ(T a, T b) { return !(wide(a) < wide(b) || wide(a) > wide(b)); }  \
    __host__ __device__ inline bool neu(T a, T b) { return wide(a) != wide(b); }                         \
    __host__ __device__ inline bool ltu(T a, T b) { return !(wide(a) >= wide(b)); }                      \
    __host__ __device__ inline bool leu(T a, T b) { return !(wide(a) > wide(b)); }                       \
    __host__ __device__ inline bool gtu(T a, T b) { return !(wide(a) <= wide(b)); }                      \
    __host__ __device__ inline bool geu(T a, T b) { return !(wide(a) < wide(b)); }                       \
    }
CU2PORT_HALF_TYPES(CU2PORT_HALF_OPERATORS, )
#undef CU2PORT_HALF_OPERATORS

// HIP's __hne is true where a number is NaN, CUDA's is not; HIP's __hisinf of bfloat16 has no sign; its __hisnan2 and
// __hgt2 of bfloat16 are always true of the upper number; its __hbleu2 and kin of half are false where one is NaN.
#define CU2PORT_HALF_TESTS(side, T, T2, one)                                                             \
    side inline bool hne(T a, T b) { return __hlt(a, b) || __hgt(a, b); }                                \
    side inline int hisinf(T a) {                                                                        \
        const float value = half_functions::wide(a), infinity = __builtin_huge_valf();                   \
        return (value == infinity) - (value == -infinity);                                               \
    }                                                                                                    \
    __device__ inline T2 hisnan2(T2 a) {                                                                 \
        const float low = __hisnan(half_functions::low(a)), high = __hisnan(half_functions::high(a));    \
        return half_functions::pair(half_functions::narrow(low, T()), half_functions::narrow(high, T())); \
    }
CU2PORT_HALF_TYPES(CU2PORT_HALF_TESTS, )

// `one` compares numbers. Of pairs comes 1 or 0 for each, whether both are true, or a mask with 0xffff for each.
#define CU2PORT_HALF_EACH(side, T, T2, name, one)                                                        \
    side inline T2 name(T2 a, T2 b) {                                                                    \
        const float low = one(half_functions::low(a), half_functions::low(b));                           \
        const float high = one(half_functions::high(a), half_functions::high(b));                        \
        return half_functions::pair(half_functions::narrow(low, T()), half_functions::narrow(high, T())); \
    }
#define CU2PORT_HALF_BOTH(side, T, T2, name, one)                                                        \
    side inline bool name(T2 a, T2 b) {                                                                  \
        return one(half_functions::low(a), half_functions::low(b)) &&                                    \
               one(half_functions::high(a), half_functions::high(b));                                    \
    }
#define CU2PORT_HALF_MASK(side, T, T2, name, one)                                                        \
    side inline unsigned int name(T2 a, T2 b) {                                                          \
        return (one(half_functions::low(a), half_functions::low(b)) ? 0xffffu : 0u) |                    \
               (one(half_functions::high(a), half_functions::high(b)) ? 0xffff0000u : 0u);               \
    }
#define CU2PORT_HALF_COMPARED(name, one)                                                                 \
    CU2PORT_HALF_TYPES(CU2PORT_HALF_MASK, h##name##2_mask, one)                                          \
    CU2PORT_HALF_UNORDERED(__half, __half2, name)                                                        \
    CU2PORT_HALF_UNORDERED(__hip_bfloat16, __hip_bfloat162, name)
#define CU2PORT_HALF_UNORDERED(T, T2, name)                                                              \
    CU2PORT_HALF_MASK(__host__ __device__, T, T2, h##name##u2_mask, half_functions::name##u)             \
    CU2PORT_HALF_BOTH(__host__ __device__, T, T2, hb##name##u2, half_functions::name##u)                 \
    CU2PORT_HALF_EACH(__host__ __device__, T, T2, h##name##u2, half_functions::name##u)
CU2PORT_HALF_COMPARED(eq, __heq)
CU2PORT_HALF_COMPARED(ne, cu2port::hne)
CU2PORT_HALF_COMPARED(lt, __hlt)
CU2PORT_HALF_COMPARED(le, __hle)
CU2PORT_HALF_COMPARED(gt, __hgt)
CU2PORT_HALF_COMPARED(ge, __hge)
CU2PORT_HALF_TYPES_OF_DEVICE(CU2PORT_HALF_EACH, hne2, cu2port::hne)
CU2PORT_HALF_TYPES(CU2PORT_HALF_BOTH, hbne2, cu2port::hne)
#define CU2PORT_HALF_ON_BOTH_SIDES(T, T2)                                                               \
    CU2PORT_HALF_EACH(__host__ __device__, T, T2, hgt2, half_functions::gt)                             \
    CU2PORT_HALF_BOTH(__host__ __device__, T, T2, hblt2, half_functions::lt)                            \
    CU2PORT_HALF_BOTH(__host__ __device__, T, T2, hbgt2, half_functions::gt)                            \
    CU2PORT_HALF_BOTH(__host__ __device__, T, T2, hble2, cu2port::hle)                                  \
    CU2PORT_HALF_BOTH(__host__ __device__, T, T2, hbge2, cu2port::hge)
CU2PORT_HALF_ON_BOTH_SIDES(__half, __half2)
CU2PORT_HALF_ON_BOTH_SIDES(__hip_bfloat16, __hip_bfloat162)
#undef CU2PORT_HALF_ON_BOTH_SIDES

#undef CU2PORT_HALF_TYPES
#undef CU2PORT_HALF_TYPES_OF_DEVICE
#undef CU2PORT_HALF_1
#undef CU2PORT_HALF_2
#undef CU2PORT_HALF_2_PAIR
#undef CU2PORT_HALF_3
#undef CU2PORT_HALF_COMPLEX
#undef CU2PORT_HALF_TESTS
#undef CU2PORT_HALF_EACH
#undef CU2PORT_HALF_BOTH
#undef CU2PORT_HALF_MASK
#undef CU2PORT_HALF_COMPARED
#undef CU2PORT_HALF_UNORDERED

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_HALF_HPP
