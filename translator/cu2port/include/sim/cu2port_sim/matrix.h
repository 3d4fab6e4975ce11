// AMD's matrix instructions of 16 rows and 16 columns, as far as cu2port's headers use them.
//
// They take no notice of lanes that are not there: they read their registers and write them. Here such a lane has no
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
struct Bf8 {  // e5m2: the upper byte of a half
    template <class X> static float at(const X& x, int i) { return half_value(static_cast<std::uint16_t>(piece<std::uint8_t>(x, i) << 8)); }
};
struct Fp8 {  // e4m3: as a half, its exponent is 8 too low
    template <class X> static float at(const X& x, int i) {
        const unsigned byte = piece<std::uint8_t>(x, i);
        if ((byte & 0x7f) == 0x7f) return std::nanf("");
        return half_value(static_cast<std::uint16_t>((byte & 0x80) << 8 | (byte & 0x7f) << 7)) * 256;
    }
};
template <class E> struct Element {
    template <class X> static E at(const X& x, int i) { return piece<E>(x, i); }
};
inline float product_and(float a, float b, float c) { return std::fma(a, b, c); }
inline double product_and(double a, double b, double c) { return std::fma(a, b, c); }
inline int product_and(int a, int b, int c) {
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

// What all 32 lanes have. A lane shows 16 bytes at a time.
template <class X> struct Every {
    X of[32];
    Every(const char* name, const X& mine, Where where) {
        constexpr std::size_t size = sizeof(X) < 16 ? sizeof(X) : 16;
        struct Part {
            char bytes[size];
        } part;
        for (std::size_t at = 0; at < sizeof(X); at += size) {
            std::memcpy(part.bytes, reinterpret_cast<const char*>(&mine) + at, size);
            const Meeting m = show(name, part, where);
            if (kWave != 32 || (m.mask & 0xffffffffu) != 0xffffffffu)
                misuse((std::string(name) + ": not all 32 lanes are here").c_str(), where);
            for (int lane = 0; lane < 32; ++lane) {
                part = read<Part>(m, lane);
                std::memcpy(reinterpret_cast<char*>(&of[lane]) + at, part.bytes, size);
            }
        }
    }
};

// WMMA on wavefronts of 32 lanes. gfx11: lane l has all of row or column l % 16, so each is there twice; of D rows
// 2 * i + l / 16. gfx12: lanes from 16 on have the second half of the dimension between them; of D rows 8 * (l / 16) + i.
template <int count, bool twice, class X, class V, class L, class R>
V wmma(const char* name, const X& a, const X& b, V c, L left_at, R right_at, Where where) {
    const Every<X> left(name, a, where), right(name, b, where);
    const int lane = lane_id();
    if (twice && (std::memcmp(left.of, left.of + 16, 16 * sizeof(X)) || std::memcmp(right.of, right.of + 16, 16 * sizeof(X))))
        misuse((std::string(name) + ": the halves of the wavefront differ").c_str(), where);
    for (int i = 0; i < 8; ++i) {
        const int row = twice ? 2 * i + lane / 16 : 8 * (lane / 16) + i;
        for (int half = 0; half < (twice ? 1 : 2); ++half)
            for (int k = 0; k < count; ++k)
                c[i] = product_and(left_at(left.of[16 * half + row], k), right_at(right.of[16 * half + lane % 16], k), c[i]);
    }
    return c;
}
// Bytes and half bytes, of a sign that the instruction tells.
template <int bits> struct Small {
    bool is_signed;
    template <class X> int operator()(const X& x, int i) const {
        const int value = piece<std::uint8_t>(x, i * bits / 8) >> i * bits % 8 & ((1 << bits) - 1);
        return is_signed && value >> (bits - 1) ? value - (1 << bits) : value;
    }
};

using Halves16 = unsigned short __attribute__((vector_size(32)));
using Shorts16 = short __attribute__((vector_size(32)));
using Halves8 = unsigned short __attribute__((vector_size(16)));
using Shorts8 = short __attribute__((vector_size(16)));
using Words2 = int __attribute__((vector_size(8)));
using Floats8 = float __attribute__((vector_size(32)));
using Integers8 = int __attribute__((vector_size(32)));

}  // namespace cu2port_sim::matrix

