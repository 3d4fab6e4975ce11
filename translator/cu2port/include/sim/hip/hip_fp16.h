// half and half2.
#pragma once
#define HIP_INCLUDE_HIP_HIP_FP16_H

#include "hip_runtime.h"
#include "../cu2port_sim/small_floats.h"

CU2PORT_SIM_SMALL(__half, __half_raw, half_bits, half_value)
CU2PORT_SIM_SMALL_PAIR(__half2, __half2_raw, __half, __half_raw)
CU2PORT_SIM_SMALL_INTRINSICS(__half, __half2)
typedef __half half;
typedef __half2 half2;

CU2PORT_SIM_SMALL_INTEGERS(__half, half, int, int)
CU2PORT_SIM_SMALL_INTEGERS(__half, half, uint, unsigned)
CU2PORT_SIM_SMALL_INTEGERS(__half, half, short, short)
CU2PORT_SIM_SMALL_INTEGERS(__half, half, ushort, unsigned short)
CU2PORT_SIM_SMALL_INTEGERS(__half, half, ll, long long)
CU2PORT_SIM_SMALL_INTEGERS(__half, half, ull, unsigned long long)

inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline __half __float2half_rz(float v) { return __half(__half_raw{cu2port_sim::half_bits(v, cu2port_sim::Round::zero)}); }
inline __half __float2half_ru(float v) { return __half(__half_raw{cu2port_sim::half_bits(v, cu2port_sim::Round::up)}); }
inline __half __float2half_rd(float v) { return __half(__half_raw{cu2port_sim::half_bits(v, cu2port_sim::Round::down)}); }
inline __half __double2half(double v) { return __half(v); }
inline float __half2float(__half v) { return float(v); }
inline __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
inline __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
inline __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
inline float2 __half22float2(__half2 v) { return float2(float(v.x), float(v.y)); }
inline float __low2float(__half2 v) { return float(v.x); }
inline float __high2float(__half2 v) { return float(v.y); }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __half2half2(__half v) { return __half2(v, v); }
inline __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
inline __half2 make_half2(__half a, __half b) { return __half2(a, b); }
inline __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
inline __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
inline __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
inline unsigned short __half_as_ushort(__half v) { return v.__x; }
inline short __half_as_short(__half v) { return static_cast<short>(v.__x); }
inline __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
inline __half __short_as_half(short v) { return __half(__half_raw{static_cast<unsigned short>(v)}); }
CU2PORT_SIM_LOADS(__half)
CU2PORT_SIM_LOADS(__half2)
inline __half2 __hisinf2(__half2 v) { return __half2(__half(float(__hisinf(v.x))), __half(float(__hisinf(v.y)))); }
inline float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate) {
    const float sum = float(a.x) * float(b.x) + float(a.y) * float(b.y) + c;
    return saturate ? __saturatef(sum) : sum;
}
