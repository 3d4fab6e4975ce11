// Types and enumerators of HIP's host API that nothing here simulates: named, so that programs which mention them build.
#pragma once

#include "arrays.h"
#include "launch.h"

#define hipCooperativeLaunchMultiDeviceNoPreSync 0x01
#define hipCooperativeLaunchMultiDeviceNoPostSync 0x02
#define hipDeviceScheduleMask 0x7
#define hipEnableDefault 0x0
#define hipEnableLegacyStream 0x1
#define hipEnablePerThreadDefaultStream 0x2
#define hipEventRecordDefault 0x00
#define hipEventRecordExternal 0x01
#define hipEventWaitDefault 0x00
#define hipEventWaitExternal 0x01
#define hipExternalMemoryDedicated 0x1
#define hipOccupancyDisableCachingOverride 0x1
#define hipStreamWaitValueGte 0x0
#define hipStreamWaitValueEq 0x1
#define hipStreamWaitValueAnd 0x2
#define hipStreamWaitValueNor 0x3
#define HIP_IPC_HANDLE_SIZE 64

// --- memory that is mapped by hand -----------------------------------------------------------------------------------

typedef enum hipMemHandleType { hipMemHandleTypeGeneric = 0 } hipMemHandleType;
typedef enum hipMemOperationType { hipMemOperationTypeMap = 1, hipMemOperationTypeUnmap = 2 } hipMemOperationType;
typedef enum hipArraySparseSubresourceType {
    hipArraySparseSubresourceTypeSparseLevel,
    hipArraySparseSubresourceTypeMiptail
} hipArraySparseSubresourceType;
typedef struct hipMemPoolPtrExportData {
    unsigned char reserved[64];
} hipMemPoolPtrExportData;
typedef enum hipMemRangeHandleType { hipMemRangeHandleTypeDmaBufFd = 1, hipMemRangeHandleTypeMax = 0x7fffffff } hipMemRangeHandleType;
typedef enum hipMemRangeFlags { hipMemRangeFlagDmaBufMappingTypePcie = 1, hipMemRangeFlagsMax = 0x7fffffff } hipMemRangeFlags;

// --- memory and semaphores of other interfaces -----------------------------------------------------------------------

typedef void* hipExternalMemory_t;
typedef void* hipExternalSemaphore_t;
typedef enum hipExternalMemoryHandleType_enum {
    hipExternalMemoryHandleTypeOpaqueFd = 1,
    hipExternalMemoryHandleTypeOpaqueWin32,
    hipExternalMemoryHandleTypeOpaqueWin32Kmt,
    hipExternalMemoryHandleTypeD3D12Heap,
    hipExternalMemoryHandleTypeD3D12Resource,
    hipExternalMemoryHandleTypeD3D11Resource,
    hipExternalMemoryHandleTypeD3D11ResourceKmt,
    hipExternalMemoryHandleTypeNvSciBuf
} hipExternalMemoryHandleType;
typedef struct hipExternalMemoryHandleDesc_st {
    hipExternalMemoryHandleType type;
    union {
        int fd;
        struct {
            void* handle;
            const void* name;
        } win32;
        const void* nvSciBufObject;
    } handle;
    unsigned long long size;
    unsigned flags, reserved[16];
} hipExternalMemoryHandleDesc;
typedef struct hipExternalMemoryBufferDesc_st {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} hipExternalMemoryBufferDesc;
typedef struct hipExternalMemoryMipmappedArrayDesc_st {
    unsigned long long offset;
    hipChannelFormatDesc formatDesc;
    hipExtent extent;
    unsigned flags, numLevels;
} hipExternalMemoryMipmappedArrayDesc;
typedef enum hipExternalSemaphoreHandleType_enum {
    hipExternalSemaphoreHandleTypeOpaqueFd = 1,
    hipExternalSemaphoreHandleTypeOpaqueWin32,
    hipExternalSemaphoreHandleTypeOpaqueWin32Kmt,
    hipExternalSemaphoreHandleTypeD3D12Fence,
    hipExternalSemaphoreHandleTypeD3D11Fence,
    hipExternalSemaphoreHandleTypeNvSciSync,
    hipExternalSemaphoreHandleTypeKeyedMutex,
    hipExternalSemaphoreHandleTypeKeyedMutexKmt,
    hipExternalSemaphoreHandleTypeTimelineSemaphoreFd,
    hipExternalSemaphoreHandleTypeTimelineSemaphoreWin32
} hipExternalSemaphoreHandleType;
typedef struct hipExternalSemaphoreHandleDesc_st {
    hipExternalSemaphoreHandleType type;
    union {
        int fd;
        struct {
            void* handle;
            const void* name;
        } win32;
        const void* NvSciSyncObj;
    } handle;
    unsigned flags, reserved[16];
} hipExternalSemaphoreHandleDesc;
typedef struct hipExternalSemaphoreSignalParams_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void* fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
        } keyedMutex;
        unsigned reserved[12];
    } params;
    unsigned flags, reserved[16];
} hipExternalSemaphoreSignalParams;
typedef struct hipExternalSemaphoreWaitParams_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void* fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
            unsigned timeoutMs;
        } keyedMutex;
        unsigned reserved[10];
    } params;
    unsigned flags, reserved[16];
} hipExternalSemaphoreWaitParams;
typedef enum hipGLDeviceList { hipGLDeviceListAll = 1, hipGLDeviceListCurrentFrame, hipGLDeviceListNextFrame } hipGLDeviceList;

