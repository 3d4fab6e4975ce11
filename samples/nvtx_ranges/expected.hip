// Marks the phases of a run with NVTX ranges, so that a profiler shows them.
#include "cu2port/nvtx.hpp"
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime_api.h>
#include <hip/hip_runtime.h>
#include <rocprofiler-sdk-roctx/roctx.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

// A range that ends with its scope.
class Range {
public:
    explicit Range(const char* name) { roctxRangePushA(name); }
    Range(const char* name, unsigned int argb) {
        cu2port::nvtx::EventAttributes event = {};
        event.version = cu2port::nvtx::version;
        event.size = cu2port::nvtx::attributes_size;
        event.colorType = cu2port::nvtx::color_argb;
        event.color = argb;
        event.messageType = cu2port::nvtx::message_ascii;
        event.message.ascii = name;
        cu2port::nvtx::range_push(&event);
    }
    ~Range() { roctxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

__global__ void relax(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i == 0 || i == n - 1 ? in[i] : 0.5f * (in[i - 1] + in[i + 1]);
}

int main() {
    const int n = 1024;
    std::vector<float> line(n, 0.0f);
    line[0] = line[n - 1] = 1.0f;
    float *from, *to;
    CUDA_CHECK(hipMalloc(&from, n * sizeof(float)));
    CUDA_CHECK(hipMalloc(&to, n * sizeof(float)));
    {
        Range upload("upload");
        CUDA_CHECK(hipMemcpy(from, line.data(), n * sizeof(float), hipMemcpyHostToDevice));
    }
    CUDA_CHECK(hipProfilerStart());
    const roctx_range_id_t whole = roctxRangeStartA("relaxation");
    for (int step = 0; step < 10; ++step) {
        Range each("step", 0xff00ff00u);
        relax<<<n / 256, 256>>>(from, to, n);
        CUDA_CHECK(hipGetLastError());
        float* swap = from;
        from = to;
        to = swap;
    }
    CUDA_CHECK(hipDeviceSynchronize());
    roctxRangeStop(whole);
    roctxMarkA("done");
    CUDA_CHECK(hipProfilerStop());

    CUDA_CHECK(hipMemcpy(line.data(), from, n * sizeof(float), hipMemcpyDeviceToHost));
    bool ok = line[0] == 1.0f && line[n - 1] == 1.0f && line[n / 2] == 0.0f;
    for (int i = 0; i < n / 2; ++i) ok = ok && line[i] == line[n - 1 - i];
    CUDA_CHECK(hipFree(from));
    CUDA_CHECK(hipFree(to));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
