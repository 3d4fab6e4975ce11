// The part of CUDA's language and runtime that conversion asks questions about: types, values, signatures.
// Facts (names, members, values, return types) in words of our own. Names that need no more than a declaration are
// generated after this file from the rules; a name that stands here is not generated again. See ../shim.py.
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 9
#define __CUDACC_VER_BUILD__ 0
#define __NVCC__ 1
#define CUDART_VERSION 12090
#define CUDA_VERSION 12090
#define __CUDART_API_VERSION 12090
// NVIDIA's own helper headers, copied into many projects, test these guards to learn what was included before them.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __DRIVER_FUNCTIONS_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
#define __cuda_cuda_h__
#define CU_COMPLEX_H_

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __restrict__ __restrict
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __local_maxnreg__(...)
#define __nv_pure__
#define __no_return__ __attribute__((noreturn))
#define __tile__
#define __inline_hint__
#define __device_builtin__
#define __cudart_builtin__
#define __CUDA_HOSTDEVICE__ __host__ __device__
#define CUDART_CB
#define CUDARTAPI
#define CUDAAPI
#define CUDA_CB
#define CUBLASWINAPI
#define CUFFTAPI
#define CURANDAPI
#define CUSPARSEAPI
#define CUSOLVERAPI
#define CUDNNWINAPI
#define NVMLAPI
#define CUPTIAPI
#define NVTX_DYNAMIC_EXPORT
#define NVTX_NULLPTR nullptr
#define CURAND_KERNEL_H_
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

// Stands for a CUDA type whose shape no question needs: made from anything, turned into anything.
struct __cu2port_any {
    __cu2port_any() = default;
    template <class... T> constexpr __cu2port_any(T &&...);
    template <class T> constexpr operator T() const;
    template <class T> __cu2port_any operator[](T) const;
    template <class... T> __cu2port_any operator()(T &&...) const;
};
#define CU2PORT_OPERATOR(R, op)                                                                                        \
    template <class A, class B>                                                                                       \
    typename __cu2port::when<__is_same(A, __cu2port_any) || __is_same(B, __cu2port_any), R>::type operator op(const A &, const B &);
CU2PORT_OPERATOR(__cu2port_any, +) CU2PORT_OPERATOR(__cu2port_any, -) CU2PORT_OPERATOR(__cu2port_any, *) CU2PORT_OPERATOR(__cu2port_any, /)
CU2PORT_OPERATOR(__cu2port_any, %) CU2PORT_OPERATOR(__cu2port_any, &) CU2PORT_OPERATOR(__cu2port_any, |) CU2PORT_OPERATOR(__cu2port_any, ^)
CU2PORT_OPERATOR(bool, ==) CU2PORT_OPERATOR(bool, !=) CU2PORT_OPERATOR(bool, <) CU2PORT_OPERATOR(bool, >) CU2PORT_OPERATOR(bool, <=) CU2PORT_OPERATOR(bool, >=)
#define CU2PORT_ASSIGN(op) template <class A, class B> typename __cu2port::when<__is_same(B, __cu2port_any), A &>::type operator op(A &, const B &);
CU2PORT_ASSIGN(+=) CU2PORT_ASSIGN(-=) CU2PORT_ASSIGN(*=) CU2PORT_ASSIGN(/=)

#define CU2PORT_VECTOR(T, B, A1, A2, A4)                                                      \
    struct __attribute__((aligned(A1))) T##1 { B x; };                                       \
    struct __attribute__((aligned(A2))) T##2 { B x, y; };                                    \
    struct T##3 { B x, y, z; };                                                              \
    struct __attribute__((aligned(A4))) T##4 { B x, y, z, w; };                              \
    T##1 make_##T##1(B); T##2 make_##T##2(B, B); T##3 make_##T##3(B, B, B); T##4 make_##T##4(B, B, B, B);
