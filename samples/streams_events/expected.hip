// Copies, computes and copies back in four streams at once, and times the whole with events.
#include <cstdio>
#include <cstdlib>

#include <hip/hip_runtime.h>

#define CHECK(expr)                                                                 \
    if (hipError_t status = (expr); status != hipSuccess) {                       \
        std::fprintf(stderr, #expr " failed: %s\n", hipGetErrorString(status));    \
        std::exit(EXIT_FAILURE);                                                    \
    }

__global__ void square(float* data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) data[i] *= data[i];
}

static void count_done(hipStream_t stream, hipError_t status, void* counter) {
    (void)stream;
    if (status == hipSuccess) ++*static_cast<int*>(counter);
}

int main() {
    constexpr int kStreams = 4;
    constexpr int kPerStream = 1 << 18;
    constexpr int kTotal = kStreams * kPerStream;

    float* host = nullptr;
    float* dev = nullptr;
    CHECK(hipHostMalloc((void**)&host, kTotal * sizeof(float), hipHostMallocDefault));
    CHECK(hipMalloc((void**)&dev, kTotal * sizeof(float)));
    for (int i = 0; i < kTotal; ++i) host[i] = float(i % 1000);

    int least = 0, greatest = 0;
    CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    hipStream_t streams[kStreams];
    for (int s = 0; s < kStreams; ++s) {
        CHECK(hipStreamCreateWithPriority(&streams[s], hipStreamNonBlocking, s == 0 ? greatest : least));
    }
    hipEvent_t start, stop, done[kStreams];
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));

    int callbacks[kStreams] = {};
    CHECK(hipEventRecord(start, streams[0]));
    for (int s = 0; s < kStreams; ++s) {
        const int at = s * kPerStream;
        const size_t bytes = kPerStream * sizeof(float);
        CHECK(hipEventCreateWithFlags(&done[s], hipEventDisableTiming));
        CHECK(hipStreamWaitEvent(streams[s], start, 0));
        CHECK(hipMemcpyAsync(dev + at, host + at, bytes, hipMemcpyHostToDevice, streams[s]));
        square<<<128, 256, 0, streams[s]>>>(dev + at, kPerStream);
        CHECK(hipPeekAtLastError());
        CHECK(hipMemcpyAsync(host + at, dev + at, bytes, hipMemcpyDeviceToHost, streams[s]));
        CHECK(hipStreamAddCallback(streams[s], count_done, &callbacks[s], 0));
        CHECK(hipEventRecord(done[s], streams[s]));
        if (s != 0) CHECK(hipStreamWaitEvent(streams[0], done[s], 0));
    }
    CHECK(hipEventRecord(stop, streams[0]));
    CHECK(hipEventSynchronize(stop));
    float milliseconds = 0.0f;
    CHECK(hipEventElapsedTime(&milliseconds, start, stop));

    bool ok = milliseconds > 0.0f;
    for (int s = 0; s < kStreams; ++s) {
        CHECK(hipStreamSynchronize(streams[s]));
        ok = ok && hipStreamQuery(streams[s]) != hipErrorNotReady && callbacks[s] == 1;
        CHECK(hipEventDestroy(done[s]));
        CHECK(hipStreamDestroy(streams[s]));
    }
    for (int i = 0; i < kTotal; ++i) ok = ok && host[i] == float(i % 1000) * float(i % 1000);

    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    CHECK(hipHostFree(host));
    CHECK(hipFree(dev));
    std::printf("%s (%d streams)\n", ok ? "PASS" : "FAIL", kStreams);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
