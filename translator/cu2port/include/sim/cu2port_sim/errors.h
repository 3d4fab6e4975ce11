// hipError_t with names and texts.
#pragma once

#define CU2PORT_SIM_ERRORS(X)                                                       \
    X(hipSuccess, 0, "no error")                                                    \
    X(hipErrorInvalidValue, 1, "invalid argument")                                  \
    X(hipErrorOutOfMemory, 2, "out of memory")                                      \
    X(hipErrorNotInitialized, 3, "initialization error")                            \
    X(hipErrorDeinitialized, 4, "driver shutting down")                             \
    X(hipErrorProfilerDisabled, 5, "profiler disabled")                             \
    X(hipErrorProfilerNotInitialized, 6, "profiler is not initialized")             \
    X(hipErrorProfilerAlreadyStarted, 7, "profiler already started")                \
    X(hipErrorProfilerAlreadyStopped, 8, "profiler already stopped")                \
    X(hipErrorInvalidConfiguration, 9, "invalid configuration argument")            \
    X(hipErrorInvalidPitchValue, 12, "invalid pitch argument")                      \
    X(hipErrorInvalidSymbol, 13, "invalid device symbol")                           \
    X(hipErrorInvalidDevicePointer, 17, "invalid device pointer")                   \
    X(hipErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")      \
    X(hipErrorInsufficientDriver, 35, "driver version is insufficient")             \
    X(hipErrorMissingConfiguration, 52, "missing configuration")                    \
    X(hipErrorPriorLaunchFailure, 53, "failure of an earlier launch")               \
    X(hipErrorInvalidDeviceFunction, 98, "invalid device function")                 \
    X(hipErrorNoDevice, 100, "no device is detected")                               \
    X(hipErrorInvalidDevice, 101, "invalid device ordinal")                         \
    X(hipErrorInvalidImage, 200, "device kernel image is invalid")                  \
    X(hipErrorInvalidContext, 201, "invalid device context")                        \
    X(hipErrorContextAlreadyCurrent, 202, "context is already current")             \
    X(hipErrorMapFailed, 205, "mapping failed")                                     \
    X(hipErrorUnmapFailed, 206, "unmapping failed")                                 \
    X(hipErrorArrayIsMapped, 207, "array is mapped")                                \
    X(hipErrorAlreadyMapped, 208, "resource already mapped")                        \
    X(hipErrorNoBinaryForGpu, 209, "no kernel image for the device")                \
    X(hipErrorAlreadyAcquired, 210, "resource already acquired")                    \
    X(hipErrorNotMapped, 211, "resource not mapped")                                \
    X(hipErrorNotMappedAsArray, 212, "resource not mapped as an array")             \
    X(hipErrorNotMappedAsPointer, 213, "resource not mapped as a pointer")          \
    X(hipErrorECCNotCorrectable, 214, "uncorrectable ECC error")                    \
    X(hipErrorUnsupportedLimit, 215, "limit is not supported on this architecture") \
    X(hipErrorContextAlreadyInUse, 216, "context already in use")                   \
    X(hipErrorPeerAccessUnsupported, 217, "peer access is not supported")           \
    X(hipErrorInvalidKernelFile, 218, "invalid kernel file")                        \
    X(hipErrorInvalidGraphicsContext, 219, "invalid graphics context")              \
    X(hipErrorInvalidSource, 300, "invalid source")                                 \
    X(hipErrorFileNotFound, 301, "file not found")                                  \
    X(hipErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")    \
    X(hipErrorSharedObjectInitFailed, 303, "shared object initialization failed")   \
    X(hipErrorOperatingSystem, 304, "operating system call failed")                 \
    X(hipErrorInvalidHandle, 400, "invalid resource handle")                        \
    X(hipErrorIllegalState, 401, "the operation cannot be performed in this state") \
    X(hipErrorNotFound, 500, "named symbol not found")                              \
    X(hipErrorNotReady, 600, "device not ready")                                    \
    X(hipErrorIllegalAddress, 700, "an illegal memory access was encountered")      \
    X(hipErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
    X(hipErrorLaunchTimeOut, 702, "the launch timed out")                           \
    X(hipErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")      \
    X(hipErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")        \
    X(hipErrorSetOnActiveProcess, 708, "cannot set while device is active")         \
    X(hipErrorContextIsDestroyed, 709, "context is destroyed")                      \
    X(hipErrorAssert, 710, "device-side assertion")                                 \
    X(hipErrorHostMemoryAlreadyRegistered, 712, "host memory is already registered") \
    X(hipErrorHostMemoryNotRegistered, 713, "host memory is not registered")        \
    X(hipErrorLaunchFailure, 719, "unspecified launch failure")                     \
    X(hipErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    X(hipErrorNotSupported, 801, "operation not supported")                         \
    X(hipErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    X(hipErrorStreamCaptureInvalidated, 901, "stream capture was invalidated")      \
    X(hipErrorStreamCaptureMerge, 902, "stream capture would merge")                \
    X(hipErrorStreamCaptureUnmatched, 903, "capture was not begun in this stream")  \
    X(hipErrorStreamCaptureUnjoined, 904, "capture has unjoined work")              \
    X(hipErrorStreamCaptureIsolation, 905, "dependency would cross captures")       \
    X(hipErrorStreamCaptureImplicit, 906, "implicit dependency of a capture")       \
    X(hipErrorCapturedEvent, 907, "event was last recorded in a capturing stream")  \
    X(hipErrorStreamCaptureWrongThread, 908, "capture was begun in another thread") \
    X(hipErrorGraphExecUpdateFailure, 910, "graph update failed")                   \
    X(hipErrorInvalidChannelDescriptor, 911, "invalid channel descriptor")          \
    X(hipErrorInvalidTexture, 912, "invalid texture")                               \
    X(hipErrorUnknown, 999, "unknown error")                                        \
    X(hipErrorRuntimeMemory, 1052, "runtime memory call failed")                    \
    X(hipErrorRuntimeOther, 1053, "runtime call failed")

typedef enum hipError_t {
#define CU2PORT_SIM_X(name, value, text) name = value,
    CU2PORT_SIM_ERRORS(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
    hipErrorMemoryAllocation = 2,
    hipErrorInitializationError = 3,
    hipErrorMapBufferObjectFailed = 205,
    hipErrorInvalidResourceHandle = 400,
    hipErrorTbd
} hipError_t;

inline const char* hipGetErrorName(hipError_t e) {
    switch (static_cast<int>(e)) {
#define CU2PORT_SIM_X(name, value, text) \
    case value: return #name;
        CU2PORT_SIM_ERRORS(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
        default: return "hipErrorUnknown";
    }
}
inline const char* hipGetErrorString(hipError_t e) {
    switch (static_cast<int>(e)) {
#define CU2PORT_SIM_X(name, value, text) \
    case value: return text;
        CU2PORT_SIM_ERRORS(CU2PORT_SIM_X)
#undef CU2PORT_SIM_X
        default: return "unknown error";
    }
}
