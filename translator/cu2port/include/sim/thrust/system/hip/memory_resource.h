// Memory resources of rocThrust's back end: memory of the simulated GPU, managed memory, pinned memory.
#pragma once

#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

#include <cstddef>
#include <new>

#include "../../../hip/hip_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace hip {
namespace detail {

template <hipError_t (*Allocate)(void**, std::size_t), hipError_t (*Release)(void*), class Pointer>
class resource final : public thrust::mr::memory_resource<Pointer> {
public:
    Pointer do_allocate(std::size_t size, std::size_t) override {
        void* p = nullptr;
        if (Allocate(&p, size) != hipSuccess) throw std::bad_alloc();
        return Pointer(p);
    }
    void do_deallocate(Pointer p, std::size_t, std::size_t) override { (void)Release(thrust::raw_pointer_cast(p)); }
};
inline hipError_t device(void** p, std::size_t size) { return hipMalloc(p, size); }
inline hipError_t managed(void** p, std::size_t size) { return hipMallocManaged(p, size); }
inline hipError_t pinned(void** p, std::size_t size) { return hipHostMalloc(p, size); }
inline hipError_t release(void* p) { return hipFree(p); }
inline hipError_t release_pinned(void* p) { return hipHostFree(p); }

}  // namespace detail

using memory_resource = detail::resource<detail::device, detail::release, thrust::cpp::pointer<void>>;
using universal_memory_resource = detail::resource<detail::managed, detail::release, thrust::cpp::universal_pointer<void>>;
using universal_host_pinned_memory_resource =
    detail::resource<detail::pinned, detail::release_pinned, thrust::cpp::universal_pointer<void>>;

}  // namespace hip
}  // namespace system
namespace hip {
using namespace thrust::system::hip;
}
THRUST_NAMESPACE_END
