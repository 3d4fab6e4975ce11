// Prints what the program needs to know about each device, and picks the one with most memory.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

static const char* kind_of(cudaMemoryType type) {
    switch (type) {
        case cudaMemoryTypeUnregistered: return "unregistered";
        case cudaMemoryTypeHost: return "host";
        case cudaMemoryTypeDevice: return "device";
        case cudaMemoryTypeManaged: return "managed";
    }
    return "unknown";
}

static bool can_use_tensor_cores(const cudaDeviceProp& prop) { return prop.major >= 7; }

int main() {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver || count == 0) {
        std::printf("SKIP: no device (%s)\n", cudaGetErrorString(status));
        return EXIT_SUCCESS;
    }

    int runtime = 0, driver = 0, best = 0;
    size_t most = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    std::printf("runtime %d.%d, driver %d.%d, built with %d\n", runtime / 1000, runtime % 1000 / 10, driver / 1000,
                driver % 1000 / 10, CUDART_VERSION);
    for (int device = 0; device < count; ++device) {
        cudaDeviceProp prop;
        if (cudaGetDeviceProperties(&prop, device) != cudaSuccess) return EXIT_FAILURE;
        int clock_khz = 0, peer = 0;
        cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
        if (device != 0) cudaDeviceCanAccessPeer(&peer, 0, device);
        std::printf("%d: %s, %d.%d, %d SMs of %d threads, %zu MiB, %zu KiB shared, warps of %d, %d MHz%s%s\n", device,
                    prop.name, prop.major, prop.minor, prop.multiProcessorCount, prop.maxThreadsPerMultiProcessor,
                    prop.totalGlobalMem >> 20, prop.sharedMemPerBlock >> 10, prop.warpSize, clock_khz / 1000,
                    can_use_tensor_cores(prop) ? ", tensor cores" : "", peer ? ", peer of 0" : "");
        if (prop.totalGlobalMem > most) {
            most = prop.totalGlobalMem;
            best = device;
        }
    }

    if (cudaSetDevice(best) != cudaSuccess) return EXIT_FAILURE;
    size_t free_bytes = 0, total_bytes = 0;
    void* p = nullptr;
    cudaPointerAttributes where;
    bool ok = cudaMalloc(&p, 1 << 20) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess &&
              cudaPointerGetAttributes(&where, p) == cudaSuccess;
    ok = ok && where.device == best && where.type == cudaMemoryTypeDevice && free_bytes < total_bytes;
    std::printf("using %d, allocation in %s memory\n", best, ok ? kind_of(where.type) : "no");
    ok = cudaFree(p) == cudaSuccess && cudaDeviceReset() == cudaSuccess && ok;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
