// Pairs of a bug and its clean twin: graphs, host functions, managed and constant memory, symbols, pools, storage of CUB,
// blocks that meet in device memory, values that nobody wrote, bounds, alignment.
// `hazards NAME bad|good` runs one; `hazards` lists them with the word that `--check` must say of the bug.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace cg = cooperative_groups;
constexpr int N = 256;
constexpr size_t BYTES = N * sizeof(int);

static void show_host(const int* h, int n = N) {
    unsigned sum = 7;
    for (int i = 0; i < n; ++i) sum = sum * 31 + h[i];
    std::printf("%u\n", sum);
}
static void show(const int* d, int n = N) {
    std::vector<int> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    show_host(h.data(), n);
}
static int* device(int n = 4 * N, int value = 0) {
    int* d;
    cudaMalloc(&d, n * sizeof(int));
    std::vector<int> h(n);
    for (int i = 0; i < n; ++i) h[i] = value ? i % value : 0;
    cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    return d;
}
static int* pinned() {
    int* h;
    cudaMallocHost(&h, BYTES);
    for (int i = 0; i < N; ++i) h[i] = i;
    return h;
}
struct Streams {
    cudaStream_t a, b;
    Streams() {
        cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    }
};
static cudaEvent_t recorded(cudaStream_t s) {
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaEventRecord(e, s);
    return e;
}
#define PLACE [[maybe_unused]] const int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 128 + t

__global__ void add_one(int* d) { d[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void number(int* d, int first) { d[blockIdx.x * blockDim.x + threadIdx.x] = first + threadIdx.x; }
__global__ void copy_to(int* to, const int* from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}
__constant__ int factors[16];
__global__ void multiply(int* d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = i * factors[i % 16];
}

// --- host memory of asynchronous copies --------------------------------------------------------------------------

template <bool BAD>
void owned_by_a_pointer() {
    Streams s;
    int* d = device();
    auto h = std::make_unique<int[]>(N);
    cudaMemcpyAsync(d, h.get(), BYTES, cudaMemcpyHostToDevice, s.a);
    if (!BAD) cudaStreamSynchronize(s.a);
    h.reset();
    cudaDeviceSynchronize();
    show(d);
}
template <bool BAD>
__attribute__((noinline)) void set_factors(cudaStream_t s) {
    int h[16];
    for (int k = 0; k < 16; ++k) h[k] = k * k;
    cudaMemcpyToSymbolAsync(factors, h, sizeof h, 0, cudaMemcpyHostToDevice, s);
    if (!BAD) cudaStreamSynchronize(s);
}
template <bool BAD>
void symbol_from_a_local() {
    Streams s;
    int* d = device();
    set_factors<BAD>(s.a);
    multiply<<<2, 128, 0, s.a>>>(d);
    cudaStreamSynchronize(s.a);
    show(d);
}
template <bool BAD>
void rows_of_a_vector() {
    Streams s;
    int* d = device();
    {
        std::vector<int> h(N, 3);
        cudaMemcpy2DAsync(d, 64, h.data(), 32, 32, 16, cudaMemcpyHostToDevice, s.a);
        if (!BAD) cudaStreamSynchronize(s.a);
    }
    cudaStreamSynchronize(s.a);
    show(d);
}

// --- host functions ----------------------------------------------------------------------------------------------

static std::vector<int> seen;
static void note(void* p) { seen.push_back(*static_cast<int*>(p)); }
template <bool BAD>
void argument_used_again() {
    Streams s;
    int arguments[4];
    for (int k = 0; k < 4; ++k) {
        int& x = arguments[BAD ? 0 : k];
        x = k;
        cudaLaunchHostFunc(s.a, note, &x);
    }
    cudaStreamSynchronize(s.a);
    show_host(seen.data(), 4);
}
static void fill(void* p) {
    for (int i = 0; i < N; ++i) static_cast<int*>(p)[i] = 3 * i;
}
template <bool BAD>
void filled_by_a_host_function() {
    Streams s;
    int *d = device(), *h = pinned();
    cudaLaunchHostFunc(s.a, fill, h);
    if (!BAD) cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s.b);
    cudaDeviceSynchronize();
    show(d);
}
static void sum_up(cudaStream_t, cudaError_t, void* p) {
    int* h = static_cast<int*>(p);
    for (int i = 1; i < N; ++i) h[0] += h[i];
}
template <bool BAD>
void callback_before_the_copy() {
    Streams s;
    int *d = device(), *h = pinned();
    number<<<2, 128, 0, s.a>>>(d, 2);
    if (BAD) cudaStreamAddCallback(s.b, sum_up, h, 0);
    cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, s.a);
    if (!BAD) cudaStreamAddCallback(s.a, sum_up, h, 0);
    cudaDeviceSynchronize();
    std::printf("%d\n", h[0]);
}

