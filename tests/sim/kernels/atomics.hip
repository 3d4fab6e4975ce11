// Atomics, and blocks that meet through memory.
#include "suite.h"

__global__ void sums(int* i, unsigned* u, u64* l, float* f, double* d) {
    atomicAdd(i, -1);
    atomicAdd(u, 2);
    atomicAdd(l, 3ull);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}
__global__ void extremes(int* out) {
    const int v = static_cast<int>(threadIdx.x) - 50;
    atomicMin(&out[0], v);
    atomicMax(&out[1], v);
    atomicSub(&out[2], 1);
    atomicExch(&out[3], 9);
}
__global__ void bits(unsigned* out) {
    atomicOr(&out[0], 1u << (threadIdx.x % 32));
    atomicAnd(&out[1], ~(1u << (threadIdx.x % 8)));
    atomicXor(&out[2], threadIdx.x);
}
__global__ void wrapping(unsigned* out) {
    atomicInc(&out[0], 9);
    atomicDec(&out[1], 6);
}
__global__ void cas_add(float* out) {
    int* bits = reinterpret_cast<int*>(out);
    int old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) + 1.0f));
    } while (old != seen);
}
__global__ void histogram(int* out, const int* in, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void tickets(int* out, int* next) { out[atomicAdd(next, 1)] = 1; }
__device__ unsigned arrived;
__global__ void last_block(int* out, int* part) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) sum += part[i];
        *out = sum;
    }
}
__global__ void lock_by_leader(int* lock, int* count) {  // one thread a wave takes the lock
    if (threadIdx.x % warpSize == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        const int v = *count;
        __threadfence();
        *count = v + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
__global__ void lock_by_thread(int* lock, int* count) {  // the form that is safe on lockstep hardware
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
__global__ void chain(volatile int* flags, int* out) {  // each block waits for the one before it
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
            while (flags[blockIdx.x - 1] == 0)
                ;
        out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] + 1;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
__global__ void backward_chain(int* flags, int* out) {  // waits for blocks that start later
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (atomicAdd(&flags[blockIdx.x + 1], 0) == 0) {
            }
        out[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? out[blockIdx.x + 1] + 1 : 1;
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
}
__global__ void scopes(int* out) {
    __hip_atomic_fetch_add(&out[0], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    int expected = 0;
    if (__hip_atomic_compare_exchange_strong(&out[1], &expected, 5, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_WORKGROUP))
        atomicAdd_system(&out[2], 1);
    __hip_atomic_store(&out[3], 8, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    if (__hip_atomic_load(&out[3], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 8) atomicAdd(&out[4], 1);
}

int main() {
    Out<int> i(1);
    Out<unsigned> u(1);
    Out<u64> l(1);
    Out<float> f(1);
    Out<double> d(1);
    sums<<<10, 100>>>(i.d, u.d, l.d, f.d, d.d);
    say("sums", i.get()[0] == -1000 && u.get()[0] == 2000 && l.get()[0] == 3000 && f.get()[0] == 500 && d.get()[0] == 250);
    Out<int> e(4);
    extremes<<<1, 100>>>(e.d);
    say("extremes", all(e, [](int k) { return k == 0 ? -50 : k == 1 ? 49 : k == 2 ? -100 : 9; }));
    Out<unsigned> b(3);
    (void)hipMemset(b.d, 0xff, 8);
    bits<<<1, 64>>>(b.d);
    say("bits", all(b, [](int k) { return k == 0 ? 0xffffffffu : k == 1 ? 0xffffff00u : 0u; }));
    Out<unsigned> wr(2);
    wrapping<<<1, 25>>>(wr.d);
    say("inc and dec wrap", all(wr, [](int k) { return k == 0 ? 5u : 3u; }));
    Out<float> ca(1);
    cas_add<<<4, 64>>>(ca.d);
    say("add by compare and swap", ca.get()[0] == 256);
    Out<int> bins(16), in(5000);
    std::vector<int> h(5000);
    for (int k = 0; k < 5000; ++k) h[k] = k * k % 16;
    (void)hipMemcpy(in.d, h.data(), 20000, hipMemcpyHostToDevice);
    histogram<<<7, 96>>>(bins.d, in.d, 5000);
    say("histogram", all(bins, [&](int k) {
            int c = 0;
            for (int x : h) c += x == k;
            return c;
        }));
    Out<int> t(512), next(1);
    tickets<<<4, 128>>>(t.d, next.d);
    say("tickets", all(t, [](int) { return 1; }));
    Out<int> total(1), part(50);
    last_block<<<50, 32>>>(total.d, part.d);
    say("the last block sums up", total.get()[0] == 50 * 51 / 2);
    Out<int> lock(1), count(1), lock2(1), count2(1);
    lock_by_leader<<<8, 256>>>(lock.d, count.d);
    say("a lock for waves", count.get()[0] == 8 * 256 / wave_size());
    lock_by_thread<<<4, 64>>>(lock2.d, count2.d);
    say("a lock for threads", count2.get()[0] == 256);
    Out<int> flags(40), order(40), flags2(40), order2(40);
    chain<<<40, 32>>>(flags.d, order.d);
    say("blocks wait for earlier ones", all(order, [](int k) { return k + 1; }));
    backward_chain<<<40, 32>>>(flags2.d, order2.d);
    say("blocks wait for later ones", all(order2, [](int k) { return 40 - k; }));
    Out<int> sc(5);
    scopes<<<1, 64>>>(sc.d);
    say("scopes", all(sc, [](int k) { return k == 0 ? 64 : k == 1 ? 5 : k == 2 ? 1 : k == 3 ? 8 : 0; }));
}
