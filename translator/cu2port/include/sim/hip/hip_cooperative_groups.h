// Cooperative groups: the block, the grid, tiles of a wave and coalesced lanes.
#pragma once

#include "hip_runtime.h"

namespace cooperative_groups {

using u64 = unsigned long long;

namespace cu2port_detail {

inline unsigned rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned block_rank() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }

// Groups inside a wave: `lanes()` says which; an operation is a meeting of which each takes what it needs.
template <class Self>
struct Lanes {
    unsigned thread_rank() const {
        const u64 below = (u64{1} << cu2port_sim::lane_id()) - 1;
        return static_cast<unsigned>(__builtin_popcountll(self().lanes() & below));
    }
    unsigned size() const { return static_cast<unsigned>(__builtin_popcountll(self().lanes())); }
    unsigned num_threads() const { return size(); }
    bool is_valid() const { return true; }

    void sync(CU2PORT_SIM_WHERE) const {
        const u64 members = self().lanes();
        cu2port_sim::meet(cu2port_sim::Kind::group_sync, "group.sync", &members, sizeof members, where);
    }
    template <class T>
    T shfl(T v, int source, CU2PORT_SIM_WHERE) const {
        const int n = static_cast<int>(size());
        return cu2port_sim::permute("group.shfl", v, lane(static_cast<unsigned>(source) % n), where);
    }
    template <class T>
    T shfl_down(T v, unsigned delta, CU2PORT_SIM_WHERE) const {
        const unsigned r = thread_rank() + delta;
        return cu2port_sim::permute("group.shfl_down", v, r < size() ? lane(r) : cu2port_sim::lane_id(), where);
    }
    template <class T>
    T shfl_up(T v, unsigned delta, CU2PORT_SIM_WHERE) const {
        const unsigned r = thread_rank();
        return cu2port_sim::permute("group.shfl_up", v, r >= delta ? lane(r - delta) : cu2port_sim::lane_id(), where);
    }
    template <class T>
    T shfl_xor(T v, unsigned bits, CU2PORT_SIM_WHERE) const {
        const unsigned r = thread_rank() ^ bits;
        return cu2port_sim::permute("group.shfl_xor", v, r < size() ? lane(r) : cu2port_sim::lane_id(), where);
    }
    u64 ballot(int p, CU2PORT_SIM_WHERE) const { return packed(cu2port_sim::ballot("group.ballot", p != 0, where)); }
    int any(int p, CU2PORT_SIM_WHERE) const {
        return (cu2port_sim::ballot("group.any", p != 0, where) & self().lanes()) != 0;
    }
    int all(int p, CU2PORT_SIM_WHERE) const {
        return (cu2port_sim::ballot("group.all", p == 0, where) & self().lanes()) == 0;
    }
    template <class T>
    u64 match_any(T v, CU2PORT_SIM_WHERE) const {
        return packed(cu2port_sim::match("group.match_any", v, nullptr, where));
    }
    template <class T>
    u64 match_all(T v, int& pred, CU2PORT_SIM_WHERE) const {
        const u64 same = cu2port_sim::match("group.match_all", v, nullptr, where);
        const u64 mine = here(self().lanes());
        pred = (same & mine) == mine;
        return pred ? packed(mine) : 0;
    }

