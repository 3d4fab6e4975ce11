// Cross-lane operations. Lanes that are here show a value; each computes its own result from what all showed.
#pragma once

#include <string>

#include "core.h"

inline const struct cu2port_sim_warp_size final {
    __attribute__((always_inline)) operator int() const noexcept { return cu2port_sim::kWave; }
} warpSize{};

namespace cu2port_sim {

using u64 = unsigned long long;

template <class T>
struct Shown {  // what a lane shows, with the mask of a `_sync` form
    T value;
    u64 mask;
};

template <class T>
T read(const Meeting& m, int lane) {
    T out{};
    lane &= kWave - 1;
    if (m.mask >> lane & 1) {
        std::memcpy(&out, m.slots[lane].bytes, sizeof(T));
    } else {
        const u64 bits = inactive_bits();
        std::memcpy(&out, &bits, sizeof(T) < 8 ? sizeof(T) : 8);
    }
    return out;
}

template <class T>
Meeting show(const char* name, const T& value, Where where) {
    static_assert(sizeof(T) <= kSlot && std::is_trivially_copyable_v<T>, "a lane shows up to 16 bytes");
    return meet(Kind::exchange, name, &value, sizeof(T), where);
}

inline int shfl_index(int lane, int source, int width) { return (source & (width - 1)) + (lane & ~(width - 1)); }
inline int shfl_up_index(int lane, unsigned delta, int width) {
    const int index = lane - static_cast<int>(delta);
    return index < (lane & ~(width - 1)) ? lane : index;
}
inline int shfl_down_index(int lane, unsigned delta, int width) {
    const int index = lane + static_cast<int>(delta);
    return static_cast<int>((lane & (width - 1)) + delta) >= width ? lane : index;
}
inline int shfl_xor_index(int lane, int bits, int width) {
    const int index = lane ^ bits;
    return index >= ((lane + width) & ~(width - 1)) ? lane : index;
}

template <class T>
T permute(const char* name, const T& value, int index, Where where) {
    const Meeting m = show(name, value, where);
    return read<T>(m, index);
}

inline u64 ballot(const char* name, bool predicate, Where where) {
    const Meeting m = show(name, static_cast<unsigned char>(predicate), where);
    u64 out = 0;
    for (u64 rest = m.mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        out |= static_cast<u64>(m.slots[lane].bytes[0]) << lane;
    }
    return out;
}

constexpr u64 kAll = kWave == 64 ? ~u64{0} : 0xffffffffull;

template <class M>
constexpr u64 lane_mask(M mask) {
    static_assert(std::is_integral_v<M> && sizeof(M) == 8,
                  "The mask must be a 64-bit integer. Implicitly promoting a smaller integer is almost always an error.");
    return static_cast<u64>(mask) & kAll;
}

// The lanes of a `_sync` call that gave the same mask; HIP wants it to be all lanes that the mask names.
template <class T>
u64 same_mask(const Meeting& m, u64 mask, const char* name, Where where) {
    u64 out = 0;
    for (u64 rest = m.mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        Shown<T> other;
        std::memcpy(&other, m.slots[lane].bytes, sizeof other);
        if (other.mask == mask) out |= u64{1} << lane;
    }
    if (out != mask && checks())
        misuse((std::string(name) + ": the mask names lanes that are not here, or leaves out one that is").c_str(), where);
    return out;
}

// The mask of a function of cu2port/warp.hpp: of the 32 lanes around this one, those it names come with the same mask.
inline void warp_mask(unsigned mask, Where where) {
    if (!checks()) return;
    const Meeting m = show("cu2port::warp", mask, where);
    const int first = m.lane & ~31;
    const unsigned here = static_cast<unsigned>(m.mask >> first), live = static_cast<unsigned>(live_lanes() >> first);
    bool wrong = !(mask >> (m.lane - first) & 1) || (mask & live & ~here) != 0;
    for (unsigned rest = mask & here; rest; rest &= rest - 1)
        wrong |= read<unsigned>(m, first + __builtin_ctz(rest)) != mask;
    if (wrong) misuse("cu2port::warp: the mask names lanes that are not here, or leaves out one that is", where);
}

template <class T>
T permute_sync(const char* name, u64 mask, const T& value, int index, Where where) {
    const Shown<T> mine{value, mask};
    const Meeting m = show(name, mine, where);
    Meeting subset = m;
    subset.mask = same_mask<T>(m, mask, name, where);
    return read<T>(subset, index);
}

inline u64 ballot_sync(const char* name, u64 mask, bool predicate, Where where) {
    const Shown<int> mine{predicate, mask};
    const Meeting m = show(name, mine, where);
    if (checks()) same_mask<int>(m, mask, name, where);
    u64 out = 0;
    for (u64 rest = m.mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        out |= static_cast<u64>(m.slots[lane].bytes[0]) << lane;
    }
    return out & mask;
}

template <class T>
u64 match(const char* name, T value, bool* all, Where where) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "__match takes 4 or 8 byte numbers");
    const Meeting m = show(name, value, where);
    u64 out = 0;
    for (u64 rest = m.mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        if (read<T>(m, lane) == value) out |= u64{1} << lane;
    }
    if (all) {
        const T first = read<T>(m, __builtin_ctzll(m.mask));
        bool same = true;
        for (u64 rest = m.mask; rest; rest &= rest - 1) same &= read<T>(m, __builtin_ctzll(rest)) == first;
        *all = same;
        return same ? m.mask : 0;
    }
    return out;
}

