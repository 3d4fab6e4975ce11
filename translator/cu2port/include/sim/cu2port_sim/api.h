// The host API: memory, streams, events, devices. Work is done at once, so a stream is always up to date; under --check
// it is known which work may overlap, and some runs do it late.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "device_props.h"
#include "vectors.h"

typedef enum hipMemcpyKind {
    hipMemcpyHostToHost,
    hipMemcpyHostToDevice,
    hipMemcpyDeviceToHost,
    hipMemcpyDeviceToDevice,
    hipMemcpyDefault,
    hipMemcpyDeviceToDeviceNoCU = 1024
} hipMemcpyKind;

typedef struct hipGraphNode* hipGraphNode_t;
struct ihipGraph;  // graphs.h
struct ihipStream_t {
    ihipGraph* capture = nullptr;  // work is recorded here instead of done
    std::vector<hipGraphNode_t> captured{};  // what its next node comes after
    unsigned flags = 0;
    int priority = 0;
    unsigned number = cu2port_sim::new_stream(!(flags & 1));  // of its clock, under --check
};
struct ihipEvent_t {
    double time = -1;
    unsigned flags = 0;
    ihipGraph* capture = nullptr;  // of the stream, when the event was recorded; and what its next node came after
    std::vector<hipGraphNode_t> captured{};
    ihipStream_t* by = nullptr;
    cu2port_sim::Moment moment{};
};
typedef ihipStream_t* hipStream_t;
typedef ihipEvent_t* hipEvent_t;
typedef ihipGraph* hipGraph_t;
typedef struct hipGraphExec* hipGraphExec_t;
typedef int hipDevice_t;
typedef struct ihipCtx_t* hipCtx_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipFunction_t* hipFunction_t;
typedef struct ihipMemPool_t* hipMemPool_t;
typedef void* hipDeviceptr_t;
typedef void (*hipStreamCallback_t)(hipStream_t, hipError_t, void*);
typedef void (*hipHostFn_t)(void*);

#define hipStreamDefault 0x00
#define hipStreamNonBlocking 0x01
#define hipStreamPerThread (reinterpret_cast<hipStream_t>(2))
#define hipStreamLegacy (reinterpret_cast<hipStream_t>(1))
#define hipEventDefault 0x0
#define hipEventBlockingSync 0x1
#define hipEventDisableTiming 0x2
#define hipEventInterprocess 0x4
#define hipHostMallocDefault 0x0
#define hipHostMallocPortable 0x1
#define hipHostMallocMapped 0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000
#define hipHostAllocDefault 0x0
#define hipHostAllocPortable 0x1
#define hipHostAllocMapped 0x2
#define hipHostAllocWriteCombined 0x4
#define hipHostRegisterDefault 0x0
#define hipHostRegisterPortable 0x1
#define hipHostRegisterMapped 0x2
#define hipHostRegisterIoMemory 0x4
#define hipHostRegisterReadOnly 0x8
#define hipMemAttachGlobal 0x1
#define hipMemAttachHost 0x2
#define hipMemAttachSingle 0x4
#define hipDeviceScheduleAuto 0x0
#define hipDeviceScheduleSpin 0x1
#define hipDeviceScheduleYield 0x2
#define hipDeviceScheduleBlockingSync 0x4
#define hipDeviceMapHost 0x8
#define hipDeviceLmemResizeToMax 0x10
#define hipOccupancyDefault 0x0
#define hipCpuDeviceId (-1)
#define hipInvalidDeviceId (-2)
#define HIP_SYMBOL(x) x
#define HIP_KERNEL_NAME(...) __VA_ARGS__