// Templates, so that a unit that does not call one has no copy of it.
#define CU2PORT_SIM_MFMA(name, E, count, spread, X, V)                                                             \
    template <int = 0>                                                                                             \
    V __builtin_amdgcn_mfma_##name(const X& a, const X& b, const V& c, int, int, int, CU2PORT_SIM_WHERE) { \
        return cu2port_sim::matrix::mfma<E, count, spread>("mfma_" #name, a, b, c, where);                              \
    }
CU2PORT_SIM_MFMA(f32_16x16x16f16, cu2port_sim::matrix::Half, 4, false, cu2port_sim::matrix::Halves, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f32_16x16x16bf16_1k, cu2port_sim::matrix::Bfloat, 4, false, cu2port_sim::matrix::Shorts, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f32_16x16x4f32, cu2port_sim::matrix::Element<float>, 1, false, float, cu2port_sim::matrix::Floats)
CU2PORT_SIM_MFMA(f64_16x16x4f64, cu2port_sim::matrix::Element<double>, 1, true, double, cu2port_sim::matrix::Doubles)
CU2PORT_SIM_MFMA(i32_16x16x16i8, cu2port_sim::matrix::Element<std::int8_t>, 4, false, int, cu2port_sim::matrix::Integers)
CU2PORT_SIM_MFMA(i32_16x16x32_i8, cu2port_sim::matrix::Element<std::int8_t>, 8, false, long, cu2port_sim::matrix::Integers)
#undef CU2PORT_SIM_MFMA

#define CU2PORT_SIM_WMMA(name, left, right, count, twice, X)                                                        \
    template <int = 0>                                                                                              \
    cu2port_sim::matrix::Floats8 __builtin_amdgcn_wmma_f32_16x16x16_##name(const X& a, const X& b,           \
        const cu2port_sim::matrix::Floats8& c, CU2PORT_SIM_WHERE) {                                                 \
        return cu2port_sim::matrix::wmma<count, twice>("wmma_f32_16x16x16_" #name, a, b, c,                         \
            [](const X& x, int i) { return cu2port_sim::matrix::left::at(x, i); },                                  \
            [](const X& x, int i) { return cu2port_sim::matrix::right::at(x, i); }, where);                         \
    }
CU2PORT_SIM_WMMA(f16_w32, Half, Half, 16, true, cu2port_sim::matrix::Halves16)
CU2PORT_SIM_WMMA(bf16_w32, Bfloat, Bfloat, 16, true, cu2port_sim::matrix::Shorts16)
CU2PORT_SIM_WMMA(f16_w32_gfx12, Half, Half, 8, false, cu2port_sim::matrix::Halves8)
CU2PORT_SIM_WMMA(bf16_w32_gfx12, Bfloat, Bfloat, 8, false, cu2port_sim::matrix::Shorts8)
CU2PORT_SIM_WMMA(fp8_fp8_w32_gfx12, Fp8, Fp8, 8, false, cu2port_sim::matrix::Words2)
CU2PORT_SIM_WMMA(fp8_bf8_w32_gfx12, Fp8, Bf8, 8, false, cu2port_sim::matrix::Words2)
CU2PORT_SIM_WMMA(bf8_fp8_w32_gfx12, Bf8, Fp8, 8, false, cu2port_sim::matrix::Words2)
CU2PORT_SIM_WMMA(bf8_bf8_w32_gfx12, Bf8, Bf8, 8, false, cu2port_sim::matrix::Words2)
#undef CU2PORT_SIM_WMMA
#define CU2PORT_SIM_WMMA(name, bits, count)                                                                         \
    template <int = 0>                                                                                              \
    cu2port_sim::matrix::Integers8 __builtin_amdgcn_wmma_i32_##name##_w32_gfx12(bool a_signed,               \
        const cu2port_sim::matrix::Words2& a, bool b_signed, const cu2port_sim::matrix::Words2& b,                  \
        const cu2port_sim::matrix::Integers8& c, bool, CU2PORT_SIM_WHERE) {                                         \
        return cu2port_sim::matrix::wmma<count, false>("wmma_i32_" #name, a, b, c,                                  \
            cu2port_sim::matrix::Small<bits>{a_signed}, cu2port_sim::matrix::Small<bits>{b_signed}, where);         \
    }
CU2PORT_SIM_WMMA(16x16x16_iu8, 8, 8)
CU2PORT_SIM_WMMA(16x16x32_iu4, 4, 16)
#undef CU2PORT_SIM_WMMA
