#include <cuda/atomic>
#include <cuda_runtime.h>
#include <cstdio>

__device__ cuda::atomic<int, cuda::thread_scope_device> total;

__global__ void all(int* out, float* sum, unsigned long long* last) {
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> mine;
    if (threadIdx.x == 0) mine.store(0u, cuda::std::memory_order_relaxed);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned place = mine.fetch_add(1u);
    total.fetch_add(i, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> slot(out[blockIdx.x]);
    slot.fetch_max(int(place));
    cuda::atomic_ref<float, cuda::thread_scope_system> f(*sum);
    f.fetch_add(0.5f);
    cuda::atomic_ref<unsigned long long> best(*last);
    unsigned long long seen = best.load();
    while (seen < (unsigned long long)i && !best.compare_exchange_weak(seen, i)) {
    }
    __syncthreads();
    if (threadIdx.x == 0) out[4 + blockIdx.x] = int(mine.exchange(7u)) + int(mine.load());
    if (i == 0) out[8] = 1;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

__global__ void told(int* out) { out[9] = total.load(); }

int main() {
    int* out;
    float* sum;
    unsigned long long* last;
    cudaMallocManaged(&out, 64);
    cudaMallocManaged(&sum, 4);
    cudaMallocManaged(&last, 8);
    for (int i = 0; i < 16; i++) out[i] = -1;
    *sum = 0;
    *last = 0;
    all<<<3, 96>>>(out, sum, last);
    told<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 10; i++) printf("%d ", out[i]);
    printf("%g %llu\n", *sum, *last);
    return 0;
}