// --- graphs ------------------------------------------------------------------------------------------------------

static cudaGraphExec_t ended(cudaStream_t s) {
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&e, g, nullptr, nullptr, 0);
    return e;
}
template <bool BAD>
void captured_copy_of_a_vector() {
    Streams s;
    int* d = device();
    auto h = std::make_unique<std::vector<int>>(N, 4);
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, h->data(), BYTES, cudaMemcpyHostToDevice, s.a);
    cudaGraphExec_t e = ended(s.a);
    if (BAD) h.reset();
    cudaGraphLaunch(e, s.a);
    cudaStreamSynchronize(s.a);
    show(d);
}
template <bool BAD>
void nodes_without_an_edge() {
    Streams s;
    int *d = device(), first = 5;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphNode_t clear, kernel;
    cudaGraphCreate(&g, 0);
    cudaMemsetParams m{};
    m.dst = d, m.elementSize = 4, m.width = N, m.height = 1;
    cudaGraphAddMemsetNode(&clear, g, nullptr, 0, &m);
    void* arguments[] = {&d, &first};
    cudaKernelNodeParams k{};
    k.func = reinterpret_cast<void*>(number), k.gridDim = dim3(2), k.blockDim = dim3(128), k.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, g, &clear, BAD ? 0 : 1, &k);
    cudaGraphInstantiate(&e, g, nullptr, nullptr, 0);
    cudaGraphLaunch(e, s.a);
    cudaStreamSynchronize(s.a);
    show(d);
}
template <bool BAD>
void branches_of_a_capture() {
    Streams s;
    int *d = device(), *r = device();
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    number<<<2, 128, 0, s.b>>>(d, 6);
    const cudaEvent_t done = recorded(s.b);
    if (!BAD) cudaStreamWaitEvent(s.a, done, 0);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    if (BAD) cudaStreamWaitEvent(s.a, done, 0);
    cudaGraphExec_t e = ended(s.a);
    cudaGraphLaunch(e, s.a);
    cudaStreamSynchronize(s.a);
    show(r);
}
template <bool BAD>
void graph_of_freed_memory() {
    Streams s;
    int *d = device(), *r = device();
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    cudaGraphExec_t e = ended(s.a);
    for (int k = 0; k < 2; ++k) {
        cudaGraphLaunch(e, s.a);
        cudaStreamSynchronize(s.a);
        if (BAD) cudaFree(d);
        if (BAD) break;
    }
    cudaGraphLaunch(e, s.a);
    cudaStreamSynchronize(s.a);
    show(r);
}
template <bool BAD>
void graph_and_the_host() {
    Streams s;
    int* m;
    cudaMallocManaged(&m, BYTES);
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    number<<<2, 128, 0, s.a>>>(m, 7);
    cudaGraphExec_t e = ended(s.a);
    cudaGraphLaunch(e, s.a);
    if (!BAD) cudaStreamSynchronize(s.a);
    show_host(m);
}
template <bool BAD>
void input_of_the_next_launch() {
    Streams s;
    int *d = device(), *r = device(), *h = pinned();
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, s.a);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    cudaGraphExec_t e = ended(s.a);
    for (int k = 0; k < 3; ++k) {
        if (!BAD && k) cudaStreamSynchronize(s.a);
        for (int i = 0; i < N; ++i) h[i] = i * k;
        cudaGraphLaunch(e, s.a);
    }
    cudaStreamSynchronize(s.a);
    show(r);
}
template <bool BAD>
void two_launches_of_two_graphs() {
    Streams s;
    int* d = device();
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    number<<<2, 128, 0, s.a>>>(d, 3);
    cudaGraphExec_t first = ended(s.a);
    cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal);
    add_one<<<2, 128, 0, s.a>>>(d);
    cudaGraphExec_t second = ended(s.a);
    cudaGraphLaunch(first, s.a);
    cudaGraphLaunch(second, BAD ? s.b : s.a);
    cudaDeviceSynchronize();
    show(d);
}

