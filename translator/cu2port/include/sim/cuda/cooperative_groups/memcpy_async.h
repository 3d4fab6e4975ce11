// Copies of a group that may be late: here they are done at once, which CUDA allows.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda/aligned_copy.h"

namespace cooperative_groups {

template <class Group, class T, class Shape>
void memcpy_async(const Group& group, T* to, const T* from, const Shape& bytes) {
    cu2port_cuda::aligned_copy<T>(to, from, bytes, group.thread_rank(), group.size());
}
template <class Group, class T, class To, class From>  // of elements
void memcpy_async(const Group& group, T* to, const To& room, const T* from, const From& count) {
    const std::size_t n = std::min<std::size_t>(room, count);
    for (std::size_t i = group.thread_rank(); i < n; i += group.size()) to[i] = from[i];
}
template <class Group>
void wait(const Group& group, CU2PORT_SIM_WHERE) {
    group.sync(where);
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, CU2PORT_SIM_WHERE) {
    group.sync(where);
}

}  // namespace cooperative_groups
