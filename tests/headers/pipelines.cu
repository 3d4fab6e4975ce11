// Copies, pipelines and barriers as CUDA programs write them. Each kernel leaves its input, moved through shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kThreads = 128, kSteps = 8, kCount = kThreads * kSteps;

// A pipeline of a thread, two stages ahead; the neighbour's values are read.
__global__ void own_pipeline(const int* in, int* out) {
    __shared__ int stage[2][kThreads];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const unsigned t = threadIdx.x;
    for (int i = 0, ahead = 0; i < kSteps; ++i) {
        for (; ahead < kSteps && ahead < i + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[ahead % 2][t], in + ahead * kThreads + t, cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        out[i * kThreads + (t ^ 1)] = stage[i % 2][t ^ 1];
        __syncthreads();
        pipe.consumer_release();
    }
}

// All threads produce and consume.
__global__ void shared_pipeline(const int* in, int* out) {
    __shared__ int stage[2][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0, ahead = 0; i < kSteps; ++i) {
        for (; ahead < kSteps && ahead < i + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[ahead % 2], in + ahead * kThreads, sizeof(int) * kThreads, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const unsigned other = kThreads - 1 - threadIdx.x;
        out[i * kThreads + other] = stage[i % 2][other];
        pipe.consumer_release();
    }
}

// The first half of the block produces for the second.
__global__ void parted_pipeline(const int* in, int* out) {
    __shared__ int stage[3][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    auto block = cg::this_thread_block();
    const bool first = threadIdx.x < kThreads / 2;
    auto pipe =
        cuda::make_pipeline(block, &state, first ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const unsigned t = threadIdx.x % (kThreads / 2);
    for (int i = 0; i < kSteps; ++i) {
        if (first) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[i % 3][2 * t], in + i * kThreads + 2 * t, sizeof(int2), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            const unsigned other = kThreads / 2 - 1 - t;
            for (int k = 0; k < 2; ++k) out[i * kThreads + 2 * other + k] = stage[i % 3][2 * other + k];
            pipe.consumer_release();
        }
    }
}

// Tokens, parities, and threads that leave.
__global__ void barriers(const int* in, int* out) {
    __shared__ int stage[kThreads];
    __shared__ barrier full, empty;
    if (threadIdx.x == 0) {
        init(&full, kThreads);
        init(&empty, kThreads);
    }
    __syncthreads();
    const unsigned t = threadIdx.x, other = t ^ 64;
    for (int i = 0; i < kSteps; ++i) {
        cuda::memcpy_async(stage + t, in + i * kThreads + t, sizeof(int), full);
        if (i % 2) {
            full.wait(full.arrive());
        } else {
            (void)full.arrive();
            full.wait_parity(i & 1);
        }
        out[i * kThreads + other] = stage[other];
        empty.arrive_and_wait();
    }
    if (t >= 64) {
        full.arrive_and_drop();
        return;
    }
    full.arrive_and_wait();
    auto token = full.arrive();
    while (!full.try_wait(std::move(token))) {
    }
}

// A whole group copies, with any addresses and numbers of bytes; a tile too.
__global__ void groups(const int* in, int* out) {
    __shared__ int stage[kThreads];
    __shared__ char bytes[kThreads * 4 + 4];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    const unsigned t = threadIdx.x, part = t / 32 * 32;
    for (int i = 0; i < kSteps; ++i) {
        const int* from = in + i * kThreads;
        if (i % 4 == 0) {
            cg::memcpy_async(block, stage, from, sizeof(int) * kThreads);
            cg::wait(block);
        } else if (i % 4 == 1) {
            cg::memcpy_async(block, stage, kThreads + 5, from, kThreads);
            cg::wait_prior<0>(block);
        } else if (i % 4 == 2) {
            cg::memcpy_async(tile, stage + part, from + part, cuda::aligned_size_t<4>(128));
            cg::wait(tile);
        } else {
            cg::memcpy_async(block, bytes + 1, reinterpret_cast<const char*>(from), sizeof(int) * kThreads);
            cg::wait(block);
            char word[4];
            for (int k = 0; k < 4; ++k) word[k] = bytes[1 + 4 * (t ^ 1) + k];
            memcpy(&stage[t ^ 1], word, 4);
            block.sync();
        }
        out[i * kThreads + (t ^ 1)] = stage[t ^ 1];
        block.sync();
    }
}

// The first interface, and its functions; what a source is short of is zero.
__global__ void primitives(const int* in, int* out) {
    __shared__ int4 stage[2][kThreads / 4];
    __shared__ int single[kThreads];
    nvcuda::experimental::pipeline pipe;
    const unsigned t = threadIdx.x, four = t % (kThreads / 4);
    for (int i = 0; i < kSteps; ++i) {
        const int zeros = i % 2 ? 4 : 0;
        if (t < kThreads / 4) __pipeline_memcpy_async(&stage[i % 2][t], in + i * kThreads + 4 * t, 16, zeros);
        __pipeline_commit();
        nvcuda::experimental::memcpy_async(single[t], in[i * kThreads + t], pipe);
        pipe.commit();
        pipe.wait_prior<0>();
        __pipeline_wait_prior(0);
        __syncthreads();
        int4 v = stage[i % 2][four];
        if (zeros) v.w = v.w == 0 ? single[4 * four + 3] : -1;
        if (t < kThreads / 4) reinterpret_cast<int4*>(out)[i * kThreads / 4 + four] = v;
        __syncthreads();
    }
}

template <class Kernel> void run(const char* name, Kernel kernel) {
    int *in, *out, wrong = 0;
    cudaMallocManaged((void**)&in, kCount * sizeof(int));
    cudaMallocManaged((void**)&out, kCount * sizeof(int));
    for (int i = 0; i < kCount; ++i) in[i] = i * 2654435761u, out[i] = 0;
    kernel<<<1, kThreads>>>(in, out);
    if (cudaDeviceSynchronize() != cudaSuccess) wrong = -1;
    for (int i = 0; i < kCount; ++i) wrong += in[i] != out[i];
    printf("%s %d\n", name, wrong);
}

int main() {
    run("own_pipeline", own_pipeline);
    run("shared_pipeline", shared_pipeline);
    run("parted_pipeline", parted_pipeline);
    run("barriers", barriers);
    run("groups", groups);
    run("primitives", primitives);
}
