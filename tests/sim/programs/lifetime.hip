// Pairs of a bug and its clean twin: asynchronous work, lifetime of memory, races between blocks, bounds, alignment.
// `lifetime NAME bad|good` runs one; `lifetime` lists them with the word that `--check` must say of the bug.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int N = 256;
constexpr size_t BYTES = N * sizeof(int);

static void show(const int* p, int n = N) {
    unsigned sum = 7;
    for (int i = 0; i < n; ++i) sum = sum * 31 + p[i];
    std::printf("%u\n", sum);
}
static void show_device(const int* d, int n = N) {
    std::vector<int> h(n);
    (void)hipMemcpy(h.data(), d, n * sizeof(int), hipMemcpyDeviceToHost);
    show(h.data(), n);
}
static int* device(int n = N) {
    int* d;
    (void)hipMalloc(&d, n * sizeof(int));
    (void)hipMemset(d, 0, n * sizeof(int));
    (void)hipDeviceSynchronize();
    return d;
}
static int* pinned() {
    int* h;
    (void)hipHostMalloc(&h, BYTES);
    for (int i = 0; i < N; ++i) h[i] = i;
    return h;
}
struct Streams {
    hipStream_t a, b;
    explicit Streams(unsigned flags = hipStreamNonBlocking) {
        (void)hipStreamCreateWithFlags(&a, flags);
        (void)hipStreamCreateWithFlags(&b, flags);
    }
};

__global__ void add_one(int* d) { d[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void number(int* d, int first) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = first + i;
}
__global__ void copy_to(int* to, const int* from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

// --- host memory of asynchronous copies --------------------------------------------------------------------------

template <bool BAD>
void local_vector() {
    Streams s;
    int* d = device();
    {
        std::vector<int> h(N, 3);
        (void)hipMemcpyAsync(d, h.data(), BYTES, hipMemcpyHostToDevice, s.a);
        if (!BAD) (void)hipStreamSynchronize(s.a);
    }
    (void)hipStreamSynchronize(s.a);
    show_device(d);
}
template <bool BAD>
void new_and_delete() {
    Streams s;
    int* d = device();
    int* h = new int[N]();
    (void)hipMemcpyAsync(d, h, BYTES, hipMemcpyHostToDevice, s.a);
    if (BAD) delete[] h;
    (void)hipDeviceSynchronize();
    if (!BAD) delete[] h;
    show_device(d);
}
template <bool BAD>
void malloc_and_free() {
    Streams s;
    int* d = device();
    int* h = static_cast<int*>(std::calloc(N, sizeof(int)));
    (void)hipMemcpyAsync(d, h, BYTES, hipMemcpyHostToDevice, s.a);
    if (!BAD) (void)hipStreamSynchronize(s.a);
    std::free(h);
    (void)hipStreamSynchronize(s.a);
    show_device(d);
}
template <bool BAD>
__attribute__((noinline)) void upload_local(int* d, hipStream_t s) {
    int h[N];
    for (int i = 0; i < N; ++i) h[i] = i * i;
    (void)hipMemcpyAsync(d, h, BYTES, hipMemcpyHostToDevice, s);
    if (!BAD) (void)hipStreamSynchronize(s);
}
template <bool BAD>
void local_array() {
    Streams s;
    int* d = device();
    upload_local<BAD>(d, s.a);
    (void)hipStreamSynchronize(s.a);
    show_device(d);
}
template <bool BAD>
void vector_that_grows() {
    Streams s;
    int* d = device();
    std::vector<int> h(N, 5);
    (void)hipMemcpyAsync(d, h.data(), BYTES, hipMemcpyHostToDevice, s.a);
    if (!BAD) (void)hipStreamSynchronize(s.a);
    h.resize(100 * N);
    (void)hipStreamSynchronize(s.a);
    show_device(d);
}
template <bool BAD>
void registered_vector_dies() {
    Streams s;
    int* d = device();
    int sum = 0;
    {
        std::vector<int> h(N);
        (void)hipHostRegister(h.data(), BYTES, hipHostRegisterDefault);
        (void)hipMemcpyAsync(h.data(), d, BYTES, hipMemcpyDeviceToHost, s.a);
        if (!BAD) (void)hipStreamSynchronize(s.a);
        (void)hipHostUnregister(h.data());
        sum += static_cast<int>(h.size());
    }
    (void)hipStreamSynchronize(s.a);
    std::printf("%d\n", sum);
}
template <bool BAD>
void buffer_used_again() {
    Streams s;
    int* d = device(2 * N);
    std::vector<int> h(N);
    for (int k = 0; k < 2; ++k) {
        if (!BAD) (void)hipStreamSynchronize(s.a);
        for (int i = 0; i < N; ++i) h[i] = i * (k + 1);
        (void)hipMemcpyAsync(d + k * N, h.data(), BYTES, hipMemcpyHostToDevice, s.a);
    }
    (void)hipStreamSynchronize(s.a);
    show_device(d, 2 * N);
}
template <bool BAD>
void pinned_buffer_used_again() {
    Streams s;
    int *d = device(4 * N), *h = pinned();
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < N; ++i) h[i] = i * (k + 1);
        (void)hipMemcpyAsync(d + k * N, h, BYTES, hipMemcpyHostToDevice, k % 2 ? s.a : s.b);
        if (!BAD) (void)hipStreamSynchronize(k % 2 ? s.a : s.b);
    }
    (void)hipDeviceSynchronize();
    show_device(d, 4 * N);
}
template <bool BAD>
void memset_of_a_pinned_buffer() {
    Streams s;
    int *d = device(), *h = pinned();
    (void)hipMemcpyAsync(d, h, BYTES, hipMemcpyHostToDevice, s.a);
    if (!BAD) (void)hipStreamSynchronize(s.a);
    std::memset(h, 0, BYTES);
    (void)hipDeviceSynchronize();
    show_device(d);
}

