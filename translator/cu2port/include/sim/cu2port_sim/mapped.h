// Memory that is mapped by hand: addresses, what is behind them and who may touch it. The runtime has it in mapped.inc.
#pragma once

#include "more_api.h"

typedef struct ihipMemGenericAllocationHandle* hipMemGenericAllocationHandle_t;
typedef enum hipMemAllocationGranularity_flags {
    hipMemAllocationGranularityMinimum = 0,
    hipMemAllocationGranularityRecommended = 1
} hipMemAllocationGranularity_flags;
typedef struct hipMemAllocationProp {
    hipMemAllocationType type;
    union {
        hipMemAllocationHandleType requestedHandleType, requestedHandleTypes;
    };
    hipMemLocation location;
    void* win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
    } allocFlags;
} hipMemAllocationProp;

namespace cu2port_sim {

// What there is: pinned memory of a GPU.
inline int is_placed(const hipMemAllocationProp* p) {
    if (p == nullptr || p->type != hipMemAllocationTypePinned) return hipErrorInvalidValue;
    if (p->location.type == hipMemLocationTypeDevice) return p->location.id >= 0 && p->location.id < devices() ? hipSuccess : hipErrorInvalidValue;
    if (p->location.type <= hipMemLocationTypeNone) return hipErrorInvalidValue;
    return not_supported("hipMemCreate of memory of the host"), hipErrorNotSupported;
}

}  // namespace cu2port_sim

inline hipError_t hipMemGetAllocationGranularity(size_t* out, const hipMemAllocationProp* p, hipMemAllocationGranularity_flags) {
    if (const int e = out ? cu2port_sim::is_placed(p) : hipErrorInvalidValue) return cu2port_sim::note(e);
    return *out = cu2port_sim::kGranule, hipSuccess;
}
inline hipError_t hipMemAddressReserve(void** p, size_t size, size_t alignment, void* wanted, unsigned long long flags) {
    return cu2port_sim::note(flags ? hipErrorInvalidValue : cu2port_sim::address_reserve(p, size, alignment, wanted));
}
inline hipError_t hipMemAddressFree(void* p, size_t size) {
    cu2port_sim::host_waits_for_all();
    return cu2port_sim::note(cu2port_sim::address_free(p, size));
}
inline hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* out, size_t size, const hipMemAllocationProp* p, unsigned long long flags) {
    int e = flags || out == nullptr ? hipErrorInvalidValue : cu2port_sim::is_placed(p);
    void* handle = nullptr;
    if (e == hipSuccess) e = cu2port_sim::physical_create(&handle, size, p->location.id, p, sizeof *p);
    if (e == hipSuccess) *out = static_cast<hipMemGenericAllocationHandle_t>(handle);
    return cu2port_sim::note(e);
}
inline hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
    return cu2port_sim::note(cu2port_sim::physical_release(handle));
}
inline hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* out, void* p) {
    void* handle = nullptr;
    const int e = out ? cu2port_sim::physical_retain(&handle, p) : hipErrorInvalidValue;
    if (e == hipSuccess) *out = static_cast<hipMemGenericAllocationHandle_t>(handle);
    return cu2port_sim::note(e);
}
inline hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* out, hipMemGenericAllocationHandle_t handle) {
    return cu2port_sim::note(cu2port_sim::physical_properties(handle, out, sizeof *out));
}
inline hipError_t hipMemMap(void* p, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long flags) {
    return cu2port_sim::note(offset || flags ? hipErrorInvalidValue : cu2port_sim::physical_map(p, size, handle));
}
inline hipError_t hipMemUnmap(void* p, size_t size) {
    cu2port_sim::host_waits_for_all();
    return cu2port_sim::note(cu2port_sim::physical_unmap(p, size));
}
inline hipError_t hipMemSetAccess(void* p, size_t size, const hipMemAccessDesc* to, size_t n) {
    if (to == nullptr || n == 0) return cu2port_sim::note(hipErrorInvalidValue);
    for (size_t i = 0; i < n; ++i) {
        if (to[i].location.type != hipMemLocationTypeDevice) return cu2port_sim::note(hipErrorInvalidValue);
        if (const int e = cu2port_sim::set_access(p, size, to[i].location.id, to[i].flags)) return cu2port_sim::note(e);
    }
    return hipSuccess;
}
inline hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* of, void* p) {
    if (of == nullptr || of->type != hipMemLocationTypeDevice) return cu2port_sim::note(hipErrorInvalidValue);
    return cu2port_sim::note(cu2port_sim::get_access(flags, of->id, p));
}
