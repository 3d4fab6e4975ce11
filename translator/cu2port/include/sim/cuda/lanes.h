// CUDA's cross-lane operations, as the CUDA C++ and PTX manuals give them: warps of 32 lanes, masks of 32 bits, a width
// that splits the warp. For `cu2port trial`, whose CUDA side must not share the converter's idea of them.
//
// warp.h includes this header in place of HIP's operations.
#pragma once

#include <cstdio>
#include <cstdlib>

static_assert(cu2port_sim::kWave == 32, "CUDA's warp has 32 lanes");

namespace cu2port_cuda {

using cu2port_sim::Where;
constexpr int kMisused = 117;  // exit code: the kernel has no meaning in CUDA, so there is nothing to compare with

[[noreturn]] inline void undefined(const char* name, const char* what, Where where) {
    std::fprintf(stderr, "cu2port trial: %s: %s, %s:%d\n", name, what, where.file, where.line);
    std::_Exit(kMisused);
}

// Which the manual wants to be a power of two, at most the lanes of a warp.
inline int segment(const char* name, int width, Where where) {
    if (width < 1 || width > 32 || (width & (width - 1))) undefined(name, "the width is not a power of two up to 32", where);
    return width;
}
// PTX `shfl.sync`: the lane that is read, or the own one where the source lies outside of the segment.
enum class Mode { up, down, bfly, idx };
inline int source_lane(Mode mode, int lane, unsigned b, int width) {
    const int clamp = mode == Mode::up ? 0 : 31, mask = (32 - width) & 31, offset = static_cast<int>(b & 31);
    const int top = (lane & mask) | (clamp & ~mask), bottom = lane & mask;
    switch (mode) {
        case Mode::up: return lane - offset >= top ? lane - offset : lane;
        case Mode::down: return lane + offset <= top ? lane + offset : lane;
        case Mode::bfly: return (lane ^ offset) <= top ? lane ^ offset : lane;
        default: return bottom | (offset & ~mask);
    }
}

template <class T>
struct Told {  // what a lane tells the others
    T value;
    unsigned mask;
};
template <class T>
struct Answers {
    unsigned lanes;  // that take part
    cu2port_sim::Meeting meeting;
    T of(int lane) const {
        Told<T> told{};
        std::memcpy(static_cast<void*>(&told), meeting.slots[lane].bytes, sizeof told);
        return told.value;
    }
};

// The manual wants all lanes of the mask that have not ended at the same operation with the same mask.
template <class T>
Answers<T> ask(const char* name, unsigned mask, const T& value, Where where) {
    static_assert(sizeof(Told<T>) <= cu2port_sim::kSlot, "a lane shows up to 12 bytes");
    const Told<T> mine{value, mask};
    const cu2port_sim::Meeting m = cu2port_sim::meet(cu2port_sim::Kind::exchange, name, &mine, sizeof mine, where);
    const unsigned here = static_cast<unsigned>(m.mask), live = static_cast<unsigned>(cu2port_sim::live_lanes());
    if (!(mask >> m.lane & 1)) undefined(name, "the mask leaves out the lane that calls", where);
    if (mask & live & ~here) undefined(name, "the mask names lanes that are elsewhere", where);
    for (unsigned rest = mask & here; rest; rest &= rest - 1) {
        Told<T> other{};
        std::memcpy(static_cast<void*>(&other), m.slots[__builtin_ctz(rest)].bytes, sizeof other);
        if (other.mask != mask) undefined(name, "lanes give different masks", where);
    }
    return {mask & here, m};
}
// The older forms without a mask: the lanes that are here.
template <class T>
Answers<T> ask(const char* name, const T& value, Where where) {
    const Told<T> mine{value, 0};
    const cu2port_sim::Meeting m = cu2port_sim::meet(cu2port_sim::Kind::exchange, name, &mine, sizeof mine, where);
    return {static_cast<unsigned>(m.mask), m};
}

template <class T>
T from(const Answers<T>& a, Mode mode, unsigned b, int width) {
    const int lane = source_lane(mode, a.meeting.lane, b, width);
    return a.lanes >> lane & 1 ? a.of(lane) : T{};
}
template <class T>  // char, short and bool become int
using Wide = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), int, T>;

inline unsigned votes(const Answers<int>& a) {
    unsigned out = 0;
    for (unsigned rest = a.lanes; rest; rest &= rest - 1)
        if (a.of(__builtin_ctz(rest))) out |= rest & -rest;
    return out;
}
template <class T>
unsigned equal(const Answers<T>& a, T value) {
    unsigned out = 0;
    for (unsigned rest = a.lanes; rest; rest &= rest - 1) {
        const T other = a.of(__builtin_ctz(rest));
        if (std::memcmp(&other, &value, sizeof value) == 0) out |= rest & -rest;
    }
    return out;
}
template <class T, class F>
T fold(const Answers<T>& a, F f) {
    unsigned rest = a.lanes;
    T out = a.of(__builtin_ctz(rest));
    for (rest &= rest - 1; rest; rest &= rest - 1) out = f(out, a.of(__builtin_ctz(rest)));
    return out;
}

}  // namespace cu2port_cuda