// --- missing synchronisation -------------------------------------------------------------------------------------

template <bool BAD>
void pinned_result_read_early() {
    Streams s;
    int *d = device(), *h = pinned();
    number<<<2, 128, 0, s.a>>>(d, 9);
    (void)hipMemcpyAsync(h, d, BYTES, hipMemcpyDeviceToHost, s.a);
    if (!BAD) (void)hipStreamSynchronize(s.a);
    show(h);
}
template <bool BAD>
void managed_read_early() {
    int* m;
    (void)hipMallocManaged(&m, BYTES);
    number<<<2, 128>>>(m, 4);
    if (!BAD) (void)hipDeviceSynchronize();
    show(m);
}
template <bool BAD>
void managed_written_early() {
    int *m, *d = device();
    (void)hipMallocManaged(&m, BYTES);
    for (int i = 0; i < N; ++i) m[i] = 1;
    copy_to<<<2, 128>>>(d, m);
    if (!BAD) (void)hipDeviceSynchronize();
    for (int i = 0; i < N; ++i) m[i] = 2;
    show_device(d);
}
template <bool BAD>
void waits_for_the_wrong_stream() {
    Streams s;
    int *d = device(), *h = pinned();
    number<<<2, 128, 0, s.a>>>(d, 1);
    (void)hipMemcpyAsync(h, d, BYTES, hipMemcpyDeviceToHost, s.a);
    (void)hipStreamSynchronize(BAD ? s.b : s.a);
    show(h);
}
template <bool BAD>
void event_before_the_copy() {
    Streams s;
    hipEvent_t e;
    (void)hipEventCreate(&e);
    int *d = device(), *h = pinned();
    number<<<2, 128, 0, s.a>>>(d, 1);
    if (BAD) (void)hipEventRecord(e, s.a);
    (void)hipMemcpyAsync(h, d, BYTES, hipMemcpyDeviceToHost, s.a);
    if (!BAD) (void)hipEventRecord(e, s.a);
    (void)hipEventSynchronize(e);
    show(h);
}
template <bool BAD>
void consumer_on_another_stream() {
    Streams s;
    hipEvent_t e;
    (void)hipEventCreateWithFlags(&e, hipEventDisableTiming);
    int *d = device(), *r = device();
    number<<<2, 128, 0, s.a>>>(d, 1);
    (void)hipEventRecord(e, s.a);
    if (!BAD) (void)hipStreamWaitEvent(s.b, e, 0);
    copy_to<<<2, 128, 0, s.b>>>(r, d);
    (void)hipDeviceSynchronize();
    show_device(r);
}
template <bool BAD>
void event_on_the_wrong_stream() {
    Streams s;
    hipEvent_t e;
    (void)hipEventCreate(&e);
    int *d = device(), *r = device();
    number<<<2, 128, 0, s.a>>>(d, 1);
    (void)hipEventRecord(e, BAD ? s.b : s.a);
    (void)hipStreamWaitEvent(s.b, e, 0);
    copy_to<<<2, 128, 0, s.b>>>(r, d);
    (void)hipDeviceSynchronize();
    show_device(r);
}
template <bool BAD>
void wait_before_the_record() {
    Streams s;
    hipEvent_t e;
    (void)hipEventCreate(&e);
    int *d = device(), *r = device();
    if (BAD) (void)hipStreamWaitEvent(s.b, e, 0);
    number<<<2, 128, 0, s.a>>>(d, 1);
    (void)hipEventRecord(e, s.a);
    if (!BAD) (void)hipStreamWaitEvent(s.b, e, 0);
    copy_to<<<2, 128, 0, s.b>>>(r, d);
    (void)hipDeviceSynchronize();
    show_device(r);
}
template <bool BAD>
void null_stream_and_a_stream_of_its_own() {
    Streams s(BAD ? hipStreamNonBlocking : hipStreamDefault);
    int* d;
    (void)hipMalloc(&d, BYTES);
    (void)hipMemset(d, 1, BYTES);
    add_one<<<2, 128, 0, s.a>>>(d);
    (void)hipStreamSynchronize(s.a);
    show_device(d);
}
template <bool BAD>
void two_buffers_in_turn() {
    Streams s;
    hipEvent_t used[2];
    for (hipEvent_t& e : used) (void)hipEventCreate(&e);
    int *buffer[2] = {device(), device()}, *out = device(4 * N), *h = pinned();
    for (int k = 0; k < 4; ++k) {
        if (!BAD && k >= 2) (void)hipStreamWaitEvent(s.a, used[k % 2], 0);
        (void)hipMemcpyAsync(buffer[k % 2], h, BYTES, hipMemcpyHostToDevice, s.a);
        hipEvent_t filled;
        (void)hipEventCreate(&filled);
        (void)hipEventRecord(filled, s.a);
        (void)hipStreamWaitEvent(s.b, filled, 0);
        copy_to<<<2, 128, 0, s.b>>>(out + k * N, buffer[k % 2]);
        (void)hipEventRecord(used[k % 2], s.b);
    }
    (void)hipDeviceSynchronize();
    show_device(out, 4 * N);
}
template <bool BAD>
void host_function_result() {
    Streams s;
    static int seen;
    seen = 0;
    (void)hipLaunchHostFunc(s.a, [](void* p) { *static_cast<int*>(p) = 5; }, &seen);
    if (!BAD) (void)hipStreamSynchronize(s.a);
    std::printf("%d\n", seen);
}
template <bool BAD>
void graph_on_two_streams() {
    Streams s;
    int* d = device();
    hipGraph_t graph;
    hipGraphExec_t ready;
    (void)hipStreamBeginCapture(s.a, hipStreamCaptureModeGlobal);
    add_one<<<2, 128, 0, s.a>>>(d);
    (void)hipStreamEndCapture(s.a, &graph);
    (void)hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0);
    (void)hipGraphLaunch(ready, s.a);
    number<<<2, 128, 0, BAD ? s.b : s.a>>>(d, 3);
    (void)hipDeviceSynchronize();
    show_device(d);
}

