// dim3 and the short vectors: `float4` and its kin, with HIP's component-wise operators.
#pragma once

#include <type_traits>

#include "core.h"

struct dim3 {
    std::uint32_t x, y, z;
    constexpr dim3(std::uint32_t x_ = 1, std::uint32_t y_ = 1, std::uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline cu2port_sim::Index::operator dim3() const { return dim3(x, y, z); }

namespace cu2port_sim {

template <class T, unsigned N>
struct Fields;
template <class T>
struct Fields<T, 1> {
    T x;
};
template <class T>
struct alignas(2 * sizeof(T)) Fields<T, 2> {
    T x, y;
};
template <class T>
struct Fields<T, 3> {
    T x, y, z;
};
template <class T>
struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) Fields<T, 4> {
    T x, y, z, w;
};

}  // namespace cu2port_sim

template <class T, unsigned N>
struct HIP_vector_type : cu2port_sim::Fields<T, N> {
    using value_type = T;
    HIP_vector_type() = default;
    template <class U, unsigned M = N, class = std::enable_if_t<(M > 1) && std::is_convertible_v<U, T>>>
    explicit constexpr HIP_vector_type(U v) : HIP_vector_type(v, std::make_index_sequence<N>{}) {}
    template <class... U, class = std::enable_if_t<sizeof...(U) == N && (std::is_convertible_v<U, T> && ...)>,
              class = std::enable_if_t<(N > 1) || sizeof...(U) == 1>, class = void>
    constexpr HIP_vector_type(U... v) : cu2port_sim::Fields<T, N>{static_cast<T>(v)...} {}

    T& operator[](std::size_t i) { return reinterpret_cast<T*>(this)[i]; }
    const T& operator[](std::size_t i) const { return reinterpret_cast<const T*>(this)[i]; }

private:
    template <class U, std::size_t... I>
    constexpr HIP_vector_type(U v, std::index_sequence<I...>)
        : cu2port_sim::Fields<T, N>{(static_cast<void>(I), static_cast<T>(v))...} {}
};

#define CU2PORT_SIM_OPERATOR(op, assign)                                                                            \
    template <class T, unsigned N>                                                                                  \
    inline HIP_vector_type<T, N>& operator assign(HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) {       \
        for (unsigned i = 0; i < N; ++i) a[i] assign b[i];                                                          \
        return a;                                                                                                   \
    }                                                                                                               \
    template <class T, unsigned N, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>                      \
    inline HIP_vector_type<T, N>& operator assign(HIP_vector_type<T, N>& a, U b) {                                  \
        for (unsigned i = 0; i < N; ++i) a[i] assign static_cast<T>(b);                                             \
        return a;                                                                                                   \
    }                                                                                                               \
    template <class T, unsigned N>                                                                                  \
    inline HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, const HIP_vector_type<T, N>& b) {             \
        for (unsigned i = 0; i < N; ++i) a[i] assign b[i]; /* no call: a program may have its own for vectors */     \
        return a;                                                                                                   \
    }                                                                                                               \
    template <class T, unsigned N, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>                      \
    inline HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, U b) {                                        \
        for (unsigned i = 0; i < N; ++i) a[i] assign static_cast<T>(b);                                             \
        return a;                                                                                                   \
    }                                                                                                               \
    template <class T, unsigned N, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>                      \
    inline HIP_vector_type<T, N> operator op(U b, const HIP_vector_type<T, N>& a) {                                 \
        HIP_vector_type<T, N> out;                                                                                  \
        for (unsigned i = 0; i < N; ++i) out[i] = static_cast<T>(static_cast<T>(b) op a[i]);                        \
        return out;                                                                                                 \
    }
CU2PORT_SIM_OPERATOR(+, +=)
CU2PORT_SIM_OPERATOR(-, -=)
CU2PORT_SIM_OPERATOR(*, *=)
CU2PORT_SIM_OPERATOR(/, /=)
CU2PORT_SIM_OPERATOR(%, %=)
CU2PORT_SIM_OPERATOR(&, &=)
CU2PORT_SIM_OPERATOR(|, |=)
CU2PORT_SIM_OPERATOR(^, ^=)
CU2PORT_SIM_OPERATOR(<<, <<=)
CU2PORT_SIM_OPERATOR(>>, >>=)
#undef CU2PORT_SIM_OPERATOR

template <class T, unsigned N>
inline bool operator==(const HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) {
    for (unsigned i = 0; i < N; ++i)
        if (!(a[i] == b[i])) return false;
    return true;
}
template <class T, unsigned N>
inline bool operator!=(const HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) {
    return !(a == b);
}
template <class T, unsigned N>
inline HIP_vector_type<T, N> operator-(HIP_vector_type<T, N> a) {
    for (unsigned i = 0; i < N; ++i) a[i] = -a[i];
    return a;
}
template <class T, unsigned N>
inline HIP_vector_type<T, N> operator+(HIP_vector_type<T, N> a) {
    return a;
}
template <class T, unsigned N>
inline HIP_vector_type<T, N> operator~(HIP_vector_type<T, N> a) {
    for (unsigned i = 0; i < N; ++i) a[i] = ~a[i];
    return a;
}
template <class T, unsigned N>
inline HIP_vector_type<T, N>& operator++(HIP_vector_type<T, N>& a) {
    return a += T(1);
}
template <class T, unsigned N>
inline HIP_vector_type<T, N>& operator--(HIP_vector_type<T, N>& a) {
    return a -= T(1);
}

#define CU2PORT_SIM_VECTORS(T, name)                                                                                \
    using name##1 = HIP_vector_type<T, 1>;                                                                          \
    using name##2 = HIP_vector_type<T, 2>;                                                                          \
    using name##3 = HIP_vector_type<T, 3>;                                                                          \
    using name##4 = HIP_vector_type<T, 4>;                                                                          \
    inline name##1 make_##name##1(T x) { return name##1(x); }                                                       \
    inline name##2 make_##name##2(T x, T y) { return name##2(x, y); }                                               \
    inline name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }                                       \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }
CU2PORT_SIM_VECTORS(signed char, char)
CU2PORT_SIM_VECTORS(unsigned char, uchar)
CU2PORT_SIM_VECTORS(short, short)
CU2PORT_SIM_VECTORS(unsigned short, ushort)
CU2PORT_SIM_VECTORS(int, int)
CU2PORT_SIM_VECTORS(unsigned int, uint)
CU2PORT_SIM_VECTORS(long, long)
CU2PORT_SIM_VECTORS(unsigned long, ulong)
CU2PORT_SIM_VECTORS(long long, longlong)
CU2PORT_SIM_VECTORS(unsigned long long, ulonglong)
CU2PORT_SIM_VECTORS(float, float)
CU2PORT_SIM_VECTORS(double, double)
#undef CU2PORT_SIM_VECTORS
