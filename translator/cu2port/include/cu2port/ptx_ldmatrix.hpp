// cu2port ptx_ldmatrix: ldmatrix, stmatrix and movmatrix of PTX, in its layout. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A matrix in shared memory has rows of 16 bytes. Lane r of a group of 8 (or 16) gives the address of row r; each lane
// fetches the addresses of the rows that its own elements are in from the lanes that have them. All 32 lanes of a warp
// come to the call; the other warp of the wavefront need not.
#ifndef CU2PORT_PTX_LDMATRIX_HPP
#define CU2PORT_PTX_LDMATRIX_HPP

#include "warp.hpp"

#ifdef __clang__  // lanes whose address is not asked for need not have set it
#define CU2PORT_PTX_VALUE __attribute__((maybe_undef))
#else
#define CU2PORT_PTX_VALUE
#endif
#define CU2PORT_PTX_LANES __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace ptx {
namespace matrix {

// An address in shared memory in as few words as lanes need to exchange.
#ifdef __HIP_DEVICE_COMPILE__
typedef u32 Row;
#else
typedef u64 Row;
#endif
template <class A_> CU2PORT_PTX_LANES Row row_of(CU2PORT_PTX_VALUE A_ p, u32 lane) {
    return warp::shfl(~0u, Row(ptx::address(p)), int(lane));
}

// Where a lane is in a fragment: 8 rows of 4 lanes.
CU2PORT_PTX_LANES u32 group() { return warp::lane_id() >> 2; }
CU2PORT_PTX_LANES u32 member() { return warp::lane_id() & 3; }

template <class V_> CU2PORT_PTX_LANES void set(V_& v, int i, u32 word) { v[i] = word; }
template <> CU2PORT_PTX_LANES void set<u32>(u32& v, int, u32 word) { v = word; }
template <class V_> CU2PORT_PTX_LANES u32 get(const V_& v, int i) { return v[i]; }
template <> CU2PORT_PTX_LANES u32 get<u32>(const u32& v, int) { return v; }

// Four elements of 4 or 6 bits that begin at element `first` of a row, in a byte each.
CU2PORT_PTX_LANES u32 spread4(u32 low) {
    return (low & 0xf) | (low & 0xf0) << 4 | (low & 0xf00) << 8 | (low & 0xf000) << 12;
}
CU2PORT_PTX_LANES u32 spread6(u32 low) {
    return (low & 0x3f) | (low & 0xfc0) << 2 | (low & 0x3f000) << 4 | (low & 0xfc0000) << 6;
}

// One element of a row, of 8, 6 or 4 bits.
template <int Bits> CU2PORT_PTX_LANES u32 element(Row row, u32 column) {
    if (Bits == 8) return ld_shared<u8>(row + column);
    const u32 at = column * Bits, byte = at >> 3;
    u32 bits = ld_shared<u8>(row + byte);
    if (Bits == 6) bits |= u32(ld_shared<u8>(row + byte + 1)) << 8;  // a row's padding follows its last element
    return bits >> (at & 7) & ((1u << Bits) - 1);
}

}  // namespace matrix

// Each lane gets two neighbours of a row: row lane / 4, columns 2 * (lane % 4) and the next. `V`: a word for a matrix.
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m8n8_b16(CU2PORT_PTX_VALUE A_ p) {
    V_ out = {};
    for (int i = 0; i < int(sizeof(V_) / 4); ++i)
        matrix::set(out, i, ld_shared<u32>(matrix::row_of(p, 8 * i + matrix::group()) + 4 * matrix::member()));
    return out;
}

// Of the transposed matrix the same: column lane / 4 of two rows.
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m8n8_trans_b16(CU2PORT_PTX_VALUE A_ p) {
    V_ out = {};
    for (int i = 0; i < int(sizeof(V_) / 4); ++i) {
        const u32 lane = 8 * i + 2 * matrix::member(), column = 2 * matrix::group();
        const u32 low = ld_shared<u16>(matrix::row_of(p, lane) + column);
        matrix::set(out, i, low | u32(ld_shared<u16>(matrix::row_of(p, lane + 1) + column)) << 16);
    }
    return out;
}