typedef enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual } hipFuncCache_t;
typedef enum hipSharedMemConfig { hipSharedMemBankSizeDefault, hipSharedMemBankSizeFourByte, hipSharedMemBankSizeEightByte } hipSharedMemConfig;
typedef enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9, hipFuncAttributeMax } hipFuncAttribute;
typedef enum hipLimit_t { hipLimitStackSize, hipLimitPrintfFifoSize, hipLimitMallocHeapSize, hipLimitRange } hipLimit_t;
typedef enum hipStreamCaptureMode { hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed } hipStreamCaptureMode;
typedef enum hipStreamCaptureStatus { hipStreamCaptureStatusNone, hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated } hipStreamCaptureStatus;
typedef enum hipMemoryAdvise { hipMemAdviseSetReadMostly = 1, hipMemAdviseUnsetReadMostly, hipMemAdviseSetPreferredLocation, hipMemAdviseUnsetPreferredLocation, hipMemAdviseSetAccessedBy, hipMemAdviseUnsetAccessedBy, hipMemAdviseSetCoarseGrain = 100, hipMemAdviseUnsetCoarseGrain } hipMemoryAdvise;
typedef enum hipMemPoolAttr { hipMemPoolReuseFollowEventDependencies = 1, hipMemPoolReuseAllowOpportunistic, hipMemPoolReuseAllowInternalDependencies, hipMemPoolAttrReleaseThreshold, hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh, hipMemPoolAttrUsedMemCurrent, hipMemPoolAttrUsedMemHigh } hipMemPoolAttr;
typedef enum hipGraphNodeType {
    hipGraphNodeTypeKernel,
    hipGraphNodeTypeMemcpy,
    hipGraphNodeTypeMemset,
    hipGraphNodeTypeHost,
    hipGraphNodeTypeGraph,
    hipGraphNodeTypeEmpty,
    hipGraphNodeTypeWaitEvent,
    hipGraphNodeTypeEventRecord,
    hipGraphNodeTypeExtSemaphoreSignal,
    hipGraphNodeTypeExtSemaphoreWait,
    hipGraphNodeTypeMemAlloc,
    hipGraphNodeTypeMemFree,
    hipGraphNodeTypeMemcpyFromSymbol,
    hipGraphNodeTypeMemcpyToSymbol,
    hipGraphNodeTypeBatchMemOp,
    hipGraphNodeTypeCount
} hipGraphNodeType;
typedef enum hipMemoryType { hipMemoryTypeUnregistered, hipMemoryTypeHost, hipMemoryTypeDevice, hipMemoryTypeManaged, hipMemoryTypeArray = 10, hipMemoryTypeUnified } hipMemoryType;
typedef struct hipPointerAttribute_t {
    hipMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
    int isManaged;
    unsigned allocationFlags;
} hipPointerAttribute_t;
typedef struct hipFuncAttributes {
    int binaryVersion, cacheModeCA;
    size_t constSizeBytes, localSizeBytes;
    int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
    size_t sharedSizeBytes;
} hipFuncAttributes;

namespace cu2port_sim {

// Keeps an error for hipGetLastError.
inline hipError_t note(int error) {
    if (error) last_error() = error;
    return static_cast<hipError_t>(error);
}
inline bool real(hipStream_t s) { return reinterpret_cast<std::uintptr_t>(s) > 2; }

inline unsigned number_of(hipStream_t s) {
    return real(s) ? s->number : s == hipStreamPerThread ? kThreadStream : kNullStream;
}

inline void record(hipStream_t s, hipGraphNodeType type, Task work);

// Whether what is given to a stream is done at once: nothing captures it, and --check does not order it.
inline bool is_immediate(hipStream_t s) { return !(real(s) && s->capture) && !orders_work(); }
inline hipError_t later(hipStream_t s, Task work, hipGraphNodeType type, bool waits) {
    if (real(s) && s->capture) return record(s, type, std::move(work)), hipSuccess;
    return note(order_work(number_of(s), waits, std::move(work)));
}
// Does work now, or records it in the graph that the stream captures. `waits`: the host waits for it.
template <class F>
hipError_t submit(hipStream_t s, F work, hipGraphNodeType type = hipGraphNodeTypeMemcpy, bool waits = false) {
    return is_immediate(s) ? note(work()) : later(s, work, type, waits);
}

// Work of a call that returns when it is done.
template <class F>
hipError_t at_once(F work) {
    return submit(nullptr, work, hipGraphNodeTypeMemcpy, true);
}

inline int copy(void* to, const void* from, std::size_t n) {
    if (n == 0) return hipSuccess;
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    const Found a = find_range(to), b = find_range(from);
    auto fits = [n](const Found& f, const void* p) {
        return f.kind == 0 ||
               static_cast<const char*>(p) + n <= static_cast<char*>(f.base) + f.size;
    };
    if (!fits(a, to) || !fits(b, from)) {
        if (orders_work()) not_a_range(fits(a, to) ? from : to, "a copy that is larger than its memory");
        return hipErrorInvalidValue;
    }
    if (orders_work() && !(touch(from, n, false) & touch(to, n, true))) return hipSuccess;
    std::memmove(to, from, n);
    return hipSuccess;
}

inline int copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t height) {
    if (width > to_pitch || width > from_pitch) return hipErrorInvalidPitchValue;
    for (std::size_t i = 0; i < height; ++i)
        if (int e = copy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width))
            return e;
    return hipSuccess;
}