    // Folds the values of the group's lanes from `first` on, as far as `count` goes, in rank order.
    template <class T, class F>
    T fold(const char* name, const T& v, F f, unsigned count, CU2PORT_SIM_WHERE) const {
        const cu2port_sim::Meeting m = cu2port_sim::show(name, v, where);
        u64 rest = self().lanes() & m.mask;
        T out = cu2port_sim::read<T>(m, __builtin_ctzll(rest));
        for (rest &= rest - 1; rest && --count; rest &= rest - 1)
            out = f(out, cu2port_sim::read<T>(m, __builtin_ctzll(rest)));
        return out;
    }
    // Of a power of two of lanes halves are folded onto each other, widest first, as CUDA does: sums round alike.
    template <class T, class F>
    T halved(const char* name, const T& v, F f, CU2PORT_SIM_WHERE) const {
        const cu2port_sim::Meeting m = cu2port_sim::show(name, v, where);
        std::vector<T> all;
        for (u64 rest = self().lanes() & m.mask; rest; rest &= rest - 1)
            all.push_back(cu2port_sim::read<T>(m, __builtin_ctzll(rest)));
        T out = all[0];
        if (all.size() & (all.size() - 1)) {
            for (std::size_t i = 1; i < all.size(); ++i) out = f(out, all[i]);
            return out;
        }
        for (std::size_t half = all.size() / 2; half; half /= 2)
            for (std::size_t i = 0; i < half; ++i) all[i] = f(all[i], all[i + half]);
        return all[0];
    }

protected:
    const Self& self() const { return static_cast<const Self&>(*this); }
    int lane(unsigned rank) const {
        u64 rest = self().lanes();
        while (rank--) rest &= rest - 1;
        return rest ? __builtin_ctzll(rest) : cu2port_sim::lane_id();
    }
    u64 here(u64 mask) const { return mask; }
    u64 packed(u64 mask) const {  // bit i: the lane of rank i
        u64 out = 0;
        int i = 0;
        for (u64 rest = self().lanes(); rest; rest &= rest - 1, ++i)
            out |= (mask >> __builtin_ctzll(rest) & 1) << i;
        return out;
    }
};

inline u64 tile_lanes(unsigned size) {
    const unsigned first = static_cast<unsigned>(cu2port_sim::lane_id()) / size * size;
    const u64 ones = size >= 64 ? ~u64{0} : (u64{1} << size) - 1;
    return ones << first & cu2port_sim::kAll;
}

}  // namespace cu2port_detail

