// Prints what the program needs to know about each device, and picks the one with most memory.
#include "cu2port/warp.hpp"
#include <cstdio>
#include <cstdlib>

#include <hip/hip_runtime.h>

static const char* kind_of(hipMemoryType type) {
    switch (type) {
        case hipMemoryTypeUnregistered: return "unregistered";
        case hipMemoryTypeHost: return "host";
        case hipMemoryTypeDevice: return "device";
        case hipMemoryTypeManaged: return "managed";
    }
    return "unknown";
}

static bool can_use_tensor_cores(const hipDeviceProp_t& prop) { return prop.major >= 7; }

int main() {
    int count = 0;
    hipError_t status = hipGetDeviceCount(&count);
    if (status == hipErrorNoDevice || status == hipErrorInsufficientDriver || count == 0) {
        std::printf("SKIP: no device (%s)\n", hipGetErrorString(status));
        return EXIT_SUCCESS;
    }

    int runtime = 0, driver = 0, best = 0;
    size_t most = 0;
    hipRuntimeGetVersion(&runtime);
    hipDriverGetVersion(&driver);
    std::printf("runtime %d.%d, driver %d.%d, built with %d\n", runtime / 10000000, runtime % 10000000 / 100000, driver / 10000000,
                driver % 10000000 / 100000, HIP_VERSION);
    for (int device = 0; device < count; ++device) {
        hipDeviceProp_t prop;
        if (hipGetDeviceProperties(&prop, device) != hipSuccess) return EXIT_FAILURE;
        int clock_khz = 0, peer = 0;
        hipDeviceGetAttribute(&clock_khz, hipDeviceAttributeClockRate, device);
        if (device != 0) hipDeviceCanAccessPeer(&peer, 0, device);
        std::printf("%d: %s, %d.%d, %d SMs of %d threads, %zu MiB, %zu KiB shared, warps of %d, %d MHz%s%s\n", device,
                    prop.name, prop.major, prop.minor, prop.multiProcessorCount, prop.maxThreadsPerMultiProcessor,
                    prop.totalGlobalMem >> 20, prop.sharedMemPerBlock >> 10, cu2port::warp::size, clock_khz / 1000,
                    can_use_tensor_cores(prop) ? ", tensor cores" : "", peer ? ", peer of 0" : "");
        if (prop.totalGlobalMem > most) {
            most = prop.totalGlobalMem;
            best = device;
        }
    }

    if (hipSetDevice(best) != hipSuccess) return EXIT_FAILURE;
    size_t free_bytes = 0, total_bytes = 0;
    void* p = nullptr;
    hipPointerAttribute_t where;
    bool ok = hipMalloc(&p, 1 << 20) == hipSuccess && hipMemGetInfo(&free_bytes, &total_bytes) == hipSuccess &&
              hipPointerGetAttributes(&where, p) == hipSuccess;
    ok = ok && where.device == best && where.type == hipMemoryTypeDevice && free_bytes < total_bytes;
    std::printf("using %d, allocation in %s memory\n", best, ok ? kind_of(where.type) : "no");
    ok = hipFree(p) == hipSuccess && hipDeviceReset() == hipSuccess && ok;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
