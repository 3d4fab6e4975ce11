// Less used parts of the host API: memory pools, the driver's forms, contexts, and types of what is not simulated.
#pragma once

#include "streams.h"

typedef enum hipMemAllocationType { hipMemAllocationTypeInvalid, hipMemAllocationTypePinned, hipMemAllocationTypeUncached = 0x40000000, hipMemAllocationTypeMax = 0x7fffffff } hipMemAllocationType;
typedef enum hipMemAllocationHandleType {
    hipMemHandleTypeNone = 0,
    hipMemHandleTypePosixFileDescriptor = 1,
    hipMemHandleTypeWin32 = 2,
    hipMemHandleTypeWin32Kmt = 4
} hipMemAllocationHandleType;
typedef enum hipMemLocationType {
    hipMemLocationTypeInvalid = 0,
    hipMemLocationTypeNone = 0,
    hipMemLocationTypeDevice = 1,
    hipMemLocationTypeHost = 2,
    hipMemLocationTypeHostNuma = 3,
    hipMemLocationTypeHostNumaCurrent = 4
} hipMemLocationType;
typedef struct hipMemLocation {
    hipMemLocationType type;
    int id;
} hipMemLocation;
typedef enum hipMemAccessFlags { hipMemAccessFlagsProtNone = 0, hipMemAccessFlagsProtRead = 1, hipMemAccessFlagsProtReadWrite = 3 } hipMemAccessFlags;
typedef struct hipMemAccessDesc {
    hipMemLocation location;
    hipMemAccessFlags flags;
} hipMemAccessDesc;
typedef struct hipMemPoolProps {
    hipMemAllocationType allocType;
    hipMemAllocationHandleType handleTypes;
    hipMemLocation location;
    void* win32SecurityAttributes;
    size_t maxSize;
    unsigned char reserved[56];
} hipMemPoolProps;
typedef struct hipIpcMemHandle_st {
    char reserved[64];
} hipIpcMemHandle_t;
typedef struct hipIpcEventHandle_st {
    char reserved[64];
} hipIpcEventHandle_t;
#define hipIpcMemLazyEnablePeerAccess 0x01
typedef struct _hipGraphicsResource hipGraphicsResource;
typedef hipGraphicsResource* hipGraphicsResource_t;
typedef enum hipGraphicsRegisterFlags {
    hipGraphicsRegisterFlagsNone = 0,
    hipGraphicsRegisterFlagsReadOnly = 1,
    hipGraphicsRegisterFlagsWriteDiscard = 2,
    hipGraphicsRegisterFlagsSurfaceLoadStore = 4,
    hipGraphicsRegisterFlagsTextureGather = 8
} hipGraphicsRegisterFlags;
typedef enum hipDeviceP2PAttr {
    hipDevP2PAttrPerformanceRank,
    hipDevP2PAttrAccessSupported,
    hipDevP2PAttrNativeAtomicSupported,
    hipDevP2PAttrHipArrayAccessSupported
} hipDeviceP2PAttr;
typedef enum hipMemRangeAttribute {
    hipMemRangeAttributeReadMostly = 1,
    hipMemRangeAttributePreferredLocation,
    hipMemRangeAttributeAccessedBy,
    hipMemRangeAttributeLastPrefetchLocation
} hipMemRangeAttribute;
typedef enum hipJitOption {
    hipJitOptionMaxRegisters,
    hipJitOptionThreadsPerBlock,
    hipJitOptionWallTime,
    hipJitOptionInfoLogBuffer,
    hipJitOptionInfoLogBufferSizeBytes,
    hipJitOptionErrorLogBuffer,
    hipJitOptionErrorLogBufferSizeBytes,
    hipJitOptionOptimizationLevel,
    hipJitOptionTargetFromContext,
    hipJitOptionTarget,
    hipJitOptionFallbackStrategy,
    hipJitOptionGenerateDebugInfo,
    hipJitOptionLogVerbose,
    hipJitOptionGenerateLineInfo,
    hipJitOptionCacheMode,
    hipJitOptionSm3xOpt,
    hipJitOptionFastCompile,
    hipJitOptionGlobalSymbolNames,
    hipJitOptionGlobalSymbolAddresses,
    hipJitOptionGlobalSymbolCount,
    hipJitOptionLto,
    hipJitOptionFtz,
    hipJitOptionPrecDiv,
    hipJitOptionPrecSqrt,
    hipJitOptionFma,
    hipJitOptionPositionIndependentCode,
    hipJitOptionMinCTAPerSM,
    hipJitOptionMaxThreadsPerBlock,
    hipJitOptionOverrideDirectiveValues,
    hipJitOptionNumOptions
} hipJitOption;
#define HIP_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define HIP_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
#define HIP_LAUNCH_PARAM_END (reinterpret_cast<void*>(3))

// --- memory pools: every allocation comes from the one memory ----------------------------------------------------

