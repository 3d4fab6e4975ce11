// cu2port dot: CUDA's dot products of bytes and halfwords packed in 32-bit words.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::dp4a` is CUDA's `__dp4a`. HIP's `amd_mixed_dot` does the same for `char4` and `uchar4`, but takes an
// int for eight numbers of 4 bits. `cu2port::dp2a_lo` and `dp2a_hi` are `__dp2a_lo` and `__dp2a_hi`: two halfwords by
// the lower or upper two of four bytes.
#ifndef CU2PORT_DOT_HPP
#define CU2PORT_DOT_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include "ptx.hpp"

namespace cu2port {

CU2PORT_PTX int dp4a(int a, int b, int c) { return int(ptx::dp4a_s32_s32(unsigned(a), unsigned(b), unsigned(c))); }
CU2PORT_PTX unsigned dp4a(unsigned a, unsigned b, unsigned c) { return ptx::dp4a_u32_u32(a, b, c); }
CU2PORT_PTX int dp2a_lo(int a, int b, int c) {
    return int(ptx::dp2a_lo_s32_s32(unsigned(a), unsigned(b), unsigned(c)));
}
CU2PORT_PTX unsigned dp2a_lo(unsigned a, unsigned b, unsigned c) { return ptx::dp2a_lo_u32_u32(a, b, c); }
CU2PORT_PTX int dp2a_hi(int a, int b, int c) {
    return int(ptx::dp2a_hi_s32_s32(unsigned(a), unsigned(b), unsigned(c)));
}
CU2PORT_PTX unsigned dp2a_hi(unsigned a, unsigned b, unsigned c) { return ptx::dp2a_hi_u32_u32(a, b, c); }

#ifdef __HIP__
namespace dot {
template <class V_> CU2PORT_PTX unsigned word(const V_& v) {
    static_assert(sizeof(V_) == 4, "a packed word");
    unsigned out;
    __builtin_memcpy(&out, &v, 4);
    return out;
}
}  // namespace dot

CU2PORT_PTX int dp4a(char4 a, char4 b, int c) { return dp4a(int(dot::word(a)), int(dot::word(b)), c); }
CU2PORT_PTX unsigned dp4a(uchar4 a, uchar4 b, unsigned c) { return dp4a(dot::word(a), dot::word(b), c); }
CU2PORT_PTX int dp2a_lo(short2 a, char4 b, int c) { return dp2a_lo(int(dot::word(a)), int(dot::word(b)), c); }
CU2PORT_PTX unsigned dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return dp2a_lo(dot::word(a), dot::word(b), c); }
CU2PORT_PTX int dp2a_hi(short2 a, char4 b, int c) { return dp2a_hi(int(dot::word(a)), int(dot::word(b)), c); }
CU2PORT_PTX unsigned dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return dp2a_hi(dot::word(a), dot::word(b), c); }
#endif

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_DOT_HPP
