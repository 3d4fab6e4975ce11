// Barriers and shared memory.
#include "suite.h"

extern __shared__ int anywhere[];

__global__ void reverse(int* d) {
    __shared__ int s[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = d[i];
    __syncthreads();
    d[i] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void tree(int* out, const int* in) {
    extern __shared__ int part[];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned o = blockDim.x / 2; o > 0; o /= 2) {
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
template <class T>
struct Named;
#define NAMED(t, n)                                   \
    template <>                                       \
    struct Named<t> {                                 \
        __device__ static t* get() {                  \
            extern __shared__ t n[];                  \
            return n;                                 \
        }                                             \
    }
NAMED(int, ints);
NAMED(double, doubles);
__global__ void shared_of_macros(int* out) {
    Named<int>::get()[threadIdx.x] = 3 * threadIdx.x;
    __syncthreads();
    const int x = Named<int>::get()[threadIdx.x ^ 1];
    __syncthreads();
    Named<double>::get()[threadIdx.x] = x + 0.5;
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(2 * Named<double>::get()[threadIdx.x ^ 2]);
}
template <int N>
__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[N][N], tb[N][N + 1];
    const int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += N) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < N; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__global__ void votes(int* out) {
    const int t = threadIdx.x;
    out[3 * t] = __syncthreads_count(t % 3 == 0);
    out[3 * t + 1] = __syncthreads_and(t < 200);
    out[3 * t + 2] = __syncthreads_or(t == 199);
}
struct Pair {
    int a;
    double b;
};
__global__ void kinds(double* out) {
    __shared__ Pair pairs[32];
    __shared__ volatile int flag;
    __shared__ __align__(16) unsigned char bytes[64];
    __shared__ float4 wide;
    if (threadIdx.x == 0) {
        flag = 7;
        wide = make_float4(1, 2, 3, 4);
    }
    if (threadIdx.x < 32) pairs[threadIdx.x] = {static_cast<int>(threadIdx.x), threadIdx.x * 0.5};
    if (threadIdx.x < 64) bytes[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const Pair p = pairs[31 - threadIdx.x % 32];
    const bool aligned = reinterpret_cast<unsigned long>(bytes) % 16 == 0;
    out[threadIdx.x] = p.a + p.b + flag + bytes[threadIdx.x % 64] + wide.w + (aligned ? 100 : 0);
}
__global__ void namespace_scope(int* out) {
    anywhere[threadIdx.x] = threadIdx.x * 2;
    __syncthreads();
    out[threadIdx.x] = anywhere[(threadIdx.x + 1) % blockDim.x];
}
__device__ int neighbour(int v) {
    __shared__ int s[128];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
    return s[(threadIdx.x + 1) % blockDim.x];
}
__global__ void in_functions(int* out) { out[threadIdx.x] = neighbour(neighbour(threadIdx.x)); }
__global__ void leavers(int* out, int n) {  // threads that are done do not hold up the others
    __shared__ int s[128];
    if (static_cast<int>(threadIdx.x) >= n) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}
__global__ void three_dimensions(int* out) {
    __shared__ int s[4][4][8];
    s[threadIdx.z][threadIdx.y][threadIdx.x] = (threadIdx.z * 4 + threadIdx.y) * 8 + threadIdx.x;
    __syncthreads();
    const int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[rank] = s[3 - threadIdx.z][3 - threadIdx.y][7 - threadIdx.x];
}
__global__ void waves_take_turns(int* out) {  // one wave writes, the others read, round by round
    __shared__ int box;
    const int wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
    int sum = 0;
    for (int w = 0; w < waves; ++w) {
        if (wave == w && threadIdx.x % warpSize == 0) box = w + 1;
        __syncthreads();
        sum = sum * 10 + box;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
__global__ void barrier_and_shuffle(int* out) {
    __shared__ int s[256];
    int v = threadIdx.x;
    for (int i = 0; i < 3; ++i) {
        v = __shfl_xor(v, 1);
        s[threadIdx.x] = v;
        __syncthreads();
        v = s[threadIdx.x ^ 2];
        __syncthreads();
    }
    out[threadIdx.x] = v;
}
__global__ void producer_consumer(int* out) {  // waves that meet through memory
    __shared__ volatile int ready;
    __shared__ int value;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    const int wave = threadIdx.x / warpSize;
    if (wave == 0) {
        if (threadIdx.x == 0) {
            while (ready == 0) {
            }
            out[0] = value;
        }
    } else if (wave == 1 && threadIdx.x % warpSize == 0) {
        value = 42;
        __threadfence_block();
        ready = 1;
    }
}
__global__ void many(int* out) {
    __shared__ int s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[1023 - threadIdx.x];
}

int main() {
    Out<int> named(64);
    shared_of_macros<<<1, 64, 64 * sizeof(double)>>>(named.d);
    say("shared memory that a macro names", all(named, [](int i) { return 6 * (i ^ 3) + 1; }));
    const int w = wave_size();
    Out<int> d(1024);
    std::vector<int> h(1024);
    for (int i = 0; i < 1024; ++i) h[i] = i;
    (void)hipMemcpy(d.d, h.data(), 4096, hipMemcpyHostToDevice);
    reverse<<<4, 256>>>(d.d);
    say("reverse", all(d, [](int i) { return i / 256 * 256 + 255 - i % 256; }));
    Out<int> sums(4);
    tree<<<4, 256, 256 * sizeof(int)>>>(sums.d, d.d);
    say("tree in dynamic shared memory", all(sums, [](int b) { return b * 256 * 256 + 255 * 128; }));
    const int n = 48;
    Out<float> a(n * n), b(n * n), c(n * n);
    std::vector<float> ha(n * n), hb(n * n);
    for (int i = 0; i < n * n; ++i) ha[i] = i % 7, hb[i] = i % 5;
    (void)hipMemcpy(a.d, ha.data(), n * n * 4, hipMemcpyHostToDevice);
    (void)hipMemcpy(b.d, hb.data(), n * n * 4, hipMemcpyHostToDevice);
    multiply<16><<<dim3(3, 3), dim3(16, 16)>>>(a.d, b.d, c.d, n);
    say("tiled multiply", all(c, [&](int i) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += ha[i / n * n + k] * hb[k * n + i % n];
            return sum;
        }));
    Out<int> v(600);
    votes<<<1, 200>>>(v.d);
    say("count, and, or", all(v, [](int i) { return i % 3 == 0 ? 67 : 1; }));
    Out<double> k(64);
    kinds<<<1, 64>>>(k.d);
    say("kinds of variables", all(k, [](int i) {
            const int j = 31 - i % 32;
            return j * 1.5 + 7 + i + 4 + 100;
        }));
    Out<int> ns(100), fn(128), lv(100), td(128), tt(256), bs(256), pc(1), mm(1024);
    namespace_scope<<<1, 100, 400>>>(ns.d);
    say("extern at namespace scope", all(ns, [](int i) { return (i + 1) % 100 * 2; }));
    in_functions<<<1, 128>>>(fn.d);
    say("shared variables of functions", all(fn, [](int i) { return (i + 2) % 128; }));
    leavers<<<1, 128>>>(lv.d, 100);
    say("threads that left", all(lv, [](int i) { return 99 - i; }));
    three_dimensions<<<1, dim3(8, 4, 4)>>>(td.d);
    say("three dimensions", all(td, [](int i) { return 127 - i; }));
    waves_take_turns<<<1, 256>>>(tt.d);
    int turns = 0;
    for (int i = 1; i <= 256 / w; ++i) turns = turns * 10 + i;
    say("waves take turns", all(tt, [=](int) { return turns; }));
    barrier_and_shuffle<<<1, 256>>>(bs.d);
    say("barriers and shuffles", all(bs, [](int i) { return i ^ 1 ^ 2; }));
    producer_consumer<<<1, 256>>>(pc.d);
    say("waves that meet through memory", pc.get()[0] == 42);
    many<<<2, 1024>>>(mm.d);
    say("1024 threads", all(mm, [](int i) { return 1023 - i; }));
}
