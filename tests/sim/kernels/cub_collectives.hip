// hipCUB's collectives of warps and blocks, against loops over the same values.
#include "suite.h"

#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <numeric>

constexpr int kN = 96, kItems = 4;  // not a multiple of 64: the last wave is half empty

static int value(int i) { return (i * 7919 + 13) % 1000 - 500; }
__device__ int device_value(int i) { return (i * 7919 + 13) % 1000 - 500; }

struct Wide {  // wider than what lanes show at once
    double a, b, c;
    __host__ __device__ Wide operator+(const Wide& o) const { return {a + o.a, b + o.b, c + o.c}; }
};

__global__ void limits(float* out) {
    out[0] = hipcub::FpLimits<float>::Lowest();
    out[1] = __half2float(hipcub::FpLimits<__half>::Max());
    out[2] = static_cast<float>(hipcub::FpLimits<hip_bfloat16>::Lowest());
    out[3] = static_cast<float>(hipcub::FpLimits<double>::Max() > 1e308);
}

struct Greater {
    __device__ bool operator()(int a, int b) const { return a > b; }
};
__global__ void merges(int* keys, int* values, int* warps) {
    using Sort = hipcub::BlockMergeSort<int, kN, kItems, int>;
    using Warp = hipcub::WarpMergeSort<int, kItems, 32>;
    __shared__ typename Sort::TempStorage storage;
    __shared__ typename Warp::TempStorage of_warps[kN / 32];
    const int t = threadIdx.x;
    int key[kItems], number[kItems], other[kItems];
    for (int i = 0; i < kItems; ++i) {
        key[i] = device_value(t * kItems + i) % 50;
        number[i] = t * kItems + i;
        other[i] = device_value(number[i]);
    }
    Sort(storage).StableSort(key, number, Greater(), kN * kItems - 7, -1000);
    Warp(of_warps[t / 32]).Sort(other, Greater());
    for (int i = 0; i < kItems; ++i) {
        keys[t * kItems + i] = key[i];
        values[t * kItems + i] = number[i];
        warps[t * kItems + i] = other[i];
    }
}
__global__ void shuffles(int* out) {
    using Shuffle = hipcub::BlockShuffle<int, kN>;
    __shared__ typename Shuffle::TempStorage storage;
    const int t = threadIdx.x;
    int back = -1, around, items[2] = {2 * t, 2 * t + 1}, up[2] = {-1, -1}, down[2] = {-1, -1}, last, first;
    Shuffle(storage).Offset(t, back, -3);
    __syncthreads();
    Shuffle(storage).Rotate(t, around, 5);
    __syncthreads();
    Shuffle(storage).Up(items, up, last);
    __syncthreads();
    Shuffle(storage).Down(items, down, first);
    const int all[] = {back, around, up[0], up[1], down[0], down[1], last, first};
    for (int i = 0; i < 8; ++i) out[t * 8 + i] = all[i];
}

