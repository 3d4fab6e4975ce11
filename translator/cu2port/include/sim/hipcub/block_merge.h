// Collectives that sort by a comparison, of a block and of a warp; items that go to threads beside.
#pragma once

#include "block_sort.h"

namespace hipcub {
namespace detail {

template <class K, class V, int THREADS, int N>
struct MergeRoom {
    Raw<K, THREADS * N> keys;
    Raw<V, THREADS * N> values;
};

// `Self` has kThreads, rank() and meet() of the threads that sort together.
template <class Self, class K, class V, int THREADS, int N>
class MergeSort {
public:
    using TempStorage = MergeRoom<K, V, THREADS, N>;
    explicit MergeSort(TempStorage& storage) : storage_(storage) {}

#define CU2PORT_SIM_MERGES(NAME)                                                                          \
    template <class F>                                                                                    \
    void NAME(K (&keys)[N], F less) { run(keys, nullptr, less, THREADS * N, nullptr); }                   \
    template <class F>                                                                                    \
    void NAME(K (&keys)[N], F less, int valid, K rest) { run(keys, nullptr, less, valid, &rest); }        \
    template <class F>                                                                                    \
    void NAME(K (&keys)[N], V (&values)[N], F less) { run(keys, values, less, THREADS * N, nullptr); }    \
    template <class F>                                                                                    \
    void NAME(K (&keys)[N], V (&values)[N], F less, int valid, K rest) { run(keys, values, less, valid, &rest); }
    CU2PORT_SIM_MERGES(Sort)
    CU2PORT_SIM_MERGES(StableSort)
#undef CU2PORT_SIM_MERGES

private:
    // Of `valid` items; the others become `rest` and come last.
    template <class F>
    void run(K* keys, V* values, F less, int valid, const K* rest) {
        const int rank = Self::rank();
        for (int i = 0; i < N; ++i) {
            const int at = rank * N + i;
            storage_.keys[at] = rest && at >= valid ? *rest : keys[i];
            if (values) storage_.values[at] = values[i];
        }
        Self::meet();
        if (rank == 0) {
            std::vector<std::size_t> order(static_cast<std::size_t>(std::min(valid, THREADS * N)));
            std::iota(order.begin(), order.end(), std::size_t{0});
            const K* first = &storage_.keys[0];
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return less(first[a], first[b]); });
            reordered(&storage_.keys[0], order);
            if (values) reordered(&storage_.values[0], order);
        }
        Self::meet();
        for (int i = 0; i < N; ++i) {
            keys[i] = storage_.keys[rank * N + i];
            if (values) values[i] = storage_.values[rank * N + i];
        }
        Self::leave(storage_.keys, rank);
    }
    TempStorage& storage_;
};

}  // namespace detail

template <class K, int X, int N, class V = NullType, int Y = 1, int Z = 1>
class BlockMergeSort : public detail::MergeSort<BlockMergeSort<K, X, N, V, Y, Z>, K, V, X * Y * Z, N> {
    using Base = detail::MergeSort<BlockMergeSort, K, V, X * Y * Z, N>;

public:
    BlockMergeSort() : Base(detail::own_storage<typename Base::TempStorage>()) {}
    using Base::Base;
    static int rank() { return detail::block_rank(); }
    static void meet() { detail::block_barrier("BlockMergeSort"); }
    template <class Room>
    static void leave(Room& room, int rank) { detail::still_in_use(room, rank, X * Y * Z); }
};

template <class K, int N, int W = HIPCUB_WARP_THREADS, class V = NullType, int ARCH = 0>
class WarpMergeSort : public detail::MergeSort<WarpMergeSort<K, N, W, V, ARCH>, K, V, W, N> {
public:
    using detail::MergeSort<WarpMergeSort, K, V, W, N>::MergeSort;
    static int rank() { return cu2port_sim::lane_id() % W; }
    static void meet() { cu2port_sim::meet(cu2port_sim::Kind::wave_sync, "WarpMergeSort", nullptr, 0, {"hipcub", 0}); }
    template <class Room>
    static void leave(Room&, int) {}
};

template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0>
class BlockShuffle {
    static constexpr int kThreads = X * Y * Z;

public:
    using TempStorage = detail::Raw<T, kThreads>;
    BlockShuffle() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockShuffle(TempStorage& storage) : storage_(storage) {}

    // Where there is no such thread `out` stays as it is.
    void Offset(T in, T& out, int distance = 1) {
        const int from = show(in) + distance;
        if (from >= 0 && from < kThreads) out = storage_[from];
    }
    void Rotate(T in, T& out, unsigned distance = 1) {
        const unsigned from = static_cast<unsigned>(show(in)) + distance;
        out = storage_[static_cast<int>(from % kThreads)];
    }
    template <int N>
    void Up(T (&in)[N], T (&out)[N]) {
        const int rank = show(in[N - 1]);
        for (int i = N - 1; i > 0; --i) out[i] = in[i - 1];
        if (rank > 0) out[0] = storage_[rank - 1];
    }
    template <int N>
    void Up(T (&in)[N], T (&out)[N], T& suffix) {
        Up(in, out);
        suffix = storage_[kThreads - 1];
    }
    template <int N>
    void Down(T (&in)[N], T (&out)[N]) {
        const int rank = show(in[0]);
        for (int i = 0; i + 1 < N; ++i) out[i] = in[i + 1];
        if (rank + 1 < kThreads) out[N - 1] = storage_[rank + 1];
    }
    template <int N>
    void Down(T (&in)[N], T (&out)[N], T& prefix) {
        Down(in, out);
        prefix = storage_[0];
    }

private:
    int show(const T& mine) {
        const int rank = detail::block_rank();
        storage_[rank] = mine;
        detail::block_barrier("BlockShuffle");
        return rank;
    }
    TempStorage& storage_;
};

}  // namespace hipcub
