// cu2port ptx: what PTX instructions compute, named after them, for code that had them as inline assembly.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A function is named after its instruction, with `_` for dots: `bfe_u32` is `bfe.u32`. Results are NVIDIA's, bit for
// bit, also where C++ or AMD's instructions define other ones: shifts beyond the width, fields beyond the word, signed
// overflow.
#ifndef CU2PORT_PTX_HPP
#define CU2PORT_PTX_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include "names_off.hpp"

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#endif
#ifndef __HIPCC_RTC__
#include <cstdint>
#endif

#if defined(__HIP__) && !defined(CU2PORT_SIMULATED)
#define CU2PORT_PTX __host__ __device__ inline __attribute__((__always_inline__))
#else
#define CU2PORT_PTX inline
#endif
#if defined(__HIP_DEVICE_COMPILE__) && !defined(CU2PORT_SIMULATED)
#define CU2PORT_PTX_AMD  // there are AMD's instructions
#define CU2PORT_PTX_NATIVE_F16
#endif
namespace cu2port {
namespace ptx {

typedef unsigned __int128 u128;
typedef __int128 s128;

// Vectors of a type, as GPUs load and store them: elements by index.
#define CU2PORT_PTX_TYPE(T, name)                                    \
    typedef T name;                                                  \
    typedef T name##x2 __attribute__((vector_size(2 * sizeof(T)))); \
    typedef T name##x4 __attribute__((vector_size(4 * sizeof(T)))); \
    typedef T name##x8 __attribute__((vector_size(8 * sizeof(T))))
CU2PORT_PTX_TYPE(std::uint8_t, u8);
CU2PORT_PTX_TYPE(std::uint16_t, u16);
CU2PORT_PTX_TYPE(std::uint32_t, u32);
CU2PORT_PTX_TYPE(std::uint64_t, u64);
CU2PORT_PTX_TYPE(std::int8_t, s8);
CU2PORT_PTX_TYPE(std::int16_t, s16);
CU2PORT_PTX_TYPE(std::int32_t, s32);
CU2PORT_PTX_TYPE(std::int64_t, s64);
CU2PORT_PTX_TYPE(float, f32);
CU2PORT_PTX_TYPE(double, f64);
#undef CU2PORT_PTX_TYPE

}  // namespace ptx
}  // namespace cu2port

#include "ptx_memory.hpp"

