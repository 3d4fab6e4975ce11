// cu2port ptx_memory: loads, stores and atomics of PTX, in their spaces, orders and scopes. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// An address is a pointer, an integer of 64 bits, or in shared memory one of 32 bits: the offset in LDS, as NVIDIA's
// is. A function is named after its instruction, without type and cache hints: `ld_acquire_gpu_global<T>(p)`.
#ifndef CU2PORT_PTX_MEMORY_HPP
#define CU2PORT_PTX_MEMORY_HPP

#ifdef __HIP_DEVICE_COMPILE__
#define CU2PORT_PTX_SPACE(n) __attribute__((address_space(n)))
#else
#define CU2PORT_PTX_SPACE(n)
#endif

namespace cu2port {
namespace ptx {

// --- addresses -------------------------------------------------------------------------------------------------------

template <class T> CU2PORT_PTX u64 address(T* p) { return reinterpret_cast<u64>(p); }
CU2PORT_PTX u64 address(u64 p) { return p; }
CU2PORT_PTX u64 address(long long p) { return u64(p); }
CU2PORT_PTX u64 address(unsigned long long p) { return u64(p); }
CU2PORT_PTX u64 address(s64 p) { return u64(p); }
CU2PORT_PTX u64 address(u32 p) { return p; }
CU2PORT_PTX u64 address(s32 p) { return u32(p); }
// The bits of a number, where a macro's statement takes any operand of that width.
CU2PORT_PTX u64 address(double p) { return __builtin_bit_cast(u64, p); }
CU2PORT_PTX u64 address(float p) { return __builtin_bit_cast(u32, p); }
// An object that stands for an array, as dynamic shared memory does on a CPU.
template <class D_, char (*)[__is_class(D_) ? 1 : -1] = nullptr> CU2PORT_PTX u64 address(const D_& array) {
    return address(&array[0]);
}
template <class T> CU2PORT_PTX u64 at(T* p, s64 bytes) { return ptx::address(p) + u64(bytes); }

#ifndef __HIP_DEVICE_COMPILE__
// On a CPU shared memory is memory: what an offset lacks of a pointer is that of the last one that became an offset.
inline u64& shared_base() {
    static thread_local u64 base = 0;
    return base;
}
#endif

// The offset in shared memory of a generic address, and back.
template <class A_> CU2PORT_PTX u32 cvta_to_shared(A_ p) {
    const u64 generic = ptx::address(p);
#ifndef __HIP_DEVICE_COMPILE__
    shared_base() = generic & ~u64(0xffffffff);
#endif
    return u32(generic);
}
CU2PORT_PTX u64 cvta_shared(u32 offset) {
#ifdef __HIP_DEVICE_COMPILE__
    return reinterpret_cast<u64>((char*)reinterpret_cast<CU2PORT_PTX_SPACE(3) char*>(offset));
#else
    return shared_base() | offset;
#endif
}

#if defined(__HIP_DEVICE_COMPILE__) || defined(CU2PORT_SIMULATED)
template <class A_> CU2PORT_PTX bool isspacep_shared(A_ p) {
    return __builtin_amdgcn_is_shared((CU2PORT_PTX_SPACE(0) void*)ptx::address(p));
}
template <class A_> CU2PORT_PTX bool isspacep_local(A_ p) {
    return __builtin_amdgcn_is_private((CU2PORT_PTX_SPACE(0) void*)ptx::address(p));
}
template <class A_> CU2PORT_PTX bool isspacep_global(A_ p) { return !isspacep_shared(p) && !isspacep_local(p); }
#else
// Names alone: the host's compiler reads device code too.
template <class A_> CU2PORT_PTX bool isspacep_shared(A_ p);
template <class A_> CU2PORT_PTX bool isspacep_local(A_ p);
template <class A_> CU2PORT_PTX bool isspacep_global(A_ p);
#endif

// A value of memory that other code may know as another type: an access to it is not held to C++'s rules for types.
template <class T> struct __attribute__((may_alias)) Any { T value; };

// Pointers of a space to what an address names.
template <class T> struct generic_space {
    typedef T* pointer;
    template <class A_> CU2PORT_PTX static pointer to(A_ p) { return reinterpret_cast<pointer>(ptx::address(p)); }
};
template <class T> struct global_space {
    typedef CU2PORT_PTX_SPACE(1) T* pointer;
    template <class A_> CU2PORT_PTX static pointer to(A_ p) { return reinterpret_cast<pointer>(ptx::address(p)); }
};
template <class T> struct shared_space {
    typedef CU2PORT_PTX_SPACE(3) T* pointer;
    template <class A_> CU2PORT_PTX static pointer to(A_ p) {
#ifdef __HIP_DEVICE_COMPILE__
        return reinterpret_cast<pointer>(u32(ptx::address(p)));
#else
        const u64 given = ptx::address(p);
        return reinterpret_cast<pointer>(given >> 32 ? given : cvta_shared(u32(given)));
#endif
    }
};

// --- orders and scopes -----------------------------------------------------------------------------------------------
// A cluster is one block here.

enum Order {
    relaxed = __ATOMIC_RELAXED,
    acquire = __ATOMIC_ACQUIRE,
    release = __ATOMIC_RELEASE,
    acq_rel = __ATOMIC_ACQ_REL,
    sc = __ATOMIC_SEQ_CST
};
#if defined(__clang__) && defined(__HIP__) && !defined(CU2PORT_SIMULATED)
enum Scope {
    cta = __HIP_MEMORY_SCOPE_WORKGROUP,
    cluster = __HIP_MEMORY_SCOPE_WORKGROUP,
    gpu = __HIP_MEMORY_SCOPE_AGENT,
    sys = __HIP_MEMORY_SCOPE_SYSTEM
};
#define CU2PORT_PTX_ATOMIC_LOAD(p, order, scope) __hip_atomic_load(p, order, scope)
#define CU2PORT_PTX_ATOMIC_STORE(p, v, order, scope) __hip_atomic_store(p, v, order, scope)
#define CU2PORT_PTX_ATOMIC(entry, p, v, order, scope) __hip_atomic_##entry(p, v, order, scope)
#define CU2PORT_PTX_ATOMIC_CAS(p, expected, v, order, failed, scope) \
    __hip_atomic_compare_exchange_strong(p, expected, v, order, failed, scope)
#else
enum Scope { cta, cluster, gpu, sys };
#define CU2PORT_PTX_ATOMIC_LOAD(p, order, scope) __atomic_load_n(p, order)
#define CU2PORT_PTX_ATOMIC_STORE(p, v, order, scope) __atomic_store_n(p, v, order)
#define CU2PORT_PTX_ATOMIC(entry, p, v, order, scope) CU2PORT_PTX_ATOMIC_##entry(p, v, order)
#define CU2PORT_PTX_ATOMIC_exchange(p, v, order) __atomic_exchange_n(p, v, order)
#define CU2PORT_PTX_ATOMIC_fetch_add(p, v, order) __atomic_fetch_add(p, v, order)
#define CU2PORT_PTX_ATOMIC_fetch_and(p, v, order) __atomic_fetch_and(p, v, order)
#define CU2PORT_PTX_ATOMIC_fetch_or(p, v, order) __atomic_fetch_or(p, v, order)
#define CU2PORT_PTX_ATOMIC_fetch_xor(p, v, order) __atomic_fetch_xor(p, v, order)
#define CU2PORT_PTX_ATOMIC_CAS(p, expected, v, order, failed, scope) \
    __atomic_compare_exchange_n(p, expected, v, false, order, failed)
#endif

// The unsigned integer of a size, in which atomics move values of any type.
template <int Bytes> struct Bits;
template <> struct Bits<1> { typedef u8 type; };
template <> struct Bits<2> { typedef u16 type; };
template <> struct Bits<4> { typedef u32 type; };
template <> struct Bits<8> { typedef u64 type; };

// What a vector is made of; anything else is one part.
template <class T> struct Parts {
    typedef T element;
    enum { count = 1 };
};
#define CU2PORT_PTX_PARTS(entry)                                             \
    template <> struct Parts<entry##x2> { typedef entry element; enum { count = 2 }; }; \
    template <> struct Parts<entry##x4> { typedef entry element; enum { count = 4 }; }; \
    template <> struct Parts<entry##x8> { typedef entry element; enum { count = 8 }; }
CU2PORT_PTX_PARTS(u8);
CU2PORT_PTX_PARTS(u16);
CU2PORT_PTX_PARTS(u32);
CU2PORT_PTX_PARTS(u64);
CU2PORT_PTX_PARTS(s8);
CU2PORT_PTX_PARTS(s16);
CU2PORT_PTX_PARTS(s32);
CU2PORT_PTX_PARTS(s64);
CU2PORT_PTX_PARTS(f32);
CU2PORT_PTX_PARTS(f64);
#undef CU2PORT_PTX_PARTS

// What a value moves in: one word if it has up to 8 bytes, else words of 8.
template <class T> struct Words {
    typedef typename Bits<(sizeof(T) < 8 ? sizeof(T) : 8)>::type type;
    enum { count = sizeof(T) / sizeof(type) };
};

// Each is done when it is reached, in order with the others and with volatile accesses. What is more than a word stays
// one access if it is relaxed: flags that travel beside their data rely on that. It is then a volatile one, which sees
// as much as one of the system's scope.
template <class T, Order order, Scope scope, template <class> class Space, class A_> CU2PORT_PTX T atomic_load(A_ p) {
    typedef Words<T> W_;
    if (W_::count > 1 && order == relaxed) return Space<const volatile Any<T> >::to(p)->value;
    const auto from = Space<const volatile typename W_::type>::to(p);
    typename W_::type words[W_::count];
    for (int i = 0; i < W_::count; ++i) words[i] = CU2PORT_PTX_ATOMIC_LOAD(from + i, order, scope);
    T out;
    __builtin_memcpy(&out, words, sizeof out);
    return out;
}
template <class T, Order order, Scope scope, template <class> class Space, class A_>
CU2PORT_PTX void atomic_store(A_ p, T value) {
    typedef Words<T> W_;
    if (W_::count > 1 && order == relaxed) {
        Space<volatile Any<T> >::to(p)->value = value;
        return;
    }
    const auto to = Space<volatile typename W_::type>::to(p);
    typename W_::type words[W_::count];
    __builtin_memcpy(words, &value, sizeof value);
    for (int i = 0; i < W_::count; ++i) CU2PORT_PTX_ATOMIC_STORE(to + i, words[i], order, scope);
}

// --- loads and stores ------------------------------------------------------------------------------------------------

// Bytes, since a hint to the caches would hold an access of another type to C++'s rules for types.
template <class T> struct Bytes { typedef u8 type __attribute__((vector_size(sizeof(T)), aligned(sizeof(T)))); };
#ifdef __clang__
#define CU2PORT_PTX_STREAM_LOAD(T, space, p) \
    __builtin_bit_cast(T, __builtin_nontemporal_load(space<const typename Bytes<T>::type>::to(p)))
#define CU2PORT_PTX_STREAM_STORE(T, space, p, v) \
    __builtin_nontemporal_store(__builtin_bit_cast(typename Bytes<T>::type, v), space<typename Bytes<T>::type>::to(p))
#else
#define CU2PORT_PTX_STREAM_LOAD(T, space, p) (space<const Any<T> >::to(p)->value)
#define CU2PORT_PTX_STREAM_STORE(T, space, p, v) (space<Any<T> >::to(p)->value = (v))
#endif

// Keeps the compiler from moving, joining or dropping the accesses around it.
CU2PORT_PTX void keep() { asm volatile("" ::: "memory"); }

#define CU2PORT_PTX_SCOPED(order, scope, suffix, space)                                                     \
    template <class T, class A_> CU2PORT_PTX T ld_##order##_##scope##suffix(A_ p) {                         \
        return atomic_load<T, order, scope, space>(p);                                                      \
    }                                                                                                       \
    template <class T, class A_> CU2PORT_PTX void st_##order##_##scope##suffix(A_ p, T v) {                 \
        atomic_store<T, order, scope, space>(p, v);                                                         \
    }
