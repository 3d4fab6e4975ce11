// Collectives of a block that move items: exchanges, sorts, histograms, neighbours.
#pragma once

#include "block.h"

namespace hipcub {
namespace detail {

// A key's bits in the order in which a radix sort takes them: as an unsigned number, the sign turned, floats by value.
template <class K>
unsigned long long radix_bits(K key, bool descending) {
    static_assert(sizeof(K) <= 8, "keys of at most 8 bytes");
    unsigned long long bits = 0;
    constexpr int width = 8 * sizeof(K);
    constexpr unsigned long long sign = 1ull << (width - 1), all = sign | (sign - 1);
    constexpr bool integer = std::is_integral_v<K>;
    if constexpr (!integer) key = key == K(0) ? K(0) : key;  // -0 and 0 are one key
    std::memcpy(&bits, &key, sizeof key);
    if (!integer) bits ^= bits & sign ? all : sign;
    if (integer && std::is_signed_v<K>) bits ^= sign;
    return descending ? ~bits & all : bits;
}
inline unsigned long long some_bits(unsigned long long bits, int begin, int end) {
    if (end <= begin) return 0;
    return (bits >> begin) & (end - begin >= 64 ? ~0ull : (1ull << (end - begin)) - 1);
}

// The order in which a stable radix sort leaves n keys.
template <class It>
std::vector<std::size_t> radix_order(It keys, std::size_t n, bool descending, int begin, int end) {
    std::vector<unsigned long long> bits(n);
    for (std::size_t i = 0; i < n; ++i)
        bits[i] = some_bits(radix_bits<ValueOf<It>>(keys[i], descending), begin, end);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bits[a] < bits[b]; });
    return order;
}

template <class T>
void reordered(T* items, const std::vector<std::size_t>& order) {
    const std::vector<T> was(items, items + order.size());
    for (std::size_t i = 0; i < order.size(); ++i) items[i] = was[order[i]];
}

}  // namespace detail

template <class T, int X, int N, bool SLICED = false, int Y = 1, int Z = 1, int ARCH = 0>
class BlockExchange {
    static constexpr int kThreads = X * Y * Z;

public:
    using TempStorage = detail::Raw<T, kThreads * N>;
    BlockExchange() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

#define CU2PORT_SIM_EXCHANGE(NAME, FROM, TO)                                                         \
    template <class U>                                                                               \
    void NAME(const T (&in)[N], U (&out)[N]) {                                                       \
        for (int i = 0; i < N; ++i) storage_[FROM(i)] = in[i];                                       \
        detail::block_barrier("BlockExchange");                                                      \
        for (int i = 0; i < N; ++i) out[i] = storage_[TO(i)];                                        \
    }                                                                                                \
    void NAME(T (&items)[N]) { NAME(items, items); }
    CU2PORT_SIM_EXCHANGE(BlockedToStriped, blocked, striped)
    CU2PORT_SIM_EXCHANGE(StripedToBlocked, striped, blocked)
    CU2PORT_SIM_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)
    CU2PORT_SIM_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
#undef CU2PORT_SIM_EXCHANGE
#define CU2PORT_SIM_SCATTER(NAME, TO)                                                                \
    template <class U, class Rank>                                                                   \
    void NAME(const T (&in)[N], U (&out)[N], Rank (&ranks)[N]) {                                     \
        for (int i = 0; i < N; ++i)                                                                  \
            if (ranks[i] >= 0) storage_[static_cast<int>(ranks[i])] = in[i];                         \
        detail::block_barrier("BlockExchange");                                                      \
        for (int i = 0; i < N; ++i) out[i] = storage_[TO(i)];                                        \
    }                                                                                                \
    template <class Rank>                                                                            \
    void NAME(T (&items)[N], Rank (&ranks)[N]) { NAME(items, items, ranks); }
    CU2PORT_SIM_SCATTER(ScatterToBlocked, blocked)
    CU2PORT_SIM_SCATTER(ScatterToStriped, striped)
#undef CU2PORT_SIM_SCATTER

private:
    static int blocked(int i) { return detail::block_rank() * N + i; }
    static int striped(int i) { return i * kThreads + detail::block_rank(); }
    static int warp_striped(int i) {
        constexpr int w = kThreads < cu2port_sim::kWave ? kThreads : cu2port_sim::kWave;
        const int rank = detail::block_rank();
        return rank / w * w * N + i * w + rank % w;
    }
    TempStorage& storage_;
};

