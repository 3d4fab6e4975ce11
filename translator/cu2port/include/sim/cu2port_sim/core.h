// The parts of the simulator that device code touches: indices, positions, meetings, shared memory.
//
// A position says where a lane stands: the sites it went through (calls, operations) and the loops it is in, each
// with its iteration. Lanes of a wave whose positions are equal meet; the smallest position goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#ifndef CU2PORT_SIM_WAVE
#define CU2PORT_SIM_WAVE 64
#endif

#if defined(__linux__) && !defined(CU2PORT_SIM_STEPS) && !defined(CU2PORT_SIM_RUNTIME)
// Each unit that was built without --check says so; weak, since a unit that only names types is linked without the runtime.
extern "C" void cu2port_sim_unwatched_unit() __attribute__((weak));
namespace {
[[maybe_unused]] const bool cu2port_sim_unit = cu2port_sim_unwatched_unit && (cu2port_sim_unwatched_unit(), true);
}
#endif

struct dim3;

namespace cu2port_sim {

constexpr int kWave = CU2PORT_SIM_WAVE;
static_assert(kWave == 32 || kWave == 64, "a wave has 32 or 64 lanes");
constexpr int kDepth = 192;                      // entries of a position
constexpr std::uint32_t kLeft = 0xffffffffu;     // iteration of a loop that the lane is about to leave
constexpr std::uint32_t kArm = 0x80000000u;      // "iteration" of a branch: this, and 1 or 2 for its arms
#ifdef CU2PORT_SIM_STEPS
constexpr bool kSteps = true;                    // a copy made for --check: statements can be told apart
#else
constexpr bool kSteps = false;
#endif
constexpr int kSlot = 16;                        // bytes a lane shows to the others

struct Index {  // threadIdx and its kin
    std::uint32_t x, y, z;
    operator dim3() const;
};

}  // namespace cu2port_sim

// `__thread` and not `thread_local`: no call stands between the program and the value. The model says so for libraries.
#define CU2PORT_SIM_TLS __attribute__((visibility("default"), tls_model("initial-exec")))
extern __thread cu2port_sim::Index threadIdx CU2PORT_SIM_TLS;
#ifdef CU2PORT_SIM_RUNTIME
extern __thread cu2port_sim::Index blockIdx CU2PORT_SIM_TLS, blockDim CU2PORT_SIM_TLS, gridDim CU2PORT_SIM_TLS;
#else  // they stay the same as long as a lane lives, so that compilers need not read them again after each store
extern __thread const cu2port_sim::Index blockIdx CU2PORT_SIM_TLS, blockDim CU2PORT_SIM_TLS, gridDim CU2PORT_SIM_TLS;
#endif

