// Pairs of a bug and its clean twin: barriers, shared memory, atomics, fences, bounds, streams.
// `races NAME bad|good` runs one; `races` lists them with the word that `--check` must say of the bug.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;
constexpr int N = 256;

static int* device(int n = 4 * N, int value = 0) {
    int* d;
    cudaMalloc(&d, n * sizeof(int));
    std::vector<int> h(n);
    for (int i = 0; i < n; ++i) h[i] = value ? i % value : 0;
    cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    return d;
}
static void show(const int* d, int n = N) {
    std::vector<int> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned sum = 7;
    for (int x : h) sum = sum * 31 + x;
    std::printf("%u\n", sum);
}
// Most kernels: two blocks of 128 threads, `in` holds small numbers, `out` zeros.
using Kernel = void(int*, int*);
static void run(Kernel* kernel) {
    int *out = device(), *in = device(4 * N, 13);
    kernel<<<2, 128, 132 * 4>>>(out, in);
    show(out);
}
#define PLACE                                                    \
    [[maybe_unused]] const int t = threadIdx.x, lane = t % 32,   \
                               warp = t / 32, i = blockIdx.x * 128 + t

// --- barriers ----------------------------------------------------------------------------------------------------

template <bool BAD>
__global__ void barrier_in_two_arms(int* out, int* in) {
    PLACE;
    __shared__ int s[128];
    s[t] = in[i];
    if (BAD && in[i] > 6) {
        __syncthreads();
        out[i] = s[127 - t];
    } else {
        __syncthreads();
        out[i] = s[127 - t] + 1;
    }
}
template <bool BAD>
__global__ void barrier_left_by_break(int* out, int* in) {
    PLACE;
    __shared__ int s[128];
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
        s[t] = in[i] + k;
        __syncthreads();
        sum += s[127 - t];
        if (BAD ? in[i] < k : __syncthreads_or(in[i] < k)) break;
        __syncthreads();
    }
    __syncthreads();
    out[i] = sum;
}
template <bool BAD>
__global__ void broadcast_in_a_loop(int* out, int* in) {
    PLACE;
    __shared__ int total;
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        if (t == 0) total = in[k] * 3;
        __syncthreads();
        sum += total;
        if (!BAD) __syncthreads();
    }
    out[i] = sum;
}
template <bool BAD>
__global__ void ordered_warps(int* out, int* in) {  // a later warp reads what an earlier one wrote
    PLACE;
    __shared__ int s[32];
    if (warp == 0) s[lane] = in[lane];
    if (!BAD) __syncthreads();
    if (warp == 2) out[lane] = s[31 - lane];
}
template <bool BAD>
__device__ int block_sum(int x) {
    __shared__ int part[4];
    for (int o = 16; o; o /= 2) x += __shfl_xor_sync(0xffffffffu, x, o);
    if (!BAD) __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}
template <bool BAD>
__global__ void sum_called_again(int* out, int* in) {
    PLACE;
    const int first = block_sum<BAD>(in[i]), second = block_sum<BAD>(in[i] * in[i]);
    out[i] = first * 1000 + second;
}
template <bool BAD>
__global__ void other_buffer(int* out, int* in) {
    PLACE;
    __shared__ int s[2][128];
    s[1][t] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 6; ++k) {
        s[k & 1][t] = in[i] + k;
        __syncthreads();
        sum += s[(BAD ? k + 1 : k) & 1][127 - t];
    }
    out[i] = sum;
}
template <bool BAD>
__global__ void sync_of_a_warp_for_a_block(int* out, int* in) {
    PLACE;
    __shared__ int s[128];
    s[t] = in[i];
    if (BAD) __syncwarp();
    else __syncthreads();
    out[i] = s[127 - t];
}
template <bool BAD>
__global__ void bins_cleared_late(int* out, int* in) {
    PLACE;
    __shared__ int bins[128];
    bins[t] = 0;
    if (!BAD) __syncthreads();
    atomicAdd(&bins[in[i] * 9], 1);
    __syncthreads();
    out[i] = bins[t];
}
template <bool BAD>
__global__ void in_place_stencil(int* out, int* in) {
    PLACE;
    const int sum = in[i] + in[i + 1];
    if (BAD) {
        __syncthreads();
        in[i] = sum;
        out[i] = in[i];
    } else {
        out[i] = sum;
    }
}

// --- lanes of a warp ---------------------------------------------------------------------------------------------