__global__ void reduces(int* out) {
    using Reduce = hipcub::BlockReduce<int, kN>;
    __shared__ typename Reduce::TempStorage storage;
    const int x = device_value(threadIdx.x);
    const int sum = Reduce(storage).Sum(x);
    __syncthreads();
    const int most = Reduce(storage).Reduce(x, hipcub::Max());
    __syncthreads();
    const int some = Reduce(storage).Sum(x, 10);
    __syncthreads();
    int items[2] = {x, 2 * x};
    const int twice = Reduce(storage).Sum(items);
    if (threadIdx.x == 0) out[0] = sum, out[1] = most, out[2] = some, out[3] = twice;
}
__global__ void block_of_two_axes(int* out) {
    using Reduce = hipcub::BlockReduce<int, 16, hipcub::BLOCK_REDUCE_RAKING, 4>;
    __shared__ typename Reduce::TempStorage storage;
    const int sum = Reduce(storage).Sum(threadIdx.y * 16 + threadIdx.x);
    if (threadIdx.x == 0 && threadIdx.y == 0) *out = sum;
}
__global__ void scans(int* inclusive, int* exclusive, int* most, int* total) {
    using Scan = hipcub::BlockScan<int, kN>;
    __shared__ typename Scan::TempStorage storage;
    const int i = threadIdx.x, x = device_value(i);
    Scan(storage).InclusiveSum(x, inclusive[i], total[i]);
    __syncthreads();
    Scan(storage).ExclusiveSum(x, exclusive[i]);
    __syncthreads();
    Scan(storage).ExclusiveScan(x, most[i], -1000, hipcub::Max());
}
struct Running {
    int total;
    __device__ int operator()(int aggregate) {
        const int before = total;
        total += aggregate;
        return before;
    }
};
__global__ void tiles_of_a_scan(int* out, int tiles) {
    using Scan = hipcub::BlockScan<int, kN>;
    __shared__ typename Scan::TempStorage storage;
    Running running{100};
    for (int t = 0; t < tiles; ++t) {
        const int first = (t * kN + threadIdx.x) * kItems;
        int items[kItems];
        for (int k = 0; k < kItems; ++k) items[k] = device_value(first + k);
        Scan(storage).ExclusiveSum(items, items, running);
        for (int k = 0; k < kItems; ++k) out[first + k] = items[k];
        __syncthreads();
    }
}
__global__ void sorts(int* keys, int* values, float* floats) {
    using Sort = hipcub::BlockRadixSort<int, kN, kItems, int>;
    using Floats = hipcub::BlockRadixSort<float, kN, kItems>;
    using Load = hipcub::BlockLoad<int, kN, kItems, hipcub::BLOCK_LOAD_TRANSPOSE>;
    using Store = hipcub::BlockStore<int, kN, kItems, hipcub::BLOCK_STORE_STRIPED>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Floats::TempStorage floats;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } storage;
    int k[kItems], v[kItems];
    float f[kItems];
    Load(storage.load).Load(keys, k);
    for (int i = 0; i < kItems; ++i) v[i] = threadIdx.x * kItems + i, f[i] = k[i] / 8.0f;
    __syncthreads();
    Sort(storage.sort).SortBlockedToStriped(k, v, 0, 8);
    __syncthreads();
    Store(storage.store).Store(keys, k);
    Store(storage.store).Store(values, v);
    __syncthreads();
    Floats(storage.floats).SortDescending(f);
    for (int i = 0; i < kItems; ++i) floats[threadIdx.x * kItems + i] = f[i];
}
__global__ void exchanges(int* striped, int* blocked, int* scattered) {
    using Exchange = hipcub::BlockExchange<int, kN, kItems>;
    __shared__ typename Exchange::TempStorage storage;
    const int t = threadIdx.x;
    int items[kItems], ranks[kItems];
    for (int i = 0; i < kItems; ++i) items[i] = t * kItems + i;
    Exchange(storage).BlockedToStriped(items);
    for (int i = 0; i < kItems; ++i) striped[t * kItems + i] = items[i];
    __syncthreads();
    Exchange(storage).StripedToBlocked(items, items);
    for (int i = 0; i < kItems; ++i) blocked[t * kItems + i] = items[i];
    __syncthreads();
    for (int i = 0; i < kItems; ++i) ranks[i] = (t * kItems + i) * 5 % (kN * kItems);
    Exchange(storage).ScatterToBlocked(items, ranks);
    for (int i = 0; i < kItems; ++i) scattered[t * kItems + i] = items[i];
}
__global__ void neighbours(int* heads, int* differences, unsigned* bins) {
    using Heads = hipcub::BlockDiscontinuity<int, kN>;
    using Differences = hipcub::BlockAdjacentDifference<int, kN>;
    using Histogram = hipcub::BlockHistogram<unsigned char, kN, 2, 8>;
    __shared__ typename Heads::TempStorage h;
    __shared__ typename Differences::TempStorage d;
    __shared__ typename Histogram::TempStorage b;
    __shared__ unsigned counts[8];
    const int t = threadIdx.x;
    int items[2] = {t / 3, (t + 1) / 3}, flags[2], left[2];
    Heads(h).FlagHeads(flags, items, hipcub::Inequality());
    Differences(d).SubtractLeft(items, left, hipcub::Difference());
    unsigned char small[2] = {static_cast<unsigned char>(t % 8), static_cast<unsigned char>(t % 5)};
    Histogram(b).Histogram(small, counts);
    for (int i = 0; i < 2; ++i) heads[t * 2 + i] = flags[i], differences[t * 2 + i] = left[i];
    if (t < 8) bins[t] = counts[t];
}
template <int W>
__global__ void warps(int* sums, int* before, int* best, double* wide, int* striped) {
    using Reduce = hipcub::WarpReduce<int, W>;
    using Scan = hipcub::WarpScan<int, W>;
    using WideReduce = hipcub::WarpReduce<Wide, W>;
    using Exchange = hipcub::WarpExchange<int, 2, W>;
    __shared__ typename Reduce::TempStorage storage[kN / W];
    __shared__ typename Scan::TempStorage scan[kN / W];
    __shared__ typename WideReduce::TempStorage wide_storage[kN / W];
    __shared__ typename Exchange::TempStorage exchange[kN / W];
    const int t = threadIdx.x, w = t / W, x = device_value(t);
    for (int turn = 0; turn <= w; ++turn) {  // warps of one wave turn a loop unequally often
        const int sum = Reduce(storage[w]).Sum(x + turn);
        if (t % W == 0) sums[w] = sum;
    }
    Scan(scan[w]).ExclusiveSum(x, before[t]);
    if (w % 2) {
        const int r = Reduce(storage[w]).Reduce(x, hipcub::Min(), 5);
        if (t % W == 0) best[w] = r;
    }
    const Wide all = WideReduce(wide_storage[w]).Sum(Wide{1.0, 2.0 * t, 3.0});
    if (t % W == 0) wide[w] = all.a + all.b + all.c;
    int items[2] = {2 * t, 2 * t + 1};
    Exchange(exchange[w]).BlockedToStriped(items, items);
    striped[2 * t] = items[0], striped[2 * t + 1] = items[1];
}
template <int W>
static void warps_of() {
    Out<int> sums(kN / W), before(kN), best(kN / W), striped(2 * kN);
    Out<double> wide(kN / W);
    warps<W><<<1, kN>>>(sums.d, before.d, best.d, wide.d, striped.d);
    const auto from = [](int w, int n) {
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += value(w * W + i);
        return sum;
    };
    say("WarpReduce", all(sums, [&](int w) { return from(w, W) + W * w; }));
    say("WarpScan", all(before, [&](int t) { return from(t / W, t % W); }));
    say("WarpReduce of some", all(best, [](int w) {
        int out = value(w * W);
        for (int i = 1; i < 5 && i < W; ++i) out = std::min(out, value(w * W + i));
        return w % 2 ? out : 0;
    }));
    say("WarpReduce of wide values", all(wide, [](int w) { return W * 4.0 + W * (2.0 * w * W + W - 1); }));
    say("WarpExchange", all(striped, [](int i) { return i / 2 / W * W * 2 + i % 2 * W + i / 2 % W; }));
}

