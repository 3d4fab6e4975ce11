// cu2port pinned: an allocator of pinned host memory for containers, as Thrust's cuda::experimental::pinned_allocator.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// rocThrust has no such allocator. As in Thrust, memory that is not there is a std::bad_alloc.
#ifndef CU2PORT_PINNED_HPP
#define CU2PORT_PINNED_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>

#include <cstddef>
#include <limits>
#include <new>

namespace cu2port {

template <typename T>
class pinned_allocator {
public:
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;
    using reference = T&;
    using const_reference = const T&;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    template <typename U_>
    struct rebind {
        using other = pinned_allocator<U_>;
    };

    pinned_allocator() noexcept = default;
    template <typename U_>
    pinned_allocator(const pinned_allocator<U_>&) noexcept {}

    size_type max_size() const noexcept { return (std::numeric_limits<size_type>::max)() / sizeof(T); }
    pointer allocate(size_type n, const void* = nullptr) {
        void* p = nullptr;
        if (n > max_size()) throw std::bad_alloc();
        if (hipHostMalloc(&p, n * sizeof(T), hipHostMallocDefault) != hipSuccess) throw std::bad_alloc();
        return static_cast<pointer>(p);
    }
    void deallocate(pointer p, size_type) noexcept { (void)hipHostFree(p); }
};
template <>
class pinned_allocator<void> {
public:
    using value_type = void;
    using pointer = void*;
    using const_pointer = const void*;
    template <typename U_>
    struct rebind {
        using other = pinned_allocator<U_>;
    };
};

template <typename T, typename U_>
bool operator==(const pinned_allocator<T>&, const pinned_allocator<U_>&) noexcept {
    return true;
}
template <typename T, typename U_>
bool operator!=(const pinned_allocator<T>&, const pinned_allocator<U_>&) noexcept {
    return false;
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif
