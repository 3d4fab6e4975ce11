// cu2port pipeline: copies to shared memory, pipelines and barriers as CUDA and libcu++ have them.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// CUDA lets an asynchronous copy happen at any time between its call and the wait for it. Here it happens at the call,
// so that there is nothing to wait for but other threads. Barriers and pipelines of a block count in shared memory.
//
// A wavefront of 64 lanes holds two warps and has one program counter. Where a thread waits for another one that is in
// the same wavefront and in another branch, neither ever goes on; after ten seconds the kernel traps. Let both warps of
// a wavefront take the same part, or give each warp a wavefront of its own (`convert --warp solo`). GPUs with
// wavefronts of 32 lanes have that trouble within a warp only, which CUDA's older GPUs have too.
#ifndef CU2PORT_PIPELINE_HPP
#define CU2PORT_PIPELINE_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "atomic.hpp"
#include "warp.hpp"

#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

#if defined(CU2PORT_SIM_WAVE)
#define CU2PORT_PIPELINE __device__ inline
#else
#define CU2PORT_PIPELINE __device__ inline __attribute__((__always_inline__))
#endif

namespace cu2port {

// --- copies ----------------------------------------------------------------------------------------------------------

/// A number of bytes that is a multiple of `Alignment`, as both addresses are.
template <std::size_t Alignment> struct aligned_size_t {
    static constexpr std::size_t align = Alignment;
    std::size_t value;
    __host__ __device__ explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
    __host__ __device__ constexpr operator std::size_t() const { return value; }
};

namespace pipelines {

typedef std::uint32_t word;
template <int Size> struct piece;
template <> struct piece<1> { typedef unsigned char type __attribute__((may_alias)); };
template <> struct piece<4> { typedef word type __attribute__((may_alias)); };
template <> struct piece<8> { typedef word type __attribute__((vector_size(8), may_alias)); };
template <> struct piece<16> { typedef word type __attribute__((vector_size(16), may_alias)); };

// Every `step`-th piece from the `first` on.
template <int Size>
CU2PORT_PIPELINE void copy_pieces(void* to, const void* from, std::size_t bytes, std::size_t first, std::size_t step) {
    typedef typename piece<Size>::type T;
    for (std::size_t i = first; i < bytes / Size; i += step) static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
}

// In the largest pieces that the addresses and the number allow; `Alignment` is what is known of all three.
template <std::size_t Alignment>
CU2PORT_PIPELINE void copy(void* to, const void* from, std::size_t bytes, std::size_t first, std::size_t step) {
    if (Alignment % 16 == 0) return copy_pieces<16>(to, from, bytes, first, step);
    const std::uint64_t all = reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from) | bytes;
    if (all % 16 == 0) return copy_pieces<16>(to, from, bytes, first, step);
    if (Alignment % 8 == 0 || all % 8 == 0) return copy_pieces<8>(to, from, bytes, first, step);
    if (Alignment % 4 == 0 || all % 4 == 0) return copy_pieces<4>(to, from, bytes, first, step);
    copy_pieces<1>(to, from, bytes, first, step);
}
template <class Shape> struct alignment { static constexpr std::size_t value = 1; };
template <std::size_t A_> struct alignment<aligned_size_t<A_>> { static constexpr std::size_t value = A_; };

}  // namespace pipelines

/// `__pipeline_memcpy_async`: 4, 8 or 16 bytes; the last `zeros` bytes are zero.
CU2PORT_PIPELINE void pipeline_memcpy_async(void* to, const void* from, std::size_t size, std::size_t zeros = 0) {
    if (zeros == 0 && size == 16) return pipelines::copy_pieces<16>(to, from, 16, 0, 1);
    if (zeros == 0 && size == 8) return pipelines::copy_pieces<8>(to, from, 8, 0, 1);
    if (zeros == 0 && size == 4) return pipelines::copy_pieces<4>(to, from, 4, 0, 1);
    typedef pipelines::piece<1>::type byte;
    for (std::size_t i = 0; i < size; ++i)
        static_cast<byte*>(to)[i] = i < size - zeros ? static_cast<const byte*>(from)[i] : byte(0);
}
/// `__pipeline_commit` and `__pipeline_wait_prior`: nothing is pending.
CU2PORT_PIPELINE void pipeline_commit() {}
CU2PORT_PIPELINE void pipeline_wait_prior(std::size_t) {}

// --- barriers --------------------------------------------------------------------------------------------------------

namespace pipelines {

typedef std::uint64_t state_t;  // completed phases << 32 | arrivals that the current one lacks

#ifdef CU2PORT_SIM_WAVE
CU2PORT_PIPELINE state_t load(const state_t* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
CU2PORT_PIPELINE void store(state_t* p, state_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
CU2PORT_PIPELINE state_t add(state_t* p, state_t v) { return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL); }
#else
CU2PORT_PIPELINE state_t load(const state_t* p) {
    return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
CU2PORT_PIPELINE void store(state_t* p, state_t v) {
    __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
CU2PORT_PIPELINE state_t add(state_t* p, state_t v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
}
#endif

// For a tool that watches accesses: arrivals of the next phase change the state that the waiting threads of this one
// look at, and that orders nothing. What orders is that the phase is complete.
CU2PORT_PIPELINE void completed(std::uint32_t* mark) {
#ifdef CU2PORT_SIM_WAVE
    __atomic_fetch_or(mark, 0u, __ATOMIC_ACQ_REL);
#else
    (void)mark;
#endif
}
CU2PORT_PIPELINE void waited(const std::uint32_t* mark) {
#ifdef CU2PORT_SIM_WAVE
    (void)__atomic_load_n(mark, __ATOMIC_ACQUIRE);
#else
    (void)mark;
#endif
}

// Arrivals of a number of threads, in phases. What arrives in a phase is seen by those that waited for its end.
struct counter {
    state_t state;
    std::uint32_t expected;

    CU2PORT_PIPELINE void begin(std::uint32_t count) {
        expected = count;
        store(&state, count);
    }
    // The number of the phase that these arrivals belong to.
    CU2PORT_PIPELINE std::uint32_t arrive(std::uint32_t count) {
        const state_t before = add(&state, -state_t(count));
        const std::uint32_t phase = std::uint32_t(before >> 32);
        if (std::uint32_t(before) == count) {
            completed(&expected);
            store(&state, state_t(phase + 1) << 32 | expected);
        }
        return phase;
    }
    // What this thread stored so far is seen by those that wait for the current phase, though it does not arrive.
    CU2PORT_PIPELINE void publish() { add(&state, 0); }
    CU2PORT_PIPELINE std::uint32_t phase() const { return std::uint32_t(load(&state) >> 32); }
    // Waits until so many phases are complete; their number wraps around.
    CU2PORT_PIPELINE void wait(std::uint32_t phases) const {
        const unsigned long long lanes = __builtin_amdgcn_ballot_w64(true);
        const bool half = warp::detail::two() && (std::uint32_t(lanes) == 0 || lanes >> 32 == 0);
        const long long start = half ? wall_clock64() : 0;
        while (std::int32_t(phase() - phases) < 0) {
            __builtin_amdgcn_s_sleep(1);
            // at 100 million ticks a second
            if (half && wall_clock64() - start > 1000000000) __builtin_trap();  // two warps, one wavefront: see above
        }
        waited(&expected);
    }
    // Whether so many phases are complete; what arrived in them is there then.
    CU2PORT_PIPELINE bool passed(std::uint32_t phases) const {
        if (std::int32_t(phase() - phases) < 0) return false;
        waited(&expected);
        return true;
    }
};

struct no_completion {};

}  // namespace pipelines

/// `cuda::barrier` of a block, in shared memory.
template <thread_scope Scope, class Completion = pipelines::no_completion> class barrier {
    static_assert(Scope == thread_scope_block, "a barrier between blocks has no counterpart: launch another kernel");
    static_assert(std::is_same<Completion, pipelines::no_completion>::value,
        "a barrier with a function that runs when it completes has no counterpart: call it in one thread between two");

  public:
    class arrival_token {
        friend class barrier;
        std::uint32_t phase;
        CU2PORT_PIPELINE explicit arrival_token(std::uint32_t p) : phase(p) {}
    };

    __host__ __device__ barrier() = default;
    CU2PORT_PIPELINE explicit barrier(std::ptrdiff_t expected) { counts.begin(std::uint32_t(expected)); }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    CU2PORT_PIPELINE arrival_token arrive(std::ptrdiff_t count = 1) {
        return arrival_token(counts.arrive(std::uint32_t(count)));
    }
    CU2PORT_PIPELINE void wait(arrival_token&& token) const { counts.wait(token.phase + 1); }
    CU2PORT_PIPELINE void arrive_and_wait() { counts.wait(counts.arrive(1) + 1); }
    CU2PORT_PIPELINE void arrive_and_drop() {
#ifdef CU2PORT_SIM_WAVE
        __atomic_fetch_sub(&counts.expected, 1u, __ATOMIC_RELAXED);
#else
        __hip_atomic_fetch_sub(&counts.expected, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
#endif
        counts.arrive(1);
    }
    /// Waits for the end of the phase whose number is odd or even, as `parity` says.
    CU2PORT_PIPELINE void wait_parity(bool parity) const {
        const std::uint32_t now = counts.phase();
        if ((now & 1) == std::uint32_t(parity)) return counts.wait(now + 1);
        pipelines::waited(&counts.expected);
    }
    /// Whether that phase is complete; it is not waited for.
    CU2PORT_PIPELINE bool try_wait(arrival_token&& token) const {
        return counts.passed(token.phase + 1);
    }
    CU2PORT_PIPELINE bool try_wait_parity(bool parity) const {
        if ((counts.phase() & 1) == std::uint32_t(parity)) return false;
        pipelines::waited(&counts.expected);
        return true;
    }
    __host__ __device__ static constexpr std::ptrdiff_t max() { return (1 << 20) - 1; }

    CU2PORT_PIPELINE void start(std::ptrdiff_t expected) { counts.begin(std::uint32_t(expected)); }
    CU2PORT_PIPELINE void publish() { counts.publish(); }

  private:
    pipelines::counter counts;
};

/// `init(&bar, count)`, by one thread, in front of a `__syncthreads()`.
template <thread_scope Scope, class Completion>
CU2PORT_PIPELINE void init(barrier<Scope, Completion>* bar, std::ptrdiff_t expected) {
    bar->start(expected);
}

// --- pipelines -------------------------------------------------------------------------------------------------------

enum class pipeline_role { producer, consumer };

/// What the threads of a block share of a pipeline, in shared memory.
template <thread_scope Scope, std::uint8_t Stages> struct pipeline_shared_state {
    static_assert(Scope == thread_scope_block, "a pipeline between blocks has no counterpart");
    pipelines::counter produced[Stages], consumed[Stages];
    std::uint32_t producers;
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;
};

/// `cuda::pipeline` of a block: those that produce a stage and those that consume it wait for each other.
template <thread_scope Scope> class pipeline {
    static_assert(Scope == thread_scope_block, "a pipeline between blocks has no counterpart");

  public:
    CU2PORT_PIPELINE pipeline(pipelines::counter* p, pipelines::counter* c, std::uint32_t count)
        : produced(p), consumed(c), stages(count) {}
    pipeline(const pipeline&) = delete;
    pipeline(pipeline&&) = default;

    CU2PORT_PIPELINE void producer_acquire() { consumed[head % stages].wait(head / stages); }
    CU2PORT_PIPELINE void producer_commit() { produced[head++ % stages].arrive(1); }
    CU2PORT_PIPELINE void consumer_wait() { produced[tail % stages].wait(tail / stages + 1); }
    CU2PORT_PIPELINE void consumer_release() { consumed[tail++ % stages].arrive(1); }
    CU2PORT_PIPELINE void publish() {}  // producer_commit arrives

  private:
    pipelines::counter *produced, *consumed;
    std::uint32_t stages, head = 0, tail = 0;  // stages that were produced and consumed
};

/// `cuda::pipeline` of a thread, whose copies are done.
template <> class pipeline<thread_scope_thread> {
  public:
    CU2PORT_PIPELINE pipeline() {}
    pipeline(const pipeline&) = delete;
    pipeline(pipeline&&) = default;

    CU2PORT_PIPELINE void producer_acquire() {}
    CU2PORT_PIPELINE void producer_commit() {}
    CU2PORT_PIPELINE void consumer_wait() {}
    CU2PORT_PIPELINE void consumer_release() {}
    template <class Duration> CU2PORT_PIPELINE bool consumer_wait_for(const Duration&) { return true; }
    template <class Time> CU2PORT_PIPELINE bool consumer_wait_until(const Time&) { return true; }
    CU2PORT_PIPELINE bool quit() { return true; }
    CU2PORT_PIPELINE void publish() {}
};

namespace pipelines {

template <class Group, std::uint8_t Stages>
CU2PORT_PIPELINE pipeline<thread_scope_block> begin(const Group& group,
    pipeline_shared_state<thread_scope_block, Stages>* state, std::uint32_t producers, std::uint32_t consumers) {
    if (group.thread_rank() == 0)
        for (int i = 0; i < Stages; ++i) {
            state->produced[i].begin(producers);
            state->consumed[i].begin(consumers);
        }
    group.sync();
    return pipeline<thread_scope_block>(state->produced, state->consumed, Stages);
}

}  // namespace pipelines

/// `cuda::make_pipeline`: of a thread; of a group, all of whose threads produce and consume; of one in two parts.
CU2PORT_PIPELINE pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }
template <class Group, std::uint8_t Stages>
CU2PORT_PIPELINE pipeline<thread_scope_block> make_pipeline(const Group& group,
    pipeline_shared_state<thread_scope_block, Stages>* state) {
    return pipelines::begin(group, state, group.size(), group.size());
}
template <class Group, std::uint8_t Stages>
CU2PORT_PIPELINE pipeline<thread_scope_block> make_pipeline(const Group& group,
    pipeline_shared_state<thread_scope_block, Stages>* state, std::size_t producers) {
    return pipelines::begin(group, state, std::uint32_t(producers), group.size() - std::uint32_t(producers));
}
template <class Group, std::uint8_t Stages>
CU2PORT_PIPELINE pipeline<thread_scope_block> make_pipeline(const Group& group,
    pipeline_shared_state<thread_scope_block, Stages>* state, pipeline_role role) {
    if (group.thread_rank() == 0) state->producers = 0;
    group.sync();
    if (role == pipeline_role::producer) atomicAdd(&state->producers, 1u);
    group.sync();
    const std::uint32_t producers = state->producers;
    return pipelines::begin(group, state, producers, group.size() - producers);
}

/// `cuda::pipeline_consumer_wait_prior`: nothing is pending.
template <std::uint8_t Prior> CU2PORT_PIPELINE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
/// `cuda::pipeline_producer_commit`: the barrier's current phase ends with these copies done.
template <thread_scope Scope, class Completion>
CU2PORT_PIPELINE void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<Scope, Completion>& bar) {
    bar.publish();
}

/// `cuda::memcpy_async` by one thread, or by all threads of a group together. `sync`: a barrier or a pipeline.
template <class T, class Shape, class Sync>
CU2PORT_PIPELINE auto memcpy_async(T* to, const T* from, Shape bytes, Sync& sync) -> decltype(sync.publish()) {
    constexpr std::size_t known = pipelines::alignment<Shape>::value;
    pipelines::copy<(known > alignof(T) ? known : alignof(T))>(to, from, bytes, 0, 1);
    sync.publish();
}
template <class Shape, class Sync>
CU2PORT_PIPELINE auto memcpy_async(void* to, const void* from, Shape bytes, Sync& sync) -> decltype(sync.publish()) {
    pipelines::copy<pipelines::alignment<Shape>::value>(to, from, bytes, 0, 1);
    sync.publish();
}
template <class Group, class Shape, class Sync>
CU2PORT_PIPELINE auto memcpy_async(const Group& group, void* to, const void* from, Shape bytes, Sync& sync)
    -> decltype(group.thread_rank(), sync.publish()) {
    pipelines::copy<pipelines::alignment<Shape>::value>(to, from, bytes, group.thread_rank(), group.size());
    sync.publish();
}

// --- cooperative groups ----------------------------------------------------------------------------------------------

namespace groups {

/// `cooperative_groups::memcpy_async`: so many bytes, or the smaller of two numbers of elements.
template <class Group, class T, class Shape>
CU2PORT_PIPELINE void memcpy_async(const Group& group, T* to, const T* from, const Shape& bytes) {
    pipelines::copy<pipelines::alignment<Shape>::value>(to, from, bytes, group.thread_rank(), group.size());
}
template <class Group, class T, class To, class From>
CU2PORT_PIPELINE void memcpy_async(const Group& group, T* to, const To& room, const T* from, const From& count) {
    const std::size_t least = std::size_t(room) < std::size_t(count) ? std::size_t(room) : std::size_t(count);
    pipelines::copy<1>(to, from, least * sizeof(T), group.thread_rank(), group.size());
}
/// `cooperative_groups::wait` and `wait_prior`: what the threads of the group copied is there for all of them.
template <class Group> CU2PORT_PIPELINE void wait(const Group& group) { group.sync(); }
template <unsigned Stages, class Group> CU2PORT_PIPELINE void wait_prior(const Group& group) { group.sync(); }

}  // namespace groups

// --- nvcuda::experimental, before CUDA 11.1 --------------------------------------------------------------------------

namespace experimental {

/// `nvcuda::experimental::pipeline`
class pipeline {
  public:
    CU2PORT_PIPELINE pipeline() {}
    pipeline(const pipeline&) = delete;
    CU2PORT_PIPELINE std::size_t commit() { return batch++; }
    CU2PORT_PIPELINE void commit_and_wait() { ++batch; }
    CU2PORT_PIPELINE void wait(std::size_t) {}
    template <unsigned Prior> CU2PORT_PIPELINE void wait_prior() {}
    template <thread_scope Scope, class Completion> CU2PORT_PIPELINE void arrive_on(barrier<Scope, Completion>& bar) {
        bar.arrive();
    }

  private:
    std::size_t batch = 0;
};
template <class T> CU2PORT_PIPELINE void memcpy_async(T& to, const T& from, pipeline&) { to = from; }
/// The source may be shorter: zeros follow.
template <class T, std::size_t To, std::size_t From>
CU2PORT_PIPELINE void memcpy_async(T (*to)[To], const T (*from)[From], pipeline&) {
    for (std::size_t i = 0; i < To; ++i) (*to)[i] = i < From ? (*from)[i] : T();
}
template <std::size_t N_, class T> CU2PORT_PIPELINE auto segment(T* p) -> T (*)[N_] { return (T(*)[N_])p; }

}  // namespace experimental
}  // namespace cu2port

#undef CU2PORT_PIPELINE
}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_PIPELINE_HPP
