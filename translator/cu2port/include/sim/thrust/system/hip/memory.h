// Allocators of rocThrust's back end: memory of the simulated GPU, managed memory, pinned memory.
#pragma once

#include <thrust/mr/allocator.h>

#include "memory_resource.h"
#include "pointer.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace hip {

template <class T>
using allocator = thrust::mr::stateless_resource_allocator<T, memory_resource>;
template <class T>
using universal_allocator = thrust::mr::stateless_resource_allocator<T, universal_memory_resource>;
template <class T>
using universal_host_pinned_allocator = thrust::mr::stateless_resource_allocator<T, universal_host_pinned_memory_resource>;

inline pointer<void> malloc(std::size_t size) {
    void* p = nullptr;
    return pointer<void>(hipMalloc(&p, size) == hipSuccess ? p : nullptr);
}
template <class T>
pointer<T> malloc(std::size_t count) {
    return pointer<T>(static_cast<T*>(thrust::raw_pointer_cast(system::hip::malloc(count * sizeof(T)))));
}
inline void free(pointer<void> p) { (void)hipFree(thrust::raw_pointer_cast(p)); }

}  // namespace hip
}  // namespace system
THRUST_NAMESPACE_END
