// AMD's matrix instructions of 16 rows and 16 columns, as far as cu2port's headers use them.
//
// MFMA takes no notice of lanes that are not there: it reads their registers and writes them. Here such a lane has no
// registers, so an instruction that not all lanes reach is misuse.
#pragma once

#include "small_floats.h"

namespace cu2port_sim::matrix {

using Shorts = short __attribute__((vector_size(8)));
using Halves = unsigned short __attribute__((vector_size(8)));
using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(32)));
using Integers = int __attribute__((vector_size(16)));

template <class E, class X>
E piece(const X& x, int i) {
    E out;
    std::memcpy(&out, reinterpret_cast<const char*>(&x) + i * sizeof(E), sizeof(E));
    return out;
}

struct Half {
    template <class X> static float at(const X& x, int i) { return half_value(piece<std::uint16_t>(x, i)); }
};
struct Bfloat {
    template <class X> static float at(const X& x, int i) { return bf16_value(piece<std::uint16_t>(x, i)); }
};
template <class E> struct Element {
    template <class X> static E at(const X& x, int i) { return piece<E>(x, i); }
};
inline float product_and(float a, float b, float c) { return std::fma(a, b, c); }
inline double product_and(double a, double b, double c) { return std::fma(a, b, c); }
inline int product_and(std::int8_t a, std::int8_t b, int c) {
    return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(a * b));
}

// D = A * B + C: lane l has row (of A) or column (of B) l % 16, elements `count * (l / 16)` and on of the dimension
// between them; of D it has column l % 16 and rows 4 * (l / 16) + i, or l / 16 + 4 * i.
template <class E, int count, bool spread, class X, class V>
V mfma(const char* name, const X& a, const X& b, V c, Where where) {
    struct Both {
        X a, b;
    };
    const Meeting m = show(name, Both{a, b}, where);
    if (kWave != 64 || ~m.mask) misuse((std::string(name) + ": not all 64 lanes are here").c_str(), where);
    for (int i = 0; i < 4; ++i) {
        const int row = spread ? m.lane / 16 + 4 * i : 4 * (m.lane / 16) + i;
        for (int group = 0; group < 4; ++group) {
            const X left = read<Both>(m, 16 * group + row).a, right = read<Both>(m, 16 * group + m.lane % 16).b;
            for (int k = 0; k < count; ++k) c[i] = product_and(E::at(left, k), E::at(right, k), c[i]);
        }
    }
    return c;
}

}  // namespace cu2port_sim::matrix

#define CU2PORT_SIM_MFMA(name, E, count, spread, X, V)                                                             \
    inline V __builtin_amdgcn_mfma_##name(const X& a, const X& b, const V& c, int, int, int, CU2PORT_SIM_WHERE) { \
        return cu2port_sim::matrix::mfma<E, count, spread>("mfma_" #name, a, b, c, where);                              \
    }
CU2PORT_SIM_MFMA(f32_16x16x16f16, cu2port_sim::matrix::Half, 4, false, cu2port_sim::matrix::Halves, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f32_16x16x16bf16_1k, cu2port_sim::matrix::Bfloat, 4, false, cu2port_sim::matrix::Shorts, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f32_16x16x4f32, cu2port_sim::matrix::Element<float>, 1, false, float, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f64_16x16x4f64, cu2port_sim::matrix::Element<double>, 1, true, double, cu2port_sim::matrix::Doubles)
CU2PORT_SIM_MFMA(i32_16x16x16i8, cu2port_sim::matrix::Element<std::int8_t>, 4, false, int, cu2port_sim::matrix::Integers)
CU2PORT_SIM_MFMA(i32_16x16x32_i8, cu2port_sim::matrix::Element<std::int8_t>, 8, false, long, cu2port_sim::matrix::Integers)
#undef CU2PORT_SIM_MFMA
