// Pairs of a bug and its clean twin: what is handed on too early, from block to block, lane to lane, stream to stream and
// from the GPU to the host.
// `handoffs NAME bad|good` runs one; `handoffs` lists them with the word that `--check` must say of the bug.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace cg = cooperative_groups;
constexpr int N = 256;
constexpr size_t BYTES = N * sizeof(int);

static void show(const int* d, int n = N) {
    std::vector<int> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned sum = 7;
    for (int x : h) sum = sum * 31 + x;
    std::printf("%u\n", sum);
}
static int* device(int n = 4 * N, int value = 0) {
    int* d;
    cudaMalloc(&d, n * sizeof(int));
    std::vector<int> h(n);
    for (int i = 0; i < n; ++i) h[i] = value ? i % value : 0;
    cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    return d;
}
struct Streams {
    cudaStream_t a, b, c;
    Streams() {
        for (cudaStream_t* s : {&a, &b, &c}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    }
};
using Kernel = void (*)(int*, int*);
static void run(Kernel k) {
    int *out = device(), *in = device(4 * N, 11);
    k<<<2, 128, 32 * 33 * sizeof(int)>>>(out, in);
    show(out);
}
#define PLACE [[maybe_unused]] const int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 128 + t

__global__ void number(int* d, int first) { d[blockIdx.x * blockDim.x + threadIdx.x] = first + threadIdx.x; }
__global__ void copy_to(int* to, const int* from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

// --- from block to block -----------------------------------------------------------------------------------------

template <bool BAD>
__global__ void look_back(int* out, int* in) {  // each block's sum, behind a flag, for the next one
    PLACE;
    int* sums = in + 2 * N;
    int* flags = out + 2 * N;
    __shared__ int before;
    const int mine = __syncthreads_count(in[i] > 4);
    if (t == 0) {
        before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {}
            __threadfence();
            before = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = before + mine;
        if (!BAD) __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
    __syncthreads();
    out[i] = before;
}
template <bool BAD>
__global__ void barrier_of_all_blocks(int* out, int* in) {  // thread 0 waits for the other blocks, the others for it
    PLACE;
    int* arrived = out + 2 * N;
    in[i] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < int(gridDim.x)) {}
        __threadfence();
    }
    if (!BAD) __syncthreads();
    out[i] = in[N - 1 - i];
}

// --- from lane to lane -------------------------------------------------------------------------------------------

template <bool BAD>
__global__ void heads_in_a_loop(int* out, int* in) {
    PLACE;
    using Heads = cub::BlockDiscontinuity<int, 128>;
    __shared__ typename Heads::TempStorage room;
    int found = 0;
    for (int k = 0; k < 3; ++k) {
        int items[1] = {in[i + k] / 3}, flags[1];
        Heads(room).FlagHeads(flags, items, cub::Inequality());
        found += flags[0];
        if (!BAD) __syncthreads();
    }
    out[i] = found;
}
template <bool BAD>
__global__ void sums_of_absent_warps(int* out, int* in) {
    PLACE;
    __shared__ int sums[32];
    int x = in[i];
    for (int o = 16; o > 0; o /= 2) x += __shfl_down_sync(~0u, x, o);
    if (lane == 0) sums[t / 32] = x;
    __syncthreads();
    if (t < 32) {
        x = BAD || t < int(blockDim.x / 32) ? sums[t] : 0;
        for (int o = 16; o > 0; o /= 2) x += __shfl_down_sync(~0u, x, o);
        if (t == 0) out[blockIdx.x] = x;
    }
}
template <bool BAD>
__global__ void row_of_odd_halves(int* out, int* in) {
    PLACE;
    __half* rows = reinterpret_cast<__half*>(in);
    const __half2 x = *reinterpret_cast<__half2*>(rows + t * (BAD ? 3 : 4));
    out[i] = __half2float(x.x) < __half2float(x.y);
}
template <bool BAD>
__global__ void padded_tile(int* out, int* in) {  // the launch gives it 32 rows of 33
    PLACE;
    extern __shared__ int tile[];
    const int stride = BAD ? 34 : 33;
    for (int y = t / 32; y < 32; y += 4) tile[y * stride + lane] = in[y * 8 + lane];
    __syncthreads();
    int sum = 0;
    for (int y = t / 32; y < 32; y += 4) sum += tile[lane * stride + y];
    out[i] = sum;
}
template <bool BAD>
__global__ void two_tiles_of_a_warp(int* out, int* in) {
    PLACE;
    __shared__ int row[128];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto half = cg::tiled_partition<16>(warp);
    row[t] = in[i];
    if (BAD) half.sync();
    else warp.sync();
    out[i] = row[t ^ 16];
}
template <bool BAD>
__global__ void leader_of_those_here(int* out, int* in) {
    PLACE;
    __shared__ int base[4];
    if (in[i] % 3 == 0) {
        auto here = cg::coalesced_threads();
        if (here.thread_rank() == 0) base[t / 32] = here.size();
        if (!BAD) here.sync();
        out[i] = base[t / 32];
    }
}

// --- from stream to stream ---------------------------------------------------------------------------------------

template <bool BAD>
void event_recorded_again() {  // one event for two producers: the second record takes the first one's place
    Streams s;
    int *d = device(), *e = device();
    cudaEvent_t done, other;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&other, cudaEventDisableTiming);
    number<<<1, 128, 0, s.a>>>(d, 5);
    cudaEventRecord(done, s.a);
    number<<<1, 128, 0, s.b>>>(d + 128, 9);
    cudaEventRecord(BAD ? done : other, s.b);
    cudaStreamWaitEvent(s.c, done, 0);
    if (!BAD) cudaStreamWaitEvent(s.c, other, 0);
    copy_to<<<2, 128, 0, s.c>>>(e, d);
    cudaStreamSynchronize(s.c);
    cudaDeviceSynchronize();
    show(e);
}
template <bool BAD>
void given_back_by_both() {
    Streams s;
    int *d, *e = device();
    cudaMallocAsync(reinterpret_cast<void**>(&d), BYTES, s.a);
    number<<<2, 128, 0, s.a>>>(d, 3);
    copy_to<<<2, 128, 0, s.a>>>(e, d);
    cudaFreeAsync(d, s.a);
    cudaStreamSynchronize(s.a);
    if (BAD) cudaFreeAsync(d, s.b);
    cudaDeviceSynchronize();
    show(e);
}

