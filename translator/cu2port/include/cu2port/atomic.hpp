// cu2port atomic: atomic objects whose type names a memory scope, as libcu++ has them.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::atomic_ref<T, Scope>` is CUDA's `cuda::atomic_ref<T, Scope>`, `cu2port::atomic` its `cuda::atomic`; orders
// are those of std. Values of 1, 2, 4 and 8 bytes are moved as integers of that size. There is one difference: waiting
// looks at the value again and again, and telling who waits does nothing.
#ifndef CU2PORT_ATOMIC_HPP
#define CU2PORT_ATOMIC_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__clang__) && defined(__HIP__) && !defined(CU2PORT_SIMULATED)
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#define CU2PORT_ATOMIC __host__ __device__ inline __attribute__((__always_inline__))
#define CU2PORT_ATOMIC_CONSTANT __host__ __device__ constexpr
#define CU2PORT_ATOMIC_IS_HIP 1
#else
#if defined(__HIP__) || defined(CU2PORT_SIMULATED)
#include <hip/hip_runtime.h>
#define CU2PORT_ATOMIC __host__ __device__ inline
#define CU2PORT_ATOMIC_CONSTANT __host__ __device__ constexpr
#else
#define CU2PORT_ATOMIC inline
#define CU2PORT_ATOMIC_CONSTANT constexpr
#endif
#define CU2PORT_ATOMIC_IS_HIP 0
#endif

namespace cu2port {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread = 10 };