namespace cu2port {
namespace ptx {

// --- values that are not set -----------------------------------------------------------------------------------------

#ifdef __clang__
template <class T> CU2PORT_PTX T some(__attribute__((maybe_undef)) T x) { return x; }
#else
template <class T> CU2PORT_PTX T some(T x) { return x; }
#endif
// Variables that a guard or a branch keeps some lanes from setting: what has no value yet gets some, as a register has,
// and keeps it otherwise. Clang takes what is returned or passed on for set, and would drop the guard.
CU2PORT_PTX void may_stay() {}
template <class T, class... More> CU2PORT_PTX void may_stay(T& x, More&... more) {
    x = some(x);
    may_stay(more...);
}

// A constant as nvcc writes it into the text: a signed number of its own type.
template <class T> CU2PORT_PTX constexpr s64 immediate(T n) {
    return sizeof(T) == 1 ? s64(s8(n)) : sizeof(T) == 2 ? s64(s16(n)) : sizeof(T) == 4 ? s64(s32(n)) : s64(n);
}

// --- integers --------------------------------------------------------------------------------------------------------

template <class T> struct Wide;
template <> struct Wide<u16> { typedef u32 type; };
template <> struct Wide<s16> { typedef s32 type; };
template <> struct Wide<u32> { typedef u64 type; };
template <> struct Wide<s32> { typedef s64 type; };
template <> struct Wide<u64> { typedef u128 type; };
template <> struct Wide<s64> { typedef s128 type; };

// The upper half of the product.
template <class T> CU2PORT_PTX T mul_hi(T a, T b) {
    typedef typename Wide<T>::type W_;
    return T(W_(a) * W_(b) >> (8 * sizeof(T)));
}

CU2PORT_PTX u32 clz(u32 a) { return a ? __builtin_clz(a) : 32; }
CU2PORT_PTX u32 clz(u64 a) { return a ? __builtin_clzll(a) : 64; }
CU2PORT_PTX u32 popc(u32 a) { return __builtin_popcount(a); }
CU2PORT_PTX u32 popc(u64 a) { return __builtin_popcountll(a); }
#if defined(__clang__)
CU2PORT_PTX u32 brev(u32 a) { return __builtin_bitreverse32(a); }
CU2PORT_PTX u64 brev(u64 a) { return __builtin_bitreverse64(a); }
#else
template <class T> CU2PORT_PTX T brev(T a) {
    T out = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) out = T(out << 1 | (a >> i & 1));
    return out;
}
#endif

// Shifts by any amount: 0, or the sign, from the width on.
CU2PORT_PTX u16 shl(u16 a, u32 n) {
    return u16(n < 16 ? u32(a) << n : 0);
}
CU2PORT_PTX u32 shl(u32 a, u32 n) { return n < 32 ? a << n : 0; }
CU2PORT_PTX u64 shl(u64 a, u32 n) { return n < 64 ? a << n : 0; }
CU2PORT_PTX u16 shr(u16 a, u32 n) { return u16(n < 16 ? a >> n : 0); }
CU2PORT_PTX u32 shr(u32 a, u32 n) { return n < 32 ? a >> n : 0; }
CU2PORT_PTX u64 shr(u64 a, u32 n) { return n < 64 ? a >> n : 0; }
CU2PORT_PTX s16 shr(s16 a, u32 n) { return s16(a >> (n < 16 ? n : 15)); }
CU2PORT_PTX s32 shr(s32 a, u32 n) { return a >> (n < 32 ? n : 31); }
CU2PORT_PTX s64 shr(s64 a, u32 n) { return a >> (n < 64 ? n : 63); }

// Of `long` and `long long` one is not std::int64_t, though as wide: overloads must know it.
template <class T> struct Other { typedef unsigned long long u; typedef long long s; };
template <> struct Other<unsigned long long> { typedef unsigned long u; typedef long s; };
CU2PORT_PTX u32 clz(Other<u64>::u a) { return clz(u64(a)); }
CU2PORT_PTX u32 popc(Other<u64>::u a) { return popc(u64(a)); }
CU2PORT_PTX u64 brev(Other<u64>::u a) { return brev(u64(a)); }
CU2PORT_PTX u64 shl(Other<u64>::u a, u32 n) { return shl(u64(a), n); }
CU2PORT_PTX u64 shr(Other<u64>::u a, u32 n) { return shr(u64(a), n); }
CU2PORT_PTX s64 shr(Other<u64>::s a, u32 n) { return shr(s64(a), n); }

// Where the n-th set bit is (n from 1, downwards if negative), counted from bit `base`; ~0 if there is none.
CU2PORT_PTX u32 fns(u32 mask, u32 base, s32 n) {
    if (base > 31) return ~0u;
    if (n == 0) return mask >> base & 1 ? base : ~0u;
    const int step = n > 0 ? 1 : -1;
    u32 left = n > 0 ? u32(n) : 0u - u32(n);
    for (int at = int(base); at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0) return u32(at);
    return ~0u;
}

// The halves of a product without carries.
CU2PORT_PTX u64 clmul_lo(u64 a, u64 b) {
    u64 out = 0;
    for (int i = 0; i < 64; ++i) out ^= b >> i & 1 ? a << i : 0;
    return out;
}
CU2PORT_PTX u64 clmul_hi(u64 a, u64 b) {
    u64 out = 0;
    for (int i = 1; i < 64; ++i) out ^= b >> i & 1 ? a >> (64 - i) : 0;
    return out;
}

// --- the carry flag --------------------------------------------------------------------------------------------------
// `_cc` forms set it, the others only read it. Subtraction adds the complement: no carry is a borrow.

template <class T> CU2PORT_PTX T add_cc(T a, T b, bool& carry) {
    T sum;
    carry = __builtin_add_overflow(a, b, &sum);
    return sum;
}
template <class T> CU2PORT_PTX T addc_cc(T a, T b, bool& carry) {
    T sum;
    const bool first = __builtin_add_overflow(a, b, &sum);
    const bool second = __builtin_add_overflow(sum, T(carry), &sum);
    carry = first | second;
    return sum;
}
template <class T> CU2PORT_PTX T sub_cc(T a, T b, bool& carry) {
    T difference;
    carry = !__builtin_sub_overflow(a, b, &difference);
    return difference;
}
template <class T> CU2PORT_PTX T subc_cc(T a, T b, bool& carry) {
    T difference;
    const bool first = __builtin_sub_overflow(a, b, &difference);
    const bool second = __builtin_sub_overflow(difference, T(!carry), &difference);
    carry = !(first | second);
    return difference;
}
template <class T> CU2PORT_PTX T mad_lo_cc(T a, T b, T c, bool& carry) { return add_cc(T(a * b), c, carry); }
template <class T> CU2PORT_PTX T madc_lo_cc(T a, T b, T c, bool& carry) { return addc_cc(T(a * b), c, carry); }
// A product of signed numbers has another upper half; the sum and its carry are those of unsigned numbers.
template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<s32> { typedef u32 type; };
template <> struct Unsigned<s64> { typedef u64 type; };
template <class T>
CU2PORT_PTX typename Unsigned<T>::type mad_hi_cc(T a, T b, typename Unsigned<T>::type c, bool& carry) {
    typedef typename Unsigned<T>::type U_;
    return add_cc(U_(mul_hi(a, b)), c, carry);
}
template <class T>
CU2PORT_PTX typename Unsigned<T>::type madc_hi_cc(T a, T b, typename Unsigned<T>::type c, bool& carry) {
    typedef typename Unsigned<T>::type U_;
    return addc_cc(U_(mul_hi(a, b)), c, carry);
}

// The logic function of three words whose result, where their bits are a, b and c, is bit 4a + 2b + c of the table.
CU2PORT_PTX u32 lop3(u32 a, u32 b, u32 c, u32 table) {
    u32 out = 0;
    for (u32 i = 0; i < 8; ++i) {
        const u32 here = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        out |= table >> i & 1 ? here : 0;
    }
    return out;
}

// Each byte of `pick`, 0 to 7, picks a byte of {b, a}.
CU2PORT_PTX u32 pick_bytes(u32 a, u32 b, u32 pick) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_perm(b, a, pick);
#else
    const u64 bytes = u64(b) << 32 | a;
    u32 out = 0;
    for (int i = 0; i < 32; i += 8) out |= u32(u8(bytes >> (8 * (pick >> i & 7)))) << i;
    return out;
#endif
}