// --- lanes that meet while others of the warp are elsewhere -------------------------------------------------------

template <bool BAD>
__global__ void sync_of_one_arm(int* out, int* in) {
    PLACE;
    __shared__ int row[128];
    if (lane < 16) {
        row[t] = in[i];
        __syncwarp(0xffffu);
        out[N + i] = row[t ^ 1];
    }
    if (!BAD) __syncwarp();
    if (lane >= 16) out[i] = row[t - 16];
}
template <bool BAD>
__global__ void tiles_in_turn(int* out, int* in) {  // what a tile wrote comes to the third by way of the second
    PLACE;
    __shared__ int row[128];
    auto quarter = cg::tiled_partition<8>(cg::this_thread_block());
    auto half = cg::tiled_partition<16>(cg::this_thread_block());
    row[t] = in[i];
    quarter.sync();
    if (!BAD) half.sync();
    out[i] = row[t ^ 9];
}

// --- from the GPU to the host and back ---------------------------------------------------------------------------

template <bool BAD>
void text_that_grows() {  // the C++ library's own code gives its memory back, which --check does not see
    Streams s;
    int* d = device();
    std::string text(BYTES, 'x');
    cudaMemcpyAsync(d, text.data(), BYTES, cudaMemcpyHostToDevice, s.a);
    if (!BAD) cudaStreamSynchronize(s.a);
    text.append(4096, 'y');
    cudaStreamSynchronize(s.a);
    show(d);
}
template <bool BAD>
void asked_and_not_waited() {  // whether the program looked at the answer is not known
    Streams s;
    int *d = device(), *h;
    cudaMallocHost(&h, BYTES);
    std::memset(h, 0, BYTES);
    cudaEvent_t done;
    cudaEventCreate(&done);
    number<<<2, 128, 0, s.a>>>(d, 1);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s.a);
    cudaEventRecord(done, s.a);
    if (BAD) cudaEventQuery(done);
    else cudaEventSynchronize(done);
    std::printf("%d\n", h[7]);
    cudaDeviceSynchronize();
}
struct Managed {
    static void* operator new(size_t n) {
        void* p;
        cudaMallocManaged(&p, n);
        return p;
    }
    static void operator delete(void* p) { cudaFree(p); }
};
struct Counters : Managed {
    int rounds = 0, found = 0;
};
__global__ void count(Counters* c, const int* in) {
    if (in[threadIdx.x] > 4) atomicAdd(&c->found, 1);
}
template <bool BAD>
void counters_of_a_class() {
    Streams s;
    int* d = device(4 * N, 11);
    auto* c = new Counters;
    for (int k = 0; k < 3; ++k) {
        count<<<1, 128, 0, s.a>>>(c, d);
        if (!BAD) cudaStreamSynchronize(s.a);
        c->rounds += c->found > 0;
    }
    cudaStreamSynchronize(s.a);
    std::printf("%d\n", c->found);
    delete c;
}

struct Pair {
    const char *name, *word;
    void (*bad)();
    void (*good)();
};
#define PAIR(word, name) {#name, word, name<true>, name<false>}
#define KERNELS(word, name) {#name, word, [] { run(name<true>); }, [] { run(name<false>); }}
static const Pair pairs[] = {
    KERNELS("race", look_back),
    KERNELS("race", barrier_of_all_blocks),
    KERNELS("race", heads_in_a_loop),
    KERNELS("uninitialised", sums_of_absent_warps),
    KERNELS("alignment", row_of_odd_halves),
    KERNELS("bounds", padded_tile),
    KERNELS("lockstep", two_tiles_of_a_warp),
    KERNELS("lockstep", leader_of_those_here),
    KERNELS("lockstep", sync_of_one_arm),
    KERNELS("lockstep", tiles_in_turn),
    PAIR("sync", event_recorded_again),
    PAIR("lifetime", given_back_by_both),
    PAIR("streams", text_that_grows),
    PAIR("streams", asked_and_not_waited),
    PAIR("sync", counters_of_a_class),
};

int main(int argc, char** argv) {
    for (const Pair& p : pairs) {
        if (argc < 3)
            std::printf("%s %s\n", p.name, p.word);
        else if (std::strcmp(argv[1], p.name) == 0)
            (argv[2][0] == 'b' ? p.bad : p.good)();
    }
}
