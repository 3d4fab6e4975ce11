// Collectives of a warp: lanes see each other's registers, so that most need no temporary storage.
#pragma once

#include "types.h"

namespace hipcub {
namespace detail {

// The values of a logical warp of W lanes, by rank. Values wider than what lanes show at once come in pieces.
template <class T, int W>
struct Lanes {
    alignas(T) unsigned char bytes[W * sizeof(T)];
    int rank;
    unsigned long long present;  // by rank

    const T& operator[](int n) const { return *reinterpret_cast<const T*>(bytes + n * sizeof(T)); }
};

template <class T, int W>
Lanes<T, W> shown_by_lanes(const char* name, const T& mine) {
    static_assert(W >= 1 && W <= cu2port_sim::kWave, "a logical warp fits into a wave");
    Lanes<T, W> out;
    const int lane = cu2port_sim::lane_id(), first = lane / W * W;
    out.rank = lane - first;
    for (std::size_t at = 0; at < sizeof(T); at += cu2port_sim::kSlot) {
        const std::size_t size = std::min<std::size_t>(sizeof(T) - at, cu2port_sim::kSlot);
        const auto m = cu2port_sim::meet(cu2port_sim::Kind::exchange, name, reinterpret_cast<const char*>(&mine) + at, size,
                                         {"hipcub", 0});
        out.present = m.mask >> first;
        for (int i = 0; i < W; ++i)
            if (out.present >> i & 1) std::memcpy(out.bytes + i * sizeof(T) + at, m.slots[first + i].bytes, size);
    }
    if (W < 64) out.present &= (1ull << (W % 64)) - 1;
    return out;
}

struct Empty {};  // temporary storage that nobody needs

// Memory for values of any type, without a constructor: it lies in shared memory and in unions.
template <class T, int N>
struct Raw {
    alignas(T) unsigned char bytes[N * sizeof(T)];
    T& operator[](int n) { return *reinterpret_cast<T*>(bytes + n * sizeof(T)); }
};

}  // namespace detail

template <class T, int W = HIPCUB_WARP_THREADS, int ARCH = 0>
class WarpReduce {
public:
    using TempStorage = detail::Empty;
    explicit WarpReduce(TempStorage&) {}

    // The result is lane 0's; what others get is their own value, or any.
    template <class F>
    T Reduce(T mine, F f, int valid = W) {
        const auto all = detail::shown_by_lanes<T, W>("WarpReduce", mine);
        if (all.rank != 0) return cu2port_sim::unspecified(mine);
        for (int i = 1; i < W && i < valid; ++i)
            if (all.present >> i & 1) mine = detail::combined(f, mine, all[i]);
        return mine;
    }
    T Sum(T mine, int valid = W) { return Reduce(mine, hipcub::Sum(), valid); }
    template <class Flag, class F>
    T HeadSegmentedReduce(T mine, Flag head, F f) { return segment(mine, head != 0, true, f); }
    template <class Flag, class F>
    T TailSegmentedReduce(T mine, Flag tail, F f) { return segment(mine, tail != 0, false, f); }
    template <class Flag>
    T HeadSegmentedSum(T mine, Flag head) { return HeadSegmentedReduce(mine, head, hipcub::Sum()); }
    template <class Flag>
    T TailSegmentedSum(T mine, Flag tail) { return TailSegmentedReduce(mine, tail, hipcub::Sum()); }

private:
    template <class F>
    T segment(T mine, bool flag, bool heads, F f) {
        const auto flags = detail::shown_by_lanes<int, W>("WarpReduce", flag);
        const auto all = detail::shown_by_lanes<T, W>("WarpReduce", mine);
        for (int i = all.rank + 1; i < W && (all.present >> i & 1); ++i) {
            if (heads ? flags[i] : flags[i - 1]) break;
            mine = detail::combined(f, mine, all[i]);
        }
        return mine;
    }
};

template <class T, int W = HIPCUB_WARP_THREADS, int ARCH = 0>
class WarpScan {
public:
    using TempStorage = detail::Empty;
    explicit WarpScan(TempStorage&) {}