// --- managed and constant memory, streams, pools -----------------------------------------------------------------

__managed__ int board[N];
__global__ void on_the_board(int first) { board[blockIdx.x * blockDim.x + threadIdx.x] = first + threadIdx.x; }
template <bool BAD>
void managed_variable() {
    on_the_board<<<2, 128>>>(3);
    if (!BAD) cudaDeviceSynchronize();
    show_host(board);
}
template <bool BAD>
void managed_after_the_wrong_event() {
    Streams s;
    int* m;
    cudaMallocManaged(&m, BYTES);
    cudaMemset(m, 0, BYTES);
    cudaDeviceSynchronize();
    cudaEvent_t e = recorded(s.a);
    add_one<<<2, 128, 0, s.a>>>(m);
    if (!BAD) e = recorded(s.a);
    cudaEventSynchronize(e);
    for (int i = 0; i < N; ++i) m[i] *= 2;
    show_host(m);
}
template <bool BAD>
void constants_of_the_next_kernel() {
    Streams s;
    int *d = device(), h[16];
    for (int k = 0; k < 16; ++k) h[k] = k;
    cudaMemcpyToSymbol(factors, h, sizeof h);
    multiply<<<2, 128, 0, s.a>>>(d);
    for (int k = 0; k < 16; ++k) h[k] = 2 * k;
    if (!BAD) cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    cudaMemcpyToSymbolAsync(factors, h, sizeof h, 0, cudaMemcpyHostToDevice, s.b);
    cudaDeviceSynchronize();
    show(d);
}
template <bool BAD>
void cleared_on_another_stream() {
    Streams s;
    int* d = device();
    cudaMemsetAsync(d, 1, BYTES, s.a);
    if (!BAD) cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    add_one<<<2, 128, 0, s.b>>>(d);
    cudaDeviceSynchronize();
    show(d);
}
template <bool BAD>
void allocated_on_another_stream() {
    Streams s;
    int* d;
    cudaMallocAsync(reinterpret_cast<void**>(&d), BYTES, s.a);
    if (!BAD) cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    number<<<2, 128, 0, s.b>>>(d, 4);
    cudaDeviceSynchronize();
    show(d);
}
template <bool BAD>
void freed_before_another_streams_kernel() {
    Streams s;
    int *d, *r = device();
    cudaMallocAsync(reinterpret_cast<void**>(&d), BYTES, s.a);
    number<<<2, 128, 0, s.a>>>(d, 4);
    cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    copy_to<<<2, 128, 0, s.b>>>(r, d);
    if (!BAD) cudaStreamWaitEvent(s.a, recorded(s.b), 0);
    cudaFreeAsync(d, s.a);
    cudaDeviceSynchronize();
    show(r);
}
template <bool BAD>
void values_of_the_one_before() {  // a pool gives the same memory again
    Streams s;
    int *d, *r = device();
    cudaMallocAsync(reinterpret_cast<void**>(&d), BYTES, s.a);
    number<<<2, 128, 0, s.a>>>(d, 4);
    cudaFreeAsync(d, s.a);
    cudaMallocAsync(reinterpret_cast<void**>(&d), BYTES, s.a);
    if (!BAD) number<<<2, 128, 0, s.a>>>(d, 5);
    copy_to<<<2, 128, 0, s.a>>>(r, d);
    cudaStreamSynchronize(s.a);
    show(r);
}

// --- blocks that meet in device memory ---------------------------------------------------------------------------