// `_volatile` is relaxed.sys, as the manual says. `_kept` is a plain access that is done when it is reached, as in a
// volatile asm statement; what other blocks store meanwhile it need not see.
#define CU2PORT_PTX_LOADS(suffix, space)                                                                    \
    template <class T, class A_> CU2PORT_PTX T ld##suffix(A_ p) { return space<const Any<T> >::to(p)->value; } \
    template <class T, class A_> CU2PORT_PTX T ld##suffix##_cs(A_ p) { return CU2PORT_PTX_STREAM_LOAD(T, space, p); } \
    template <class T, class A_> CU2PORT_PTX T ld_volatile##suffix(A_ p) {                                  \
        return atomic_load<T, relaxed, sys, space>(p);                                                      \
    }                                                                                                       \
    template <class T, class A_> CU2PORT_PTX void st##suffix(A_ p, T v) { space<Any<T> >::to(p)->value = v; } \
    template <class T, class A_> CU2PORT_PTX void st##suffix##_cs(A_ p, T v) {                              \
        CU2PORT_PTX_STREAM_STORE(T, space, p, v);                                                           \
    }                                                                                                       \
    template <class T, class A_> CU2PORT_PTX void st_volatile##suffix(A_ p, T v) {                          \
        atomic_store<T, relaxed, sys, space>(p, v);                                                         \
    }                                                                                                       \
    CU2PORT_PTX_KEPT(suffix)                                                                                \
    CU2PORT_PTX_KEPT(suffix##_cs)
#define CU2PORT_PTX_KEPT(suffix)                                                                            \
    template <class T, class A_> CU2PORT_PTX T ld_kept##suffix(A_ p) {                                      \
        keep();                                                                                             \
        const T out = ld##suffix<T>(p);                                                                     \
        keep();                                                                                             \
        return out;                                                                                         \
    }                                                                                                       \
    template <class T, class A_> CU2PORT_PTX void st_kept##suffix(A_ p, T v) {                              \
        keep();                                                                                             \
        st##suffix(p, v);                                                                                   \
        keep();                                                                                             \
    }
