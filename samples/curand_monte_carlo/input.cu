// Estimates pi by throwing darts: numbers drawn inside a kernel, then drawn by the host library.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t err_ = (call);                                                       \
        if (err_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define CURAND_CHECK(call)                                                                  \
    do {                                                                                    \
        if ((call) != CURAND_STATUS_SUCCESS) {                                              \
            std::fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);          \
            std::exit(EXIT_FAILURE);                                                        \
        }                                                                                   \
    } while (0)

__global__ void seed_states(curandState* states, unsigned long long seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, id, 0, &states[id]);
}

__global__ void throw_darts(curandState* states, int darts, unsigned long long* hits) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    curandState local = states[id];
    unsigned int mine = 0;
    for (int i = 0; i < darts; ++i) {
        float x = curand_uniform(&local);
        float y = curand_uniform(&local);
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
    curandState* states;
    float* xy;
    unsigned long long* dev_hits;
    CUDA_CHECK(cudaMalloc(&states, threads * sizeof(curandState)));
    CUDA_CHECK(cudaMalloc(&xy, 2 * host_darts * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dev_hits, 2 * sizeof(unsigned long long)));
    CUDA_CHECK(cudaMemset(dev_hits, 0, 2 * sizeof(unsigned long long)));

    seed_states<<<64, 256>>>(states, 2024ull);
    throw_darts<<<64, 256>>>(states, darts, &dev_hits[0]);
    CUDA_CHECK(cudaGetLastError());

    curandGenerator_t generator;
    CURAND_CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, 7ull));
    CURAND_CHECK(curandGenerateUniform(generator, xy, 2 * host_darts));
    count_hits<<<host_darts / 256, 256>>>(xy, host_darts, &dev_hits[1]);
    CUDA_CHECK(cudaGetLastError());

    unsigned long long hits[2];
    CUDA_CHECK(cudaMemcpy(hits, dev_hits, sizeof(hits), cudaMemcpyDeviceToHost));
    const double pi_device = 4.0 * hits[0] / (double(threads) * darts);
    const double pi_host = 4.0 * hits[1] / double(host_darts);
    const bool ok = std::fabs(pi_device - M_PI) < 0.01 && std::fabs(pi_host - M_PI) < 0.01;

    CURAND_CHECK(curandDestroyGenerator(generator));
    CUDA_CHECK(cudaFree(states));
    CUDA_CHECK(cudaFree(xy));
    CUDA_CHECK(cudaFree(dev_hits));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
