// at::cuda and c10::cuda for torch extensions in the simulator: streams, guards, checks, and what they ask of a device.
// torch's own headers of these names declare functions of libtorch_cuda, which a torch for the CPU lacks.
//
// The device of a tensor is the host's, so guards change nothing, and there is one stream that is current in each thread.

#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#define C10_CUDA_CHECK(call)                                                                          \
    do {                                                                                              \
        const hipError_t cu2port_error = (call);                                                      \
        TORCH_CHECK(cu2port_error == hipSuccess, "CUDA error: ", hipGetErrorString(cu2port_error));   \
    } while (0)
#define C10_CUDA_CHECK_WARN(call)                                                                     \
    do {                                                                                              \
        const hipError_t cu2port_error = (call);                                                      \
        if (cu2port_error != hipSuccess) TORCH_WARN("CUDA warning: ", hipGetErrorString(cu2port_error)); \
    } while (0)
#define C10_CUDA_ERROR_HANDLED(call) (call)
#define C10_CUDA_IGNORE_ERROR(call) static_cast<void>(call)
#define C10_CUDA_CLEAR_ERROR() static_cast<void>(hipGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(hipGetLastError())
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define TORCH_CUDABLAS_CHECK(call) TORCH_CHECK((call) == HIPBLAS_STATUS_SUCCESS, "CUDA error of cuBLAS: " #call)

namespace c10::cuda {

inline DeviceIndex device_count() noexcept {
    int n = 0;
    return hipGetDeviceCount(&n) == hipSuccess ? static_cast<DeviceIndex>(n) : DeviceIndex{0};
}
inline DeviceIndex device_count_ensure_non_zero() { return device_count(); }
inline DeviceIndex current_device() {
    int n = 0;
    C10_CUDA_CHECK(hipGetDevice(&n));
    return static_cast<DeviceIndex>(n);
}
inline void set_device(DeviceIndex n) { C10_CUDA_CHECK(hipSetDevice(n < 0 ? 0 : n)); }
inline DeviceIndex ExchangeDevice(DeviceIndex n) {
    const DeviceIndex before = current_device();
    if (n >= 0) set_device(n);
    return before;
}
inline DeviceIndex MaybeExchangeDevice(DeviceIndex n) { return ExchangeDevice(n); }
inline hipError_t SetDevice(DeviceIndex n, bool = false) { return hipSetDevice(n < 0 ? 0 : n); }
inline hipError_t MaybeSetDevice(DeviceIndex n) { return SetDevice(n); }
inline hipError_t GetDevice(DeviceIndex* n) { return *n = current_device(), hipSuccess; }
inline void device_synchronize() { C10_CUDA_CHECK(hipDeviceSynchronize()); }
inline void stream_synchronize(hipStream_t stream) { C10_CUDA_CHECK(hipStreamSynchronize(stream)); }

class CUDAStream {
public:
    enum Unchecked { UNCHECKED };
    CUDAStream() = default;
    explicit CUDAStream(Stream stream) : CUDAStream(UNCHECKED, stream) {}
    CUDAStream(Unchecked, Stream stream) : stream_(reinterpret_cast<hipStream_t>(stream.id())) {}
    explicit CUDAStream(hipStream_t stream) : stream_(stream) {}
    bool operator==(const CUDAStream& other) const noexcept { return stream_ == other.stream_; }
    bool operator!=(const CUDAStream& other) const noexcept { return stream_ != other.stream_; }
    operator hipStream_t() const { return stream_; }
    operator Stream() const { return unwrap(); }
    hipStream_t stream() const { return stream_; }
    Stream unwrap() const { return Stream(Stream::UNSAFE, device(), id()); }
    StreamId id() const { return reinterpret_cast<StreamId>(stream_); }
    DeviceType device_type() const { return DeviceType::CPU; }
    DeviceIndex device_index() const { return 0; }
    Device device() const { return Device(DeviceType::CPU); }
    bool query() const { return hipStreamQuery(stream_) == hipSuccess; }
    void synchronize() const { stream_synchronize(stream_); }
    int priority() const { return 0; }

private:
    hipStream_t stream_ = nullptr;
};

inline CUDAStream& cu2port_current() {
    thread_local CUDAStream stream;
    return stream;
}
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return cu2port_current(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return CUDAStream(); }
inline void setCurrentCUDAStream(CUDAStream stream) { cu2port_current() = stream; }
inline CUDAStream getStreamFromExternal(hipStream_t stream, DeviceIndex) { return CUDAStream(stream); }
template <typename Priority = bool>
CUDAStream getStreamFromPool(Priority = {}, DeviceIndex = -1) {
    hipStream_t stream;
    C10_CUDA_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return CUDAStream(stream);
}

class CUDAGuard {
public:
    explicit CUDAGuard(DeviceIndex) {}
    explicit CUDAGuard(Device) {}
    CUDAGuard(const CUDAGuard&) = delete;
    CUDAGuard& operator=(const CUDAGuard&) = delete;
    void set_device(Device) {}
    void reset_device(Device) {}
    void set_index(DeviceIndex) {}
    Device original_device() const { return Device(DeviceType::CPU); }
    Device current_device() const { return Device(DeviceType::CPU); }
};

class OptionalCUDAGuard {
public:
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device>) {}
    explicit OptionalCUDAGuard(std::optional<DeviceIndex>) {}
    OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
    OptionalCUDAGuard& operator=(const OptionalCUDAGuard&) = delete;
    void set_device(Device) {}
    void reset_device(Device) {}
    void set_index(DeviceIndex) {}
    void reset() {}
};

class CUDAStreamGuard {
public:
    explicit CUDAStreamGuard(CUDAStream stream) : before_(cu2port_current()) { cu2port_current() = stream; }
    explicit CUDAStreamGuard(Stream stream) : CUDAStreamGuard(CUDAStream(stream)) {}
    CUDAStreamGuard(const CUDAStreamGuard&) = delete;
    CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
    ~CUDAStreamGuard() { cu2port_current() = before_; }
    void reset_stream(Stream stream) { cu2port_current() = CUDAStream(stream); }
    CUDAStream original_stream() const { return before_; }
    CUDAStream current_stream() const { return cu2port_current(); }

private:
    CUDAStream before_;
};

class OptionalCUDAStreamGuard {
public:
    OptionalCUDAStreamGuard() = default;
    explicit OptionalCUDAStreamGuard(Stream stream) { reset_stream(stream); }
    explicit OptionalCUDAStreamGuard(std::optional<Stream> stream) {
        if (stream) reset_stream(*stream);
    }
    void reset_stream(Stream stream) {
        if (!guard_) guard_ = std::make_unique<CUDAStreamGuard>(stream);
        else guard_->reset_stream(stream);
    }
    void reset() { guard_.reset(); }

private:
    std::unique_ptr<CUDAStreamGuard> guard_;
};

class CUDAEvent {
public:
    explicit CUDAEvent(unsigned flags = hipEventDisableTiming) { C10_CUDA_CHECK(hipEventCreateWithFlags(&event_, flags)); }
    CUDAEvent(const CUDAEvent&) = delete;
    CUDAEvent& operator=(const CUDAEvent&) = delete;
    CUDAEvent(CUDAEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    ~CUDAEvent() {
        if (event_) static_cast<void>(hipEventDestroy(event_));
    }
    operator hipEvent_t() const { return event_; }
    hipEvent_t event() const { return event_; }
    bool isCreated() const { return event_ != nullptr; }
    bool query() const { return hipEventQuery(event_) == hipSuccess; }
    void record() { record(getCurrentCUDAStream()); }
    void record(const CUDAStream& stream) { C10_CUDA_CHECK(hipEventRecord(event_, stream)); }
    void recordOnce(const CUDAStream& stream) { record(stream); }
    void block(const CUDAStream& stream) { C10_CUDA_CHECK(hipStreamWaitEvent(stream, event_, 0)); }
    void synchronize() const { C10_CUDA_CHECK(hipEventSynchronize(event_)); }
    float elapsed_time(const CUDAEvent& end) const {
        float ms = 0;
        C10_CUDA_CHECK(hipEventElapsedTime(&ms, event_, end.event_));
        return ms;
    }

private:
    hipEvent_t event_ = nullptr;
};

namespace CUDACachingAllocator {
inline void* raw_alloc(std::size_t n) {
    void* p = nullptr;
    C10_CUDA_CHECK(hipMalloc(&p, n));
    return p;
}
inline void* raw_alloc_with_stream(std::size_t n, hipStream_t) { return raw_alloc(n); }
inline void raw_delete(void* p) { C10_CUDA_CHECK(hipFree(p)); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, CUDAStream) {}

class CUDAAllocator : public Allocator {
public:
    DataPtr allocate(std::size_t n) override {
        void* p = raw_alloc(n ? n : 1);
        return {p, p, &raw_delete, Device(DeviceType::CPU)};
    }
    DeleterFnPtr raw_deleter() const override { return &raw_delete; }
    void copy_data(void* to, const void* from, std::size_t n) const override { default_copy_data(to, from, n); }
    void* raw_alloc_with_stream(std::size_t n, hipStream_t) { return CUDACachingAllocator::raw_alloc(n); }
    void recordStream(const DataPtr&, CUDAStream) {}
    void emptyCache() {}
};
inline CUDAAllocator* get() {
    static CUDAAllocator one;
    return &one;
}
}  // namespace CUDACachingAllocator

}  // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;

inline bool is_available() { return device_count() > 0; }
inline int64_t getNumGPUs() { return device_count(); }
inline hipDeviceProp_t* getDeviceProperties(c10::DeviceIndex device) {
    static hipDeviceProp_t known[16];
    hipDeviceProp_t* out = &known[device < 0 ? 0 : device % 16];
    C10_CUDA_CHECK(hipGetDeviceProperties(out, device < 0 ? 0 : device));
    return out;
}
inline hipDeviceProp_t* getCurrentDeviceProperties() { return getDeviceProperties(current_device()); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline bool canDeviceAccessPeer(c10::DeviceIndex, c10::DeviceIndex) { return true; }
inline c10::Allocator* getCUDADeviceAllocator() { return CUDACachingAllocator::get(); }
}  // namespace at::cuda
