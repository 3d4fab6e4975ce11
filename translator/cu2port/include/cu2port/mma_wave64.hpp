// cu2port mma_wave64: products by MFMA, on GPUs whose wavefronts of 64 lanes are two warps. Included by mma_matrix.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// MFMA multiplies 16 rows by 16 columns for a wavefront, that is for two warps. Columns 0 to 7 are B's of the one warp
// and 8 to 15 of the other, and so are rows of A, 8 of each: products of one warp's rows and the other's columns are
// computed too, and not read. So nothing of a warp reaches the other, not even a NaN.
//
// MFMA takes no notice of lanes that are not there: it writes the registers of all. So this form needs all 64 lanes,
// which is tested in each product, or once where a loop begins that no lane leaves before the others (in_tiles), unless
// CU2PORT_MMA_FULL_WAVES promises it.
#ifndef CU2PORT_MMA_WAVE64_HPP
#define CU2PORT_MMA_WAVE64_HPP
#if CU2PORT_MMA_CDNA

namespace cu2port {
namespace mma {
namespace matrix {

#ifdef CU2PORT_SIM_WAVE
typedef ptx::u16x4 half4;
#else
typedef __fp16 half4 __attribute__((vector_size(8)));
#endif
template <class T> CU2PORT_MMA T pair(const u32* words) {
    static_assert(sizeof(T) == 8, "two words");
    T out;
    __builtin_memcpy(&out, words, 8);
    return out;
}

// Where element i of D lies: `row` of B, which is the instruction's first operand. Lane l has column l % 16.
// f64 has other rows than the rest.
struct Rows4 {  // 4 * (l / 16) + i
    static CU2PORT_MMA unsigned column_of(unsigned l) { return (l & 1) << 2 | (l << 1 & 24) | (l & 2) << 4 | l >> 4; }
};
struct Rows1 {  // l / 16 + 4 * i
    static CU2PORT_MMA unsigned column_of(unsigned l) { return (l & 4) | (l & 3) << 3 | (l & 8) << 2 | l >> 4; }
};

struct Floats : Rows4 {
    typedef ptx::f32x4 sums;
};
struct Halves : Floats {
    static constexpr int words = 2;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x16f16(pair<half4>(x), pair<half4>(y), c, 0, 0, 0);
    }
};
struct Bfloats : Floats {
    static constexpr int words = 2;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(pair<ptx::s16x4>(x), pair<ptx::s16x4>(y), c, 0, 0, 0);
    }
};
// gfx90a flushes denormals of f16 and bf16: just for who asks for speed.
#if CU2PORT_MMA_CDNA >= 3
template <> struct Unit<Exact, f16, f16> : Halves {};
template <> struct Unit<Exact, bf16, bf16> : Bfloats {};
#endif
template <> struct Unit<Fast, f16, f16> : Halves {};
template <> struct Unit<Fast, bf16, bf16> : Bfloats {};
template <> struct Unit<Exact, tf32, tf32> : Floats {
    static constexpr int words = 1;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x4f32(tf32::at(*x, 0), tf32::at(*y, 0), c, 0, 0, 0);
    }
};
template <> struct Unit<Integers, s8, s8> : Rows4 {
    typedef ptx::s32x4 sums;
#if CU2PORT_MMA_CDNA >= 3
    static constexpr int words = 2;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_mfma_i32_16x16x32_i8(pair<long>(x), pair<long>(y), c, 0, 0, 0);
    }
#else
    static constexpr int words = 1;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_mfma_i32_16x16x16i8(int(*x), int(*y), c, 0, 0, 0);
    }
#endif
};
template <> struct Unit<Exact, f64, f64> : Rows1 {
    typedef ptx::f64x4 sums;
    static constexpr int words = 1;
    static CU2PORT_MMA sums times(const double* x, const double* y, sums c) {
        return __builtin_amdgcn_mfma_f64_16x16x4f64(*x, *y, c, 0, 0, 0);
    }
};

