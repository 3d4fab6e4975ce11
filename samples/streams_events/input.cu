// Copies, computes and copies back in four streams at once, and times the whole with events.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(expr)                                                                 \
    if (cudaError_t status = (expr); status != cudaSuccess) {                       \
        std::fprintf(stderr, #expr " failed: %s\n", cudaGetErrorString(status));    \
        std::exit(EXIT_FAILURE);                                                    \
    }

__global__ void square(float* data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) data[i] *= data[i];
}

static void CUDART_CB count_done(cudaStream_t stream, cudaError_t status, void* counter) {
    (void)stream;
    if (status == cudaSuccess) ++*static_cast<int*>(counter);
}

int main() {
    constexpr int kStreams = 4;
    constexpr int kPerStream = 1 << 18;
    constexpr int kTotal = kStreams * kPerStream;

    float* host = nullptr;
    float* dev = nullptr;
    CHECK(cudaHostAlloc((void**)&host, kTotal * sizeof(float), cudaHostAllocDefault));
    CHECK(cudaMalloc((void**)&dev, kTotal * sizeof(float)));
    for (int i = 0; i < kTotal; ++i) host[i] = float(i % 1000);

    int least = 0, greatest = 0;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t streams[kStreams];
    for (int s = 0; s < kStreams; ++s) {
        CHECK(cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, s == 0 ? greatest : least));
    }
    cudaEvent_t start, stop, done[kStreams];
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    int callbacks[kStreams] = {};
    CHECK(cudaEventRecord(start, streams[0]));
    for (int s = 0; s < kStreams; ++s) {
        const int at = s * kPerStream;
        const size_t bytes = kPerStream * sizeof(float);
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
        CHECK(cudaStreamWaitEvent(streams[s], start, 0));
        CHECK(cudaMemcpyAsync(dev + at, host + at, bytes, cudaMemcpyHostToDevice, streams[s]));
        square<<<128, 256, 0, streams[s]>>>(dev + at, kPerStream);
        CHECK(cudaPeekAtLastError());
        CHECK(cudaMemcpyAsync(host + at, dev + at, bytes, cudaMemcpyDeviceToHost, streams[s]));
        CHECK(cudaStreamAddCallback(streams[s], count_done, &callbacks[s], 0));
        CHECK(cudaEventRecord(done[s], streams[s]));
        if (s != 0) CHECK(cudaStreamWaitEvent(streams[0], done[s], 0));
    }
    CHECK(cudaEventRecord(stop, streams[0]));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = 0.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

    bool ok = milliseconds > 0.0f;
    for (int s = 0; s < kStreams; ++s) {
        CHECK(cudaStreamSynchronize(streams[s]));
        ok = ok && cudaStreamQuery(streams[s]) != cudaErrorNotReady && callbacks[s] == 1;
        CHECK(cudaEventDestroy(done[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }
    for (int i = 0; i < kTotal; ++i) ok = ok && host[i] == float(i % 1000) * float(i % 1000);

    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(dev));
    std::printf("%s (%d streams)\n", ok ? "PASS" : "FAIL", kStreams);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
