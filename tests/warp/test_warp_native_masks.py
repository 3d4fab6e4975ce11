"""`--warp native` where votes are kept as masks: leaders, places that one lane reserves for many, votes in loops.

All kernels run in the simulator, converted with `--warp logical` for wavefronts of 32 lanes and with `--warp native`
for both sizes, with blocks of 32, 96 and 256 threads. In which order warps get their places is open, so what was
written is compared sorted, with the number of places before the first that is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.engine import translate
from cu2port.model import Options

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
__device__ int next_place(int* counter) {
    cg::coalesced_group here = cg::coalesced_threads();
    int old = 0;
    if (here.thread_rank() == 0) old = atomicAdd(counter, here.size());
    old = here.shfl(old, 0);
    return old + here.thread_rank();
}
template <typename T> __device__ T next_of_warp(T* counter) {
    auto here = cg::coalesced_threads();
    T old;
    if (!here.thread_rank()) { old = atomicAdd(counter, static_cast<T>(here.num_threads())); }
    return here.shfl(old, 0) + here.thread_rank();
}
__device__ int next_anywhere(int* counter) {
    unsigned all = 0xffffffff;
    int peers;
    peers = __match_any_sync(all, (unsigned long long)counter);
    unsigned lane = threadIdx.x % warpSize;
    int leader = __ffs(peers) - 1, old = 0;
    if (lane == leader) old = atomicAdd(counter, __popc(peers));
    old = __shfl_sync(peers, old, leader);
    return old + __popc(peers & ((1 << lane) - 1));
}
__device__ int next_of_some(int* counter) {
    cg::coalesced_group here = cg::coalesced_threads();
    int old = 0;
    if (here.thread_rank() == 0) old = atomicAdd(counter, here.size());
    return here.shfl(old, 0) + here.thread_rank();
}
__device__ int next_of_hidden(int& counter) {
    const auto here = cg::coalesced_threads();
    int old;
    if (here.thread_rank() == 0) old = atomicAdd(&counter, here.size());
    return here.shfl(old, 0) + here.thread_rank();
}
__device__ int next_by_key(const int key, int* counters) {
    cg::coalesced_group here = cg::coalesced_threads();
    auto peers = cg::labeled_partition(here, key);
    int old = 0;
    if (peers.thread_rank() == 0) { old = atomicAdd(&counters[key], peers.size()); }
    old = peers.shfl(old, 0);
    return old + peers.thread_rank();
}
__device__ int table[8];
__device__ int next_of_table(int which) {
    const auto here = cg::coalesced_threads();
    int old;
    if (here.thread_rank() == 0) old = atomicAdd(&table[which], here.size());
    return here.shfl(old, 0) + here.thread_rank();
}
__device__ unsigned half_of(unsigned mask) { return mask & 0xffff; }
"""
#: Kernels that become native: a body each, of `(const int* in, int* out)`; out[0] to out[15] count, others are places.
NATIVE = {
    "lane_zero": """
        const int lane = threadIdx.x % 32, x = in[threadIdx.x];
        const bool keep = x % 3 == 0;
        const unsigned votes = __ballot_sync(FULL, keep);
        int base = 0;
        if (lane == 0) base = atomicAdd(out, __popc(votes));
        base = __shfl_sync(FULL, base, 0);
        if (keep) out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;""",
    "first_of_mask": """
        const int lane = threadIdx.x & 31, x = in[threadIdx.x];
        const unsigned int votes = __ballot_sync(FULL, x > 50);
        if (x > 50) {
            const int leader = __ffs(votes) - 1;
            int base;
            if (lane == leader) { base = atomicAdd(&out[0], __popc(votes)); }
            base = __shfl_sync(votes, base, leader);
            out[16 + base + __popc(votes & ~(~0u << lane))] = x;
        }""",
    "unguarded_lanes": """
        int lane = threadIdx.x & 31;
        unsigned lower = (1u << lane) - 1;
        uint32_t mask = __ballot_sync(FULL, in[threadIdx.x] % 5);
        int n = __popc(mask), rank = __popc(lower & mask), base = 0;
        if (!(threadIdx.x & 31)) base = atomicAdd(out, n);
        int place = __shfl_sync(FULL, base, 0) + rank;
        if ((mask >> lane) & 1) out[16 + place] = in[threadIdx.x];""",
    "active_lanes": """
        for (int i = threadIdx.x; i < 300; i += blockDim.x) {
            if (in[i] % 4 != 1) continue;
            unsigned here = __activemask();
            int lane = threadIdx.x % 32, base;
            int last = 31 - __clz(here), rank = __popc(here & ((1 << lane) - 1));
            if (lane == last) base = atomicAdd(out, __popc(here));
            base = __shfl_sync(here, base, last);
            out[16 + base + rank] = in[i];
        }""",
    "group": """
        for (int i = threadIdx.x; i < 300; i += blockDim.x)
            if (in[i] > 40) out[16 + next_place(out)] = in[i];""",
    "group_of_template": """
        if (in[threadIdx.x] % 2) out[16 + next_of_warp(out)] = in[threadIdx.x];""",
    "groups_by_counter": """
        for (int i = threadIdx.x; i < 300; i += blockDim.x)
            if (in[i] % 3) {
                const int place = next_of_hidden(out[i / 32 % 4]);
                out[16 + i / 32 % 4 * 300 + place] = in[i];
            }""",
    "many_counters": "if (in[threadIdx.x] > 30) out[16 + threadIdx.x % 3] = next_of_some(&out[threadIdx.x / 32]) >= 0;",
    "counter_of_block": """
        __shared__ int taken;
        if (threadIdx.x == 0) taken = 0;
        __syncthreads();
        const int lane = threadIdx.x % 32, x = in[threadIdx.x];
        const unsigned votes = __ballot_sync(FULL, x % 3);
        int base = 0;
        if (lane == 0) base = atomicAdd(&taken, __popc(votes));
        base = __shfl_sync(FULL, base, 0);
        if (x % 3) out[16 + blockIdx.x * 300 + base + __popc(votes & ((1u << lane) - 1))] = x;
        __syncthreads();
        if (threadIdx.x == 0) out[blockIdx.x] = taken;""",
    "labeled": """
        for (int i = threadIdx.x; i < 300; i += blockDim.x) {
            const int key = in[i] % 5;
            if (key < 4) out[16 + key * 200 + next_by_key(key, out)] = in[i];
        }""",
    "two_stages": """
        __shared__ int s[32], total;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x];
        const unsigned votes = __ballot_sync(FULL, x % 3);
        const int rank = __popc(votes & ((1u << lane) - 1));
        if (lane == 0) s[warp] = __popc(votes);
        __syncthreads();
        if (warp == 0) {
            int n = lane < blockDim.x / 32 ? s[lane] : 0;
            for (int o = 1; o < 32; o <<= 1) {
                int below = __shfl_up_sync(FULL, n, o);
                if (lane >= o) n += below;
            }
            if (lane < blockDim.x / 32) s[lane] = n;
        }
        __syncthreads();
        int place = rank;
        if (warp > 0) place += s[warp - 1];
        if (x % 3) out[16 + blockIdx.x * 300 + place] = x;""",
    "added_up": """
        const int lane = threadIdx.x % 32, x = in[threadIdx.x];
        const unsigned votes = __ballot_sync(FULL, x % 3);
        int place = 0;
        if (lane == 0) place = atomicAdd(out, __popc(votes));
        place = __shfl_sync(FULL, place, 0);
        place += __popc(votes & ((1u << lane) - 1));
        if (x % 3) out[16 + place] = x;""",
    "place_kept": """
        const int lane = threadIdx.x % 32, x = in[threadIdx.x];
        const unsigned votes = __ballot_sync(FULL, x % 3 == 0);
        const int leader = 31 - __clz(votes);
        int base = 0;
        if (votes) {
            if (leader == lane) base = atomicAdd(out, __popc(votes));
            base = __shfl_sync(votes, base, leader);
            const int place = 16 + base + __popc(votes & ((1u << lane) - 1));
            if (votes & (1u << lane)) out[place] = x;
        }""",
    "peers_always": """
        for (int i = 0; i < 3; ++i) {
            const int x = in[threadIdx.x + 31 * i], key = x % 4, lane = threadIdx.x & 31;
            const unsigned peers = __match_any_sync(__activemask(), key);
            int base = 0, leader = __ffs(peers) - 1;
            if (lane == leader && peers != 0) base = atomicAdd(out + key, __popc(peers));
            base = __shfl_sync(peers, base, leader);
            out[16 + key * 500 + base + __popc(peers & ((1u << lane) - 1))] = x;
        }""",
    "flags": """
        __shared__ int seen[2], any;
        if (threadIdx.x == 0) seen[0] = seen[1] = any = 0;
        __syncthreads();
        const int x = in[threadIdx.x], lane = threadIdx.x % 32;
        const unsigned votes = __ballot_sync(FULL, x == 17);
        if (votes) { if (lane == 0) seen[1] = 5; }
        if (__any_sync(FULL, x > 98)) {
            any = 1;
            if (x > 98) out[16 + threadIdx.x] = x;
        }
        __syncthreads();
        if (threadIdx.x == 0) { out[3] = any; out[4] = seen[1]; }""",
    "peers_by_address": """
        const int x = in[threadIdx.x];
        const int place = next_anywhere(out + x % 3);
        out[16 + x % 3 * 300 + place] = x;""",
    "peers_by_key": """
        const int key = in[threadIdx.x] % 7, lane = threadIdx.x % 32;
        const unsigned peers = __match_any_sync(0xffffffff, key);
        const bool leads = lane == __ffs(peers) - 1;
        if (leads) atomicAdd(&out[key], __popc(peers));""",
    "peers_here": """
        const int key = in[threadIdx.x] % 5, lane = threadIdx.x & 31;
        if (in[threadIdx.x] > 20) {
            auto here = __activemask();
            auto peers = __match_any_sync(here, key);
            auto rank = __popc(peers & ((1u << lane) - 1));
            int base = 0;
            if (rank == 0) base = atomicAdd(out + key, __popc(peers));
            base = __shfl_sync(peers, base, __ffs(peers) - 1);
            out[16 + 200 * key + base + rank] = in[threadIdx.x];
        }""",
    "vote_first": """
        const int x = in[threadIdx.x];
        bool p = x > 70;
        unsigned votes = __ballot_sync(FULL, p);
        if (votes != 0) {
            int lane = threadIdx.x & 31, base, leader = __ffs(votes) - 1;
            if (lane == leader) base = atomicAdd(out, __popc(votes));
            base = __shfl_sync(FULL, base, leader);
            if (p) out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;
        }""",
    "leaves_unless": """
        const int lane = threadIdx.x & 31, x = in[threadIdx.x];
        const bool p = x % 4 == 0;
        const unsigned votes = __ballot_sync(FULL, p);
        if (!p) return;
        int base;
        const int leader = __ffs(votes) - 1;
        if (lane == leader) base = atomicAdd(out, __popc(votes));
        base = __shfl_sync(votes, base, leader);
        out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;""",
    "two_sides": """
        const int lane = threadIdx.x & 31, x = in[threadIdx.x];
        const bool high = x > 37;
        const unsigned ups = __ballot_sync(FULL, high), downs = __ballot_sync(FULL, !high);
        const int many = __popc(ups), few = __popc(downs);
        int up, down;
        if (lane == 0) {
            if (many > 0) up = atomicAdd(out, many);
            if (few > 0) down = atomicAdd(&out[1], few);
        }
        up = __shfl_sync(FULL, up, 0);
        down = __shfl_sync(FULL, down, 0);
        if (high) out[16 + up + __popc(ups & ((1u << lane) - 1))] = x;
        if (!high) out[616 + down + __popc(downs & ((1u << lane) - 1))] = x;""",
    "rounds": """
        int n = in[threadIdx.x] % 9, sum = 0;
        bool more = n > 0;
        while (__any_sync(FULL, more)) {
            if (more) {
                sum += n--;
                more = n > 0;
            }
        }
        out[16 + threadIdx.x] = sum;""",
    "rounds_behind": """
        int n = in[threadIdx.x] % 6;
        int more = 1;
        do {
            if (more) { atomicAdd(&out[1], n); n -= 2; more = n > 0; }
        } while (__any_sync(FULL, more));""",
    "kept_count": """
        __shared__ int s[32];
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const unsigned votes = __ballot_sync(FULL, in[threadIdx.x] % 3 == 1);
        const int n = __popc(votes);
        if (lane == 0) s[warp] = n;
        __syncthreads();
        if (threadIdx.x == 0) {
            int all = 0;
            for (int i = 0; i < blockDim.x / 32; ++i) all += s[i];
            out[2] = all;
        }""",
}
_KEEP = """
        int lane = threadIdx.x % 32, x = in[threadIdx.x], base = 0;
        bool keep = x % 3 == 0;
        unsigned votes = __ballot_sync(FULL, keep);
        int leader = __ffs(votes) - 1;
        """
