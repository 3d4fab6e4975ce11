// cu2port mma_sparse: `mma.sp`, products with a sparse matrix A: two of four elements are stored. Included by mma.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// Metadata tells which. Each word of A that a lane holds stands for two words of the whole row. Instead of putting
// zeros into A, the elements of B that it is multiplied with are taken out of two words of B's column, by one v_perm:
// so what A leaves out is not multiplied, and an Inf there makes no NaN.
#ifndef CU2PORT_MMA_SPARSE_HPP
#define CU2PORT_MMA_SPARSE_HPP

namespace cu2port {
namespace mma {

// The bytes of two words that `which` names, a byte for each.
CU2PORT_MMA u32 chosen(u32 low, u32 high, u32 which) {
#ifdef CU2PORT_PTX_AMD
    return __builtin_amdgcn_perm(high, low, which);
#else
    const ptx::u64 both = ptx::u64(high) << 32 | low;
    u32 out = 0;
    for (int i = 0; i < 32; i += 8) out |= u32(both >> 8 * (which >> i & 7u) & 0xffu) << i;
    return out;
#endif
}

// f16, bf16, tf32: four bits for a word, the numbers of two halves of four. A lane has them for four words of rows g
// and g + 8: as bytes that `chosen` takes.
CU2PORT_MMA u32 bytes_of_halves(u32 metadata, int j, int row) {
    const u32 two = metadata >> (16 * row + 4 * j);
    return ((two & 3u) | (two & 12u) << 14) * 0x0202u + 0x01000100u;
}
// Lanes 2 * selector and 2 * selector + 1 of a quad have them for the first and the second half of k.
struct MetadataOfHalves {
    u32 word[2];
    CU2PORT_MMA MetadataOfHalves(u32 e, u32 selector) {
        const u32 here = selector ? warp::detail::by_words(e, warp::detail::Dpp<0xaa>())
                                  : warp::detail::by_words(e, warp::detail::Dpp<0x00>());
        const u32 next = selector ? warp::detail::by_words(e, warp::detail::Dpp<0xff>())
                                  : warp::detail::by_words(e, warp::detail::Dpp<0x55>());
        word[0] = here, word[1] = next;
    }
    CU2PORT_MMA u32 which(int step, int j, int row) const { return bytes_of_halves(word[step], j, row); }
};
// Where k is half as long, lane `selector` of a quad has them all.
struct MetadataOfOneLane {
    u32 word;
    CU2PORT_MMA MetadataOfOneLane(u32 e, u32 selector) {
        const u32 first = selector & 2u ? warp::detail::by_words(e, warp::detail::Dpp<0xaa>())
                                        : warp::detail::by_words(e, warp::detail::Dpp<0x00>());
        const u32 second = selector & 2u ? warp::detail::by_words(e, warp::detail::Dpp<0xff>())
                                         : warp::detail::by_words(e, warp::detail::Dpp<0x55>());
        word = selector & 1u ? second : first;
    }
    CU2PORT_MMA u32 which(int, int j, int row) const { return bytes_of_halves(word, j, row); }
};
// Elements of eight bits, and pairs of four: eight bits for a word. A lane has them for four words of one row: lanes 0
// and 2 of a quad of row g, 1 and 3 of row g + 8, for the halves of k.
struct MetadataOfBytes {
    u32 word[4];
    CU2PORT_MMA MetadataOfBytes(u32 e, u32) {
        word[0] = warp::detail::by_words(e, warp::detail::Dpp<0x00>());
        word[1] = warp::detail::by_words(e, warp::detail::Dpp<0x55>());
        word[2] = warp::detail::by_words(e, warp::detail::Dpp<0xaa>());
        word[3] = warp::detail::by_words(e, warp::detail::Dpp<0xff>());
    }
    CU2PORT_MMA u32 which(int step, int j, int row) const {
        const u32 four = word[2 * step + row] >> 8 * j;
        return ((four & 3u) | (four & 12u) << 6 | (four & 48u) << 12 | (four & 192u) << 18) + 0x04040000u;
    }
};

template <int J_, class How, class A_, class B_, class Metadata, class Acc, int N_>
CU2PORT_MMA void multiply_sparse_from(const Fragment<u32, N_>& a, const Fragment<u32, N_>& b, const Metadata& e,
    int step, unsigned from, Fragment<Acc, 4>& c) {
    for (int column = 0; column < 2; ++column) {
        const unsigned lane = from + 4 * column + 2 * (J_ & 1);
        const u32 low = warp::detail::read(b[2 * step + J_ / 2], lane);
        const u32 high = warp::detail::read(b[2 * step + J_ / 2], lane + 1);
        for (int row = 0; row < 2; ++row) {
            const u32 left = warp::detail::by_words(a[2 * step + row], warp::detail::Dpp<0x55 * J_>());
            Acc& sum = c[2 * row + column];
            sum = How::dot(left, chosen(low, high, e.which(step, J_, row)), sum, A_(), B_());
        }
    }
}

/// D of PTX's fragments of A, as it is held, B and C, in the accumulators' type.
template <class How, class A_, class B_, class Metadata, class Acc, int N_>
CU2PORT_MMA Fragment<Acc, 4> multiply_sparse(Fragment<u32, N_> a, Fragment<u32, N_> b, Fragment<Acc, 4> c, u32 e,
    u32 selector) {
    const unsigned lane = warp::detail::wave_lane(), from = (lane & ~31u) | (lane & 3u) << 3;
    const Metadata where(e, selector);
    for (int step = 0; step < N_ / 2; ++step) {
        multiply_sparse_from<0, How, A_, B_>(a, b, where, step, from, c);
        multiply_sparse_from<1, How, A_, B_>(a, b, where, step, from, c);
        multiply_sparse_from<2, How, A_, B_>(a, b, where, step, from, c);
        multiply_sparse_from<3, How, A_, B_>(a, b, where, step, from, c);
    }
    return c;
}

#define CU2PORT_MMA_SP_F32(shape, n, a_type, b_type, how, metadata)                                                    \
    CU2PORT_MMA ptx::f32x4 sp_##shape##_f32_##a_type##_##b_type##_f32(Fragment<u32, n> a, Fragment<u32, n> b,          \
        Fragment<float, 4> c, u32 e, u32 selector) {                                                                   \
        return vector(multiply_sparse<how, a_type, b_type, metadata>(a, b, c, e, selector));                           \
    }
#define CU2PORT_MMA_SP_F16(shape, n, a_type, b_type, how, metadata)                                                    \
    CU2PORT_MMA ptx::u32x2 sp_##shape##_f16_##a_type##_##b_type##_f16(Fragment<u32, n> a, Fragment<u32, n> b,          \
        Fragment<u32, 2> c, u32 e, u32 selector) {                                                                     \
        return halves(multiply_sparse<how, a_type, b_type, metadata>(a, b, widened(c), e, selector));                  \
    }
