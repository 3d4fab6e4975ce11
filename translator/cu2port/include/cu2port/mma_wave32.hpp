// cu2port mma_wave32: products by WMMA, on GPUs whose wavefronts of 32 lanes are one warp. Included by mma_matrix.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// WMMA multiplies 16 rows by 16 columns. A's rows are the instruction's columns, and B's 8 columns are its rows, each
// of them twice: so it multiplies nothing but what it is to, and half of the result is a copy.
//
// It takes no notice of lanes that are not there. PTX leaves open what `mma` does where a lane of the warp is missing,
// and the wavefront is the warp: so nothing is tested.
#ifndef CU2PORT_MMA_WAVE32_HPP
#define CU2PORT_MMA_WAVE32_HPP
#if CU2PORT_MMA_RDNA

namespace cu2port {
namespace mma {
namespace matrix {

// What lies where, by the bits of a lane's number, lowest first, and by registers; k0 is within a register (f16):
//   PTX:    A  k1 k2 m0 m1 m2 | m3 k3      B  k1 k2 n0 n1 n2 | k3        C  n1 n2 m0 m1 m2 | n0 m3
//   gfx11:  A  m2 m3 m0 m1 -  | k1 k2 k3   B  n1 n2 - n0 -   | k1 k2 k3  D  m2 m3 m0 m1 n1 | n2 - n0
//   gfx12:  A  m2 m3 m0 m1 k1 | k2 k3      B  n2 - n0 n1 k1  | k2 k3     D  m2 m3 m0 m1 n1 | n2 - n0
// So a bit of the lane's number changes places with one of the register's, and two bits of the lane's number do.

/// Of a bit for each lane, this lane's.
CU2PORT_MMA bool of_lane(u32 bits) {
#if defined(__has_builtin) && !defined(CU2PORT_SIM_WAVE)
#if __has_builtin(__builtin_amdgcn_inverse_ballot_w32)
    return __builtin_amdgcn_inverse_ballot_w32(bits);
#endif
#endif
    return bits >> warp::detail::wave_lane() & 1;
}

/// Bits 0 and 4 of the lane's number change places.
CU2PORT_MMA u32 swapped(u32 x) {
    const u32 other = u32(__builtin_amdgcn_permlanex16(int(x), int(x), 0x67452301, 0xefcdab89, true, false));
    return of_lane(0xaaaa5555u) ? x : other;
}
/// Bit 1 of the lane's number changes places with the number of the register.
CU2PORT_MMA void swap_halves(u32& x0, u32& x1) {
    const u32 low = warp::detail::across(x0, 2), high = warp::detail::across(x1, 2);
    const bool upper = of_lane(0xccccccccu);
    x0 = upper ? high : x0;
    x1 = upper ? x1 : low;
}

template <class T> CU2PORT_MMA T registers(const u32* words) {
    T out;
    __builtin_memcpy(&out, words, sizeof(T));
    return out;
}
template <class Acc> CU2PORT_MMA u32 bits_of(Acc x) {
    static_assert(sizeof(Acc) == 4, "one register");
    u32 out;
    __builtin_memcpy(&out, &x, 4);
    return out;
}
template <class Acc> CU2PORT_MMA Acc of_bits(u32 x) {
    Acc out;
    __builtin_memcpy(&out, &x, 4);
    return out;
}

// --- Instructions: `words` registers of PTX's B in each, from `least` of them on -------------------------------------

#ifdef CU2PORT_SIM_WAVE
typedef u16 half_type;
#else
typedef __fp16 half_type;
#endif
typedef half_type half8 __attribute__((vector_size(16)));
typedef half_type half16 __attribute__((vector_size(32)));
typedef ptx::s16 short16 __attribute__((vector_size(32)));

#if CU2PORT_MMA_RDNA == 3
// Half of an instruction is in vain, so v_dot4 and v_dot8 multiply integers as fast, and v_dot2 multiplies f16 so.
constexpr int registers_a_word = 4;
struct Halves {
    typedef ptx::f32x8 sums;
    static constexpr int words = 2, least = 2;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(registers<half16>(x), registers<half16>(y), c);
    }
};
struct Bfloats : Halves {
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(registers<short16>(x), registers<short16>(y), c);
    }
};
template <> struct Unit<Exact, f16, f16> : Halves {};
template <> struct Unit<Exact, bf16, bf16> : Bfloats {};
template <> struct Unit<Fast, bf16, bf16> : Bfloats {};
#else
constexpr int registers_a_word = 2;
struct Halves {
    typedef ptx::f32x8 sums;
    static constexpr int words = 2, least = 2;
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(registers<half8>(x), registers<half8>(y), c);
    }
};
struct Bfloats : Halves {
    static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {
        return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(registers<ptx::s16x8>(x), registers<ptx::s16x8>(y), c);
    }
};
template <> struct Unit<Exact, f16, f16> : Halves {};
template <> struct Unit<Exact, bf16, bf16> : Bfloats {};
template <> struct Unit<Fast, f16, f16> : Halves {};
template <> struct Unit<Fast, bf16, bf16> : Bfloats {};

