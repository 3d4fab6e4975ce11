// cu2port mma_volta: `mma.m8n8k4` on f16, four products of 8x4 and 4x8 at once. Included by mma.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// Each product belongs to a quad pair: the lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3. A lane holds four elements of
// A and of B: a row of A and a column of B if they are `row` and `col` in memory, else four of the quad's as columns of
// A and rows of B.
#ifndef CU2PORT_MMA_VOLTA_HPP
#define CU2PORT_MMA_VOLTA_HPP

namespace cu2port {
namespace mma {

// The 16-bit element of a quad's lane K that has this lane's number within the quad.
template <int K_> CU2PORT_MMA u32 turned(Fragment<u32, 2> x) {
    const u32 low = warp::detail::by_words(x[0], warp::detail::Dpp<0x55 * K_>());
    const u32 high = warp::detail::by_words(x[1], warp::detail::Dpp<0x55 * K_>());
    const u32 lane = warp::detail::wave_lane();
    return (lane & 2u ? high : low) >> (lane & 1u ? 16 : 0) & 0xffffu;
}
CU2PORT_MMA Fragment<u32, 2> transposed(Fragment<u32, 2> x) {
    return {turned<0>(x) | turned<1>(x) << 16, turned<2>(x) | turned<3>(x) << 16};
}

CU2PORT_MMA Fragment<u32, 2> of_lane(Fragment<u32, 2> x, unsigned lane) {
    return {warp::detail::read(x[0], lane), warp::detail::read(x[1], lane)};
}
CU2PORT_MMA float dot4(Fragment<u32, 2> row, Fragment<u32, 2> column, float c) {
    return Exact::dot(row[1], column[1], Exact::dot(row[0], column[0], c, f16(), f16()), f16(), f16());
}

// C and D in f16: this lane's row, all eight columns.
CU2PORT_MMA ptx::u32x4 multiply_quads(Fragment<u32, 2> a, Fragment<u32, 2> b, Fragment<u32, 4> c) {
    const unsigned pair = warp::detail::wave_lane() & ~19u;
    ptx::u32x4 d;
    for (int i = 0; i < 4; ++i) {
        const unsigned first = pair + (i & 2 ? 16u : 0u) + (i & 1 ? 2u : 0u);  // columns 2i and 2i + 1
        d[i] = pack(dot4(a, of_lane(b, first), f16_at(c[i], 0)), dot4(a, of_lane(b, first + 1), f16_at(c[i], 1)));
    }
    return d;
}

// C and D in f32: rows m and m + 2 of this half, m by the lane's bit 0; columns n, n + 1, n + 4, n + 5, n by its bit 1.
CU2PORT_MMA ptx::f32x8 multiply_quads(Fragment<u32, 2> a, Fragment<u32, 2> b, Fragment<float, 8> c) {
    const unsigned lane = warp::detail::wave_lane();
    Fragment<u32, 2> rows[2], columns[4];
    for (unsigned i = 0; i < 2; ++i) rows[i] = of_lane(a, (lane & ~2u) + 2 * i);
    for (unsigned i = 0; i < 4; ++i) columns[i] = of_lane(b, (lane & ~17u) + (i & 1u) + 16 * (i >> 1));
    ptx::f32x8 d;
    for (int i = 0; i < 8; ++i) d[i] = dot4(rows[i >> 1 & 1], columns[(i & 1) | (i >> 1 & 2)], c[i]);
    return d;
}

// C in f16 as f32's layout has it.
CU2PORT_MMA Fragment<float, 8> widened(Fragment<u32, 4> c) {
    const unsigned lane = warp::detail::wave_lane();
    Fragment<float, 8> out;
    for (unsigned row = 0; row < 2; ++row)
        for (unsigned high = 0; high < 2; ++high) {
            const unsigned from = (lane & ~2u) + 2 * row;
            const u32 first = warp::detail::read(c[2 * high], from), second = warp::detail::read(c[2 * high + 1], from);
            const u32 word = lane & 2u ? second : first;
            out[4 * high + 2 * row] = f16_at(word, 0), out[4 * high + 2 * row + 1] = f16_at(word, 1);
        }
    return out;
}

#define CU2PORT_MMA_QUADS(layouts, a_rows, b_columns)                                                                  \
    CU2PORT_MMA ptx::u32x4 m8n8k4_##layouts##_f16_f16_f16_f16(Fragment<u32, 2> a, Fragment<u32, 2> b,                  \
        Fragment<u32, 4> c) {                                                                                          \
        return multiply_quads(a_rows(a), b_columns(b), c);                                                             \
    }                                                                                                                  \
    CU2PORT_MMA ptx::f32x8 m8n8k4_##layouts##_f32_f16_f16_f32(Fragment<u32, 2> a, Fragment<u32, 2> b,                  \
        Fragment<float, 8> c) {                                                                                        \
        return multiply_quads(a_rows(a), b_columns(b), c);                                                             \
    }                                                                                                                  \
    CU2PORT_MMA ptx::f32x8 m8n8k4_##layouts##_f32_f16_f16_f16(Fragment<u32, 2> a, Fragment<u32, 2> b,                  \
        Fragment<u32, 4> c) {                                                                                          \
        return multiply_quads(a_rows(a), b_columns(b), widened(c));                                                    \
    }
CU2PORT_MMA_QUADS(row_col, , )
CU2PORT_MMA_QUADS(row_row, , transposed)
CU2PORT_MMA_QUADS(col_col, transposed, )
CU2PORT_MMA_QUADS(col_row, transposed, transposed)
#undef CU2PORT_MMA_QUADS

}  // namespace mma
}  // namespace cu2port

#endif  // CU2PORT_MMA_VOLTA_HPP
