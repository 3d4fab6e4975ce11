// cu2port warp: CUDA's warps of 32 lanes on AMD GPUs, whose wavefronts have 32 or 64.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A warp is 32 threads in a row. A wavefront of 64 lanes holds two: each function looks at the half that its lane is in
// and answers as CUDA does, in 32 bits. HIP's `*_sync` functions are not used: they want masks of 64 bits that name
// just the lanes that are there, and take ten times as long. Here the mask says which votes and values count. The lanes
// it names must come to the call together; what is read from a lane that did not means nothing, as in CUDA.
#ifndef CU2PORT_WARP_HPP
#define CU2PORT_WARP_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

namespace cu2port {
namespace warp {

/// Lanes in a warp, on every GPU.
constexpr int size = 32;

}  // namespace warp
}  // namespace cu2port

#if defined(__HIP__) || defined(CU2PORT_SIM_WAVE)  // the rest is for the device
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

#define CU2PORT_WARP __device__ inline __attribute__((__always_inline__))
#ifdef __clang__  // a lane that is not read need not have set its value
#define CU2PORT_WARP_VALUE __attribute__((maybe_undef))
#else
#define CU2PORT_WARP_VALUE
#endif

#ifdef CU2PORT_SIM_WAVE  // cu2port's simulator looks whether the lanes of a mask are there, and says where
#define CU2PORT_WARP_HERE , cu2port_sim::Where where = cu2port_sim::Where::here()
#define CU2PORT_WARP_CHECK(mask) cu2port_sim::warp_mask(mask, where)
#else
#define CU2PORT_WARP_HERE
#define CU2PORT_WARP_CHECK(mask) ((void)(mask))
#endif