// 16 elements of 4 or 6 bits a row, widened to bytes: row lane / 4, columns from 4 * (lane % 4) on.
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m8n16_b4x16_p64(CU2PORT_PTX_VALUE A_ p) {
    V_ out = {};
    for (int i = 0; i < int(sizeof(V_) / 4); ++i) {
        const matrix::Row row = matrix::row_of(p, 8 * i + matrix::group());
        matrix::set(out, i, matrix::spread4(ld_shared<u16>(row + 2 * matrix::member())));
    }
    return out;
}
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m8n16_b6x16_p32(CU2PORT_PTX_VALUE A_ p) {
    V_ out = {};
    for (int i = 0; i < int(sizeof(V_) / 4); ++i) {
        const matrix::Row at = matrix::row_of(p, 8 * i + matrix::group()) + 3 * matrix::member();
        const u32 low = ld_shared<u8>(at), middle = ld_shared<u8>(at + 1), high = ld_shared<u8>(at + 2);
        matrix::set(out, i, matrix::spread6(low | middle << 8 | high << 16));
    }
    return out;
}

// 16 rows of 16 elements, transposed, two words a matrix: rows from 4 * (lane % 4) on of column lane / 4, and of that
// plus 8.
namespace matrix {
template <int Bits, class V_, class A_> CU2PORT_PTX_LANES V_ load_16_by_16(CU2PORT_PTX_VALUE A_ p) {
    V_ out = {};
    for (int i = 0; i < int(sizeof(V_) / 8); ++i) {
        u32 low = 0, high = 0;
        for (int j = 0; j < 4; ++j) {
            const Row row = row_of(p, 16 * i + 4 * member() + j);
            low |= element<Bits>(row, group()) << 8 * j;
            high |= element<Bits>(row, group() + 8) << 8 * j;
        }
        set(out, 2 * i, low);
        set(out, 2 * i + 1, high);
    }
    return out;
}
}  // namespace matrix
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m16n16_trans_b8(CU2PORT_PTX_VALUE A_ p) {
    return matrix::load_16_by_16<8, V_>(p);
}
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m16n16_trans_b4x16_p64(CU2PORT_PTX_VALUE A_ p) {
    return matrix::load_16_by_16<4, V_>(p);
}
template <class V_, class A_> CU2PORT_PTX_LANES V_ ldmatrix_m16n16_trans_b6x16_p32(CU2PORT_PTX_VALUE A_ p) {
    return matrix::load_16_by_16<6, V_>(p);
}

// The other way: where ldmatrix reads, it writes.
template <class V_, class A_> CU2PORT_PTX_LANES void stmatrix_m8n8_b16(CU2PORT_PTX_VALUE A_ p, V_ v) {
    for (int i = 0; i < int(sizeof(V_) / 4); ++i)
        st_shared(matrix::row_of(p, 8 * i + matrix::group()) + 4 * matrix::member(), matrix::get(v, i));
}
template <class V_, class A_> CU2PORT_PTX_LANES void stmatrix_m8n8_trans_b16(CU2PORT_PTX_VALUE A_ p, V_ v) {
    for (int i = 0; i < int(sizeof(V_) / 4); ++i) {
        const u32 lane = 8 * i + 2 * matrix::member(), column = 2 * matrix::group(), word = matrix::get(v, i);
        st_shared(matrix::row_of(p, lane) + column, u16(word));
        st_shared(matrix::row_of(p, lane + 1) + column, u16(word >> 16));
    }
}
// A matrix of 16 rows and 8 columns, which lies transposed in 8 rows of 16 bytes.
template <class V_, class A_> CU2PORT_PTX_LANES void stmatrix_m16n8_trans_b8(CU2PORT_PTX_VALUE A_ p, V_ v) {
    for (int i = 0; i < int(sizeof(V_) / 4); ++i) {
        const u32 lane = 8 * i + 2 * matrix::member(), word = matrix::get(v, i);
        for (int j = 0; j < 2; ++j) {
            const matrix::Row row = matrix::row_of(p, lane + j) + matrix::group();
            st_shared(row, u8(word >> 8 * j));
            st_shared(row + 8, u8(word >> (16 + 8 * j)));
        }
    }
}

// The transposed matrix of one that is spread over the lanes.
CU2PORT_PTX_LANES u32 movmatrix_m8n8_trans_b16(u32 a) {
    const u32 lane = 8 * matrix::member() + (warp::lane_id() >> 3), shift = (matrix::group() & 1) * 16;
    const u32 low = warp::shfl(~0u, a, int(lane)) >> shift, high = warp::shfl(~0u, a, int(lane + 4)) >> shift;
    return (low & 0xffff) | high << 16;
}

}  // namespace ptx
}  // namespace cu2port

#undef CU2PORT_PTX_LANES
#undef CU2PORT_PTX_VALUE
#endif  // CU2PORT_PTX_LDMATRIX_HPP