CU2PORT_MMA_SP_F32(m16n8k32, 4, f16, f16, Exact, MetadataOfHalves)
CU2PORT_MMA_SP_F16(m16n8k32, 4, f16, f16, Exact, MetadataOfHalves)
CU2PORT_MMA_SP_F32(m16n8k32, 4, bf16, bf16, Exact, MetadataOfHalves)
CU2PORT_MMA_SP_F32(m16n8k16, 4, tf32, tf32, Exact, MetadataOfHalves)
CU2PORT_MMA_SP_F32(m16n8k16, 2, f16, f16, Exact, MetadataOfOneLane)
CU2PORT_MMA_SP_F16(m16n8k16, 2, f16, f16, Exact, MetadataOfOneLane)
CU2PORT_MMA_SP_F32(m16n8k16, 2, bf16, bf16, Exact, MetadataOfOneLane)
CU2PORT_MMA_SP_F32(m16n8k8, 2, tf32, tf32, Exact, MetadataOfOneLane)
#define CU2PORT_MMA_SP_SMALL(a_type, b_type)                                 \
    CU2PORT_MMA_SP_F32(m16n8k64, 4, a_type, b_type, SmallFloats, MetadataOfBytes) \
    CU2PORT_MMA_SP_F16(m16n8k64, 4, a_type, b_type, SmallFloats, MetadataOfBytes)
#define CU2PORT_MMA_SP_SMALL_WITH(a_type)                                            \
    CU2PORT_MMA_SP_SMALL(a_type, e4m3) CU2PORT_MMA_SP_SMALL(a_type, e5m2)            \
    CU2PORT_MMA_SP_SMALL(a_type, e3m2) CU2PORT_MMA_SP_SMALL(a_type, e2m3)            \
    CU2PORT_MMA_SP_SMALL(a_type, e2m1)
CU2PORT_MMA_SP_SMALL_WITH(e4m3)
CU2PORT_MMA_SP_SMALL_WITH(e5m2)
CU2PORT_MMA_SP_SMALL_WITH(e3m2)
CU2PORT_MMA_SP_SMALL_WITH(e2m3)
CU2PORT_MMA_SP_SMALL_WITH(e2m1)
#undef CU2PORT_MMA_SP_SMALL_WITH
#undef CU2PORT_MMA_SP_SMALL
#undef CU2PORT_MMA_SP_F16
#undef CU2PORT_MMA_SP_F32

#define CU2PORT_MMA_SP_S32(shape, a_type, b_type)                                                                      \
    CU2PORT_MMA ptx::s32x4 sp_##shape##_s32_##a_type##_##b_type##_s32(Fragment<u32, 4> a, Fragment<u32, 4> b,          \
        Fragment<ptx::s32, 4> c, u32 e, u32 selector) {                                                                \
        Fragment<u32, 4> sum;                                                                                          \
        for (int i = 0; i < 4; ++i) sum[i] = u32(c[i]);                                                                \
        return vector(multiply_sparse<Integers, a_type, b_type, MetadataOfBytes>(a, b, sum, e, selector));             \
    }                                                                                                                  \
    CU2PORT_MMA ptx::s32x4 sp_##shape##_s32_##a_type##_##b_type##_s32_satfinite(Fragment<u32, 4> a,                    \
        Fragment<u32, 4> b, Fragment<ptx::s32, 4> c, u32 e, u32 selector) {                                            \
        Fragment<u32, 4> sum = {};                                                                                     \
        sum = multiply_sparse<Integers, a_type, b_type, MetadataOfBytes>(a, b, sum, e, selector);                      \
        for (int i = 0; i < 4; ++i) sum[i] = clamped(sum[i], u32(c[i]));                                               \
        return vector(sum);                                                                                            \
    }
CU2PORT_MMA_SP_S32(m16n8k64, s8, s8)
CU2PORT_MMA_SP_S32(m16n8k64, s8, u8)
CU2PORT_MMA_SP_S32(m16n8k64, u8, s8)
CU2PORT_MMA_SP_S32(m16n8k64, u8, u8)
CU2PORT_MMA_SP_S32(m16n8k128, s4, s4)
CU2PORT_MMA_SP_S32(m16n8k128, s4, u4)
CU2PORT_MMA_SP_S32(m16n8k128, u4, s4)
CU2PORT_MMA_SP_S32(m16n8k128, u4, u4)
#undef CU2PORT_MMA_SP_S32

}  // namespace mma
}  // namespace cu2port

#endif  // CU2PORT_MMA_SPARSE_HPP