namespace cu2port {
namespace warp {
namespace detail {

// Whether a wavefront holds two warps. No constant expression, but the compiler, which builds for one GPU, folds it.
// (ROCm 7 has no macro for it any more, and its `warpSize` is this builtin.)
CU2PORT_WARP bool two() { return __builtin_amdgcn_wavefrontsize() == 64; }

// Whether a width is known to be that of the warp.
CU2PORT_WARP bool whole(int width) { return __builtin_constant_p(width) && width == size; }

// This lane's number in its wavefront.
CU2PORT_WARP unsigned wave_lane() {
    const unsigned low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
    return two() ? __builtin_amdgcn_mbcnt_hi(~0u, low) : low;
}

// Just the upper lanes have 32 others below them in the lower half.
CU2PORT_WARP bool upper() { return two() && __builtin_amdgcn_mbcnt_lo(~0u, 0u) == 32; }

// Of the wavefront's votes, those of this warp.
CU2PORT_WARP unsigned half(unsigned long long votes) {
    return static_cast<unsigned>(upper() ? votes >> 32 : votes);
}
CU2PORT_WARP unsigned vote(bool yes) { return half(__builtin_amdgcn_ballot_w64(yes)); }

// Lanes exchange words of 32 bits; any other value goes in pieces.
template <class T, class Move> CU2PORT_WARP T by_words(CU2PORT_WARP_VALUE T value, Move move) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
    for (unsigned& word : words) word = move(word);
    __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
    return value;
}

// The value of a lane of the wavefront; its number wraps around at the wavefront's size.
template <class T> CU2PORT_WARP T read(CU2PORT_WARP_VALUE T value, unsigned lane) {
    return by_words(value, [lane](unsigned word) { return __builtin_amdgcn_ds_bpermute(int(lane << 2), int(word)); });
}

// Lane i reads lane ((i & And) | Or) ^ Xor of its 32, without an address.
template <unsigned And, unsigned Or, unsigned Xor> struct Swizzle {
    CU2PORT_WARP int operator()(unsigned word) const {
        return __builtin_amdgcn_ds_swizzle(int(word), int(Xor << 10 | Or << 5 | And));
    }
};
// DPP, which can become part of the instruction that takes the value.
template <int Control> struct Dpp {
    CU2PORT_WARP int operator()(unsigned word) const {
        return __builtin_amdgcn_mov_dpp(int(word), Control, 0xf, 0xf, true);
    }
};
// The value of a lane of the wavefront that is the same for all who ask, and of the first that is here.
struct Lane {
    int lane;
    CU2PORT_WARP int operator()(unsigned word) const { return __builtin_amdgcn_readlane(int(word), lane); }
};
struct First {
    CU2PORT_WARP int operator()(unsigned word) const { return __builtin_amdgcn_readfirstlane(int(word)); }
};
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
typedef Dpp<0x164> Across4;  // row_xmask:4
#else
typedef Swizzle<31, 0, 4> Across4;
#endif

// 31 less the number of a lane in its part of the warp, for lanes 0 to 31. The compiler knows no single instruction.
CU2PORT_WARP unsigned lanes_above(unsigned lane, int width) {
#if !defined(CU2PORT_SIM_WAVE) && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
    unsigned above;
    if (__builtin_constant_p(width)) switch (width) {
        case 2: asm("v_bfi_b32 %0, %1, 30, 31" : "=v"(above) : "v"(lane)); return above;
        case 4: asm("v_bfi_b32 %0, %1, 28, 31" : "=v"(above) : "v"(lane)); return above;
        case 8: asm("v_bfi_b32 %0, %1, 24, 31" : "=v"(above) : "v"(lane)); return above;
        case 16: asm("v_bfi_b32 %0, %1, 16, 31" : "=v"(above) : "v"(lane)); return above;
        default: break;
        }
#endif
    return (lane & unsigned(size - width)) | (~lane & 31u);
}

// The value of the lane whose number differs in `bits`, 0 to 31.
template <class T> CU2PORT_WARP T across(CU2PORT_WARP_VALUE T value, unsigned bits) {
    if (__builtin_constant_p(bits)) switch (bits) {  // after inlining and unrolling
        case 1: return by_words(value, Dpp<0xb1>());  // quad_perm:[1,0,3,2]
        case 2: return by_words(value, Dpp<0x4e>());  // quad_perm:[2,3,0,1]
        case 3: return by_words(value, Dpp<0x1b>());  // quad_perm:[3,2,1,0]
        case 4: return by_words(value, Across4());
        case 7: return by_words(value, Dpp<0x141>());  // row_half_mirror
        case 8: return by_words(value, Dpp<0x128>());  // row_ror:8
        case 15: return by_words(value, Dpp<0x140>());  // row_mirror
        case 16: return by_words(value, Swizzle<31, 0, 16>());
        case 31: return by_words(value, Swizzle<31, 0, 31>());
        default: break;
        }
    return read(value, wave_lane() ^ bits);
}

}  // namespace detail

// --- Who am I ---------------------------------------------------------------------------------------------------

/// This lane's number in its warp, 0 to 31: `%laneid`.
CU2PORT_WARP unsigned lane_id() { return detail::two() ? detail::wave_lane() & 31u : detail::wave_lane(); }

/// Whether this lane's warp is the second of the two in its wavefront.
CU2PORT_WARP bool upper() { return detail::upper(); }

/// The lanes of the warp whose number equals, is lower, ... than this lane's: `%lanemask_eq` and so on.
CU2PORT_WARP unsigned lanemask_eq() { return 1u << lane_id(); }
CU2PORT_WARP unsigned lanemask_lt() { return (1u << lane_id()) - 1u; }
CU2PORT_WARP unsigned lanemask_le() { return (2u << lane_id()) - 1u; }
CU2PORT_WARP unsigned lanemask_gt() { return ~1u << lane_id(); }
CU2PORT_WARP unsigned lanemask_ge() { return ~0u << lane_id(); }

// --- Votes ------------------------------------------------------------------------------------------------------

/// The lanes of the warp that are here: `__activemask()`.
CU2PORT_WARP unsigned activemask() { return detail::vote(true); }

/// `__ballot_sync(mask, predicate)`, `__any_sync`, `__all_sync`; without a mask: `__ballot(predicate)` and so on.
CU2PORT_WARP unsigned ballot(CU2PORT_WARP_VALUE int predicate) { return detail::vote(predicate != 0); }
CU2PORT_WARP int any(CU2PORT_WARP_VALUE int predicate) { return ballot(predicate) != 0; }
CU2PORT_WARP int all(CU2PORT_WARP_VALUE int predicate) { return ballot(predicate == 0) == 0; }
CU2PORT_WARP unsigned ballot(unsigned mask, CU2PORT_WARP_VALUE int predicate CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    return ballot(predicate) & mask;
}
CU2PORT_WARP int any(unsigned mask, CU2PORT_WARP_VALUE int predicate CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    return (ballot(predicate) & mask) != 0;
}
CU2PORT_WARP int all(unsigned mask, CU2PORT_WARP_VALUE int predicate CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    return (ballot(predicate == 0) & mask) == 0;
}

/// Whether this lane is the lowest of those in the mask that are here: `elect.sync`.
CU2PORT_WARP bool elect(unsigned mask) { return (activemask() & mask & lanemask_lt()) == 0; }

// --- Shuffles: width is 2, 4, 8, 16 or 32 ---------------------------------------------------------------------------

/// `__shfl_sync(mask, value, lane, width)`
template <class T>
CU2PORT_WARP T shfl(unsigned mask, CU2PORT_WARP_VALUE T value, int lane, int width = size CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    if (__builtin_constant_p(lane) && detail::whole(width)) {
        if ((lane & 31) == 0) return detail::by_words(value, detail::Swizzle<0, 0, 0>());
        if ((lane & 31) == 31) return detail::by_words(value, detail::Swizzle<0, 31, 0>());
    }
    const unsigned inside = unsigned(width) - 1u;
    return detail::read(value, (unsigned(lane) & inside) | (detail::wave_lane() & ~inside));
}

/// `__shfl_up_sync(mask, value, delta, width)`: lanes without one to read from keep their own value.
template <class T>
CU2PORT_WARP T shfl_up(unsigned mask, CU2PORT_WARP_VALUE T value, unsigned delta, int width = size CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    const unsigned self = detail::wave_lane(), inside = self & (unsigned(width) - 1u);
    if (!detail::two() && detail::whole(width)) {  // the borrow tells
        unsigned source;
        return detail::read(value, __builtin_usub_overflow(self, delta & 31u, &source) ? self : source);
    }
    if (!detail::two() && !__builtin_constant_p(delta)) {  // lane numbers wrap around at 32
        const unsigned rest = ~delta & 31u;
        return detail::read(value, self + (rest >= detail::lanes_above(self, width) ? rest : ~0u) + 1u);
    }
    delta &= 31u;
    return detail::read(value, delta <= inside ? self - delta : self);
}

/// `__shfl_down_sync(mask, value, delta, width)`
template <class T>
CU2PORT_WARP T shfl_down(unsigned mask, CU2PORT_WARP_VALUE T value, unsigned delta,
    int width = size CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    const unsigned self = detail::wave_lane(), inside = self & (unsigned(width) - 1u);
    if (!detail::two() && !__builtin_constant_p(delta)) {  // a carry tells, and lane numbers wrap around at 32
        unsigned sum;
        const bool none = __builtin_uadd_overflow(inside | unsigned(size - width), delta | ~31u, &sum);
        return detail::read(value, self + (none ? 0u : delta));
    }
    delta &= 31u;
    return detail::read(value, inside + delta < unsigned(width) ? self + delta : self);
}

/// `__shfl_xor_sync(mask, value, bits, width)`: lanes above the own `width` are out of reach, those below are not.
template <class T>
CU2PORT_WARP T shfl_xor(unsigned mask, CU2PORT_WARP_VALUE T value, int bits, int width = size CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    const unsigned flip = unsigned(bits) & 31u;
    if (detail::whole(width) || (__builtin_constant_p(flip < unsigned(width)) && flip < unsigned(width)))
        return detail::across(value, flip);
    const unsigned self = detail::wave_lane(), last = self | (unsigned(width) - 1u);
    return detail::read(value, (self ^ flip) <= last ? self ^ flip : self);
}

// --- Matches and reductions -----------------------------------------------------------------------------------------

namespace detail {

template <class T> CU2PORT_WARP bool same_bits(T a, T b) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA matches numbers of 4 or 8 bytes");
    unsigned x[sizeof(T) / 4], y[sizeof(T) / 4], differ = 0;
    __builtin_memcpy(x, &a, sizeof(T));
    __builtin_memcpy(y, &b, sizeof(T));
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) differ |= x[i] ^ y[i];
    return differ == 0;
}