template <bool BAD>
__global__ void tail_of_a_sum(int* out, int* in) {
    PLACE;
    __shared__ int s[128];
    s[t] = in[i];
    for (int o = 64; o >= 32; o /= 2) {
        __syncthreads();
        if (t < o) s[t] += s[t + o];
    }
    if (!BAD) __syncwarp();
    for (int o = 16; o; o /= 2) {
        if (t < o) s[t] += s[t + o];
        if (!BAD) __syncwarp();
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = s[0];
}
template <bool BAD>
__global__ void base_of_the_leader(int* out, int* in) {
    PLACE;
    __shared__ int base[4], next;
    if (t == 0) next = 0;
    __syncthreads();
    const unsigned here = __ballot_sync(0xffffffffu, in[i] > 5);
    if (lane == 0) base[warp] = atomicAdd(&next, __popc(here)) * 0 + 32 * warp;
    if (!BAD) __syncwarp();
    if (in[i] > 5) out[blockIdx.x * 128 + base[warp] + __popc(here & ((1u << lane) - 1))] = t;
}
template <bool BAD>
__global__ void bits_of_a_word(int* out, int* in) {
    PLACE;
    __shared__ unsigned bits[4];
    if (t < 4) bits[t] = 0;
    __syncthreads();
    if (in[i] > 5) {
        if (BAD) bits[warp] |= 1u << lane;
        else atomicOr(&bits[warp], 1u << lane);
    }
    __syncthreads();
    out[i] = bits[warp];
}
template <bool BAD>
__global__ void tile_that_is_partly_there(int* out, int* in) {
    PLACE;
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (BAD ? lane < 20 : lane < 32) out[i] = tile.shfl(in[i], 25);
}

// --- values, atomics, fences -------------------------------------------------------------------------------------

template <bool BAD>
__global__ void one_word_by_all(int* out, int* in) {
    PLACE;
    __shared__ int s;
    if (lane == 3) s = BAD ? warp : 7;
    __syncthreads();
    out[i] = s;
}
template <bool BAD>
__global__ void index_of_the_largest(int* out, int* in) {
    PLACE;
    __shared__ unsigned long long best;
    __shared__ int place;
    if (t == 0) best = 0, place = 0;
    __syncthreads();
    const unsigned long long key = (unsigned long long)(in[i] + 1) << 32 | t;
    if (BAD) {
        if (atomicMax(&best, key) < key) place = t;
    } else {
        atomicMax(&best, key);
    }
    __syncthreads();
    out[i] = BAD ? place : int(best & 127);
}
template <bool BAD>
__global__ void counter_read_plainly(int* out, int* in) {  // by the last block, whose atomics are all done by then
    PLACE;
    atomicAdd(&out[0], in[i]);
    if (BAD && i == 255) out[1] = out[0] > 0;
    if (!BAD && i == 255) out[1] = atomicAdd(&out[0], 0) > 0;
}
template <bool BAD>
__global__ void started_by_one_block(int* out, int* in) {
    PLACE;
    if (BAD && i == 0) out[0] = 5;
    __syncthreads();
    atomicAdd(&out[0], in[i]);
}
template <bool BAD>
__global__ void sums_of_blocks_added(int* out, int* in) {
    PLACE;
    __shared__ int bins[16];
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    if (t < 16) {
        if (BAD) out[t] += bins[t];
        else atomicAdd(&out[t], bins[t]);
    }
}
template <bool BAD>
__global__ void lock_without_fence(int* out, int* in) {
    PLACE;
    if (t == 0) {
        while (atomicCAS(&in[300], 1, 0) != 1) {}  // in[300] is 1: free
        if (!BAD) __threadfence();
        out[0] = out[0] + 3;
        if (!BAD) __threadfence();
        atomicExch(&in[300], 1);
    }
}
template <bool BAD>
__global__ void ticket_without_fence(int* out, int* in) {
    PLACE;
    __shared__ bool last;
    out[2 * N + i] = in[i] * 2;
    if (!BAD) __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(&out[1], 1) == 1;
    __syncthreads();
    if (last && t == 5) {
        __threadfence();
        int sum = 0;
        for (int k = 0; k < N; ++k) sum += out[2 * N + k];
        out[0] = sum;
    }
}
template <bool BAD>
__global__ void bytes_beside_each_other(int* out, int* in) {
    PLACE;
    __shared__ alignas(16) unsigned char s[144];
    s[t] = in[i];
    if (t < 16) s[128 + t] = 0;
    if (BAD) {
        if (lane == 31) *reinterpret_cast<unsigned short*>(s + t + 1) = 1;  // reaches the next warp's bytes
    }
    __syncthreads();
    out[i] = s[127 - t];
}

// --- bounds, values that nobody wrote, alignment -----------------------------------------------------------------

extern __shared__ int dynamic[];
template <bool BAD>
__global__ void dynamic_one_too_far(int* out, int* in) {  // 132 elements
    PLACE;
    dynamic[t] = in[i];
    if (t < (BAD ? 5 : 4)) dynamic[128 + t] = 1;
    __syncthreads();
    out[i] = dynamic[127 - t];
}
template <bool BAD>
__global__ void halo_of_a_tile(int* out, int* in) {
    PLACE;
    __shared__ int tile[BAD ? 8 : 9][16];
    const int x = t % 16, y = t / 16;
    tile[y][x] = in[i];
    if (!BAD && y == 0) tile[8][x] = 0;
    __syncthreads();
    out[i] = tile[y][x] + tile[y + 1][x];
}
template <bool BAD>
__global__ void left_halo(int* out, int* in) {
    PLACE;
    __shared__ int s[129];
    s[t + 1] = in[i];
    if (t == 0) {
        if (i > 0) s[0] = in[i - 1];
        else if (!BAD) s[0] = 0;
    }
    __syncthreads();
    out[i] = s[t] + s[t + 1];
}
template <bool BAD>
__global__ void rest_of_the_last_tile(int* out, int* in) {
    PLACE;
    __shared__ int s[128];
    const int n = 200;
    if (i < n) s[t] = in[i];
    else if (!BAD) s[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 128; ++k) sum += s[k];
    out[i] = sum;
}
template <bool BAD>
__global__ void row_of_odd_length(int* out, int* in) {
    PLACE;
    const int row = t / 32, pitch = BAD ? 33 : 36;
    if (lane < 8) {
        const int4 v = *reinterpret_cast<const int4*>(in + row * pitch + lane * 4);
        out[i] = v.x + v.y + v.z + v.w;
    }
}
template <bool BAD>
__global__ void doubles_behind_floats(int* out, int* in) {
    PLACE;
    float* a = reinterpret_cast<float*>(dynamic);
    double* b = reinterpret_cast<double*>(a + (BAD ? 33 : 34));
    if (t < 33) a[t] = in[i];
    if (t < 48) b[t] = in[i];
    __syncthreads();
    out[i] = int(a[t % 33] + b[t % 48]);
}
template <bool BAD>
__global__ void word_in_packed_bytes(int* out, int* in) {
    PLACE;
    const char* bytes = reinterpret_cast<const char*>(in);
    out[i] = *reinterpret_cast<const int*>(bytes + (BAD ? 5 : 4) * t);
}

// --- with host code ----------------------------------------------------------------------------------------------

__global__ void add_one(int* d) { d[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void count(int* d) { atomicAdd(&d[threadIdx.x % 4], 1); }
__global__ void first_n(int* d, int n, bool too_far) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (too_far ? i <= n : i < n) d[i] = i;
}
__global__ void mirrored(int* d) {
    dynamic[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    d[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
__global__ void across(int* d, int* e, bool bad) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = i * 3;
    if (bad) cg::this_thread_block().sync();
    else cg::this_grid().sync();
    e[i] = d[N - 1 - i];
}
template <bool BAD>
void bounds_of_the_last_block() {
    int* d;
    cudaMalloc(&d, 200 * sizeof(int));
    cudaMemset(d, 0, 200 * sizeof(int));
    first_n<<<2, 128>>>(d, 200, BAD);
    show(d, 200);
}
template <bool BAD>
void elements_for_bytes() {
    int* d = device(N, 7);
    mirrored<<<1, 128, BAD ? 128 : 128 * sizeof(int)>>>(d);
    show(d);
}
template <bool BAD>
void counters_never_cleared() {
    int* d;
    cudaMalloc(&d, 4 * sizeof(int));
    if (!BAD) cudaMemset(d, 0, 4 * sizeof(int));
    count<<<1, 64>>>(d);
    show(d, 4);
}
template <bool BAD>
void block_for_grid() {
    int *d = device(N), *e = device(N);
    bool bad = BAD;
    void* arguments[] = {&d, &e, &bad};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(across), dim3(2), dim3(128), arguments, 0, nullptr);
    show(e);
}
template <bool BAD>
void freed_before_the_last_kernel() {
    cudaStream_t s;
    cudaStreamCreate(&s);
    int *d, *e = device(N);
    cudaMallocAsync(reinterpret_cast<void**>(&d), N * sizeof(int), s);
    cudaMemsetAsync(d, 0, N * sizeof(int), s);
    add_one<<<2, 128, 0, s>>>(d);
    if (BAD) cudaFreeAsync(d, s);
    cudaMemcpyAsync(e, d, N * sizeof(int), cudaMemcpyDeviceToDevice, s);
    if (!BAD) cudaFreeAsync(d, s);
    cudaStreamSynchronize(s);
    show(e);
}
template <bool BAD>
void freed_while_another_stream_reads() {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEvent_t done;
    cudaEventCreate(&done);
    int *d, *e = device(N);
    cudaMallocAsync(reinterpret_cast<void**>(&d), N * sizeof(int), a);
    cudaMemsetAsync(d, 0, N * sizeof(int), a);
    cudaEventRecord(done, a);
    cudaStreamWaitEvent(b, done, 0);
    cudaMemcpyAsync(e, d, N * sizeof(int), cudaMemcpyDeviceToDevice, b);
    cudaEventRecord(done, b);
    if (!BAD) cudaStreamWaitEvent(a, done, 0);
    cudaFreeAsync(d, a);
    cudaDeviceSynchronize();
    show(e);
}
template <bool BAD>
void destroyed_buffer_of_a_class() {  // its destructor frees what a later kernel gets
    struct Buffer {
        int* d = nullptr;
        Buffer() { cudaMalloc(&d, N * sizeof(int)), cudaMemset(d, 0, N * sizeof(int)); }
        ~Buffer() { cudaFree(d); }
    };
    int *kept, *e = device(N);
    Buffer longer;
    {
        Buffer shorter;
        kept = BAD ? shorter.d : longer.d;
        add_one<<<2, 128>>>(kept);
    }
    add_one<<<2, 128>>>(kept);
    cudaDeviceSynchronize();
    show(e);
}

struct Pair {
    const char *name, *word;
    void (*bad)();
    void (*good)();
};
#define PAIR(word, name) {#name, word, name<true>, name<false>}
#define KERNELS(word, name) {#name, word, [] { run(name<true>); }, [] { run(name<false>); }}
static const Pair pairs[] = {
    KERNELS("deadlock", barrier_in_two_arms),
    KERNELS("deadlock", barrier_left_by_break),
    KERNELS("race", broadcast_in_a_loop),
    KERNELS("race", ordered_warps),
    KERNELS("race", sum_called_again),
    KERNELS("race", other_buffer),
    KERNELS("race", sync_of_a_warp_for_a_block),
    KERNELS("race", bins_cleared_late),
    KERNELS("race", in_place_stencil),
    KERNELS("lockstep", tail_of_a_sum),
    KERNELS("lockstep", base_of_the_leader),
    KERNELS("lockstep", bits_of_a_word),
    KERNELS("inactive-lane", tile_that_is_partly_there),
    KERNELS("race", one_word_by_all),
    KERNELS("race", index_of_the_largest),
    KERNELS("race", counter_read_plainly),
    KERNELS("race", started_by_one_block),
    KERNELS("race", sums_of_blocks_added),
    KERNELS("race", lock_without_fence),
    KERNELS("race", ticket_without_fence),
    KERNELS("race", bytes_beside_each_other),
    KERNELS("bounds", dynamic_one_too_far),
    KERNELS("bounds", halo_of_a_tile),
    KERNELS("uninitialised", left_halo),
    KERNELS("uninitialised", rest_of_the_last_tile),
    KERNELS("alignment", row_of_odd_length),
    KERNELS("alignment", doubles_behind_floats),
    KERNELS("alignment", word_in_packed_bytes),
    PAIR("bounds", bounds_of_the_last_block),
    PAIR("bounds", elements_for_bytes),
    PAIR("uninitialised", counters_never_cleared),
    PAIR("race", block_for_grid),
    PAIR("lifetime", freed_before_the_last_kernel),
    PAIR("lifetime", freed_while_another_stream_reads),
    PAIR("lifetime", destroyed_buffer_of_a_class),
};

int main(int argc, char** argv) {
    for (const Pair& p : pairs) {
        if (argc < 3)
            std::printf("%s %s\n", p.name, p.word);
        else if (std::strcmp(argv[1], p.name) == 0)
            (argv[2][0] == 'b' ? p.bad : p.good)();
    }
}
