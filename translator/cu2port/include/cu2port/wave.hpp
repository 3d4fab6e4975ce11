// cu2port wave: what whole wavefronts do together, be they of 32 lanes or of 64.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port convert --warp native` writes it where the answer of a kernel does not depend on how many lanes meet, as the
// sum of a block does not. All lanes of the wavefront that exist come to a call together. The last wavefront of a
// block may have threads in its lower half only.
#ifndef CU2PORT_WAVE_HPP
#define CU2PORT_WAVE_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include "warp.hpp"

#if defined(__HIP__) || defined(CU2PORT_SIM_WAVE)  // all of it is for the device

#define CU2PORT_WAVE __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace wave {

/// Lanes in a wavefront: 32 or 64. No constant expression, but the compiler, which builds for one GPU, folds it.
CU2PORT_WAVE int size() { return warp::detail::two() ? 64 : 32; }

/// The wavefronts that some threads of a block fill, the last one perhaps in part.
CU2PORT_WAVE int count(unsigned threads) { return int((threads + unsigned(size()) - 1u) / unsigned(size())); }

/// The lanes whose predicate is not zero: their bits, whether there is one, whether all are, and how many.
CU2PORT_WAVE unsigned long long ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
CU2PORT_WAVE int any(int predicate) { return ballot(predicate) != 0; }
CU2PORT_WAVE int all(int predicate) { return ballot(predicate == 0) == 0; }
CU2PORT_WAVE int popc(int predicate) { return __builtin_popcountll(ballot(predicate)); }

/// The values of all lanes, put together in pairs: each lane gets the result. `op` may take them in any order.
template <class T, class Op> CU2PORT_WAVE T reduce(T value, Op op) {
    using warp::detail::by_words;
    value = warp::detail::fold_32(value, op);
    if (!warp::detail::two()) return value;
    const T lower = by_words(value, warp::detail::Lane{31});
    if (__builtin_amdgcn_ballot_w64(true) != ~0ull) return lower;  // the upper half has no threads
    return op(lower, by_words(value, warp::detail::Lane{63}));
}

/// The sum of all lanes.
template <class T> CU2PORT_WAVE T sum(T value) { return reduce(value, warp::detail::Add()); }

}  // namespace wave
}  // namespace cu2port

#undef CU2PORT_WAVE
#endif

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_WAVE_HPP
