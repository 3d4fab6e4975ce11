// cu2port ptx_barrier: PTX's numbered barriers, at which some of a block's warps meet. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// AMD's barriers take all threads of a block, so these are counts in shared memory: 384 bytes of each kernel that uses
// one. A warp comes with all of its threads at once; the one that makes the count full lets the others go on.
//
// A wavefront of 64 lanes holds two warps and has one program counter. As long as one of them waits here in a branch
// that the other one has not taken, the other one does not run. Where it is the other one that is waited for, nothing
// ever goes on; after ten seconds the kernel traps. Give each warp a wavefront of its own then (`convert --warp solo`),
// or let both warps of a wavefront take the same part. GPUs with wavefronts of 32 lanes have no such trouble.
//
// Nobody sets shared memory to zero, and there is no moment before the first use. So each barrier names the block that
// it counts for, by a hash of all that tells its launch from others; the first wavefront that finds another name there
// starts again. What a block of an earlier launch left behind is never taken for a count, but by a chance of 2^-64.
#ifndef CU2PORT_PTX_BARRIER_HPP
#define CU2PORT_PTX_BARRIER_HPP

#define CU2PORT_PTX_BARRIER __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace ptx {
namespace barrier {

struct Named {
    u64 block;  // whose it is: `name()`, or `~name()` while a wavefront of that block clears it
    u32 state;  // completed phases << 16 | threads that have come
    u32 votes;  // how many of them said yes
    u32 yes[2];  // of the last phases, by their numbers' last bit
};
struct All {
    Named numbered[16];
};

#ifdef CU2PORT_SIM_WAVE
CU2PORT_PTX_BARRIER All& all() { return cu2port_sim::shared<All>(); }
template <class T> CU2PORT_PTX_BARRIER T load(T* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
template <class T> CU2PORT_PTX_BARRIER void store(T* p, T v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
template <class T> CU2PORT_PTX_BARRIER bool swap(T* p, T& seen, T v) {
    return __atomic_compare_exchange_n(p, &seen, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
CU2PORT_PTX_BARRIER u64 launch() { return gridDim.x; }
#else
CU2PORT_PTX_BARRIER All& all() {
    __shared__ All barriers;
    return barriers;
}
template <class T> CU2PORT_PTX_BARRIER T load(T* p) {
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <class T> CU2PORT_PTX_BARRIER void store(T* p, T v) {
    __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <class T> CU2PORT_PTX_BARRIER bool swap(T* p, T& seen, T v) {
    return __hip_atomic_compare_exchange_strong(p, &seen, v, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                                __HIP_MEMORY_SCOPE_WORKGROUP);
}
#ifdef __HIP_DEVICE_COMPILE__
__device__ u64 dispatch_id() __asm("llvm.amdgcn.dispatch.id");  // which clang has no builtin for
#endif
// The packet that the launch was put into a queue with: its place, the number that the queue gave it, its arguments.
CU2PORT_PTX_BARRIER u64 launch() {
#ifdef __HIP_DEVICE_COMPILE__
    const auto packet = __builtin_amdgcn_dispatch_ptr();
    const u64 arguments = *(const CU2PORT_PTX_SPACE(4) u64*)((const CU2PORT_PTX_SPACE(4) char*)packet + 40);
    return (u64)packet * 0x9e3779b97f4a7c15u ^ dispatch_id() * 0xd1342543de82ef95u ^ arguments << 20;
#else
    return 0;
#endif
}
#endif

// Who the running block is among the blocks of all launches.
CU2PORT_PTX_BARRIER u64 name() {
    const u64 place = __builtin_amdgcn_workgroup_id_x() | u64(__builtin_amdgcn_workgroup_id_y()) << 32;
    u64 h = launch() ^ place * 0xff51afd7ed558ccdu;
    h ^= (h >> 32) + __builtin_amdgcn_workgroup_id_z();
    h *= 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 29) * 0x94d049bb133111ebu;
    return h ^ h >> 32;
}

// Makes a barrier the running block's. Called by one lane of a wavefront.
CU2PORT_PTX_BARRIER void claim(Named& b) {
    const u64 mine = name();
    for (u64 seen = load(&b.block); seen != mine; seen = load(&b.block)) {
        if (seen != ~mine && swap(&b.block, seen, ~mine)) {
            store(&b.votes, u32(0));
            store(&b.state, u32(0));
            store(&b.block, mine);
            return;
        }
        __builtin_amdgcn_s_sleep(1);
    }
}

// Adds `threads` to those that have come, of whom `all` complete a phase, and `yes` to the votes. Returns the number of
// the phase they are of.
CU2PORT_PTX_BARRIER u32 come(Named& b, u32 all, u32 threads, u64 lanes, u32 yes = 0) {
    u32 seen = 0;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (warp::detail::wave_lane() == u32(__builtin_ctzll(lanes))) {
        claim(b);
        for (u32 votes = load(&b.votes); yes != 0 && !swap(&b.votes, votes, votes + yes);) {
        }
        seen = load(&b.state);
        for (;;) {
            const u32 here = (seen & 0xffff) + threads;
            if (here >= all) {  // nobody else is on the way
                const u32 votes = load(&b.votes);
                store(&b.yes[seen >> 16 & 1], votes);
                store(&b.votes, u32(0));
            }
            if (swap(&b.state, seen, here < all ? seen + threads : ((seen >> 16) + 1) << 16 | (here - all))) break;
        }
    }
    return u32(__builtin_amdgcn_readfirstlane(int(seen))) >> 16;
}

CU2PORT_PTX_BARRIER void wait(Named& b, u32 phase, u64 lanes) {
    const bool half = warp::detail::two() && (u32(lanes) == 0 || lanes >> 32 == 0);
    const long long begin = half ? wall_clock64() : 0;
    while (load(&b.state) >> 16 == phase) {
        __builtin_amdgcn_s_sleep(1);
        // at 100 million ticks a second
        if (half && wall_clock64() - begin > 1000000000) __builtin_trap();  // two warps, one wavefront: see above
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// How many threads come with the lanes that are here: whole warps, as the aligned forms have it.
CU2PORT_PTX_BARRIER u32 in_warps(u64 lanes) { return (u32(lanes) != 0 ? 32 : 0) + (lanes >> 32 != 0 ? 32 : 0); }
// Or thread by thread; those that the last warp lacks come with the last thread of the block.
CU2PORT_PTX_BARRIER u32 one_by_one(u64 lanes) {
    const u32 threads = blockDim.x * blockDim.y * blockDim.z;
    const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const bool last = __builtin_amdgcn_ballot_w64(thread == threads - 1) != 0;
    return u32(__builtin_popcountll(lanes)) + (last ? (32 - threads % 32) % 32 : 0);
}

}  // namespace barrier

// `bar.sync id, threads` and `bar.arrive`, and the same for threads of a warp that do not come together.
CU2PORT_PTX_BARRIER void bar_sync(u32 id, u32 threads) {
    const u64 lanes = __builtin_amdgcn_ballot_w64(true);
    barrier::Named& b = barrier::all().numbered[id & 15];
    barrier::wait(b, barrier::come(b, threads, barrier::in_warps(lanes), lanes), lanes);
}
CU2PORT_PTX_BARRIER void bar_arrive(u32 id, u32 threads) {
    const u64 lanes = __builtin_amdgcn_ballot_w64(true);
    barrier::come(barrier::all().numbered[id & 15], threads, barrier::in_warps(lanes), lanes);
}
CU2PORT_PTX_BARRIER void barrier_sync(u32 id, u32 threads) {
    const u64 lanes = __builtin_amdgcn_ballot_w64(true);
    barrier::Named& b = barrier::all().numbered[id & 15];
    barrier::wait(b, barrier::come(b, threads, barrier::one_by_one(lanes), lanes), lanes);
}
CU2PORT_PTX_BARRIER void barrier_arrive(u32 id, u32 threads) {
    const u64 lanes = __builtin_amdgcn_ballot_w64(true);
    barrier::come(barrier::all().numbered[id & 15], threads, barrier::one_by_one(lanes), lanes);
}

// `bar.red.popc`, `.or` and `.and` of some threads.
CU2PORT_PTX_BARRIER u32 bar_red_popc(u32 id, u32 threads, bool p) {
    const u64 lanes = __builtin_amdgcn_ballot_w64(true);
    const u32 yes = u32(__builtin_popcountll(__builtin_amdgcn_ballot_w64(p)));
    barrier::Named& b = barrier::all().numbered[id & 15];
    const u32 phase = barrier::come(b, threads, barrier::in_warps(lanes), lanes, yes);
    barrier::wait(b, phase, lanes);
    return barrier::load(&b.yes[phase & 1]);
}
CU2PORT_PTX_BARRIER bool bar_red_or(u32 id, u32 threads, bool p) { return bar_red_popc(id, threads, p) != 0; }
CU2PORT_PTX_BARRIER bool bar_red_and(u32 id, u32 threads, bool p) { return bar_red_popc(id, threads, !p) == 0; }

}  // namespace ptx
}  // namespace cu2port

#undef CU2PORT_PTX_BARRIER

#endif  // CU2PORT_PTX_BARRIER_HPP
