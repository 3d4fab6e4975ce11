// cu2port wave: what whole wavefronts do together, be they of 32 lanes or of 64.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port convert --warp native` writes it where the answer of a kernel does not depend on how many lanes meet, as the
// sum of a block does not. All lanes of the wavefront that exist come to a call together. The last wavefront of a
// block may have threads in its lower half only.
#ifndef CU2PORT_WAVE_HPP
#define CU2PORT_WAVE_HPP

#include "warp.hpp"

#ifndef __HIPCC_RTC__  // which has no host
#include <hip/hip_runtime.h>

namespace cu2port {
namespace wave {

/// For the host: lanes in a wavefront of the device in use, 32 or 64.
inline int device_size() {
    int device = 0, lanes = 0;
    if (hipGetDevice(&device) != hipSuccess ||
        hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, device) != hipSuccess)
        return 32;
    return lanes;
}

namespace detail {

/// The rows that a block gets, of those that CUDA's has: one for each of its warps, along x or along y. As many
/// wavefronts as fit into CUDA's threads, a part of the rows that divides their number.
inline unsigned rows_of(dim3 cuda) {
    const unsigned rows = cuda.x / 32u * cuda.y;
    return rows ? rows : 1u;
}
inline unsigned rows_at_once(dim3 cuda) {
    const unsigned rows = rows_of(cuda);
    unsigned some = rows * 32u / unsigned(device_size());
    while (some > 1u && rows % some != 0u) --some;
    return some ? some : 1u;
}

}  // namespace detail

/// For the host, in a launch `<<<grid(g, b), block(b)>>>` of a kernel that does something for each of CUDA's warps:
/// sizes by which as many wavefronts do so. A row of a block stays one where threads have 32 in x and more than one
/// in y.
inline dim3 block(dim3 cuda) {
    const unsigned lanes = unsigned(device_size());
    if (lanes == 32u) return cuda;
    const unsigned rows = detail::rows_at_once(cuda);
    return cuda.y > 1u ? dim3(lanes, rows) : dim3(rows * lanes);
}
inline dim3 grid(dim3 cuda, dim3 of_block) {
    return dim3(cuda.x * (detail::rows_of(of_block) / detail::rows_at_once(of_block)), cuda.y, cuda.z);
}

}  // namespace wave
}  // namespace cu2port
#endif

#if defined(__HIP__) || defined(CU2PORT_SIM_WAVE)  // the rest is for the device

#define CU2PORT_WAVE __device__ inline __attribute__((always_inline))
#ifdef __clang__  // a lane that is not read need not have set its value
#define CU2PORT_WAVE_VALUE __attribute__((maybe_undef))
#else
#define CU2PORT_WAVE_VALUE
#endif

