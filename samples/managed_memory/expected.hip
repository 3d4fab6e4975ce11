// A linked structure in managed memory: host and device follow the same pointers.
#include <cstdio>
#include <cstdlib>
#include <new>

#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

// Objects of a class that derives from this live in managed memory.
struct Managed {
    static void* operator new(size_t bytes) {
        void* p = nullptr;
        if (hipMallocManaged(&p, bytes) != hipSuccess) throw std::bad_alloc();
        return p;
    }
    static void operator delete(void* p) { hipFree(p); }
};

struct Table : Managed {
    int* values = nullptr;
    int count = 0;
};

__managed__ int total;

__global__ void sum(const Table* table) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < table->count) atomicAdd(&total, table->values[i]);
}

// CUDA 13 speaks of places, earlier versions of device numbers.
static void move_to_device(const void* data, size_t bytes, int device, hipStream_t stream) {
#if CUDART_VERSION >= 13000
    hipMemLocation place = {};
    place.type = hipMemLocationTypeDevice;
    place.id = device;
    CUDA_CHECK(hipMemAdvise_v2(data, bytes, hipMemAdviseSetPreferredLocation, place));
    CUDA_CHECK(hipMemPrefetchAsync_v2(data, bytes, place, 0, stream));
#else
    CUDA_CHECK(hipMemAdvise(data, bytes, hipMemAdviseSetPreferredLocation, device));
    CUDA_CHECK(hipMemPrefetchAsync(data, bytes, device, stream));
#endif
}

int main() {
    int device = 0, concurrent = 0;
    CUDA_CHECK(hipGetDevice(&device));
    CUDA_CHECK(hipDeviceGetAttribute(&concurrent, hipDeviceAttributeConcurrentManagedAccess, device));

    Table* table = new Table;
    table->count = 10000;
    const size_t bytes = table->count * sizeof(int);
    CUDA_CHECK(hipMallocManaged(&table->values, bytes, hipMemAttachGlobal));
    int want = 0;
    for (int i = 0; i < table->count; ++i) want += table->values[i] = i % 100;
    total = 0;

    hipStream_t stream;
    CUDA_CHECK(hipStreamCreate(&stream));
    if (concurrent) move_to_device(table->values, bytes, device, stream);
    sum<<<(table->count + 255) / 256, 256, 0, stream>>>(table);
    CUDA_CHECK(hipGetLastError());
    CUDA_CHECK(hipStreamSynchronize(stream));
    CUDA_CHECK(hipStreamDestroy(stream));

    hipPointerAttribute_t attributes;
    CUDA_CHECK(hipPointerGetAttributes(&attributes, table->values));
    const bool ok = total == want && attributes.type == hipMemoryTypeManaged;
    CUDA_CHECK(hipFree(table->values));
    delete table;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
