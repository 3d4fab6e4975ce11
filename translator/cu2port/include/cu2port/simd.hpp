// cu2port simd: CUDA's functions on two halfwords or four bytes packed in a 32-bit word, exact to its math API.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::vadd4` is CUDA's `__vadd4`, and so on. The suffix 2 means two halfwords, 4 means four bytes;
// `s` and `u` say whether they are signed. AMD GPUs have packed 16-bit arithmetic, saturating too, but none on bytes:
// a byte function runs on the even and on the odd bytes, each byte on top of a halfword of its own.
#ifndef CU2PORT_SIMD_HPP
#define CU2PORT_SIMD_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#define CU2PORT_SIMD __host__ __device__ inline __attribute__((__always_inline__))
#else
#define CU2PORT_SIMD inline
#endif

#ifdef __has_builtin
#if __has_builtin(__builtin_elementwise_add_sat)
#define CU2PORT_SIMD_SATURATES
#endif
#if defined(__HIP_DEVICE_COMPILE__) && __has_builtin(__builtin_amdgcn_sad_u8) && __has_builtin(__builtin_amdgcn_sad_u16)
#define CU2PORT_SIMD_SAD
#endif
#if defined(__HIP_DEVICE_COMPILE__) && __has_builtin(__builtin_amdgcn_lerp)
#define CU2PORT_SIMD_LERP
#endif
#endif

