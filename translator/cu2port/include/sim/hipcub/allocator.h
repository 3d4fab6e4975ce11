// An allocator that keeps what is given back, as hipCUB's, which programs of CUB's examples use. Here nothing is kept:
// memory of the simulated GPU costs nothing to get, and what is given back too early is seen.
#pragma once

#include "types.h"

namespace hipcub {

struct CachingDeviceAllocator {
    static const unsigned INVALID_BIN = ~0u;
    static const std::size_t INVALID_SIZE = ~std::size_t{0};
    static const int INVALID_DEVICE_ORDINAL = -1;

    explicit CachingDeviceAllocator(unsigned, unsigned = 1, unsigned = INVALID_BIN, std::size_t = INVALID_SIZE,
                                    bool = false, bool = false) {}
    explicit CachingDeviceAllocator(bool = false, bool = false) {}

    hipError_t SetMaxCachedBytes(std::size_t) { return hipSuccess; }
    hipError_t FreeAllCached() { return hipSuccess; }
    hipError_t DeviceAllocate(void** p, std::size_t n, hipStream_t = nullptr) { return hipMalloc(p, n); }
    hipError_t DeviceAllocate(int, void** p, std::size_t n, hipStream_t = nullptr) { return hipMalloc(p, n); }
    hipError_t DeviceFree(void* p) { return hipFree(p); }
    hipError_t DeviceFree(int, void* p) { return hipFree(p); }
};

}  // namespace hipcub
