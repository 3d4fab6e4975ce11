// Device functions of CUDA that HIP's headers lack, by CUDA's math API and programming guide. For `cu2port trial`.
#pragma once

#include <cstdlib>

// Loads and stores with a cache hint.
#define CU2PORT_CUDA_LOAD(name)                      \
    template <class T>                               \
    inline T name(const T* p) {                      \
        return *p;                                   \
    }
CU2PORT_CUDA_LOAD(__ldca)
CU2PORT_CUDA_LOAD(__ldcg)
CU2PORT_CUDA_LOAD(__ldcs)
CU2PORT_CUDA_LOAD(__ldcv)
CU2PORT_CUDA_LOAD(__ldlu)
#undef CU2PORT_CUDA_LOAD
#define CU2PORT_CUDA_STORE(name)                                     \
    template <class T>                                               \
    inline void name(T* p, std::common_type_t<T> v) {                \
        *p = v;                                                      \
    }
CU2PORT_CUDA_STORE(__stwb)
CU2PORT_CUDA_STORE(__stcg)
CU2PORT_CUDA_STORE(__stcs)
CU2PORT_CUDA_STORE(__stwt)
#undef CU2PORT_CUDA_STORE

// Address spaces; no pointer that a kernel has is to constant memory here.
inline unsigned __isShared(const void* p) { return cu2port_sim::is_shared(p); }
inline unsigned __isLocal(const void* p) { return cu2port_sim::is_private(p); }
inline unsigned __isGlobal(const void* p) { return !__isShared(p) && !__isLocal(p); }
inline unsigned __isConstant(const void*) { return 0; }
inline unsigned __isGridConstant(const void*) { return 0; }

inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
inline float fdivide(float a, float b) { return a / b; }
inline double fdivide(double a, double b) { return a / b; }

// Overloads for float, which HIP lacks.
#define CU2PORT_CUDA_FLOAT(name) \
    inline float name(float x) { return name##f(x); }
CU2PORT_CUDA_FLOAT(rsqrt)
CU2PORT_CUDA_FLOAT(rcbrt)
CU2PORT_CUDA_FLOAT(sinpi)
CU2PORT_CUDA_FLOAT(cospi)
CU2PORT_CUDA_FLOAT(exp10)
CU2PORT_CUDA_FLOAT(erfinv)
CU2PORT_CUDA_FLOAT(erfcinv)
CU2PORT_CUDA_FLOAT(erfcx)
CU2PORT_CUDA_FLOAT(normcdf)
CU2PORT_CUDA_FLOAT(normcdfinv)
CU2PORT_CUDA_FLOAT(j0)
CU2PORT_CUDA_FLOAT(j1)
CU2PORT_CUDA_FLOAT(y0)
CU2PORT_CUDA_FLOAT(y1)
CU2PORT_CUDA_FLOAT(cyl_bessel_i0)
CU2PORT_CUDA_FLOAT(cyl_bessel_i1)
#undef CU2PORT_CUDA_FLOAT
inline float jn(int n, float x) { return jnf(n, x); }
inline float yn(int n, float x) { return ynf(n, x); }
[[noreturn]] inline void __trap() { std::abort(); }
inline void __brkpt() {}
inline void __nanosleep(unsigned) {}
inline void __prof_trigger(int) {}

// Directed rounding, as far as the simulator has it not for HIP.
#define CU2PORT_CUDA_ROUND(suffix, mode)                                                                                            \
    inline float __fmaf_##suffix(float a, float b, float c) {                                                                       \
        return cu2port_sim::rounded<mode>(a, b, [c](float x, float y) { return std::fma(x, y, c); });                               \
    }                                                                                                                               \
    inline float __fmaf_ieee_##suffix(float a, float b, float c) { return __fmaf_##suffix(a, b, c); }                               \
    inline double __fma_##suffix(double a, double b, double c) {                                                                    \
        return cu2port_sim::rounded<mode>(a, b, [c](double x, double y) { return std::fma(x, y, c); });                             \
    }                                                                                                                               \
    inline double __drcp_##suffix(double a) { return __ddiv_##suffix(1.0, a); }                                                     \
    inline double __dsqrt_##suffix(double a) {                                                                                      \
        return cu2port_sim::rounded<mode>(a, a, [](double x, double) { return std::sqrt(x); });                                     \
    }
