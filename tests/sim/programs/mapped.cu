// A vector that grows in place: more memory is mapped behind what is there.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(x) do { if (int e = (int)(x)) { printf("%s: %d\n", #x, e); exit(1); } } while (0)

static CUmemAllocationProp properties() {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = 0;
    return p;
}
static CUmemAccessDesc rights(CUmemAccess_flags flags) {
    CUmemAccessDesc d = {};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.location.id = 0;
    d.flags = flags;
    return d;
}

struct Growing {
    CUdeviceptr base = 0;
    size_t reserved = 0, size = 0, granule = 0;
    std::vector<CUmemGenericAllocationHandle> handles;
    std::vector<size_t> sizes;

    void reserve(size_t n) {
        if (n <= reserved) return;
        CUdeviceptr next = 0;
        if (reserved && cuMemAddressReserve(&next, n - reserved, 0, base + reserved, 0) == CUDA_SUCCESS) {
            OK(cuMemAddressFree(next, n - reserved));  // this one moves each time
        }
        CUdeviceptr other = 0;
        OK(cuMemAddressReserve(&other, n, 0, 0, 0));
        const CUmemAccessDesc access = rights(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        CUdeviceptr at = other;
        if (size) OK(cuMemUnmap(base, size));
        for (size_t i = 0; i < handles.size(); at += sizes[i], ++i) OK(cuMemMap(at, sizes[i], 0, handles[i], 0));
        if (size) OK(cuMemSetAccess(other, size, &access, 1));
        if (reserved) OK(cuMemAddressFree(base, reserved));
        base = other, reserved = n;
    }
    void grow(size_t n) {
        const CUmemAllocationProp p = properties();
        OK(cuMemGetAllocationGranularity(&granule, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        const size_t more = (n - size + granule - 1) / granule * granule;
        reserve(size + more);
        CUmemGenericAllocationHandle h;
        OK(cuMemCreate(&h, more, &p, 0));
        OK(cuMemMap(base + size, more, 0ULL, h, 0ULL));
        const CUmemAccessDesc access = rights(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        OK(cuMemSetAccess(base + size, more, &access, 1ULL));
        handles.push_back(h), sizes.push_back(more);
        size += more;
    }
    void give_back() {
        OK(cuMemUnmap(base, size));
        for (CUmemGenericAllocationHandle h : handles) OK(cuMemRelease(h));
        OK(cuMemAddressFree(base, reserved));
    }
};

__global__ void put(int* p, int first, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[(first + i) * 4096] = first + i;
}
__global__ void sum(const int* p, int n, int* out) {
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += p[i * 4096];
    for (int d = 16; d; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}

int main(int argc, char**) {
    OK(cuInit(0));
    OK(cudaFree(0));
    int supported = 0;
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    size_t before = 0, with = 0, after = 0, total = 0;
    OK(cuMemGetInfo(&before, &total));
    Growing v;
    int first = 0, *out, host[3] = {};
    OK(cudaMalloc(&out, sizeof(int)));
    OK(cudaMemset(out, 0, sizeof(int)));
    for (int n : {100, 500, 700}) {
        v.grow(n * 4096 * sizeof(int));
        put<<<(n - first + 127) / 128, 128>>>((int*)v.base, first, n - first);
        first = n;
    }
    OK(cudaDeviceSynchronize());
    OK(cuMemGetInfo(&with, &total));
    sum<<<1, 128>>>((int*)v.base, first, out);
    OK(cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost));
    printf("supported %d, sum %d, %d of memory in use, granule %d\n", supported, host[0], before - with == v.size + 4, (int)(v.granule >> 20));
    std::vector<int> all(v.size / sizeof(int));  // over all three mappings
    OK(cuMemcpyDtoH(all.data(), v.base, v.size));
    long long again = 0;
    for (int i = 0; i < first; ++i) again += all[i * 4096];
    printf("copied %lld\n", again);

    // The first part a second time, at another place: the same memory.
    CUdeviceptr twice;
    CUmemGenericAllocationHandle same;
    OK(cuMemAddressReserve(&twice, v.sizes[0], 0, 0, 0));
    OK(cuMemRetainAllocationHandle(&same, (void*)v.base));
    OK(cuMemMap(twice, v.sizes[0], 0, same, 0));
    unsigned long long flags = 7;
    CUmemLocation here = properties().location;
    OK(cuMemGetAccess(&flags, &here, twice));
    const CUmemAccessDesc access = rights(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemSetAccess(twice, v.sizes[0], &access, 1));
    put<<<1, 3>>>((int*)twice, 40, 3);
    OK(cudaMemset((void*)twice, 1, 4));
    OK(cudaMemcpy(host, (void*)v.base, 4, cudaMemcpyDeviceToHost));
    OK(cudaDeviceSynchronize());
    CUmemAllocationProp known = {};
    OK(cuMemGetAllocationPropertiesFromHandle(&known, same));
    printf("same %d %x, no access %llu, type %d at %d\n", same == v.handles[0], host[0], flags, (int)known.type, known.location.id);

    if (argc == 1) {  // what is refused
        CUmemAllocationProp p = properties();
        CUmemGenericAllocationHandle none;
        CUdeviceptr nowhere;
        printf("refused");
        for (int e : {(int)cuMemCreate(&none, v.granule - 4096, &p, 0), (int)cuMemUnmap(v.base, v.granule / 2), (int)cuMemAddressFree(v.base, v.reserved),
                      (int)cuMemMap(twice, v.sizes[0], 0, same, 0), (int)cuMemMap(twice + v.sizes[0], v.granule, 0, same, 0),
                      (int)cuMemSetAccess(twice, v.sizes[0] / 2, &access, 1), (int)cuMemAddressReserve(&nowhere, 100, 0, 0, 0),
                      (int)cuMemMap(twice, v.sizes[0], 4096, same, 0), (int)cuMemFree(twice)})
            printf(" %d", e);
        p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
        printf(" %d, %d\n", (int)cuMemCreate(&none, v.granule, &p, 0), (int)cuMemCreate(&none, total / v.granule * v.granule + v.granule, &known, 0));
    }
    OK(cuMemUnmap(twice, v.sizes[0]));
    if (argc == 1) printf("unmapped %d\n", (int)cuMemcpyDtoH(host, twice, 4));
    OK(cuMemRelease(same));
    OK(cuMemAddressFree(twice, v.sizes[0]));
    v.give_back();
    OK(cudaFree(out));
    OK(cuMemGetInfo(&after, &total));
    printf("released %d %d\n", (int)cuMemRelease(same), before == after);
    return 0;
}
