// Cooperative groups.
#include "suite.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

template <unsigned N>
__global__ void tile_sum(int* out) {
    auto tile = cg::tiled_partition<N>(cg::this_thread_block());
    int v = threadIdx.x;
    for (unsigned o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_xor(v, o);
    out[threadIdx.x] = v;
}
__global__ void tile_votes(int* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[threadIdx.x] = static_cast<int>(tile.ballot(threadIdx.x % 3 == 0)) + (tile.any(threadIdx.x == 8) ? 256 : 0) +
                       (tile.all(threadIdx.x < 16) ? 512 : 0) + static_cast<int>(tile.meta_group_rank()) * 1024;
}
__global__ void divergent_tiles(int* out) {  // some tiles take another way
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = 0;
    if (tile.meta_group_rank() % 2) {
        for (int i = 0; i < 3; ++i) v += tile.shfl(static_cast<int>(tile.thread_rank()), i);
    } else {
        v = tile.shfl(static_cast<int>(threadIdx.x), 15);
    }
    tile.sync();
    out[threadIdx.x] = v;
}
__global__ void coalesced(int* out) {
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group g = cg::coalesced_threads();
        const int first = g.shfl(static_cast<int>(threadIdx.x), 0);
        out[threadIdx.x] = first * 10000 + static_cast<int>(g.thread_rank()) * 100 + static_cast<int>(g.size());
    }
}
__global__ void reduce_and_scan(int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int rank = tile.thread_rank();
    const int sum = cg::reduce(tile, rank, cg::plus<int>());
    const int top = cg::reduce(tile, rank, cg::greater<int>());
    out[threadIdx.x] = sum + top * 1000 + cg::inclusive_scan(tile, 1) * 100000 + cg::exclusive_scan(tile, 1) * 10000000;
}
__global__ void run_time_size(int* out) {
    auto g = cg::tiled_partition(cg::this_thread_block(), 4);
    out[threadIdx.x] = g.thread_rank() + g.size() * 10;
}
__global__ void partition(int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    auto half = cg::binary_partition(tile, threadIdx.x % 4 == 0);
    out[threadIdx.x] = half.size();
}
__global__ void whole_grid(int* count, int* out) {
    cg::grid_group grid = cg::this_grid();
    atomicAdd(count, 1);
    grid.sync();
    const int first = *count;
    grid.sync();
    atomicAdd(count, 1);
    grid.sync();
    out[grid.thread_rank()] = first * 1000 + *count;
}
__device__ void any_group(const cg::thread_group& g, int* out) {
    g.sync();
    out[threadIdx.x] = g.size();
}
__global__ void block_group(int* out) {
    cg::thread_block b = cg::this_thread_block();
    any_group(b, out);
    b.sync();
    if (b.thread_rank() == 0) out[0] += b.group_dim().x;
}

__global__ void block_by_its_class(int* out) {  // without an object of it
    __shared__ int values[96];
    values[cg::thread_block::thread_rank()] = threadIdx.x;
    cg::thread_block::sync();
    out[cg::thread_block::thread_index().x] = values[cg::thread_block::size() - 1 - threadIdx.x] + cg::thread_block::group_index().x;
}

int main() {
    auto run = [](void (*k)(int*), int n) -> Out<int>& {
        Out<int>* o = new Out<int>(n);
        k<<<1, n>>>(o->d);
        return *o;
    };
    auto sum = [](int i, int n) { return i / n * n * n + n * (n - 1) / 2; };
    say("tile of 2", all(run(tile_sum<2>, 64), [=](int i) { return sum(i, 2); }));
    say("tile of 4", all(run(tile_sum<4>, 64), [=](int i) { return sum(i, 4); }));
    say("tile of 16", all(run(tile_sum<16>, 64), [=](int i) { return sum(i, 16); }));
    say("tile of 32", all(run(tile_sum<32>, 128), [=](int i) { return sum(i, 32); }));
    if (wave_size() == 64) say("tile of 64", all(run(tile_sum<64>, 128), [=](int i) { return sum(i, 64); }));
    say("tile votes", all(run(tile_votes, 32), [](int i) {
            int m = 0;
            for (int k = 0; k < 8; ++k) m |= ((i / 8 * 8 + k) % 3 == 0) << k;
            return m + (i / 8 == 1 ? 256 : 0) + (i < 16 ? 512 : 0) + i / 8 * 1024;
        }));
    say("divergent tiles", all(run(divergent_tiles, 128), [](int i) { return i / 16 % 2 ? 3 : i / 16 * 16 + 15; }));
    const int w = wave_size();
    say("coalesced threads", all(run(coalesced, 128), [=](int i) {
            if (i % 3) return 0;
            int first = -1, rank = 0, size = 0;
            for (int k = i / w * w; k < i / w * w + w; ++k)
                if (k % 3 == 0) {
                    if (first < 0) first = k;
                    rank += k < i;
                    ++size;
                }
            return first * 10000 + rank * 100 + size;
        }));
    say("reduce and scan", all(run(reduce_and_scan, 64), [](int i) {
            return 496 + 31000 + (i % 32 + 1) * 100000 + i % 32 * 10000000;
        }));
    say("size at run time", all(run(run_time_size, 32), [](int i) { return i % 4 + 40; }));
    say("binary partition", all(run(partition, 64), [](int i) { return i % 4 == 0 ? 8 : 24; }));
    say("block as a group", all(run(block_group, 96), [](int i) { return i == 0 ? 192 : 96; }));
    say("block by its class", all(run(block_by_its_class, 96), [](int i) { return 95 - i; }));
    Out<int> count(1), out(8 * 64);
    int* c = count.d;
    int* o = out.d;
    void* args[] = {&c, &o};
    const hipError_t e = hipLaunchCooperativeKernel(reinterpret_cast<void*>(whole_grid), dim3(8), dim3(64), args, 0, nullptr);
    say("the whole grid", e == hipSuccess && all(out, [](int) { return 512 * 1000 + 1024; }));
}