// --- freed memory ------------------------------------------------------------------------------------------------

template <bool BAD>
void used_after_free() {
    int *d = device(), *r = device();
    if (BAD) (void)hipFree(d);
    copy_to<<<2, 128>>>(r, d);
    (void)hipDeviceSynchronize();
    if (!BAD) (void)hipFree(d);
    show_device(r);
}
template <bool BAD>
void freed_on_another_stream() {
    Streams s;
    int *d, *r = device();
    (void)hipMallocAsync(&d, BYTES, s.a);
    number<<<2, 128, 0, s.a>>>(d, 1);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    (void)hipFreeAsync(d, BAD ? s.b : s.a);
    (void)hipDeviceSynchronize();
    show_device(r);
}
template <bool BAD>
void used_after_free_on_its_stream() {
    Streams s;
    int *d, *r = device();
    (void)hipMallocAsync(&d, BYTES, s.a);
    number<<<2, 128, 0, s.a>>>(d, 1);
    if (BAD) (void)hipFreeAsync(d, s.a);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    if (!BAD) (void)hipFreeAsync(d, s.a);
    (void)hipDeviceSynchronize();
    show_device(r);
}
template <bool BAD>
void freed_twice() {
    int* d = device();
    number<<<2, 128>>>(d, 1);
    show_device(d);
    (void)hipFree(d);
    if (BAD) (void)hipFree(d);
}

