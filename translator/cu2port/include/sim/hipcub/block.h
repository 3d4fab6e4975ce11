// Collectives of a block over temporary storage: each thread leaves its items there, a barrier, one thread combines.
//
// As in CUB, storage may be used again only after a barrier of the caller's: --check sees where one is missing.
#pragma once

#include "warp.h"

namespace hipcub {
namespace detail {

inline int block_rank() { return cu2port_sim::thread_number(); }
inline void block_barrier(const char* name) { cu2port_sim::barrier(name, false, {"hipcub", 0}); }

// That the storage is still in use when a collective returns: what another wave left there is read.
template <class Storage>
void still_in_use(Storage& storage, int rank, int threads) {
    const int other = (rank + threads / 2) % threads;
    if (rank / cu2port_sim::kWave == other / cu2port_sim::kWave) return;
    const unsigned char byte = reinterpret_cast<const unsigned char*>(&storage[other])[0];
    asm volatile("" : : "r"(byte));
}

// What a collective without a storage argument uses.
template <class Storage>
Storage& own_storage() {
    struct Own {
        Storage storage;
    };
    return cu2port_sim::shared<Own>().storage;
}

}  // namespace detail

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int ARCH = 0>
class BlockReduce {
    static constexpr int kThreads = X * Y * Z;

public:
    using TempStorage = detail::Raw<T, kThreads>;
    BlockReduce() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

    // The result is thread 0's; what others get is their own value, or any.
    template <class F>
    T Reduce(T mine, F f, int valid = kThreads) {
        const int rank = detail::block_rank();
        storage_[rank] = mine;
        detail::block_barrier("BlockReduce");
        if (rank != 0) return cu2port_sim::unspecified(mine);
        for (int i = 1; i < kThreads && i < valid; ++i) mine = detail::combined(f, mine, storage_[i]);
        return mine;
    }
    template <int N, class F>
    T Reduce(T (&items)[N], F f) {
        T mine = items[0];
        for (int i = 1; i < N; ++i) mine = detail::combined(f, mine, items[i]);
        return Reduce(mine, f);
    }
    T Sum(T mine) { return Reduce(mine, hipcub::Sum()); }
    T Sum(T mine, int valid) { return Reduce(mine, hipcub::Sum(), valid); }
    template <int N>
    T Sum(T (&items)[N]) { return Reduce(items, hipcub::Sum()); }

private:
    TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int ARCH = 0>
class BlockScan {
    static constexpr int kThreads = X * Y * Z;

public:
    struct TempStorage {
        detail::Raw<T, kThreads + 2> values;  // then the sum of all, and a prefix
    };
    BlockScan() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

#define CU2PORT_SIM_SCANS(IN, OUT, MORE)                                                                        \
    template <MORE class F>                                                                                     \
    void InclusiveScan(IN, OUT, F f) { T all; run(in, out, f, true, nullptr, all); }                            \
    template <MORE class F>                                                                                     \
    void InclusiveScan(IN, OUT, F f, T& all) { run(in, out, f, true, nullptr, all); }                           \
    template <MORE class F, class P, std::enable_if_t<!std::is_convertible_v<F, T>, int> = 0>                   \
    void InclusiveScan(IN, OUT, F f, P& prefix) { with_prefix(in, out, f, true, prefix); }                      \
    template <MORE class F>                                                                                     \
    void InclusiveScan(IN, OUT, T initial, F f) { T all; run(in, out, f, true, &initial, all); }                \
    template <MORE class F>                                                                                     \
    void ExclusiveScan(IN, OUT, F f) { T all; run(in, out, f, false, nullptr, all); }                           \
    template <MORE class F>                                                                                     \
    void ExclusiveScan(IN, OUT, T initial, F f) { T all; run(in, out, f, false, &initial, all); }               \
    template <MORE class F>                                                                                     \
    void ExclusiveScan(IN, OUT, T initial, F f, T& all) { run(in, out, f, false, &initial, all); }              \
    template <MORE class F>                                                                                     \
    void ExclusiveScan(IN, OUT, F f, T& all) { run(in, out, f, false, nullptr, all); }                          \
    template <MORE class F, class P, std::enable_if_t<!std::is_convertible_v<F, T>, int> = 0>                   \
    void ExclusiveScan(IN, OUT, F f, P& prefix) { with_prefix(in, out, f, false, prefix); }
    CU2PORT_SIM_SCANS(T in, T& out, )
#define CU2PORT_SIM_COUNT int N,
    CU2PORT_SIM_SCANS(T (&in)[N], T (&out)[N], CU2PORT_SIM_COUNT)
#undef CU2PORT_SIM_COUNT
#undef CU2PORT_SIM_SCANS

