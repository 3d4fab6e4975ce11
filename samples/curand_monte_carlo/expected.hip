// Estimates pi by throwing darts: numbers drawn inside a kernel, then drawn by the host library.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define CURAND_CHECK(call)                                                                  \
    do {                                                                                    \
        if ((call) != HIPRAND_STATUS_SUCCESS) {                                              \
            std::fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);          \
            std::exit(EXIT_FAILURE);                                                        \
        }                                                                                   \
    } while (0)

__global__ void seed_states(hiprandState* states, unsigned long long seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    hiprand_init(seed, id, 0, &states[id]);
}

__global__ void throw_darts(hiprandState* states, int darts, unsigned long long* hits) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    hiprandState local = states[id];
    unsigned int mine = 0;
    for (int i = 0; i < darts; ++i) {
        float x = hiprand_uniform(&local);
        float y = hiprand_uniform(&local);
        mine += x * x + y * y <= 1.0f;
    }
    states[id] = local;
    atomicAdd(hits, (unsigned long long)mine);
}

__global__ void count_hits(const float* xy, int n, unsigned long long* hits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && xy[2 * i] * xy[2 * i] + xy[2 * i + 1] * xy[2 * i + 1] <= 1.0f) atomicAdd(hits, 1ull);
}

int main() {
    const int threads = 64 * 256, darts = 256, host_darts = 1 << 20;
    hiprandState* states;
    float* xy;
    unsigned long long* dev_hits;
    CUDA_CHECK(hipMalloc(&states, threads * sizeof(hiprandState)));
    CUDA_CHECK(hipMalloc(&xy, 2 * host_darts * sizeof(float)));
    CUDA_CHECK(hipMalloc(&dev_hits, 2 * sizeof(unsigned long long)));
    CUDA_CHECK(hipMemset(dev_hits, 0, 2 * sizeof(unsigned long long)));

    seed_states<<<64, 256>>>(states, 2024ull);
    throw_darts<<<64, 256>>>(states, darts, &dev_hits[0]);
    CUDA_CHECK(hipGetLastError());

    hiprandGenerator_t generator;
    CURAND_CHECK(hiprandCreateGenerator(&generator, HIPRAND_RNG_PSEUDO_PHILOX4_32_10));
    CURAND_CHECK(hiprandSetPseudoRandomGeneratorSeed(generator, 7ull));
    CURAND_CHECK(hiprandGenerateUniform(generator, xy, 2 * host_darts));
    count_hits<<<host_darts / 256, 256>>>(xy, host_darts, &dev_hits[1]);
    CUDA_CHECK(hipGetLastError());

    unsigned long long hits[2];
    CUDA_CHECK(hipMemcpy(hits, dev_hits, sizeof(hits), hipMemcpyDeviceToHost));
    const double pi_device = 4.0 * hits[0] / (double(threads) * darts);
    const double pi_host = 4.0 * hits[1] / double(host_darts);
    const bool ok = std::fabs(pi_device - M_PI) < 0.01 && std::fabs(pi_host - M_PI) < 0.01;

    CURAND_CHECK(hiprandDestroyGenerator(generator));
    CUDA_CHECK(hipFree(states));
    CUDA_CHECK(hipFree(xy));
    CUDA_CHECK(hipFree(dev_hits));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