// --- races between blocks ----------------------------------------------------------------------------------------

template <bool BAD>
__global__ void sum_all(int* sum) {
    if (threadIdx.x == 0) {
        if (BAD)
            *sum = *sum + 1;
        else
            atomicAdd(sum, 1);
    }
}
template <bool BAD>
void sum_of_blocks() {
    int* d = device();
    sum_all<BAD><<<8, 64>>>(d);
    show_device(d, 1);
}
__global__ void shift(int* to, const int* from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = (i ? from[i - 1] : 0) + 1;
}
template <bool BAD>
void neighbour_of_another_block() {
    int *d = device(), *r = device();
    for (int k = 0; k < 2; ++k) {
        shift<<<8, 32>>>(BAD ? d : r, d);
        if (!BAD) std::swap(d, r);
    }
    (void)hipDeviceSynchronize();
    show_device(d);
}
template <bool BAD>
__global__ void last_block_sums(int* part, int* done, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        if (!BAD) __threadfence();
        last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) sum += part[i];
        *out = sum;
    }
}
template <bool BAD>
void last_block() {
    int *part = device(), *done = device(), *out = device();
    last_block_sums<BAD><<<8, 64>>>(part, done, out);
    show_device(out, 1);
}
template <bool BAD>
__global__ void hand_on(int* data, volatile int* flag, int* out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        if (!BAD) __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        if (!BAD) __threadfence();
        *out = *data;
    }
}
template <bool BAD>
void flag_of_another_block() {
    int *data = device(), *flag = device(), *out = device();
    hand_on<BAD><<<2, 32>>>(data, flag, out);
    show_device(out, 1);
}
template <bool BAD>
__global__ void turn_round(int* a, int* b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    if (BAD)
        __syncthreads();
    else
        cooperative_groups::this_grid().sync();
    b[i] = a[n - 1 - i];
}
template <bool BAD>
void barrier_of_the_block_alone() {
    int *a = device(), *b = device();
    void* args[] = {&a, &b};
    (void)hipLaunchCooperativeKernel(turn_round<BAD>, dim3(2), dim3(128), args, 0, nullptr);
    (void)hipDeviceSynchronize();
    show_device(b);
}