using Kernel = void(int*, int*);
static void run(Kernel* kernel) {  // two blocks of 128 threads, `in` holds small numbers, `out` zeros
    int *out = device(), *in = device(4 * N, 13);
    kernel<<<2, 128>>>(out, in);
    show(out);
}
static void run_cooperative(Kernel* kernel) {
    int *out = device(), *in = device(4 * N, 13);
    void* arguments[] = {&out, &in};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(2), dim3(128), arguments, 0, nullptr);
    show(out);
}
template <bool BAD>
__global__ void scattered(int* out, int* in) {
    PLACE;
    if (BAD) out[in[i]] = i;
    else atomicMax(&out[in[i]], i);
}
template <bool BAD>
__global__ void transposed_in_place(int*, int* in) {
    PLACE;
    const int y = i / 16, x = i % 16;
    if (BAD || x < y) {
        const int mine = in[y * 16 + x], other = in[x * 16 + y];
        in[y * 16 + x] = other;
        if (!BAD) in[x * 16 + y] = mine;
    }
}
template <bool BAD>
__global__ void largest(int* out, int* in) {
    PLACE;
    const int x = in[i] * 37 % 101;
    if (BAD) {
        if (x > out[0]) out[0] = x;
    } else {
        atomicMax(&out[0], x);
    }
}
template <bool BAD>
__global__ void others_stop(int* out, int* in) {
    PLACE;
    if (BAD && out[300]) return;
    if (in[i] == 12) out[300] = 1;
    out[i] = in[i];
}
template <bool BAD>
__global__ void flag_before_the_value(int* out, int* in) {
    PLACE;
    if (t) return;
    if (blockIdx.x == 0) {
        if (BAD) atomicExch(&out[300], 1);
        out[301] = in[5];
        __threadfence();
        if (!BAD) atomicExch(&out[300], 1);
    } else {
        while (atomicAdd(&out[300], 0) == 0) {}
        __threadfence();
        out[0] = out[301];
    }
}
template <bool BAD>
__global__ void one_sync_for_two(int* out, int* in) {
    PLACE;
    auto grid = cg::this_grid();
    for (int k = 0; k < 3; ++k) {
        const int x = in[N - 1 - i];
        if (!BAD) grid.sync();
        in[i] = x + k;
        grid.sync();
    }
    out[i] = in[i];
}
template <bool BAD>
__global__ void bits_of_bytes(int* out, int* in) {
    PLACE;
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    if (BAD) {
        if (in[i] > 6) bytes[i / 8] |= 1 << i % 8;
    } else {
        const unsigned bits = __ballot_sync(~0u, in[i] > 6);
        if (lane % 8 == 0) bytes[i / 8] = bits >> lane;
    }
}

// --- storage of CUB ----------------------------------------------------------------------------------------------

template <bool BAD>
__global__ void scan_in_a_loop(int* out, int* in) {
    PLACE;
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage room;
    int total = 0;
    for (int k = 0; k < 3; ++k) {
        int x;
        Scan(room).ExclusiveSum(in[i] + k, x);
        total += x;
        if (!BAD) __syncthreads();
    }
    out[i] = total;
}
template <bool BAD>
__global__ void load_and_sort(int* out, int* in) {
    using Load = cub::BlockLoad<int, 128, 2, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, 128, 2>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
    } room;
    int v[2];
    Load(room.load).Load(in + blockIdx.x * 256, v);
    if (!BAD) __syncthreads();
    Sort(room.sort).Sort(v);
    out[blockIdx.x * 256 + threadIdx.x * 2] = v[0];
    out[blockIdx.x * 256 + threadIdx.x * 2 + 1] = v[1];
}
template <bool BAD>
__global__ void storage_used_as_an_array(int* out, int* in) {
    PLACE;
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        int tile[128];
    } room;
    room.tile[t] = in[i];
    __syncthreads();
    const int mirrored = room.tile[127 - t];
    if (!BAD) __syncthreads();
    const int sum = Reduce(room.reduce).Sum(mirrored * t);
    if (t == 0) out[blockIdx.x] = sum;
}
template <bool BAD>
__global__ void sum_of_the_first_thread(int* out, int* in) {
    PLACE;
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage room;
    __shared__ int all;
    const int sum = Reduce(room).Sum(in[i]);
    if (t == 0) all = sum;
    __syncthreads();
    out[i] = in[i] * 128 - (BAD ? sum : all);
}
template <bool BAD>
__global__ void one_storage_for_all_warps(int* out, int* in) {
    using Exchange = cub::WarpExchange<int, 2, 32>;
    __shared__ typename Exchange::TempStorage room[4];
    const int t = threadIdx.x, first = blockIdx.x * 256 + 2 * t;
    int v[2] = {in[first], in[first + 1]};
    Exchange(room[BAD ? 0 : t / 32]).BlockedToStriped(v, v);
    out[first] = v[0];
    out[first + 1] = v[1];
}

// --- values that nobody wrote ------------------------------------------------------------------------------------

