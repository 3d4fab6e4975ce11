// cu2port half_host: operators and functions of `half`, and operators of `half2`, for code that runs on the host.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// CUDA 12.2 and later have them on both sides, HIP on the device alone. A result is that of `float`, rounded once more,
// which for these operators is the right one. Where HIP has an operator for the host, that one is taken: it is no
// template. `cu2port::host_hadd` is CUDA's `__hadd` there, and so on.
#ifndef CU2PORT_HALF_HOST_HPP
#define CU2PORT_HALF_HOST_HPP
#if defined(__cplusplus) && defined(__HIP__) && !defined(__HIPCC_RTC__)  // C, others, and hipRTC, which has no host
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#include <cmath>
#include <cstring>

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
    static bool holds(const __half& a, const __half& b, Operation f) {
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
    static bool holds(const __half2& a, const __half2& b, Operation f) {
        return values<__half>::holds(low(a), low(b), f) && values<__half>::holds(high(a), high(b), f);
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
        return cu2port::half_host::values<T>::holds(a, b, [](float x, float y) { return x op y; });       \
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

namespace cu2port {

__host__ inline __half host_hadd(__half a, __half b) { return a + b; }
__host__ inline __half host_hsub(__half a, __half b) { return a - b; }
__host__ inline __half host_hmul(__half a, __half b) { return a * b; }
__host__ inline __half host_hdiv(__half a, __half b) { return a / b; }
__host__ inline __half host_hneg(__half a) { return -a; }
__host__ inline __half host_habs(__half a) { return __float2half(std::fabs(__half2float(a))); }
__host__ inline bool host_heq(__half a, __half b) { return a == b; }
__host__ inline bool host_hlt(__half a, __half b) { return a < b; }
__host__ inline bool host_hle(__half a, __half b) { return a <= b; }
__host__ inline bool host_hgt(__half a, __half b) { return a > b; }
__host__ inline bool host_hge(__half a, __half b) { return a >= b; }
__host__ inline bool host_hisnan(__half a) { return a != a; }
__host__ inline __half host_hmax(__half a, __half b) {  // a number comes before a NaN; -0 is less than +0
    const float x = __half2float(a), y = __half2float(b);
    return __float2half(x == y ? (std::signbit(x) ? y : x) : std::fmax(x, y));
}
__host__ inline __half host_hmin(__half a, __half b) {
    const float x = __half2float(a), y = __half2float(b);
    return __float2half(x == y ? (std::signbit(x) ? x : y) : std::fmin(x, y));
}

// Rounded once: the sum is exact in `double`, and a `float` whose last bit says that something was cut off rounds as
// the sum does.
__host__ inline __half host_hfma(__half a, __half b, __half c) {
    const double sum = double(__half2float(a)) * double(__half2float(b)) + double(__half2float(c));
    float cut = float(sum);
    if (double(cut) != sum && std::isfinite(cut)) {
        unsigned int bits;
        std::memcpy(&bits, &cut, sizeof bits);
        bits -= std::fabs(double(cut)) > std::fabs(sum);
        bits |= 1u;
        std::memcpy(&cut, &bits, sizeof bits);
    }
    return __float2half(cut);
}

}  // namespace cu2port

}  // extern "C++"
#endif
#endif
