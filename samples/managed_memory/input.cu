// A linked structure in managed memory: host and device follow the same pointers.
#include <cstdio>
#include <cstdlib>
#include <new>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t err_ = (call);                                                       \
        if (err_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

// Objects of a class that derives from this live in managed memory.
struct Managed {
    static void* operator new(size_t bytes) {
        void* p = nullptr;
        if (cudaMallocManaged(&p, bytes) != cudaSuccess) throw std::bad_alloc();
        return p;
    }
    static void operator delete(void* p) { cudaFree(p); }
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
static void move_to_device(const void* data, size_t bytes, int device, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    CUDA_CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, place));
    CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, place, 0, stream));
#else
    CUDA_CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device));
    CUDA_CHECK(cudaMemPrefetchAsync(data, bytes, device, stream));
#endif
}

int main() {
    int device = 0, concurrent = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));

    Table* table = new Table;
    table->count = 10000;
    const size_t bytes = table->count * sizeof(int);
    CUDA_CHECK(cudaMallocManaged(&table->values, bytes, cudaMemAttachGlobal));
    int want = 0;
    for (int i = 0; i < table->count; ++i) want += table->values[i] = i % 100;
    total = 0;

    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    if (concurrent) move_to_device(table->values, bytes, device, stream);
    sum<<<(table->count + 255) / 256, 256, 0, stream>>>(table);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));

    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, table->values));
    const bool ok = total == want && attributes.type == cudaMemoryTypeManaged;
    CUDA_CHECK(cudaFree(table->values));
    delete table;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
