// cu2port shift: shifts by as many places as a number has, or more, as CUDA's instructions make them.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::shl(a, n)` is `a << n`, and 0 where n is the width of a or more; `cu2port::shr(a, n)` is `a >> n`, and then
// 0 or, of a negative number, -1. C++ leaves such shifts undefined; AMD GPUs take n modulo the width.
#ifndef CU2PORT_SHIFT_HPP
#define CU2PORT_SHIFT_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifdef __HIP__
#define CU2PORT_SHIFT_SIDES __attribute__((host)) __attribute__((device))
#else
#define CU2PORT_SHIFT_SIDES
#endif

namespace cu2port {

template <class T> CU2PORT_SHIFT_SIDES inline auto shl(T a, unsigned long long n) -> decltype(a << 1) {
    return n < 8 * sizeof(a << 1) ? a << n : 0;
}
template <class T> CU2PORT_SHIFT_SIDES inline auto shr(T a, unsigned long long n) -> decltype(a >> 1) {
    const unsigned long long last = 8 * sizeof(a >> 1) - 1;
    return n <= last ? a >> n : a >> last >> 1;
}

}  // namespace cu2port

#undef CU2PORT_SHIFT_SIDES

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_SHIFT_HPP