struct ihipMemPool_t {
    unsigned long long threshold = 0;
};
inline hipError_t hipMemPoolCreate(hipMemPool_t* p, const hipMemPoolProps*) { return *p = new ihipMemPool_t, hipSuccess; }
inline hipError_t hipMemPoolDestroy(hipMemPool_t p) { return delete p, hipSuccess; }
inline hipError_t hipMemPoolSetAccess(hipMemPool_t, const hipMemAccessDesc*, size_t) { return hipSuccess; }
inline hipError_t hipMemPoolGetAccess(hipMemAccessFlags* f, hipMemPool_t, hipMemLocation*) {
    return *f = hipMemAccessFlagsProtReadWrite, hipSuccess;
}
inline hipError_t hipDeviceSetMemPool(int, hipMemPool_t) { return hipSuccess; }
inline hipError_t hipMemPoolGetAttribute(hipMemPool_t, hipMemPoolAttr a, void* out) {
    if (a <= hipMemPoolReuseAllowInternalDependencies) return *static_cast<int*>(out) = 1, hipSuccess;
    const bool used = a != hipMemPoolAttrReleaseThreshold;
    return *static_cast<unsigned long long*>(out) = used ? cu2port_sim::memory_used() : 0, hipSuccess;
}

// --- the driver's forms ------------------------------------------------------------------------------------------

inline hipError_t hipDrvGetErrorName(hipError_t e, const char** text) { return *text = hipGetErrorName(e), hipSuccess; }
inline hipError_t hipDrvGetErrorString(hipError_t e, const char** text) { return *text = hipGetErrorString(e), hipSuccess; }
inline hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, size_t n, hipStream_t s) { return hipMemcpyAsync(to, from, n, hipMemcpyDefault, s); }
inline hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t n, hipStream_t s) { return hipMemcpyAsync(to, from, n, hipMemcpyDefault, s); }
inline hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t n, hipStream_t s) { return hipMemcpyAsync(to, from, n, hipMemcpyDefault, s); }
inline hipError_t hipMemsetD8Async(hipDeviceptr_t p, unsigned char v, size_t n, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [=] { return cu2port_sim::fill_words(p, v, n); }, hipGraphNodeTypeMemset);
}
inline hipError_t hipMemsetD16Async(hipDeviceptr_t p, unsigned short v, size_t n, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [=] { return cu2port_sim::fill_words(p, v, n); }, hipGraphNodeTypeMemset);
}
inline hipError_t hipMemAllocHost(void** p, size_t n) { return hipHostMalloc(p, n); }
inline hipError_t hipMemAllocPitch(hipDeviceptr_t* p, size_t* pitch, size_t w, size_t h, unsigned) { return hipMallocPitch(p, pitch, w, h); }
inline hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t p) {
    const cu2port_sim::Found f = cu2port_sim::find_range(p);
    if (f.size == 0) return cu2port_sim::note(hipErrorInvalidValue);
    if (base) *base = f.base;
    if (size) *size = f.size;
    return hipSuccess;
}
inline hipError_t hipMemPtrGetInfo(void* p, size_t* size) { return hipMemGetAddressRange(nullptr, size, p); }
template <class A>  // an enumerator of hipFuncAttribute or hipFunction_attribute
inline hipError_t hipFuncGetAttribute(int* out, A, hipFunction_t) { return *out = 0, hipSuccess; }

// --- contexts and devices ----------------------------------------------------------------------------------------

inline hipError_t hipCtxPushCurrent(hipCtx_t) { return hipSuccess; }
inline hipError_t hipCtxPopCurrent(hipCtx_t* c) { return c ? hipCtxGetCurrent(c) : hipSuccess; }
inline hipError_t hipCtxGetDevice(hipDevice_t* d) { return hipGetDevice(d); }
inline hipError_t hipCtxGetFlags(unsigned* f) { return *f = 0, hipSuccess; }
inline hipError_t hipCtxGetApiVersion(hipCtx_t, unsigned* v) { return *v = 4, hipSuccess; }
inline hipError_t hipDevicePrimaryCtxGetState(hipDevice_t, unsigned* flags, int* active) { return *flags = 0, *active = 1, hipSuccess; }
inline hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t, unsigned) { return hipSuccess; }
inline hipError_t hipDevicePrimaryCtxReset(hipDevice_t) { return hipSuccess; }
inline hipError_t hipDeviceGetP2PAttribute(int* out, hipDeviceP2PAttr what, int a, int b) {
    if (!cu2port_sim::peers(a, b)) return cu2port_sim::note(hipErrorInvalidDevice);
    return *out = what != hipDevP2PAttrPerformanceRank, hipSuccess;
}
inline hipError_t hipDeviceGetByPCIBusId(int* d, const char*) { return *d = 0, hipSuccess; }
inline hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* c) { return *c = hipSharedMemBankSizeFourByte, hipSuccess; }
inline hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t* d) { return *d = 0, hipSuccess; }
inline hipError_t hipStreamWriteValue32(hipStream_t s, void* p, unsigned v, unsigned) {
    return cu2port_sim::submit(s, [=] { return *static_cast<unsigned*>(p) = v, 0; });
}
inline hipError_t hipStreamWriteValue64(hipStream_t s, void* p, std::uint64_t v, unsigned) {
    return cu2port_sim::submit(s, [=] { return *static_cast<std::uint64_t*>(p) = v, 0; });
}
