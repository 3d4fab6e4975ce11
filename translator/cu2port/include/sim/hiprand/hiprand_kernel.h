// hipRAND's device functions on the CPU: Philox4x32-10, XORWOW and MRG32k3a, with rocRAND's seeds and conversions.
//
// The generators are those of the papers: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); Marsaglia,
// "Xorshift RNGs" (2003); L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
// generators" (1999). Jumps ahead are powers of the step's matrix, made when the first is asked for.
#pragma once
#define HIPRAND_KERNEL_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bits.h"

namespace cu2port_sim {
namespace random {

struct Xorwow : FromBits<Xorwow> {
    using Words = std::array<u32, 5>;
    u32 d = 0;
    Words x = {};

    void init(u64 seed, u64 subsequence, u64 offset) {
        *this = Xorwow();
        const u32 t0 = 1228688033u * (static_cast<u32>(seed) ^ 0x2c7f967fu);
        const u32 t1 = 2073658381u * (static_cast<u32>(seed >> 32) ^ 0xa03697cbu);
        x = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0};
        d = 6615241u + t1 + t0;
        skip_sequences(subsequence);
        skip(offset);
    }
    u32 next() {
        step(x);
        d += 362437u;
        return d + x[4];
    }
    void skip(u64 n) {
        jump(n, 0);
        d += 362437u * static_cast<u32>(n);
    }
    void skip_sequences(u64 n) { jump(n, 67); }  // a sequence has 2^67 numbers

private:
    using Matrix = std::array<Words, 160>;  // column i: what becomes of the state that has bit i alone
    static void step(Words& v) {
        const u32 t = v[0] ^ (v[0] >> 2);
        v = {v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)};
    }
    static Words times(const Matrix& m, const Words& v) {
        Words out = {};
        for (int i = 0; i < 160; ++i)
            if (v[i / 32] >> (i % 32) & 1)
                for (int k = 0; k < 5; ++k) out[k] ^= m[i][k];
        return out;
    }
    static const std::vector<Matrix>& powers() {  // of the step: 1, 2, 4, ... 2^130
        static const std::vector<Matrix> made = [] {
            std::vector<Matrix> out(131);
            for (int i = 0; i < 160; ++i) out[0][i][i / 32] = 1u << (i % 32), step(out[0][i]);
            for (std::size_t n = 1; n < out.size(); ++n)
                for (int i = 0; i < 160; ++i) out[n][i] = times(out[n - 1], out[n - 1][i]);
            return out;
        }();
        return made;
    }
    void jump(u64 n, int power) {
        for (; n; n >>= 1, ++power)
            if (n & 1) x = times(powers()[power], x);
    }
};

struct Mrg32k3a : Normals {
    static constexpr u64 kM1 = 4294967087u, kM2 = 4294944443u;
    u64 a[3] = {}, b[3] = {};

    void init(u64 seed, u64 subsequence, u64 offset) {
        *this = Mrg32k3a();
        if (seed == 0) seed = 12345;
        const u32 x = static_cast<u32>(seed) ^ 0x55555555u, y = static_cast<u32>(seed >> 32) ^ 0xAAAAAAAAu;
        a[0] = a[2] = seeded<kM1>(x, seed), a[1] = seeded<kM1>(y, seed);
        b[0] = b[2] = seeded<kM2>(y, seed), b[1] = seeded<kM2>(x, seed);
        skip_subsequences(subsequence);
        skip(offset);
    }
    u32 next() {  // 1 to kM1
        const u64 p = (1403580 * a[1] + 810728 * (kM1 - a[0])) % kM1;
        const u64 q = (527612 * b[2] + 1370589 * (kM2 - b[0])) % kM2;
        a[0] = a[1], a[1] = a[2], a[2] = p;
        b[0] = b[1], b[1] = b[2], b[2] = q;
        return static_cast<u32>(p <= q ? p - q + kM1 : p - q);
    }
    u32 bits() { return static_cast<u32>((next() - 1) * 1.000000048661607); }
    float uniform() { return static_cast<float>(uniform_double()); }
    double uniform_double() { return next() * 2.3283065498378288e-10; }
    float2 normals() {
        const float radius = uniform();
        return random::normals(radius, uniform() * ROCRAND_2PI);
    }
    double2 normals_double() {  // from floats, as rocRAND does it
        const float radius = uniform();
        return random::normals(double{radius}, uniform() * 2.0);
    }
    void skip(u64 n) { jump(n, 0); }
    void skip_subsequences(u64 n) { jump(n, 76); }
    void skip_sequences(u64 n) { jump(n, 127); }

private:
    using Matrix = std::array<std::array<u64, 3>, 3>;
    // A product modulo M as rocRAND reduces it: for seeds above 32 bits it is not quite the remainder.
    template <u64 M>
    static u64 reduced(u64 p) {
        constexpr u64 c = (u64{1} << 32) - M;
        for (int i = 0; i < (M == kM1 ? 1 : 2); ++i) p = c * (p >> 32) + (p & 0xffffffffu);
        return p >= M ? p - M : p;
    }
    template <u64 M>
    static u64 seeded(u32 i, u64 j) {
        const u64 high = i / 131072, low = i % 131072;
        return static_cast<u32>(reduced<M>(reduced<M>(high * j) * 131072 + reduced<M>(low * j)));
    }
    template <u64 M>
    static Matrix times(const Matrix& p, const Matrix& q) {
        Matrix out = {};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 3; ++k) out[i][j] = (out[i][j] + p[i][k] * q[k][j] % M) % M;
        return out;
    }
    template <u64 M>
    static void apply(const Matrix& p, u64 (&v)[3]) {
        u64 out[3] = {};
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) out[i] = (out[i] + p[i][k] * v[k] % M) % M;
        std::memcpy(v, out, sizeof v);
    }
    struct Powers {
        Matrix first[191], second[191];
    };
    static const Powers& powers() {  // of both steps: 1, 2, 4, ... 2^190
        static const std::vector<Powers> made = [] {
            std::vector<Powers> out(1);
            Powers& p = out[0];
            p.first[0] = {{{0, 1, 0}, {0, 0, 1}, {kM1 - 810728, 1403580, 0}}};
            p.second[0] = {{{0, 1, 0}, {0, 0, 1}, {kM2 - 1370589, 0, 527612}}};
            for (int i = 1; i < 191; ++i) {
                p.first[i] = times<kM1>(p.first[i - 1], p.first[i - 1]);
                p.second[i] = times<kM2>(p.second[i - 1], p.second[i - 1]);
            }
            return out;
        }();
        return made[0];
    }
    void jump(u64 n, int power) {
        for (; n; n >>= 1, ++power)
            if (n & 1) apply<kM1>(powers().first[power], a), apply<kM2>(powers().second[power], b);
    }
};