template <class T, class F>
T reduce_sync(const char* name, u64 mask, T value, F f, Where where) {
    const Shown<T> mine{value, mask};
    const Meeting m = show(name, mine, where);
    u64 rest = same_mask<T>(m, mask, name, where);
    T out = read<T>(m, __builtin_ctzll(rest));
    for (rest &= rest - 1; rest; rest &= rest - 1) out = f(out, read<T>(m, __builtin_ctzll(rest)));
    return out;
}

}  // namespace cu2port_sim

#define CU2PORT_SIM_WHERE cu2port_sim::Where where = cu2port_sim::Where::here()

#ifdef CU2PORT_SIM_CUDA  // CUDA's own operations in place of HIP's
#include "../cuda/lanes.h"
#else

#define CU2PORT_SIM_SHUFFLES(T)                                                                                     \
    inline T __shfl(T v, int source, int width = warpSize, CU2PORT_SIM_WHERE) {                                     \
        return cu2port_sim::permute("__shfl", v, cu2port_sim::shfl_index(cu2port_sim::lane_id(), source, width), where); \
    }                                                                                                               \
    inline T __shfl_up(T v, unsigned delta, int width = warpSize, CU2PORT_SIM_WHERE) {                              \
        return cu2port_sim::permute("__shfl_up", v, cu2port_sim::shfl_up_index(cu2port_sim::lane_id(), delta, width), where); \
    }                                                                                                               \
    inline T __shfl_down(T v, unsigned delta, int width = warpSize, CU2PORT_SIM_WHERE) {                            \
        return cu2port_sim::permute("__shfl_down", v, cu2port_sim::shfl_down_index(cu2port_sim::lane_id(), delta, width), where); \
    }                                                                                                               \
    inline T __shfl_xor(T v, int bits, int width = warpSize, CU2PORT_SIM_WHERE) {                                   \
        return cu2port_sim::permute("__shfl_xor", v, cu2port_sim::shfl_xor_index(cu2port_sim::lane_id(), bits, width), where); \
    }
CU2PORT_SIM_SHUFFLES(int)
CU2PORT_SIM_SHUFFLES(unsigned)
CU2PORT_SIM_SHUFFLES(long)
CU2PORT_SIM_SHUFFLES(unsigned long)
CU2PORT_SIM_SHUFFLES(long long)
CU2PORT_SIM_SHUFFLES(unsigned long long)
CU2PORT_SIM_SHUFFLES(float)
CU2PORT_SIM_SHUFFLES(double)
#undef CU2PORT_SIM_SHUFFLES

template <class M, class T>
inline T __shfl_sync(M mask, T v, int source, int width = warpSize, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute_sync("__shfl_sync", cu2port_sim::lane_mask(mask), v,
                                     cu2port_sim::shfl_index(cu2port_sim::lane_id(), source, width), where);
}
template <class M, class T>
inline T __shfl_up_sync(M mask, T v, unsigned delta, int width = warpSize, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute_sync("__shfl_up_sync", cu2port_sim::lane_mask(mask), v,
                                     cu2port_sim::shfl_up_index(cu2port_sim::lane_id(), delta, width), where);
}
template <class M, class T>
inline T __shfl_down_sync(M mask, T v, unsigned delta, int width = warpSize, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute_sync("__shfl_down_sync", cu2port_sim::lane_mask(mask), v,
                                     cu2port_sim::shfl_down_index(cu2port_sim::lane_id(), delta, width), where);
}
template <class M, class T>
inline T __shfl_xor_sync(M mask, T v, int bits, int width = warpSize, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute_sync("__shfl_xor_sync", cu2port_sim::lane_mask(mask), v,
                                     cu2port_sim::shfl_xor_index(cu2port_sim::lane_id(), bits, width), where);
}

