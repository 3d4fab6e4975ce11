// Complex numbers as float2 and double2.
#pragma once
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H

#include "hip_runtime.h"

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define CU2PORT_SIM_COMPLEX(C, R, f)                                                              \
    inline R hipCreal##f(C z) { return z.x; }                                                     \
    inline R hipCimag##f(C z) { return z.y; }                                                     \
    inline C hipConj##f(C z) { return C(z.x, -z.y); }                                             \
    inline R hipCsqabs##f(C z) { return z.x * z.x + z.y * z.y; }                                  \
    inline R hipCabs##f(C z) { return std::sqrt(hipCsqabs##f(z)); }                               \
    inline C hipCadd##f(C a, C b) { return C(a.x + b.x, a.y + b.y); }                             \
    inline C hipCsub##f(C a, C b) { return C(a.x - b.x, a.y - b.y); }                             \
    inline C hipCmul##f(C a, C b) { return C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }     \
    inline C hipCdiv##f(C a, C b) {                                                               \
        const R n = hipCsqabs##f(b);                                                              \
        return C((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);                       \
    }                                                                                             \
    inline C hipCfma##f(C a, C b, C c) { return hipCadd##f(hipCmul##f(a, b), c); }
CU2PORT_SIM_COMPLEX(hipFloatComplex, float, f)
CU2PORT_SIM_COMPLEX(hipDoubleComplex, double, )
#undef CU2PORT_SIM_COMPLEX
inline hipFloatComplex make_hipFloatComplex(float a, float b) { return hipFloatComplex(a, b); }
inline hipDoubleComplex make_hipDoubleComplex(double a, double b) { return hipDoubleComplex(a, b); }
inline hipComplex make_hipComplex(float a, float b) { return hipComplex(a, b); }
inline hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
    return hipFloatComplex(static_cast<float>(z.x), static_cast<float>(z.y));
}
inline hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
