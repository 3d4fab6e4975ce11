// cu2port thread_load: CUB's loads with a cache modifier.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// hipCUB's own take no pointer to const, and copy what is not a number without the modifier. A load at L2 or as
// volatile must see what other blocks wrote: it is made of relaxed atomic loads here, word by word, as CUB does it. The
// others only tell the cache what to keep, and are plain loads.
#ifndef CU2PORT_THREAD_LOAD_HPP
#define CU2PORT_THREAD_LOAD_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <iterator>
#include <type_traits>

#ifdef __HIP_DEVICE_COMPILE__
#define CU2PORT_THREAD_LOAD(p, scope) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope)
#else
#define CU2PORT_THREAD_LOAD(p, scope) __atomic_load_n(p, __ATOMIC_RELAXED)
#endif

namespace cu2port {
namespace thread_load {

template <int Bytes> struct cell;
template <> struct cell<1> { typedef unsigned char __attribute__((may_alias)) type; };
template <> struct cell<2> { typedef unsigned short __attribute__((may_alias)) type; };
template <> struct cell<4> { typedef unsigned int __attribute__((may_alias)) type; };
template <> struct cell<8> { typedef unsigned long long __attribute__((may_alias)) type; };

template <bool OfAllDevices, class T> __device__ inline T by_cells(const T* from) {
    typedef typename cell<alignof(T) % 8 == 0 ? 8 : alignof(T)>::type W_;
    T value;
#pragma unroll
    for (unsigned int i = 0; i < sizeof(T) / sizeof(W_); ++i) {
        const W_* at = reinterpret_cast<const W_*>(from) + i;
        const W_ w = OfAllDevices ? CU2PORT_THREAD_LOAD(at, SYSTEM) : CU2PORT_THREAD_LOAD(at, AGENT);
        reinterpret_cast<W_*>(&value)[i] = w;
    }
    return value;
}

template <hipcub::CacheLoadModifier M_, class I_> struct load {
    static __device__ typename std::iterator_traits<I_>::value_type from(I_ at) { return *at; }
};
template <hipcub::CacheLoadModifier M_, class T> struct load<M_, T*> {
    typedef typename std::remove_cv<T>::type V_;
    static __device__ V_ from(T* at) {
        const V_* plain = const_cast<const V_*>(at);
        constexpr bool all = M_ == hipcub::LOAD_CV || M_ == hipcub::LOAD_VOLATILE || std::is_volatile<T>::value;
        if (all || M_ == hipcub::LOAD_CG) return by_cells<all>(plain);
        return *plain;
    }
};

}  // namespace thread_load

template <hipcub::CacheLoadModifier M_ = hipcub::LOAD_DEFAULT, class I_>
__device__ inline typename std::iterator_traits<I_>::value_type ThreadLoad(I_ at) {
    return thread_load::load<M_, I_>::from(at);
}

}  // namespace cu2port

#undef CU2PORT_THREAD_LOAD
}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_THREAD_LOAD_HPP