// --- attributes ------------------------------------------------------------------------------------------------------

typedef enum hipFunction_attribute {
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_NUM_REGS,
    HIP_FUNC_ATTRIBUTE_PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
    HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    HIP_FUNC_ATTRIBUTE_MAX
} hipFunction_attribute;
typedef enum hipPointer_attribute {
    HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
    HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,
    HIP_POINTER_ATTRIBUTE_DEVICE_POINTER,
    HIP_POINTER_ATTRIBUTE_HOST_POINTER,
    HIP_POINTER_ATTRIBUTE_P2P_TOKENS,
    HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
    HIP_POINTER_ATTRIBUTE_BUFFER_ID,
    HIP_POINTER_ATTRIBUTE_IS_MANAGED,
    HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE,
    HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
    HIP_POINTER_ATTRIBUTE_MAPPED,
    HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
    HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE,
    HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS,
    HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
} hipPointer_attribute;
typedef enum hipFlushGPUDirectRDMAWritesOptions {
    hipFlushGPUDirectRDMAWritesOptionHost = 1,
    hipFlushGPUDirectRDMAWritesOptionMemOps = 2
} hipFlushGPUDirectRDMAWritesOptions;
typedef enum hipGPUDirectRDMAWritesOrdering {
    hipGPUDirectRDMAWritesOrderingNone = 0,
    hipGPUDirectRDMAWritesOrderingOwner = 100,
    hipGPUDirectRDMAWritesOrderingAllDevices = 200
} hipGPUDirectRDMAWritesOrdering;

#define hipStreamAttrID hipLaunchAttributeID
#define hipStreamAttrValue hipLaunchAttributeValue
#define hipStreamAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipStreamAttributeSynchronizationPolicy hipLaunchAttributeSynchronizationPolicy
#define hipStreamAttributeMemSyncDomainMap hipLaunchAttributeMemSyncDomainMap
#define hipStreamAttributeMemSyncDomain hipLaunchAttributeMemSyncDomain
#define hipStreamAttributePriority hipLaunchAttributePriority
#define hipKernelNodeAttrID hipLaunchAttributeID
#define hipKernelNodeAttrValue hipLaunchAttributeValue
#define hipKernelNodeAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative hipLaunchAttributeCooperative
#define hipKernelNodeAttributePriority hipLaunchAttributePriority

// --- launches, graphs and modules ------------------------------------------------------------------------------------