namespace cu2port {
namespace wave {

/// Lanes in a wavefront: 32 or 64. No constant expression, but the compiler, which builds for one GPU, folds it.
CU2PORT_WAVE int size() { return warp::detail::two() ? 64 : 32; }

/// The wavefronts that some threads of a block fill, the last one perhaps in part.
CU2PORT_WAVE int count(unsigned threads) { return int((threads + unsigned(size()) - 1u) / unsigned(size())); }

/// Of elements of which 32 lanes hold a number each, lane 0 the first, lane 1 the second, ...: as many as a lane here
/// must hold, at most as many.
CU2PORT_WAVE int items(int of_32) { return (of_32 * 32 + size() - 1) / size(); }

/// The lanes whose predicate is not zero: their bits, whether there is one, whether all are, and how many.
CU2PORT_WAVE unsigned long long ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
CU2PORT_WAVE int any(int predicate) { return ballot(predicate) != 0; }
CU2PORT_WAVE int all(int predicate) { return ballot(predicate == 0) == 0; }
CU2PORT_WAVE int popc(int predicate) { return __builtin_popcountll(ballot(predicate)); }

/// A mask of the wavefront's lanes, by their bits; this lane's number, whether it is in a mask, and the
/// lanes below it, with itself or without.
typedef unsigned long long mask;
CU2PORT_WAVE int lane() { return int(warp::detail::wave_lane()); }
CU2PORT_WAVE bool has(mask lanes) { return lanes >> lane() & 1; }
CU2PORT_WAVE mask lower(bool with_own = false) { return ((with_own ? 2ull : 1ull) << lane()) - 1; }

/// Whether this lane holds that one of its elements: lanes above may hold one less.
CU2PORT_WAVE bool holds(int item, int of_32) {
    return size() == 32 || of_32 % 2 == 0 || lane() + item * size() < of_32 * 32;
}

/// The lanes that are here, and those of them with this lane's value, compared bit by bit.
CU2PORT_WAVE mask activemask() { return __builtin_amdgcn_ballot_w64(true); }
template <class T> CU2PORT_WAVE mask match(T value) { return warp::detail::same_lanes(value); }

/// Of a mask: how many lanes; how many below this one, and up to this one; the first and the last, -1 if there is none.
CU2PORT_WAVE int lanes(mask of) { return __builtin_popcountll(of); }
CU2PORT_WAVE int rank(mask of) {
    return int(__builtin_amdgcn_mbcnt_hi(unsigned(of >> 32), __builtin_amdgcn_mbcnt_lo(unsigned(of), 0u)));
}
CU2PORT_WAVE int upto(mask of) {  // those of the lanes above the first that have their bit below this one
    const unsigned first = unsigned(of) & 1u, low = __builtin_amdgcn_mbcnt_lo(unsigned(of >> 1), first);
    return int(__builtin_amdgcn_mbcnt_hi(unsigned(of >> 33), low));
}
CU2PORT_WAVE int first_of(mask of) { return __builtin_ffsll((long long)of) - 1; }
CU2PORT_WAVE int last_of(mask of) { return of ? 63 - __builtin_clzll(of) : -1; }

/// Whether this lane is the first of those that are here; that lane's value; the value of any lane, by its number.
CU2PORT_WAVE bool leads() { return rank(activemask()) == 0; }
template <class T> CU2PORT_WAVE T lead(CU2PORT_WAVE_VALUE T value) {
    return warp::detail::by_words(value, warp::detail::First());
}
template <class T> CU2PORT_WAVE T shfl(CU2PORT_WAVE_VALUE T value, int lane) {
    return warp::detail::read(value, unsigned(lane));
}

/// The lanes that come to a place together, as `cooperative_groups::coalesced_threads()` has them, or those in a mask.
class group {
public:
    CU2PORT_WAVE explicit group(mask lanes = activemask()) { lanes_ = lanes; }
    CU2PORT_WAVE unsigned size() const { return unsigned(lanes(lanes_)); }
    CU2PORT_WAVE unsigned num_threads() const { return size(); }
    CU2PORT_WAVE unsigned thread_rank() const { return unsigned(rank(lanes_)); }
    CU2PORT_WAVE int first() const { return first_of(lanes_); }

private:
    mask lanes_;
};

namespace detail {

#ifdef __GFX9__  // where rows of 16 lanes hand their last lane on; lanes that hold the same need not be told apart
typedef warp::detail::Dpp<0x141> Fours;  // row_half_mirror
typedef warp::detail::Dpp<0x142> Rows;   // row_bcast:15
#else
typedef warp::detail::Across4 Fours;
typedef warp::detail::Swizzle<31, 0, 16> Rows;
#endif

}  // namespace detail

/// The values of all lanes, put together in pairs: each lane gets the result. `op` may take them in any order.
template <class T, class Op> CU2PORT_WAVE T reduce(T value, Op op) {
    using warp::detail::by_words;
    using warp::detail::Dpp;
    value = op(value, by_words(value, Dpp<0xb1>()));  // quad_perm:[1,0,3,2]
    value = op(value, by_words(value, Dpp<0x4e>()));  // quad_perm:[2,3,0,1]
    value = op(value, by_words(value, detail::Fours()));
    value = op(value, by_words(value, Dpp<0x140>()));  // row_mirror
    value = op(value, by_words(value, detail::Rows()));
    if (!warp::detail::two()) return value;
    const T lower = by_words(value, warp::detail::Lane{31});
    if (__builtin_amdgcn_ballot_w64(true) != ~0ull) return lower;  // the upper half has no threads
    return op(lower, by_words(value, warp::detail::Lane{63}));
}

/// The sum of all lanes.
template <class T> CU2PORT_WAVE T sum(T value) { return reduce(value, warp::detail::Add()); }

// --- Scans ------------------------------------------------------------------------------------------------------

namespace detail {

// The words of a value that changes no sum, where there is one that DPP can give to lanes with none to read from.
template <class T> struct Nothing { static constexpr bool known = false; static constexpr unsigned word = 0; };
template <unsigned Word> struct Known { static constexpr bool known = true; static constexpr unsigned word = Word; };
template <> struct Nothing<int> : Known<0> {};
template <> struct Nothing<unsigned> : Known<0> {};
template <> struct Nothing<long> : Known<0> {};
template <> struct Nothing<unsigned long> : Known<0> {};
template <> struct Nothing<long long> : Known<0> {};
template <> struct Nothing<unsigned long long> : Known<0> {};
template <> struct Nothing<float> : Known<0x80000000u> {};  // minus zero

// DPP that leaves `Old` to lanes with none to read from, and to other rows of 16 lanes than `Rows`.
template <int Control, unsigned Old, int Rows = 0xf> struct Moved {
    CU2PORT_WAVE int operator()(unsigned word) const {
        return __builtin_amdgcn_update_dpp(int(Old), int(word), Control, Rows, 0xf, Old == 0);
    }
};

// What lanes below have come to is put together with a lane's own, where it has any below; or in all lanes, where
// `below` is `filled` with what changes nothing.
template <class T, class Op> CU2PORT_WAVE T join(T below, T value, bool any, bool filled, Op op) {
    return filled || any ? op(below, value) : value;
}
template <int Distance, class Fill, class T, class Op> CU2PORT_WAVE T step(T value, Op op) {
    const T below = warp::detail::by_words(value, Moved<0x110 + Distance, Fill::word>());  // row_shr
    return join(below, value, int(warp::detail::wave_lane() & 15u) >= Distance, Fill::known, op);
}
template <class Fill, class T, class Op> CU2PORT_WAVE T scan(T value, Op op) {
    value = step<1, Fill>(value, op);
    value = step<2, Fill>(value, op);
    value = step<4, Fill>(value, op);
    value = step<8, Fill>(value, op);
    const unsigned lane = warp::detail::wave_lane();
#if defined(__GFX9__)
    T below = warp::detail::by_words(value, Moved<0x142, Fill::word, 0xa>());  // row_bcast:15
    value = join(below, value, lane & 16u, Fill::known, op);
    below = warp::detail::by_words(value, Moved<0x143, Fill::word, 0xc>());  // row_bcast:31
    return join(below, value, lane & 32u, Fill::known, op);
#else
    const T below = warp::detail::by_words(value, warp::detail::Swizzle<0, 15, 0>());
    value = join(below, value, lane & 16u, false, op);
    if (!warp::detail::two()) return value;
    return join(warp::detail::by_words(value, warp::detail::Lane{31}), value, lane & 32u, false, op);
#endif
}

}  // namespace detail

/// The highest lane that is here: that with the sum of all, after a scan.
CU2PORT_WAVE int last_lane() { return 63 - __builtin_clzll(__builtin_amdgcn_ballot_w64(true)); }

/// The value of the highest lane that is here.
template <class T> CU2PORT_WAVE T last(T value) {
    return warp::detail::by_words(value, warp::detail::Lane{last_lane()});
}

/// The value of the lane below; the lowest lane keeps its own.
template <class T> CU2PORT_WAVE T below(T value) {
#if defined(__GFX9__)
    return warp::detail::by_words(value, [](unsigned word) {
        return __builtin_amdgcn_update_dpp(int(word), int(word), 0x138, 0xf, 0xf, false);  // wave_shr:1
    });
#else
    const unsigned lane = warp::detail::wave_lane();
    return warp::detail::read(value, lane - (lane != 0));
#endif
}

/// What the lanes up to this one come to. `op` gets what lower lanes have come to first.
template <class T, class Op> CU2PORT_WAVE T inclusive_scan(T value, Op op) {
    return detail::scan<detail::Nothing<void>>(value, op);
}
template <class T> CU2PORT_WAVE T inclusive_sum(T value) {
    return detail::scan<detail::Nothing<T>>(value, warp::detail::Add());
}

/// What the lanes before this one come to; the lowest lane gets `first`.
template <class T, class Op> CU2PORT_WAVE T exclusive_scan(T value, T first, Op op) {
    const T before = below(inclusive_scan(value, op));
    return warp::detail::wave_lane() == 0 ? first : before;
}
template <class T> CU2PORT_WAVE T exclusive_sum(T value) {
    const T before = below(inclusive_sum(value));
    return warp::detail::wave_lane() == 0 ? T() : before;
}

}  // namespace wave
}  // namespace cu2port

#undef CU2PORT_WAVE
#undef CU2PORT_WAVE_VALUE
#endif

#endif  // CU2PORT_WAVE_HPP