#define CU2PORT_CUDA_SHUFFLE(name, mode, B)                                                                         \
    template <class T>                                                                                              \
    inline cu2port_cuda::Wide<T> name##_sync(unsigned mask, T v, B b, int width = 32, CU2PORT_SIM_WHERE) {          \
        const cu2port_cuda::Wide<T> wide = v;                                                                       \
        return cu2port_cuda::from(cu2port_cuda::ask(#name "_sync", mask, wide, where), cu2port_cuda::Mode::mode,    \
                                  static_cast<unsigned>(b), cu2port_cuda::segment(#name "_sync", width, where));    \
    }                                                                                                               \
    template <class T>                                                                                              \
    inline cu2port_cuda::Wide<T> name(T v, B b, int width = 32, CU2PORT_SIM_WHERE) {                                \
        const cu2port_cuda::Wide<T> wide = v;                                                                       \
        return cu2port_cuda::from(cu2port_cuda::ask(#name, wide, where), cu2port_cuda::Mode::mode,                  \
                                  static_cast<unsigned>(b), cu2port_cuda::segment(#name, width, where));            \
    }
CU2PORT_CUDA_SHUFFLE(__shfl, idx, int)
CU2PORT_CUDA_SHUFFLE(__shfl_up, up, unsigned)
CU2PORT_CUDA_SHUFFLE(__shfl_down, down, unsigned)
CU2PORT_CUDA_SHUFFLE(__shfl_xor, bfly, int)
#undef CU2PORT_CUDA_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int p, CU2PORT_SIM_WHERE) {
    return cu2port_cuda::votes(cu2port_cuda::ask("__ballot_sync", mask, p, where));
}
inline int __any_sync(unsigned mask, int p, CU2PORT_SIM_WHERE) {
    return cu2port_cuda::votes(cu2port_cuda::ask("__any_sync", mask, p, where)) != 0;
}
inline int __all_sync(unsigned mask, int p, CU2PORT_SIM_WHERE) {
    const auto a = cu2port_cuda::ask("__all_sync", mask, p, where);
    return cu2port_cuda::votes(a) == a.lanes;
}
inline unsigned __ballot(int p, CU2PORT_SIM_WHERE) { return cu2port_cuda::votes(cu2port_cuda::ask("__ballot", p, where)); }
inline int __any(int p, CU2PORT_SIM_WHERE) { return __ballot(p, where) != 0; }
inline int __all(int p, CU2PORT_SIM_WHERE) { return __ballot(!p, where) == 0; }
inline unsigned __activemask(CU2PORT_SIM_WHERE) { return cu2port_cuda::ask("__activemask", 0, where).lanes; }

template <class T>
inline unsigned __match_any_sync(unsigned mask, T v, CU2PORT_SIM_WHERE) {
    return cu2port_cuda::equal(cu2port_cuda::ask("__match_any_sync", mask, v, where), v);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T v, int* pred, CU2PORT_SIM_WHERE) {
    const auto a = cu2port_cuda::ask("__match_all_sync", mask, v, where);
    *pred = cu2port_cuda::equal(a, v) == a.lanes;
    return *pred ? mask : 0;
}

#define CU2PORT_CUDA_REDUCE(name, T, expression)                                                                    \
    inline T name(unsigned mask, T v, CU2PORT_SIM_WHERE) {                                                          \
        return cu2port_cuda::fold(cu2port_cuda::ask(#name, mask, v, where), [](T a, T b) -> T { return expression; }); \
    }
CU2PORT_CUDA_REDUCE(__reduce_add_sync, unsigned, a + b)
CU2PORT_CUDA_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
CU2PORT_CUDA_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
CU2PORT_CUDA_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CU2PORT_CUDA_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
CU2PORT_CUDA_REDUCE(__reduce_max_sync, int, a < b ? b : a)
CU2PORT_CUDA_REDUCE(__reduce_and_sync, unsigned, a & b)
CU2PORT_CUDA_REDUCE(__reduce_or_sync, unsigned, a | b)
CU2PORT_CUDA_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CU2PORT_CUDA_REDUCE

inline void __syncwarp(unsigned mask = 0xffffffffu, CU2PORT_SIM_WHERE) {
    cu2port_cuda::ask("__syncwarp", mask, 0, where);
}