// --- shared memory -----------------------------------------------------------------------------------------------

template <bool BAD>
__global__ void two_sums(int* out) {
    using Reduce = hipcub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage room;
    const int a = Reduce(room).Sum(threadIdx.x);
    if (!BAD) __syncthreads();
    const int b = Reduce(room).Sum(threadIdx.x * 2);
    if (threadIdx.x == 0) *out = a * 100 + b;
}
template <bool BAD>
void storage_of_two_sums() {
    int* d = device();
    two_sums<BAD><<<1, 128>>>(d);
    show_device(d, 1);
}
template <bool BAD>
__global__ void scan_and_exchange(int* out) {
    using Scan = hipcub::BlockScan<int, 128>;
    using Exchange = hipcub::BlockExchange<int, 128, 2>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Exchange::TempStorage exchange;
    } room;
    int v[2];
    Scan(room.scan).InclusiveSum(1, v[0]);
    v[1] = -v[0];
    if (!BAD) __syncthreads();
    Exchange(room.exchange).BlockedToStriped(v, v);
    out[threadIdx.x] = v[0];
    out[128 + threadIdx.x] = v[1];
}
template <bool BAD>
void storage_of_scan_and_exchange() {
    int* d = device();
    scan_and_exchange<BAD><<<1, 128>>>(d);
    show_device(d);
}
template <bool BAD>
__global__ void histogram(int* out) {
    __shared__ int bins[64];
    if (threadIdx.x < (BAD ? 32 : 64)) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x * 7 % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}
template <bool BAD>
void half_of_the_bins_cleared() {
    int* d = device();
    histogram<BAD><<<1, 128>>>(d);
    show_device(d, 64);
}
__global__ void mirror(int* out) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
template <bool BAD>
void dynamic_memory_too_small() {
    int* d = device();
    mirror<<<1, 128, BAD ? 127 * sizeof(int) : 128 * sizeof(int)>>>(d);
    show_device(d, 128);
}
template <bool BAD>
void dynamic_memory_left_out() {
    int* d = device();
    mirror<<<1, 128, BAD ? 0 : 128 * sizeof(int)>>>(d);
    show_device(d, 128);
}
template <bool BAD>
__global__ void pad(int* out) {
    __shared__ int tile[64];
    __shared__ int other[64];
    if (threadIdx.x < 64) other[threadIdx.x] = 1;
    if (threadIdx.x < (BAD ? 65 : 64)) tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 64] + other[threadIdx.x % 64];
}
template <bool BAD>
void tile_overrun() {
    int* d = device();
    pad<BAD><<<1, 128>>>(d);
    show_device(d, 128);
}

// --- device memory -----------------------------------------------------------------------------------------------

template <bool BAD>
void sum_without_a_start() {
    int* d;
    (void)hipMalloc(&d, BYTES);
    if (!BAD) (void)hipMemset(d, 0, BYTES);
    add_one<<<2, 128>>>(d);
    show_device(d);
}
template <bool BAD>
void memset_of_elements() {
    int* d;
    (void)hipMalloc(&d, BYTES);
    (void)hipMemset(d, 0, BAD ? N : BYTES);
    add_one<<<2, 128>>>(d);
    show_device(d);
}
template <bool BAD>
void result_half_written() {
    int* d;
    (void)hipMalloc(&d, BYTES);
    number<<<BAD ? 1 : 2, 128>>>(d, 1);
    show_device(d);
}
template <bool BAD>
void one_block_too_many() {
    int* d = device(N - 64);
    number<<<BAD ? 4 : 3, 64>>>(d, 1);
    (void)hipDeviceSynchronize();
    show_device(d, N - 64);
}
template <bool BAD>
void copy_of_too_many_bytes() {
    int* d = device();
    std::vector<int> h(2 * N, 1);
    (void)hipMemcpy(h.data(), d, BAD ? 2 * BYTES : BYTES, hipMemcpyDeviceToHost);
    show(h.data(), 2 * N);
}