#define CU2PORT_PTX_SPACES(order, scope)                                                                    \
    CU2PORT_PTX_SCOPED(order, scope, , generic_space)                                                       \
    CU2PORT_PTX_SCOPED(order, scope, _global, global_space)                                                 \
    CU2PORT_PTX_SCOPED(order, scope, _shared, shared_space)
CU2PORT_PTX_LOADS(, generic_space)
CU2PORT_PTX_LOADS(_global, global_space)
CU2PORT_PTX_LOADS(_shared, shared_space)
CU2PORT_PTX_SPACES(relaxed, cta)
CU2PORT_PTX_SPACES(relaxed, cluster)
CU2PORT_PTX_SPACES(relaxed, gpu)
CU2PORT_PTX_SPACES(relaxed, sys)
#undef CU2PORT_PTX_SCOPED
#define CU2PORT_PTX_SCOPED(order, scope, suffix, space)                                                     \
    template <class T, class A_> CU2PORT_PTX T ld_acquire_##scope##suffix(A_ p) {                           \
        return atomic_load<T, acquire, scope, space>(p);                                                    \
    }                                                                                                       \
    template <class T, class A_> CU2PORT_PTX void st_release_##scope##suffix(A_ p, T v) {                   \
        atomic_store<T, release, scope, space>(p, v);                                                       \
    }
