// __hip_bfloat16 and __hip_bfloat162.
#pragma once
#define HIP_INCLUDE_HIP_HIP_BF16_H

#include "hip_runtime.h"
#include "../cu2port_sim/small_floats.h"

CU2PORT_SIM_SMALL(__hip_bfloat16, __hip_bfloat16_raw, bf16_bits, bf16_value)
CU2PORT_SIM_SMALL_PAIR(__hip_bfloat162, __hip_bfloat162_raw, __hip_bfloat16, __hip_bfloat16_raw)
CU2PORT_SIM_SMALL_INTRINSICS(__hip_bfloat16, __hip_bfloat162)

inline __hip_bfloat16 __float2bfloat16(float v) { return __hip_bfloat16(v); }
inline __hip_bfloat16 __float2bfloat16_rn(float v) { return __hip_bfloat16(v); }
inline __hip_bfloat16 __double2bfloat16(double v) { return __hip_bfloat16(v); }
inline float __bfloat162float(__hip_bfloat16 v) { return float(v); }
inline __hip_bfloat162 __float2bfloat162_rn(float v) { return __hip_bfloat162(__hip_bfloat16(v), __hip_bfloat16(v)); }
inline __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return __hip_bfloat162(__hip_bfloat16(a), __hip_bfloat16(b)); }
inline __hip_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline float2 __bfloat1622float2(__hip_bfloat162 v) { return float2(float(v.x), float(v.y)); }
inline float __low2float(__hip_bfloat162 v) { return float(v.x); }
inline float __high2float(__hip_bfloat162 v) { return float(v.y); }
inline __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
inline __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
inline __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.x, v.x); }
inline __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.y, v.y); }
inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 v) { return __hip_bfloat162(v, v); }
inline __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
inline __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 v) { return v.__x; }
inline short __bfloat16_as_short(__hip_bfloat16 v) { return static_cast<short>(v.__x); }
inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __hip_bfloat16(__hip_bfloat16_raw{v}); }
inline __hip_bfloat16 __short_as_bfloat16(short v) { return __ushort_as_bfloat16(static_cast<unsigned short>(v)); }
inline __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.x, b.x); }
inline __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.y, b.y); }
inline __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 v) { return __hip_bfloat162(v.y, v.x); }
CU2PORT_SIM_LOADS(__hip_bfloat16)
CU2PORT_SIM_LOADS(__hip_bfloat162)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001u)