/// Whether both warps of a wavefront are here, all their lanes.
CU2PORT_MMA bool together() {
#ifdef CU2PORT_MMA_FULL_WAVES
    return warp::detail::two();
#else
    return warp::detail::two() && __builtin_expect(__builtin_amdgcn_ballot_w64(true) == ~0ull, 1);
#endif
}

// `high` in the lanes whose bit 3 is set, else `low`
CU2PORT_MMA u32 upper_eights(u32 low, u32 high) {
    return u32(__builtin_amdgcn_update_dpp(int(low), int(high), 0xe4, 0xf, 0xc, false));
}
template <class T> CU2PORT_MMA T upper_eights(T low, T high) {
    u32 x[sizeof(T) / 4], y[sizeof(T) / 4];
    __builtin_memcpy(x, &low, sizeof(T));
    __builtin_memcpy(y, &high, sizeof(T));
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) x[i] = upper_eights(x[i], y[i]);
    __builtin_memcpy(&low, x, sizeof(T));
    return low;
}

/// Adds the products of both warps' A and B to their C.
template <class U_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA void multiply_both(const Fragment<W_, Rows * Steps>& a, const Fragment<W_, Steps>& b,
    Fragment<Acc, 2 * Rows>& c) {
    // The instruction's columns are rows of A, 8 of each warp, its rows columns of B: D's lane l has the row l % 8 (and
    // 8 more in the second half) of warp l / 8 % 2, in the columns 2 * (l / 16) and the next of warp 0, then of warp 1.
    const unsigned l = warp::detail::wave_lane();
    const unsigned row = (l & 15) << 2 | l >> 4, column = U_::column_of(l), result = (l & 3) << 4 | l >> 2;
    typename U_::sums sums[Rows] = {};
    for (int step = 0; step < Steps; step += U_::words) {
        W_ x[U_::words] = {}, y[Rows][U_::words] = {};
        for (int i = 0; i < U_::words && step + i < Steps; ++i) {
            x[i] = warp::detail::read(b[step + i], column);
            for (int half = 0; half < Rows; ++half) y[half][i] = warp::detail::read(a[Rows * (step + i) + half], row);
        }
        for (int half = 0; half < Rows; ++half) sums[half] = U_::times(x, y[half], sums[half]);
    }
    for (int half = 0; half < Rows; ++half)
        for (int i = 0; i < 2; ++i) {
            const Acc mine = upper_eights(Acc(sums[half][i]), Acc(sums[half][2 + i]));
            c[2 * half + i] += warp::detail::read(mine, result);
        }
}

/// Multiplies for both warps into a tile. False where a lane is missing.
template <class U_, int Steps, class W_, class T>
CU2PORT_MMA bool multiplied_tile(const Fragment<W_, 2 * Steps>& a, const Fragment<W_, Steps>& b, T& tile, Lanes lanes) {
    // The instruction's columns are 16 rows of A of one warp, its rows 8 columns of B of each.
    if (lanes != Lanes::whole && __builtin_expect(!together(), 0)) return false;
    const unsigned l = warp::detail::wave_lane(), from = (l & 7) << 2 | l >> 4 | (l & 8) << 2;
    for (int step = 0; step < Steps; step += U_::words) {
        W_ x[U_::words] = {}, y[2][U_::words] = {};
        for (int i = 0; i < U_::words && step + i < Steps; ++i) {
            x[i] = warp::detail::read(b[step + i], from);
            const W_ low = warp::detail::read(a[2 * (step + i)], from);
            const W_ high = warp::detail::read(a[2 * (step + i) + 1], from ^ 32);
            y[0][i] = upper_eights(low, high), y[1][i] = upper_eights(high, low);
        }
        for (int of = 0; of < 2; ++of) tile.sums[of] = U_::times(x, y[of], tile.sums[of]);
    }
    return true;
}

