// One source for several builds: both branches of every #if, pasted and stringised names, calls made by macros.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>
#ifdef USE_BLAS
#include <hipblas/hipblas.h>
#endif

// Pasting: the CUDA name exists only after preprocessing.
#define CU(name) hip##name
#define DEVICE_ATTRIBUTE(which, out) CU(DeviceGetAttribute)((out), hipDeviceAttribute##which, 0)
// Stringising: the message shows the call as it was written.
#define TRY(call)                                                                \
    do {                                                                         \
        if ((call) != hipSuccess) {                                             \
            std::fprintf(stderr, "failed: %s\n", #call);                         \
            std::exit(EXIT_FAILURE);                                             \
        }                                                                        \
    } while (0)
#define ALLOCATE(pointer, count) TRY(hipMalloc((void**)&(pointer), (count) * sizeof(*(pointer))))
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 127) / 128, 128>>>(__VA_ARGS__)

#if defined(__HIPCC__)
#define BOTH __host__ __device__ __forceinline__
#else
#define BOTH inline
#endif

BOTH float reciprocal_root(float x) {
#ifdef __HIP_DEVICE_COMPILE__
    return rsqrtf(x);
#else
    return 1.0f / std::sqrt(x);
#endif
}

__device__ void add_to(double* sum, double value) {
#if defined(__HIP_DEVICE_COMPILE__)
    atomicAdd(sum, value);
#else
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(sum);
    unsigned long long seen = *bits, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != seen);
#endif
}

__global__ void sum_roots(const float* x, int n, double* sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add_to(sum, reciprocal_root(x[i]));
}

#ifdef USE_BLAS
static float total(const float* dev, int n) {
    hipblasHandle_t handle;
    float result = 0.0f;
    if (hipblasCreate(&handle) != HIPBLAS_STATUS_SUCCESS) std::exit(EXIT_FAILURE);
    hipblasSasum(handle, n, dev, 1, &result);
    hipblasDestroy(handle);
    return result;
}
#else
static float total(const float* dev, int n) {
    std::vector<float> host(n);
    TRY(hipMemcpy(host.data(), dev, n * sizeof(float), hipMemcpyDeviceToHost));
    float sum = 0.0f;
    for (float value : host) sum += value;
    return sum;
}
#endif

int main() {
    const int n = 1000;
    std::vector<float> x(n);
    double want = 0.0;
    for (int i = 0; i < n; ++i) {
        x[i] = float(i + 1);
        want += reciprocal_root(x[i]);
    }
    float* dev_x;
    double* dev_sum;
    ALLOCATE(dev_x, n);
    ALLOCATE(dev_sum, 1);
    TRY(hipMemcpy(dev_x, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    TRY(hipMemset(dev_sum, 0, sizeof(double)));
    LAUNCH(sum_roots, n, dev_x, n, dev_sum);
    TRY(hipGetLastError());

    int threads = 0;
    double got = 0.0;
    TRY(DEVICE_ATTRIBUTE(MaxThreadsPerBlock, &threads));
    TRY(CU(Memcpy)(&got, dev_sum, sizeof(double), hipMemcpyDeviceToHost));
    const bool ok = std::fabs(got - want) < 1e-3 && threads >= 128 && std::fabs(total(dev_x, n) - 500500.0f) < 1.0f;
#if (!defined(CUDART_VERSION) || CUDART_VERSION >= 12000)
    std::printf("built with runtime 12 or later\n");
#endif
    TRY(CU(Free)(dev_x));
    TRY(CU(Free)(dev_sum));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