struct Bytes {
    static constexpr int words = 1;
    typedef ptx::s32x2 operand;
};
#define CU2PORT_MMA_WMMA_FLOATS(a_type, b_type, name)                                                               \
    template <> struct Unit<SmallFloats, a_type, b_type> : Bytes {                                                  \
        typedef ptx::f32x8 sums;                                                                                    \
        static constexpr int least = 1;                                                                             \
        static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {                                         \
            return __builtin_amdgcn_wmma_f32_16x16x16_##name##_w32_gfx12(                                           \
                registers<operand>(x), registers<operand>(y), c);                                                   \
        }                                                                                                           \
    };
CU2PORT_MMA_WMMA_FLOATS(e4m3, e4m3, fp8_fp8)
CU2PORT_MMA_WMMA_FLOATS(e4m3, e5m2, bf8_fp8)  // B comes first
CU2PORT_MMA_WMMA_FLOATS(e5m2, e4m3, fp8_bf8)
CU2PORT_MMA_WMMA_FLOATS(e5m2, e5m2, bf8_bf8)
#undef CU2PORT_MMA_WMMA_FLOATS
#define CU2PORT_MMA_WMMA_INTEGERS(a_type, b_type, a_signed, b_signed, name)                                         \
    template <> struct Unit<Integers, a_type, b_type> : Bytes {                                                     \
        typedef ptx::s32x8 sums;                                                                                    \
        static constexpr int least = 2;                                                                             \
        static CU2PORT_MMA sums times(const u32* x, const u32* y, sums c) {                                         \
            return __builtin_amdgcn_wmma_i32_##name##_w32_gfx12(                                                    \
                b_signed, registers<operand>(x), a_signed, registers<operand>(y), c, false);                        \
        }                                                                                                           \
    };
CU2PORT_MMA_WMMA_INTEGERS(s8, s8, true, true, 16x16x16_iu8)
CU2PORT_MMA_WMMA_INTEGERS(s8, u8, true, false, 16x16x16_iu8)
CU2PORT_MMA_WMMA_INTEGERS(u8, s8, false, true, 16x16x16_iu8)
CU2PORT_MMA_WMMA_INTEGERS(u8, u8, false, false, 16x16x16_iu8)
CU2PORT_MMA_WMMA_INTEGERS(s4, s4, true, true, 16x16x32_iu4)
CU2PORT_MMA_WMMA_INTEGERS(s4, u4, true, false, 16x16x32_iu4)
CU2PORT_MMA_WMMA_INTEGERS(u4, s4, false, true, 16x16x32_iu4)
CU2PORT_MMA_WMMA_INTEGERS(u4, u4, false, false, 16x16x32_iu4)
#undef CU2PORT_MMA_WMMA_INTEGERS
#endif

// --- Exchange of A and B ---------------------------------------------------------------------------------------------

#if CU2PORT_MMA_RDNA == 3
CU2PORT_MMA void give_rows(u32 low, u32 high, u32* out) {
    const unsigned l = warp::detail::wave_lane(), rows = (l & 14) | (l & 1) << 4;
    swap_halves(low, high);
    for (unsigned k = 0; k < 4; ++k) out[k] = warp::detail::read(k < 2 ? low : high, rows + (k & 1));
}
CU2PORT_MMA void give_columns(u32 b, u32* out) {
    const unsigned l = warp::detail::wave_lane(), columns = (l >> 1 & 4) | (l & 3) << 3;
    for (unsigned k = 0; k < 4; ++k) out[k] = warp::detail::read(b, columns + k);
}
#else
CU2PORT_MMA void give_rows(u32 low, u32 high, u32* out) {
    low = swapped(low), high = swapped(high);
    swap_halves(low, high);
    out[0] = low, out[1] = high;
}
CU2PORT_MMA void give_columns(u32 b, u32* out) {
    b = swapped(b);
    out[0] = warp::detail::by_words(b, warp::detail::Dpp<0x44>());  // quad_perm:[0,1,0,1]
    out[1] = warp::detail::by_words(b, warp::detail::Dpp<0xee>());  // quad_perm:[2,3,2,3]
}
#endif

