// Copies whose size says how both addresses are aligned. What is not aligned so has no meaning in CUDA.
#pragma once

#include "../cuda_runtime.h"

#include <cstddef>
#include <cstdint>

namespace cuda {

template <std::size_t Alignment>
struct aligned_size_t {
    static constexpr std::size_t align = Alignment;
    std::size_t value;
    explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
    constexpr operator std::size_t() const { return value; }
};

}  // namespace cuda

namespace cu2port_cuda {

template <class Shape>
struct AlignmentOf : std::integral_constant<std::size_t, 1> {};
template <std::size_t A>
struct AlignmentOf<cuda::aligned_size_t<A>> : std::integral_constant<std::size_t, A> {};

// Every `step`-th byte from the `first` on.
template <class T, class Shape>
void aligned_copy(void* to, const void* from, const Shape& bytes, std::size_t first, std::size_t step) {
    constexpr std::size_t known = AlignmentOf<Shape>::value > alignof(T) ? AlignmentOf<Shape>::value : alignof(T);
    if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % known)
        undefined("memcpy_async", "an address is not aligned as its type or the size says", {"memcpy_async", 0});
    for (std::size_t i = first; i < static_cast<std::size_t>(bytes); i += step)
        static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
}

}  // namespace cu2port_cuda
