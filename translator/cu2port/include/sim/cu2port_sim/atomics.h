// Atomics, fences and clocks.
#pragma once

#include <type_traits>

#include "core.h"
#include "host.h"

namespace cu2port_sim {

// Atomics of HIP order nothing else; in copies made for --check they say so, elsewhere nothing depends on it.
constexpr int kOrder = kSteps ? __ATOMIC_RELAXED : __ATOMIC_SEQ_CST;

template <class T>
struct Same {
    using type = T;
};
template <class T>
using Plain = typename Same<T>::type;  // no deduction from this argument

// An atomic may be what a thread waits with: now and then others get a turn.
inline void turn(std::uint32_t weight, Where where) {
    now.spins += weight;
    if (now.spins > 3200 && now.inside) yield(where);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                                   std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

// Replaces *p by f(*p); the old value.
template <class T, class F>
T update(T* p, F f) {
    auto* bits = reinterpret_cast<Bits<T>*>(p);
    Bits<T> old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        T before;
        std::memcpy(static_cast<void*>(&before), &old, sizeof before);
        const T after = f(before);
        Bits<T> wanted;
        std::memcpy(&wanted, static_cast<const void*>(&after), sizeof wanted);
        if (__atomic_compare_exchange_n(bits, &old, wanted, true, kOrder, __ATOMIC_RELAXED)) {
            now.changed |= old != wanted;
            return before;
        }
    }
}

template <class T>
T add(T* p, T v) {
    if constexpr (std::is_integral_v<T>) {
        now.changed |= v != 0;
        return __atomic_fetch_add(p, v, kOrder);
    } else
        return update(p, [v](T a) { return static_cast<T>(a + v); });
}

template <class T>
T exchange(T* p, T v) {
    Bits<T> mine;
    std::memcpy(&mine, &v, sizeof mine);
    const Bits<T> bits = __atomic_exchange_n(reinterpret_cast<Bits<T>*>(p), mine, kOrder);
    now.changed |= bits != mine;
    std::memcpy(&v, &bits, sizeof bits);
    return v;
}

template <class T>
T compare_exchange(T* p, T expected, T v) {
    Bits<T> a, b;
    std::memcpy(&a, &expected, sizeof a);
    std::memcpy(&b, &v, sizeof b);
    if (__atomic_compare_exchange_n(reinterpret_cast<Bits<T>*>(p), &a, b, false, kOrder, kOrder))
        now.changed |= a != b;
    std::memcpy(&expected, &a, sizeof a);
    return expected;
}

template <class T>
T* unvolatile(volatile T* p) {
    return const_cast<T*>(p);
}

}  // namespace cu2port_sim

#define CU2PORT_SIM_AT cu2port_sim::Where where = cu2port_sim::Where::here()
#define CU2PORT_SIM_ATOMIC(name, expression, weight)                                                                \
    template <class T>                                                                                              \
    inline T name(T* p, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {                                                  \
        cu2port_sim::turn(weight, where);                                                                           \
        return expression;                                                                                          \
    }                                                                                                               \
    template <class T>                                                                                              \
    inline T name##_system(T* p, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {                                         \
        return name(p, v, where);                                                                                   \
    }                                                                                                               \
    template <class T>                                                                                              \
    inline T name##_block(T* p, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {                                          \
        return name(p, v, where);                                                                                   \
    }
#define CU2PORT_SIM_UPDATE(e) cu2port_sim::update(p, [v](T a) -> T { return e; })
CU2PORT_SIM_ATOMIC(atomicAdd, cu2port_sim::add(p, v), 1)
CU2PORT_SIM_ATOMIC(atomicSub, CU2PORT_SIM_UPDATE(static_cast<T>(a - v)), 1)
CU2PORT_SIM_ATOMIC(atomicExch, cu2port_sim::exchange(p, v), 16)
CU2PORT_SIM_ATOMIC(atomicMin, CU2PORT_SIM_UPDATE(v < a ? v : a), 1)
CU2PORT_SIM_ATOMIC(atomicMax, CU2PORT_SIM_UPDATE(a < v ? v : a), 1)
CU2PORT_SIM_ATOMIC(atomicInc, CU2PORT_SIM_UPDATE(a >= v ? T(0) : static_cast<T>(a + 1)), 1)
CU2PORT_SIM_ATOMIC(atomicDec, CU2PORT_SIM_UPDATE(a == 0 || a > v ? v : static_cast<T>(a - 1)), 1)
CU2PORT_SIM_ATOMIC(atomicAnd, CU2PORT_SIM_UPDATE(static_cast<T>(a & v)), 4)
CU2PORT_SIM_ATOMIC(atomicOr, CU2PORT_SIM_UPDATE(static_cast<T>(a | v)), 4)
CU2PORT_SIM_ATOMIC(atomicXor, CU2PORT_SIM_UPDATE(static_cast<T>(a ^ v)), 4)
CU2PORT_SIM_ATOMIC(unsafeAtomicAdd, cu2port_sim::add(p, v), 1)
CU2PORT_SIM_ATOMIC(safeAtomicAdd, cu2port_sim::add(p, v), 1)
CU2PORT_SIM_ATOMIC(unsafeAtomicMin, CU2PORT_SIM_UPDATE(v < a ? v : a), 1)
CU2PORT_SIM_ATOMIC(unsafeAtomicMax, CU2PORT_SIM_UPDATE(a < v ? v : a), 1)
CU2PORT_SIM_ATOMIC(safeAtomicMin, CU2PORT_SIM_UPDATE(v < a ? v : a), 1)
CU2PORT_SIM_ATOMIC(safeAtomicMax, CU2PORT_SIM_UPDATE(a < v ? v : a), 1)
#undef CU2PORT_SIM_ATOMIC
#undef CU2PORT_SIM_UPDATE