namespace cu2port_sim {

struct Where {
    const char* file;
    int line;
    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

struct Place {
    std::uint32_t site, iteration;
};

// What the running lane is. One block runs on an OS thread at a time, so this is thread-local.
struct Now {
    Place* top;               // the next entry of the lane's position
    Place* limit;
    int first;                // thread number of the wave's lane 0
    int wave;                 // in its block
    int lanes;                // lanes from this one on that may run on this stack, one after the other
    std::uint32_t stop;       // threadIdx.x at which this stack's lanes end, 0 once one has waited
    bool waited;              // whether this lane ever waited
    bool inside;              // in a kernel
    std::uint32_t spins;      // atomics and loop turns since the lane last waited
    bool changed;             // an atomic of this OS thread changed memory since its last look
    char* statics;            // the block's shared memory
    char* dynamic;
};
extern __thread Now now CU2PORT_SIM_TLS;

[[noreturn]] void too_deep();

inline int thread_number() { return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x); }
inline int lane_id() { return thread_number() - now.first; }

inline Place* push(std::uint32_t site) {
    Place* p = now.top;
    if (__builtin_expect(p >= now.limit, 0)) {
        if (!now.inside) return nullptr;  // host code that shares a function with kernels
        too_deep();
    }
    *p = {site, 0};
    now.top = p + 1;
    return p;
}

// Functions that kernels share with constant expressions may hold these, from C++20 on.
#if __cplusplus >= 202002L
#define CU2PORT_SIM_CONSTEXPR constexpr
#else
#define CU2PORT_SIM_CONSTEXPR inline
#endif

// A loop of a label and `goto`: where the label is, and how often the lane came by.
struct Turns {
    std::uint32_t site = 0, count = 0;
    CU2PORT_SIM_CONSTEXPR void next(std::uint32_t label) {
        site = label;
        ++count;
    }
};

// A call or an operation: its site is part of the position until the full expression ends, behind the turns of loops
// of `goto` around it.
class At {
public:
    CU2PORT_SIM_CONSTEXPR explicit At(std::uint32_t site) : place_(__builtin_is_constant_evaluated() ? nullptr : push(site)) {}
    template <class... More>
    At(std::uint32_t site, const Turns& outer, const More&... inner) : place_(turn(outer)) {
        ((void)turn(inner), ...);
        push(site);
    }
    CU2PORT_SIM_CONSTEXPR ~At() {
        if (place_) now.top = place_;
    }
    At(const At&) = delete;

private:
    static Place* turn(const Turns& turns) {
        Place* const place = push(turns.site);
        if (place) place->iteration = turns.count;
        return place;
    }
    Place* place_;
};

// A loop: `for (Loop l(site); l.once();) for (...; l.tick(), ...)`.
class Loop {
public:
    CU2PORT_SIM_CONSTEXPR explicit Loop(std::uint32_t site)
        : place_(__builtin_is_constant_evaluated() ? nullptr : push(site)) {
        if (kSteps && place_) place_[1].site = 0;
    }
    CU2PORT_SIM_CONSTEXPR ~Loop() {
        if (place_) now.top = place_;
    }
    Loop(const Loop&) = delete;
    CU2PORT_SIM_CONSTEXPR bool once() {
        const bool first = first_;
        first_ = false;
        return first;
    }
    CU2PORT_SIM_CONSTEXPR bool tick() {
        if (place_) ++place_->iteration;
        if (kSteps && place_) place_[1].site = 0;
        return true;
    }
    // The lane is in a block that can only leave this loop: it counts as lying after the loop.
    CU2PORT_SIM_CONSTEXPR void leave() {
        if (!place_) return;
        place_->iteration = kLeft;
        now.top = place_ + 1;
    }

private:
    Place* place_;
    bool first_ = true;
};

// In copies made for --check: the statement a lane is at, kept in the slot above its position.
inline void here(std::uint32_t site) {
    if (now.inside) now.top->site = site;
}

bool fills_unset();  // whether this run has other values where nothing was put
std::uint64_t unset_bits(std::uint64_t n);  // of each lane its own, and other ones in some runs

// There, a variable that was declared without a value. What is in it must not show.
template <class T>
inline void unset(T& value, std::uint32_t site) {
    using Element = std::remove_all_extents_t<T>;
    if constexpr (std::is_same_v<Element, bool>) {
        for (std::size_t i = 0; i < sizeof(T); ++i) reinterpret_cast<bool*>(&value)[i] = unset_bits(site) & 1;
    } else if constexpr (!std::is_volatile_v<T> && !std::is_const_v<T> && std::is_trivially_copyable_v<Element> &&
                         std::is_trivially_default_constructible_v<Element>) {
        for (std::size_t i = 0; i < sizeof(T); i += 8) {
            const std::uint64_t bits = unset_bits(site + (std::uint64_t{i} << 32));
            std::memcpy(reinterpret_cast<char*>(&value) + i, &bits, sizeof(T) - i < 8 ? sizeof(T) - i : 8);
        }
    }
}

// What a collective gives to lanes that it has no result for: in some runs something else.
template <class T>
inline T unspecified(T value) {
    if (fills_unset()) unset(value, 0);
    return value;
}

// There, a branch whose arms may run in either order: `if (Choice c(site); true) if (...) { c.arm(1); } else { c.arm(2); }`.
class Choice {
public:
    explicit Choice(std::uint32_t site) : place_(push(site)) {
        if (place_) place_[1].site = 0;
    }
    ~Choice() {
        if (place_) now.top = place_;
    }
    Choice(const Choice&) = delete;
    void arm(std::uint32_t n) {
        if (place_) place_->iteration = kArm | n, place_[1].site = 0;
    }

private:
    Place* place_;
};

// --- meetings ----------------------------------------------------------------------------------------------------

enum class Kind : std::uint8_t { exchange, wave_sync, group_sync, barrier, grid, access };

struct Slot {
    alignas(16) unsigned char bytes[kSlot];
};

struct Meeting {
    std::uint64_t mask;  // lanes that are here
    const Slot* slots;   // what each of them showed
    int lane;
};

// Show `size` bytes, wait for the other lanes, see what they showed. Valid until the next meeting.
Meeting meet(Kind kind, const char* name, const void* data, std::size_t size, Where where);
// Wait for all waves of the block; count of threads with a predicate, and of all threads that came.
struct Votes {
    int yes, all;
};
Votes barrier(const char* name, bool predicate, Where where);
void grid_barrier(Where where);
void yield(Where where);
std::uint64_t inactive_bits();  // what a read from a lane that is not here gives
std::uint64_t live_lanes();     // lanes of the running wave that have not ended
bool checks();                  // whether misuse that hardware lets pass is reported
void misuse(const char* text, Where where);
void fence();                   // of the device, under --check
void fence_block();

inline void spin(Where where = Where::here()) {
    if (++now.spins > 200) yield(where);
}
// In the condition of a loop that waits for memory.
inline bool spin_turn(Where where = Where::here()) {
    if (now.inside) spin(where);
    return true;
}

// A loop that waits for memory: on the hardware a lane that is through waits for the others of its wave, so that a lock
// which lanes of one wave take in turn hangs. `for (Waiting w(site); w.once(); ) while (...)`.
class Waiting {
public:
    explicit Waiting(std::uint32_t site, Where where = Where::here()) : place_(push(site)), where_(where) {}
    ~Waiting() {
        if (place_) now.top = place_;
    }
    Waiting(const Waiting&) = delete;
    bool once() {
        const bool first = first_;
        first_ = false;
        if (!first && now.inside) {
            if (place_) place_->iteration = kLeft;
            meet(Kind::wave_sync, "the end of a loop that waits for memory", nullptr, 0, where_);
        }
        return first;
    }

private:
    Place* place_;
    Where where_;
    bool first_ = true;
};

// --- shared memory -----------------------------------------------------------------------------------------------

std::size_t reserve_shared(std::size_t size, std::size_t align);

template <class T>
inline const std::size_t shared_offset = reserve_shared(sizeof(T), alignof(T));

// The block's instance of a set of `__shared__` variables.
template <class T>
inline T& shared() {
    return *reinterpret_cast<T*>(now.statics + shared_offset<T>);
}

// `extern __shared__` at namespace scope: a name that decays to the block's dynamic shared memory.
template <class T>
struct Dynamic {
    operator T*() const { return reinterpret_cast<T*>(now.dynamic); }
    template <class U, class = std::enable_if_t<!std::is_same_v<U, T>>>
    explicit operator U*() const {
        return reinterpret_cast<U*>(now.dynamic);
    }
    template <class I>
    T& operator[](I i) const {
        return reinterpret_cast<T*>(now.dynamic)[i];
    }
    T* operator&() const { return reinterpret_cast<T*>(now.dynamic); }
};

// --- launches ----------------------------------------------------------------------------------------------------

// Runs lanes one after the other on this stack, until one has waited. What the loop counts stays in registers,
// threadIdx is only written, and one comparison tells the end of a row and a lane that has waited.
template <class F>
void run_lanes(void* f) {
    F kernel = *static_cast<F*>(f);
    const std::uint32_t row = blockDim.x;
    std::uint32_t x = threadIdx.x;
    for (std::uint32_t left = static_cast<std::uint32_t>(now.lanes);;) {
        const std::uint32_t n = row - x < left ? row - x : left;
        left -= n;
        now.stop = x + n;
        for (;;) {
            kernel();
            if (++x >= now.stop) break;
            threadIdx.x = x;
        }
        if (now.waited || left == 0) return;
        threadIdx.x = x = 0;
        if (++threadIdx.y == blockDim.y) {
            threadIdx.y = 0;
            ++threadIdx.z;
        }
    }
}

struct Grid {
    Index blocks, threads;
    std::size_t dynamic;
    void* stream;
    const char* kernel;
    Where where;
    int wave;
    bool cooperative;
};

// Runs all blocks to their end. 0, or a hipError_t.
int run_grid(const Grid& grid, void (*lanes)(void*), void* kernel);

}  // namespace cu2port_sim
