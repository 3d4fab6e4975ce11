// cu2port stream: libcu++'s reference to a stream.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// It owns no stream. What fails throws std::runtime_error, where CUDA throws cuda::cuda_error.
#ifndef CU2PORT_STREAM_HPP
#define CU2PORT_STREAM_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace cu2port {

class stream_ref {
public:
    using value_type = hipStream_t;

    stream_ref() noexcept : stream(nullptr) {}
    stream_ref(hipStream_t s) noexcept : stream(s) {}
    stream_ref(int) = delete;
    stream_ref(std::nullptr_t) = delete;

    hipStream_t get() const noexcept { return stream; }

    // Waits until all work on the stream is done. `wait` is its older name.
    void sync() const { check(hipStreamSynchronize(stream), "hipStreamSynchronize"); }
    void wait() const { sync(); }

    // Whether all work on the stream is done. `ready` is its older name.
    bool is_done() const {
        const hipError_t status = hipStreamQuery(stream);
        if (status == hipErrorNotReady) return false;
        check(status, "hipStreamQuery");
        return true;
    }
    bool ready() const { return is_done(); }

    // Lets work that is given to this stream later wait for all work that another one has now.
    void wait(stream_ref other) const {
        hipEvent_t event;
        check(hipEventCreateWithFlags(&event, hipEventDisableTiming), "hipEventCreateWithFlags");
        hipError_t status = hipEventRecord(event, other.stream);
        if (status == hipSuccess) status = hipStreamWaitEvent(stream, event, 0);
        const hipError_t destroyed = hipEventDestroy(event);
        check(status != hipSuccess ? status : destroyed, "hipStreamWaitEvent");
    }

    int priority() const {
        int found = 0;
        check(hipStreamGetPriority(stream, &found), "hipStreamGetPriority");
        return found;
    }

    friend bool operator==(stream_ref a, stream_ref b) noexcept { return a.stream == b.stream; }
    friend bool operator!=(stream_ref a, stream_ref b) noexcept { return a.stream != b.stream; }

private:
    static void check(hipError_t status, const char *what) {
        if (status != hipSuccess) throw std::runtime_error(std::string(what) + ": " + hipGetErrorString(status));
    }

    hipStream_t stream;
};

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif
