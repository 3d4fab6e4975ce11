// cu2port wave: what whole wavefronts do together, be they of 32 lanes or of 64.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port convert --warp native` writes it where the answer of a kernel does not depend on how many lanes meet, as the
// sum of a block does not. All lanes of the wavefront that exist come to a call together. The last wavefront of a
// block may have threads in its lower half only.
#pragma once

#include "warp.hpp"

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

}  // namespace wave
}  // namespace cu2port

#if defined(__HIP__) || defined(CU2PORT_SIM_WAVE)  // the rest is for the device

#define CU2PORT_WAVE __device__ inline __attribute__((always_inline))

namespace cu2port {
namespace wave {

/// Lanes in a wavefront: 32 or 64. No constant expression, but the compiler, which builds for one GPU, folds it.
CU2PORT_WAVE int size() { return warp::detail::two() ? 64 : 32; }

/// The wavefronts that some threads of a block fill, the last one perhaps in part.
CU2PORT_WAVE int count(int threads) { return (threads + size() - 1) / size(); }

/// The lanes whose predicate is not zero: their bits, whether there is one, whether all are, and how many.
CU2PORT_WAVE unsigned long long ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
CU2PORT_WAVE int any(int predicate) { return ballot(predicate) != 0; }
CU2PORT_WAVE int all(int predicate) { return ballot(predicate == 0) == 0; }
CU2PORT_WAVE int popc(int predicate) { return __builtin_popcountll(ballot(predicate)); }

/// The values of all lanes, put together in pairs: each lane gets the result. `op` may take them in any order.
template <class T, class Op> CU2PORT_WAVE T reduce(T value, Op op) {
    for (unsigned bits = 16; bits > 0; bits /= 2) value = op(value, warp::detail::across(value, bits));
    if (warp::detail::two() && __builtin_amdgcn_ballot_w64(true) >> 32)  // the upper half has threads
        value = op(value, warp::detail::read(value, warp::detail::wave_lane() ^ 32u));
    return value;
}

/// The sum of all lanes.
template <class T> CU2PORT_WAVE T sum(T value) { return reduce(value, warp::detail::Add()); }

}  // namespace wave
}  // namespace cu2port

#undef CU2PORT_WAVE
#endif