// The lanes of the wavefront that are here and have this lane's value, bit by bit; once for each value.
template <class T> CU2PORT_WARP unsigned long long same_lanes(CU2PORT_WARP_VALUE T value) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
    unsigned long long same = 0, rest = __builtin_amdgcn_ballot_w64(true);
    while (rest) {
        const int first = __builtin_ctzll(rest);
        unsigned differ = 0;
        for (unsigned word : words) differ |= word ^ unsigned(__builtin_amdgcn_readlane(int(word), first));
        const bool mine = differ == 0;
        const unsigned long long those = __builtin_amdgcn_ballot_w64(mine);
        if (mine) same = those;
        rest &= ~those;
    }
    return same;
}

struct Add { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return a + b; } };
struct Min { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return b < a ? b : a; } };
struct Max { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return a < b ? b : a; } };
struct And { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return a & b; } };
struct Or { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return a | b; } };
struct Xor { template <class T> CU2PORT_WARP T operator()(T a, T b) const { return a ^ b; } };

#ifdef __GFX9__  // where rows of 16 lanes hand their last lane on; lanes that hold the same need not be told apart
typedef Dpp<0x141> Fours;  // row_half_mirror
typedef Dpp<0x142> Rows;   // row_bcast:15
#else
typedef Across4 Fours;
typedef Swizzle<31, 0, 16> Rows;
#endif

// The values of 32 lanes that are all here, put together in pairs: the last of them gets the result, on others than
// gfx9 each. `op` may take them in any order.
template <class T, class Op> CU2PORT_WARP T fold_32(T value, Op op) {
    value = op(value, by_words(value, Dpp<0xb1>()));  // quad_perm:[1,0,3,2]
    value = op(value, by_words(value, Dpp<0x4e>()));  // quad_perm:[2,3,0,1]
    value = op(value, by_words(value, Fours()));
    value = op(value, by_words(value, Dpp<0x140>()));  // row_mirror
    return op(value, by_words(value, Rows()));
}