template <bool BAD>
void end_of_the_rows() {
    char* d;
    size_t pitch;
    cudaMallocPitch(reinterpret_cast<void**>(&d), &pitch, 200, 4);
    cudaMemset2D(d, pitch, 1, BAD ? 200 : pitch, 4);
    int* r = device();
    copy_to<<<1, 64>>>(r, reinterpret_cast<int*>(d));
    show(r);
}
template <bool BAD>
void copy_of_unset_memory() {
    int *d, *e = device(N), *r = device(N);
    cudaMalloc(&d, BYTES);
    if (!BAD) cudaMemset(d, 0, BYTES);
    cudaMemcpy(e, d, BYTES, cudaMemcpyDeviceToDevice);
    copy_to<<<2, 128>>>(r, e);
    show(r);
}
template <bool BAD>
void grown_buffer() {
    int *old = device(N, 7), *d, *r = device();
    cudaMalloc(&d, 2 * BYTES);
    if (!BAD) cudaMemset(d, 0, 2 * BYTES);
    cudaMemcpy(d, old, BYTES, cudaMemcpyDeviceToDevice);
    copy_to<<<4, 128>>>(r, d);
    show(r);
}
struct Cell {
    int key, next;
};
__global__ void set_keys(Cell* c, bool both) {
    c[threadIdx.x].key = threadIdx.x;
    if (both) c[threadIdx.x].next = -1;
}
__global__ void follow(const Cell* c, int* out) {
    const Cell x = c[threadIdx.x];
    out[threadIdx.x] = x.next < 0 ? x.key : -5;
}
template <bool BAD>
void field_that_nobody_set() {
    Cell* c;
    cudaMalloc(&c, 64 * sizeof(Cell));
    int* r = device();
    set_keys<<<1, 64>>>(c, !BAD);
    follow<<<1, 64>>>(c, r);
    show(r);
}
template <bool BAD>
__global__ void memory_of_the_kernel(int* out, int* in) {
    PLACE;
    int* mine = static_cast<int*>(malloc(8 * sizeof(int)));
    for (int k = BAD ? 1 : 0; k < 8; ++k) mine[k] = in[i] + k;
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += mine[k];
    out[i] = sum;
    free(mine);
}

// --- variables of the device -------------------------------------------------------------------------------------

__device__ int total, partial[N];
template <bool BAD>
__global__ void sum_in_a_variable(int* out, int* in) {
    PLACE;
    if (BAD) total = total + in[i];
    else atomicAdd(&total, in[i]);
}
template <bool BAD>
__global__ void other_blocks_variable(int* out, int* in) {
    PLACE;
    partial[i] = in[i];
    if (BAD) __syncthreads();
    else cg::this_grid().sync();
    out[i] = partial[N - 1 - i];
}
__global__ void to_variable(int first) { partial[blockIdx.x * 128 + threadIdx.x] = first + threadIdx.x; }
__global__ void from_variable(int* d) { d[blockIdx.x * 128 + threadIdx.x] = partial[blockIdx.x * 128 + threadIdx.x]; }
template <bool BAD>
void variable_of_two_streams() {
    Streams s;
    int* d = device();
    to_variable<<<2, 128, 0, s.a>>>(3);
    if (!BAD) cudaStreamWaitEvent(s.b, recorded(s.a), 0);
    from_variable<<<2, 128, 0, s.b>>>(d);
    cudaDeviceSynchronize();
    show(d);
}

// --- bounds and alignment ----------------------------------------------------------------------------------------

template <bool BAD>
__global__ void left_neighbour(int* out, int* in) {
    PLACE;
    out[i] = in[i] + (BAD || i ? in[i - 1] : 0);
}
template <bool BAD>
__global__ void pair_of_halves(int* out, int* in) {
    PLACE;
    __half* h = reinterpret_cast<__half*>(in);
    const __half2 v = *reinterpret_cast<__half2*>(h + 2 * t + (BAD ? 1 : 0));
    out[i] = __half2float(__hadd(v.x, v.y)) > 1;
}
template <bool BAD>
__global__ void wide_atomic(int* out, int* in) {
    PLACE;
    atomicAdd(reinterpret_cast<unsigned long long*>(out + (BAD ? 1 : 2)), (unsigned long long)in[i]);
}
template <bool BAD>
__global__ void read_only_load(int* out, int* in) {
    PLACE;
    const int4 v = __ldg(reinterpret_cast<const int4*>(in + (BAD ? 2 : 4) * t));
    out[i] = v.x + v.w;
}
template <bool BAD>
__global__ void behind_a_header(int* out, int* in) {
    PLACE;
    const char* bytes = reinterpret_cast<const char*>(in);
    const double* values = reinterpret_cast<const double*>(bytes + (BAD ? 12 : 16));
    out[i] = values[t] != 0;
}
struct __align__(16) Quad {
    float x, y, z, w;
};
template <bool BAD>
__global__ void aligned_class(int* out, int* in) {
    PLACE;
    const Quad* q = reinterpret_cast<const Quad*>(in + (BAD ? 6 : 8));
    out[i] = q[t].y > 0;
}