template <class State>
using OfState = std::enable_if_t<std::is_base_of_v<Normals, State>, int>;

}  // namespace random
}  // namespace cu2port_sim

struct hiprandStatePhilox4_32_10 : cu2port_sim::random::Philox {};
struct hiprandStateXORWOW : cu2port_sim::random::Xorwow {};
struct hiprandStateMRG32k3a : cu2port_sim::random::Mrg32k3a {};
using hiprandStatePhilox4_32_10_t = hiprandStatePhilox4_32_10;
using hiprandStateXORWOW_t = hiprandStateXORWOW;
using hiprandStateMRG32k3a_t = hiprandStateMRG32k3a;
using hiprandState = hiprandStateXORWOW;
using hiprandState_t = hiprandStateXORWOW;

#define CU2PORT_SIM_RANDOM template <class State, cu2port_sim::random::OfState<State> = 0> inline

CU2PORT_SIM_RANDOM void hiprand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                     State* state) {
    state->init(seed, subsequence, offset);
}
CU2PORT_SIM_RANDOM void skipahead(unsigned long long n, State* state) { state->skip(n); }
CU2PORT_SIM_RANDOM void skipahead_sequence(unsigned long long n, State* state) { state->skip_sequences(n); }
inline void skipahead_subsequence(unsigned long long n, hiprandStateMRG32k3a_t* state) { state->skip_subsequences(n); }

CU2PORT_SIM_RANDOM unsigned hiprand(State* state) { return state->bits(); }
CU2PORT_SIM_RANDOM float hiprand_uniform(State* state) { return state->uniform(); }
CU2PORT_SIM_RANDOM double hiprand_uniform_double(State* state) { return state->uniform_double(); }
CU2PORT_SIM_RANDOM float2 hiprand_normal2(State* state) { return state->normals(); }
CU2PORT_SIM_RANDOM double2 hiprand_normal2_double(State* state) { return state->normals_double(); }
CU2PORT_SIM_RANDOM float hiprand_normal(State* state) {
    if ((state->has_float = !state->has_float)) {
        const float2 both = state->normals();
        state->next_float = both.y;
        return both.x;
    }
    return state->next_float;
}
CU2PORT_SIM_RANDOM double hiprand_normal_double(State* state) {
    if ((state->has_double = !state->has_double)) {
        const double2 both = state->normals_double();
        state->next_double = both.y;
        return both.x;
    }
    return static_cast<float>(state->next_double);  // rocRAND hands the second of a pair out as a float
}
CU2PORT_SIM_RANDOM float hiprand_log_normal(State* state, float mean, float deviation) {
    return std::exp(mean + deviation * hiprand_normal(state));
}
CU2PORT_SIM_RANDOM double hiprand_log_normal_double(State* state, double mean, double deviation) {
    return std::exp(mean + deviation * hiprand_normal_double(state));
}
CU2PORT_SIM_RANDOM float2 hiprand_log_normal2(State* state, float mean, float deviation) {
    const float2 n = state->normals();
    return make_float2(std::exp(mean + deviation * n.x), std::exp(mean + deviation * n.y));
}
CU2PORT_SIM_RANDOM double2 hiprand_log_normal2_double(State* state, double mean, double deviation) {
    const double2 n = state->normals_double();
    return make_double2(std::exp(mean + deviation * n.x), std::exp(mean + deviation * n.y));
}

// Four at once, which Philox alone has.
inline uint4 hiprand4(hiprandStatePhilox4_32_10_t* state) {
    const unsigned x = state->next(), y = state->next(), z = state->next();
    return make_uint4(x, y, z, state->next());
}
inline float4 hiprand_uniform4(hiprandStatePhilox4_32_10_t* state) {
    const float x = state->uniform(), y = state->uniform(), z = state->uniform();
    return make_float4(x, y, z, state->uniform());
}
inline double2 hiprand_uniform2_double(hiprandStatePhilox4_32_10_t* state) {
    const double x = state->uniform_double();
    return make_double2(x, state->uniform_double());
}
inline float4 hiprand_normal4(hiprandStatePhilox4_32_10_t* state) {
    const float2 x = state->normals(), y = state->normals();
    return make_float4(x.x, x.y, y.x, y.y);
}
inline float4 hiprand_log_normal4(hiprandStatePhilox4_32_10_t* state, float mean, float deviation) {
    const float2 x = hiprand_log_normal2(state, mean, deviation), y = hiprand_log_normal2(state, mean, deviation);
    return make_float4(x.x, x.y, y.x, y.y);
}