_PLACE = "out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;"
_RESERVE = "if (lane == leader) base = atomicAdd(out, __popc(votes)); base = __shfl_sync(FULL, base, leader);"
#: Kernels that look like it and stay as they are.
LOGICAL = {
    "mask_in_memory": _KEEP + "if (lane == 0) out[threadIdx.x / 32] = votes;",
    "mask_to_function": _KEEP + "if (lane == 0) atomicAdd(out, __popc(half_of(votes)));",
    "mask_compared": _KEEP + "if (votes == 0xffffffff) out[16 + threadIdx.x] = 1;",
    "mask_of_half": """
        int lane = threadIdx.x % 32;
        if (lane < 16) {
            unsigned votes = __ballot_sync(0xffff, in[threadIdx.x] & 1);
            if (lane == 0) atomicAdd(out, __popc(votes));
        }""",
    "half_counted": _KEEP + "if (lane == 0) atomicAdd(out, __popc(votes & 0xffff));",
    "mask_shifted": _KEEP + "out[16 + threadIdx.x] = __popc(votes >> lane);",
    "mask_reversed": _KEEP + "if (lane == 0) atomicAdd(out, __popc(~votes));",
    "rank_alone": _KEEP + "if (keep) out[16 + threadIdx.x] = __popc(votes & ((1u << lane) - 1));",
    "rank_as_slot": """
        __shared__ int s[256];
        int lane = threadIdx.x % 32;
        bool keep = in[threadIdx.x] % 2;
        unsigned votes = __ballot_sync(FULL, keep);
        if (keep) s[threadIdx.x / 32 * 32 + __popc(votes & ((1u << lane) - 1))] = in[threadIdx.x];
        __syncthreads();
        if (lane < __popc(votes)) out[16 + threadIdx.x] = s[threadIdx.x];""",
    "count_alone": _KEEP + "out[16 + threadIdx.x] = __popc(votes);",
    "count_of_peers": """
        unsigned peers = __match_any_sync(FULL, in[threadIdx.x] % 5);
        if (threadIdx.x % 32 == __ffs(peers) - 1) atomicMax(out, __popc(peers));""",
    "counter_of_warp": _KEEP + "if (lane == 0) atomicAdd(&out[threadIdx.x / 32], __popc(votes));",
    "counter_without_atomic": _KEEP + """if (threadIdx.x < 32 && blockIdx.x == 0) {
            if (lane == 0) { base = out[0]; out[0] = base + __popc(votes); }
            base = __shfl_sync(FULL, base, 0); }
            if (keep && threadIdx.x < 32 && blockIdx.x == 0) """ + _PLACE,
    "value_of_leader": _KEEP + "out[16 + threadIdx.x] = __shfl_sync(FULL, x, leader);",
    "base_alone": _KEEP + _RESERVE + "if (keep) atomicAdd(&out[1], base >= 0);",
    "place_without_vote": _KEEP + _RESERVE + "out[100 + (base + __popc(votes & ((1u << lane) - 1))) % 4] = 1;",
    "vote_changes": _KEEP + _RESERVE + "keep = keep || x == 2; if (keep) " + _PLACE.replace("= x", "= 1"),
    "rank_of_other_votes": """
        int lane = threadIdx.x % 32, base = 0;
        unsigned a = __ballot_sync(FULL, in[threadIdx.x] & 1), b = __ballot_sync(FULL, in[threadIdx.x] & 2);
        if (lane == 0) base = atomicAdd(out, __popc(a));
        base = __shfl_sync(FULL, base, 0);
        if (in[threadIdx.x] & 1) out[16 + (base + __popc(b & ((1u << lane) - 1))) % 8] = 1;""",
    "rank_of_earlier_turn": """
        int lane = threadIdx.x % 32, rank = 0, base = 0;
        unsigned votes = 0;
        for (int i = 0; i < 2; ++i) {
            rank = __popc(votes & ((1u << lane) - 1));
            votes = __ballot_sync(FULL, in[threadIdx.x + i] & 1);
            if (lane == 0) base = atomicAdd(out, __popc(votes));
            base = __shfl_sync(FULL, base, 0);
            out[16 + (base + rank) % 4] = 1;
        }""",
    "some_leave": _KEEP + "if (x % 2) return; if (lane == 0) atomicAdd(out, __popc(votes));",
    "leader_in_other_branch": _KEEP + "if (x % 2) { if (lane == leader) atomicAdd(out, __popc(votes)); }",
    "other_guard": """
        int lane = threadIdx.x % 32;
        unsigned a = __ballot_sync(FULL, in[threadIdx.x] == 5), b = __ballot_sync(FULL, in[threadIdx.x] & 1);
        if (lane == 0 && a) atomicAdd(out, __popc(b));""",
    "leader_of_others": """
        int lane = threadIdx.x % 32;
        unsigned a = __ballot_sync(FULL, in[threadIdx.x] == 5), b = __ballot_sync(FULL, in[threadIdx.x] & 1);
        if (lane == __ffs(a) - 1) atomicAdd(out, __popc(b));""",
    "counters_by_number": "if (in[threadIdx.x] > 30) out[16 + threadIdx.x] = next_of_table(threadIdx.x / 32) >= 0;",
    "key_cut": """
        const int x = in[threadIdx.x], lane = threadIdx.x % 32;
        const unsigned peers = __match_any_sync(FULL, (unsigned long long)(unsigned char)x);
        if (lane == __ffs(peers) - 1) atomicAdd(&out[x % 16], __popc(peers));""",
    "peers_elsewhere": """
        const int key = in[threadIdx.x] % 4, lane = threadIdx.x % 32;
        const unsigned peers = __match_any_sync(FULL, key);
        if (lane == __ffs(peers) - 1) atomicAdd(&out[key + 4 * (threadIdx.x & 32 ? 1 : 0)], __popc(peers));""",
    "labeled_places": """
        auto here = cg::coalesced_threads();
        auto peers = cg::labeled_partition(here, in[threadIdx.x] % 3);
        if (peers.thread_rank() == 0) atomicAdd(&out[in[threadIdx.x] % 3], peers.size());""",
    "labeled_of_part": """
        const int key = in[threadIdx.x] % 3;
        auto here = cg::coalesced_threads();
        if (in[threadIdx.x] > 40) {
            auto peers = cg::labeled_partition(here, key);
            if (peers.thread_rank() == 0) atomicAdd(&out[key], in[threadIdx.x] > 40);
        }""",
    "votes_of_group": """
        auto here = cg::coalesced_threads();
        unsigned votes = here.ballot(in[threadIdx.x] & 1);
        if (here.thread_rank() == 0) atomicAdd(out, __popc(votes & 0xff));""",
    "rounds_counted": """
        int n = in[threadIdx.x] % 4, turns = 0;
        while (__any_sync(FULL, n > 0)) { n--; turns++; }
        out[16 + threadIdx.x] = turns;""",
    "rounds_with_more": """
        int n = in[threadIdx.x] % 4, turns = 0;
        bool more = n > 0;
        while (__any_sync(FULL, more)) {
            turns++;
            if (more) { n--; more = n > 0; }
        }
        out[16 + threadIdx.x] = turns;""",
    "rounds_that_meet": """
        int n = in[threadIdx.x] % 4;
        bool more = n > 0;
        while (__any_sync(FULL, more)) {
            if (more) { atomicAdd(out, __popc(__activemask()) > 8); n--; more = n > 0; }
        }""",
    "vote_alone": "out[16 + threadIdx.x] = __any_sync(FULL, in[threadIdx.x] > 95);",
    "flag_of_warp": """
        __shared__ int seen[8];
        if (threadIdx.x < 8) seen[threadIdx.x] = 0;
        __syncthreads();
        if (__any_sync(FULL, in[threadIdx.x] > 98)) seen[threadIdx.x / 32] = 1;
        __syncthreads();
        if (threadIdx.x < 8) out[threadIdx.x] = seen[threadIdx.x];""",
    "flag_with_lane": """
        if (__any_sync(FULL, in[threadIdx.x] > 98)) out[16] = threadIdx.x % 32 == 40 ? 2 : threadIdx.x + 1 > 0;""",
    "vote_counts": """
        int turns = 0;
        if (__any_sync(FULL, in[threadIdx.x] > 98)) turns = 1;
        out[16 + threadIdx.x] = turns;""",
    "vote_does_more": _KEEP + "if (votes) out[16 + threadIdx.x] = 1;",
    "vote_reads_more": _KEEP + "if (votes) { int y = in[x]; if (lane == leader) base = atomicAdd(out, __popc(votes));"
        " base = __shfl_sync(FULL, base, leader); if (keep) out[16 + base] = y & 0; }",
    "number_later": _KEEP + "if (lane == 0) atomicAdd(out, __popc(votes)); votes = x; out[16 + threadIdx.x] = ~votes;",
    "cast": """
        int votes = (int)__ballot_sync(FULL, in[threadIdx.x] & 1);
        if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(votes));""",
    "lane_zero_absent": """
        if (threadIdx.x % 32 > 3) {
            unsigned here = __activemask();
            if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(here));
        }""",
    "count_of_float": """
        float* sum = (float*)out;
        float old = 0;
        unsigned votes = __ballot_sync(FULL, in[threadIdx.x] & 1);
        if (threadIdx.x % 32 == 0) old = atomicAdd(sum, (float)__popc(votes));
        out[1] = __shfl_sync(FULL, old, 0) < 0;""",
    "chosen_by_two": _KEEP + "if (leader >= 0 ? lane == leader : lane == 0) atomicAdd(out, __popc(votes));",
    "in_a_case": """
        switch (in[threadIdx.x] % 3) {
            case 0: { unsigned here = __activemask(); out[16 + threadIdx.x] = __popc(here) > 0; break; }
            case 1: { unsigned here = __activemask();
                if (threadIdx.x % 32 == __ffs(here) - 1) atomicAdd(out, __popc(here)); break; }
            default: break;
        }""",
}  # fmt: skip
NAMES = (*NATIVE, *LOGICAL)
SIZES = (32, 96, 256)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 8192);
    cudaMallocManaged(&out, 8192);
    for (int i = 0; i < 2048; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 2048; i++) out[i] = 0;
        NAME<<<2, size>>>(in, out);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 16; i++) printf(" %d", out[i]);
        printf(" %d", int(std::find(out + 16, out + 2048, 0) - out));
        std::sort(out + 16, out + 2048);
        for (int i = 1100; i < 2048; i++) if (out[i]) printf(" %d", out[i]);
        printf("\\n");