template <bool BAD>
__global__ void bit_of_a_word(int* out, int* in) {
    PLACE;
    const int n = i % (BAD ? 37 : 32);
    out[i] = (in[i] & (1 << n)) != 0;
}
template <bool BAD>
__global__ void high_bits(int* out, int* in) {
    PLACE;
    const unsigned n = i % 16;
    out[i] = BAD || n ? in[i] >> (32 - n) : 0;
}
template <bool BAD>
__global__ void wide_mask(int* out, int* in) {
    PLACE;
    const unsigned n = 40 + i % 30;
    out[i] = (BAD || n < 64) && ((1ull << n) & in[i]) != 0;
}

struct Pair {
    const char *name, *word;
    void (*bad)();
    void (*good)();
};
#define PAIR(word, name) {#name, word, name<true>, name<false>}
#define KERNELS(word, name) {#name, word, [] { run(name<true>); }, [] { run(name<false>); }}
#define COOPERATIVE(word, name) {#name, word, [] { run_cooperative(name<true>); }, [] { run_cooperative(name<false>); }}
static const Pair pairs[] = {
    PAIR("lifetime", owned_by_a_pointer),
    PAIR("lifetime", symbol_from_a_local),
    PAIR("lifetime", rows_of_a_vector),
    PAIR("streams", argument_used_again),
    PAIR("sync", filled_by_a_host_function),
    PAIR("sync", callback_before_the_copy),
    PAIR("lifetime", captured_copy_of_a_vector),
    PAIR("sync", nodes_without_an_edge),
    PAIR("sync", branches_of_a_capture),
    PAIR("lifetime", graph_of_freed_memory),
    PAIR("sync", graph_and_the_host),
    PAIR("sync", input_of_the_next_launch),
    PAIR("sync", two_launches_of_two_graphs),
    PAIR("sync", managed_variable),
    PAIR("sync", managed_after_the_wrong_event),
    PAIR("sync", constants_of_the_next_kernel),
    PAIR("sync", cleared_on_another_stream),
    PAIR("lifetime", allocated_on_another_stream),
    PAIR("lifetime", freed_before_another_streams_kernel),
    PAIR("uninitialised", values_of_the_one_before),
    KERNELS("race", scattered),
    KERNELS("race", transposed_in_place),
    KERNELS("race", largest),
    KERNELS("race", others_stop),
    KERNELS("race", flag_before_the_value),
    COOPERATIVE("race", one_sync_for_two),
    KERNELS("lockstep", bits_of_bytes),
    KERNELS("race", scan_in_a_loop),
    KERNELS("race", load_and_sort),
    KERNELS("race", storage_used_as_an_array),
    KERNELS("unset", sum_of_the_first_thread),
    KERNELS("race", one_storage_for_all_warps),
    PAIR("uninitialised", end_of_the_rows),
    PAIR("unset", copy_of_unset_memory),
    PAIR("uninitialised", grown_buffer),
    PAIR("uninitialised", field_that_nobody_set),
    KERNELS("uninitialised", memory_of_the_kernel),
    KERNELS("race", sum_in_a_variable),
    COOPERATIVE("race", other_blocks_variable),
    PAIR("sync", variable_of_two_streams),
    KERNELS("bounds", left_neighbour),
    KERNELS("alignment", pair_of_halves),
    KERNELS("alignment", wide_atomic),
    KERNELS("alignment", read_only_load),
    KERNELS("alignment", behind_a_header),
    KERNELS("alignment", aligned_class),
    KERNELS("shift", bit_of_a_word),
    KERNELS("shift", high_bits),
    KERNELS("shift", wide_mask),
};

int main(int argc, char** argv) {
    for (const Pair& p : pairs) {
        if (argc < 3)
            std::printf("%s %s\n", p.name, p.word);
        else if (std::strcmp(argv[1], p.name) == 0)
            (argv[2][0] == 'b' ? p.bad : p.good)();
    }
}
