// Copies to shared memory that may be late: here they are done at once, which CUDA allows. The size of one is also what
// both its addresses are aligned to.
#pragma once
#include "cuda_runtime.h"

#include <cstdint>
#include <cstring>

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t size, std::size_t zeros = 0) {
    if ((size != 4 && size != 8 && size != 16) || zeros > size ||
        (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % size)
        cu2port_cuda::undefined("__pipeline_memcpy_async", "a size that is not 4, 8 or 16, or an address that is not aligned so",
                                {"__pipeline_memcpy_async", 0});
    std::memcpy(to, from, size - zeros);
    std::memset(static_cast<char*>(to) + (size - zeros), 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}