// --- alignment ---------------------------------------------------------------------------------------------------

__global__ void load4(const float* from, float* to) {
    const float4 v = *reinterpret_cast<const float4*>(from + 4 * threadIdx.x);
    to[threadIdx.x] = v.x + v.y + v.z + v.w;
}
template <bool BAD>
void vector_load() {
    float* d = reinterpret_cast<float*>(device());
    float* r = reinterpret_cast<float*>(device());
    load4<<<1, 32>>>(d + (BAD ? 1 : 4), r);
    show_device(reinterpret_cast<int*>(r), 32);
}
template <bool BAD>
__global__ void store2(int* out) {
    __shared__ alignas(16) char bytes[64 * 12];
    int2* at = reinterpret_cast<int2*>(bytes + threadIdx.x * (BAD ? 12 : 8));
    *at = make_int2(threadIdx.x, 1);
    __syncthreads();
    out[threadIdx.x] = at->x + at->y;
}
template <bool BAD>
void vector_store_in_shared_memory() {
    int* d = device();
    store2<BAD><<<1, 64>>>(d);
    show_device(d, 64);
}

struct Pair {
    const char *name, *word;
    void (*bad)();
    void (*good)();
};
#define PAIR(word, name) {#name, word, name<true>, name<false>}
static const Pair pairs[] = {
    PAIR("lifetime", local_vector),
    PAIR("lifetime", new_and_delete),
    PAIR("lifetime", malloc_and_free),
    PAIR("lifetime", local_array),
    PAIR("lifetime", vector_that_grows),
    PAIR("lifetime", registered_vector_dies),
    PAIR("sync", buffer_used_again),
    PAIR("sync", pinned_buffer_used_again),
    PAIR("sync", memset_of_a_pinned_buffer),
    PAIR("sync", pinned_result_read_early),
    PAIR("sync", managed_read_early),
    PAIR("sync", managed_written_early),
    PAIR("sync", waits_for_the_wrong_stream),
    PAIR("sync", event_before_the_copy),
    PAIR("sync", consumer_on_another_stream),
    PAIR("sync", event_on_the_wrong_stream),
    PAIR("sync", wait_before_the_record),
    PAIR("sync", null_stream_and_a_stream_of_its_own),
    PAIR("sync", two_buffers_in_turn),
    PAIR("streams", host_function_result),
    PAIR("sync", graph_on_two_streams),
    PAIR("lifetime", used_after_free),
    PAIR("lifetime", freed_on_another_stream),
    PAIR("lifetime", used_after_free_on_its_stream),
    PAIR("lifetime", freed_twice),
    PAIR("race", sum_of_blocks),
    PAIR("race", neighbour_of_another_block),
    PAIR("race", last_block),
    PAIR("race", flag_of_another_block),
    PAIR("race", barrier_of_the_block_alone),
    PAIR("race", storage_of_two_sums),
    PAIR("race", storage_of_scan_and_exchange),
    PAIR("uninitialised", half_of_the_bins_cleared),
    PAIR("bounds", dynamic_memory_too_small),
    PAIR("bounds", dynamic_memory_left_out),
    PAIR("bounds", tile_overrun),
    PAIR("uninitialised", sum_without_a_start),
    PAIR("uninitialised", memset_of_elements),
    PAIR("unset", result_half_written),
    PAIR("bounds", one_block_too_many),
    PAIR("bounds", copy_of_too_many_bytes),
    PAIR("alignment", vector_load),
    PAIR("alignment", vector_store_in_shared_memory),
};

int main(int argc, char** argv) {
    for (const Pair& p : pairs) {
        if (argc < 3)
            std::printf("%s %s\n", p.name, p.word);
        else if (std::strcmp(argv[1], p.name) == 0)
            (argv[2][0] == 'b' ? p.bad : p.good)();
    }
}
