// What hipRAND's functions of the device and of the host share: Philox4x32-10, and rocRAND's conversions of random bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../hip/hip_runtime.h"

#define ROCRAND_2POW32_INV (2.3283064e-10f)
#define ROCRAND_2POW32_INV_DOUBLE (2.3283064365386963e-10)
#define ROCRAND_2POW32_INV_2PI (1.46291807e-09f)
#define ROCRAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)
#define ROCRAND_2PI (6.2831855f)
#define ROCRAND_PI_DOUBLE (3.1415926535897932)

namespace cu2port_sim {
namespace random {

using u32 = std::uint32_t;

// What normal distributions leave for the next call: they are made in pairs. No bytes of a state are unused, since
// `cu2port trial` compares all.
struct Normals {
    bool has_float = false, has_double = false;
    std::uint16_t none = 0;
    float next_float = 0;
    double next_double = 0;
};

inline float uniform(u32 v) { return ROCRAND_2POW32_INV + static_cast<float>(v) * ROCRAND_2POW32_INV; }
inline double uniform_double(u32 low, u32 high) {
    const u64 v = low | (u64{high >> 11} << 32);
    return ROCRAND_2POW53_INV_DOUBLE + static_cast<double>(v) * ROCRAND_2POW53_INV_DOUBLE;
}
inline float2 normals(float radius, float angle) {  // Box and Muller
    const float s = std::sqrt(-2.0f * std::log(radius));
    return make_float2(std::sin(angle) * s, std::cos(angle) * s);
}
inline double2 normals(double radius, double half_turns) {
    const double s = std::sqrt(-2.0 * std::log(radius));
    return make_double2(std::sin(half_turns * ROCRAND_PI_DOUBLE) * s, std::cos(half_turns * ROCRAND_PI_DOUBLE) * s);
}

// What is made of 32 random bits: the same for Philox and XORWOW.
template <class Self>
struct FromBits : Normals {
    u32 bits() { return self().next(); }
    float uniform() { return random::uniform(bits()); }
    double uniform_double() {
        const u32 low = bits();
        return random::uniform_double(low, bits());
    }
    float2 normals() {
        const u32 x = bits(), y = bits();
        return random::normals(random::uniform(x), ROCRAND_2POW32_INV_2PI + static_cast<float>(y) * ROCRAND_2POW32_INV_2PI);
    }
    double2 normals_double() {
        const u32 x = bits(), y = bits(), z = bits(), w = bits();
        const u64 a = x ^ (u64{y} << 21), b = z ^ (u64{w} << 21);
        return random::normals(ROCRAND_2POW53_INV_DOUBLE + static_cast<double>(a) * ROCRAND_2POW53_INV_DOUBLE,
                               2 * ROCRAND_2POW53_INV_DOUBLE + static_cast<double>(b) * (2 * ROCRAND_2POW53_INV_DOUBLE));
    }

private:
    Self& self() { return static_cast<Self&>(*this); }
};

struct Philox : FromBits<Philox> {
    u32 counter[4] = {}, key[2] = {}, result[4] = {}, used = 0, none_too = 0;

    void init(u64 seed, u64 subsequence, u64 offset) {
        *this = Philox();
        key[0] = static_cast<u32>(seed), key[1] = static_cast<u32>(seed >> 32);
        skip_sequences(subsequence);
        skip(offset);
    }
    u32 next() {
        const u32 out = result[used];
        if (++used == 4) used = 0, advance(1), round();
        return out;
    }
    void skip(u64 n) {
        used += n & 3;
        advance(n / 4 + used / 4);
        used &= 3;
        round();
    }
    void skip_sequences(u64 n) {
        const u64 high = (u64{counter[3]} << 32 | counter[2]) + n;
        counter[2] = static_cast<u32>(high), counter[3] = static_cast<u32>(high >> 32);
        round();
    }

private:
    void advance(u64 n) {
        const u64 low = (u64{counter[1]} << 32 | counter[0]) + n;
        counter[0] = static_cast<u32>(low), counter[1] = static_cast<u32>(low >> 32);
        if (low < n && ++counter[2] == 0) ++counter[3];
    }
    void round() {
        u32 c[4] = {counter[0], counter[1], counter[2], counter[3]}, k0 = key[0], k1 = key[1];
        for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
            const u64 p = u64{0xD2511F53u} * c[0], q = u64{0xCD9E8D57u} * c[2];
            const u32 next[4] = {static_cast<u32>(q >> 32) ^ c[1] ^ k0, static_cast<u32>(q),
                                 static_cast<u32>(p >> 32) ^ c[3] ^ k1, static_cast<u32>(p)};
            std::memcpy(c, next, sizeof c);
        }
        std::memcpy(result, c, sizeof c);
    }
};

}  // namespace random
}  // namespace cu2port_sim