CU2PORT_PTX_SPACES(, cta)
CU2PORT_PTX_SPACES(, cluster)
CU2PORT_PTX_SPACES(, gpu)
CU2PORT_PTX_SPACES(, sys)
#undef CU2PORT_PTX_SCOPED
#undef CU2PORT_PTX_SPACES
#undef CU2PORT_PTX_LOADS
#undef CU2PORT_PTX_KEPT

// CUDA's `__ldcv`, which is `ld.global.cv`: reads memory again each time it is reached, in one access.
template <int size> struct Access { typedef typename Bits<size>::type type; };
template <> struct Access<16> { typedef u32x4 type; };
template <class T> CU2PORT_PTX T ldcv(const T* p) {
    const typename Access<sizeof(T)>::type whole =
        global_space<const volatile Any<typename Access<sizeof(T)>::type> >::to(p)->value;
    T out;
    __builtin_memcpy(&out, &whole, sizeof out);
    return out;
}

// Sets bytes of shared memory to zero.
template <class A_> CU2PORT_PTX void st_bulk(A_ p, u64 bytes) {
    const auto to = shared_space<u8>::to(p);
    for (u64 i = 0; i < bytes; ++i) to[i] = 0;
}

// A copy from global to shared memory: `given` bytes are read, and zeros follow them. It is done at once.
template <class T, class A_, class B_> CU2PORT_PTX void copy_async(A_ to, B_ from, u32 given) {
    T value = {};
    if (given >= sizeof(T)) value = ld_global<T>(from);
    else if (given) {
        u8 bytes[sizeof(T)] = {};
        const auto source = global_space<const u8>::to(from);
        for (u32 i = 0; i < given; ++i) bytes[i] = source[i];
        __builtin_memcpy(&value, bytes, sizeof(T));
    }
    st_shared(to, value);
}
template <class A_, class B_> CU2PORT_PTX void cp_async(A_ to, B_ from, u32 size, u32 given) {
    if (size == 4) copy_async<u32>(to, from, given);
    else if (size == 8) copy_async<u32x2>(to, from, given);
    else copy_async<u32x4>(to, from, given);
}
template <class A_, class B_> CU2PORT_PTX void cp_async(A_ to, B_ from, u32 size) { cp_async(to, from, size, size); }