CU2PORT_VECTOR(char, signed char, 1, 2, 4)
CU2PORT_VECTOR(uchar, unsigned char, 1, 2, 4)
CU2PORT_VECTOR(short, short, 2, 4, 8)
CU2PORT_VECTOR(ushort, unsigned short, 2, 4, 8)
CU2PORT_VECTOR(int, int, 4, 8, 16)
CU2PORT_VECTOR(uint, unsigned int, 4, 8, 16)
CU2PORT_VECTOR(long, long, 8, 16, 16)
CU2PORT_VECTOR(ulong, unsigned long, 8, 16, 16)
CU2PORT_VECTOR(longlong, long long, 8, 16, 16)
CU2PORT_VECTOR(ulonglong, unsigned long long, 8, 16, 16)
CU2PORT_VECTOR(float, float, 4, 8, 16)
CU2PORT_VECTOR(double, double, 8, 16, 16)
// The expansion names no vector type, so the rules' lists must not declare them once more:
// char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 ushort2 ushort3 ushort4
// int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 long2 long3 long4 ulong1 ulong2 ulong3 ulong4
// longlong1 longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4
// float1 float2 float3 float4 double1 double2 double3 double4
// make_char1 make_char2 make_char3 make_char4 make_uchar1 make_uchar2 make_uchar3 make_uchar4
// make_short1 make_short2 make_short3 make_short4 make_ushort1 make_ushort2 make_ushort3 make_ushort4
// make_int1 make_int2 make_int3 make_int4 make_uint1 make_uint2 make_uint3 make_uint4
// make_long1 make_long2 make_long3 make_long4 make_ulong1 make_ulong2 make_ulong3 make_ulong4
// make_longlong1 make_longlong2 make_longlong3 make_longlong4 make_ulonglong1 make_ulonglong2 make_ulonglong3 make_ulonglong4
// make_float1 make_float2 make_float3 make_float4 make_double1 make_double2 make_double3 make_double4

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1);
    constexpr dim3(uint3);
    constexpr operator uint3() const;
};
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;

