// cu2port half_host: operators of `half` and `half2` for code that runs on the host.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// CUDA 12.2 and later have them on both sides, HIP on the device alone. A result is that of `float`, rounded once more,
// which for these operators is the right one. Where HIP has an operator for the host, that one is taken: it is no
// template.
#ifndef CU2PORT_HALF_HOST_HPP
#define CU2PORT_HALF_HOST_HPP
#if defined(__cplusplus) && !defined(__HIPCC_RTC__)  // C, and hipRTC, which has no host
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

namespace cu2port {
namespace half_host {

template <class T>
struct values;  // of each type that has the operators: those of its numbers, by a function of `float`

template <>
struct values<__half> {
    template <class Operation>
    static __half each(const __half& a, const __half& b, Operation f) {
        return __float2half(f(__half2float(a), __half2float(b)));
    }
    template <class Operation>
    static bool all(const __half& a, const __half& b, Operation f) {
        return f(__half2float(a), __half2float(b));
    }
};

template <>
struct values<__half2> {
    template <class Operation>
    static __half2 each(const __half2& a, const __half2& b, Operation f) {
        return __halves2half2(values<__half>::each(low(a), low(b), f), values<__half>::each(high(a), high(b), f));
    }
    template <class Operation>
    static bool all(const __half2& a, const __half2& b, Operation f) {
        return values<__half>::all(low(a), low(b), f) && values<__half>::all(high(a), high(b), f);
    }
    static __half low(const __half2& a) { return __low2half(a); }
    static __half high(const __half2& a) { return __high2half(a); }
};

template <class T, class Result>
struct only {};  // takes a template away from all other types
template <class Result>
struct only<__half, Result> {
    typedef Result type;
};
template <class Result>
struct only<__half2, Result> {
    typedef Result type;
};

}  // namespace half_host
}  // namespace cu2port

// They are in no namespace, as the types are: calls in templates find them by their arguments.
#define CU2PORT_HALF_HOST_VALUE(op)                                                                       \
    template <class T>                                                                                    \
    __host__ inline typename cu2port::half_host::only<T, T>::type operator op(const T& a, const T& b) {   \
        return cu2port::half_host::values<T>::each(a, b, [](float x, float y) { return x op y; });        \
    }                                                                                                     \
    template <class T>                                                                                    \
    __host__ inline typename cu2port::half_host::only<T, T&>::type operator op##=(T& a, const T& b) {     \
        return a = cu2port::half_host::values<T>::each(a, b, [](float x, float y) { return x op y; });    \
    }
#define CU2PORT_HALF_HOST_TRUTH(op)                                                                       \
    template <class T>                                                                                    \
    __host__ inline typename cu2port::half_host::only<T, bool>::type operator op(const T& a, const T& b) { \
        return cu2port::half_host::values<T>::all(a, b, [](float x, float y) { return x op y; });         \
    }
#define CU2PORT_HALF_HOST_STEP(op)                                                                        \
    template <class T>                                                                                    \
    __host__ inline typename cu2port::half_host::only<T, T&>::type operator op##op(T& a) {                \
        return a = cu2port::half_host::values<T>::each(a, a, [](float x, float) { return x op 1.0f; });   \
    }                                                                                                     \
    template <class T>                                                                                    \
    __host__ inline typename cu2port::half_host::only<T, T>::type operator op##op(T& a, int) {            \
        const T before = a;                                                                               \
        op##op a;                                                                                         \
        return before;                                                                                    \
    }
CU2PORT_HALF_HOST_VALUE(+)
CU2PORT_HALF_HOST_VALUE(-)
CU2PORT_HALF_HOST_VALUE(*)
CU2PORT_HALF_HOST_VALUE(/)
CU2PORT_HALF_HOST_TRUTH(==)
CU2PORT_HALF_HOST_TRUTH(!=)
CU2PORT_HALF_HOST_TRUTH(<)
CU2PORT_HALF_HOST_TRUTH(<=)
CU2PORT_HALF_HOST_TRUTH(>)
CU2PORT_HALF_HOST_TRUTH(>=)
CU2PORT_HALF_HOST_STEP(+)
CU2PORT_HALF_HOST_STEP(-)
#undef CU2PORT_HALF_HOST_VALUE
#undef CU2PORT_HALF_HOST_TRUTH
#undef CU2PORT_HALF_HOST_STEP

template <class T>
__host__ inline typename cu2port::half_host::only<T, T>::type operator-(const T& a) {
    return cu2port::half_host::values<T>::each(a, a, [](float x, float) { return -x; });
}
template <class T>
__host__ inline typename cu2port::half_host::only<T, T>::type operator+(const T& a) {
    return a;
}

}  // extern "C++"
#endif
#endif
