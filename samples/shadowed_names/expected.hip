// Names that only look like CUDA's. What the program declares itself keeps its name; so do strings and comments.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <hip/hip_runtime.h>

#define REGISTER_BACKEND(kind) static const char* const backend_##kind = "cuda" #kind

REGISTER_BACKEND(Malloc);  // becomes the text "cudaMalloc": a name in our registry, not a call

namespace pool {
// A pool of our own, spelled like the runtime on purpose.
static int live = 0;
inline int cudaMalloc(void** out, size_t bytes) {
    *out = std::malloc(bytes);
    ++live;
    return *out ? 0 : 1;
}
inline void cudaFree(void* p) {
    std::free(p);
    --live;
}
}  // namespace pool

struct Trace {
    int cudaEventRecord = 0;  // how many were seen
    std::string cudaGetErrorString() const { return "trace of cudaEventRecord: " + std::to_string(cudaEventRecord); }
    Trace& cudaMemcpy() {
        ++cudaEventRecord;
        return *this;
    }
};

enum class Phase { cudaSuccess, cudaErrorUnknown };

struct dim4 {
    int threadIdx;
    int blockIdx;
};

__global__ void mark(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

int main() {
    void* raw = nullptr;
    bool ok = pool::cudaMalloc(&raw, 64) == 0 && pool::live == 1;
    pool::cudaFree(raw);
    {
        using namespace pool;
        ok = ok && live == 0;
    }

    Trace trace;
    trace.cudaMemcpy().cudaMemcpy();
    ok = ok && trace.cudaGetErrorString() == "trace of cudaEventRecord: 2";
    ok = ok && std::strcmp(backend_Malloc, "cudaMalloc") == 0;
    const Phase phase = Phase::cudaSuccess;
    const dim4 place = {1, 2};
    ok = ok && phase != Phase::cudaErrorUnknown && place.threadIdx + place.blockIdx == 3;

    int n = 100, *dev = nullptr;
    if (::hipMalloc((void**)&dev, n * sizeof(int)) != ::hipSuccess) {
        std::fprintf(stderr, "cudaMalloc failed: %s\n", hipGetErrorString(hipGetLastError()));
        return EXIT_FAILURE;
    }
    mark<<<1, 128>>>(dev, n);
    std::vector<int> host(n);
    ok = ok && hipMemcpy(host.data(), dev, n * sizeof(int), hipMemcpyDeviceToHost) == hipSuccess;
    for (int i = 0; i < n; ++i) ok = ok && host[i] == i;
    ok = ok && ::hipFree(dev) == hipSuccess;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
