// cu2port solo_groups: the block and the grid as cooperative groups, in kernels with one of CUDA's warps a wavefront.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// HIP's groups count lanes, of which such a kernel sends half home (see solo.hpp); these count CUDA's threads. Tiles of
// at most 32 threads are HIP's own: a tile's rank and its lanes are the same.
#ifndef CU2PORT_SOLO_GROUPS_HPP
#define CU2PORT_SOLO_GROUPS_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include "solo.hpp"

#define CU2PORT_SOLO __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace solo {

class thread_block {
public:
    static CU2PORT_SOLO dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static CU2PORT_SOLO dim3 thread_index() { return dim3(thread_idx().x, thread_idx().y, thread_idx().z); }
    static CU2PORT_SOLO dim3 group_dim() { return block_dim(); }
    static CU2PORT_SOLO dim3 dim_threads() { return block_dim(); }
    static CU2PORT_SOLO unsigned thread_rank() { return detail::rank(); }
    static CU2PORT_SOLO unsigned num_threads() { return detail::threads(); }
    static CU2PORT_SOLO unsigned size() { return detail::threads(); }
    static CU2PORT_SOLO bool is_valid() { return true; }
    static CU2PORT_SOLO void sync() { __syncthreads(); }
};

class grid_group {
public:
    static CU2PORT_SOLO dim3 block_index() { return thread_block::group_index(); }
    static CU2PORT_SOLO dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static CU2PORT_SOLO dim3 group_dim() { return dim_blocks(); }
    static CU2PORT_SOLO unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static CU2PORT_SOLO unsigned long long block_rank() {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static CU2PORT_SOLO unsigned long long thread_rank() { return block_rank() * detail::threads() + detail::rank(); }
    static CU2PORT_SOLO unsigned long long num_threads() { return num_blocks() * detail::threads(); }
    static CU2PORT_SOLO unsigned long long size() { return num_threads(); }
    static CU2PORT_SOLO bool is_valid() { return cooperative_groups::this_grid().is_valid(); }
    static CU2PORT_SOLO void sync() { cooperative_groups::this_grid().sync(); }
};

CU2PORT_SOLO thread_block this_thread_block() { return {}; }
CU2PORT_SOLO grid_group this_grid() { return {}; }

}  // namespace solo
}  // namespace cu2port

namespace cooperative_groups {

/// A tile of at most 32 threads of CUDA's block.
template <unsigned int Size>
CU2PORT_SOLO auto tiled_partition(const cu2port::solo::thread_block&) {
    static_assert(Size <= 32, "a kernel with one warp a wavefront has tiles of at most 32 threads");
    return cooperative_groups::tiled_partition<Size>(cooperative_groups::this_thread_block());
}
CU2PORT_SOLO void sync(const cu2port::solo::thread_block& block) { block.sync(); }
CU2PORT_SOLO void sync(const cu2port::solo::grid_group& grid) { grid.sync(); }

}  // namespace cooperative_groups

#undef CU2PORT_SOLO

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_SOLO_GROUPS_HPP
