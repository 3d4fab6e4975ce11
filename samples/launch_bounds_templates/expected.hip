// Launches with template arguments, from functions, macros and a kernel pointer.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernel.cuh"

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define DISPATCH(items)                                                                            \
    case items:                                                                                    \
        combine<T, items, Op><<<(n + kThreads * items - 1) / (kThreads * items), kThreads, 0, stream>>>( \
            a, b, out, n, op);                                                                     \
        break

template <typename T, typename Op>
void launch(int items, const T* a, const T* b, T* out, int n, Op op, hipStream_t stream) {
    switch (items) {
        DISPATCH(1);
        DISPATCH(2);
        DISPATCH(4);
        default:
            std::fprintf(stderr, "no kernel for %d items\n", items);
            std::exit(EXIT_FAILURE);
    }
    CUDA_CHECK(hipGetLastError());
}

template <typename T, typename Op>
bool run(int items, Op op) {
    const int n = 3001;
    T *a, *b, *out;
    CUDA_CHECK(hipMalloc(&a, n * sizeof(T)));
    CUDA_CHECK(hipMalloc(&b, n * sizeof(T)));
    CUDA_CHECK(hipMalloc(&out, n * sizeof(T)));

    const dim3 grid((n + kThreads - 1) / kThreads), block(kThreads);
    fill<T><<<grid, block>>>(a, n, T(3));
    fill<<<grid, block>>>(b, n, T(5));
    launch<T>(items, a, b, out, n, op, nullptr);
    std::vector<T> host(n);
    CUDA_CHECK(hipMemcpy(host.data(), out, n * sizeof(T), hipMemcpyDeviceToHost));
    bool ok = true;
    for (const T& value : host) ok = ok && value == op(T(3), T(5));

    void (*kernel)(T*, int, T) = &fill<T>;
    int length = n;
    T value = T(9);
    void* args[] = {&out, &length, &value};
    CUDA_CHECK(hipLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, args, 0, nullptr));
    CUDA_CHECK(hipMemcpy(host.data(), out, n * sizeof(T), hipMemcpyDeviceToHost));
    for (const T& got : host) ok = ok && got == T(9);

    CUDA_CHECK(hipFree(a));
    CUDA_CHECK(hipFree(b));
    CUDA_CHECK(hipFree(out));
    return ok;
}

int main() {
    int min_grid = 0, best_block = 0;
    CUDA_CHECK(hipOccupancyMaxPotentialBlockSize(&min_grid, &best_block, combine<float, 4, Plus>, 0, 0));
    bool ok = best_block > 0 && best_block <= kThreads;
    ok = run<float>(1, Plus()) && ok;
    ok = run<int>(2, Times()) && ok;
    ok = run<double>(4, Plus()) && ok;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
