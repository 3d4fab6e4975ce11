// cu2port labeled_partition: CUDA's cooperative_groups::labeled_partition, for a HIP that lacks it.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#ifndef CU2PORT_LABELED_PARTITION_HPP
#define CU2PORT_LABELED_PARTITION_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#include <hip/hip_cooperative_groups.h>

namespace cu2port {

/// The threads of a group, a tile or a coalesced group, that have the same label, an integer. All threads of the group
/// must call. `binary_partition` came with HIP 7.0.
template <class Group, class Label>
__device__ inline cooperative_groups::coalesced_group labeled_partition(const Group& group, Label label) {
    const long long mine = static_cast<long long>(label);
    // several groups of a wavefront may be here: they differ in their first lanes
    const int first = group.shfl(static_cast<int>(__lane_id()), 0);
    const auto active = cooperative_groups::coalesced_threads();
    auto found = active;
    // all lanes go through all labels together, so that no lane leaves before the others have voted
    for (unsigned long long left = __ballot(1); left != 0;) {
        const int leader = __builtin_ctzll(left);
        const bool same = __shfl(first, leader) == first && __shfl(mine, leader) == mine;
        const auto part = cooperative_groups::binary_partition(active, same);
        if (same) found = part;
        left &= ~static_cast<unsigned long long>(__ballot(same));
    }
    return found;
}

/// Tiles of `size` threads, by their ranks, of a group of some lanes; the last may be smaller. All threads of the group
/// must call. HIP 7.1's own tests the lanes of a wavefront with `1 << lane`, and has others from lane 31 on.
__device__ inline cooperative_groups::coalesced_group tiled_partition(const cooperative_groups::coalesced_group& group,
                                                                      unsigned size) {
    return cu2port::labeled_partition(group, group.thread_rank() / size);
}
template <class Group> __device__ inline auto tiled_partition(const Group& group, unsigned size) {
    return cooperative_groups::tiled_partition(group, size);
}

}  // namespace cu2port

#else

namespace cu2port {
template <class Group, class Label> Group labeled_partition(const Group& group, Label label);  // of the device only
template <class Group> Group tiled_partition(const Group& group, unsigned size);
}

#endif

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_LABELED_PARTITION_HPP