// Each nibble of the selector picks a byte of {b, a}; its top bit asks for the byte's sign, eight times.
CU2PORT_PTX u32 prmt(u32 a, u32 b, u32 selector) {
    u32 pick = ((selector & 0xffff) | selector << 8) & 0x00ff00ff;
    pick = (pick | pick << 4) & 0x0f0f0f0f;
    const u32 picked = pick_bytes(a, b, pick & 0x07070707), replicated = pick >> 3 & 0x01010101;
    const u32 sign = picked >> 7 & replicated, all = (replicated << 8) - replicated;
    return (picked & ~all) | ((sign << 8) - sign);
}

// dp4a: the sum of four products of bytes, and c.
template <class A_, class B_> CU2PORT_PTX u32 sum_of_products(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) c += u32(A_(a >> i)) * u32(B_(b >> i));
    return c;
}
#if !defined(CU2PORT_PTX_AMD)
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || \
    defined(__gfx950__) || defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || \
    defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || defined(__gfx1034__) || \
    defined(__gfx1035__) || defined(__gfx1036__)
template <> CU2PORT_PTX u32 sum_of_products<s8, s8>(u32 a, u32 b, u32 c) {
    return u32(__builtin_amdgcn_sdot4(s32(a), s32(b), s32(c), false));
}
template <> CU2PORT_PTX u32 sum_of_products<u8, u8>(u32 a, u32 b, u32 c) {
    return __builtin_amdgcn_udot4(a, b, c, false);
}
#elif defined(__GFX11__) || defined(__GFX12__)
#define CU2PORT_PTX_DOT(A_, B_)                                                                          \
    template <> CU2PORT_PTX u32 sum_of_products<A_, B_>(u32 a, u32 b, u32 c) {                           \
        return u32(__builtin_amdgcn_sudot4(A_(-1) < 0, s32(a), B_(-1) < 0, s32(b), s32(c), false));      \
    }
CU2PORT_PTX_DOT(s8, s8)
CU2PORT_PTX_DOT(s8, u8)
CU2PORT_PTX_DOT(u8, s8)
CU2PORT_PTX_DOT(u8, u8)
#undef CU2PORT_PTX_DOT
#endif
CU2PORT_PTX u32 dp4a_s32_s32(u32 a, u32 b, u32 c) { return sum_of_products<s8, s8>(a, b, c); }
CU2PORT_PTX u32 dp4a_s32_u32(u32 a, u32 b, u32 c) { return sum_of_products<s8, u8>(a, b, c); }
CU2PORT_PTX u32 dp4a_u32_s32(u32 a, u32 b, u32 c) { return sum_of_products<u8, s8>(a, b, c); }
CU2PORT_PTX u32 dp4a_u32_u32(u32 a, u32 b, u32 c) { return sum_of_products<u8, u8>(a, b, c); }

// The sum of the differences of four bytes, without their signs, and c.
CU2PORT_PTX u32 vabsdiff4_add(u32 a, u32 b, u32 c) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_sad_u8(a, b, c);
#else
    for (int i = 0; i < 32; i += 8) c += u8(a >> i) > u8(b >> i) ? u8(a >> i) - u8(b >> i) : u8(b >> i) - u8(a >> i);
    return c;
#endif
}

}  // namespace ptx
}  // namespace cu2port

#include "ptx_float.hpp"
#include "ptx_approx.hpp"
#include "ptx_half.hpp"
#ifdef __HIP__
#include "ptx_device.hpp"
#include "ptx_barrier.hpp"
#include "ptx_ldmatrix.hpp"
#endif

