// hipRAND's functions of the host: all pseudo-random generators draw from Philox, so that the numbers are not rocRAND's.
// Quasi-random ones are refused when they are asked for numbers.
#pragma once

#include <random>

#include "bits.h"

enum hiprandStatus_t {
    HIPRAND_STATUS_SUCCESS = 0,
    HIPRAND_STATUS_VERSION_MISMATCH = 100,
    HIPRAND_STATUS_NOT_INITIALIZED,
    HIPRAND_STATUS_ALLOCATION_FAILED,
    HIPRAND_STATUS_TYPE_ERROR,
    HIPRAND_STATUS_OUT_OF_RANGE,
    HIPRAND_STATUS_LENGTH_NOT_MULTIPLE,
    HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED,
    HIPRAND_STATUS_LAUNCH_FAILURE = 201,
    HIPRAND_STATUS_PREEXISTING_FAILURE,
    HIPRAND_STATUS_INITIALIZATION_FAILED,
    HIPRAND_STATUS_ARCH_MISMATCH,
    HIPRAND_STATUS_INTERNAL_ERROR = 999,
    HIPRAND_STATUS_NOT_IMPLEMENTED
};

enum hiprandRngType_t {
    HIPRAND_RNG_TEST = 0,
    HIPRAND_RNG_PSEUDO_DEFAULT = 400,
    HIPRAND_RNG_PSEUDO_XORWOW,
    HIPRAND_RNG_PSEUDO_MRG32K3A,
    HIPRAND_RNG_PSEUDO_MTGP32,
    HIPRAND_RNG_PSEUDO_MT19937,
    HIPRAND_RNG_PSEUDO_PHILOX4_32_10,
    HIPRAND_RNG_QUASI_DEFAULT = 500,
    HIPRAND_RNG_QUASI_SOBOL32,
    HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL32,
    HIPRAND_RNG_QUASI_SOBOL64,
    HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64
};

enum hiprandOrdering_t {
    HIPRAND_ORDERING_PSEUDO_BEST = 100,
    HIPRAND_ORDERING_PSEUDO_DEFAULT,
    HIPRAND_ORDERING_PSEUDO_SEEDED,
    HIPRAND_ORDERING_PSEUDO_LEGACY,
    HIPRAND_ORDERING_PSEUDO_DYNAMIC,
    HIPRAND_ORDERING_QUASI_DEFAULT = 201
};

struct hiprandGenerator_st {
    hiprandRngType_t type;
    bool on_host;
    unsigned long long seed = 0, drawn = 0;  // numbers of 32 bits before the next
    hipStream_t stream = nullptr;
};
using hiprandGenerator_t = hiprandGenerator_st*;

namespace cu2port_sim {
namespace random {

// Calls write(state, at, place) for each place of an array, in its order; `draws`: what is drawn for each, of 32 bits.
template <class T, class F>
hiprandStatus_t generate(hiprandGenerator_t g, T* out, std::size_t n, u64 draws, F write) {
    if (g == nullptr) return HIPRAND_STATUS_NOT_INITIALIZED;
    if (n == 0) return HIPRAND_STATUS_SUCCESS;
    if (out == nullptr) return HIPRAND_STATUS_LAUNCH_FAILURE;
    if (g->type >= HIPRAND_RNG_QUASI_DEFAULT) return not_supported("hiprandGenerate of a quasi-random generator"), HIPRAND_STATUS_NOT_IMPLEMENTED;
    Philox first;
    const int type = g->type == HIPRAND_RNG_PSEUDO_DEFAULT ? HIPRAND_RNG_PSEUDO_XORWOW : g->type;
    first.init(g->seed ^ (u64(type) << 40), 0, g->drawn);
    g->drawn += n * draws;
    const auto work = [=]() -> int {
        Philox state = first;
        for (std::size_t i = 0; i < n; ++i) write(state, i, out);
        return hipSuccess;
    };
    if (g->on_host) return work(), HIPRAND_STATUS_SUCCESS;
    const auto on_device = [=]() -> int {
        const Found f = find_range(out);
        if (f.kind == 0 || reinterpret_cast<char*>(out + n) > static_cast<char*>(f.base) + f.size) {
            if (orders_work()) not_a_range(out, "hipRAND's numbers for more than its memory");
            return hipErrorInvalidValue;
        }
        if (orders_work()) touch(out, n * sizeof(T), true);
        return work();
    };
    return submit(g->stream, on_device, hipGraphNodeTypeKernel) ? HIPRAND_STATUS_LAUNCH_FAILURE : HIPRAND_STATUS_SUCCESS;
}

// Normal distributions come in pairs: the second of one is drawn with the first, and the last may be alone.
template <class T, class F>
hiprandStatus_t pairs(hiprandGenerator_t g, T* out, std::size_t n, u64 draws, F pair) {
    const u64 before = g ? g->drawn : 0;
    const hiprandStatus_t done = generate(g, out, n, draws, [=](Philox& state, std::size_t i, T* to) {
        if (i % 2) return;
        const auto two = pair(state);
        to[i] = two.x;
        if (i + 1 < n) to[i + 1] = two.y;
    });
    if (done == HIPRAND_STATUS_SUCCESS && n) g->drawn = before + (n + n % 2) * draws;
    return done;
}

struct Engine {  // as distributions of the C++ library want it
    using result_type = u32;
    Philox& state;
    static constexpr u32 min() { return 0; }
    static constexpr u32 max() { return 0xffffffffu; }
    u32 operator()() { return state.next(); }
};

inline hiprandStatus_t set(hiprandGenerator_t g) { return g ? HIPRAND_STATUS_SUCCESS : HIPRAND_STATUS_NOT_INITIALIZED; }

inline hiprandStatus_t create(hiprandGenerator_t* g, hiprandRngType_t type, bool on_host) {
    if (g == nullptr) return HIPRAND_STATUS_INTERNAL_ERROR;
    if (type < HIPRAND_RNG_PSEUDO_DEFAULT || type > HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64) return HIPRAND_STATUS_TYPE_ERROR;
    return *g = new hiprandGenerator_st{type, on_host}, HIPRAND_STATUS_SUCCESS;
}

}  // namespace random
}  // namespace cu2port_sim

