// Vectors of rocThrust's back end, in memory of the simulated GPU, managed memory and pinned memory.
#pragma once

#include <thrust/detail/vector_base.h>

#include "memory.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace hip {

template <class T, class Allocator = allocator<T>>
using vector = thrust::detail::vector_base<T, Allocator>;
template <class T, class Allocator = universal_allocator<T>>
using universal_vector = thrust::detail::vector_base<T, Allocator>;
template <class T>
using universal_host_pinned_vector = thrust::detail::vector_base<T, universal_host_pinned_allocator<T>>;

}  // namespace hip
}  // namespace system
THRUST_NAMESPACE_END