namespace atomics {

template <std::size_t Bytes> struct bits;
template <> struct bits<1> { typedef std::uint8_t type; };
template <> struct bits<2> { typedef std::uint16_t type; };
template <> struct bits<4> { typedef std::uint32_t type; };
template <> struct bits<8> { typedef std::uint64_t type; };

// The order of a load that belongs to a failed exchange: nothing is stored, so nothing is released.
CU2PORT_ATOMIC_CONSTANT int order_of(std::memory_order order) { return static_cast<int>(order); }
CU2PORT_ATOMIC_CONSTANT int failed(std::memory_order order) {
    return order == std::memory_order_acq_rel   ? __ATOMIC_ACQUIRE
           : order == std::memory_order_release ? __ATOMIC_RELAXED
                                                : static_cast<int>(order);
}

#if CU2PORT_ATOMIC_IS_HIP
template <thread_scope> struct memory_scope { enum { value = __HIP_MEMORY_SCOPE_SYSTEM }; };
template <> struct memory_scope<thread_scope_device> { enum { value = __HIP_MEMORY_SCOPE_AGENT }; };
template <> struct memory_scope<thread_scope_block> { enum { value = __HIP_MEMORY_SCOPE_WORKGROUP }; };
template <> struct memory_scope<thread_scope_thread> { enum { value = __HIP_MEMORY_SCOPE_SINGLETHREAD }; };
#define CU2PORT_ATOMIC_LOAD(p, order) __hip_atomic_load(p, order, memory_scope<Scope>::value)
#define CU2PORT_ATOMIC_STORE(p, v, order) __hip_atomic_store(p, v, order, memory_scope<Scope>::value)
#define CU2PORT_ATOMIC_EXCHANGE(p, v, order) __hip_atomic_exchange(p, v, order, memory_scope<Scope>::value)
#define CU2PORT_ATOMIC_FETCH(name, p, v, order) __hip_atomic_fetch_##name(p, v, order, memory_scope<Scope>::value)
#define CU2PORT_ATOMIC_CAS(p, seen, v, order, other) \
    __hip_atomic_compare_exchange_strong(p, seen, v, order, other, memory_scope<Scope>::value)
#else
#define CU2PORT_ATOMIC_LOAD(p, order) __atomic_load_n(p, order)
#define CU2PORT_ATOMIC_STORE(p, v, order) __atomic_store_n(p, v, order)
#define CU2PORT_ATOMIC_EXCHANGE(p, v, order) __atomic_exchange_n(p, v, order)
#define CU2PORT_ATOMIC_FETCH(name, p, v, order) __atomic_fetch_##name(p, v, order)
#define CU2PORT_ATOMIC_CAS(p, seen, v, order, other) __atomic_compare_exchange_n(p, seen, v, false, order, other)
#endif

template <class To, class From> CU2PORT_ATOMIC To as(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

struct add { template <class T> CU2PORT_ATOMIC T operator()(T a, T b) const { return a + b; } };
struct sub { template <class T> CU2PORT_ATOMIC T operator()(T a, T b) const { return a - b; } };
struct min { template <class T> CU2PORT_ATOMIC T operator()(T a, T b) const { return b < a ? b : a; } };
struct max { template <class T> CU2PORT_ATOMIC T operator()(T a, T b) const { return a < b ? b : a; } };

// The operations on the object at `at`. What no instruction does goes through compare and swap.
template <class T, thread_scope Scope> struct operations {
    typedef typename bits<sizeof(T)>::type word;
    static_assert(std::is_trivially_copyable<T>::value, "atomic objects hold types that may be copied byte by byte");

    T *at;

    CU2PORT_ATOMIC word *words() const { return reinterpret_cast<word *>(at); }
    CU2PORT_ATOMIC T load(std::memory_order order) const {
        return as<T>(static_cast<word>(CU2PORT_ATOMIC_LOAD(words(), order_of(order))));
    }
    CU2PORT_ATOMIC void store(T v, std::memory_order order) const {
        CU2PORT_ATOMIC_STORE(words(), as<word>(v), order_of(order));
    }
    CU2PORT_ATOMIC T exchange(T v, std::memory_order order) const {
        return as<T>(static_cast<word>(CU2PORT_ATOMIC_EXCHANGE(words(), as<word>(v), order_of(order))));
    }
    CU2PORT_ATOMIC bool swap_if(T &expected, T v, std::memory_order order, int other) const {
        word seen = as<word>(expected);
        const bool done = CU2PORT_ATOMIC_CAS(words(), &seen, as<word>(v), order_of(order), other);
        if (!done) expected = as<T>(seen);
        return done;
    }
    template <class F_> CU2PORT_ATOMIC T apply(F_ f, T v, std::memory_order order) const {
        T old = load(std::memory_order_relaxed);
        while (!swap_if(old, f(old, v), order, __ATOMIC_RELAXED)) {
        }
        return old;
    }

    // The tag tells integers from the rest.
    CU2PORT_ATOMIC T fetch(add, T v, std::memory_order order, std::true_type) const {
        return static_cast<T>(CU2PORT_ATOMIC_FETCH(add, words(), static_cast<word>(v), order_of(order)));
    }
    CU2PORT_ATOMIC T fetch(sub, T v, std::memory_order order, std::true_type) const {
        const word minus = static_cast<word>(0u - static_cast<word>(v));
        return static_cast<T>(CU2PORT_ATOMIC_FETCH(add, words(), minus, order_of(order)));
    }
#if CU2PORT_ATOMIC_IS_HIP
    CU2PORT_ATOMIC T fetch(min, T v, std::memory_order order, std::true_type) const {
        return narrow_or(min(), v, order, std::integral_constant<bool, (sizeof(T) >= 4)>());
    }
    CU2PORT_ATOMIC T fetch(max, T v, std::memory_order order, std::true_type) const {
        return narrow_or(max(), v, order, std::integral_constant<bool, (sizeof(T) >= 4)>());
    }
    CU2PORT_ATOMIC T narrow_or(min, T v, std::memory_order order, std::true_type) const {
        return CU2PORT_ATOMIC_FETCH(min, at, v, order_of(order));
    }
    CU2PORT_ATOMIC T narrow_or(max, T v, std::memory_order order, std::true_type) const {
        return CU2PORT_ATOMIC_FETCH(max, at, v, order_of(order));
    }
    CU2PORT_ATOMIC T fetch(add, T v, std::memory_order order, std::false_type) const {
        return sum(v, order, std::is_floating_point<T>());
    }
    CU2PORT_ATOMIC T fetch(sub, T v, std::memory_order order, std::false_type) const {
        return sum(-v, order, std::is_floating_point<T>());
    }
    CU2PORT_ATOMIC T sum(T v, std::memory_order order, std::true_type) const {
        return CU2PORT_ATOMIC_FETCH(add, at, v, order_of(order));
    }
    CU2PORT_ATOMIC T sum(T v, std::memory_order order, std::false_type) const { return apply(add(), v, order); }
    template <class F_> CU2PORT_ATOMIC T narrow_or(F_ f, T v, std::memory_order order, std::false_type) const {
        return apply(f, v, order);
    }
#else
    CU2PORT_ATOMIC T fetch(min f, T v, std::memory_order order, std::true_type) const { return apply(f, v, order); }
    CU2PORT_ATOMIC T fetch(max f, T v, std::memory_order order, std::true_type) const { return apply(f, v, order); }
#endif
    template <class F_> CU2PORT_ATOMIC T fetch(F_ f, T v, std::memory_order order, std::false_type) const {
        return apply(f, v, order);
    }
};

// A pointer moves by elements.
template <class T, thread_scope Scope> struct operations<T *, Scope> : operations<std::uintptr_t, Scope> {
    typedef operations<std::uintptr_t, Scope> base;
    CU2PORT_ATOMIC explicit operations(T **p) : base{reinterpret_cast<std::uintptr_t *>(p)} {}
    CU2PORT_ATOMIC static std::uintptr_t number(T *p) { return reinterpret_cast<std::uintptr_t>(p); }
    CU2PORT_ATOMIC static T *pointer(std::uintptr_t n) { return reinterpret_cast<T *>(n); }
    CU2PORT_ATOMIC T *load(std::memory_order order) const { return pointer(base::load(order)); }
    CU2PORT_ATOMIC void store(T *v, std::memory_order order) const { base::store(number(v), order); }
    CU2PORT_ATOMIC T *exchange(T *v, std::memory_order order) const {
        return pointer(base::exchange(number(v), order));
    }
    CU2PORT_ATOMIC bool swap_if(T *&expected, T *v, std::memory_order order, int other) const {
        std::uintptr_t seen = number(expected);
        const bool done = base::swap_if(seen, number(v), order, other);
        expected = pointer(seen);
        return done;
    }
    template <class F_>
    CU2PORT_ATOMIC T *fetch(F_ f, std::ptrdiff_t n, std::memory_order order, std::false_type) const {
        const std::ptrdiff_t bytes = n * static_cast<std::ptrdiff_t>(sizeof(T));
        return pointer(base::fetch(f, static_cast<std::uintptr_t>(bytes), order, std::true_type()));
    }
};

// What atomic and atomic_ref have in common; Self tells where the object is, by at().
template <class T, thread_scope Scope, class Self> struct interface {
    typedef T value_type;
    typedef typename std::conditional<std::is_pointer<T>::value, std::ptrdiff_t, T>::type difference_type;
    typedef typename std::integral_constant<bool, std::is_integral<T>::value && !std::is_same<T, bool>::value> whole;
    static constexpr bool is_always_lock_free = true;

    CU2PORT_ATOMIC operations<T, Scope> ops() const {
        return operations<T, Scope>{const_cast<T *>(static_cast<const Self *>(this)->at())};
    }
    CU2PORT_ATOMIC bool is_lock_free() const { return true; }
    CU2PORT_ATOMIC T load(std::memory_order order = std::memory_order_seq_cst) const { return ops().load(order); }
    CU2PORT_ATOMIC void store(T v, std::memory_order order = std::memory_order_seq_cst) const { ops().store(v, order); }
    CU2PORT_ATOMIC T exchange(T v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().exchange(v, order);
    }
    CU2PORT_ATOMIC operator T() const { return load(); }

    CU2PORT_ATOMIC bool compare_exchange_strong(T &e, T v, std::memory_order done, std::memory_order other) const {
        return ops().swap_if(e, v, done, order_of(other));
    }
    CU2PORT_ATOMIC bool compare_exchange_strong(T &e, T v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().swap_if(e, v, order, failed(order));
    }
    CU2PORT_ATOMIC bool compare_exchange_weak(T &e, T v, std::memory_order done, std::memory_order other) const {
        return ops().swap_if(e, v, done, order_of(other));
    }
    CU2PORT_ATOMIC bool compare_exchange_weak(T &e, T v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().swap_if(e, v, order, failed(order));
    }

    CU2PORT_ATOMIC T fetch_add(difference_type v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().fetch(add(), v, order, whole());
    }
    CU2PORT_ATOMIC T fetch_sub(difference_type v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().fetch(sub(), v, order, whole());
    }
    CU2PORT_ATOMIC T fetch_min(T v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().fetch(min(), v, order, whole());
    }
    CU2PORT_ATOMIC T fetch_max(T v, std::memory_order order = std::memory_order_seq_cst) const {
        return ops().fetch(max(), v, order, whole());
    }
#define CU2PORT_ATOMIC_BITWISE(name)                                                                            \
    CU2PORT_ATOMIC T fetch_##name(T v, std::memory_order order = std::memory_order_seq_cst) const {             \
        static_assert(whole::value, "bits of integers only");                                                   \
        return static_cast<T>(                                                                                  \
            CU2PORT_ATOMIC_FETCH(name, ops().words(), as<typename bits<sizeof(T)>::type>(v), order_of(order))); \
    }
    CU2PORT_ATOMIC_BITWISE(and)
    CU2PORT_ATOMIC_BITWISE(or)
    CU2PORT_ATOMIC_BITWISE(xor)
#undef CU2PORT_ATOMIC_BITWISE

    CU2PORT_ATOMIC T operator++() const { return fetch_add(1) + 1; }
    CU2PORT_ATOMIC T operator--() const { return fetch_sub(1) - 1; }
    CU2PORT_ATOMIC T operator++(int) const { return fetch_add(1); }
    CU2PORT_ATOMIC T operator--(int) const { return fetch_sub(1); }
    CU2PORT_ATOMIC T operator+=(difference_type v) const { return fetch_add(v) + v; }
    CU2PORT_ATOMIC T operator-=(difference_type v) const { return fetch_sub(v) - v; }
    CU2PORT_ATOMIC T operator&=(T v) const { return fetch_and(v) & v; }
    CU2PORT_ATOMIC T operator|=(T v) const { return fetch_or(v) | v; }
    CU2PORT_ATOMIC T operator^=(T v) const { return fetch_xor(v) ^ v; }

    CU2PORT_ATOMIC void wait(T old, std::memory_order order = std::memory_order_seq_cst) const {
        while (as<typename bits<sizeof(T)>::type>(load(order)) == as<typename bits<sizeof(T)>::type>(old)) {
#if defined(__HIP_DEVICE_COMPILE__) && CU2PORT_ATOMIC_IS_HIP
            __builtin_amdgcn_s_sleep(1);
#endif
        }
    }
    CU2PORT_ATOMIC void notify_one() const {}
    CU2PORT_ATOMIC void notify_all() const {}
};

}  // namespace atomics