template <class T>
inline T atomicCAS(T* p, cu2port_sim::Plain<T> expected, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {
    cu2port_sim::turn(16, where);
    return cu2port_sim::compare_exchange(p, expected, v);
}
template <class T>
inline T atomicCAS(volatile T* p, cu2port_sim::Plain<T> expected, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {
    return atomicCAS(const_cast<T*>(p), expected, v, where);
}
template <class T>
inline T atomicCAS_system(T* p, cu2port_sim::Plain<T> e, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {
    return atomicCAS(p, e, v, where);
}
template <class T>
inline T atomicCAS_block(T* p, cu2port_sim::Plain<T> e, cu2port_sim::Plain<T> v, CU2PORT_SIM_AT) {
    return atomicCAS(p, e, v, where);
}

// HIP declares functions: a program's own templates of these names come second.
#define CU2PORT_SIM_ATOMIC_OF(name, T) \
    inline T name(T* p, T v, CU2PORT_SIM_AT) { return name<T>(p, v, where); }
#define CU2PORT_SIM_ATOMIC_OF_WORDS(name)    \
    CU2PORT_SIM_ATOMIC_OF(name, int)         \
    CU2PORT_SIM_ATOMIC_OF(name, unsigned)    \
    CU2PORT_SIM_ATOMIC_OF(name, unsigned long long)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicAdd)
CU2PORT_SIM_ATOMIC_OF(atomicAdd, float)
CU2PORT_SIM_ATOMIC_OF(atomicAdd, double)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicSub)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicExch)
CU2PORT_SIM_ATOMIC_OF(atomicExch, float)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicMin)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicMax)
CU2PORT_SIM_ATOMIC_OF(atomicInc, unsigned)
CU2PORT_SIM_ATOMIC_OF(atomicDec, unsigned)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicAnd)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicOr)
CU2PORT_SIM_ATOMIC_OF_WORDS(atomicXor)
#undef CU2PORT_SIM_ATOMIC_OF_WORDS
#undef CU2PORT_SIM_ATOMIC_OF
#define CU2PORT_SIM_CAS_OF(T) \
    inline T atomicCAS(T* p, T expected, T v, CU2PORT_SIM_AT) { return atomicCAS<T>(p, expected, v, where); }
CU2PORT_SIM_CAS_OF(int)
CU2PORT_SIM_CAS_OF(unsigned)
CU2PORT_SIM_CAS_OF(unsigned long long)
#undef CU2PORT_SIM_CAS_OF

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

// Macros, since clang knows builtins of these names.
namespace cu2port_sim {

template <class T>
inline std::remove_cv_t<T> hip_atomic_load(T* p, int, int, CU2PORT_SIM_AT) {
    using V = std::remove_cv_t<T>;
    cu2port_sim::turn(16, where);
    V out;
    const auto bits = __atomic_load_n(reinterpret_cast<cu2port_sim::Bits<V>*>(const_cast<V*>(p)), kOrder);
    std::memcpy(&out, &bits, sizeof out);
    return out;
}
template <class T>
inline void hip_atomic_store(T* p, cu2port_sim::Plain<std::remove_cv_t<T>> v, int, int, CU2PORT_SIM_AT) {
    cu2port_sim::turn(1, where);
    cu2port_sim::exchange(const_cast<std::remove_cv_t<T>*>(p), v);
}
#define CU2PORT_SIM_HIP(name, call)                                                                                 \
    template <class T>                                                                                              \
    inline std::remove_cv_t<T> hip_atomic_##name(T* q, cu2port_sim::Plain<std::remove_cv_t<T>> v, int, int,        \
                                                   CU2PORT_SIM_AT) {                                                \
        auto* p = const_cast<std::remove_cv_t<T>*>(q);                                                              \
        return call(p, v, where);                                                                                   \
    }
