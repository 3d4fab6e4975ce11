// cu2port tile_reduce: CUDA's cooperative_groups::reduce, inclusive_scan and exclusive_scan, and their operations;
// invoke_one and invoke_one_broadcast.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// For a HIP whose cooperative groups lack them. A group is a tile of at most a wavefront, which has shfl_xor, or a
// coalesced group. All threads of the group must call; values are of any trivially copyable type.
#ifndef CU2PORT_TILE_REDUCE_HPP
#define CU2PORT_TILE_REDUCE_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#include <hip/hip_cooperative_groups.h>
#define CU2PORT_TILE __device__ inline __attribute__((__always_inline__))
#else
#define CU2PORT_TILE inline
#endif

#ifdef __clang__  // a lane that is not read need not have set its value
#define CU2PORT_TILE_VALUE __attribute__((maybe_undef))
#else
#define CU2PORT_TILE_VALUE
#endif

namespace cu2port {

template <class T> struct plus { CU2PORT_TILE T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { CU2PORT_TILE T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { CU2PORT_TILE T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { CU2PORT_TILE T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { CU2PORT_TILE T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { CU2PORT_TILE T operator()(T a, T b) const { return a ^ b; } };

namespace tile {

// Lanes exchange words of 32 bits; any other value goes in pieces. CUDA's tiles ask for a trivially copyable type.
// HIP's own __hip_bfloat162 and C++'s std::pair are none, by their operators alone, so this does not ask.
template <class T, class Move> CU2PORT_TILE T by_words(T value, Move move) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
    for (unsigned& word : words) word = move(word);
    __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
    return value;
}

// The word of the lane whose rank differs in the one bit `Mask`. A distance known to the compiler needs no address:
// within four lanes (from gfx10 on, within 16) the exchange is part of the next instruction, within 32 one swizzle.
template <unsigned Mask> struct Across {
    template <class Group> static CU2PORT_TILE unsigned word(const Group& group, unsigned x) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__)
        return __builtin_amdgcn_ds_swizzle(x, (Mask << 10) | 0x1f);
#else
        return group.shfl_xor(x, Mask);
#endif
    }
};
template <> struct Across<32> {
    template <class Group> static CU2PORT_TILE unsigned word(const Group& group, unsigned x) {
        return group.shfl_xor(x, 32u);
    }
};
#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__)
#define CU2PORT_TILE_DPP(Mask, control)                                                  \
    template <> struct Across<Mask> {                                                    \
        template <class Group> static CU2PORT_TILE unsigned word(const Group&, unsigned x) { \
            return __builtin_amdgcn_mov_dpp(x, control, 0xf, 0xf, true);                 \
        }                                                                                \
    };
CU2PORT_TILE_DPP(1, 0xb1)  // quad_perm:[1,0,3,2]
CU2PORT_TILE_DPP(2, 0x4e)  // quad_perm:[2,3,0,1]
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
CU2PORT_TILE_DPP(4, 0x164)  // row_xmask:4
CU2PORT_TILE_DPP(8, 0x168)  // row_xmask:8
#endif
#undef CU2PORT_TILE_DPP
#endif

template <unsigned Mask, class Group, class T, class Op> CU2PORT_TILE T fold(const Group& group, T x, Op& op) {
    if (Mask >= group.size()) return x;
    return op(x, by_words(x, [&](unsigned word) { return Across<Mask>::word(group, word); }));
}

// A tile: halves are folded onto each other, widest first, as CUDA does; sums of floats round alike.
template <class Group, class T, class Op>
CU2PORT_TILE auto reduce(const Group& group, T x, Op& op, int) -> decltype(group.shfl_xor(0u, 1u), T(x)) {
    x = fold<32>(group, x, op);
    x = fold<16>(group, x, op);
    x = fold<8>(group, x, op);
    x = fold<4>(group, x, op);
    x = fold<2>(group, x, op);
    return fold<1>(group, x, op);
}

// A group of any number of threads: each rank gathers the ranks from its own on, twice as many each time.
template <class Group, class T, class Op> CU2PORT_TILE T reduce(const Group& group, T x, Op& op, long) {
    const unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned distance = 1; distance < size; distance *= 2) {
        const T other = by_words(x, [&](unsigned word) { return group.shfl_down(word, distance); });
        if (rank + distance < size) x = op(x, other);
    }
    return by_words(x, [&](unsigned word) { return group.shfl(word, 0); });
}

template <class Group, class T> CU2PORT_TILE T from_below(const Group& group, T x, unsigned distance) {
    return by_words(x, [&](unsigned word) { return group.shfl_up(word, distance); });
}

// A tile's shuffles for values of any trivially copyable type, which HIP's tiles have for numbers only.
template <class Group, class T> CU2PORT_TILE T shfl(const Group& group, CU2PORT_TILE_VALUE T value, int rank) {
    return by_words(value, [&](unsigned word) { return group.shfl(word, rank); });
}
template <class Group, class T> CU2PORT_TILE T shfl_down(const Group& group, CU2PORT_TILE_VALUE T value, unsigned by) {
    return by_words(value, [&](unsigned word) { return group.shfl_down(word, by); });
}
template <class Group, class T> CU2PORT_TILE T shfl_up(const Group& group, CU2PORT_TILE_VALUE T value, unsigned by) {
    return by_words(value, [&](unsigned word) { return group.shfl_up(word, by); });
}
template <class Group, class T> CU2PORT_TILE T shfl_xor(const Group& group, CU2PORT_TILE_VALUE T value, unsigned mask) {
    return by_words(value, [&](unsigned word) { return group.shfl_xor(word, mask); });
}

}  // namespace tile

/// Every thread of the group gets op over the values of all.
template <class Group, class T, class Op> CU2PORT_TILE T reduce(const Group& group, CU2PORT_TILE_VALUE T value, Op op) {
    return tile::reduce(group, value, op, 0);
}

/// Each thread gets op over the values of the ranks up to its own.
template <class Group, class T, class Op>
CU2PORT_TILE T inclusive_scan(const Group& group, CU2PORT_TILE_VALUE T value, Op op) {
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T below = tile::from_below(group, value, distance);
        if (group.thread_rank() >= distance) value = op(below, value);
    }
    return value;
}
template <class Group, class T> CU2PORT_TILE T inclusive_scan(const Group& group, CU2PORT_TILE_VALUE T value) {
    return cu2port::inclusive_scan(group, value, plus<T>());
}

/// Each thread gets op over the values of the ranks below its own; rank 0 gets T(), as with CUDA.
template <class Group, class T, class Op>
CU2PORT_TILE T exclusive_scan(const Group& group, CU2PORT_TILE_VALUE T value, Op op) {
    const T below = tile::from_below(group, cu2port::inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : below;
}
template <class Group, class T> CU2PORT_TILE T exclusive_scan(const Group& group, CU2PORT_TILE_VALUE T value) {
    return cu2port::exclusive_scan(group, value, plus<T>());
}

/// One thread of the group, that of rank 0, calls a function.
template <class Group, class Function, class... Values>
CU2PORT_TILE void invoke_one(const Group& group, Function&& function, Values&&... values) {
    if (group.thread_rank() == 0) static_cast<Function&&>(function)(static_cast<Values&&>(values)...);
}

/// The same, and every thread gets the result, of any trivially copyable type that has a value by default.
template <class Group, class Function, class... Values>
CU2PORT_TILE auto invoke_one_broadcast(const Group& group, Function&& function, Values&&... values)
    -> decltype(static_cast<Function&&>(function)(static_cast<Values&&>(values)...)) {
    decltype(static_cast<Function&&>(function)(static_cast<Values&&>(values)...)) result{};
    if (group.thread_rank() == 0) result = static_cast<Function&&>(function)(static_cast<Values&&>(values)...);
    return tile::shfl(group, result, 0);
}

}  // namespace cu2port

#undef CU2PORT_TILE
#undef CU2PORT_TILE_VALUE

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_TILE_REDUCE_HPP
