// AMD's builtins, as far as portable headers and HIP's own name them, and the `__hip_` forms of the same.
//
// Cross-lane builtins take and give an int, as clang declares them: a float given to one is converted, not kept. Those of
// DPP take any type of up to eight bytes, as they do since clang 20.
#pragma once

#include "atomics.h"
#include "maths.h"
#include "warp.h"

namespace cu2port_sim {

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

template <class T>
inline T dpp(T old, T value, int ctrl, int rows, int banks, bool bound, Where where) {
    static_assert(sizeof(T) <= 8 && std::is_arithmetic_v<T>, "DPP moves a number of at most eight bytes");
    const Meeting m = show("DPP", value, where);
    if (!(rows >> (m.lane >> 4 & 3) & 1) || !(banks >> (m.lane >> 2 & 3) & 1)) return old;
    const int source = dpp_source(m.lane, ctrl);
    if (source < 0 || !(m.mask >> source & 1)) return bound ? T{} : old;
    return read<T>(m, source);
}

inline int swizzle_source(int lane, int pattern) {
    if (pattern & 0x8000) return (lane & ~3) | (pattern >> (2 * (lane & 3)) & 3);
    return (lane & ~31) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

inline int push_to(int address, int value, Where where) {
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

// Which lane a row's nibbles name: sel0 for lanes 0-7 of the row, sel1 for 8-15; `across` reads from the other row.
inline int permlane_source(int lane, unsigned sel0, unsigned sel1, bool across) {
    const unsigned sel = (lane & 8) ? sel1 : sel0;
    const int row = (lane & ~15) ^ (across ? 16 : 0);
    return row | static_cast<int>(sel >> (4 * (lane & 7)) & 15);
}
inline int permlane(const char* name, int old, int value, int source, bool fetch_inactive, bool bound, Where where) {
    const Meeting m = show(name, value, where);
    if (!(m.mask >> source & 1) && !fetch_inactive) return bound ? 0 : old;
    return read<int>(m, source);
}

struct Pair {
    int first, second;
    int operator[](int i) const { return i ? second : first; }
};
// Lanes of `a` with bit `half` set change places with the lanes of `b` without it.
inline Pair swap_halves(const char* name, int a, int b, int half, Where where) {
    const Pair mine{a, b};
    const Meeting m = show(name, mine, where);
    const Pair other = read<Pair>(m, m.lane ^ half);
    return m.lane & half ? Pair{other.second, b} : Pair{a, other.first};
}

}  // namespace cu2port_sim

// --- between lanes -----------------------------------------------------------------------------------------------

inline int __builtin_amdgcn_ds_bpermute(int address, int v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("ds_bpermute", v, address >> 2, where);
}
inline int __builtin_amdgcn_ds_permute(int address, int v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::push_to(address, v, where);
}
inline int __builtin_amdgcn_ds_swizzle(int v, int pattern, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("ds_swizzle", v, cu2port_sim::swizzle_source(cu2port_sim::lane_id(), pattern), where);
}
// g++ mangles no name that begins with `__builtin_`, so that two instances that are not inlined would be one symbol.
template <class T>
[[gnu::always_inline]] inline T __builtin_amdgcn_mov_dpp(T v, int ctrl, int rows, int banks, bool bound, CU2PORT_SIM_WHERE) {
    return cu2port_sim::dpp(T{}, v, ctrl, rows, banks, bound, where);
}
template <class T>
[[gnu::always_inline]] inline T __builtin_amdgcn_update_dpp(T old, std::common_type_t<T> v, int ctrl, int rows, int banks, bool bound, CU2PORT_SIM_WHERE) {
    return cu2port_sim::dpp(old, v, ctrl, rows, banks, bound, where);
}
inline unsigned __builtin_amdgcn_mov_dpp8(unsigned v, unsigned sel, CU2PORT_SIM_WHERE) {
    const int lane = cu2port_sim::lane_id();
    return cu2port_sim::permute("mov_dpp8", v, (lane & ~7) | static_cast<int>(sel >> (3 * (lane & 7)) & 7), where);
}
inline int __builtin_amdgcn_permlane16(int old, int v, unsigned sel0, unsigned sel1, bool fetch, bool bound, CU2PORT_SIM_WHERE) {
    const int source = cu2port_sim::permlane_source(cu2port_sim::lane_id(), sel0, sel1, false);
    return cu2port_sim::permlane("permlane16", old, v, source, fetch, bound, where);
}
inline int __builtin_amdgcn_permlanex16(int old, int v, unsigned sel0, unsigned sel1, bool fetch, bool bound, CU2PORT_SIM_WHERE) {
    const int source = cu2port_sim::permlane_source(cu2port_sim::lane_id(), sel0, sel1, true);
    return cu2port_sim::permlane("permlanex16", old, v, source, fetch, bound, where);
}
inline int __builtin_amdgcn_permlane16_var(int old, int v, unsigned sel, bool fetch, bool bound, CU2PORT_SIM_WHERE) {
    const int source = (cu2port_sim::lane_id() & ~15) | static_cast<int>(sel & 15);
    return cu2port_sim::permlane("permlane16_var", old, v, source, fetch, bound, where);
}
inline int __builtin_amdgcn_permlanex16_var(int old, int v, unsigned sel, bool fetch, bool bound, CU2PORT_SIM_WHERE) {
    const int source = ((cu2port_sim::lane_id() & ~15) ^ 16) | static_cast<int>(sel & 15);
    return cu2port_sim::permlane("permlanex16_var", old, v, source, fetch, bound, where);
}
inline unsigned __builtin_amdgcn_permlane64(unsigned v, CU2PORT_SIM_WHERE) {
    const int lane = cu2port_sim::lane_id();
    return cu2port_sim::permute("permlane64", v, cu2port_sim::kWave == 64 ? lane ^ 32 : lane, where);
}
inline cu2port_sim::Pair __builtin_amdgcn_permlane16_swap(int a, int b, bool, bool, CU2PORT_SIM_WHERE) {
    return cu2port_sim::swap_halves("permlane16_swap", a, b, 16, where);
}
inline cu2port_sim::Pair __builtin_amdgcn_permlane32_swap(int a, int b, bool, bool, CU2PORT_SIM_WHERE) {
    return cu2port_sim::swap_halves("permlane32_swap", a, b, 32, where);
}
inline int __builtin_amdgcn_readfirstlane(int v, CU2PORT_SIM_WHERE) {
    const cu2port_sim::Meeting m = cu2port_sim::show("readfirstlane", v, where);
    return cu2port_sim::read<int>(m, __builtin_ctzll(m.mask));
}
inline int __builtin_amdgcn_readlane(int v, int lane, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("readlane", v, lane, where);
}
inline unsigned long __builtin_amdgcn_ballot_w64(bool p, CU2PORT_SIM_WHERE) {
    return cu2port_sim::ballot("ballot_w64", p, where);
}
inline unsigned __builtin_amdgcn_ballot_w32(bool p, CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::ballot("ballot_w32", p, where));
}
inline unsigned long __builtin_amdgcn_uicmp(unsigned a, unsigned b, int how, CU2PORT_SIM_WHERE) {
    const bool p = how == 32   ? a == b
                   : how == 33 ? a != b
                   : how == 34 ? a > b
                   : how == 35 ? a >= b
                   : how == 36 ? a < b
                               : a <= b;
    return cu2port_sim::ballot("uicmp", p, where);
}
inline bool __builtin_amdgcn_inverse_ballot_w32(unsigned mask) { return mask >> cu2port_sim::lane_id() & 1; }
inline bool __builtin_amdgcn_inverse_ballot_w64(unsigned long mask) { return mask >> cu2port_sim::lane_id() & 1; }
inline unsigned long __builtin_amdgcn_read_exec(CU2PORT_SIM_WHERE) { return cu2port_sim::ballot("read_exec", true, where); }
inline unsigned __builtin_amdgcn_read_exec_lo(CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::ballot("read_exec", true, where));
}
inline unsigned __builtin_amdgcn_read_exec_hi(CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::ballot("read_exec", true, where) >> 32);
}
inline unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
    const int lane = cu2port_sim::lane_id();
    return add + static_cast<unsigned>(__builtin_popcount(lane >= 32 ? mask : mask & ((1u << lane) - 1)));
}
inline unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add) {
    const int lane = cu2port_sim::lane_id();
    return add + (lane < 32 ? 0 : static_cast<unsigned>(__builtin_popcount(mask & ((1u << (lane - 32)) - 1))));
}
inline unsigned __builtin_amdgcn_wavefrontsize() { return cu2port_sim::kWave; }
inline void __builtin_amdgcn_wave_barrier(CU2PORT_SIM_WHERE) { __syncwarp(where); }
inline void __builtin_amdgcn_s_barrier(CU2PORT_SIM_WHERE) { cu2port_sim::barrier("s_barrier", false, where); }