enum cudaError {
    cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4, cudaErrorProfilerDisabled = 5, cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12, cudaErrorInvalidSymbol = 13, cudaErrorInvalidTexture = 18,
    cudaErrorInvalidTextureBinding = 19, cudaErrorInvalidChannelDescriptor = 20, cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidFilterSetting = 26, cudaErrorInvalidNormSetting = 27, cudaErrorInsufficientDriver = 35,
    cudaErrorMissingConfiguration = 52, cudaErrorLaunchMaxDepthExceeded = 65, cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101, cudaErrorStartupFailure = 127, cudaErrorInvalidKernelImage = 200,
    cudaErrorDeviceUninitialized = 201, cudaErrorMapBufferObjectFailed = 205, cudaErrorUnmapBufferObjectFailed = 206,
    cudaErrorNoKernelImageForDevice = 209, cudaErrorECCUncorrectable = 214, cudaErrorUnsupportedLimit = 215,
    cudaErrorDeviceAlreadyInUse = 216, cudaErrorPeerAccessUnsupported = 217, cudaErrorInvalidPtx = 218,
    cudaErrorInvalidSource = 300, cudaErrorFileNotFound = 301, cudaErrorSharedObjectSymbolNotFound = 302,
    cudaErrorSharedObjectInitFailed = 303, cudaErrorOperatingSystem = 304, cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalState = 401, cudaErrorSymbolNotFound = 500, cudaErrorNotReady = 600, cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701, cudaErrorLaunchTimeout = 702, cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705, cudaErrorSetOnActiveProcess = 708, cudaErrorContextIsDestroyed = 709,
    cudaErrorAssert = 710, cudaErrorTooManyPeers = 711, cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713, cudaErrorHardwareStackError = 714, cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716, cudaErrorInvalidAddressSpace = 717, cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719, cudaErrorCooperativeLaunchTooLarge = 720, cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801, cudaErrorSystemNotReady = 802, cudaErrorSystemDriverMismatch = 803,
    cudaErrorStreamCaptureUnsupported = 900, cudaErrorStreamCaptureInvalidated = 901, cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903, cudaErrorStreamCaptureUnjoined = 904, cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906, cudaErrorCapturedEvent = 907, cudaErrorStreamCaptureWrongThread = 908,
    cudaErrorTimeout = 909, cudaErrorGraphExecUpdateFailure = 910, cudaErrorUnknown = 999, cudaErrorApiFailureBase = 10000,
};
typedef cudaError cudaError_t;
typedef cudaError cudaError_enum_;
enum cudaMemcpyKind { cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2, cudaMemoryTypeManaged = 3 };
enum cudaFuncCache { cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2, cudaFuncCachePreferEqual = 3 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeNonPortableClusterSizeAllowed = 13, cudaFuncAttributeMax };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault = 0, cudaSharedMemBankSizeFourByte = 1, cudaSharedMemBankSizeEightByte = 2 };
enum cudaComputeMode { cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2, cudaComputeModeExclusiveProcess = 3 };
enum cudaLimit { cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2, cudaLimitDevRuntimeSyncDepth = 3, cudaLimitDevRuntimePendingLaunchCount = 4, cudaLimitMaxL2FetchGranularity = 5, cudaLimitPersistingL2CacheSize = 6 };
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly = 2, cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseUnsetPreferredLocation = 4, cudaMemAdviseSetAccessedBy = 5, cudaMemAdviseUnsetAccessedBy = 6 };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat = 2, cudaChannelFormatKindNone = 3 };
enum cudaTextureAddressMode { cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaResourceType { cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeThreadLocal = 1, cudaStreamCaptureModeRelaxed = 2 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1, cudaStreamCaptureStatusInvalidated = 2 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13, cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17, cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19, cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled = 32, cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83, cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89, cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrMemoryPoolsSupported = 115,
};
enum {
    cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8,
    cudaPeerAccessDefault = 0, cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2, cudaEventInterprocess = 4, cudaEventRecordDefault = 0, cudaEventRecordExternal = 1,
    cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4,
    cudaDeviceBlockingSync = 4, cudaDeviceScheduleMask = 7, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16, cudaDeviceMask = 0xff,
    cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8,
    cudaIpcMemLazyEnablePeerAccess = 1, cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4,
    cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1, cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2,
    cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3, cudaTextureTypeCubemap = 12, cudaTextureType1DLayered = 0xf1,
    cudaTextureType2DLayered = 0xf2, cudaTextureTypeCubemapLayered = 0xfc, cudaSurfaceType1D = 1, cudaSurfaceType2D = 2, cudaSurfaceType3D = 3,
    CUFFT_FORWARD = -1, CUFFT_INVERSE = 1,
};

struct CUstream_st; struct CUevent_st; struct CUctx_st; struct CUmod_st; struct CUfunc_st; struct CUgraph_st; struct CUgraphNode_st;
struct CUgraphExec_st; struct CUmemPoolHandle_st; struct cudaArray; struct cudaMipmappedArray; struct cudaGraphicsResource;
typedef CUstream_st *cudaStream_t, *CUstream;
typedef CUevent_st *cudaEvent_t, *CUevent;
typedef CUctx_st *CUcontext;
typedef CUmod_st *CUmodule;
typedef CUfunc_st *CUfunction, *cudaFunction_t;
typedef CUgraph_st *cudaGraph_t, *CUgraph;
typedef CUgraphNode_st *cudaGraphNode_t, *CUgraphNode;
typedef CUgraphExec_st *cudaGraphExec_t, *CUgraphExec;
typedef CUmemPoolHandle_st *cudaMemPool_t, *CUmemoryPool;
typedef cudaArray *cudaArray_t;
typedef const cudaArray *cudaArray_const_t;
typedef cudaMipmappedArray *cudaMipmappedArray_t;
typedef cudaGraphicsResource *cudaGraphicsResource_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t, CUdeviceptr, CUtexObject, CUsurfObject;
typedef int CUdevice, cufftHandle;
typedef void (*cudaHostFn_t)(void *);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);

struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
    char name[256]; cudaUUID_t uuid; char luid[8]; unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, texturePitchAlignment, surfaceAlignment;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, deviceOverlap, multiProcessorCount;
    int kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2];
    int maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
    int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate;
    int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported;
    int localL1CacheSupported, regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch, pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize, hostRegisterSupported, memoryPoolsSupported, clusterLaunch;
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout; };
struct cudaPointerAttributes { cudaMemoryType type, memoryType; int device; void *devicePointer, *hostPointer; int isManaged; };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaMemLocation { int type, id; };
struct CUmemLocation { int type, id; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
struct cudaMemcpy3DPeerParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; int srcDevice; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; int dstDevice; cudaExtent extent; };
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int sRGB; float borderColor[4];
    int normalizedCoords; unsigned int maxAnisotropy; cudaTextureFilterMode mipmapFilterMode; float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct textureReference { int normalized; cudaTextureFilterMode filterMode; cudaTextureAddressMode addressMode[3]; cudaChannelFormatDesc channelDesc; };
struct surfaceReference { cudaChannelFormatDesc channelDesc; };
template <class T, int Type = 1, int Mode = 0> struct texture : textureReference {};
template <class T, int Type = 1> struct surface : surfaceReference {};
// A fetch through a texture reference gives its element type; through an object, the type that is asked for.
#define CU2PORT_TEXTURE(f)                                                                      \
    template <class T, int D, int M, class... A> T f(const texture<T, D, M> &, A...);           \
    template <class T, class... A> T f(cudaTextureObject_t, A...);                              \
    template <class T, class... A> void f(T *, cudaTextureObject_t, A...);
CU2PORT_TEXTURE(tex1D) CU2PORT_TEXTURE(tex2D) CU2PORT_TEXTURE(tex3D) CU2PORT_TEXTURE(tex1Dfetch) CU2PORT_TEXTURE(tex1DLayered)
CU2PORT_TEXTURE(tex2DLayered) CU2PORT_TEXTURE(texCubemap) CU2PORT_TEXTURE(tex2DLod) CU2PORT_TEXTURE(tex3DLod)
struct cudaKernelNodeParams { void *func; dim3 gridDim, blockDim; unsigned int sharedMemBytes; void **kernelParams, **extra; };
struct cudaMemsetParams { void *dst; size_t pitch; unsigned int value, elementSize; size_t width, height; };
struct cudaHostNodeParams { cudaHostFn_t fn; void *userData; };
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };

// What `<<<>>>` needs: its value is never used.
extern "C" unsigned int __cudaPushCallConfiguration(dim3, dim3, size_t = 0, CUstream_st * = 0);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" void *cudaGetParameterBuffer(size_t, size_t);
template <class T> cudaError_t cudaMalloc(T **, size_t);
template <class T> cudaError_t cudaMallocHost(T **, size_t, unsigned int = 0);
template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned int = 0);
template <class T> cudaError_t cudaHostAlloc(T **, size_t, unsigned int);
template <class T> cudaError_t cudaMallocAsync(T **, size_t, cudaStream_t);
template <class T> cudaError_t cudaHostGetDevicePointer(T **, void *, unsigned int);
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind);
const char *cudaGetErrorString(cudaError_t), *cudaGetErrorName(cudaError_t);
cudaExtent make_cudaExtent(size_t, size_t, size_t);
cudaPos make_cudaPos(size_t, size_t, size_t);
cudaPitchedPtr make_cudaPitchedPtr(void *, size_t, size_t, size_t);