inline int fill(void* p, int value, std::size_t n) {
    if (n == 0) return hipSuccess;
    if (p == nullptr) return hipErrorInvalidValue;
    const Found f = find_range(p);
    if (f.kind == 0 || static_cast<char*>(p) + n > static_cast<char*>(f.base) + f.size) {
        if (orders_work()) not_a_range(p, "hipMemset of more than its memory");
        return hipErrorInvalidValue;
    }
    if (orders_work()) touch(p, n, true);
    std::memset(p, value, n);
    return hipSuccess;
}

template <class T>
int fill_words(void* p, T value, std::size_t n) {
    if (int e = fill(p, 0, n * sizeof(T))) return e;
    for (std::size_t i = 0; i < n; ++i) static_cast<T*>(p)[i] = value;
    return hipSuccess;
}

inline int allocate_to(void** p, std::size_t size, int kind) {
    if (p == nullptr) return hipErrorInvalidValue;
    *p = nullptr;
    if (size == 0) return hipSuccess;
    *p = allocate(size, kind);
    return *p ? hipSuccess : hipErrorOutOfMemory;
}

}  // namespace cu2port_sim

// --- errors and devices ------------------------------------------------------------------------------------------

inline hipError_t hipGetLastError() {
    const int e = cu2port_sim::last_error();
    cu2port_sim::last_error() = 0;
    return static_cast<hipError_t>(e);
}
inline hipError_t hipPeekAtLastError() { return static_cast<hipError_t>(cu2port_sim::last_error()); }
inline hipError_t hipExtGetLastError() { return hipGetLastError(); }
inline hipError_t hipInit(unsigned) { return hipSuccess; }
inline hipError_t hipDriverGetVersion(int* v) { return *v = 70100000, hipSuccess; }
inline hipError_t hipRuntimeGetVersion(int* v) { return *v = 70100000, hipSuccess; }
inline hipError_t hipGetDeviceCount(int* n) { return *n = cu2port_sim::devices(), hipSuccess; }
inline hipError_t hipGetDevice(int* d) { return *d = cu2port_sim::current_device(), hipSuccess; }
inline hipError_t hipSetDevice(int d) {
    if (d < 0 || d >= cu2port_sim::devices()) return cu2port_sim::note(hipErrorInvalidDevice);
    return cu2port_sim::current_device() = d, hipSuccess;
}
inline hipError_t hipDeviceSynchronize() { return cu2port_sim::host_waits_for_all(), hipSuccess; }
inline hipError_t hipDeviceReset() { return hipDeviceSynchronize(); }
inline hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
inline hipError_t hipGetDeviceFlags(unsigned* f) { return *f = 0, hipSuccess; }
inline hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
inline hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* c) { return *c = hipFuncCachePreferNone, hipSuccess; }
inline hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
inline hipError_t hipDeviceSetLimit(hipLimit_t, size_t) { return hipSuccess; }
inline hipError_t hipDeviceGetLimit(size_t* v, hipLimit_t) { return *v = 1 << 20, hipSuccess; }
inline hipError_t hipDeviceGet(hipDevice_t* d, int i) {
    return *d = i, cu2port_sim::note(i >= 0 && i < cu2port_sim::devices() ? hipSuccess : hipErrorInvalidDevice);
}
inline hipError_t hipDeviceGetName(char* name, int n, hipDevice_t) {
    return std::snprintf(name, static_cast<size_t>(n), "cu2port simulated GPU"), hipSuccess;
}
inline hipError_t hipDeviceTotalMem(size_t* n, hipDevice_t) { return *n = cu2port_sim::memory_limit(), hipSuccess; }
inline hipError_t hipDeviceGetPCIBusId(char* id, int n, int) {
    return std::snprintf(id, static_cast<size_t>(n), "0000:00:00.0"), hipSuccess;
}
inline hipError_t hipDeviceComputeCapability(int* a, int* b, hipDevice_t) { return *a = 9, *b = 4, hipSuccess; }
inline hipError_t hipChooseDevice(int* d, const hipDeviceProp_t*) { return *d = 0, hipSuccess; }
namespace cu2port_sim {
inline bool peers(int a, int b) { return a != b && a >= 0 && b >= 0 && a < devices() && b < devices(); }
}  // namespace cu2port_sim
inline hipError_t hipDeviceCanAccessPeer(int* can, int a, int b) { return *can = cu2port_sim::peers(a, b), hipSuccess; }
inline hipError_t hipDeviceEnablePeerAccess(int d, unsigned) {
    return cu2port_sim::note(cu2port_sim::peers(d, cu2port_sim::current_device()) ? hipSuccess : hipErrorInvalidDevice);
}
inline hipError_t hipDeviceDisablePeerAccess(int d) {
    return cu2port_sim::note(cu2port_sim::peers(d, cu2port_sim::current_device()) ? hipSuccess : hipErrorPeerAccessNotEnabled);
}
inline hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return *least = 1, *greatest = -1, hipSuccess;
}
inline hipError_t hipMemGetInfo(size_t* available, size_t* total) {
    *total = cu2port_sim::memory_limit();
    *available = *total - cu2port_sim::memory_used();
    return hipSuccess;
}
inline hipError_t hipProfilerStart() { return hipSuccess; }
inline hipError_t hipProfilerStop() { return hipSuccess; }
inline hipError_t hipCtxCreate(hipCtx_t* c, unsigned, hipDevice_t) { return *c = reinterpret_cast<hipCtx_t>(1), hipSuccess; }
inline hipError_t hipCtxDestroy(hipCtx_t) { return hipSuccess; }
inline hipError_t hipCtxSetCurrent(hipCtx_t) { return hipSuccess; }
inline hipError_t hipCtxGetCurrent(hipCtx_t* c) { return *c = reinterpret_cast<hipCtx_t>(1), hipSuccess; }
inline hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
inline hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* c, hipDevice_t) { return *c = reinterpret_cast<hipCtx_t>(1), hipSuccess; }
inline hipError_t hipDevicePrimaryCtxRelease(hipDevice_t) { return hipSuccess; }