CU2PORT_CUDA_ROUND(rd, FE_DOWNWARD)
CU2PORT_CUDA_ROUND(ru, FE_UPWARD)
CU2PORT_CUDA_ROUND(rz, FE_TOWARDZERO)
#undef CU2PORT_CUDA_ROUND
inline float __fmaf_ieee_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }

namespace cu2port_cuda {

// The parts of a word, as signed or unsigned numbers of 8 or 16 bits.
template <int Parts, bool Signed>
inline int part(unsigned v, int i) {
    constexpr int bits = 32 / Parts;
    const unsigned raw = v >> (i * bits) & ((1u << bits) - 1);
    return Signed && raw >> (bits - 1) ? static_cast<int>(raw) - (1 << bits) : static_cast<int>(raw);
}
template <int Parts, bool Signed, class F>
inline unsigned by_parts(unsigned a, unsigned b, F f) {
    constexpr int bits = 32 / Parts;
    unsigned out = 0;
    for (int i = 0; i < Parts; ++i)
        out |= (static_cast<unsigned>(f(part<Parts, Signed>(a, i), part<Parts, Signed>(b, i))) & ((1u << bits) - 1)) << (i * bits);
    return out;
}
template <int Parts, bool Signed>
inline int saturated(int v) {
    constexpr int bits = 32 / Parts, low = Signed ? -(1 << (bits - 1)) : 0, high = Signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    return v < low ? low : v > high ? high : v;
}

}  // namespace cu2port_cuda

#define CU2PORT_CUDA_PARTS(name, parts, is_signed, expression)                                                 \
    inline unsigned name(unsigned x, unsigned y) {                                                             \
        return cu2port_cuda::by_parts<parts, is_signed>(x, y, [](int a, int b) -> int {                        \
            constexpr int P = parts;                                                                           \
            constexpr bool S = is_signed;                                                                      \
            (void)P, (void)S;                                                                                  \
            return expression;                                                                                 \
        });                                                                                                    \
    }