    template <class F>
    void InclusiveScan(T in, T& out, F f) { T all; InclusiveScan(in, out, f, all); }
    template <class F>
    void InclusiveScan(T in, T& out, F f, T& aggregate) { T before; scan(in, before, out, f, nullptr, aggregate); }
    template <class F>
    void ExclusiveScan(T in, T& out, F f) { T with, all; scan(in, out, with, f, nullptr, all); }
    template <class F>
    void ExclusiveScan(T in, T& out, T initial, F f) { T with, all; scan(in, out, with, f, &initial, all); }
    template <class F>
    void ExclusiveScan(T in, T& out, F f, T& aggregate) { T with; scan(in, out, with, f, nullptr, aggregate); }
    template <class F>
    void ExclusiveScan(T in, T& out, T initial, F f, T& aggregate) { T with; scan(in, out, with, f, &initial, aggregate); }
    template <class F>
    void Scan(T in, T& inclusive, T& exclusive, F f) { T all; scan(in, exclusive, inclusive, f, nullptr, all); }
    template <class F>
    void Scan(T in, T& inclusive, T& exclusive, T initial, F f) { T all; scan(in, exclusive, inclusive, f, &initial, all); }
    void InclusiveSum(T in, T& out) { InclusiveScan(in, out, hipcub::Sum()); }
    void InclusiveSum(T in, T& out, T& aggregate) { InclusiveScan(in, out, hipcub::Sum(), aggregate); }
    void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), hipcub::Sum()); }
    void ExclusiveSum(T in, T& out, T& aggregate) { ExclusiveScan(in, out, T(), hipcub::Sum(), aggregate); }
    T Broadcast(T in, unsigned source) { return detail::shown_by_lanes<T, W>("WarpScan", in)[source % W]; }

private:
    template <class F>
    void scan(T in, T& exclusive, T& inclusive, F f, const T* initial, T& aggregate) {
        const auto all = detail::shown_by_lanes<T, W>("WarpScan", in);
        T sum = all[0], before = T();
        for (int i = 1; i < W && (all.present >> i & 1); ++i) {
            if (i == all.rank) before = sum;
            sum = detail::combined(f, sum, all[i]);
            if (i == all.rank) inclusive = sum;
        }
        if (all.rank == 0) inclusive = all[0];
        aggregate = sum;
        exclusive = all.rank == 0 ? (initial ? *initial : T()) : initial ? T(detail::combined(f, *initial, before)) : before;
        if (initial) inclusive = detail::combined(f, *initial, inclusive);
    }
};

template <class T, int N, int W = HIPCUB_WARP_THREADS, int ARCH = 0>
class WarpExchange {
public:
    using TempStorage = detail::Raw<T, W * N>;  // of one warp: what its lanes show lies there as well
    explicit WarpExchange(TempStorage& storage) : storage_(storage) {}

    template <class U>
    void BlockedToStriped(const T (&in)[N], U (&out)[N]) {
        const auto all = show(in);
        for (int i = 0; i < N; ++i) out[i] = all[(i * W + all.rank) / N].items[(i * W + all.rank) % N];
    }
    template <class U>
    void StripedToBlocked(const T (&in)[N], U (&out)[N]) {
        const auto all = show(in);
        for (int i = 0; i < N; ++i) out[i] = all[(all.rank * N + i) % W].items[(all.rank * N + i) / W];
    }
    template <class Rank>
    void ScatterToStriped(T (&items)[N], Rank (&ranks)[N]) {
        const auto all = show(items);
        Items<Rank> mine;
        std::copy(ranks, ranks + N, mine.items);
        const auto places = detail::shown_by_lanes<Items<Rank>, W>("WarpExchange", mine);
        for (int from = 0; from < W; ++from)
            for (int k = 0; k < N; ++k) {
                const int to = static_cast<int>(places[from].items[k]);
                if (to % W == all.rank) items[to / W] = all[from].items[k];
            }
    }

private:
    template <class U>
    struct Items {
        U items[N];
    };
    detail::Lanes<Items<T>, W> show(const T (&in)[N]) {
        Items<T> mine;
        std::copy(in, in + N, mine.items);
        for (int i = 0; i < N; ++i) storage_[cu2port_sim::lane_id() % W * N + i] = in[i];
        return detail::shown_by_lanes<Items<T>, W>("WarpExchange", mine);
    }
    TempStorage& storage_;
};

}  // namespace hipcub
