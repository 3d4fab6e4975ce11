// The device that programs see: one GPU with the chosen wave size.
#pragma once

#include <cstring>

#include "errors.h"
#include "host.h"

typedef struct hipUUID_t {
    char bytes[16];
} hipUUID;

typedef struct {
    unsigned hasGlobalInt32Atomics : 1, hasGlobalFloatAtomicExch : 1, hasSharedInt32Atomics : 1,
        hasSharedFloatAtomicExch : 1, hasFloatAtomicAdd : 1, hasGlobalInt64Atomics : 1, hasSharedInt64Atomics : 1,
        hasDoubles : 1, hasWarpVote : 1, hasWarpBallot : 1, hasWarpShuffle : 1, hasFunnelShift : 1,
        hasThreadFenceSystem : 1, hasSyncThreadsExt : 1, hasSurfaceFuncs : 1, has3dGrid : 1, hasDynamicParallelism : 1;
} hipDeviceArch_t;

typedef enum hipComputeMode {
    hipComputeModeDefault,
    hipComputeModeExclusive,
    hipComputeModeProhibited,
    hipComputeModeExclusiveProcess
} hipComputeMode;

// Integer properties that are attributes too: X(field, attribute, value)
#define CU2PORT_SIM_PROPERTIES(X)                                                     \
    X(regsPerBlock, MaxRegistersPerBlock, 65536)                                      \
    X(warpSize, WarpSize, cu2port_sim::kWave)                                         \
    X(maxThreadsPerBlock, MaxThreadsPerBlock, 1024)                                   \
    X(clockRate, ClockRate, 1000000)                                                  \
    X(major, ComputeCapabilityMajor, 9)                                               \
    X(minor, ComputeCapabilityMinor, 4)                                               \
    X(deviceOverlap, DeviceOverlap, 1)                                                \
    X(multiProcessorCount, MultiprocessorCount, cu2port_sim::kUnits)                  \
    X(kernelExecTimeoutEnabled, KernelExecTimeout, 0)                                 \
    X(integrated, Integrated, 0)                                                      \
    X(canMapHostMemory, CanMapHostMemory, 1)                                          \
    X(computeMode, ComputeMode, 0)                                                    \
    X(maxTexture1D, MaxTexture1DWidth, 16384)                                         \
    X(maxTexture1DLinear, MaxTexture1DLinear, 134217728)                              \
    X(maxTexture1DMipmap, MaxTexture1DMipmap, 0)                                      \
    X(maxTextureCubemap, MaxTextureCubemap, 0)                                        \
    X(maxSurface1D, MaxSurface1D, 16384)                                              \
    X(maxSurfaceCubemap, MaxSurfaceCubemap, 0)                                        \
    X(concurrentKernels, ConcurrentKernels, 1)                                        \
    X(ECCEnabled, EccEnabled, 0)                                                      \
    X(pciBusID, PciBusId, 0)                                                          \
    X(pciDeviceID, PciDeviceId, 0)                                                    \
    X(pciDomainID, PciDomainId, 0)                                                    \
    X(tccDriver, TccDriver, 0)                                                        \
    X(asyncEngineCount, AsyncEngineCount, 1)                                          \
    X(unifiedAddressing, UnifiedAddressing, 1)                                        \
    X(memoryClockRate, MemoryClockRate, 1000000)                                      \
    X(memoryBusWidth, MemoryBusWidth, 4096)                                           \
    X(l2CacheSize, L2CacheSize, 4194304)                                              \
    X(persistingL2CacheMaxSize, PersistingL2CacheMaxSize, 0)                          \
    X(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor, 2048)                 \
    X(streamPrioritiesSupported, StreamPrioritiesSupported, 1)                        \
    X(globalL1CacheSupported, GlobalL1CacheSupported, 1)                              \
    X(localL1CacheSupported, LocalL1CacheSupported, 1)                                \
    X(regsPerMultiprocessor, MaxRegistersPerMultiprocessor, 65536)                    \
    X(managedMemory, ManagedMemory, 1)                                                \
    X(isMultiGpuBoard, IsMultiGpuBoard, 0)                                            \
    X(multiGpuBoardGroupID, MultiGpuBoardGroupID, 0)                                  \
    X(hostNativeAtomicSupported, HostNativeAtomicSupported, 1)                        \
    X(singleToDoublePrecisionPerfRatio, SingleToDoublePrecisionPerfRatio, 2)          \
    X(pageableMemoryAccess, PageableMemoryAccess, 1)                                  \
    X(concurrentManagedAccess, ConcurrentManagedAccess, 1)                            \
    X(computePreemptionSupported, ComputePreemptionSupported, 0)                      \
    X(canUseHostPointerForRegisteredMem, CanUseHostPointerForRegisteredMem, 1)        \
    X(cooperativeLaunch, CooperativeLaunch, 1)                                        \
    X(cooperativeMultiDeviceLaunch, CooperativeMultiDeviceLaunch, 0)                  \
    X(cooperativeMultiDeviceUnmatchedFunc, CooperativeMultiDeviceUnmatchedFunc, 0)    \
    X(cooperativeMultiDeviceUnmatchedGridDim, CooperativeMultiDeviceUnmatchedGridDim, 0) \
    X(cooperativeMultiDeviceUnmatchedBlockDim, CooperativeMultiDeviceUnmatchedBlockDim, 0) \
    X(cooperativeMultiDeviceUnmatchedSharedMem, CooperativeMultiDeviceUnmatchedSharedMem, 0) \
    X(pageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables, 1) \
    X(directManagedMemAccessFromHost, DirectManagedMemAccessFromHost, 1)              \
    X(maxBlocksPerMultiProcessor, MaxBlocksPerMultiProcessor, 4)                      \
    X(accessPolicyMaxWindowSize, AccessPolicyMaxWindowSize, 0)                        \
    X(hostRegisterSupported, HostRegisterSupported, 1)                                \
    X(memoryPoolsSupported, MemoryPoolsSupported, 1)                                  \
    X(clockInstructionRate, ClockInstructionRate, 1000000)                            \
    X(isLargeBar, IsLargeBar, 1)                                                      \
    X(asicRevision, AsicRevision, 0)

