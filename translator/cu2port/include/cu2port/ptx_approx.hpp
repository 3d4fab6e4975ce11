// cu2port ptx_approx: the approximations of ptx.hpp, which includes it after ptx_float.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// AMD's instructions have an error of one unit in the last place, and take denormals to be zero, operands and results.
// The plain forms scale such operands and results by powers of two, which changes no other bit.

#ifndef CU2PORT_PTX_APPROX_HPP
#define CU2PORT_PTX_APPROX_HPP

namespace cu2port {
namespace ptx {

CU2PORT_PTX float rcp_approx_ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_rcpf(a);
#else
    return ftz(1.0f / ftz(a));
#endif
}
CU2PORT_PTX float sqrt_approx_ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_sqrtf(a);
#else
    return __builtin_sqrtf(ftz(a));
#endif
}
CU2PORT_PTX float rsqrt_approx_ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_rsqf(a);
#else
    return 1.0f / __builtin_sqrtf(ftz(a));
#endif
}
CU2PORT_PTX float lg2_approx_ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_logf(a);
#else
    return __builtin_log2f(ftz(a));
#endif
}
CU2PORT_PTX float ex2_approx_ftz(float a) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_exp2f(a);
#else
    return ftz(__builtin_exp2f(ftz(a)));
#endif
}
CU2PORT_PTX float rcp_approx(float a) {
    const float size = abs(a), scale = size < 0x1p-126f ? 0x1p24f : size > 0x1p125f ? 0x1p-24f : 1.0f;
    return rcp_approx_ftz(a * scale) * scale;
}
CU2PORT_PTX float sqrt_approx(float a) {
    return a < 0x1p-126f ? sqrt_approx_ftz(a * 0x1p24f) * 0x1p-12f : sqrt_approx_ftz(a);
}
CU2PORT_PTX float rsqrt_approx(float a) {
    return a < 0x1p-126f ? rsqrt_approx_ftz(a * 0x1p24f) * 0x1p12f : rsqrt_approx_ftz(a);
}
CU2PORT_PTX float lg2_approx(float a) { return a < 0x1p-126f ? lg2_approx_ftz(a * 0x1p24f) - 24 : lg2_approx_ftz(a); }
CU2PORT_PTX float ex2_approx(float a) {
    return a < -126 ? ex2_approx_ftz(a + 64) * 0x1p-64f : ex2_approx_ftz(a);
}
// a * (1 / b), where 1 / b is 0 if it would be denormal; one more step, since both factors are off by a little.
CU2PORT_PTX float div_approx_fast(float a, float b) { return a * rcp_approx_ftz(b); }
CU2PORT_PTX float div_approx(float a, float b) {
    const float scale = abs(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    b *= scale;
    const float inverse = rcp_approx_ftz(b), near = a * inverse;
    const float better = __builtin_fmaf(__builtin_fmaf(-b, near, a), inverse, near);
    return (is_finite(better) && better != 0 ? better : near) * scale;  // a zero has the sign of near
}
CU2PORT_PTX float div_full(float a, float b) { return a / b; }
// The error of AMD's sine is not documented: polynomials on [-pi/4, pi/4], good to 2^-22 there.
CU2PORT_PTX float wave_approx(float a, int quarter) {
    if (abs(a) > 0x1p17f) {  // beyond what the manual promises anything for: only kept within a turn
        const float turns = a * 0.159154943f;
        a = (turns - __builtin_rintf(turns)) * 6.28318531f;
    }
    const float quarters = __builtin_rintf(a * 0.636619772f);
    float x = __builtin_fmaf(quarters, -1.57079637f, a);  // pi/2 in two parts
    x = __builtin_fmaf(quarters, 4.37113883e-8f, x);
    const float y = x * x;
    const int turn = (quarters == quarters ? static_cast<int>(quarters) : 0) + quarter;
    const float even = __builtin_fmaf(
        __builtin_fmaf(__builtin_fmaf(2.48015873e-5f, y, -1.38888889e-3f), y, 4.16666667e-2f), y, -0.5f);
    const float odd = __builtin_fmaf(
        __builtin_fmaf(__builtin_fmaf(2.75573192e-6f, y, -1.98412698e-4f), y, 8.33333333e-3f), y, -1.66666667e-1f);
    const float out = turn & 1 ? __builtin_fmaf(even, y, 1.0f) : __builtin_fmaf(odd * y, x, x);
    return turn & 2 ? -out : out;
}
CU2PORT_PTX float sin_approx(float a) { return a == 0 ? a : wave_approx(a, 0); }  // -0 stays -0
CU2PORT_PTX float cos_approx(float a) { return wave_approx(a, 1); }
#ifdef CU2PORT_PTX_AMD
CU2PORT_PTX float sin_approx_fast(float a) { return __builtin_amdgcn_sinf(a * 0.159154943f); }
CU2PORT_PTX float cos_approx_fast(float a) { return __builtin_amdgcn_cosf(a * 0.159154943f); }
#else
CU2PORT_PTX float sin_approx_fast(float a) { return sin_approx(a); }
CU2PORT_PTX float cos_approx_fast(float a) { return cos_approx(a); }
#endif
CU2PORT_PTX float tanh_approx(float a) {
    const float size = abs(a), square = a * a;
    if (size < 0.25f) return a * __builtin_fmaf(__builtin_fmaf(square, 0.133333333f, -0.333333333f), square, 1.0f);
    return copysign(a, 1 - 2 * rcp_approx_ftz(ex2_approx_ftz(size * 2.88539008f) + 1));
}
// f64 estimates of the upper 32 bits; below them are zeros, also in operands.
CU2PORT_PTX double upper(double a) {
    const u64 bits = bits_of(a) & 0xffffffff00000000;
    return of_bits(bits & 0x7ff0000000000000 ? bits : bits & 0x8000000000000000);
}
CU2PORT_PTX double rcp_approx_ftz(double a) {
    a = upper(a);
    return a != a ? of_bits(u64(0x7fffffff00000000)) : upper(1 / a);
}
CU2PORT_PTX double rsqrt_approx_ftz(double a) {
    a = upper(a);
    return a != a || a < 0 ? of_bits(u64(0x7fffffff00000000)) : a == 0 ? copysign(a, __builtin_inf()) :
        upper(1 / __builtin_sqrt(a));
}
CU2PORT_PTX double rsqrt_approx(double a) {
    return a == 0 ? copysign(a, __builtin_inf()) : 1 / __builtin_sqrt(a);
}

}  // namespace ptx
}  // namespace cu2port

#endif  // CU2PORT_PTX_APPROX_HPP