// Device functions whose result types code depends on.
// (`__syncthreads` is a builtin of clang's; declaring it again is an error.)
void __threadfence(), __threadfence_block(), __threadfence_system(), __trap(), __brkpt();
void __syncwarp(unsigned int = 0xffffffff), __nanosleep(unsigned int), __prof_trigger(int);
int __syncthreads_count(int), __syncthreads_and(int), __syncthreads_or(int);
int __all(int), __any(int), __all_sync(unsigned int, int), __any_sync(unsigned int, int), __uni_sync(unsigned int, int);
unsigned int __ballot(int), __ballot_sync(unsigned int, int), __activemask(), __fns(unsigned int, unsigned int, int);
template <class T> T __shfl(T, int, int = 32);
template <class T> T __shfl_up(T, unsigned int, int = 32);
template <class T> T __shfl_down(T, unsigned int, int = 32);
template <class T> T __shfl_xor(T, int, int = 32);
template <class T> T __shfl_sync(unsigned int, T, int, int = 32);
template <class T> T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);
template <class T> T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);
template <class T> T __shfl_xor_sync(unsigned int, T, int, int = 32);
template <class T> unsigned int __match_any_sync(unsigned int, T);
template <class T> unsigned int __match_all_sync(unsigned int, T, int *);
template <class T> T __reduce_add_sync(unsigned int, T);
template <class T> T __reduce_min_sync(unsigned int, T);
template <class T> T __reduce_max_sync(unsigned int, T);
unsigned int __reduce_and_sync(unsigned int, unsigned int), __reduce_or_sync(unsigned int, unsigned int), __reduce_xor_sync(unsigned int, unsigned int);
int __popc(unsigned int), __popcll(unsigned long long), __clz(int), __clzll(long long), __ffs(int), __ffsll(long long);
unsigned int __brev(unsigned int), __byte_perm(unsigned int, unsigned int, unsigned int), __umulhi(unsigned int, unsigned int);
unsigned int __umul24(unsigned int, unsigned int), __usad(unsigned int, unsigned int, unsigned int), __sad(int, int, unsigned int);
unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int), __funnelshift_r(unsigned int, unsigned int, unsigned int);
unsigned int __funnelshift_lc(unsigned int, unsigned int, unsigned int), __funnelshift_rc(unsigned int, unsigned int, unsigned int);
unsigned int __uhadd(unsigned int, unsigned int), __urhadd(unsigned int, unsigned int);
unsigned long long __brevll(unsigned long long), __umul64hi(unsigned long long, unsigned long long);
int __mul24(int, int), __mulhi(int, int), __hadd(int, int), __rhadd(int, int), __dp4a(int, int, int), __dp2a_lo(int, int, int), __dp2a_hi(int, int, int);
long long __mul64hi(long long, long long), clock64(), llmin(long long, long long), llmax(long long, long long);
unsigned int umin(unsigned int, unsigned int), umax(unsigned int, unsigned int);
unsigned long long ullmin(unsigned long long, unsigned long long), ullmax(unsigned long long, unsigned long long);
int __float_as_int(float), __double2hiint(double), __double2loint(double);
unsigned int __float_as_uint(float);
float __int_as_float(int), __uint_as_float(unsigned int), __saturatef(float), __fdividef(float, float);
long long __double_as_longlong(double);
double __longlong_as_double(long long), __hiloint2double(int, int);
template <class T> T __ldg(const T *);
template <class T> T __ldca(const T *);
template <class T> T __ldcg(const T *);
template <class T> T __ldcs(const T *);
template <class T> T __ldcv(const T *);
template <class T> T __ldlu(const T *);
template <class T> void __stwb(T *, T);
template <class T> void __stcg(T *, T);
template <class T> void __stcs(T *, T);
template <class T> void __stwt(T *, T);
unsigned int __isGlobal(const void *), __isShared(const void *), __isConstant(const void *), __isLocal(const void *);
size_t __cvta_generic_to_shared(const void *), __cvta_generic_to_global(const void *);
template <class A, class B> constexpr decltype(true ? A() : B()) min(A, B);
template <class A, class B> constexpr decltype(true ? A() : B()) max(A, B);
#define CU2PORT_ATOMIC(f) template <class T, class... A> T f(T *, A...); template <class T, class... A> T f##_block(T *, A...); template <class T, class... A> T f##_system(T *, A...);
CU2PORT_ATOMIC(atomicAdd) CU2PORT_ATOMIC(atomicSub) CU2PORT_ATOMIC(atomicExch) CU2PORT_ATOMIC(atomicMin) CU2PORT_ATOMIC(atomicMax)
CU2PORT_ATOMIC(atomicInc) CU2PORT_ATOMIC(atomicDec) CU2PORT_ATOMIC(atomicCAS) CU2PORT_ATOMIC(atomicAnd) CU2PORT_ATOMIC(atomicOr) CU2PORT_ATOMIC(atomicXor)
// atomicAdd_block atomicSub_block atomicExch_block atomicMin_block atomicMax_block atomicInc_block atomicDec_block atomicCAS_block atomicAnd_block atomicOr_block atomicXor_block
// atomicAdd_system atomicSub_system atomicExch_system atomicMin_system atomicMax_system atomicInc_system atomicDec_system atomicCAS_system atomicAnd_system atomicOr_system atomicXor_system
// CUDA's own functions for the scopes that HIP lacks: a program's template of that name is not meant where one of them fits.
#define CU2PORT_SCOPED(f, T) T f##_block(T *, T), f##_system(T *, T);
#define CU2PORT_SCOPED_INT(f) CU2PORT_SCOPED(f, int) CU2PORT_SCOPED(f, unsigned)
#define CU2PORT_SCOPED_ULL(f) CU2PORT_SCOPED_INT(f) CU2PORT_SCOPED(f, unsigned long long)
#define CU2PORT_SCOPED_CAS(T) T atomicCAS_block(T *, T, T), atomicCAS_system(T *, T, T);
CU2PORT_SCOPED_ULL(atomicAdd) CU2PORT_SCOPED(atomicAdd, float) CU2PORT_SCOPED(atomicAdd, double) CU2PORT_SCOPED_INT(atomicSub)
CU2PORT_SCOPED_ULL(atomicExch) CU2PORT_SCOPED(atomicExch, float) CU2PORT_SCOPED(atomicInc, unsigned) CU2PORT_SCOPED(atomicDec, unsigned)
CU2PORT_SCOPED_ULL(atomicMin) CU2PORT_SCOPED(atomicMin, long long) CU2PORT_SCOPED_ULL(atomicMax) CU2PORT_SCOPED(atomicMax, long long)
CU2PORT_SCOPED_ULL(atomicAnd) CU2PORT_SCOPED_ULL(atomicOr) CU2PORT_SCOPED_ULL(atomicXor)
CU2PORT_SCOPED_CAS(int) CU2PORT_SCOPED_CAS(unsigned) CU2PORT_SCOPED_CAS(unsigned long long) CU2PORT_SCOPED_CAS(unsigned short)
CU2PORT_MATH1(rsqrt) CU2PORT_MATH1(rcbrt) CU2PORT_MATH1(exp10) CU2PORT_MATH1(sinpi) CU2PORT_MATH1(cospi) CU2PORT_MATH1(erfinv)
CU2PORT_MATH1(erfcinv) CU2PORT_MATH1(erfcx) CU2PORT_MATH1(normcdf) CU2PORT_MATH1(normcdfinv) CU2PORT_MATH1(j0) CU2PORT_MATH1(j1)
CU2PORT_MATH1(y0) CU2PORT_MATH1(y1) CU2PORT_MATH2(fdivide) CU2PORT_MATH2(rhypot)
template <class T> void sincos(T, T *, T *);
template <class T> void sincospi(T, T *, T *);
void sincosf(float, float *, float *), __sincosf(float, float *, float *), sincospif(float, float *, float *);