namespace cu2port {
namespace simd {

typedef short s16x2 __attribute__((vector_size(4)));
typedef unsigned short u16x2 __attribute__((vector_size(4)));

// --- saturation ------------------------------------------------------------------------------------------------------

#ifdef CU2PORT_SIMD_SATURATES
template <class V_> CU2PORT_SIMD V_ add_sat(V_ a, V_ b) { return __builtin_elementwise_add_sat(a, b); }
template <class V_> CU2PORT_SIMD V_ sub_sat(V_ a, V_ b) { return __builtin_elementwise_sub_sat(a, b); }
#else
CU2PORT_SIMD int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
CU2PORT_SIMD s16x2 saturated(s16x2, int x, int y) {
    return s16x2{short(clamp(x, -32768, 32767)), short(clamp(y, -32768, 32767))};
}
CU2PORT_SIMD u16x2 saturated(u16x2, int x, int y) {
    return u16x2{static_cast<unsigned short>(clamp(x, 0, 65535)), static_cast<unsigned short>(clamp(y, 0, 65535))};
}
template <class V_> CU2PORT_SIMD V_ add_sat(V_ a, V_ b) { return saturated(a, a[0] + b[0], a[1] + b[1]); }
template <class V_> CU2PORT_SIMD V_ sub_sat(V_ a, V_ b) { return saturated(a, a[0] - b[0], a[1] - b[1]); }
#endif

// --- what is done to a pair of halfwords; right too where a byte lies on top of each and zero below it ---------------

template <class V_> CU2PORT_SIMD V_ larger(V_ a, V_ b) { return a > b ? a : b; }
template <class V_> CU2PORT_SIMD V_ smaller(V_ a, V_ b) { return a < b ? a : b; }

#define CU2PORT_SIMD_UNARY(Name, ...) \
    struct Name { template <class V_> CU2PORT_SIMD V_ operator()(V_ a) const { return __VA_ARGS__; } }
#define CU2PORT_SIMD_BINARY(Name, ...) \
    struct Name { template <class V_> CU2PORT_SIMD V_ operator()(V_ a, V_ b) const { return __VA_ARGS__; } }

CU2PORT_SIMD_UNARY(Neg, V_(-u16x2(a)));
CU2PORT_SIMD_UNARY(NegSat, sub_sat(V_{}, a));
CU2PORT_SIMD_UNARY(Abs, larger(a, V_(-u16x2(a))));
CU2PORT_SIMD_UNARY(AbsSat, larger(a, sub_sat(V_{}, a)));
CU2PORT_SIMD_BINARY(Add, V_(u16x2(a) + u16x2(b)));
CU2PORT_SIMD_BINARY(Sub, V_(u16x2(a) - u16x2(b)));
CU2PORT_SIMD_BINARY(AddSat, add_sat(a, b));
CU2PORT_SIMD_BINARY(SubSat, sub_sat(a, b));
CU2PORT_SIMD_BINARY(Max, larger(a, b));
CU2PORT_SIMD_BINARY(Min, smaller(a, b));
CU2PORT_SIMD_BINARY(AbsDiff, V_(u16x2(larger(a, b)) - u16x2(smaller(a, b))));

// Comparisons: all ones where true. A vector `a > b` costs a compare and a select for each half; these are packed
// arithmetic: the sign of a saturated difference, or whether the difference saturates to 0.
CU2PORT_SIMD u16x2 is_zero(u16x2 x) { return -sub_sat(u16x2{1, 1}, x); }
CU2PORT_SIMD u16x2 is_not_zero(u16x2 x) { return sub_sat(u16x2{1, 1}, x) - 1; }

CU2PORT_SIMD_BINARY(Equal, is_zero(a ^ b));
CU2PORT_SIMD_BINARY(NotEqual, is_not_zero(a ^ b));

struct Greater {
    CU2PORT_SIMD s16x2 operator()(s16x2 a, s16x2 b) const { return sub_sat(b, a) >> 15; }
    CU2PORT_SIMD u16x2 operator()(u16x2 a, u16x2 b) const { return is_not_zero(sub_sat(a, b)); }
};
struct LessEqual {
    CU2PORT_SIMD s16x2 operator()(s16x2 a, s16x2 b) const { return s16x2((u16x2(sub_sat(b, a)) >> 15) - 1); }
    CU2PORT_SIMD u16x2 operator()(u16x2 a, u16x2 b) const { return is_zero(sub_sat(a, b)); }
};
CU2PORT_SIMD_BINARY(Less, Greater()(b, a));
CU2PORT_SIMD_BINARY(GreaterEqual, LessEqual()(b, a));

// --- the shapes ------------------------------------------------------------------------------------------------------

template <class V_, class Op, class... Word> CU2PORT_SIMD unsigned halves(Op op, Word... words) {
    return unsigned(op(V_(words)...));
}

template <class V_> CU2PORT_SIMD V_ even_bytes(unsigned x) { return V_(u16x2(x) << 8); }
template <class V_> CU2PORT_SIMD V_ odd_bytes(unsigned x) { return V_(x & 0xff00ff00u); }

template <class V_, class Op, class... Word> CU2PORT_SIMD unsigned bytes(Op op, Word... words) {
    const V_ even = op(even_bytes<V_>(words)...), odd = op(odd_bytes<V_>(words)...);
    return (unsigned(odd) & 0xff00ff00u) | unsigned(u16x2(even) >> 8);
}

// The same where every bit of a lane is alike: nothing need move.
template <class V_, class Op> CU2PORT_SIMD unsigned flags(Op op, unsigned a, unsigned b) {
    const V_ even = op(even_bytes<V_>(a), even_bytes<V_>(b)), odd = op(odd_bytes<V_>(a), odd_bytes<V_>(b));
    return (unsigned(odd) & 0xff00ff00u) | (unsigned(even) & 0x00ff00ffu);
}

// Averages, whole words at a time: `Ones` has a 1 in every lane, `Bits` is a lane's width. No sum leaves its lane.
template <unsigned Ones, int Bits> struct Average {
    enum : unsigned { signs = Ones << (Bits - 1), others = ~signs };
    static CU2PORT_SIMD unsigned down(unsigned a, unsigned b) { return (a & b) + (((a ^ b) >> 1) & others); }
    static CU2PORT_SIMD unsigned up(unsigned a, unsigned b) { return (a | b) - (((a ^ b) >> 1) & others); }
    // Halves go up where the result is not negative, and down where it is.
    static CU2PORT_SIMD unsigned away(unsigned a, unsigned b) {
        const unsigned low = down(a ^ signs, b ^ signs) ^ signs;
        return low + ((a ^ b) & ~(low >> (Bits - 1)) & Ones);
    }
};
typedef Average<0x00010001u, 16> Average2;
typedef Average<0x01010101u, 8> Average4;

}  // namespace simd

// --- CUDA's names ----------------------------------------------------------------------------------------------------

// name, lanes, operation: makes name2 and name4.
#define CU2PORT_SIMD_1(name, V_, Op)                                                           \
    CU2PORT_SIMD unsigned name##2(unsigned a) { return simd::halves<simd::V_>(simd::Op(), a); } \
    CU2PORT_SIMD unsigned name##4(unsigned a) { return simd::bytes<simd::V_>(simd::Op(), a); }
#define CU2PORT_SIMD_2(name, V_, Op)                                                                          \
    CU2PORT_SIMD unsigned name##2(unsigned a, unsigned b) { return simd::halves<simd::V_>(simd::Op(), a, b); } \
    CU2PORT_SIMD unsigned name##4(unsigned a, unsigned b) { return simd::bytes<simd::V_>(simd::Op(), a, b); }
// A comparison: vcmp answers with all ones, vset with 1.
#define CU2PORT_SIMD_COMPARE(name, V_, Op)                                                                          \
    CU2PORT_SIMD unsigned vcmp##name##2(unsigned a, unsigned b) { return simd::halves<simd::V_>(simd::Op(), a, b); } \
    CU2PORT_SIMD unsigned vcmp##name##4(unsigned a, unsigned b) { return simd::flags<simd::V_>(simd::Op(), a, b); } \
    CU2PORT_SIMD unsigned vset##name##2(unsigned a, unsigned b) { return vcmp##name##2(a, b) & 0x00010001u; }       \
    CU2PORT_SIMD unsigned vset##name##4(unsigned a, unsigned b) { return vcmp##name##4(a, b) & 0x01010101u; }

CU2PORT_SIMD_1(vabs, s16x2, Abs)
CU2PORT_SIMD_1(vabsss, s16x2, AbsSat)
CU2PORT_SIMD_1(vneg, s16x2, Neg)
CU2PORT_SIMD_1(vnegss, s16x2, NegSat)

CU2PORT_SIMD_2(vadd, u16x2, Add)
CU2PORT_SIMD_2(vaddss, s16x2, AddSat)
CU2PORT_SIMD_2(vaddus, u16x2, AddSat)
CU2PORT_SIMD_2(vsub, u16x2, Sub)
CU2PORT_SIMD_2(vsubss, s16x2, SubSat)
CU2PORT_SIMD_2(vsubus, u16x2, SubSat)
CU2PORT_SIMD_2(vabsdiffs, s16x2, AbsDiff)
CU2PORT_SIMD_2(vabsdiffu, u16x2, AbsDiff)
CU2PORT_SIMD_2(vmaxs, s16x2, Max)
CU2PORT_SIMD_2(vmaxu, u16x2, Max)
CU2PORT_SIMD_2(vmins, s16x2, Min)
CU2PORT_SIMD_2(vminu, u16x2, Min)

CU2PORT_SIMD_COMPARE(eq, u16x2, Equal)
CU2PORT_SIMD_COMPARE(ne, u16x2, NotEqual)
CU2PORT_SIMD_COMPARE(ges, s16x2, GreaterEqual)
CU2PORT_SIMD_COMPARE(geu, u16x2, GreaterEqual)
CU2PORT_SIMD_COMPARE(gts, s16x2, Greater)
CU2PORT_SIMD_COMPARE(gtu, u16x2, Greater)
CU2PORT_SIMD_COMPARE(les, s16x2, LessEqual)
CU2PORT_SIMD_COMPARE(leu, u16x2, LessEqual)
CU2PORT_SIMD_COMPARE(lts, s16x2, Less)
CU2PORT_SIMD_COMPARE(ltu, u16x2, Less)

// vavg rounds halves up (signed: away from zero), vhadd down.
CU2PORT_SIMD unsigned vavgs2(unsigned a, unsigned b) { return simd::Average2::away(a, b); }
CU2PORT_SIMD unsigned vavgs4(unsigned a, unsigned b) { return simd::Average4::away(a, b); }
CU2PORT_SIMD unsigned vavgu2(unsigned a, unsigned b) { return simd::Average2::up(a, b); }
CU2PORT_SIMD unsigned vhaddu2(unsigned a, unsigned b) { return simd::Average2::down(a, b); }
#ifdef CU2PORT_SIMD_LERP
CU2PORT_SIMD unsigned vavgu4(unsigned a, unsigned b) { return __builtin_amdgcn_lerp(a, b, 0x01010101u); }
CU2PORT_SIMD unsigned vhaddu4(unsigned a, unsigned b) { return __builtin_amdgcn_lerp(a, b, 0u); }
#else
CU2PORT_SIMD unsigned vavgu4(unsigned a, unsigned b) { return simd::Average4::up(a, b); }
CU2PORT_SIMD unsigned vhaddu4(unsigned a, unsigned b) { return simd::Average4::down(a, b); }
#endif

// Sums of absolute differences: one number, not lanes. Signed lanes become unsigned ones by turning their sign bit.
#ifdef CU2PORT_SIMD_SAD
CU2PORT_SIMD unsigned vsadu2(unsigned a, unsigned b) { return __builtin_amdgcn_sad_u16(a, b, 0u); }
CU2PORT_SIMD unsigned vsadu4(unsigned a, unsigned b) { return __builtin_amdgcn_sad_u8(a, b, 0u); }
#else
CU2PORT_SIMD unsigned vsadu2(unsigned a, unsigned b) {
    const unsigned d = vabsdiffu2(a, b);
    return (d & 0xffffu) + (d >> 16);
}
CU2PORT_SIMD unsigned vsadu4(unsigned a, unsigned b) {
    const unsigned d = vabsdiffu4(a, b);
    const unsigned pairs = (d & 0x00ff00ffu) + ((d >> 8) & 0x00ff00ffu);
    return (pairs & 0xffffu) + (pairs >> 16);
}
#endif
CU2PORT_SIMD unsigned vsads2(unsigned a, unsigned b) { return vsadu2(a ^ 0x80008000u, b ^ 0x80008000u); }
CU2PORT_SIMD unsigned vsads4(unsigned a, unsigned b) { return vsadu4(a ^ 0x80808080u, b ^ 0x80808080u); }

// DPX. Sums wrap around; relu means: at least 0.
// X is max or min.
#define CU2PORT_SIMD_DPX(X)                                                                                          \
    CU2PORT_SIMD unsigned vi##X##_s16x2_relu(unsigned a, unsigned b) { return vmaxs2(v##X##s2(a, b), 0); }           \
    CU2PORT_SIMD unsigned vi##X##3_s16x2(unsigned a, unsigned b, unsigned c) { return v##X##s2(v##X##s2(a, b), c); } \
    CU2PORT_SIMD unsigned vi##X##3_u16x2(unsigned a, unsigned b, unsigned c) { return v##X##u2(v##X##u2(a, b), c); } \
    CU2PORT_SIMD unsigned vi##X##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {                                  \
        return vmaxs2(vi##X##3_s16x2(a, b, c), 0);                                                                   \
    }                                                                                                                \
    CU2PORT_SIMD unsigned viadd##X##_s16x2(unsigned a, unsigned b, unsigned c) { return v##X##s2(vadd2(a, b), c); }  \
    CU2PORT_SIMD unsigned viadd##X##_u16x2(unsigned a, unsigned b, unsigned c) { return v##X##u2(vadd2(a, b), c); }  \
    CU2PORT_SIMD unsigned viadd##X##_s16x2_relu(unsigned a, unsigned b, unsigned c) {                                \
        return vmaxs2(viadd##X##_s16x2(a, b, c), 0);                                                                 \
    }

CU2PORT_SIMD_DPX(max)
CU2PORT_SIMD_DPX(min)

// With a predicate, or one for each half: whether the result is the first argument (also where both are equal).
#define CU2PORT_SIMD_PREDICATE(name, order, T) \
    CU2PORT_SIMD T name(T a, T b, bool* first) { return (*first = a order b) ? a : b; }
// T is a word of the halves' sign, `pick` the function of both halves.
#define CU2PORT_SIMD_PREDICATE2(name, order, T, pick)                                       \
    CU2PORT_SIMD unsigned name(unsigned a, unsigned b, bool* high_first, bool* low_first) { \
        *high_first = (T(a) >> 16) order (T(b) >> 16);                                      \
        *low_first = T(a << 16) order T(b << 16);                                           \
        return pick(a, b);                                                                  \
    }

CU2PORT_SIMD_PREDICATE(vibmax_s32, >=, int)
CU2PORT_SIMD_PREDICATE(vibmax_u32, >=, unsigned)
CU2PORT_SIMD_PREDICATE(vibmin_s32, <=, int)
CU2PORT_SIMD_PREDICATE(vibmin_u32, <=, unsigned)
CU2PORT_SIMD_PREDICATE2(vibmax_s16x2, >=, int, vmaxs2)
CU2PORT_SIMD_PREDICATE2(vibmax_u16x2, >=, unsigned, vmaxu2)
CU2PORT_SIMD_PREDICATE2(vibmin_s16x2, <=, int, vmins2)
CU2PORT_SIMD_PREDICATE2(vibmin_u16x2, <=, unsigned, vminu2)

}  // namespace cu2port

#undef CU2PORT_SIMD
#undef CU2PORT_SIMD_1
#undef CU2PORT_SIMD_2
#undef CU2PORT_SIMD_BINARY
#undef CU2PORT_SIMD_COMPARE
#undef CU2PORT_SIMD_DPX
#undef CU2PORT_SIMD_LERP
#undef CU2PORT_SIMD_PREDICATE
#undef CU2PORT_SIMD_PREDICATE2
#undef CU2PORT_SIMD_SAD
#undef CU2PORT_SIMD_SATURATES
#undef CU2PORT_SIMD_UNARY

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_SIMD_HPP
