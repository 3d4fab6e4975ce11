// 8-bit floats: codes of known numbers, rounding to even, what saturates, what is NaN.
#include "suite.h"

#include <hip/hip_fp8.h>

#include <cmath>

static bool code(float v, int want, __hip_fp8_interpretation_t kind, __hip_saturation_t s = __HIP_NOSAT) {
    return __hip_cvt_float_to_fp8(v, s, kind) == want;
}
template <class T>
static bool round_trip() {  // every code is the nearest one to its own value
    int numbers = 0;
    for (int i = 0; i < 256; ++i) {
        T x;
        x.__x = static_cast<unsigned char>(i);
        const float v = x;
        if (v != v) continue;
        ++numbers;
        if (__hip_cvt_float_to_fp8(v, __HIP_NOSAT, T::default_kind()) != i) return false;
    }
    return numbers == T::numbers();
}
struct E4M3 : __hip_fp8_e4m3 {
    static __hip_fp8_interpretation_t default_kind() { return __HIP_E4M3; }
    static int numbers() { return 254; }
};
struct E5M2 : __hip_fp8_e5m2 {
    static __hip_fp8_interpretation_t default_kind() { return __HIP_E5M2; }
    static int numbers() { return 250; }
};
struct E4M3Z : __hip_fp8_e4m3_fnuz {
    static __hip_fp8_interpretation_t default_kind() { return __HIP_E4M3_FNUZ; }
    static int numbers() { return 255; }
};
struct E5M2Z : __hip_fp8_e5m2_fnuz {
    static __hip_fp8_interpretation_t default_kind() { return __HIP_E5M2_FNUZ; }
    static int numbers() { return 255; }
};

__global__ void scale(const __hip_fp8_e4m3* in, float* out, float by) { out[threadIdx.x] = float(in[threadIdx.x]) * by; }

int main() {
    say("e4m3 codes", round_trip<E4M3>());
    say("e5m2 codes", round_trip<E5M2>());
    say("e4m3 fnuz codes", round_trip<E4M3Z>());
    say("e5m2 fnuz codes", round_trip<E5M2Z>());
    say("one", code(1, 0x38, __HIP_E4M3) && code(1, 0x3c, __HIP_E5M2) && code(1, 0x40, __HIP_E4M3_FNUZ) && code(1, 0x40, __HIP_E5M2_FNUZ));
    // between 1 and 1.125 (e4m3): the middle goes to the even code, a bit more goes up
    say("ties to even", code(1.0625f, 0x38, __HIP_E4M3) && code(1.0626f, 0x39, __HIP_E4M3) && code(1.1875f, 0x3a, __HIP_E4M3));
    say("largest", code(448, 0x7e, __HIP_E4M3) && code(57344, 0x7b, __HIP_E5M2) && code(240, 0x7f, __HIP_E4M3_FNUZ) && code(57344, 0x7f, __HIP_E5M2_FNUZ));
    say("above the largest", code(1e6f, 0x7f, __HIP_E4M3) && code(-1e6f, 0xfc, __HIP_E5M2) && code(1e6f, 0x80, __HIP_E4M3_FNUZ));
    say("saturated", code(-1e6f, 0xfe, __HIP_E4M3, __HIP_SATFINITE) && code(1e6f, 0x7b, __HIP_E5M2, __HIP_SATFINITE) && code(-1e6f, 0xff, __HIP_E5M2_FNUZ, __HIP_SATFINITE));
    say("smallest", code(std::ldexp(1.f, -9), 0x01, __HIP_E4M3) && code(std::ldexp(1.f, -16), 0x01, __HIP_E5M2) && code(std::ldexp(1.f, -11), 0, __HIP_E4M3));
    say("minus zero", code(-0.f, 0x80, __HIP_E4M3) && code(-0.f, 0, __HIP_E4M3_FNUZ) && code(-1e-9f, 0, __HIP_E5M2_FNUZ));
    say("nan", (__hip_cvt_float_to_fp8(NAN, __HIP_SATFINITE, __HIP_E4M3) & 0x7f) == 0x7f && code(NAN, 0x80, __HIP_E5M2_FNUZ));
    // 1 + 2^-40 rounds once: a detour over float would lose the bit and tie to even
    say("doubles round once", __hip_cvt_double_to_fp8(1.0625 + std::ldexp(1.0, -40), __HIP_NOSAT, __HIP_E4M3) == 0x39);
    __hip_fp8x4_e4m3 four(float4(1, 2, 3, -4));
    const float4 back = four;
    say("four at once", back.x == 1 && back.y == 2 && back.z == 3 && back.w == -4);
    say("pairs", __hip_cvt_float2_to_fp8x2(float2(1, 2), __HIP_NOSAT, __HIP_E4M3) == 0x4038);
    say("to half", __half2float(__half(__hip_cvt_fp8_to_halfraw(0x39, __HIP_E4M3))) == 1.125f);

    __hip_fp8_e4m3 h[16], *d = nullptr;
    for (int i = 0; i < 16; ++i) h[i] = __hip_fp8_e4m3(static_cast<float>(i));
    (void)hipMalloc(&d, sizeof h);
    (void)hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice);
    Out<float> f(16);
    scale<<<1, 16>>>(d, f.d, 2);
    say("in a kernel", all(f, [](int i) { return 2 * i; }));
}