inline unsigned long long __ballot(int p, CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("__ballot", p != 0, where); }
inline unsigned long long __ballot64(int p, CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("__ballot64", p != 0, where); }
inline unsigned long long __activemask(CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("__activemask", true, where); }
inline int __any(int p, CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("__any", p != 0, where) != 0; }
inline int __all(int p, CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("__all", p == 0, where) == 0; }
template <class M>
inline unsigned long long __ballot_sync(M mask, int p, CU2PORT_SIM_WHERE) {
    return cu2port_sim::ballot_sync("__ballot_sync", cu2port_sim::lane_mask(mask), p != 0, where);
}
template <class M>
inline int __any_sync(M mask, int p, CU2PORT_SIM_WHERE) {
    return cu2port_sim::ballot_sync("__any_sync", cu2port_sim::lane_mask(mask), p != 0, where) != 0;
}
template <class M>
inline int __all_sync(M mask, int p, CU2PORT_SIM_WHERE) {
    return cu2port_sim::ballot_sync("__all_sync", cu2port_sim::lane_mask(mask), p != 0, where) == cu2port_sim::lane_mask(mask);
}

template <class T>
inline unsigned long long __match_any(T v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::match("__match_any", v, nullptr, where);
}
template <class M, class T>
inline unsigned long long __match_any_sync(M mask, T v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::match("__match_any_sync", v, nullptr, where) & cu2port_sim::lane_mask(mask);
}
template <class T>
inline unsigned long long __match_all(T v, int* pred, CU2PORT_SIM_WHERE) {
    bool all;
    const unsigned long long out = cu2port_sim::match("__match_all", v, &all, where);
    *pred = all;
    return out;
}
template <class M, class T>
inline unsigned long long __match_all_sync(M mask, T v, int* pred, CU2PORT_SIM_WHERE) {
    bool all;
    const unsigned long long out = cu2port_sim::match("__match_all_sync", v, &all, where);
    *pred = all;
    return out & cu2port_sim::lane_mask(mask);
}

#define CU2PORT_SIM_REDUCE(name, expression)                                                                        \
    template <class M, class T>                                                                                     \
    inline T name(M mask, T v, CU2PORT_SIM_WHERE) {                                                                 \
        return cu2port_sim::reduce_sync(                                                                            \
            #name, cu2port_sim::lane_mask(mask), v, [](T a, T b) -> T { return expression; }, where);               \
    }
CU2PORT_SIM_REDUCE(__reduce_add_sync, a + b)
CU2PORT_SIM_REDUCE(__reduce_min_sync, b < a ? b : a)
CU2PORT_SIM_REDUCE(__reduce_max_sync, a < b ? b : a)
CU2PORT_SIM_REDUCE(__reduce_and_sync, a & b)
CU2PORT_SIM_REDUCE(__reduce_or_sync, a | b)
CU2PORT_SIM_REDUCE(__reduce_xor_sync, a ^ b)
#undef CU2PORT_SIM_REDUCE

inline void __syncwarp(CU2PORT_SIM_WHERE) {
    cu2port_sim::meet(cu2port_sim::Kind::wave_sync, "__syncwarp", nullptr, 0, where);
}
template <class M, class = std::enable_if_t<std::is_integral_v<M>>>
inline void __syncwarp(M mask, CU2PORT_SIM_WHERE) {
    cu2port_sim::Shown<int> mine{0, cu2port_sim::lane_mask(mask)};
    const cu2port_sim::Meeting m =
        cu2port_sim::meet(cu2port_sim::Kind::wave_sync, "__syncwarp", &mine, sizeof mine, where);
    if (cu2port_sim::checks()) cu2port_sim::same_mask<int>(m, mine.mask, "__syncwarp", where);
}

inline unsigned __lane_id() { return static_cast<unsigned>(cu2port_sim::lane_id()); }
inline unsigned long long __lanemask_eq() { return 1ull << cu2port_sim::lane_id(); }
inline unsigned long long __lanemask_lt(CU2PORT_SIM_WHERE) {
    return __ballot(1, where) & ((1ull << cu2port_sim::lane_id()) - 1);
}
inline unsigned long long __lanemask_gt(CU2PORT_SIM_WHERE) {
    return __ballot(1, where) & ~((2ull << cu2port_sim::lane_id()) - 1);
}

#endif