// Half precision: sizes and conversions are what code depends on.
#define CU2PORT_HALF(H, H2)                                                                                                      \
    struct __attribute__((aligned(2))) H {                                                                                      \
        unsigned short __x; H() = default; constexpr H(float); constexpr H(double); constexpr H(int); constexpr H(unsigned);     \
        constexpr H(long); constexpr H(unsigned long); constexpr H(long long); constexpr H(unsigned long long);                 \
        constexpr H(short); constexpr H(unsigned short); constexpr operator float() const;                                      \
        H &operator=(float); H &operator+=(const H &); H &operator-=(const H &); H &operator*=(const H &); H &operator/=(const H &); \
    };                                                                                                                          \
    struct __attribute__((aligned(4))) H2 { H x, y; H2() = default; constexpr H2(const H &, const H &); };                       \
    H operator+(const H &, const H &); H operator-(const H &, const H &); H operator*(const H &, const H &); H operator/(const H &, const H &); \
    H operator-(const H &); H2 operator+(const H2 &, const H2 &); H2 operator-(const H2 &, const H2 &); H2 operator*(const H2 &, const H2 &);   \
    bool operator<(const H &, const H &); bool operator>(const H &, const H &); bool operator==(const H &, const H &); bool operator!=(const H &, const H &); \
    bool operator<=(const H &, const H &); bool operator>=(const H &, const H &);                                               \
    H __habs(H), __hneg(H), __hadd(H, H), __hsub(H, H), __hmul(H, H), __hdiv(H, H), __hfma(H, H, H), __hmax(H, H), __hmin(H, H); \
    H2 __habs2(H2), __hneg2(H2), __hadd2(H2, H2), __hsub2(H2, H2), __hmul2(H2, H2), __h2div(H2, H2), __hfma2(H2, H2, H2), __hmax2(H2, H2), __hmin2(H2, H2); \
    bool __heq(H, H), __hne(H, H), __hlt(H, H), __hle(H, H), __hgt(H, H), __hge(H, H), __hisnan(H);