int main() {
    Out<int> sums(4);
    reduces<<<1, kN>>>(sums.d);
    std::vector<int> x(kN * kItems * 3);
    for (int i = 0; i < static_cast<int>(x.size()); ++i) x[i] = value(i);
    const int sum = std::accumulate(x.begin(), x.begin() + kN, 0);
    const int wanted[] = {sum, *std::max_element(x.begin(), x.begin() + kN), std::accumulate(x.begin(), x.begin() + 10, 0),
                          3 * sum};
    say("BlockReduce", all(sums, [&](int i) { return wanted[i]; }));
    Out<int> plane(1);
    block_of_two_axes<<<1, dim3(16, 4)>>>(plane.d);
    say("BlockReduce over two axes", all(plane, [](int) { return 2016; }));

    Out<int> inclusive(kN), exclusive(kN), most(kN), total(kN);
    scans<<<1, kN>>>(inclusive.d, exclusive.d, most.d, total.d);
    const auto before = [&](int i) { return std::accumulate(x.begin(), x.begin() + i, 0); };
    say("BlockScan inclusive", all(inclusive, [&](int i) { return before(i + 1); }));
    say("BlockScan aggregate", all(total, [&](int) { return sum; }));
    say("BlockScan exclusive", all(exclusive, before));
    say("BlockScan of maxima", all(most, [&](int i) { return i ? *std::max_element(x.begin(), x.begin() + i) : -1000; }));
    Out<int> tiled(kN * kItems * 3);
    tiles_of_a_scan<<<1, kN>>>(tiled.d, 3);
    say("BlockScan with a prefix", all(tiled, [&](int i) { return 100 + before(i); }));

    Out<int> keys(kN * kItems), values(kN * kItems);
    Out<float> floats(kN * kItems);
    (void)hipMemcpy(keys.d, x.data(), kN * kItems * sizeof(int), hipMemcpyHostToDevice);
    sorts<<<1, kN>>>(keys.d, values.d, floats.d);
    std::vector<int> order(kN * kItems);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (x[a] & 255) < (x[b] & 255); });
    say("BlockRadixSort of some bits", all(keys, [&](int i) { return x[order[i]]; }));
    say("BlockRadixSort is stable", all(values, [&](int i) { return order[i]; }));
    std::vector<int> falling(x.begin(), x.begin() + kN * kItems);
    std::sort(falling.rbegin(), falling.rend());
    say("BlockRadixSort of floats", all(floats, [&](int i) { return falling[i] / 8.0f; }));

    Out<int> striped(kN * kItems), blocked(kN * kItems), scattered(kN * kItems);
    exchanges<<<1, kN>>>(striped.d, blocked.d, scattered.d);
    say("BlockExchange to striped", all(striped, [](int i) { return i % kItems * kN + i / kItems; }));
    say("BlockExchange to blocked", all(blocked, [](int i) { return i; }));
    say("BlockExchange scatters", all(scattered, [](int i) {
        int from = 0;
        while (from * 5 % (kN * kItems) != i) ++from;
        return from;
    }));

    Out<int> heads(kN * 2), differences(kN * 2);
    Out<unsigned> bins(8);
    neighbours<<<1, kN>>>(heads.d, differences.d, bins.d);
    const auto item = [](int i) { return (i / 2 + i % 2) / 3; };
    say("BlockDiscontinuity", all(heads, [&](int i) { return i == 0 || item(i) != item(i - 1); }));
    say("BlockAdjacentDifference", all(differences, [&](int i) { return i ? item(i) - item(i - 1) : 0; }));
    say("BlockHistogram", all(bins, [](int bin) {
        int n = 0;
        for (int t = 0; t < kN; ++t) n += (t % 8 == bin) + (t % 5 == bin);
        return n;
    }));
    warps_of<32>();
    warps_of<8>();

    Out<int> merged(kN * kItems), numbers(kN * kItems), of_warps(kN * kItems), moved(kN * 8);
    merges<<<1, kN>>>(merged.d, numbers.d, of_warps.d);
    const int valid = kN * kItems - 7;
    std::vector<int> places(valid);
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [](int a, int b) { return value(a) % 50 > value(b) % 50; });
    say("BlockMergeSort of some items", all(merged, [&](int i) { return i < valid ? value(places[i]) % 50 : -1000; }));
    const auto known_number = [&](int i) { return i < valid ? places[i] : i; };
    say("BlockMergeSort is stable", all(numbers, known_number));
    std::vector<int> of_each(kN * kItems);
    for (int i = 0; i < kN * kItems; ++i) of_each[i] = value(i);
    for (auto w = of_each.begin(); w != of_each.end(); w += 32 * kItems) std::sort(w, w + 32 * kItems, std::greater<int>());
    say("WarpMergeSort", all(of_warps, [&](int i) { return of_each[i]; }));
    shuffles<<<1, kN>>>(moved.d);
    say("BlockShuffle", all(moved, [](int i) {
        const int t = i / 8, all[] = {t < 3 ? -1 : t - 3, (t + 5) % kN, t ? 2 * t - 1 : -1, 2 * t,
                                      2 * t + 1, t + 1 < kN ? 2 * t + 2 : -1, 2 * kN - 1, 0};
        return all[i % 8];
    }));

    Out<float> bounds(4);
    limits<<<1, 1>>>(bounds.d);
    const float known[] = {-3.40282347e38f, 65504, -3.38953139e38f, 1};
    say("FpLimits", all(bounds, [&](int i) { return known[i]; }));
}
