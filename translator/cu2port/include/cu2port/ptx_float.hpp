// cu2port ptx, floating point: rounding, flushing and saturation as PTX instructions have them. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#pragma once

namespace cu2port {
namespace ptx {

template <class T> CU2PORT_PTX bool isnan(T a) { return a != a; }
template <class T> CU2PORT_PTX bool lt(T a, T b) { return a < b; }
template <class T> CU2PORT_PTX bool eq(T a, T b) { return a == b; }
template <class T> CU2PORT_PTX T neg(T a) { return -a; }
CU2PORT_PTX float abs(float a) { return __builtin_fabsf(a); }
CU2PORT_PTX double abs(double a) { return __builtin_fabs(a); }

// Denormals as zeros of their sign.
CU2PORT_PTX float ftz(float a) { return __builtin_fabsf(a) < 1.17549435e-38f ? __builtin_copysignf(0.0f, a) : a; }

// Clamped to [0, 1]; NaN and -0 become +0.
template <class T> CU2PORT_PTX T sat(T a) { return a > T(0) ? (a < T(1) ? a : T(1)) : T(0); }

// Rounded to nearest, never contracted.
template <class T> CU2PORT_PTX T add_rn(T a, T b) {
#ifdef __clang__
#pragma clang fp contract(off)
#endif
    return a + b;
}

}  // namespace ptx
}  // namespace cu2port
