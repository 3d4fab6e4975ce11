// What a port that only renames does about CUDA's masks of lanes, which HIP 7 refuses: they have 64 bits there.
//
// WARP_RENAME_CAST: 0xffffffff becomes 0xffffffffull. Else it becomes ~0ull, and other masks are extended with zeros.
// A build includes this before all else (-include); tools/warp_proof.py does, and the tests of the programs that it runs.
#pragma once
#ifdef __cplusplus

#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

namespace warp_rename {

template <class M>
constexpr unsigned long long mask(M m) {
    if (sizeof(M) == 8) return static_cast<unsigned long long>(m);
#ifndef WARP_RENAME_CAST
    if (static_cast<unsigned>(m) == ~0u) return ~0ull;
#endif
    return static_cast<unsigned>(m);
}
constexpr unsigned long long mask() { return ~0ull; }

}  // namespace warp_rename

#define __shfl_sync(m, ...) __shfl_sync(warp_rename::mask(m), __VA_ARGS__)
#define __shfl_up_sync(m, ...) __shfl_up_sync(warp_rename::mask(m), __VA_ARGS__)
#define __shfl_down_sync(m, ...) __shfl_down_sync(warp_rename::mask(m), __VA_ARGS__)
#define __shfl_xor_sync(m, ...) __shfl_xor_sync(warp_rename::mask(m), __VA_ARGS__)
#define __any_sync(m, ...) __any_sync(warp_rename::mask(m), __VA_ARGS__)
#define __all_sync(m, ...) __all_sync(warp_rename::mask(m), __VA_ARGS__)
#define __ballot_sync(m, ...) __ballot_sync(warp_rename::mask(m), __VA_ARGS__)
#define __match_any_sync(m, ...) __match_any_sync(warp_rename::mask(m), __VA_ARGS__)
#define __match_all_sync(m, ...) __match_all_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_add_sync(m, ...) __reduce_add_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_min_sync(m, ...) __reduce_min_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_max_sync(m, ...) __reduce_max_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_and_sync(m, ...) __reduce_and_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_or_sync(m, ...) __reduce_or_sync(warp_rename::mask(m), __VA_ARGS__)
#define __reduce_xor_sync(m, ...) __reduce_xor_sync(warp_rename::mask(m), __VA_ARGS__)
#define __syncwarp(...) ((void)warp_rename::mask(__VA_ARGS__), __syncwarp())

#endif