template <class A_> CU2PORT_PTX void prefetch(A_ p) {
    __builtin_prefetch(reinterpret_cast<const void*>(ptx::address(p)));
}

// Part of a parameter, from a byte on; parameters of `.ptx` functions may be arrays of bytes.
template <class T, class P_> CU2PORT_PTX T ld_param(const P_& parameter, int offset) {
    T out;
    __builtin_memcpy(&out, reinterpret_cast<const char*>(&parameter) + offset, sizeof out);
    return out;
}
template <class T, class P_> CU2PORT_PTX void st_param(P_& parameter, int offset, T value) {
    __builtin_memcpy(reinterpret_cast<char*>(&parameter) + offset, &value, sizeof value);
}

// --- atomics: the old value comes back -------------------------------------------------------------------------------

// The order of a compare-and-swap that fails may not release.
constexpr Order failed(Order order) { return order == acq_rel ? acquire : order == release ? relaxed : order; }

// What an operation makes of the value in memory and its operand.
struct add_op {
    template <class T> CU2PORT_PTX static T of(T a, T b) { return a + b; }
    CU2PORT_PTX static s32 of(s32 a, s32 b) { return s32(u32(a) + u32(b)); }
    CU2PORT_PTX static s64 of(s64 a, s64 b) { return s64(u64(a) + u64(b)); }
};
struct min_op { template <class T> CU2PORT_PTX static T of(T a, T b) { return b < a ? b : a; } };
struct max_op { template <class T> CU2PORT_PTX static T of(T a, T b) { return a < b ? b : a; } };
struct inc_op { template <class T> CU2PORT_PTX static T of(T a, T b) { return a >= b ? 0 : a + 1; } };
struct dec_op { template <class T> CU2PORT_PTX static T of(T a, T b) { return a == 0 || a > b ? b : a - 1; } };