// --- memory ------------------------------------------------------------------------------------------------------

template <class T>
inline hipError_t hipMalloc(T** p, size_t n) {  // a cast of C's: T may be volatile
    return cu2port_sim::note(cu2port_sim::allocate_to((void**)p, n, 2));
}
template <class T>
inline hipError_t hipExtMallocWithFlags(T** p, size_t n, unsigned) { return hipMalloc(p, n); }
template <class T>
inline hipError_t hipMallocAsync(T** p, size_t n, hipStream_t s) {
    const hipError_t e = hipMalloc(p, n);
    if (e || *p == nullptr || !cu2port_sim::orders_work()) return e;
    return cu2port_sim::submit(s, [at = (void*)*p] { return cu2port_sim::allocated_by_work(at), 0; }, hipGraphNodeTypeMemAlloc);
}
template <class T>
inline hipError_t hipMallocFromPoolAsync(T** p, size_t n, hipMemPool_t, hipStream_t s) { return hipMallocAsync(p, n, s); }
template <class T>
inline hipError_t hipMallocManaged(T** p, size_t n, unsigned = hipMemAttachGlobal) {
    return cu2port_sim::note(cu2port_sim::allocate_to((void**)p, n, 3));
}
template <class T>
inline hipError_t hipHostMalloc(T** p, size_t n, unsigned = 0) {
    return cu2port_sim::note(cu2port_sim::allocate_to((void**)p, n, 1));
}
template <class T>
inline hipError_t hipMallocHost(T** p, size_t n) { return hipHostMalloc(p, n); }
template <class T>
inline hipError_t hipHostAlloc(T** p, size_t n, unsigned = 0) { return hipHostMalloc(p, n); }
template <class T>
inline hipError_t hipMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 255) & ~size_t{255};
    return hipMalloc(p, *pitch * height);
}
namespace cu2port_sim {
inline int free_now(void* p) {
    if (release(p)) return hipSuccess;
    if (orders_work()) not_a_range(p, "hipFree of what is not allocated");
    return hipErrorInvalidValue;
}
}  // namespace cu2port_sim
inline hipError_t hipFree(void* p) {
    if (p == nullptr) return hipSuccess;
    cu2port_sim::host_waits_for_all();
    return cu2port_sim::note(cu2port_sim::free_now(p));
}
inline hipError_t hipFreeAsync(void* p, hipStream_t s) {
    if (p == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    return cu2port_sim::submit(s, [=] { return cu2port_sim::free_now(p); }, hipGraphNodeTypeMemFree);
}
inline hipError_t hipHostFree(void* p) { return hipFree(p); }
inline hipError_t hipFreeHost(void* p) { return hipFree(p); }
inline hipError_t hipHostRegister(void* p, size_t n, unsigned) { return cu2port_sim::pin(p, n), hipSuccess; }
inline hipError_t hipHostUnregister(void* p) { return cu2port_sim::pin(p, 0), hipSuccess; }
inline hipError_t hipHostGetDevicePointer(void** d, void* h, unsigned) { return *d = h, hipSuccess; }
template <class T>
inline hipError_t hipHostGetDevicePointer(T** d, void* h, unsigned) { return *d = static_cast<T*>(h), hipSuccess; }
inline hipError_t hipHostGetFlags(unsigned* f, void*) { return *f = 0, hipSuccess; }
inline hipError_t hipPointerGetAttributes(hipPointerAttribute_t* a, const void* p) {
    const cu2port_sim::Found f = cu2port_sim::find_range(p);
    *a = {static_cast<hipMemoryType>(f.kind), cu2port_sim::device_of(p), f.kind ? const_cast<void*>(p) : nullptr, f.kind == 2 ? nullptr : const_cast<void*>(p), f.kind == 3, 0};
    return p ? hipSuccess : cu2port_sim::note(hipErrorInvalidValue);
}
inline hipError_t hipMemPrefetchAsync(const void*, size_t, int, hipStream_t = nullptr) { return hipSuccess; }
inline hipError_t hipMemAdvise(const void*, size_t, hipMemoryAdvise, int) { return hipSuccess; }
inline hipError_t hipStreamAttachMemAsync(hipStream_t, void*, size_t = 0, unsigned = 0) { return hipSuccess; }
inline hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* p, int) { return *p = reinterpret_cast<hipMemPool_t>(1), hipSuccess; }
inline hipError_t hipDeviceGetMemPool(hipMemPool_t* p, int) { return *p = reinterpret_cast<hipMemPool_t>(1), hipSuccess; }
inline hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void*) { return hipSuccess; }
inline hipError_t hipMemPoolTrimTo(hipMemPool_t, size_t) { return hipSuccess; }