inline hiprandStatus_t hiprandCreateGenerator(hiprandGenerator_t* g, hiprandRngType_t type) {
    return cu2port_sim::random::create(g, type, false);
}
inline hiprandStatus_t hiprandCreateGeneratorHost(hiprandGenerator_t* g, hiprandRngType_t type) {
    return cu2port_sim::random::create(g, type, true);
}
inline hiprandStatus_t hiprandDestroyGenerator(hiprandGenerator_t g) {
    const hiprandStatus_t known = cu2port_sim::random::set(g);
    return delete g, known;
}
inline hiprandStatus_t hiprandSetStream(hiprandGenerator_t g, hipStream_t s) {
    if (g) g->stream = s;
    return cu2port_sim::random::set(g);
}
inline hiprandStatus_t hiprandSetPseudoRandomGeneratorSeed(hiprandGenerator_t g, unsigned long long seed) {
    if (g) g->seed = seed, g->drawn = 0;
    return cu2port_sim::random::set(g);
}
inline hiprandStatus_t hiprandSetGeneratorOffset(hiprandGenerator_t g, unsigned long long offset) {
    if (g && (g->type == HIPRAND_RNG_PSEUDO_MTGP32 || g->type == HIPRAND_RNG_PSEUDO_MT19937)) return HIPRAND_STATUS_TYPE_ERROR;
    if (g) g->drawn = offset;
    return cu2port_sim::random::set(g);
}
inline hiprandStatus_t hiprandSetGeneratorOrdering(hiprandGenerator_t g, hiprandOrdering_t) {
    return cu2port_sim::random::set(g);
}
inline hiprandStatus_t hiprandSetQuasiRandomGeneratorDimensions(hiprandGenerator_t g, unsigned) {
    if (g && g->type < HIPRAND_RNG_QUASI_DEFAULT) return HIPRAND_STATUS_TYPE_ERROR;
    return cu2port_sim::random::set(g);
}
inline hiprandStatus_t hiprandGenerateSeeds(hiprandGenerator_t g) { return cu2port_sim::random::set(g); }
inline hiprandStatus_t hiprandGetVersion(int* version) {
    if (version == nullptr) return HIPRAND_STATUS_OUT_OF_RANGE;
    return *version = 300100, HIPRAND_STATUS_SUCCESS;
}

#define CU2PORT_SIM_DRAWS(name, type, draws, value)                                                               \
    inline hiprandStatus_t hiprandGenerate##name(hiprandGenerator_t g, type* out, size_t n) {                     \
        return cu2port_sim::random::generate(g, out, n, draws, [](auto& s, size_t i, type* to) { to[i] = value; }); \
    }
CU2PORT_SIM_DRAWS(, unsigned, 1, s.next())
CU2PORT_SIM_DRAWS(Char, unsigned char, 1, static_cast<unsigned char>(s.next()))
CU2PORT_SIM_DRAWS(Short, unsigned short, 1, static_cast<unsigned short>(s.next()))
CU2PORT_SIM_DRAWS(LongLong, unsigned long long, 2, s.next() | static_cast<unsigned long long>(s.next()) << 32)
CU2PORT_SIM_DRAWS(Uniform, float, 1, s.uniform())
CU2PORT_SIM_DRAWS(UniformDouble, double, 2, s.uniform_double())
#undef CU2PORT_SIM_DRAWS

#define CU2PORT_SIM_DRAWS(name, type, draws, pair, made)                                                                \
    inline hiprandStatus_t hiprandGenerate##name(hiprandGenerator_t g, type* out, size_t n, type mean, type deviation) { \
        return cu2port_sim::random::pairs(g, out, n, draws, [=](auto& s) {                                              \
            auto two = s.pair();                                                                                        \
            for (type* z : {&two.x, &two.y}) *z = mean + deviation * *z, *z = made;                                     \
            return two;                                                                                                 \
        });                                                                                                             \
    }
CU2PORT_SIM_DRAWS(Normal, float, 1, normals, *z)
CU2PORT_SIM_DRAWS(NormalDouble, double, 2, normals_double, *z)
CU2PORT_SIM_DRAWS(LogNormal, float, 1, normals, std::exp(*z))
CU2PORT_SIM_DRAWS(LogNormalDouble, double, 2, normals_double, std::exp(*z))
#undef CU2PORT_SIM_DRAWS

inline hiprandStatus_t hiprandGeneratePoisson(hiprandGenerator_t g, unsigned* out, size_t n, double lambda) {
    if (!(lambda > 0)) return HIPRAND_STATUS_OUT_OF_RANGE;
    return cu2port_sim::random::generate(g, out, n, 1, [=](cu2port_sim::random::Philox& s, size_t i, unsigned* to) {
        auto own = s;  // a sequence for each number, since some take more
        own.skip_sequences(i + 1), s.next();
        std::poisson_distribution<unsigned> among(lambda);
        cu2port_sim::random::Engine from{own};
        to[i] = among(from);
    });
}