template <class U_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA bool multiply_all(const Fragment<W_, Rows * Steps>& a, const Fragment<W_, Steps>& b,
    Fragment<Acc, 2 * Rows>& c) {
    if (__builtin_expect(!together(), 0)) return false;
    multiply_both<U_, Rows, Steps>(a, b, c);
    return true;
}

}  // namespace matrix

template <class Acc> struct Sums;
template <> struct Sums<float> { typedef ptx::f32x4 type; };
template <> struct Sums<ptx::s32> { typedef ptx::s32x4 type; };

/// Accumulators of 16 rows and 8 columns as matrix instructions keep them between products: `sums[0]` counts in lanes
/// of warp 0, `sums[1]` in those of warp 1. Lane l has row l % 16 (warp 1: its upper and lower eight rows
/// exchanged) and the columns 4 * (l / 16 % 2) + i. So a warp has all that is its own, and needs no other to read it.
template <class Acc> struct Tile {
    typename Sums<Acc>::type sums[2];

    CU2PORT_MMA void clear() { sums[0] = sums[1] = typename Sums<Acc>::type{}; }
    // Two lanes read two registers of the same two lanes: each of those gives one in a round, and another in the next.
    CU2PORT_MMA void from_ptx(const Fragment<Acc, 4>& c) {
        const unsigned l = warp::detail::wave_lane(), upper = (l >> 3 ^ l >> 5) & 1;
        const unsigned pairs = (l & 32) | (l & 7) << 2 | (l >> 3 & 2);
        for (int i = 0; i < 2; ++i) {
            const Acc first = warp::detail::read(l & 1 ? c[2 + i] : c[i], pairs | upper);
            const Acc second = warp::detail::read(l & 1 ? c[i] : c[2 + i], pairs | (upper ^ 1));
            sums[0][i] = sums[1][i] = upper ? second : first;
            sums[0][2 + i] = sums[1][2 + i] = upper ? first : second;
        }
#ifndef CU2PORT_SIM_WAVE  // else the compiler keeps each element by itself, and moves them
        asm("" : "+v"(sums[0]), "+v"(sums[1]));
#endif
    }
    /// Of whole numbers, each as near to the sum as it has numbers. The other warp's is added too, and not read.
    CU2PORT_MMA void add_clamped(const Tile& other) {
        for (int of = 0; of < 2; ++of)
            for (int i = 0; i < 4; ++i) sums[of][i] = ptx::add_sat_s32(sums[of][i], other.sums[of][i]);
    }
    /// What a lane has of its own warp. `sums` of the other one takes the same: nobody reads it here.
    template <class F_> CU2PORT_MMA void each(F_ f) {
        const bool second = warp::detail::wave_lane() & 32;
        for (int i = 0; i < 4; ++i) {
            Acc x = second ? sums[1][i] : sums[0][i];
            f(x);
            sums[0][i] = sums[1][i] = x;
        }
    }
    CU2PORT_MMA Fragment<Acc, 4> to_ptx() const {
        const unsigned l = warp::detail::wave_lane();
        Acc mine[4];
        for (int i = 0; i < 4; ++i) mine[i] = l & 32 ? sums[1][i] : sums[0][i];
        const unsigned owner = (l & 32) | (l & 2) << 3 | (l >> 2 & 7), odd = l & 1, other = (l >> 5 ^ l) & 1;
        Fragment<Acc, 4> c;
        for (int i = 0; i < 2; ++i) {
            const Acc first = warp::detail::read(l & 8 ? mine[2 + i] : mine[i], owner | odd << 3);
            const Acc second = warp::detail::read(l & 8 ? mine[i] : mine[2 + i], owner | (odd ^ 1) << 3);
            c[i] = other ? second : first;
            c[2 + i] = other ? first : second;
        }
        return c;
    }
};

}  // namespace mma
}  // namespace cu2port

#endif  // CU2PORT_MMA_CDNA
#endif  // CU2PORT_MMA_WAVE64_HPP