inline hipError_t hipMemcpy(void* to, const void* from, size_t n, hipMemcpyKind) {
    return cu2port_sim::at_once([=] { return cu2port_sim::copy(to, from, n); });
}
namespace cu2port_sim {
// Copies of a stream to memory that is not pinned return when they are done.
template <class F>
hipError_t submit_copy(const void* to, hipStream_t s, F work) {
    return submit(s, work, hipGraphNodeTypeMemcpy, orders_work() && copy_waits(to));
}
}  // namespace cu2port_sim
inline hipError_t hipMemcpyAsync(void* to, const void* from, size_t n, hipMemcpyKind, hipStream_t s = nullptr) {
    return cu2port_sim::submit_copy(to, s, [=] { return cu2port_sim::copy(to, from, n); });
}
inline hipError_t hipMemcpyWithStream(void* to, const void* from, size_t n, hipMemcpyKind, hipStream_t s) {
    return cu2port_sim::submit(s, [=] { return cu2port_sim::copy(to, from, n); }, hipGraphNodeTypeMemcpy, true);
}
inline hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t n) { return hipMemcpy(to, from, n, hipMemcpyDefault); }
inline hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t n) { return hipMemcpy(to, from, n, hipMemcpyDefault); }
inline hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t n) { return hipMemcpy(to, from, n, hipMemcpyDefault); }
inline hipError_t hipMemcpyPeer(void* to, int, const void* from, int, size_t n) { return hipMemcpy(to, from, n, hipMemcpyDefault); }
inline hipError_t hipMemcpyPeerAsync(void* to, int, const void* from, int, size_t n, hipStream_t s = nullptr) {
    return hipMemcpyAsync(to, from, n, hipMemcpyDefault, s);
}
inline hipError_t hipMemcpy2D(void* to, size_t tp, const void* from, size_t fp, size_t w, size_t h, hipMemcpyKind) {
    return cu2port_sim::at_once([=] { return cu2port_sim::copy_rows(to, tp, from, fp, w, h); });
}
inline hipError_t hipMemcpy2DAsync(void* to, size_t tp, const void* from, size_t fp, size_t w, size_t h, hipMemcpyKind,
                                   hipStream_t s = nullptr) {
    return cu2port_sim::submit_copy(to, s, [=] { return cu2port_sim::copy_rows(to, tp, from, fp, w, h); });
}
// A fill of device memory may still run when the call returns.
inline hipError_t hipMemset(void* p, int v, size_t n) {
    return cu2port_sim::submit(nullptr, [=] { return cu2port_sim::fill(p, v, n); }, hipGraphNodeTypeMemset,
                               cu2port_sim::orders_work() && cu2port_sim::find_range(p).kind != 2);
}
inline hipError_t hipMemsetAsync(void* p, int v, size_t n, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [=] { return cu2port_sim::fill(p, v, n); }, hipGraphNodeTypeMemset);
}
inline hipError_t hipMemsetD8(hipDeviceptr_t p, unsigned char v, size_t n) {
    return cu2port_sim::at_once([=] { return cu2port_sim::fill_words(p, v, n); });
}
inline hipError_t hipMemsetD16(hipDeviceptr_t p, unsigned short v, size_t n) {
    return cu2port_sim::at_once([=] { return cu2port_sim::fill_words(p, v, n); });
}
inline hipError_t hipMemsetD32(hipDeviceptr_t p, int v, size_t n) {
    return cu2port_sim::at_once([=] { return cu2port_sim::fill_words(p, v, n); });
}
inline hipError_t hipMemsetD32Async(hipDeviceptr_t p, int v, size_t n, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [=] { return cu2port_sim::fill_words(p, v, n); }, hipGraphNodeTypeMemset);
}
inline hipError_t hipMemset2DAsync(void* p, size_t pitch, int v, size_t w, size_t h, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [=] {
        for (size_t i = 0; i < h; ++i)
            if (int e = cu2port_sim::fill(static_cast<char*>(p) + i * pitch, v, w)) return e;
        return 0;
    }, hipGraphNodeTypeMemset);
}
inline hipError_t hipMemset2D(void* p, size_t pitch, int v, size_t w, size_t h) { return hipMemset2DAsync(p, pitch, v, w, h); }