// Halves and pairs of halves are their bits; only their sums need to know what they are.
CU2PORT_PTX u16 add_rn_f16(u16 a, u16 b);
CU2PORT_PTX u16 add_rn_bf16(u16 a, u16 b);
#define CU2PORT_PTX_HALF(entry)                                                                       \
    struct entry {                                                                                    \
        u16 bits;                                                                                    \
        CU2PORT_PTX entry(u16 b = 0) : bits(b) {}                                                     \
        CU2PORT_PTX operator u16() const { return bits; }                                            \
    };                                                                                               \
    CU2PORT_PTX entry operator+(entry a, entry b) { return add_rn_##entry(a.bits, b.bits); }             \
    struct entry##x2 {                                                                                \
        u32 bits;                                                                                    \
        CU2PORT_PTX entry##x2(u32 b = 0) : bits(b) {}                                                 \
        CU2PORT_PTX operator u32() const { return bits; }                                            \
    };                                                                                               \
    CU2PORT_PTX entry##x2 operator+(entry##x2 a, entry##x2 b) {                                         \
        return u32(add_rn_##entry(u16(a.bits), u16(b.bits))) |                                        \
               u32(add_rn_##entry(u16(a.bits >> 16), u16(b.bits >> 16))) << 16;                       \
    }
CU2PORT_PTX_HALF(f16)
CU2PORT_PTX_HALF(bf16)
#undef CU2PORT_PTX_HALF
template <class T> struct Native { enum { value = 1 }; };
template <> struct Native<f16> { enum { value = 0 }; };
template <> struct Native<bf16> { enum { value = 0 }; };
template <> struct Native<f16x2> { enum { value = 0 }; };
template <> struct Native<bf16x2> { enum { value = 0 }; };

// Any operation by compare-and-swap, on values of any type.
template <class T, Order order, Scope scope, class Op, class P_> CU2PORT_PTX T atomic_update(P_ p, T operand) {
    typedef typename Bits<sizeof(T)>::type B_;
    B_ seen = CU2PORT_PTX_ATOMIC_LOAD(p, relaxed, scope);
    for (;;) {
        const T old = __builtin_bit_cast(T, seen);
        const B_ wanted = __builtin_bit_cast(B_, Op::of(old, operand));
        if (CU2PORT_PTX_ATOMIC_CAS(p, &seen, wanted, order, failed(order), scope)) return old;
    }
}

#define CU2PORT_PTX_FETCH(entry, builtin)                                                                     \
    template <class T, Order order, Scope scope, template <class> class Space, class A_>                     \
    CU2PORT_PTX T atomic_##entry(A_ p, T v) {                                                                 \
        return CU2PORT_PTX_ATOMIC(builtin, Space<T>::to(p), v, order, scope);                                \
    }
CU2PORT_PTX_FETCH(and, fetch_and)
CU2PORT_PTX_FETCH(or, fetch_or)
CU2PORT_PTX_FETCH(xor, fetch_xor)
#undef CU2PORT_PTX_FETCH
template <class T, Order order, Scope scope, template <class> class Space,
    class A_> CU2PORT_PTX T atomic_exch(A_ p, T v) {
    typedef typename Bits<sizeof(T)>::type B_;
    return __builtin_bit_cast(T,
        CU2PORT_PTX_ATOMIC(exchange, Space<B_>::to(p), __builtin_bit_cast(B_, v), order, scope));
}
template <class T, Order order, Scope scope, template <class> class Space, class A_>
CU2PORT_PTX T atomic_cas(A_ p, T compare, T v) {
    typedef typename Bits<sizeof(T)>::type B_;
    B_ seen = __builtin_bit_cast(B_, compare);
    CU2PORT_PTX_ATOMIC_CAS(Space<B_>::to(p), &seen, __builtin_bit_cast(B_, v), order, failed(order), scope);
    return __builtin_bit_cast(T, seen);
}
#if defined(__clang__) && defined(__HIP__) && !defined(CU2PORT_SIMULATED)
#define CU2PORT_PTX_ARITHMETIC(entry)                                                                         \
    template <class T, Order order, Scope scope, template <class> class Space, class A_>                     \
    CU2PORT_PTX T atomic_##entry(A_ p, T v) {                                                                 \
        if constexpr (Native<T>::value)                                                                      \
            return __hip_atomic_fetch_##entry(Space<T>::to(p), v, order, scope);                              \
        else                                                                                                 \
            return atomic_update<T, order, scope, entry##_op>(Space<typename Bits<sizeof(T)>::type>::to(p), v); \
    }