    template <class In, class Out>
    void InclusiveSum(In&& in, Out& out) { InclusiveScan(in, out, hipcub::Sum()); }
    template <class In, class Out, class P>
    void InclusiveSum(In&& in, Out& out, P& aggregate_or_prefix) {
        InclusiveScan(in, out, hipcub::Sum(), aggregate_or_prefix);
    }
    template <class In, class Out>
    void ExclusiveSum(In&& in, Out& out) { ExclusiveScan(in, out, T(), hipcub::Sum()); }
    template <class In, class Out>
    void ExclusiveSum(In&& in, Out& out, T& aggregate) { ExclusiveScan(in, out, T(), hipcub::Sum(), aggregate); }
    template <class In, class Out, class P>
    void ExclusiveSum(In&& in, Out& out, P& prefix) { ExclusiveScan(in, out, hipcub::Sum(), prefix); }

private:
    // Leaves at each thread's place what is before it (nothing before the first), and the sum of all at the end.
    template <class F>
    void before(const T& mine, F f) {
        const int rank = detail::block_rank();
        auto& values = storage_.values;
        values[rank] = mine;
        detail::block_barrier("BlockScan");
        if (rank == 0) {
            T sum = values[0];
            for (int i = 1; i < kThreads; ++i) {
                const T next = values[i];
                values[i] = sum;
                sum = detail::combined(f, sum, next);
            }
            values[kThreads] = sum;
        }
        detail::block_barrier("BlockScan");
    }
    template <int N, class F>
    void write(const T (&in)[N], T (&out)[N], F f, bool inclusive, const T* initial) {
        const int rank = detail::block_rank();
        bool has = initial != nullptr;
        T sum = has ? *initial : T();
        if (rank != 0) sum = has ? T(detail::combined(f, sum, storage_.values[rank])) : storage_.values[rank], has = true;
        for (int i = 0; i < N; ++i) {
            const T next = has ? T(detail::combined(f, sum, in[i])) : in[i];
            out[i] = inclusive ? next : sum;
            sum = next, has = true;
        }
        detail::still_in_use(storage_.values, rank, kThreads);
    }
    template <int N, class F>
    static T folded(const T (&in)[N], F f) {
        T sum = in[0];
        for (int i = 1; i < N; ++i) sum = detail::combined(f, sum, in[i]);
        return sum;
    }
    template <int N, class F>
    void run(const T (&in)[N], T (&out)[N], F f, bool inclusive, const T* initial, T& all) {
        before(folded(in, f), f);
        all = storage_.values[kThreads];
        write(in, out, f, inclusive, initial);
    }
    template <class F>
    void run(const T& in, T& out, F f, bool inclusive, const T* initial, T& all) {
        const T one[1] = {in};
        T made[1];
        run(one, made, f, inclusive, initial, all);
        out = made[0];
    }
    // The first wave asks `prefix` for what is before the block; lane 0's answer counts.
    template <int N, class F, class P>
    void with_prefix(const T (&in)[N], T (&out)[N], F f, bool inclusive, P& prefix) {
        before(folded(in, f), f);
        if (detail::block_rank() < cu2port_sim::kWave) {
            const T answer = prefix(storage_.values[kThreads]);
            if (detail::block_rank() == 0) storage_.values[kThreads + 1] = answer;
        }
        detail::block_barrier("BlockScan");
        const T initial = storage_.values[kThreads + 1];
        write(in, out, f, inclusive, &initial);
    }
    template <class F, class P>
    void with_prefix(const T& in, T& out, F f, bool inclusive, P& prefix) {
        const T one[1] = {in};
        T made[1];
        with_prefix(one, made, f, inclusive, prefix);
        out = made[0];
    }
    TempStorage& storage_;
};

namespace detail {

// Items that change places on their way between memory and threads. Where the algorithm does not transpose, each thread
// has its own places. `valid`: so many items are there.
template <class T, int THREADS, int N, bool MOVES>
struct Transposed {
    using TempStorage = Raw<T, THREADS * N>;
    template <class It>
    static void load(TempStorage& storage, It from, T (&items)[N], int valid) {
        const int rank = block_rank();
        for (int i = 0, at = rank; i < N; ++i, at += THREADS)
            if (at < valid) storage[at] = from[at];
        block_barrier("BlockLoad");
        for (int i = 0; i < N; ++i)
            if (rank * N + i < valid) items[i] = storage[rank * N + i];
        if (valid >= THREADS) still_in_use(storage, rank, THREADS);
    }
    template <class It>
    static void store(TempStorage& storage, It to, T (&items)[N], int valid) {
        const int rank = block_rank();
        for (int i = 0; i < N; ++i) storage[rank * N + i] = items[i];
        block_barrier("BlockStore");
        for (int i = 0, at = rank; i < N; ++i, at += THREADS)
            if (at < valid) to[at] = storage[at];
    }
};
template <class T, int THREADS, int N>
struct Transposed<T, THREADS, N, false> {
    using TempStorage = Empty;
};

}  // namespace detail

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int ARCH = 0>
class BlockLoad {
    static constexpr bool kMoves = A == BLOCK_LOAD_TRANSPOSE;
    using Moved = detail::Transposed<T, X * Y * Z, N, kMoves>;

public:
    using TempStorage = typename Moved::TempStorage;
    BlockLoad() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockLoad(TempStorage& storage) : storage_(storage) {}
    template <class It>
    void Load(It from, T (&items)[N], int valid = INT_MAX) {
        if constexpr (kMoves) return Moved::load(storage_, from, items, valid);
        for (int i = 0; i < N; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class It, class D>
    void Load(It from, T (&items)[N], int valid, D otherwise) {
        for (int i = 0; i < N; ++i) items[i] = static_cast<T>(otherwise);
        Load(from, items, valid);
    }

private:
    static int place(int i) {
        return A == BLOCK_LOAD_STRIPED ? i * X * Y * Z + detail::block_rank() : detail::block_rank() * N + i;
    }
    TempStorage& storage_;
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int ARCH = 0>
class BlockStore {
    static constexpr bool kMoves = A == BLOCK_STORE_TRANSPOSE;
    using Moved = detail::Transposed<T, X * Y * Z, N, kMoves>;

public:
    using TempStorage = typename Moved::TempStorage;
    BlockStore() : storage_(detail::own_storage<TempStorage>()) {}
    explicit BlockStore(TempStorage& storage) : storage_(storage) {}
    template <class It>
    void Store(It to, T (&items)[N], int valid = INT_MAX) {
        if constexpr (kMoves) return Moved::store(storage_, to, items, valid);
        for (int i = 0; i < N; ++i) {
            const int at = A == BLOCK_STORE_STRIPED ? i * X * Y * Z + detail::block_rank() : detail::block_rank() * N + i;
            if (at < valid) to[at] = items[i];
        }
    }

private:
    TempStorage& storage_;
};

template <class It, class T, int N>
void LoadDirectBlocked(int rank, It from, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = from[rank * N + i];
}
template <class It, class T, int N>
void LoadDirectBlocked(int rank, It from, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i)
        if (rank * N + i < valid) items[i] = from[rank * N + i];
}
template <int Threads, class It, class T, int N>
void LoadDirectStriped(int rank, It from, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = from[i * Threads + rank];
}
template <int Threads, class It, class T, int N>
void LoadDirectStriped(int rank, It from, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i)
        if (i * Threads + rank < valid) items[i] = from[i * Threads + rank];
}
template <class It, class T, int N>
void StoreDirectBlocked(int rank, It to, T (&items)[N], int valid = INT_MAX) {
    for (int i = 0; i < N; ++i)
        if (rank * N + i < valid) to[rank * N + i] = items[i];
}
template <int Threads, class It, class T, int N>
void StoreDirectStriped(int rank, It to, T (&items)[N], int valid = INT_MAX) {
    for (int i = 0; i < N; ++i)
        if (i * Threads + rank < valid) to[i * Threads + rank] = items[i];
}

}  // namespace hipcub