// Extents: X(field, how many, value)
#define CU2PORT_SIM_EXTENTS(X)                  \
    X(maxTexture2D, 2, 16384)                   \
    X(maxTexture3D, 3, 2048)                    \
    X(maxTexture2DMipmap, 2, 0)                 \
    X(maxTexture2DLinear, 3, 16384)             \
    X(maxTexture2DGather, 2, 0)                 \
    X(maxTexture3DAlt, 3, 0)                    \
    X(maxTexture1DLayered, 2, 2048)             \
    X(maxTexture2DLayered, 3, 2048)             \
    X(maxTextureCubemapLayered, 2, 0)           \
    X(maxSurface2D, 2, 16384)                   \
    X(maxSurface3D, 3, 2048)                    \
    X(maxSurface1DLayered, 2, 2048)             \
    X(maxSurface2DLayered, 3, 2048)             \
    X(maxSurfaceCubemapLayered, 2, 0)

// Sizes: X(field, attribute, value)
#define CU2PORT_SIM_SIZES(X)                                                                  \
    X(sharedMemPerBlock, MaxSharedMemoryPerBlock, cu2port_sim::kLocalMemory)                  \
    X(totalConstMem, TotalConstantMemory, 65536)                                              \
    X(memPitch, MaxPitch, 0x7fffffff)                                                         \
    X(textureAlignment, TextureAlignment, 256)                                                \
    X(texturePitchAlignment, TexturePitchAlignment, 256)                                      \
    X(surfaceAlignment, SurfaceAlignment, 256)                                                \
    X(sharedMemPerMultiprocessor, SharedMemPerMultiprocessor, cu2port_sim::kLocalMemory)      \
    X(sharedMemPerBlockOptin, SharedMemPerBlockOptin, cu2port_sim::kLocalMemory)              \
    X(reservedSharedMemPerBlock, ReservedSharedMemPerBlock, 0)                                \
    X(maxSharedMemoryPerMultiProcessor, MaxSharedMemoryPerMultiprocessor, cu2port_sim::kLocalMemory)