CU2PORT_HALF(__half, __half2)
CU2PORT_HALF(__nv_bfloat16, __nv_bfloat162)
typedef __half half, __nv_half, nv_half;
typedef __half2 half2, __nv_half2, nv_half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
float __half2float(__half), __bfloat162float(__nv_bfloat16), __low2float(__half2), __high2float(__half2);
float2 __half22float2(__half2), __bfloat1622float2(__nv_bfloat162);
__half __float2half(float), __float2half_rn(float), __low2half(__half2), __high2half(__half2), __ushort_as_half(unsigned short), __short_as_half(short);
__half2 __float2half2_rn(float), __floats2half2_rn(float, float), __halves2half2(__half, __half), __half2half2(__half), __float22half2_rn(float2);
__nv_bfloat16 __float2bfloat16(float), __float2bfloat16_rn(float);
__nv_bfloat162 __floats2bfloat162_rn(float, float), __bfloat162bfloat162(__nv_bfloat16);
unsigned short __half_as_ushort(__half);
short __half_as_short(__half);

typedef float2 cuFloatComplex, cuComplex, cufftComplex;
typedef double2 cuDoubleComplex, cufftDoubleComplex;
typedef float cufftReal;
typedef double cufftDoubleReal;
float cuCrealf(cuFloatComplex), cuCimagf(cuFloatComplex), cuCabsf(cuFloatComplex);
double cuCreal(cuDoubleComplex), cuCimag(cuDoubleComplex), cuCabs(cuDoubleComplex);
cuFloatComplex make_cuFloatComplex(float, float), make_cuComplex(float, float), cuConjf(cuFloatComplex), cuCaddf(cuFloatComplex, cuFloatComplex);
cuFloatComplex cuCsubf(cuFloatComplex, cuFloatComplex), cuCmulf(cuFloatComplex, cuFloatComplex), cuCdivf(cuFloatComplex, cuFloatComplex);
cuDoubleComplex make_cuDoubleComplex(double, double), cuConj(cuDoubleComplex), cuCadd(cuDoubleComplex, cuDoubleComplex);
cuDoubleComplex cuCsub(cuDoubleComplex, cuDoubleComplex), cuCmul(cuDoubleComplex, cuDoubleComplex), cuCdiv(cuDoubleComplex, cuDoubleComplex);
enum cufftType { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 };
struct curandStateXORWOW { unsigned int d, v[5]; };
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
// random numbers of a state; with other arguments too, but rather a function of the program's own
template <class S> unsigned int curand(S *);
unsigned int curand(...);
template <class S> float curand_uniform(S *);
float curand_uniform(...);
template <class S> double curand_uniform_double(S *);
double curand_uniform_double(...);
template <class S> float curand_normal(S *);
float curand_normal(...);
template <class S> double curand_normal_double(S *);
double curand_normal_double(...);
template <class S> float2 curand_normal2(S *);
float2 curand_normal2(...);
template <class S> float4 curand_uniform4(S *);
float4 curand_uniform4(...);
template <class S> float4 curand_normal4(S *);
float4 curand_normal4(...);
template <class S> uint4 curand4(S *);
uint4 curand4(...);
template <class S> unsigned int curand_poisson(S *, double);
unsigned int curand_poisson(...);
void curand_init(...);