template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref : atomics::interface<T, Scope, atomic_ref<T, Scope>> {
    static constexpr std::size_t required_alignment = sizeof(T);

    CU2PORT_ATOMIC explicit atomic_ref(T &object) : place(&object) {}
    CU2PORT_ATOMIC atomic_ref(const atomic_ref &other) : place(other.place) {}
    atomic_ref &operator=(const atomic_ref &) = delete;
    CU2PORT_ATOMIC T operator=(T v) const {
        this->store(v);
        return v;
    }
    CU2PORT_ATOMIC T *at() const { return place; }

private:
    T *place;
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic : atomics::interface<T, Scope, atomic<T, Scope>> {
    atomic() = default;
    CU2PORT_ATOMIC_CONSTANT atomic(T v) : value(v) {}
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
    CU2PORT_ATOMIC T operator=(T v) {
        this->store(v);
        return v;
    }
    CU2PORT_ATOMIC const T *at() const { return &value; }

private:
    alignas(sizeof(T)) T value;
};

// HIP's fences are of the strongest order.
CU2PORT_ATOMIC void atomic_thread_fence(std::memory_order order, thread_scope scope = thread_scope_system) {
#if defined(__HIP_DEVICE_COMPILE__) && CU2PORT_ATOMIC_IS_HIP
    if (order == std::memory_order_relaxed) return;
    if (scope == thread_scope_system)
        __threadfence_system();
    else if (scope == thread_scope_device)
        __threadfence();
    else if (scope == thread_scope_block)
        __threadfence_block();
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    (void)order;
    (void)scope;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_ATOMIC_HPP
