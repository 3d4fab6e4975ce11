// cu2port dot: CUDA's dot products of four bytes packed in a 32-bit word.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::dp4a` is CUDA's `__dp4a`. HIP's `amd_mixed_dot` does the same for `char4` and `uchar4`, but takes an
// int for eight numbers of 4 bits.
#ifndef CU2PORT_DOT_HPP
#define CU2PORT_DOT_HPP

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#define CU2PORT_DOT __host__ __device__ inline __attribute__((always_inline))
#else
#define CU2PORT_DOT inline
#endif

namespace cu2port {
namespace dot {

template <class Byte> CU2PORT_DOT unsigned sum_of_products(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += unsigned(Byte(a >> i)) * unsigned(Byte(b >> i));
    return c;
}
#if defined(__HIP_DEVICE_COMPILE__) && defined(__has_builtin)
#if __has_builtin(__builtin_amdgcn_sdot4)
template <> CU2PORT_DOT unsigned sum_of_products<signed char>(unsigned a, unsigned b, unsigned c) {
    return unsigned(__builtin_amdgcn_sdot4(int(a), int(b), int(c), false));
}
#elif __has_builtin(__builtin_amdgcn_sudot4)
template <> CU2PORT_DOT unsigned sum_of_products<signed char>(unsigned a, unsigned b, unsigned c) {
    return unsigned(__builtin_amdgcn_sudot4(true, int(a), true, int(b), int(c), false));
}
#endif
#if __has_builtin(__builtin_amdgcn_udot4)
template <> CU2PORT_DOT unsigned sum_of_products<unsigned char>(unsigned a, unsigned b, unsigned c) {
    return __builtin_amdgcn_udot4(a, b, c, false);
}
#endif
#endif

template <class V> CU2PORT_DOT unsigned word(const V& v) {
    static_assert(sizeof(V) == 4, "four bytes");
    unsigned out;
    __builtin_memcpy(&out, &v, 4);
    return out;
}

}  // namespace dot

CU2PORT_DOT int dp4a(int a, int b, int c) {
    return int(dot::sum_of_products<signed char>(unsigned(a), unsigned(b), unsigned(c)));
}
CU2PORT_DOT unsigned dp4a(unsigned a, unsigned b, unsigned c) { return dot::sum_of_products<unsigned char>(a, b, c); }
#ifdef __HIP__
CU2PORT_DOT int dp4a(char4 a, char4 b, int c) {
    return int(dot::sum_of_products<signed char>(dot::word(a), dot::word(b), unsigned(c)));
}
CU2PORT_DOT unsigned dp4a(uchar4 a, uchar4 b, unsigned c) {
    return dot::sum_of_products<unsigned char>(dot::word(a), dot::word(b), c);
}
#endif

}  // namespace cu2port

#undef CU2PORT_DOT

#endif  // CU2PORT_DOT_HPP
