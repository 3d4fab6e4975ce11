// Reductions and scans by shuffles. Values are small integers, so that every order gives the same sum.
#include "suite.h"

#include <hip/hip_fp16.h>

template <class T>
__device__ T down(T v, int width) {
    for (int o = width / 2; o > 0; o /= 2) v += __shfl_down(v, o, width);
    return v;
}
template <class T>
__global__ void sum_down(T* out, int width) {
    out[threadIdx.x] = down(static_cast<T>(threadIdx.x), width);
}
template <class T>
__global__ void sum_xor(T* out, int width) {
    T v = static_cast<T>(threadIdx.x);
    for (int o = 1; o < width; o *= 2) v += __shfl_xor(v, o, width);
    out[threadIdx.x] = v;
}
__global__ void scan_up(int* out, int width) {
    int v = 1 + threadIdx.x % 5;
    for (int o = 1; o < width; o *= 2) {
        int other = __shfl_up(v, o, width);
        if (static_cast<int>(threadIdx.x) % width >= o) v += other;
    }
    out[threadIdx.x] = v;
}
__global__ void largest(int* out) {
    int v = (threadIdx.x * 37) % 101;
    for (int o = warpSize / 2; o > 0; o /= 2) v = max(v, __shfl_xor(v, o));
    out[threadIdx.x] = v;
}
__global__ void block_sum(int* out, const int* in) {
    __shared__ int part[32];
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    v = down<int>(v, warpSize);
    const int wave = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
    if (lane == 0) part[wave] = v;
    __syncthreads();
    if (wave == 0) {
        v = lane < static_cast<int>(blockDim.x) / warpSize ? part[lane] : 0;
        v = down<int>(v, warpSize);
        if (lane == 0) out[blockIdx.x] = v;
    }
}
__global__ void reduce_sync(int* out) {
    const u64 mine = __ballot(threadIdx.x % 2 == 0);
    if (threadIdx.x % 2 == 0) {
        out[threadIdx.x] = __reduce_add_sync(mine, 1);
    } else {
        out[threadIdx.x] = __reduce_max_sync(__activemask(), static_cast<int>(threadIdx.x) % warpSize);
    }
}
__global__ void reduce_bits(unsigned* out) {
    const u64 here = __activemask();
    out[0 * blockDim.x + threadIdx.x] = __reduce_or_sync(here, 1u << (threadIdx.x % 32));
    out[1 * blockDim.x + threadIdx.x] = __reduce_and_sync(here, ~(1u << (threadIdx.x % 8)));
    out[2 * blockDim.x + threadIdx.x] = __reduce_xor_sync(here, threadIdx.x % 32);
    out[3 * blockDim.x + threadIdx.x] = __reduce_min_sync(here, 100u + threadIdx.x % warpSize);
}
__global__ void half_sum(float* out) {
    __half v = __half(1.0f);
    for (int o = warpSize / 2; o > 0; o /= 2) v = __hadd(v, __shfl_xor(v, o));
    out[threadIdx.x] = __half2float(v);
}

static long tile_sum(int i, int w) {  // of thread numbers in the tile of i
    const long first = i / w * w;
    return first * w + static_cast<long>(w) * (w - 1) / 2;
}

template <class T>
static void both(const char* down_name, const char* xor_name) {
    Out<T> a(128), b(128);
    const int w = wave_size();
    sum_down<T><<<1, 128>>>(a.d, w);
    const std::vector<T> h = a.get();
    bool good = true;
    for (int i = 0; i < 128; i += w) good &= h[i] == static_cast<T>(tile_sum(i, w));
    say(down_name, good);
    sum_xor<T><<<1, 128>>>(b.d, w);
    say(xor_name, all(b, [w](int i) { return tile_sum(i, w); }));
}

int main() {
    const int w = wave_size();
    both<int>("down int", "xor int");
    both<unsigned>("down unsigned", "xor unsigned");
    both<float>("down float", "xor float");
    both<double>("down double", "xor double");
    both<long long>("down long long", "xor long long");
    for (int width = 2; width <= w; width *= 2) {
        Out<int> a(128), b(128), c(128);
        sum_xor<<<1, 128>>>(a.d, width);
        say("xor, every width", all(a, [width](int i) { return tile_sum(i, width); }));
        sum_down<<<1, 128>>>(b.d, width);
        const std::vector<int> h = b.get();
        bool good = true;
        for (int i = 0; i < 128; i += width) good &= h[i] == tile_sum(i, width);
        say("down, leaders of every width", good);
        scan_up<<<1, 128>>>(c.d, width);
        say("scan, every width", all(c, [width](int i) {
                int sum = 0;
                for (int k = i / width * width; k <= i; ++k) sum += 1 + k % 5;
                return sum;
            }));
    }
    Out<int> top(64);
    largest<<<1, 64>>>(top.d);
    say("largest", all(top, [w](int i) {
            int best = 0;
            for (int k = i / w * w; k < i / w * w + w; ++k) best = std::max(best, k * 37 % 101);
            return best;
        }));
    Out<int> in(4 * 256), sums(4);
    std::vector<int> values(in.n);
    for (int i = 0; i < in.n; ++i) values[i] = i % 11;
    (void)hipMemcpy(in.d, values.data(), in.n * sizeof(int), hipMemcpyHostToDevice);
    block_sum<<<4, 256>>>(sums.d, in.d);
    say("block sum in two stages", all(sums, [&](int b) {
            int sum = 0;
            for (int i = 0; i < 256; ++i) sum += values[b * 256 + i];
            return sum;
        }));
    Out<int> rs(64);
    reduce_sync<<<1, 64>>>(rs.d);
    say("reduce sync under divergence", all(rs, [w](int i) { return i % 2 == 0 ? w / 2 : w - 1; }));
    Out<unsigned> bits(4 * 64);
    reduce_bits<<<1, 64>>>(bits.d);
    say("reduce bits", all(bits, [](int i) {
            switch (i / 64) {
                case 0: return 0xffffffffu;
                case 1: return 0xffffff00u;
                case 2: return 0u;
                default: return 100u;
            }
        }));
    Out<float> hs(64);
    half_sum<<<1, 64>>>(hs.d);
    say("half sum", all(hs, [w](int) { return w; }));
}