template <class K, int X, int N, class V = NullType, int BITS = 4, bool M = false,
          BlockScanAlgorithm S = BLOCK_SCAN_WARP_SCANS, int C = 0, int Y = 1, int Z = 1, int ARCH = 0>
class BlockRadixSort {
    static constexpr int kThreads = X * Y * Z;
    static constexpr int kBits = 8 * sizeof(K);

public:
    struct TempStorage {
        detail::Raw<K, kThreads * N> keys;
        detail::Raw<V, kThreads * N> values;
    };
    BlockRadixSort() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define CU2PORT_SIM_SORTS(NAME, DESCENDING, STRIPED)                                        \
    void NAME(K (&keys)[N], int begin = 0, int end = kBits) {                               \
        run(keys, static_cast<V*>(nullptr), begin, end, DESCENDING, STRIPED);               \
    }                                                                                       \
    void NAME(K (&keys)[N], V (&values)[N], int begin = 0, int end = kBits) {               \
        run(keys, values, begin, end, DESCENDING, STRIPED);                                 \
    }
    CU2PORT_SIM_SORTS(Sort, false, false)
    CU2PORT_SIM_SORTS(SortDescending, true, false)
    CU2PORT_SIM_SORTS(SortBlockedToStriped, false, true)
    CU2PORT_SIM_SORTS(SortDescendingBlockedToStriped, true, true)
#undef CU2PORT_SIM_SORTS

private:
    void run(K* keys, V* values, int begin, int end, bool descending, bool striped) {
        const int rank = detail::block_rank();
        for (int i = 0; i < N; ++i) {
            storage_.keys[rank * N + i] = keys[i];
            if (values) storage_.values[rank * N + i] = values[i];
        }
        detail::block_barrier("BlockRadixSort");
        if (rank == 0) {
            const auto order = detail::radix_order(&storage_.keys[0], kThreads * N, descending, begin, end);
            detail::reordered(&storage_.keys[0], order);
            if (values) detail::reordered(&storage_.values[0], order);
        }
        detail::block_barrier("BlockRadixSort");
        for (int i = 0; i < N; ++i) {
            const int at = striped ? i * kThreads + rank : rank * N + i;
            keys[i] = storage_.keys[at];
            if (values) values[i] = storage_.values[at];
        }
        detail::still_in_use(storage_.keys, rank, kThreads);
    }
    TempStorage& storage_;
};

template <class T, int X, int N, int BINS, BlockHistogramAlgorithm A = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int ARCH = 0>
class BlockHistogram {
    static constexpr int kThreads = X * Y * Z;

public:
    using TempStorage = detail::Raw<T, kThreads * N>;
    BlockHistogram() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockHistogram(TempStorage& storage) : storage_(storage) {}

    template <class Count>
    void InitHistogram(Count* bins) {
        for (int i = detail::block_rank(); i < BINS; i += kThreads) bins[i] = 0;
    }
    template <class Count>
    void Composite(T (&items)[N], Count* bins) {
        const int rank = detail::block_rank();
        for (int i = 0; i < N; ++i) storage_[rank * N + i] = items[i];
        detail::block_barrier("BlockHistogram");
        if (rank == 0)
            for (int i = 0; i < kThreads * N; ++i) ++bins[static_cast<int>(storage_[i])];
        detail::block_barrier("BlockHistogram");
    }
    template <class Count>
    void Histogram(T (&items)[N], Count* bins) {
        InitHistogram(bins);
        detail::block_barrier("BlockHistogram");
        Composite(items, bins);
    }

private:
    TempStorage& storage_;
};

// Each item beside its neighbours: what both collectives below are made of.
namespace detail {
template <class T, int X, int Y, int Z>
struct Neighbours {
    static constexpr int kThreads = X * Y * Z;
    struct TempStorage {
        Raw<T, kThreads> firsts, lasts;
    };
    // The item before the first one and after the last one of this thread; null at the ends of the block.
    template <int N>
    static std::pair<const T*, const T*> around(TempStorage& storage, const T (&items)[N]) {
        const int rank = block_rank();
        storage.firsts[rank] = items[0];
        storage.lasts[rank] = items[N - 1];
        block_barrier("BlockAdjacentDifference or BlockDiscontinuity");
        return {rank ? &storage.lasts[rank - 1] : nullptr, rank + 1 < kThreads ? &storage.firsts[rank + 1] : nullptr};
    }
};
// A flag may also be asked with the item's number in the block.
template <class F, class T>
bool flagged(F f, const T& a, const T& b, int n) {
    if constexpr (std::is_invocable_v<F, T, T, int>) return f(a, b, n);
    else return f(a, b);
}
}  // namespace detail