"""


def _program() -> str:
    kernels = (f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in {**NATIVE, **LOGICAL}.items())
    cases = "".join(CASE.replace("NAME", n) for n in NAMES)
    sizes = ", ".join(map(str, SIZES))
    return HEAD + "".join(kernels) + MAIN.replace("SIZES", sizes).replace("CASES", cases)


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_cudas(name: str, size: int, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} {size} 0"]
    assert answers["native", 32][f"{name} {size} 0"] == right
    assert answers["native", 64][f"{name} {size} 0"] == right


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in NAMES if found.get(n) == "CU356"} == {*NATIVE}
    assert {n for n in NAMES if found.get(n) in ("CU357", "part")} == {*LOGICAL}


def _attacks() -> dict[str, str]:
    text = (Path(__file__).parent / "native_mask_attacks.cu").read_text("utf-8")
    found = re.split(r"^//// (\S+)\n", text, flags=re.MULTILINE)
    head = HEAD.partition("__device__")[0]
    return {name: head + body for name, body in zip(found[1::2], found[2::2], strict=True)}


ATTACKS = _attacks()


@pytest.mark.parametrize("name", ATTACKS)
def test_warps_stay(name: str) -> None:
    made = translate(ATTACKS[name], Options(warp="native"), path="p.cu")
    assert [j.finding.message for j in made.findings if j.finding.code == "CU356"] == []
    assert any(j.finding.code == "CU357" for j in made.findings)