typedef struct hipDeviceProp_t {
    char name[256];
    hipUUID uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int sparseHipArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported, gpuDirectRDMASupported,
        gpuDirectRDMAWritesOrdering, deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
    unsigned gpuDirectRDMAFlushWritesOptions, memoryPoolSupportedHandleTypes;
#define CU2PORT_SIM_X(field, many, value) int field[many];
    CU2PORT_SIM_EXTENTS(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
    char gcnArchName[256];
    hipDeviceArch_t arch;
#define CU2PORT_SIM_X(field, attribute, value) int field;
    CU2PORT_SIM_PROPERTIES(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
#define CU2PORT_SIM_X(field, attribute, value) size_t field;
    CU2PORT_SIM_SIZES(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
} hipDeviceProp_t;

typedef enum hipDeviceAttribute_t {
#define CU2PORT_SIM_X(field, attribute, value) hipDeviceAttribute##attribute,
    CU2PORT_SIM_PROPERTIES(CU2PORT_SIM_X) CU2PORT_SIM_SIZES(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
    hipDeviceAttributeMaxBlockDimX,
    hipDeviceAttributeMaxBlockDimY,
    hipDeviceAttributeMaxBlockDimZ,
    hipDeviceAttributeMaxGridDimX,
    hipDeviceAttributeMaxGridDimY,
    hipDeviceAttributeMaxGridDimZ,
    hipDeviceAttributeMaxTexture2DWidth,
    hipDeviceAttributeMaxTexture2DHeight,
    hipDeviceAttributeMaxTexture3DWidth,
    hipDeviceAttributeMaxTexture3DHeight,
    hipDeviceAttributeMaxTexture3DDepth,
    hipDeviceAttributeWallClockRate,
    hipDeviceAttributeTotalGlobalMem,
    hipDeviceAttributeImageSupport,
    hipDeviceAttributeVirtualMemoryManagementSupported,
    hipDeviceAttributePhysicalMultiProcessorCount,
    hipDeviceAttributeCanUseStreamWaitValue,
    hipDeviceAttributeMemoryPoolSupportedHandleTypes,
    hipDeviceAttributeMaxTexture1DLayered,
    hipDeviceAttributeMaxTexture2DLayered,
    hipDeviceAttributeMaxTextureCubemapLayered,
    hipDeviceAttributeMaxTexture2DGather,
    hipDeviceAttributeMaxTexture2DLinear,
    hipDeviceAttributeMaxTexture2DMipmap,
    hipDeviceAttributeMaxTexture3DAlt,
    hipDeviceAttributeMaxSurface1DLayered,
    hipDeviceAttributeMaxSurface2D,
    hipDeviceAttributeMaxSurface2DLayered,
    hipDeviceAttributeMaxSurface3D,
    hipDeviceAttributeMaxSurfaceCubemapLayered,
    hipDeviceAttributePciDomainID = hipDeviceAttributePciDomainId
} hipDeviceAttribute_t;

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
    if (p == nullptr) return hipErrorInvalidValue;
    if (device < 0 || device >= cu2port_sim::devices()) return hipErrorInvalidDevice;
    std::memset(static_cast<void*>(p), 0, sizeof *p);
    std::strcpy(p->name, "cu2port simulated GPU");
    std::strcpy(p->gcnArchName, cu2port_sim::kWave == 64 ? "gfx942" : "gfx1100");
    p->totalGlobalMem = cu2port_sim::memory_limit();
    for (int i = 0; i < 3; ++i) {
        p->maxThreadsDim[i] = 1024;
        p->maxGridSize[i] = i == 0 ? 0x7fffffff : 65535;
    }
#define CU2PORT_SIM_X(field, many, value) \
    for (int& extent : p->field) extent = value;
    CU2PORT_SIM_EXTENTS(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
    std::memset(&p->arch, 0xff, sizeof p->arch);
    p->arch.hasDynamicParallelism = 0;
#define CU2PORT_SIM_X(field, attribute, value) p->field = value;
    CU2PORT_SIM_PROPERTIES(CU2PORT_SIM_X)
    CU2PORT_SIM_SIZES(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
    return hipSuccess;
}

inline hipError_t hipDeviceGetAttribute(int* out, hipDeviceAttribute_t attribute, int device) {
    if (out == nullptr) return hipErrorInvalidValue;
    if (device < 0 || device >= cu2port_sim::devices()) return hipErrorInvalidDevice;
    switch (attribute) {
#define CU2PORT_SIM_X(field, attribute, value) \
    case hipDeviceAttribute##attribute: *out = static_cast<int>(value); return hipSuccess;
        CU2PORT_SIM_PROPERTIES(CU2PORT_SIM_X)
        CU2PORT_SIM_SIZES(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
        case hipDeviceAttributeMaxBlockDimX:
        case hipDeviceAttributeMaxBlockDimY:
        case hipDeviceAttributeMaxBlockDimZ: *out = 1024; return hipSuccess;
        case hipDeviceAttributeMaxGridDimX: *out = 0x7fffffff; return hipSuccess;
        case hipDeviceAttributeMaxGridDimY:
        case hipDeviceAttributeMaxGridDimZ: *out = 65535; return hipSuccess;
        case hipDeviceAttributeMaxTexture2DWidth:
        case hipDeviceAttributeMaxTexture2DLinear:
        case hipDeviceAttributeMaxSurface2D:
        case hipDeviceAttributeMaxTexture2DHeight: *out = 16384; return hipSuccess;
        case hipDeviceAttributeMaxTexture3DWidth:
        case hipDeviceAttributeMaxTexture3DHeight:
        case hipDeviceAttributeMaxTexture1DLayered:
        case hipDeviceAttributeMaxTexture2DLayered:
        case hipDeviceAttributeMaxSurface1DLayered:
        case hipDeviceAttributeMaxSurface2DLayered:
        case hipDeviceAttributeMaxSurface3D:
        case hipDeviceAttributeMaxTexture3DDepth: *out = 2048; return hipSuccess;
        case hipDeviceAttributeWallClockRate: *out = 100000; return hipSuccess;
#ifdef __linux__
        case hipDeviceAttributeVirtualMemoryManagementSupported: *out = 1; return hipSuccess;
#endif
        case hipDeviceAttributePhysicalMultiProcessorCount: *out = cu2port_sim::kUnits; return hipSuccess;
        default: *out = 0; return hipSuccess;
    }
}