typedef struct hipLaunchParams_t {
    void* func;
    dim3 gridDim, blockDim;
    void** args;
    size_t sharedMem;
    hipStream_t stream;
} hipLaunchParams;
typedef struct hipFunctionLaunchParams_t {
    hipFunction_t function;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    hipStream_t hStream;
    void** kernelParams;
} hipFunctionLaunchParams;
typedef enum hipStreamUpdateCaptureDependenciesFlags {
    hipStreamAddCaptureDependencies,
    hipStreamSetCaptureDependencies
} hipStreamUpdateCaptureDependenciesFlags;
typedef enum hipGraphDebugDotFlags {
    hipGraphDebugDotFlagsVerbose = 1 << 0,
    hipGraphDebugDotFlagsKernelNodeParams = 1 << 2,
    hipGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
    hipGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
    hipGraphDebugDotFlagsHostNodeParams = 1 << 5,
    hipGraphDebugDotFlagsEventNodeParams = 1 << 6,
    hipGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
    hipGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
    hipGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
    hipGraphDebugDotFlagsHandles = 1 << 10
} hipGraphDebugDotFlags;
typedef enum hipGraphInstantiateResult {
    hipGraphInstantiateSuccess,
    hipGraphInstantiateError,
    hipGraphInstantiateInvalidStructure,
    hipGraphInstantiateNodeOperationNotSupported,
    hipGraphInstantiateMultipleDevicesNotSupported
} hipGraphInstantiateResult;
typedef struct hipGraphInstantiateParams {
    hipGraphNode_t errNode_out;
    unsigned long long flags;
    hipGraphInstantiateResult result_out;
    hipStream_t uploadStream;
} hipGraphInstantiateParams;
typedef enum hipGraphMemAttributeType {
    hipGraphMemAttrUsedMemCurrent,
    hipGraphMemAttrUsedMemHigh,
    hipGraphMemAttrReservedMemCurrent,
    hipGraphMemAttrReservedMemHigh
} hipGraphMemAttributeType;
typedef enum hipGraphDependencyType { hipGraphDependencyTypeDefault, hipGraphDependencyTypeProgrammatic } hipGraphDependencyType;
typedef struct hipGraphEdgeData {
    unsigned char from_port, reserved[5], to_port, type;
} hipGraphEdgeData;
typedef struct hipUserObject* hipUserObject_t;
typedef enum hipUserObjectFlags { hipUserObjectNoDestructorSync = 1 } hipUserObjectFlags;
typedef enum hipUserObjectRetainFlags { hipGraphUserObjectMove = 1 } hipUserObjectRetainFlags;
typedef struct ihipLibrary_t* hipLibrary_t;
typedef struct ihipKernel_t* hipKernel_t;
typedef struct ihipLinkState_t* hipLinkState_t;
typedef enum hipLibraryOption { hipLibraryHostUniversalFunctionAndDataTable, hipLibraryBinaryIsPreserved } hipLibraryOption;
typedef enum hipJitInputType {
    hipJitInputCubin,
    hipJitInputPtx,
    hipJitInputFatBinary,
    hipJitInputObject,
    hipJitInputLibrary,
    hipJitInputNvvm,
    hipJitNumLegacyInputTypes
} hipJitInputType;
typedef enum hipJitCacheMode { hipJitCacheOptionNone, hipJitCacheOptionCG, hipJitCacheOptionCA } hipJitCacheMode;
typedef enum hipJitFallback { hipJitPreferPTX, hipJitPreferBinary } hipJitFallback;
typedef enum hipDriverEntryPointQueryResult {
    hipDriverEntryPointSuccess,
    hipDriverEntryPointSymbolNotFound,
    hipDriverEntryPointVersionNotSufficent  // as HIP spells it
} hipDriverEntryPointQueryResult;
typedef enum hipDriverProcAddressQueryResult {
    HIP_GET_PROC_ADDRESS_SUCCESS,
    HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
    HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
} hipDriverProcAddressQueryResult;
