// cu2port functional: the larger and the smaller of two values, and functions that say what they return, as libcu++ has
// them; `std::declval` for both sides.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::maximum<>` is CUDA's `cuda::maximum<>`: it takes two types and returns their common type. Of equal values
// both return the first, as `cuda::` does.
#ifndef CU2PORT_FUNCTIONAL_HPP
#define CU2PORT_FUNCTIONAL_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one

#include <type_traits>

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#define CU2PORT_FUNCTIONAL __host__ __device__ constexpr
#else
#define CU2PORT_FUNCTIONAL constexpr
#endif

namespace cu2port {

template <class T = void> struct maximum {
    CU2PORT_FUNCTIONAL T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};

template <> struct maximum<void> {
    template <class A, class B>
    CU2PORT_FUNCTIONAL typename std::common_type<A, B>::type operator()(const A &a, const B &b) const {
        return a < b ? b : a;
    }
};

template <class T = void> struct minimum {
    CU2PORT_FUNCTIONAL T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <> struct minimum<void> {
    template <class A, class B>
    CU2PORT_FUNCTIONAL typename std::common_type<A, B>::type operator()(const A &a, const B &b) const {
        return b < a ? b : a;
    }
};

template <class R, class F> struct returns {
    F function;
    template <class... A> CU2PORT_FUNCTIONAL R operator()(A &&...a) { return function(static_cast<A &&>(a)...); }
    template <class... A> CU2PORT_FUNCTIONAL R operator()(A &&...a) const { return function(static_cast<A &&>(a)...); }
};

template <class R, class F> CU2PORT_FUNCTIONAL returns<R, typename std::decay<F>::type> proclaim_return_type(F &&f) {
    return {static_cast<F &&>(f)};
}

// `std::declval` is the host's, and clang refuses it in a function for the device, though nobody calls it there
template <class T>
#ifdef __HIP__
__host__ __device__
#endif
    typename std::add_rvalue_reference<T>::type
    declval() noexcept;

}  // namespace cu2port

#endif  // __cplusplus
#endif  // CU2PORT_FUNCTIONAL_HPP
