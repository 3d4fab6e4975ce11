// A queue of jobs shared by all threads, with libcu++: a device-scope counter, a span and an optional.
#include "cu2port/atomic.hpp"
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <atomic>
#include <optional>
#include <span>
#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

using Counter = cu2port::atomic<int, cu2port::thread_scope_device>;

__device__ std::optional<int> next_job(Counter& taken, int jobs) {
    const int job = taken.fetch_add(1, std::memory_order_relaxed);
    if (job >= jobs) return std::nullopt;
    return job;
}

__global__ void work(Counter* taken, int* results, int jobs) {
    std::span<int> out(results, jobs);
    while (auto job = next_job(*taken, jobs)) {
        cu2port::atomic_ref<int, cu2port::thread_scope_device> slot(out[*job]);
        slot.store(*job * *job, std::memory_order_release);
    }
}

int main() {
    const int jobs = 5000;
    Counter* taken;
    int* results;
    CUDA_CHECK(hipMalloc(&taken, sizeof(Counter)));
    CUDA_CHECK(hipMalloc(&results, jobs * sizeof(int)));
    CUDA_CHECK(hipMemset(taken, 0, sizeof(Counter)));
    work<<<16, 128>>>(taken, results, jobs);
    CUDA_CHECK(hipGetLastError());

    std::vector<int> host(jobs);
    CUDA_CHECK(hipMemcpy(host.data(), results, jobs * sizeof(int), hipMemcpyDeviceToHost));
    bool ok = true;
    for (int i = 0; i < jobs; ++i) ok = ok && host[i] == i * i;
    CUDA_CHECK(hipFree(taken));
    CUDA_CHECK(hipFree(results));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
