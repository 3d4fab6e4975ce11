// Instead of CCCL's header of this name: `thrust::device` is of this class here, and takes a stream as CUDA's does.
#pragma once

#include <thrust/detail/allocator_aware_execution_policy.h>
#include <thrust/system/cpp/detail/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

struct par_t : thrust::system::cpp::detail::execution_policy<par_t>,
               thrust::detail::allocator_aware_execution_policy<thrust::system::cpp::detail::execution_policy> {
    constexpr par_t() {}
    template <class Stream>
    constexpr par_t on(Stream) const { return *this; }  // algorithms run on the host, at once
};

}  // namespace detail
inline constexpr detail::par_t par{};
}  // namespace cpp
}  // namespace system
namespace cpp {
using thrust::system::cpp::par;
}
THRUST_NAMESPACE_END