CU2PORT_SIM_HIP(exchange, atomicExch)
CU2PORT_SIM_HIP(fetch_add, atomicAdd)
CU2PORT_SIM_HIP(fetch_sub, atomicSub)
CU2PORT_SIM_HIP(fetch_and, atomicAnd)
CU2PORT_SIM_HIP(fetch_or, atomicOr)
CU2PORT_SIM_HIP(fetch_xor, atomicXor)
CU2PORT_SIM_HIP(fetch_min, atomicMin)
CU2PORT_SIM_HIP(fetch_max, atomicMax)
#undef CU2PORT_SIM_HIP
template <class T>
inline bool hip_atomic_compare_exchange_strong(T* p, std::remove_cv_t<T>* expected,
                                                 cu2port_sim::Plain<std::remove_cv_t<T>> v, int, int, int,
                                                 CU2PORT_SIM_AT) {
    cu2port_sim::turn(16, where);
    const auto old = cu2port_sim::compare_exchange(const_cast<std::remove_cv_t<T>*>(p), *expected, v);
    const bool same = std::memcmp(&old, expected, sizeof old) == 0;
    *expected = old;
    return same;
}
template <class T>
inline bool hip_atomic_compare_exchange_weak(T* p, std::remove_cv_t<T>* expected,
                                               cu2port_sim::Plain<std::remove_cv_t<T>> v, int a, int b, int c,
                                               CU2PORT_SIM_AT) {
    return hip_atomic_compare_exchange_strong(p, expected, v, a, b, c, where);
}

}  // namespace cu2port_sim
#define __hip_atomic_load cu2port_sim::hip_atomic_load
#define __hip_atomic_store cu2port_sim::hip_atomic_store
#define __hip_atomic_exchange cu2port_sim::hip_atomic_exchange
#define __hip_atomic_fetch_add cu2port_sim::hip_atomic_fetch_add
#define __hip_atomic_fetch_sub cu2port_sim::hip_atomic_fetch_sub
#define __hip_atomic_fetch_and cu2port_sim::hip_atomic_fetch_and
#define __hip_atomic_fetch_or cu2port_sim::hip_atomic_fetch_or
#define __hip_atomic_fetch_xor cu2port_sim::hip_atomic_fetch_xor
#define __hip_atomic_fetch_min cu2port_sim::hip_atomic_fetch_min
#define __hip_atomic_fetch_max cu2port_sim::hip_atomic_fetch_max
#define __hip_atomic_compare_exchange_strong cu2port_sim::hip_atomic_compare_exchange_strong
#define __hip_atomic_compare_exchange_weak cu2port_sim::hip_atomic_compare_exchange_weak

inline void __threadfence(CU2PORT_SIM_AT) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    cu2port_sim::turn(4, where);
}
inline void __threadfence_block(CU2PORT_SIM_AT) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a block runs on one OS thread
    cu2port_sim::fence_block();
    cu2port_sim::turn(4, where);
}
inline void __threadfence_system(CU2PORT_SIM_AT) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    cu2port_sim::turn(4, where);
}

inline void atomicAddNoRet(float* p, float v, CU2PORT_SIM_AT) { atomicAdd(p, v, where); }

inline void __syncthreads(CU2PORT_SIM_AT) { cu2port_sim::barrier("__syncthreads", false, where); }
inline int __syncthreads_count(int p, CU2PORT_SIM_AT) {
    return cu2port_sim::barrier("__syncthreads_count", p != 0, where).yes;
}
inline int __syncthreads_or(int p, CU2PORT_SIM_AT) {
    return cu2port_sim::barrier("__syncthreads_or", p != 0, where).yes != 0;
}
inline int __syncthreads_and(int p, CU2PORT_SIM_AT) {
    const cu2port_sim::Votes v = cu2port_sim::barrier("__syncthreads_and", p != 0, where);
    return v.yes == v.all;
}

inline long long clock64() { return static_cast<long long>(cu2port_sim::clock_ticks()); }
inline long long __clock64() { return clock64(); }
inline long long __clock() { return clock64(); }
inline unsigned long long wall_clock64() { return cu2port_sim::clock_ticks() / 10; }  // 100 MHz
inline unsigned __smid() { return 0; }