// Symbols are the variables themselves. A pointer given as a symbol is its address, as HIP_SYMBOL makes it.
namespace cu2port_sim {
template <class T>
void* address(const T& symbol) {
    return const_cast<void*>(static_cast<const void*>(&symbol));
}
struct Variable {  // part of a variable, on one GPU
    void* place;
    std::size_t size, offset;
    int device;
    char* part() const { return static_cast<char*>(variable_on(device, place, size)) + offset; }
};
template <class T>
Variable variable(const T& symbol, std::size_t offset) {
    return {address(symbol), sizeof(T), offset, current_device()};
}
template <class T>
int symbol_range(const T&, std::size_t offset, std::size_t n) {
    return offset + n <= sizeof(T) ? hipSuccess : hipErrorInvalidValue;
}
}  // namespace cu2port_sim
template <class T>
inline hipError_t hipMemcpyToSymbol(const T& symbol, const void* from, size_t n, size_t offset = 0, hipMemcpyKind = hipMemcpyHostToDevice) {
    if (int e = cu2port_sim::symbol_range(symbol, offset, n)) return cu2port_sim::note(e);
    const auto to = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::at_once([=] { return cu2port_sim::copy(to.part(), from, n); });
}
template <class T>
inline hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* from, size_t n, size_t offset, hipMemcpyKind, hipStream_t s = nullptr) {
    if (int e = cu2port_sim::symbol_range(symbol, offset, n)) return cu2port_sim::note(e);
    const auto to = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::submit(s, [=] { return cu2port_sim::copy(to.part(), from, n); });
}
template <class T>
inline hipError_t hipMemcpyFromSymbol(void* to, const T& symbol, size_t n, size_t offset = 0, hipMemcpyKind = hipMemcpyDeviceToHost) {
    if (int e = cu2port_sim::symbol_range(symbol, offset, n)) return cu2port_sim::note(e);
    const auto from = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::at_once([=] { return cu2port_sim::copy(to, from.part(), n); });
}
template <class T>
inline hipError_t hipMemcpyFromSymbolAsync(void* to, const T& symbol, size_t n, size_t offset, hipMemcpyKind, hipStream_t s = nullptr) {
    if (int e = cu2port_sim::symbol_range(symbol, offset, n)) return cu2port_sim::note(e);
    const auto from = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::submit_copy(to, s, [=] { return cu2port_sim::copy(to, from.part(), n); });
}
template <class P, class T>
inline hipError_t hipGetSymbolAddress(P** p, const T& symbol) {
    (void)cu2port_sim::variable(symbol, 0).part();  // from now on each GPU has its own; the place is that of all
    return *p = static_cast<P*>(cu2port_sim::address(symbol)), hipSuccess;
}
template <class T>
inline hipError_t hipGetSymbolSize(size_t* n, const T&) { return *n = sizeof(T), hipSuccess; }
