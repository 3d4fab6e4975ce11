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

// Which lane DPP control `ctrl` reads; -1 where there is none.
inline int dpp_source(int lane, int ctrl) {
    const int row = lane & ~15, in = lane & 15;
    if (ctrl <= 0xff) return (lane & ~3) | (ctrl >> (2 * (lane & 3)) & 3);
    if (ctrl > 0x100 && ctrl < 0x110) return in + (ctrl & 15) < 16 ? lane + (ctrl & 15) : -1;
    if (ctrl > 0x110 && ctrl < 0x120) return in >= (ctrl & 15) ? lane - (ctrl & 15) : -1;
    if (ctrl > 0x120 && ctrl < 0x130) return row | ((in - (ctrl & 15)) & 15);
    switch (ctrl) {
        case 0x130: return lane + 1 < kWave ? lane + 1 : -1;
        case 0x134: return (lane + 1) & (kWave - 1);
        case 0x138: return lane - 1;
        case 0x13c: return (lane - 1) & (kWave - 1);
        case 0x140: return row | (15 - in);
        case 0x141: return (lane & ~7) | (7 - (lane & 7));
        case 0x142: return row - 1;
        case 0x143: return lane >= 32 ? 31 : -1;
        default: break;
    }
    if (ctrl >= 0x150 && ctrl < 0x160) return row | (ctrl & 15);
    if (ctrl >= 0x160 && ctrl < 0x170) return lane ^ (ctrl & 15);
    return -1;
}

inline int dpp(int old, int value, int ctrl, int rows, int banks, bool bound, Where where) {
    const Meeting m = show("DPP", value, where);
    if (!(rows >> (m.lane >> 4 & 3) & 1) || !(banks >> (m.lane >> 2 & 3) & 1)) return old;
    const int source = dpp_source(m.lane, ctrl);
    if (source < 0 || !(m.mask >> source & 1)) return bound ? 0 : old;
    return read<int>(m, source);
}

inline int swizzle_source(int lane, int pattern) {
    if (pattern & 0x8000) return (lane & ~3) | (pattern >> (2 * (lane & 3)) & 3);
    return (lane & ~31) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

inline int push(int address, int value, Where where) {
    const struct {
        int to, value;
    } mine{address >> 2 & (kWave - 1), value};
    const Meeting m = show("ds_permute", mine, where);
    int out = 0;
    for (u64 rest = m.mask; rest; rest &= rest - 1) {
        int pair[2];
        std::memcpy(pair, m.slots[__builtin_ctzll(rest)].bytes, sizeof pair);
        if (pair[0] == m.lane) out = pair[1];
    }
    return out;
}

}  // namespace cu2port_sim

#define CU2PORT_SIM_WHERE cu2port_sim::Where where = cu2port_sim::Where::here()

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

// --- AMD's builtins, as far as programs and HIP's own headers name them -------------------------------------------

inline int __builtin_amdgcn_ds_bpermute(int address, int v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("ds_bpermute", v, address >> 2, where);
}
inline int __builtin_amdgcn_ds_permute(int address, int v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::push(address, v, where);
}
inline int __builtin_amdgcn_ds_swizzle(int v, int pattern, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("ds_swizzle", v, cu2port_sim::swizzle_source(cu2port_sim::lane_id(), pattern), where);
}
inline int __builtin_amdgcn_mov_dpp(int v, int ctrl, int rows, int banks, bool bound, CU2PORT_SIM_WHERE) {
    return cu2port_sim::dpp(0, v, ctrl, rows, banks, bound, where);
}
template <class T>
inline T __builtin_amdgcn_update_dpp(T old, T v, int ctrl, int rows, int banks, bool bound, CU2PORT_SIM_WHERE) {
    static_assert(sizeof(T) == 4, "one register");
    int a, b;
    std::memcpy(&a, &old, 4);
    std::memcpy(&b, &v, 4);
    a = cu2port_sim::dpp(a, b, ctrl, rows, banks, bound, where);
    std::memcpy(&old, &a, 4);
    return old;
}
template <class T>
inline T __builtin_amdgcn_readfirstlane(T v, CU2PORT_SIM_WHERE) {
    const cu2port_sim::Meeting m = cu2port_sim::show("readfirstlane", v, where);
    return cu2port_sim::read<T>(m, __builtin_ctzll(m.mask));
}
template <class T>
inline T __builtin_amdgcn_readlane(T v, int lane, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("readlane", v, lane, where);
}
inline int __builtin_amdgcn_mbcnt_lo(unsigned mask, int add) {
    const int lane = cu2port_sim::lane_id();
    return add + __builtin_popcount(lane >= 32 ? mask : mask & ((1u << lane) - 1));
}
inline int __builtin_amdgcn_mbcnt_hi(unsigned mask, int add) {
    const int lane = cu2port_sim::lane_id();
    return add + (lane < 32 ? 0 : __builtin_popcount(mask & ((1u << (lane - 32)) - 1)));
}
inline int __builtin_amdgcn_wavefrontsize() { return cu2port_sim::kWave; }
inline unsigned long long __builtin_amdgcn_ballot_w64(bool p, CU2PORT_SIM_WHERE) {
    return cu2port_sim::ballot("ballot_w64", p, where);
}
inline unsigned __builtin_amdgcn_ballot_w32(bool p, CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::ballot("ballot_w32", p, where));
}
inline unsigned long long __builtin_amdgcn_read_exec() { return cu2port_sim::ballot("read_exec", true, {__FILE__, 0}); }
inline void __builtin_amdgcn_wave_barrier(CU2PORT_SIM_WHERE) { __syncwarp(where); }
inline void __builtin_amdgcn_s_barrier(CU2PORT_SIM_WHERE) { cu2port_sim::barrier("s_barrier", false, where); }
inline void __builtin_amdgcn_fence(int, const char*) {}
inline void __builtin_amdgcn_s_sleep(int, CU2PORT_SIM_WHERE) { cu2port_sim::yield(where); }

inline unsigned __hip_ds_bpermute(int address, unsigned v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("__hip_ds_bpermute", v, address >> 2, where);
}
inline float __hip_ds_bpermutef(int address, float v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("__hip_ds_bpermutef", v, address >> 2, where);
}
inline unsigned __hip_ds_permute(int address, unsigned v, CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::push(address, static_cast<int>(v), where));
}
inline float __hip_ds_permutef(int address, float v, CU2PORT_SIM_WHERE) {
    int bits;
    std::memcpy(&bits, &v, 4);
    bits = cu2port_sim::push(address, bits, where);
    std::memcpy(&v, &bits, 4);
    return v;
}
template <int pattern, class T>
inline T __hip_ds_swizzle_N(T v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("__hip_ds_swizzle", v, cu2port_sim::swizzle_source(cu2port_sim::lane_id(), pattern), where);
}
template <int ctrl, int rows, int banks, bool bound>
inline int __hip_move_dpp_N(int v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::dpp(0, v, ctrl, rows, banks, bound, where);
}
#define __hip_ds_swizzle(v, pattern) __hip_ds_swizzle_N<(pattern)>(static_cast<unsigned>(v))
#define __hip_ds_swizzlef(v, pattern) __hip_ds_swizzle_N<(pattern)>(static_cast<float>(v))
#define __hip_move_dpp(v, ctrl, rows, banks, bound) __hip_move_dpp_N<(ctrl), (rows), (banks), (bound)>((v))