struct thread_block {  // what is static is static in HIP's
    static unsigned size() { return cu2port_detail::block_size(); }
    unsigned num_threads() const { return size(); }
    static unsigned thread_rank() { return cu2port_detail::rank_in_block(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    dim3 group_dim() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    dim3 dim_threads() const { return group_dim(); }
    static bool is_valid() { return true; }
    static void sync(CU2PORT_SIM_WHERE) { cu2port_sim::barrier("block.sync", false, where); }
    struct arrival_token {};
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token&&, CU2PORT_SIM_WHERE) const { sync(where); }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
    u64 size() const { return u64{cu2port_detail::block_size()} * num_blocks(); }
    u64 num_threads() const { return size(); }
    u64 num_blocks() const { return u64{gridDim.x} * gridDim.y * gridDim.z; }
    u64 thread_rank() const {
        return u64{cu2port_detail::block_rank()} * cu2port_detail::block_size() + cu2port_detail::rank_in_block();
    }
    u64 block_rank() const { return cu2port_detail::block_rank(); }
    dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    dim3 dim_blocks() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    dim3 group_dim() const { return dim_blocks(); }
    bool is_valid() const { return true; }
    void sync(CU2PORT_SIM_WHERE) const { cu2port_sim::grid_barrier(where); }
};
inline grid_group this_grid() { return {}; }

template <unsigned Size, class Parent = thread_block>
struct thread_block_tile : cu2port_detail::Lanes<thread_block_tile<Size, Parent>> {
    static_assert(Size >= 1 && Size <= 64 && (Size & (Size - 1)) == 0, "a tile has 1 to 64 threads, a power of two");
    thread_block_tile() {
        if (Size > static_cast<unsigned>(cu2port_sim::kWave))
            cu2port_sim::misuse("a tile of 64 threads does not fit into a wave of 32", {"tiled_partition", 0});
    }
    u64 lanes() const { return cu2port_detail::tile_lanes(Size); }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned thread_rank() const { return static_cast<unsigned>(cu2port_sim::lane_id()) % Size; }
    unsigned meta_group_rank() const { return Parent{}.thread_rank() / Size; }
    unsigned meta_group_size() const { return (Parent{}.size() + Size - 1) / Size; }
};

// A tile whose size is known when the kernel runs, and any other group of lanes.
struct coalesced_group : cu2port_detail::Lanes<coalesced_group> {
    explicit coalesced_group(u64 mask, unsigned rank = 0, unsigned count = 1) : mask_(mask), rank_(rank), count_(count) {}
    u64 lanes() const { return mask_; }
    unsigned meta_group_rank() const { return rank_; }
    unsigned meta_group_size() const { return count_; }
    template <class T>
    T shfl_xor(T, unsigned) const = delete;  // neither CUDA nor HIP has it: ranks of such a group have gaps

private:
    u64 mask_;
    unsigned rank_, count_;
};

struct thread_group {
    thread_group(const thread_block&) : block_(true), mask_(0) {}
    thread_group(const coalesced_group& g) : block_(false), mask_(g.lanes()) {}
    template <unsigned N, class P>
    thread_group(const thread_block_tile<N, P>& t) : block_(false), mask_(t.lanes()) {}
    unsigned size() const { return block_ ? cu2port_detail::block_size() : coalesced_group(mask_).size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return block_ ? cu2port_detail::rank_in_block() : coalesced_group(mask_).thread_rank(); }
    bool is_valid() const { return true; }
    void sync(CU2PORT_SIM_WHERE) const {
        if (block_)
            cu2port_sim::barrier("group.sync", false, where);
        else
            coalesced_group(mask_).sync(where);
    }

private:
    bool block_;
    u64 mask_;
};

template <unsigned Size, class G>
inline thread_block_tile<Size, G> tiled_partition(const G&) {
    return {};
}
template <class G>
inline coalesced_group tiled_partition(const G& g, unsigned size) {
    const u64 lanes = cu2port_detail::tile_lanes(size);
    return coalesced_group(lanes, g.thread_rank() / size, (g.size() + size - 1) / size);
}
inline coalesced_group tiled_partition(const coalesced_group& g, unsigned size) {  // of ranks, not of lanes
    const unsigned tile = g.thread_rank() / size;
    u64 lanes = 0, rest = g.lanes();
    for (unsigned rank = 0; rest; ++rank, rest &= rest - 1)
        if (rank / size == tile) lanes |= rest & -rest;
    return coalesced_group(lanes, tile, (g.size() + size - 1) / size);
}
inline coalesced_group coalesced_threads(CU2PORT_SIM_WHERE) {
    return coalesced_group(cu2port_sim::ballot("coalesced_threads", true, where));
}
template <class G>
inline coalesced_group binary_partition(const G& g, bool p, CU2PORT_SIM_WHERE) {
    const u64 yes = cu2port_sim::ballot("binary_partition", p, where);
    const u64 lanes = g.lanes();
    return coalesced_group(p ? lanes & yes : lanes & ~yes, p ? 1 : 0, 2);
}
template <class G, class L>
inline coalesced_group labeled_partition(const G& g, L label, CU2PORT_SIM_WHERE) {
    return coalesced_group(cu2port_sim::match("labeled_partition", static_cast<long long>(label), nullptr, where) & g.lanes());
}
template <class G>
inline void sync(const G& g, CU2PORT_SIM_WHERE) {
    g.sync(where);
}
template <class G>
inline unsigned thread_rank(const G& g) {
    return static_cast<unsigned>(g.thread_rank());
}
template <class G>
inline unsigned group_size(const G& g) {
    return static_cast<unsigned>(g.size());
}

template <class T = void>
struct plus {
    template <class U>
    U operator()(U a, U b) const { return a + b; }
};
template <class T = void>
struct less {
    template <class U>
    U operator()(U a, U b) const { return b < a ? b : a; }
};
template <class T = void>
struct greater {
    template <class U>
    U operator()(U a, U b) const { return a < b ? b : a; }
};
template <class T = void>
struct bit_and {
    template <class U>
    U operator()(U a, U b) const { return a & b; }
};
template <class T = void>
struct bit_or {
    template <class U>
    U operator()(U a, U b) const { return a | b; }
};
template <class T = void>
struct bit_xor {
    template <class U>
    U operator()(U a, U b) const { return a ^ b; }
};

template <class G, class T, class F>
inline T reduce(const G& g, T v, F f, CU2PORT_SIM_WHERE) {
    return g.halved("cg::reduce", v, f, where);
}
template <class G, class T, class F>
inline T inclusive_scan(const G& g, T v, F f, CU2PORT_SIM_WHERE) {
    return g.fold("cg::inclusive_scan", v, f, g.thread_rank() + 1, where);
}
template <class G, class T>
inline T inclusive_scan(const G& g, T v, CU2PORT_SIM_WHERE) {
    return inclusive_scan(g, v, plus<>(), where);
}
template <class G, class T, class F>
inline T exclusive_scan(const G& g, T v, F f, CU2PORT_SIM_WHERE) {
    const unsigned rank = g.thread_rank();
    const T out = g.fold("cg::exclusive_scan", v, f, rank, where);
    return rank ? out : T{};
}
template <class G, class T>
inline T exclusive_scan(const G& g, T v, CU2PORT_SIM_WHERE) {
    return exclusive_scan(g, v, plus<>(), where);
}
template <class G, class F>
inline void invoke_one(const G& g, F f) {
    if (g.thread_rank() == 0) f();
}

}  // namespace cooperative_groups