/// Multiplies into sums as WMMA has them.
template <class U_, int Steps, class W_>
CU2PORT_MMA void multiply_into(const Fragment<W_, 2 * Steps>& a, const Fragment<W_, Steps>& b,
    typename U_::sums& sums) {
    constexpr int wide = registers_a_word;
    for (int step = 0; step < Steps; step += U_::words) {
        u32 x[wide * U_::words] = {}, y[wide * U_::words] = {};  // what is beyond is zero in A and in B
        for (int i = 0; i < U_::words && step + i < Steps; ++i) {
            give_columns(b[step + i], x + wide * i);
            give_rows(a[2 * (step + i)], a[2 * (step + i) + 1], y + wide * i);
        }
        sums = U_::times(x, y, sums);
    }
}

// PTX's part of D, and back: registers 4 * n0 + n2, with copies in the next two.
template <class Acc, class V_> CU2PORT_MMA Fragment<Acc, 4> part_of(const V_& sums) {
    Fragment<Acc, 4> c;
    for (int i = 0; i < 2; ++i) {
        u32 low = bits_of(sums[4 * i]), high = bits_of(sums[4 * i + 1]);
        swap_halves(low, high);
        c[i] = of_bits<Acc>(swapped(low)), c[2 + i] = of_bits<Acc>(swapped(high));
    }
    return c;
}
template <class Acc, class V_> CU2PORT_MMA void put_part(const Fragment<Acc, 4>& c, V_& sums) {
    for (int i = 0; i < 2; ++i) {
        u32 low = swapped(bits_of(c[i])), high = swapped(bits_of(c[2 + i]));
        swap_halves(low, high);
        sums[4 * i] = sums[4 * i + 2] = of_bits<Acc>(low), sums[4 * i + 1] = sums[4 * i + 3] = of_bits<Acc>(high);
    }
}

template <class U_, int Steps, class W_, class T>
CU2PORT_MMA bool multiplied_tile(const Fragment<W_, 2 * Steps>& a, const Fragment<W_, Steps>& b, T& tile, Lanes) {
    multiply_into<U_, Steps>(a, b, tile.sums[0]);
    return true;
}

template <class U_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA bool multiply_all(const Fragment<W_, Rows * Steps>& a, const Fragment<W_, Steps>& b,
    Fragment<Acc, 2 * Rows>& c) {
    typename U_::sums sums = {};
    multiply_into<U_, Steps>(a, b, sums);
    const Fragment<Acc, 4> mine = part_of<Acc>(sums);
    for (int i = 0; i < 4; ++i) c[i] += mine[i];
    return true;
}

}  // namespace matrix

template <class Acc> struct Sums;
template <> struct Sums<float> { typedef ptx::f32x8 type; };
template <> struct Sums<ptx::s32> { typedef ptx::s32x8 type; };

/// Accumulators of 16 rows and 8 columns as WMMA keeps them between products.
template <class Acc> struct Tile {
    typename Sums<Acc>::type sums[1];

    CU2PORT_MMA void clear() { sums[0] = typename Sums<Acc>::type{}; }
    CU2PORT_MMA void from_ptx(const Fragment<Acc, 4>& c) { matrix::put_part(c, sums[0]); }
    CU2PORT_MMA Fragment<Acc, 4> to_ptx() const { return matrix::part_of<Acc>(sums[0]); }
    /// Of whole numbers, each as near to the sum as it has numbers.
    CU2PORT_MMA void add_clamped(const Tile& other) {
        for (int i = 0; i < 4; ++i) {
            const int at = (i & 2) << 1 | (i & 1);
            sums[0][at] = ptx::add_sat_s32(sums[0][at], other.sums[0][at]);
        }
    }
    /// Not the copies, which nobody reads.
    template <class F_> CU2PORT_MMA void each(F_ f) {
        for (int i = 0; i < 4; ++i) {
            Acc x = sums[0][(i & 2) << 1 | (i & 1)];
            f(x);
            sums[0][(i & 2) << 1 | (i & 1)] = x;
        }
    }
};

}  // namespace mma
}  // namespace cu2port

#endif  // CU2PORT_MMA_RDNA
#endif  // CU2PORT_MMA_WAVE32_HPP