namespace cu2port {
namespace ptx {

// --- instructions, generated from cu2port's table by tools/ptx_header.py ---------------------------------------------

// bfe.{t:u32|u64|s32|s64} d, a, b:u32, c:u32
CU2PORT_PTX u32 bfe_u32(u32 a, u32 b, u32 c) { return shr(a, b & 0xff) & ~shl(0xffffffffu, c & 0xff); }
CU2PORT_PTX u64 bfe_u64(u64 a, u32 b, u32 c) { return shr(a, b & 0xff) & ~shl(u64(0xffffffffffffffff), c & 0xff); }
CU2PORT_PTX s32 bfe_s32(s32 a, u32 b, u32 c) {
    const u32 length = c & 0xff;
    const u32 above = 32 - (length < 32 ? length : 32);
    return shr(s32(shl(u32(shr(a, b & 0xff)), above)), above);
}
CU2PORT_PTX s64 bfe_s64(s64 a, u32 b, u32 c) {
    const u32 length = c & 0xff;
    const u32 above = 64 - (length < 64 ? length : 64);
    return shr(s64(shl(u64(shr(a, b & 0xff)), above)), above);
}
// bfi.{t:b32|b64} d, a, b, c:u32, e:u32
CU2PORT_PTX u32 bfi_b32(u32 a, u32 b, u32 c, u32 e) {
    const u32 pos = c & 0xff;
    const u32 mask = shl(~shl(0xffffffffu, e & 0xff), pos);
    return (b & ~mask) | (shl(a, pos) & mask);
}
CU2PORT_PTX u64 bfi_b64(u64 a, u64 b, u32 c, u32 e) {
    const u32 pos = c & 0xff;
    const u64 mask = shl(~shl(u64(0xffffffffffffffff), e & 0xff), pos);
    return (b & ~mask) | (shl(a, pos) & mask);
}
// bmsk.{mode:clamp|wrap}.b32 d:b32, a:u32, b:u32
CU2PORT_PTX u32 bmsk_clamp_b32(u32 a, u32 b) { return shl(~shl(0xffffffffu, b), a); }
CU2PORT_PTX u32 bmsk_wrap_b32(u32 a, u32 b) { return shl(~shl(0xffffffffu, b & 31), a & 31); }
// szext.{mode:clamp|wrap}.{t:u32|s32} d, a, b:u32
CU2PORT_PTX u32 szext_clamp_u32(u32 a, u32 b) {
    const u32 above = 32 - (b < 32 ? b : 32);
    return shr(shl(a, above), above);
}
CU2PORT_PTX s32 szext_clamp_s32(s32 a, u32 b) {
    const u32 above = 32 - (b < 32 ? b : 32);
    return shr(s32(shl(u32(a), above)), above);
}
CU2PORT_PTX u32 szext_wrap_u32(u32 a, u32 b) {
    const u32 above = 32 - (b & 31);
    return shr(shl(a, above), above);
}
CU2PORT_PTX s32 szext_wrap_s32(s32 a, u32 b) {
    const u32 above = 32 - (b & 31);
    return shr(s32(shl(u32(a), above)), above);
}
// dp2a.{mode:lo|hi}.{at:u32|s32}.{bt:u32|s32} d:b32, a:b32, b:b32, c:b32
CU2PORT_PTX u32 dp2a_lo_u32_u32(u32 a, u32 b, u32 c) {
    return c + u32(u16(a)) * u32(u8(b)) + u32(u16(a >> 16)) * u32(u8(b >> 8));
}
CU2PORT_PTX u32 dp2a_lo_u32_s32(u32 a, u32 b, u32 c) {
    return c + u32(u16(a)) * u32(s8(b)) + u32(u16(a >> 16)) * u32(s8(b >> 8));
}
CU2PORT_PTX u32 dp2a_lo_s32_u32(u32 a, u32 b, u32 c) {
    return c + u32(s16(a)) * u32(u8(b)) + u32(s16(a >> 16)) * u32(u8(b >> 8));
}
CU2PORT_PTX u32 dp2a_lo_s32_s32(u32 a, u32 b, u32 c) {
    return c + u32(s16(a)) * u32(s8(b)) + u32(s16(a >> 16)) * u32(s8(b >> 8));
}
CU2PORT_PTX u32 dp2a_hi_u32_u32(u32 a, u32 b, u32 c) {
    return c + u32(u16(a)) * u32(u8(b >> 16)) + u32(u16(a >> 16)) * u32(u8(b >> 24));
}
CU2PORT_PTX u32 dp2a_hi_u32_s32(u32 a, u32 b, u32 c) {
    return c + u32(u16(a)) * u32(s8(b >> 16)) + u32(u16(a >> 16)) * u32(s8(b >> 24));
}
CU2PORT_PTX u32 dp2a_hi_s32_u32(u32 a, u32 b, u32 c) {
    return c + u32(s16(a)) * u32(u8(b >> 16)) + u32(s16(a >> 16)) * u32(u8(b >> 24));
}
CU2PORT_PTX u32 dp2a_hi_s32_s32(u32 a, u32 b, u32 c) {
    return c + u32(s16(a)) * u32(s8(b >> 16)) + u32(s16(a >> 16)) * u32(s8(b >> 24));
}
// add.sat.{t:s32} d, a, b
CU2PORT_PTX s32 add_sat_s32(s32 a, s32 b) {
    const s64 t = u64(s64(a)) + s64(b);
    const s64 t_2 = t > s64(-2147483648) ? t : s64(-2147483648);
    return s32(t_2 < 0x7fffffff ? t_2 : 0x7fffffff);
}
// add.{t:u16x2|s16x2|u8x4|s8x4} d, a, b
CU2PORT_PTX u32 add_u16x2(u32 a, u32 b) {
    return u32(u16(u16(a) + u16(b))) | (u32(u16(u16(a >> 16) + u16(b >> 16))) << 16);
}
CU2PORT_PTX u32 add_s16x2(u32 a, u32 b) {
    return u32(u16(s16(a) + s16(b))) | (u32(u16(s16(a >> 16) + s16(b >> 16))) << 16);
}
CU2PORT_PTX u32 add_u8x4(u32 a, u32 b) {
    return u32(u8(u8(a) + u8(b))) | (u32(u8(u8(a >> 8) + u8(b >> 8))) << 8) | (u32(u8(u8(a >> 16) + u8(b >> 16))) << 16)
        | (u32(u8(u8(a >> 24) + u8(b >> 24))) << 24);
}
CU2PORT_PTX u32 add_s8x4(u32 a, u32 b) {
    return u32(u8(s8(a) + s8(b))) | (u32(u8(s8(a >> 8) + s8(b >> 8))) << 8) | (u32(u8(s8(a >> 16) + s8(b >> 16))) << 16)
        | (u32(u8(s8(a >> 24) + s8(b >> 24))) << 24);
}
// sub.sat.{t:s32} d, a, b
CU2PORT_PTX s32 sub_sat_s32(s32 a, s32 b) {
    const s64 t = u64(s64(a)) - s64(b);
    const s64 t_2 = t > s64(-2147483648) ? t : s64(-2147483648);
    return s32(t_2 < 0x7fffffff ? t_2 : 0x7fffffff);
}
// sub.{t:u8x4|s8x4} d, a, b
CU2PORT_PTX u32 sub_u8x4(u32 a, u32 b) {
    return u32(u8(u8(a) - u8(b))) | (u32(u8(u8(a >> 8) - u8(b >> 8))) << 8) | (u32(u8(u8(a >> 16) - u8(b >> 16))) << 16)
        | (u32(u8(u8(a >> 24) - u8(b >> 24))) << 24);
}
CU2PORT_PTX u32 sub_s8x4(u32 a, u32 b) {
    return u32(u8(s8(a) - s8(b))) | (u32(u8(s8(a >> 8) - s8(b >> 8))) << 8) | (u32(u8(s8(a >> 16) - s8(b >> 16))) << 16)
        | (u32(u8(s8(a >> 24) - s8(b >> 24))) << 24);
}
// mad.hi.sat.{t:s32} d, a, b, c
CU2PORT_PTX s32 mad_hi_sat_s32(s32 a, s32 b, s32 c) {
    const s64 t = u64(s64(mul_hi<s32>(a, b))) + s64(c);
    const s64 t_2 = t > s64(-2147483648) ? t : s64(-2147483648);
    return s32(t_2 < 0x7fffffff ? t_2 : 0x7fffffff);
}
// mul24.{part:lo|hi}.{t:u32|s32} d, a, b
CU2PORT_PTX u32 mul24_lo_u32(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
CU2PORT_PTX s32 mul24_lo_s32(s32 a, s32 b) { return u32(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8); }
CU2PORT_PTX u32 mul24_hi_u32(u32 a, u32 b) { return u32((u64(a & 0xffffff) * u64(b & 0xffffff)) >> 16); }
CU2PORT_PTX s32 mul24_hi_s32(s32 a, s32 b) {
    return s32(s64(u64(s64(s32(u32(a) << 8) >> 8)) * s64(s32(u32(b) << 8) >> 8)) >> 16);
}
// mad24.{part:lo|hi}.{t:u32|s32} d, a, b, c
CU2PORT_PTX u32 mad24_lo_u32(u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }
CU2PORT_PTX s32 mad24_lo_s32(s32 a, s32 b, s32 c) { return u32(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8) + c; }
CU2PORT_PTX u32 mad24_hi_u32(u32 a, u32 b, u32 c) { return u32((u64(a & 0xffffff) * u64(b & 0xffffff)) >> 16) + c; }
CU2PORT_PTX s32 mad24_hi_s32(s32 a, s32 b, s32 c) {
    return u32(s32(s64(u64(s64(s32(u32(a) << 8) >> 8)) * s64(s32(u32(b) << 8) >> 8)) >> 16)) + c;
}
// mad24.hi.sat.{t:s32} d, a, b, c
CU2PORT_PTX s32 mad24_hi_sat_s32(s32 a, s32 b, s32 c) {
    const s64 t = u64(s64(s32(s64(u64(s64(s32(u32(a) << 8) >> 8)) * s64(s32(u32(b) << 8) >> 8)) >> 16))) + s64(c);
    const s64 t_2 = t > s64(-2147483648) ? t : s64(-2147483648);
    return s32(t_2 < 0x7fffffff ? t_2 : 0x7fffffff);
}
// sad.{t:u16|s16|u32|s32|u64|s64} d, a, b, c:unsigned(t)
CU2PORT_PTX u16 sad_u16(u16 a, u16 b, u16 c) { return c + (a < b ? u16(b - a) : u16(a - b)); }
CU2PORT_PTX u16 sad_s16(s16 a, s16 b, u16 c) { return c + (a < b ? u16(b - a) : u16(a - b)); }
CU2PORT_PTX u32 sad_u32(u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); }
CU2PORT_PTX u32 sad_s32(s32 a, s32 b, u32 c) { return c + (a < b ? u32(b) - a : u32(a) - b); }
CU2PORT_PTX u64 sad_u64(u64 a, u64 b, u64 c) { return c + (a < b ? b - a : a - b); }
CU2PORT_PTX u64 sad_s64(s64 a, s64 b, u64 c) { return c + (a < b ? u64(b) - a : u64(a) - b); }
// div.{t:u16|s16|u32|s32|u64|s64} d, a, b
CU2PORT_PTX u16 div_u16(u16 a, u16 b) { return b == 0 ? u16(0xffff) : u16(a / b); }
CU2PORT_PTX s16 div_s16(s16 a, s16 b) { return b == 0 ? s16(-1) : b == s16(-1) ? s16(0 - u16(a)) : s16(a / b); }
CU2PORT_PTX u32 div_u32(u32 a, u32 b) { return b == 0 ? 0xffffffffu : a / b; }
CU2PORT_PTX s32 div_s32(s32 a, s32 b) { return b == 0 ? -1 : b == -1 ? 0 - u32(a) : a / b; }
CU2PORT_PTX u64 div_u64(u64 a, u64 b) { return b == 0 ? u64(0xffffffffffffffff) : a / b; }
CU2PORT_PTX s64 div_s64(s64 a, s64 b) { return b == 0 ? s64(-1) : b == s64(-1) ? 0 - u64(a) : a / b; }
// rem.{t:u16|s16|u32|s32|u64|s64} d, a, b
CU2PORT_PTX u16 rem_u16(u16 a, u16 b) { return b == 0 ? a : u16(a % b); }
CU2PORT_PTX s16 rem_s16(s16 a, s16 b) { return b == 0 ? a : b == s16(-1) ? s16(0) : s16(a % b); }
CU2PORT_PTX u32 rem_u32(u32 a, u32 b) { return b == 0 ? a : a % b; }
CU2PORT_PTX s32 rem_s32(s32 a, s32 b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
CU2PORT_PTX u64 rem_u64(u64 a, u64 b) { return b == 0 ? a : a % b; }
CU2PORT_PTX s64 rem_s64(s64 a, s64 b) { return b == 0 ? a : b == s64(-1) ? 0 : a % b; }
// min.{t:u16x2|u8x4} d, a, b
CU2PORT_PTX u32 min_u16x2(u32 a, u32 b) {
    const u16 t = u16(a);
    const u16 t_2 = u16(b);
    const u16 t_3 = u16(a >> 16);
    const u16 t_4 = u16(b >> 16);
    return u32(t < t_2 ? t : t_2) | (u32(t_3 < t_4 ? t_3 : t_4) << 16);
}
CU2PORT_PTX u32 min_u8x4(u32 a, u32 b) {
    const u8 t = u8(a);
    const u8 t_2 = u8(b);
    const u8 t_3 = u8(a >> 8);
    const u8 t_4 = u8(b >> 8);
    const u8 t_5 = u8(a >> 16);
    const u8 t_6 = u8(b >> 16);
    const u8 t_7 = u8(a >> 24);
    const u8 t_8 = u8(b >> 24);
    return u32(t < t_2 ? t : t_2) | (u32(t_3 < t_4 ? t_3 : t_4) << 8) | (u32(t_5 < t_6 ? t_5 : t_6) << 16)
        | (u32(t_7 < t_8 ? t_7 : t_8) << 24);
}
// min{.relu}.{t:s16x2|s8x4} d, a, b
CU2PORT_PTX u32 min_s16x2(u32 a, u32 b) {
    const s16 t = s16(a);
    const s16 t_2 = s16(b);
    const s16 t_3 = s16(a >> 16);
    const s16 t_4 = s16(b >> 16);
    return u32(u16(t < t_2 ? t : t_2)) | (u32(u16(t_3 < t_4 ? t_3 : t_4)) << 16);
}
CU2PORT_PTX u32 min_s8x4(u32 a, u32 b) {
    const s8 t = s8(a);
    const s8 t_2 = s8(b);
    const s8 t_3 = s8(a >> 8);
    const s8 t_4 = s8(b >> 8);
    const s8 t_5 = s8(a >> 16);
    const s8 t_6 = s8(b >> 16);
    const s8 t_7 = s8(a >> 24);
    const s8 t_8 = s8(b >> 24);
    return u32(u8(t < t_2 ? t : t_2)) | (u32(u8(t_3 < t_4 ? t_3 : t_4)) << 8) | (u32(u8(t_5 < t_6 ? t_5 : t_6)) << 16)
        | (u32(u8(t_7 < t_8 ? t_7 : t_8)) << 24);
}
CU2PORT_PTX u32 min_relu_s16x2(u32 a, u32 b) {
    const s16 t = s16(a);
    const s16 t_2 = s16(b);
    const s16 t_3 = t < t_2 ? t : t_2;
    const s16 t_4 = s16(a >> 16);
    const s16 t_5 = s16(b >> 16);
    const s16 t_6 = t_4 < t_5 ? t_4 : t_5;
    return u32(u16(t_3 > 0 ? t_3 : s16(0))) | (u32(u16(t_6 > 0 ? t_6 : s16(0))) << 16);
}
CU2PORT_PTX u32 min_relu_s8x4(u32 a, u32 b) {
    const s8 t = s8(a);
    const s8 t_2 = s8(b);
    const s8 t_3 = t < t_2 ? t : t_2;
    const s8 t_4 = s8(a >> 8);
    const s8 t_5 = s8(b >> 8);
    const s8 t_6 = t_4 < t_5 ? t_4 : t_5;
    const s8 t_7 = s8(a >> 16);
    const s8 t_8 = s8(b >> 16);
    const s8 t_9 = t_7 < t_8 ? t_7 : t_8;
    const s8 t_10 = s8(a >> 24);
    const s8 t_11 = s8(b >> 24);
    const s8 t_12 = t_10 < t_11 ? t_10 : t_11;
    return u32(u8(t_3 > 0 ? t_3 : s8(0))) | (u32(u8(t_6 > 0 ? t_6 : s8(0))) << 8)
        | (u32(u8(t_9 > 0 ? t_9 : s8(0))) << 16) | (u32(u8(t_12 > 0 ? t_12 : s8(0))) << 24);
}
// max.{t:u16x2|u8x4} d, a, b
CU2PORT_PTX u32 max_u16x2(u32 a, u32 b) {
    const u16 t = u16(a);
    const u16 t_2 = u16(b);
    const u16 t_3 = u16(a >> 16);
    const u16 t_4 = u16(b >> 16);
    return u32(t > t_2 ? t : t_2) | (u32(t_3 > t_4 ? t_3 : t_4) << 16);
}
CU2PORT_PTX u32 max_u8x4(u32 a, u32 b) {
    const u8 t = u8(a);
    const u8 t_2 = u8(b);
    const u8 t_3 = u8(a >> 8);
    const u8 t_4 = u8(b >> 8);
    const u8 t_5 = u8(a >> 16);
    const u8 t_6 = u8(b >> 16);
    const u8 t_7 = u8(a >> 24);
    const u8 t_8 = u8(b >> 24);
    return u32(t > t_2 ? t : t_2) | (u32(t_3 > t_4 ? t_3 : t_4) << 8) | (u32(t_5 > t_6 ? t_5 : t_6) << 16)
        | (u32(t_7 > t_8 ? t_7 : t_8) << 24);
}
// max{.relu}.{t:s16x2|s8x4} d, a, b
CU2PORT_PTX u32 max_s16x2(u32 a, u32 b) {
    const s16 t = s16(a);
    const s16 t_2 = s16(b);
    const s16 t_3 = s16(a >> 16);
    const s16 t_4 = s16(b >> 16);
    return u32(u16(t > t_2 ? t : t_2)) | (u32(u16(t_3 > t_4 ? t_3 : t_4)) << 16);
}
CU2PORT_PTX u32 max_s8x4(u32 a, u32 b) {
    const s8 t = s8(a);
    const s8 t_2 = s8(b);
    const s8 t_3 = s8(a >> 8);
    const s8 t_4 = s8(b >> 8);
    const s8 t_5 = s8(a >> 16);
    const s8 t_6 = s8(b >> 16);
    const s8 t_7 = s8(a >> 24);
    const s8 t_8 = s8(b >> 24);
    return u32(u8(t > t_2 ? t : t_2)) | (u32(u8(t_3 > t_4 ? t_3 : t_4)) << 8) | (u32(u8(t_5 > t_6 ? t_5 : t_6)) << 16)
        | (u32(u8(t_7 > t_8 ? t_7 : t_8)) << 24);
}
CU2PORT_PTX u32 max_relu_s16x2(u32 a, u32 b) {
    const s16 t = s16(a);
    const s16 t_2 = s16(b);
    const s16 t_3 = t > t_2 ? t : t_2;
    const s16 t_4 = s16(a >> 16);
    const s16 t_5 = s16(b >> 16);
    const s16 t_6 = t_4 > t_5 ? t_4 : t_5;
    return u32(u16(t_3 > 0 ? t_3 : s16(0))) | (u32(u16(t_6 > 0 ? t_6 : s16(0))) << 16);
}
CU2PORT_PTX u32 max_relu_s8x4(u32 a, u32 b) {
    const s8 t = s8(a);
    const s8 t_2 = s8(b);
    const s8 t_3 = t > t_2 ? t : t_2;
    const s8 t_4 = s8(a >> 8);
    const s8 t_5 = s8(b >> 8);
    const s8 t_6 = t_4 > t_5 ? t_4 : t_5;
    const s8 t_7 = s8(a >> 16);
    const s8 t_8 = s8(b >> 16);
    const s8 t_9 = t_7 > t_8 ? t_7 : t_8;
    const s8 t_10 = s8(a >> 24);
    const s8 t_11 = s8(b >> 24);
    const s8 t_12 = t_10 > t_11 ? t_10 : t_11;
    return u32(u8(t_3 > 0 ? t_3 : s8(0))) | (u32(u8(t_6 > 0 ? t_6 : s8(0))) << 8)
        | (u32(u8(t_9 > 0 ? t_9 : s8(0))) << 16) | (u32(u8(t_12 > 0 ? t_12 : s8(0))) << 24);
}
// bfind{.shiftamt}.{t:u32|u64|s32|s64} d:u32, a
CU2PORT_PTX u32 bfind_u32(u32 a) { return a == 0 ? 0xffffffffu : 31 - clz(a); }
CU2PORT_PTX u32 bfind_u64(u64 a) { return a == 0 ? 0xffffffffu : 63 - clz(a); }
CU2PORT_PTX u32 bfind_s32(s32 a) {
    const s32 t = a < 0 ? ~u32(a) : a;
    return t == 0 ? 0xffffffffu : 31 - clz(u32(t));
}
CU2PORT_PTX u32 bfind_s64(s64 a) {
    const s64 t = a < 0 ? ~u64(a) : a;
    return t == 0 ? 0xffffffffu : 63 - clz(u64(t));
}
CU2PORT_PTX u32 bfind_shiftamt_u32(u32 a) { return a == 0 ? 0xffffffffu : clz(a); }
CU2PORT_PTX u32 bfind_shiftamt_u64(u64 a) { return a == 0 ? 0xffffffffu : clz(a); }
CU2PORT_PTX u32 bfind_shiftamt_s32(s32 a) {
    const s32 t = a < 0 ? ~u32(a) : a;
    return t == 0 ? 0xffffffffu : clz(u32(t));
}
CU2PORT_PTX u32 bfind_shiftamt_s64(s64 a) {
    const s64 t = a < 0 ? ~u64(a) : a;
    return t == 0 ? 0xffffffffu : clz(u64(t));
}
// shf.{dir:l|r}.{mode:clamp|wrap}.b32 d:b32, a:b32, b:b32, c:u32
CU2PORT_PTX u32 shf_l_clamp_b32(u32 a, u32 b, u32 c) {
    return u32(shl((u64(b) << 32) | u64(a), c < 32 ? c : 32) >> 32);
}
CU2PORT_PTX u32 shf_l_wrap_b32(u32 a, u32 b, u32 c) { return u32(shl((u64(b) << 32) | u64(a), c & 31) >> 32); }
CU2PORT_PTX u32 shf_r_clamp_b32(u32 a, u32 b, u32 c) { return u32(shr((u64(b) << 32) | u64(a), c < 32 ? c : 32)); }
CU2PORT_PTX u32 shf_r_wrap_b32(u32 a, u32 b, u32 c) { return u32(shr((u64(b) << 32) | u64(a), c & 31)); }
// prmt.b32.{mode:f4e|b4e|rc8|ecl|ecr|rc16} d:b32, a:b32, b:b32, c:b32
CU2PORT_PTX u32 prmt_b32_f4e(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0x3210 : which == 1 ? 0x4321 : which == 2 ? 0x5432u : 0x6543u);
}
CU2PORT_PTX u32 prmt_b32_b4e(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0x5670 : which == 1 ? 0x6701 : which == 2 ? 0x7012u : 0x123u);
}
CU2PORT_PTX u32 prmt_b32_rc8(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0 : which == 1 ? 0x1111 : which == 2 ? 0x2222u : 0x3333u);
}
CU2PORT_PTX u32 prmt_b32_ecl(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0x3210 : which == 1 ? 0x3211 : which == 2 ? 0x3222u : 0x3333u);
}
CU2PORT_PTX u32 prmt_b32_ecr(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0 : which == 1 ? 0x1110 : which == 2 ? 8720u : 0x3210u);
}
CU2PORT_PTX u32 prmt_b32_rc16(u32 a, u32 b, u32 c) {
    const u32 which = c & 3;
    return prmt(a, b, which == 0 ? 0x1010 : which == 1 ? 0x3232 : which == 2 ? 0x1010u : 0x3232u);
}
// cvt.pack.sat.{ct:u16|s16}.s32 d:b32, a:s32, b:s32
CU2PORT_PTX u32 cvt_pack_sat_u16_s32(s32 a, s32 b) {
    const s32 t = b > 0 ? b : 0;
    const s32 t_2 = a > 0 ? a : 0;
    return u32(u16(t < 0xffff ? t : 0xffff)) | (u32(u16(t_2 < 0xffff ? t_2 : 0xffff)) << 16);
}
CU2PORT_PTX u32 cvt_pack_sat_s16_s32(s32 a, s32 b) {
    const s32 t = b > -32768 ? b : -32768;
    const s32 t_2 = a > -32768 ? a : -32768;
    return u32(u16(s16(t < 0x7fff ? t : 0x7fff))) | (u32(u16(s16(t_2 < 0x7fff ? t_2 : 0x7fff))) << 16);
}
// cvt.pack.sat.{ct:u8|s8|u4|s4|u2|s2}.s32.b32 d:b32, a:s32, b:s32, c:b32
CU2PORT_PTX u32 cvt_pack_sat_u8_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > 0 ? a : 0;
    const s32 t_2 = b > 0 ? b : 0;
    return (c << 16) | (((t < 0xff ? t : 0xff) & 0xffu) << 8) | ((t_2 < 0xff ? t_2 : 0xff) & 0xffu);
}
CU2PORT_PTX u32 cvt_pack_sat_s8_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > -128 ? a : -128;
    const s32 t_2 = b > -128 ? b : -128;
    return (c << 16) | (((t < 0x7f ? t : 0x7f) & 0xffu) << 8) | ((t_2 < 0x7f ? t_2 : 0x7f) & 0xffu);
}
CU2PORT_PTX u32 cvt_pack_sat_u4_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > 0 ? a : 0;
    const s32 t_2 = b > 0 ? b : 0;
    return (c << 8) | (((t < 15 ? t : 15) & 15u) << 4) | ((t_2 < 15 ? t_2 : 15) & 15u);
}
CU2PORT_PTX u32 cvt_pack_sat_s4_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > -8 ? a : -8;
    const s32 t_2 = b > -8 ? b : -8;
    return (c << 8) | (((t < 7 ? t : 7) & 15u) << 4) | ((t_2 < 7 ? t_2 : 7) & 15u);
}
CU2PORT_PTX u32 cvt_pack_sat_u2_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > 0 ? a : 0;
    const s32 t_2 = b > 0 ? b : 0;
    return (c << 4) | (((t < 3 ? t : 3) & 3u) << 2) | ((t_2 < 3 ? t_2 : 3) & 3u);
}
CU2PORT_PTX u32 cvt_pack_sat_s2_s32_b32(s32 a, s32 b, u32 c) {
    const s32 t = a > -2 ? a : -2;
    const s32 t_2 = b > -2 ? b : -2;
    return (c << 4) | (((t < 1 ? t : 1) & 3u) << 2) | ((t_2 < 1 ? t_2 : 1) & 3u);
}

}  // namespace ptx
}  // namespace cu2port

#include "names_on.hpp"

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_PTX_HPP