inline unsigned __hip_ds_bpermute(int address, unsigned v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("__hip_ds_bpermute", v, address >> 2, where);
}
inline float __hip_ds_bpermutef(int address, float v, CU2PORT_SIM_WHERE) {
    return cu2port_sim::permute("__hip_ds_bpermutef", v, address >> 2, where);
}
inline unsigned __hip_ds_permute(int address, unsigned v, CU2PORT_SIM_WHERE) {
    return static_cast<unsigned>(cu2port_sim::push_to(address, static_cast<int>(v), where));
}
inline float __hip_ds_permutef(int address, float v, CU2PORT_SIM_WHERE) {
    int bits;
    std::memcpy(&bits, &v, 4);
    bits = cu2port_sim::push_to(address, bits, where);
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

// --- alone -------------------------------------------------------------------------------------------------------

#define CU2PORT_SIM_INDEX(d)                                                                      \
    inline unsigned __builtin_amdgcn_workitem_id_##d() { return threadIdx.d; }                    \
    inline unsigned __builtin_amdgcn_workgroup_id_##d() { return blockIdx.d; }                    \
    inline unsigned short __builtin_amdgcn_workgroup_size_##d() { return static_cast<unsigned short>(blockDim.d); } \
    inline unsigned __builtin_amdgcn_grid_size_##d() { return gridDim.d * blockDim.d; }
CU2PORT_SIM_INDEX(x)
CU2PORT_SIM_INDEX(y)
CU2PORT_SIM_INDEX(z)
#undef CU2PORT_SIM_INDEX

#define __builtin_amdgcn_fence(order, ...) __atomic_thread_fence(order)
inline void __builtin_amdgcn_s_sleep(int, CU2PORT_SIM_WHERE) { cu2port_sim::yield(where); }
inline void __builtin_amdgcn_s_waitcnt(int) {}
inline void __builtin_amdgcn_s_setprio(short) {}
inline void __builtin_amdgcn_sched_barrier(int) {}
inline void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
inline unsigned long __builtin_amdgcn_s_memtime() { return cu2port_sim::clock_ticks(); }
inline unsigned long __builtin_amdgcn_s_memrealtime() { return wall_clock64(); }
inline unsigned __builtin_amdgcn_s_getreg(int) { return 0; }
inline bool __builtin_amdgcn_is_shared(const void* p) { return cu2port_sim::is_shared(p); }
inline bool __builtin_amdgcn_is_private(const void* p) { return cu2port_sim::is_private(p); }

inline unsigned __builtin_amdgcn_alignbit(unsigned hi, unsigned lo, unsigned shift) { return __funnelshift_r(lo, hi, shift); }
inline unsigned __builtin_amdgcn_alignbyte(unsigned hi, unsigned lo, unsigned shift) { return __funnelshift_r(lo, hi, 8 * (shift & 3)); }
// Bytes 0-3 of a selector are the second operand's, 4-7 the first's; 8-11 signs, 12 zero, above 255.
inline unsigned __builtin_amdgcn_perm(unsigned hi, unsigned lo, unsigned sel) {
    const std::uint64_t both = std::uint64_t{hi} << 32 | lo;
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned s = sel >> (8 * i) & 255;
        const unsigned byte = s < 8    ? static_cast<unsigned>(both >> (8 * s)) & 255
                              : s < 12 ? (both >> (16 * (s - 8) + 15) & 1 ? 255u : 0u)
                                       : (s == 12 ? 0u : 255u);
        out |= byte << (8 * i);
    }
    return out;
}
inline unsigned __builtin_amdgcn_ubfe(unsigned v, unsigned offset, unsigned width) {
    return static_cast<unsigned>(v >> (offset & 31) & ((std::uint64_t{1} << (width & 31)) - 1));
}
inline int __builtin_amdgcn_sbfe(int v, unsigned offset, unsigned width) {
    width &= 31;
    if (width == 0) return 0;
    const auto bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(v >> (offset & 31))) << (64 - width));
    return static_cast<int>(bits >> (64 - width));
}
inline float __builtin_amdgcn_fmed3f(float a, float b, float c) { return std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c)); }
inline float __builtin_amdgcn_rcpf(float x) { return 1 / x; }
inline float __builtin_amdgcn_rsqf(float x) { return 1 / std::sqrt(x); }
inline float __builtin_amdgcn_sqrtf(float x) { return std::sqrt(x); }
inline double __builtin_amdgcn_rcp(double x) { return 1 / x; }
inline float __builtin_amdgcn_exp2f(float x) { return std::exp2(x); }
inline float __builtin_amdgcn_logf(float x) { return std::log2(x); }
inline float __builtin_amdgcn_fractf(float x) { return x - std::floor(x); }
#ifndef __clang__
inline void __builtin_debugtrap() { __builtin_trap(); }
#endif
inline int __builtin_amdgcn_sdot4(int a, int b, int c, bool clamp) {
    std::int64_t sum = c;
    for (int i = 0; i < 32; i += 8) sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return clamp ? cu2port_sim::clamp_to<int>(static_cast<double>(sum)) : static_cast<int>(sum);
}
inline unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool clamp) {
    std::uint64_t sum = c;
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
    return clamp && sum > 0xffffffffu ? 0xffffffffu : static_cast<unsigned>(sum);
}
inline unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) {
        const int d = static_cast<int>(a >> i & 255) - static_cast<int>(b >> i & 255);
        c += static_cast<unsigned>(d < 0 ? -d : d);
    }
    return c;
}
inline unsigned __builtin_amdgcn_atomic_inc32(unsigned* p, unsigned v, unsigned, const char*, bool = false, CU2PORT_SIM_WHERE) { return atomicInc(p, v, where); }
inline unsigned __builtin_amdgcn_atomic_dec32(unsigned* p, unsigned v, unsigned, const char*, bool = false, CU2PORT_SIM_WHERE) { return atomicDec(p, v, where); }
inline float __builtin_amdgcn_ds_atomic_fadd_f32(float* p, float v, CU2PORT_SIM_WHERE) { return atomicAdd(p, v, where); }
inline float __builtin_amdgcn_global_atomic_fadd_f32(float* p, float v, CU2PORT_SIM_WHERE) { return atomicAdd(p, v, where); }
inline double __builtin_amdgcn_flat_atomic_fadd_f64(double* p, double v, CU2PORT_SIM_WHERE) { return atomicAdd(p, v, where); }