template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0>
class BlockDiscontinuity {
    using Near = detail::Neighbours<T, X, Y, Z>;

public:
    using TempStorage = typename Near::TempStorage;
    BlockDiscontinuity() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockDiscontinuity(TempStorage& storage) : storage_(storage) {}

    template <int N, class Flag, class F>
    void FlagHeads(Flag (&flags)[N], T (&items)[N], F f) { heads(flags, items, f, Near::around(storage_, items).first); }
    template <int N, class Flag, class F>
    void FlagHeads(Flag (&flags)[N], T (&items)[N], F f, T before) {
        const T* near = Near::around(storage_, items).first;
        heads(flags, items, f, near ? near : &before);
    }
    template <int N, class Flag, class F>
    void FlagTails(Flag (&flags)[N], T (&items)[N], F f) { tails(flags, items, f, Near::around(storage_, items).second); }
    template <int N, class Flag, class F>
    void FlagTails(Flag (&flags)[N], T (&items)[N], F f, T after) {
        const T* near = Near::around(storage_, items).second;
        tails(flags, items, f, near ? near : &after);
    }
    template <int N, class Flag, class F>
    void FlagHeadsAndTails(Flag (&head)[N], Flag (&tail)[N], T (&items)[N], F f) {
        const auto near = Near::around(storage_, items);
        heads(head, items, f, near.first);
        tails(tail, items, f, near.second);
    }

private:
    template <int N, class Flag, class F>
    void heads(Flag (&flags)[N], T (&items)[N], F f, const T* before) {
        const int first = detail::block_rank() * N;
        flags[0] = before ? detail::flagged(f, *before, items[0], first) : true;
        for (int i = 1; i < N; ++i) flags[i] = detail::flagged(f, items[i - 1], items[i], first + i);
    }
    template <int N, class Flag, class F>
    void tails(Flag (&flags)[N], T (&items)[N], F f, const T* after) {
        const int first = detail::block_rank() * N;
        for (int i = 0; i + 1 < N; ++i) flags[i] = detail::flagged(f, items[i], items[i + 1], first + i + 1);
        flags[N - 1] = after ? detail::flagged(f, items[N - 1], *after, first + N) : true;
    }
    TempStorage& storage_;
};

template <class T, int X, int Y = 1, int Z = 1, int ARCH = 0>
class BlockAdjacentDifference {
    using Near = detail::Neighbours<T, X, Y, Z>;

public:
    using TempStorage = typename Near::TempStorage;
    BlockAdjacentDifference() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockAdjacentDifference(TempStorage& storage) : storage_(storage) {}

    template <int N, class U, class F>
    void SubtractLeft(T (&in)[N], U (&out)[N], F f) { left(in, out, f, Near::around(storage_, in).first); }
    template <int N, class U, class F>
    void SubtractLeft(T (&in)[N], U (&out)[N], F f, T before) {
        const T* near = Near::around(storage_, in).first;
        left(in, out, f, near ? near : &before);
    }
    template <int N, class U, class F>
    void SubtractRight(T (&in)[N], U (&out)[N], F f) { right(in, out, f, Near::around(storage_, in).second); }
    template <int N, class U, class F>
    void SubtractRight(T (&in)[N], U (&out)[N], F f, T after) {
        const T* near = Near::around(storage_, in).second;
        right(in, out, f, near ? near : &after);
    }

private:
    template <int N, class U, class F>
    void left(T (&in)[N], U (&out)[N], F f, const T* before) {
        for (int i = N - 1; i > 0; --i) out[i] = f(in[i], in[i - 1]);
        out[0] = before ? f(in[0], *before) : static_cast<U>(in[0]);
    }
    template <int N, class U, class F>
    void right(T (&in)[N], U (&out)[N], F f, const T* after) {
        for (int i = 0; i + 1 < N; ++i) out[i] = f(in[i], in[i + 1]);
        out[N - 1] = after ? f(in[N - 1], *after) : static_cast<U>(in[N - 1]);
    }
    TempStorage& storage_;
};

}  // namespace hipcub
