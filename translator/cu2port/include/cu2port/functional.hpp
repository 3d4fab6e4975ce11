// cu2port functional: the larger and the smaller of two values, and functions that say what they return, as libcu++ has
// them; `std::declval` for both sides; and what `std` has since C++20 only, under its names.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::maximum<>` is CUDA's `cuda::maximum<>`: it takes two types and returns their common type. Of equal values
// both return the first, as `cuda::` does.
#ifndef CU2PORT_FUNCTIONAL_HPP
#define CU2PORT_FUNCTIONAL_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <type_traits>
#ifndef __HIPCC_RTC__
#include <iterator>
#endif

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
    template <class A_, class B_>
    CU2PORT_FUNCTIONAL typename std::common_type<A_, B_>::type operator()(const A_ &a, const B_ &b) const {
        return a < b ? b : a;
    }
};

template <class T = void> struct minimum {
    CU2PORT_FUNCTIONAL T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <> struct minimum<void> {
    template <class A_, class B_>
    CU2PORT_FUNCTIONAL typename std::common_type<A_, B_>::type operator()(const A_ &a, const B_ &b) const {
        return b < a ? b : a;
    }
};

template <class R_, class F_> struct returns {
    F_ function;
    template <class... A_> CU2PORT_FUNCTIONAL R_ operator()(A_ &&...a) { return function(static_cast<A_ &&>(a)...); }
    template <class... A_>
    CU2PORT_FUNCTIONAL R_ operator()(A_ &&...a) const { return function(static_cast<A_ &&>(a)...); }
};

template <class R_, class F_>
CU2PORT_FUNCTIONAL returns<R_, typename std::decay<F_>::type> proclaim_return_type(F_ &&f) {
    return {static_cast<F_ &&>(f)};
}

// A value that is about to go is returned as one that stays: rocThrust asks what a value gives, and passes an element.
struct identity {
    using is_transparent = void;
    template <class T> CU2PORT_FUNCTIONAL T &operator()(T &a) const noexcept { return a; }
    template <class T> CU2PORT_FUNCTIONAL const T &operator()(const T &&a) const noexcept { return a; }
};

template <class T> struct remove_cvref {
    using type = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
};
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;

template <class T> struct type_identity {
    using type = T;
};
template <class T> using type_identity_t = typename type_identity<T>::type;

// `std::declval` is the host's, and clang refuses it in a function for the device, though nobody calls it there
template <class T>
#ifdef __HIP__
__host__ __device__
#endif
    typename std::add_rvalue_reference<T>::type
    declval() noexcept;

#ifndef __HIPCC_RTC__
template <class T> using iterator_traits_of = std::iterator_traits<typename std::decay<T>::type>;
template <class T> using iter_value_t = typename iterator_traits_of<T>::value_type;
template <class T> using iter_difference_t = typename iterator_traits_of<T>::difference_type;
template <class T> using iter_reference_t = decltype(*cu2port::declval<T &>());
#endif

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_FUNCTIONAL_HPP