#else
#define CU2PORT_PTX_ARITHMETIC(entry)                                                                         \
    template <class T, Order order, Scope scope, template <class> class Space, class A_>                     \
    CU2PORT_PTX T atomic_##entry(A_ p, T v) {                                                                 \
        return atomic_update<T, order, scope, entry##_op>(Space<typename Bits<sizeof(T)>::type>::to(p), v);   \
    }
#endif
CU2PORT_PTX_ARITHMETIC(add)
CU2PORT_PTX_ARITHMETIC(min)
CU2PORT_PTX_ARITHMETIC(max)
#undef CU2PORT_PTX_ARITHMETIC
template <class T, Order order, Scope scope, template <class> class Space, class A_>
CU2PORT_PTX T atomic_inc(A_ p, T v) {
    return atomic_update<T, order, scope, inc_op>(Space<typename Bits<sizeof(T)>::type>::to(p), v);
}
template <class T, Order order, Scope scope, template <class> class Space, class A_>
CU2PORT_PTX T atomic_dec(A_ p, T v) {
    return atomic_update<T, order, scope, dec_op>(Space<typename Bits<sizeof(T)>::type>::to(p), v);
}

// `atom_add<T>(p, v)` is relaxed, for the GPU; `atom_acquire_sys_add<T>(p, v)` says it otherwise.
#define CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, op)                                            \
    template <class T, class A_> CU2PORT_PTX T atom##prefix##suffix##_##op(A_ p, T v) {                      \
        return atomic_##op<T, order, scope, space>(p, v);                                                    \
    }                                                                                                        \
    template <class T, class A_> CU2PORT_PTX void red##prefix##suffix##_##op(A_ p, T v) {                    \
        atomic_##op<T, order, scope, space>(p, v);                                                           \
    }
#define CU2PORT_PTX_ATOMS(prefix, order, scope, suffix, space)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, add)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, min)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, max)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, and)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, or)                                                \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, xor)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, inc)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, dec)                                               \
    CU2PORT_PTX_ATOM(prefix, order, scope, suffix, space, exch)                                              \
    template <class T, class A_> CU2PORT_PTX T atom##prefix##suffix##_cas(A_ p, T compare, T v) {            \
        return atomic_cas<T, order, scope, space>(p, compare, v);                                            \
    }
#define CU2PORT_PTX_ATOM_SPACES(prefix, order, scope)                                                        \
    CU2PORT_PTX_ATOMS(prefix, order, scope, , generic_space)                                                 \
    CU2PORT_PTX_ATOMS(prefix, order, scope, _global, global_space)                                           \
    CU2PORT_PTX_ATOMS(prefix, order, scope, _shared, shared_space)
#define CU2PORT_PTX_ATOM_SCOPES(order)                                                                       \
    CU2PORT_PTX_ATOM_SPACES(_##order##_cta, order, cta)                                                      \
    CU2PORT_PTX_ATOM_SPACES(_##order##_cluster, order, cluster)                                              \
    CU2PORT_PTX_ATOM_SPACES(_##order##_gpu, order, gpu)                                                      \
    CU2PORT_PTX_ATOM_SPACES(_##order##_sys, order, sys)
CU2PORT_PTX_ATOM_SPACES(, relaxed, gpu)
CU2PORT_PTX_ATOM_SCOPES(relaxed)
CU2PORT_PTX_ATOM_SCOPES(acquire)
CU2PORT_PTX_ATOM_SCOPES(release)
CU2PORT_PTX_ATOM_SCOPES(acq_rel)
#undef CU2PORT_PTX_ATOM_SCOPES
#undef CU2PORT_PTX_ATOM_SPACES
#undef CU2PORT_PTX_ATOMS
#undef CU2PORT_PTX_ATOM

}  // namespace ptx
}  // namespace cu2port

#endif  // CU2PORT_PTX_MEMORY_HPP
