// hipCUB's algorithms for a device, against loops over the same values.
#include "suite.h"

#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <numeric>

constexpr int kN = 500;

template <class F>
static bool twice(F call) {  // once for the size, once for the work
    size_t bytes = 0;
    void* storage = nullptr;
    bool good = call(storage, bytes) == hipSuccess && bytes > 0;
    good = good && hipMalloc(&storage, bytes) == hipSuccess && call(storage, bytes) == hipSuccess;
    (void)hipFree(storage);
    return good;
}
struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
static int value(int i) { return (i * 7919 + 13) % 1000 - 500; }
static int key(int i) { return i * i / 900; }

int main() {
    Out<int> in(kN), keys(kN), out(kN), more(kN), one(2);
    std::vector<int> x(kN), k(kN);
    for (int i = 0; i < kN; ++i) x[i] = value(i), k[i] = key(i);
    (void)hipMemcpy(in.d, x.data(), kN * sizeof(int), hipMemcpyHostToDevice);
    (void)hipMemcpy(keys.d, k.data(), kN * sizeof(int), hipMemcpyHostToDevice);
    const auto before = [&](int i) { return std::accumulate(x.begin(), x.begin() + i, 0); };
    const auto only = [&](int wanted) { return one.get()[0] == wanted; };

    bool good = twice([&](auto* s, size_t& n) { return hipcub::DeviceReduce::Sum(s, n, in.d, one.d, kN); });
    say("DeviceReduce sum", good && only(before(kN)));
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceReduce::Max(s, n, in.d, one.d, kN); });
    say("DeviceReduce max", good && only(*std::max_element(x.begin(), x.end())));
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceReduce::Min(s, n, in.d, one.d, kN); });
    say("DeviceReduce min", good && only(*std::min_element(x.begin(), x.end())));
    good = twice([&](auto* s, size_t& n) {
        using Squares = hipcub::TransformInputIterator<int, Square, hipcub::CountingInputIterator<int>>;
        const Squares squares(hipcub::CountingInputIterator<int>(1), Square());
        return hipcub::DeviceReduce::Reduce(s, n, squares, one.d, 10, hipcub::Sum(), 1000);
    });
    say("DeviceReduce of made values", good && only(1385));
    auto* best = reinterpret_cast<hipcub::KeyValuePair<int, int>*>(one.d);
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceReduce::ArgMin(s, n, in.d, best, kN); });
    say("DeviceReduce arg min", good && only(static_cast<int>(std::min_element(x.begin(), x.end()) - x.begin())));
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceReduce::ReduceByKey(s, n, keys.d, out.d, in.d, more.d, one.d, hipcub::Sum(), kN);
    });
    std::vector<int> groups(k), group_sums;
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (int g : groups) {
        group_sums.push_back(0);
        for (int i = 0; i < kN; ++i) group_sums.back() += k[i] == g ? x[i] : 0;
    }
    const int n_groups = static_cast<int>(groups.size());
    say("ReduceByKey count", good && only(n_groups));
    say("ReduceByKey sums", all(more, [&](int i) { return i < n_groups ? group_sums[i] : 0; }));

    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceScan::InclusiveSum(s, n, in.d, out.d, kN); });
    say("DeviceScan inclusive", good && all(out, [&](int i) { return before(i + 1); }));
    (void)hipMemcpy(out.d, x.data(), kN * sizeof(int), hipMemcpyHostToDevice);
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceScan::ExclusiveSum(s, n, out.d, out.d, kN); });
    say("DeviceScan in place", good && all(out, before));
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceScan::ExclusiveScan(s, n, in.d, out.d, hipcub::Max(), -600, kN);
    });
    say("DeviceScan of maxima", good && all(out, [&](int i) { return i ? *std::max_element(x.begin(), x.begin() + i) : -600; }));

    std::vector<int> evens;
    std::copy_if(x.begin(), x.end(), std::back_inserter(evens), Even());
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceSelect::If(s, n, in.d, out.d, one.d, kN, Even()); });
    const std::vector<int> chosen = out.get();
    say("DeviceSelect", good && only(static_cast<int>(evens.size())) && std::equal(evens.begin(), evens.end(), chosen.begin()));
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceSelect::Unique(s, n, keys.d, out.d, one.d, kN); });
    say("DeviceSelect unique", good && only(n_groups));
    good = twice([&](auto* s, size_t& n) { return hipcub::DevicePartition::If(s, n, in.d, out.d, one.d, kN, Even()); });
    const std::vector<int> parted = out.get();
    int last = 0;
    while (x[last] % 2 == 0) ++last;
    say("DevicePartition", good && std::equal(evens.begin(), evens.end(), parted.begin()) && parted[kN - 1] == x[last]);
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceRunLengthEncode::Encode(s, n, keys.d, out.d, more.d, one.d, kN);
    });
    say("DeviceRunLengthEncode", good && only(n_groups) && more.get()[0] == std::count(k.begin(), k.end(), 0));

    std::vector<int> sorted(x), order(kN);
    std::sort(sorted.begin(), sorted.end());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] > x[b]; });
    good = twice([&](auto* s, size_t& n) { return hipcub::DeviceRadixSort::SortKeys(s, n, in.d, out.d, kN); });
    say("DeviceRadixSort", good && all(out, [&](int i) { return sorted[i]; }));
    Out<int> numbers(kN);
    std::vector<int> rising(kN);
    std::iota(rising.begin(), rising.end(), 0);
    (void)hipMemcpy(numbers.d, rising.data(), kN * sizeof(int), hipMemcpyHostToDevice);
    hipcub::DoubleBuffer<int> sort_keys(in.d, out.d), sort_values(numbers.d, more.d);
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceRadixSort::SortPairsDescending(s, n, sort_keys, sort_values, kN);
    });
    good = good && sort_keys.Current() == out.d && sort_values.Current() == more.d;
    say("DeviceRadixSort of pairs", good && all(more, [&](int i) { return order[i]; }));

    Out<int> offsets(4), sums(3);
    const int bounds[] = {0, 7, 7, 100};
    (void)hipMemcpy(offsets.d, bounds, sizeof bounds, hipMemcpyHostToDevice);
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceSegmentedReduce::Sum(s, n, in.d, sums.d, 3, offsets.d, offsets.d + 1);
    });
    say("DeviceSegmentedReduce", good && all(sums, [&](int i) { return before(bounds[i + 1]) - before(bounds[i]); }));
    good = twice([&](auto* s, size_t& n) {
        return hipcub::DeviceHistogram::HistogramEven(s, n, in.d, out.d, 11, -500, 500, kN);
    });
    const std::vector<int> bins = out.get();
    bool even = good;
    for (int b = 0; b < 10; ++b)
        even = even && bins[b] == std::count_if(x.begin(), x.end(), [&](int v) { return (v + 500) / 100 == b; });
    say("DeviceHistogram", even);

    hipcub::CachingDeviceAllocator kept(true), bins_of(2, 5, 10);
    int *first = nullptr, *second = nullptr;
    good = kept.DeviceAllocate(reinterpret_cast<void**>(&first), kN * sizeof(int)) == hipSuccess &&
           bins_of.DeviceAllocate(0, reinterpret_cast<void**>(&second), kN * sizeof(int), nullptr) == hipSuccess &&
           hipMemcpy(second, in.d, kN * sizeof(int), hipMemcpyDeviceToDevice) == hipSuccess;
    say("CachingDeviceAllocator", good && first != second && kept.DeviceFree(first) == hipSuccess &&
                                      bins_of.DeviceFree(0, second) == hipSuccess && kept.FreeAllCached() == hipSuccess);
}