// Whether of each half of the wavefront all lanes are among these, or none.
CU2PORT_WARP bool whole_halves(unsigned long long lanes) {
    return ((lanes ^ lanes >> 1) & 0x7fffffff7fffffffull) == 0;
}

template <class T, class Op> CU2PORT_WARP T fold(unsigned mask, CU2PORT_WARP_VALUE T value, Op op) {
    const unsigned long long here = __builtin_amdgcn_ballot_w64(true);
    if (__builtin_amdgcn_ballot_w64(mask == ~0u) == here && whole_halves(here)) {
        value = fold_32(value, op);
#ifdef __GFX9__
        const T lower = by_words(value, Lane{31}), higher = by_words(value, Lane{63});
        value = upper() ? higher : lower;
#endif
        return value;
    }
    // Each lane folds the values from its own up, twice as far each time; `next` is the first lane it has not folded.
    const unsigned members = half(here) & mask, first_lane = wave_lane() & ~31u;
    const unsigned above = members & lanemask_gt();
    unsigned next = above ? unsigned(__builtin_ctz(above)) : 32u;
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
    while (__builtin_amdgcn_ballot_w64(next < 32u)) {
        const T other = read(value, first_lane | (next & 31u));
        const unsigned after = read(next, first_lane | (next & 31u));
        if (next < 32u) {
            value = op(value, other);
            next = after;
        }
    }
    return read(value, first_lane | unsigned(__builtin_ctz(members)));
}

}  // namespace detail

/// `__match_any_sync(mask, value)`: the lanes with this lane's value. Numbers are compared bit by bit; what is smaller
/// than an int becomes one, as in CUDA.
template <class T> CU2PORT_WARP unsigned match_any(unsigned mask, CU2PORT_WARP_VALUE T value CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    static_assert(sizeof(+value) == 4 || sizeof(+value) == 8, "CUDA matches numbers of 4 or 8 bytes");
    return detail::half(detail::same_lanes(+value)) & mask;
}

/// `__match_all_sync(mask, value, predicate)`: the mask if all its lanes have the same value, else 0.
template <class T> CU2PORT_WARP unsigned match_all(unsigned mask, CU2PORT_WARP_VALUE T value,
    int* predicate CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    const unsigned leader = __builtin_ctz(activemask() & mask) | (detail::wave_lane() & ~31u);
    const bool same = detail::same_bits(+value, detail::read(+value, leader));
    *predicate = (ballot(!same) & mask) == 0;
    return *predicate ? mask : 0u;
}

/// `__reduce_add_sync(mask, value)` and so on; what is smaller than an int becomes one, as in CUDA.
#define CU2PORT_WARP_REDUCE(name, Op)                                                                       \
    template <class T> CU2PORT_WARP auto name(unsigned mask, CU2PORT_WARP_VALUE T value CU2PORT_WARP_HERE) { \
        CU2PORT_WARP_CHECK(mask);                                                                           \
        return detail::fold(mask, +value, detail::Op());                                                    \
    }
CU2PORT_WARP_REDUCE(reduce_add, Add)
CU2PORT_WARP_REDUCE(reduce_min, Min)
CU2PORT_WARP_REDUCE(reduce_max, Max)

/// `__reduce_and_sync(mask, value)` and so on: of `unsigned` alone, as in CUDA, whatever the value's type is.
#define CU2PORT_WARP_REDUCE_BITS(name, Op)                                                                    \
    template <class T = unsigned>                                                                               \
    CU2PORT_WARP unsigned name(unsigned mask, CU2PORT_WARP_VALUE unsigned value CU2PORT_WARP_HERE) {          \
        CU2PORT_WARP_CHECK(mask);                                                                             \
        return detail::fold(mask, value, detail::Op());                                                       \
    }
CU2PORT_WARP_REDUCE_BITS(reduce_and, And)
CU2PORT_WARP_REDUCE_BITS(reduce_or, Or)
CU2PORT_WARP_REDUCE_BITS(reduce_xor, Xor)

/// `__syncwarp(mask)`: what lanes of the warp wrote before is seen by those that read after.
CU2PORT_WARP void syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
CU2PORT_WARP void syncwarp(unsigned mask CU2PORT_WARP_HERE) {
    CU2PORT_WARP_CHECK(mask);
    syncwarp();
}

}  // namespace warp
}  // namespace cu2port

#undef CU2PORT_WARP
#undef CU2PORT_WARP_CHECK
#undef CU2PORT_WARP_HERE
#undef CU2PORT_WARP_REDUCE
#undef CU2PORT_WARP_REDUCE_BITS
#undef CU2PORT_WARP_VALUE
#endif

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_WARP_HPP