#define CU2PORT_CUDA_BOTH(name, is_signed, expression)   \
    CU2PORT_CUDA_PARTS(name##2, 2, is_signed, expression) \
    CU2PORT_CUDA_PARTS(name##4, 4, is_signed, expression)
#define CU2PORT_CUDA_COMPARE(op, test)                          \
    CU2PORT_CUDA_BOTH(__vcmp##op##s, true, a test b ? -1 : 0)   \
    CU2PORT_CUDA_BOTH(__vcmp##op##u, false, a test b ? -1 : 0)  \
    CU2PORT_CUDA_BOTH(__vset##op##s, true, a test b)            \
    CU2PORT_CUDA_BOTH(__vset##op##u, false, a test b)
CU2PORT_CUDA_BOTH(__vadd, false, a + b)
CU2PORT_CUDA_BOTH(__vsub, false, a - b)
CU2PORT_CUDA_BOTH(__vaddss, true, (cu2port_cuda::saturated<P, S>(a + b)))
CU2PORT_CUDA_BOTH(__vaddus, false, (cu2port_cuda::saturated<P, S>(a + b)))
CU2PORT_CUDA_BOTH(__vsubss, true, (cu2port_cuda::saturated<P, S>(a - b)))
CU2PORT_CUDA_BOTH(__vsubus, false, (cu2port_cuda::saturated<P, S>(a - b)))
CU2PORT_CUDA_BOTH(__vabsdiffs, true, a > b ? a - b : b - a)
CU2PORT_CUDA_BOTH(__vabsdiffu, false, a > b ? a - b : b - a)
CU2PORT_CUDA_BOTH(__vavgs, true, (a + b + (a + b >= 0)) >> 1)
CU2PORT_CUDA_BOTH(__vavgu, false, (a + b + 1) >> 1)
CU2PORT_CUDA_BOTH(__vhaddu, false, (a + b) >> 1)
CU2PORT_CUDA_BOTH(__vmaxs, true, a > b ? a : b)
CU2PORT_CUDA_BOTH(__vmaxu, false, a > b ? a : b)
CU2PORT_CUDA_BOTH(__vmins, true, a < b ? a : b)
CU2PORT_CUDA_BOTH(__vminu, false, a < b ? a : b)
CU2PORT_CUDA_BOTH(__vcmpeq, false, a == b ? -1 : 0)
CU2PORT_CUDA_BOTH(__vcmpne, false, a != b ? -1 : 0)
CU2PORT_CUDA_BOTH(__vseteq, false, a == b)
CU2PORT_CUDA_BOTH(__vsetne, false, a != b)
CU2PORT_CUDA_COMPARE(ge, >=)
CU2PORT_CUDA_COMPARE(gt, >)
CU2PORT_CUDA_COMPARE(le, <=)
CU2PORT_CUDA_COMPARE(lt, <)
#undef CU2PORT_CUDA_COMPARE
#undef CU2PORT_CUDA_BOTH
#undef CU2PORT_CUDA_PARTS

inline unsigned __vabs2(unsigned v) { return __vsub2(__vmaxs2(v, 0), __vmins2(v, 0)); }
inline unsigned __vabs4(unsigned v) { return __vsub4(__vmaxs4(v, 0), __vmins4(v, 0)); }
inline unsigned __vneg2(unsigned v) { return __vsub2(0, v); }
inline unsigned __vneg4(unsigned v) { return __vsub4(0, v); }
inline unsigned __vabsss2(unsigned v) { return __vmaxs2(v, __vsubss2(0, v)); }
inline unsigned __vabsss4(unsigned v) { return __vmaxs4(v, __vsubss4(0, v)); }
inline unsigned __vnegss2(unsigned v) { return __vsubss2(0, v); }
inline unsigned __vnegss4(unsigned v) { return __vsubss4(0, v); }

namespace cu2port_cuda {

template <int Parts, bool Signed>
inline unsigned distance(unsigned a, unsigned b) {
    unsigned out = 0;
    for (int i = 0; i < Parts; ++i) out += static_cast<unsigned>(std::abs(part<Parts, Signed>(a, i) - part<Parts, Signed>(b, i)));
    return out;
}
// Products of the bytes of b with parts of a: all four bytes, or two halfwords with the lower or upper bytes.
template <bool Signed>
inline unsigned dot4(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; ++i) c += static_cast<unsigned>(part<4, Signed>(a, i) * part<4, Signed>(b, i));
    return c;
}
template <bool Signed>
inline unsigned dot2(unsigned a, unsigned b, unsigned c, int first) {
    for (int i = 0; i < 2; ++i) c += static_cast<unsigned>(part<2, Signed>(a, i) * part<4, Signed>(b, first + i));
    return c;
}

}  // namespace cu2port_cuda

inline unsigned __vsads2(unsigned a, unsigned b) { return cu2port_cuda::distance<2, true>(a, b); }
inline unsigned __vsads4(unsigned a, unsigned b) { return cu2port_cuda::distance<4, true>(a, b); }
inline unsigned __vsadu2(unsigned a, unsigned b) { return cu2port_cuda::distance<2, false>(a, b); }
inline unsigned __vsadu4(unsigned a, unsigned b) { return cu2port_cuda::distance<4, false>(a, b); }
inline int __dp4a(int a, int b, int c) {
    return static_cast<int>(cu2port_cuda::dot4<true>(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c)));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return cu2port_cuda::dot4<false>(a, b, c); }
inline int __dp2a_lo(int a, int b, int c) {
    return static_cast<int>(cu2port_cuda::dot2<true>(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c), 0));
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return cu2port_cuda::dot2<false>(a, b, c, 0); }
inline int __dp2a_hi(int a, int b, int c) {
    return static_cast<int>(cu2port_cuda::dot2<true>(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c), 2));
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return cu2port_cuda::dot2<false>(a, b, c, 2); }
