// cu2port mma: PTX's `mma`, the product of two small matrices that a warp holds, for code that had it as inline PTX.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A function is named after its instruction: `m16n8k16_f32_bf16_bf16_f32` is `mma.sync.aligned.m16n8k16.row.col` with
// these types of D, A, B and C. Each lane gives its registers as PTX's manual orders them and gets its part of D; the
// 32 lanes of a warp come together, on wavefronts of 32 and of 64 lanes, whatever the other half does.
//
// Numbers: products are exact; they are added in a fixed order of k, each addition rounded to nearest (f32 sums for all
// small floats, also where C and D are f16, which are rounded once at the end). NVIDIA's GPUs add in another order and
// round otherwise. Denormals are kept. Integers are exact and wrap around, or are clamped where `satfinite` says so.
// Functions that end in `_fast` add two products at a time where the GPU can (v_dot2), which may flush denormals.
#ifndef CU2PORT_MMA_HPP
#define CU2PORT_MMA_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include "names_off.hpp"
#include "ptx.hpp"
#include "warp.hpp"

#ifdef __HIP__
#define CU2PORT_MMA __device__ inline __attribute__((__always_inline__))

namespace cu2port {
namespace mma {

using ptx::u16;
using ptx::u32;

/// A lane's registers of one matrix
template <class T, int N_> struct Fragment {
    T word[N_];
    CU2PORT_MMA T& operator[](int i) { return word[i]; }
    CU2PORT_MMA const T& operator[](int i) const { return word[i]; }
};

// --- Elements: `count` in a register, each of them exactly in float or double ----------------------------------------

CU2PORT_MMA float f16_at(u32 word, int i) { return ptx::cvt_f32_f16(u16(word >> 16 * i)); }
struct f16 {
    static constexpr int count = 2;
    static CU2PORT_MMA float at(u32 word, int i) { return f16_at(word, i); }
};
struct bf16 {
    static constexpr int count = 2;
    static CU2PORT_MMA float at(u32 word, int i) { return ptx::of_bits(i ? word & 0xffff0000u : word << 16); }
};
struct tf32 {  // the low 13 bits of a register do not count
    static constexpr int count = 1;
    static CU2PORT_MMA float at(u32 word, int) { return ptx::of_bits(word & 0xffffe000u); }
};
struct f64 {};
struct s8 {};
struct u8 {};
struct s4 {};
struct u4 {};
struct b1 {};

// Floats of eight bits and less; f16 holds each of them: `halves` makes an f16 of each even or odd byte. Their
// bits go into the fields of an f16, whose exponents count from elsewhere; a product with a power of two puts it right.
CU2PORT_MMA u32 placed(u32 bytes, u32 sign, u32 rest, int to_sign, int to_rest, u32 powers) {
    return ptx::mul_rn_f16x2((bytes & sign) << to_sign | (bytes & rest) << to_rest, powers);
}
struct e5m2 {
    static CU2PORT_MMA u32 halves(u32 word, int odd) { return odd ? word & 0xff00ff00u : word << 8 & 0xff00ff00u; }
};
struct e4m3 {
    static CU2PORT_MMA u32 halves(u32 word, int odd) {
        const u32 bytes = odd ? word >> 8 : word;
        const u32 nan = ((bytes & 0x007f007fu) + 0x00010001u) & 0x00800080u;  // where all bits but the sign are set
        return placed(bytes, 0x00800080u, 0x007f007fu, 8, 7, 0x5c005c00u) | ((nan << 8) - (nan << 3));
    }
};
struct e3m2 {  // six bits of a byte
    static CU2PORT_MMA u32 halves(u32 word, int odd) {
        return placed(odd ? word >> 8 : word, 0x00200020u, 0x001f001fu, 10, 8, 0x6c006c00u);
    }
};
struct e2m3 {
    static CU2PORT_MMA u32 halves(u32 word, int odd) {
        return placed(odd ? word >> 8 : word, 0x00200020u, 0x001f001fu, 10, 7, 0x74007400u);
    }
};
struct e2m1 {  // bits 2 to 5 of a byte: an e2m3 whose low bits do not count
    static CU2PORT_MMA u32 halves(u32 word, int odd) {
        return placed(odd ? word >> 8 : word, 0x00200020u, 0x001c001cu, 10, 7, 0x74007400u);
    }
};

// Sums of f16, as they are added in, and as PTX has them.
CU2PORT_MMA u32 pack(float low, float high) { return u32(ptx::f16_rn(high)) << 16 | ptx::f16_rn(low); }
CU2PORT_MMA Fragment<float, 4> widened(Fragment<u32, 2> c) {
    return {f16_at(c[0], 0), f16_at(c[0], 1), f16_at(c[1], 0), f16_at(c[1], 1)};
}
CU2PORT_MMA Fragment<u32, 2> paired(Fragment<float, 4> d) { return {pack(d[0], d[1]), pack(d[2], d[3])}; }

// --- Sums of products of two registers' elements, and c -------------------------------------------------------------

// As the manual has it, one product at a time.
struct Exact {
    template <class A_, class B_> static CU2PORT_MMA float dot(u32 a, u32 b, float c, A_, B_) {
        for (int i = 0; i < A_::count; ++i) c = __builtin_fmaf(A_::at(a, i), B_::at(b, i), c);
        return c;
    }
    static CU2PORT_MMA double dot(double a, double b, double c, f64, f64) { return __builtin_fma(a, b, c); }
};
// Two at a time, where there is an instruction.
struct Fast : Exact {
    using Exact::dot;
#if defined(CU2PORT_PTX_AMD) && (defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || \
    defined(__gfx942__) || defined(__gfx950__) || defined(__GFX11__) || defined(__GFX12__))
    static CU2PORT_MMA float dot(u32 a, u32 b, float c, f16, f16) {
        return __builtin_amdgcn_fdot2(ptx::half_of(a), ptx::half_of(b), c, false);
    }
#endif
};
template <ptx::rounding Mode> struct Rounded {
    static CU2PORT_MMA double dot(double a, double b, double c, f64, f64) { return ptx::fma_directed(a, b, c, Mode); }
};

// Small floats: as f16, even and odd bytes.
struct SmallFloats {
    template <class A_, class B_> static CU2PORT_MMA float dot(u32 a, u32 b, float c, A_, B_) {
        c = Exact::dot(A_::halves(a, 0), B_::halves(b, 0), c, f16(), f16());
        return Exact::dot(A_::halves(a, 1), B_::halves(b, 1), c, f16(), f16());
    }
};

struct Integers {
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, s8, s8) { return ptx::sum_of_products<ptx::s8, ptx::s8>(a, b, c); }
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, u8, u8) { return ptx::sum_of_products<ptx::u8, ptx::u8>(a, b, c); }
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, s8, u8) { return mixed(a, b, c); }
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, u8, s8) { return mixed(b, a, c); }
    // An unsigned byte is a signed one plus 128.
    static CU2PORT_MMA u32 mixed(u32 a, u32 b, u32 c) {
#if defined(CU2PORT_PTX_AMD) && !defined(__GFX11__) && !defined(__GFX12__)
        const u32 moved = dot(a, 0x01010101u, 0, s8(), s8());
        return dot(a, b ^ 0x80808080u, c + (moved << 7), s8(), s8());
#else
        return ptx::sum_of_products<ptx::s8, ptx::u8>(a, b, c);
#endif
    }
#if defined(CU2PORT_PTX_AMD) && (defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || \
    defined(__gfx942__) || defined(__gfx950__))
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, s4, s4) {
        return u32(__builtin_amdgcn_sdot8(ptx::s32(a), ptx::s32(b), ptx::s32(c), false));
    }
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, u4, u4) { return __builtin_amdgcn_udot8(a, b, c, false); }
    // An unsigned number of four bits is a signed one plus 8.
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, s4, u4) {
        const u32 moved = dot(a, 0x11111111u, 0, s4(), s4());
        return dot(a, b ^ 0x88888888u, c + (moved << 3), s4(), s4());
    }
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, u4, s4) { return dot(b, a, c, s4(), u4()); }
#elif defined(CU2PORT_PTX_AMD) && (defined(__GFX11__) || defined(__GFX12__))
    template <class A_, class B_> static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, A_, B_) {
        const ptx::s32 x = ptx::s32(a), y = ptx::s32(b);
        return u32(__builtin_amdgcn_sudot8(is_signed(A_()), x, is_signed(B_()), y, ptx::s32(c), false));
    }
    static constexpr CU2PORT_MMA bool is_signed(s4) { return true; }
    static constexpr CU2PORT_MMA bool is_signed(u4) { return false; }
#else
    static CU2PORT_MMA u32 at(u32 word, int i, s4) { return u32(ptx::s32(word << (28 - 4 * i)) >> 28); }
    static CU2PORT_MMA u32 at(u32 word, int i, u4) { return word >> 4 * i & 15u; }
    template <class A_, class B_> static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, A_ x, B_ y) {
        for (int i = 0; i < 8; ++i) c += at(a, i, x) * at(b, i, y);
        return c;
    }
#endif
};
struct Xor {  // how many bits differ
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, b1, b1) { return c + ptx::popc(a ^ b); }
};
struct And {
    static CU2PORT_MMA u32 dot(u32 a, u32 b, u32 c, b1, b1) { return c + ptx::popc(a & b); }
};

}  // namespace mma
}  // namespace cu2port

#include "mma_matrix.hpp"

namespace cu2port {
namespace mma {

// --- m16n8 and m8n8: A and B of a warp, by the registers of others ---------------------------------------------------

// A lane's part of D has one or two rows, which the four lanes of its quad hold of A, and two columns of B, which two
// other quads hold. For each register of B and each lane j of a quad: those lanes' registers, times each other.
template <int J_, class How, class A_, class B_, int Rows, class W_, class Acc>
CU2PORT_MMA void multiply_from(const W_* a, W_ b, unsigned from, Acc* c) {
    W_ left[Rows];
    for (int row = 0; row < Rows; ++row) left[row] = warp::detail::by_words(a[row], warp::detail::Dpp<0x55 * J_>());
    for (int column = 0; column < 2; ++column) {
        const W_ right = warp::detail::read(b, from + 4 * column + J_);
        for (int row = 0; row < Rows; ++row) {
            Acc& sum = c[2 * row + column];
            sum = How::dot(left[row], right, sum, A_(), B_());
        }
    }
}

template <class How, class A_, class B_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA Fragment<Acc, 2 * Rows> by_vectors(Fragment<W_, Rows * Steps> a, Fragment<W_, Steps> b,
    Fragment<Acc, 2 * Rows> c) {
    const unsigned lane = warp::detail::wave_lane(), from = (lane & ~31u) | (lane & 3u) << 3;
    for (int step = 0; step < Steps; ++step) {
        const W_* const rows = a.word + Rows * step;
        multiply_from<0, How, A_, B_, Rows>(rows, b[step], from, c.word);
        multiply_from<1, How, A_, B_, Rows>(rows, b[step], from, c.word);
        multiply_from<2, How, A_, B_, Rows>(rows, b[step], from, c.word);
        multiply_from<3, How, A_, B_, Rows>(rows, b[step], from, c.word);
    }
    return c;
}

/// The same in little code, beside a matrix instruction: all of a loop's products are to be unrolled.
template <class How, class A_, class B_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA Fragment<Acc, 2 * Rows> by_few_vectors(Fragment<W_, Rows * Steps> a, Fragment<W_, Steps> b,
    Fragment<Acc, 2 * Rows> c) {
    const unsigned lane = warp::detail::wave_lane(), from = (lane & ~31u) | (lane & 3u) << 3;
#pragma clang loop unroll(disable)
    for (unsigned j = 0; j < 4; ++j)
        for (int step = 0; step < Steps; ++step) {
            const W_ right[2] = {warp::detail::read(b[step], from + j), warp::detail::read(b[step], from + j + 4)};
            for (int row = 0; row < Rows; ++row) {
                const W_ left = warp::detail::read(a[Rows * step + row], (lane & ~3u) + j);
                for (int column = 0; column < 2; ++column)
                    c[2 * row + column] = How::dot(left, right[column], c[2 * row + column], A_(), B_());
            }
        }
    return c;
}

/// D of PTX's fragments of A, B and C, in the accumulators' type: `How` multiplies, `Rows` is 1 for m8 and 2 for m16.
template <class How, class A_, class B_, int Rows, int Steps, class W_, class Acc>
CU2PORT_MMA Fragment<Acc, 2 * Rows> multiply(Fragment<W_, Rows * Steps> a, Fragment<W_, Steps> b,
    Fragment<Acc, 2 * Rows> c) {
    typedef matrix::Unit<How, A_, B_> Unit;
    constexpr int words = matrix::words_of<Unit>(Rows, Steps);
    const bool done = matrix::multiplied<Unit, Rows, Steps>(a, b, c, matrix::Words<words>());
    if (__builtin_expect(done, words != 0)) return c;
    if (words != 0) return by_few_vectors<How, A_, B_, Rows, Steps>(a, b, c);
    return by_vectors<How, A_, B_, Rows, Steps>(a, b, c);
}

CU2PORT_MMA ptx::f32x4 vector(Fragment<float, 4> d) { return ptx::f32x4{d[0], d[1], d[2], d[3]}; }
CU2PORT_MMA ptx::f64x2 vector(Fragment<double, 2> d) { return ptx::f64x2{d[0], d[1]}; }
CU2PORT_MMA ptx::f64x4 vector(Fragment<double, 4> d) { return ptx::f64x4{d[0], d[1], d[2], d[3]}; }
CU2PORT_MMA ptx::s32x2 vector(Fragment<u32, 2> d) { return ptx::s32x2{ptx::s32(d[0]), ptx::s32(d[1])}; }
CU2PORT_MMA ptx::s32x4 vector(Fragment<u32, 4> d) {
    return ptx::s32x4{ptx::s32(d[0]), ptx::s32(d[1]), ptx::s32(d[2]), ptx::s32(d[3])};
}

// What accumulators are added in.
template <class Acc> struct Summed { typedef Acc type; };
template <> struct Summed<ptx::s32> { typedef u32 type; };
template <class To, class From> CU2PORT_MMA Fragment<To, 4> as(Fragment<From, 4> x) {
    return {To(x[0]), To(x[1]), To(x[2]), To(x[3])};
}

// Where there is a matrix instruction. What lanes that are missing take is here once: each product of an unrolled loop
// has a copy for the compiler to read.
template <class How, class A_, class B_, int Steps, int N_, class W_, class Acc, class Sum>
CU2PORT_MMA Fragment<Sum, 4> product_into(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Sum, 4> c,
    Into<Acc> into, matrix::Words<N_>) {
    typedef matrix::Unit<How, A_, B_> Unit;
    constexpr int words = matrix::words_of<Unit>(2, Steps);
    Fragment<Sum, 4> sum = c;
    if (into.kept) {
        if (__builtin_expect(matrix::multiplied_tile<Unit, Steps>(a, b, *into.tile, into.lanes), 1)) return c;
        sum = as<Sum>(into.tile->to_ptx());
    } else if (into.lanes != Lanes::apart) {
        if (words == 0) return by_vectors<How, A_, B_, 2, Steps>(a, b, c);
        if (__builtin_expect(matrix::multiplied<Unit, 2, Steps>(a, b, sum, matrix::Words<words>()), 1)) return sum;
    }
    sum = by_few_vectors<How, A_, B_, 2, Steps>(a, b, sum);
    if (!into.kept) return sum;
    into.tile->from_ptx(as<Acc>(sum));
    return c;
}
template <class How, class A_, class B_, int Steps, class W_, class Acc, class Sum>
CU2PORT_MMA Fragment<Sum, 4> product_into(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Sum, 4> c,
    Into<Acc> into, matrix::Words<0>) {
    if (!into.kept) return by_vectors<How, A_, B_, 2, Steps>(a, b, c);
    into.tile->from_ptx(as<Acc>(by_vectors<How, A_, B_, 2, Steps>(a, b, as<Sum>(into.tile->to_ptx()))));
    return c;
}

/// The same into a tile, where there is one: C, which is returned, means nothing then.
template <class How, class A_, class B_, int Steps, class W_, class Acc>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Acc, 4> c, Into<Acc> into) {
    const matrix::Words<matrix::Unit<How, A_, B_>::words> words{};
    return vector(product_into<How, A_, B_, Steps>(a, b, as<typename Summed<Acc>::type>(c), into, words));
}

template <class How, class A_, class B_, int Steps, class W_, class Acc>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Acc, 4> c, FromC<Acc> from) {
    if (from.into.kept && !from.into.same) from.into.tile->from_ptx(c);
    return multiply<How, A_, B_, Steps>(a, b, c, from.into);
}

// Into a tile of words, which are sums of the product's type here.
template <class How, class A_, class B_, int Steps, class W_, class Acc>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Acc, 4> c, Into<Bits> into) {
    static_assert(sizeof(Tile<Acc>) == sizeof(Tile<Bits>), "the same words");
    Tile<Acc> tile;
    if (into.kept) __builtin_memcpy(&tile, into.tile, sizeof tile);
    const Into<Acc> here{&tile, into.lanes, into.kept, into.same};
    const auto d = multiply<How, A_, B_, Steps>(a, b, c, here);
    if (into.kept) __builtin_memcpy(into.tile, &tile, sizeof tile);
    return d;
}
template <class How, class A_, class B_, int Steps, class W_, class Acc>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<Acc, 4> c, FromC<Bits> from) {
    Fragment<ptx::s32, 4> words;
    __builtin_memcpy(&words, &c, sizeof words);
    if (from.into.kept && !from.into.same) from.into.tile->from_ptx(words);
    return multiply<How, A_, B_, Steps>(a, b, c, from.into);
}

// Small floats as f16: each register becomes two, of even and of odd bytes, which is the same order of k in A and B.
template <class A_, int Rows, int N_> CU2PORT_MMA Fragment<u32, 2 * N_> as_halves(Fragment<u32, N_> x) {
    Fragment<u32, 2 * N_> out;
    for (int i = 0; i < N_; ++i)
        for (int odd = 0; odd < 2; ++odd) out[i % Rows + Rows * (i / Rows * 2 + odd)] = A_::halves(x[i], odd);
    return out;
}

/// Products of small floats: as f16, or as they are where there is an instruction.
template <class A_, class B_, int Steps, int = matrix::Unit<SmallFloats, A_, B_>::words> struct Small {
    typedef Fragment<u32, 2 * Steps> Left;
    typedef Fragment<u32, Steps> Right;
    static CU2PORT_MMA Fragment<float, 4> product(Left a, Right b, Fragment<float, 4> c) {
        return multiply<SmallFloats, A_, B_, 2, Steps>(a, b, c);
    }
    template <class C_, class T> static CU2PORT_MMA auto product(Left a, Right b, C_ c, T into) {
        return multiply<SmallFloats, A_, B_, Steps>(a, b, c, into);
    }
};
template <class A_, class B_, int Steps> struct Small<A_, B_, Steps, 0> {
    typedef Fragment<u32, 2 * Steps> Left;
    typedef Fragment<u32, Steps> Right;
    static CU2PORT_MMA Fragment<float, 4> product(Left a, Right b, Fragment<float, 4> c) {
        return multiply<Exact, f16, f16, 2, 2 * Steps>(as_halves<A_, 2>(a), as_halves<B_, 1>(b), c);
    }
    template <class C_, class T> static CU2PORT_MMA auto product(Left a, Right b, C_ c, T into) {
        return multiply<Exact, f16, f16, 2 * Steps>(as_halves<A_, 2>(a), as_halves<B_, 1>(b), c, into);
    }
};

CU2PORT_MMA ptx::u32x2 halves(Fragment<float, 4> d) {
    const Fragment<u32, 2> words = paired(d);
    return ptx::u32x2{words[0], words[1]};
}
template <class How, class A_, class B_, int Steps, class W_>
CU2PORT_MMA ptx::u32x2 multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<u32, 2> c,
    Into<Pairs> into) {
    const matrix::Words<matrix::Unit<How, A_, B_>::words> words{};
    const Fragment<float, 4> d = product_into<How, A_, B_, Steps>(a, b, widened(c), floats_of(into), words);
    if (into.kept) into.tile->round();
    return halves(d);
}
template <class How, class A_, class B_, int Steps, class W_>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<u32, 2> c, FromC<Pairs> from) {
    if (from.into.kept && !from.into.same) from.into.tile->from_ptx(c);
    return multiply<How, A_, B_, Steps>(a, b, c, from.into);
}
// In a tile of words, the first two of four.
CU2PORT_MMA void set_pairs(Into<Bits> into, Fragment<u32, 2> pairs) {
    Fragment<ptx::s32, 4> words = into.tile->to_ptx();
    words[0] = ptx::s32(pairs[0]), words[1] = ptx::s32(pairs[1]);
    into.tile->from_ptx(words);
}
template <class How, class A_, class B_, int Steps, class W_>
CU2PORT_MMA ptx::u32x2 multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<u32, 2> c, Into<Bits> into) {
    if (!into.kept) return multiply<How, A_, B_, Steps>(a, b, c, Into<Pairs>{nullptr, into.lanes});
    const Fragment<ptx::s32, 4> words = into.tile->to_ptx();
    const Fragment<u32, 2> held{u32(words[0]), u32(words[1])};
    set_pairs(into, paired(multiply<How, A_, B_, 2, Steps>(a, b, widened(held))));
    return ptx::u32x2{c[0], c[1]};
}
template <class How, class A_, class B_, int Steps, class W_>
CU2PORT_MMA auto multiply(Fragment<W_, 2 * Steps> a, Fragment<W_, Steps> b, Fragment<u32, 2> c, FromC<Bits> from) {
    if (from.into.kept && !from.into.same) set_pairs(from.into, c);
    return multiply<How, A_, B_, Steps>(a, b, c, from.into);
}
#define CU2PORT_MMA_F32(shape, steps, a_type, b_type, how, suffix)                                                    \
    CU2PORT_MMA ptx::f32x4 shape##_f32_##a_type##_##b_type##_f32##suffix(Fragment<u32, 2 * steps> a,                   \
        Fragment<u32, steps> b, Fragment<float, 4> c) {                                                               \
        return vector(multiply<how, a_type, b_type, 2, steps>(a, b, c));                                              \
    }                                                                                                                  \
    template <class T> CU2PORT_MMA ptx::f32x4 shape##_f32_##a_type##_##b_type##_f32##suffix(                           \
        Fragment<u32, 2 * steps> a, Fragment<u32, steps> b, Fragment<float, 4> c, T into) {                            \
        return multiply<how, a_type, b_type, steps>(a, b, c, into);                                                    \
    }
#define CU2PORT_MMA_F16(shape, steps, a_type, b_type, how, suffix)                                                    \
    CU2PORT_MMA ptx::u32x2 shape##_f16_##a_type##_##b_type##_f16##suffix(Fragment<u32, 2 * steps> a,                   \
        Fragment<u32, steps> b, Fragment<u32, 2> c) {                                                                 \
        return halves(multiply<how, a_type, b_type, 2, steps>(a, b, widened(c)));                                     \
    }                                                                                                                  \
    template <class T> CU2PORT_MMA ptx::u32x2 shape##_f16_##a_type##_##b_type##_f16##suffix(                           \
        Fragment<u32, 2 * steps> a, Fragment<u32, steps> b, Fragment<u32, 2> c, T into) {                              \
        return multiply<how, a_type, b_type, steps>(a, b, c, into);                                                    \
    }
CU2PORT_MMA_F32(m16n8k8, 1, f16, f16, Exact, )
CU2PORT_MMA_F32(m16n8k16, 2, f16, f16, Exact, )
CU2PORT_MMA_F32(m16n8k8, 1, f16, f16, Fast, _fast)
CU2PORT_MMA_F32(m16n8k16, 2, f16, f16, Fast, _fast)
CU2PORT_MMA_F16(m16n8k8, 1, f16, f16, Exact, )
CU2PORT_MMA_F16(m16n8k16, 2, f16, f16, Exact, )
CU2PORT_MMA_F16(m16n8k8, 1, f16, f16, Fast, _fast)
CU2PORT_MMA_F16(m16n8k16, 2, f16, f16, Fast, _fast)
CU2PORT_MMA_F32(m16n8k8, 1, bf16, bf16, Exact, )
CU2PORT_MMA_F32(m16n8k16, 2, bf16, bf16, Exact, )
CU2PORT_MMA_F32(m16n8k8, 1, bf16, bf16, Fast, _fast)
CU2PORT_MMA_F32(m16n8k16, 2, bf16, bf16, Fast, _fast)
CU2PORT_MMA_F32(m16n8k4, 1, tf32, tf32, Exact, )
CU2PORT_MMA_F32(m16n8k8, 2, tf32, tf32, Exact, )
#define CU2PORT_MMA_SMALL(shape, steps, a_type, b_type)                                                                \
    CU2PORT_MMA ptx::f32x4 shape##_f32_##a_type##_##b_type##_f32(Fragment<u32, 2 * steps> a, Fragment<u32, steps> b,   \
        Fragment<float, 4> c) {                                                                                        \
        return vector(Small<a_type, b_type, steps>::product(a, b, c));                                                 \
    }                                                                                                                  \
    template <class T> CU2PORT_MMA ptx::f32x4 shape##_f32_##a_type##_##b_type##_f32(Fragment<u32, 2 * steps> a,        \
        Fragment<u32, steps> b, Fragment<float, 4> c, T into) {                                                        \
        return Small<a_type, b_type, steps>::product(a, b, c, into);                                                   \
    }                                                                                                                  \
    CU2PORT_MMA ptx::u32x2 shape##_f16_##a_type##_##b_type##_f16(Fragment<u32, 2 * steps> a, Fragment<u32, steps> b,   \
        Fragment<u32, 2> c) {                                                                                          \
        return halves(Small<a_type, b_type, steps>::product(a, b, widened(c)));                                        \
    }                                                                                                                  \
    template <class T> CU2PORT_MMA ptx::u32x2 shape##_f16_##a_type##_##b_type##_f16(Fragment<u32, 2 * steps> a,        \
        Fragment<u32, steps> b, Fragment<u32, 2> c, T into) {                                                          \
        return Small<a_type, b_type, steps>::product(a, b, c, into);                                                   \
    }
#define CU2PORT_MMA_SMALL_WITH(a_type)                                                                                 \
    CU2PORT_MMA_SMALL(m16n8k32, 2, a_type, e4m3) CU2PORT_MMA_SMALL(m16n8k32, 2, a_type, e5m2)                          \
    CU2PORT_MMA_SMALL(m16n8k32, 2, a_type, e3m2) CU2PORT_MMA_SMALL(m16n8k32, 2, a_type, e2m3)                          \
    CU2PORT_MMA_SMALL(m16n8k32, 2, a_type, e2m1)
CU2PORT_MMA_SMALL_WITH(e4m3)
CU2PORT_MMA_SMALL_WITH(e5m2)
CU2PORT_MMA_SMALL_WITH(e3m2)
CU2PORT_MMA_SMALL_WITH(e2m3)
CU2PORT_MMA_SMALL_WITH(e2m1)
CU2PORT_MMA_SMALL(m16n8k16, 1, e4m3, e4m3)
CU2PORT_MMA_SMALL(m16n8k16, 1, e4m3, e5m2)
CU2PORT_MMA_SMALL(m16n8k16, 1, e5m2, e4m3)
CU2PORT_MMA_SMALL(m16n8k16, 1, e5m2, e5m2)
#undef CU2PORT_MMA_SMALL_WITH
#undef CU2PORT_MMA_SMALL
#undef CU2PORT_MMA_F16
#undef CU2PORT_MMA_F32

#define CU2PORT_MMA_F64(shape, rows, steps, how, suffix)                                                         \
    CU2PORT_MMA auto shape##_f64_f64_f64_f64##suffix(Fragment<double, rows * steps> a, Fragment<double, steps> b,  \
        Fragment<double, 2 * rows> c) {                                                                          \
        return vector(multiply<how, f64, f64, rows, steps>(a, b, c));                                            \
    }
#define CU2PORT_MMA_F64_ALL(how, suffix)             \
    CU2PORT_MMA_F64(m8n8k4, 1, 1, how, suffix)       \
    CU2PORT_MMA_F64(m16n8k4, 2, 1, how, suffix)      \
    CU2PORT_MMA_F64(m16n8k8, 2, 2, how, suffix)      \
    CU2PORT_MMA_F64(m16n8k16, 2, 4, how, suffix)
CU2PORT_MMA_F64_ALL(Exact, )
CU2PORT_MMA_F64_ALL(Rounded<ptx::rounding::rz>, _rz)
CU2PORT_MMA_F64_ALL(Rounded<ptx::rounding::rm>, _rm)
CU2PORT_MMA_F64_ALL(Rounded<ptx::rounding::rp>, _rp)
#undef CU2PORT_MMA_F64_ALL
#undef CU2PORT_MMA_F64

CU2PORT_MMA u32 clamped(u32 sum, u32 c) { return u32(ptx::add_sat_s32(ptx::s32(sum), ptx::s32(c))); }
// Products are added from zero on, which no s32 overflows, and to C at last: PTX clamps what comes out, once.
template <class A_, class B_, int Steps, class Acc>
CU2PORT_MMA ptx::s32x4 multiply_clamped(Fragment<u32, 2 * Steps> a, Fragment<u32, Steps> b, Fragment<ptx::s32, 4> c,
    Into<Acc> into) {
    Tile<ptx::s32> products;
    products.clear();
    const Into<ptx::s32> here{&products, into.lanes, into.kept};
    const auto d = multiply<Integers, A_, B_, Steps>(a, b, Fragment<ptx::s32, 4>{}, here);
    if (into.kept) into.tile->add_clamped(products);
    for (int i = 0; i < 4; ++i)
        if (!into.kept) c[i] = ptx::add_sat_s32(d[i], c[i]);
    return ptx::s32x4{c[0], c[1], c[2], c[3]};
}
template <class A_, class B_, int Steps, class Acc>
CU2PORT_MMA ptx::s32x4 multiply_clamped(Fragment<u32, 2 * Steps> a, Fragment<u32, Steps> b, Fragment<ptx::s32, 4> c,
    FromC<Acc> from) {
    if (from.into.kept && !from.into.same) from.into.tile->from_ptx(c);
    return multiply_clamped<A_, B_, Steps>(a, b, c, from.into);
}
#define CU2PORT_MMA_S32(shape, rows, steps, a_type, b_type, how, suffix)                                           \
    CU2PORT_MMA auto shape##_s32_##a_type##_##b_type##_s32##suffix(Fragment<u32, rows * steps> a,                  \
        Fragment<u32, steps> b, Fragment<ptx::s32, 2 * rows> c) {                                                   \
        Fragment<u32, 2 * rows> sum;                                                                               \
        for (int i = 0; i < 2 * rows; ++i) sum[i] = u32(c[i]);                                                     \
        return vector(multiply<how, a_type, b_type, rows, steps>(a, b, sum));                                      \
    }
#define CU2PORT_MMA_S32_KEPT(shape, steps, a_type, b_type)                                                          \
    template <class T> CU2PORT_MMA auto shape##_s32_##a_type##_##b_type##_s32(Fragment<u32, 2 * steps> a,           \
        Fragment<u32, steps> b, Fragment<ptx::s32, 4> c, T into) {                                                  \
        return multiply<Integers, a_type, b_type, steps>(a, b, c, into);                                            \
    }                                                                                                               \
    template <class T> CU2PORT_MMA auto shape##_s32_##a_type##_##b_type##_s32_satfinite(                            \
        Fragment<u32, 2 * steps> a, Fragment<u32, steps> b, Fragment<ptx::s32, 4> c, T into) {                      \
        return multiply_clamped<a_type, b_type, steps>(a, b, c, into);                                              \
    }
#define CU2PORT_MMA_S32_SATFINITE(shape, rows, steps, a_type, b_type)                                              \
    CU2PORT_MMA auto shape##_s32_##a_type##_##b_type##_s32_satfinite(Fragment<u32, rows * steps> a,                \
        Fragment<u32, steps> b, Fragment<ptx::s32, 2 * rows> c) {                                                   \
        Fragment<u32, 2 * rows> sum = {};                                                                          \
        sum = multiply<Integers, a_type, b_type, rows, steps>(a, b, sum);                                          \
        for (int i = 0; i < 2 * rows; ++i) sum[i] = clamped(sum[i], u32(c[i]));                                    \
        return vector(sum);                                                                                        \
    }
#define CU2PORT_MMA_S32_BOTH(shape, rows, steps, a_type, b_type)            \
    CU2PORT_MMA_S32(shape, rows, steps, a_type, b_type, Integers, )         \
    CU2PORT_MMA_S32_SATFINITE(shape, rows, steps, a_type, b_type)
#define CU2PORT_MMA_S32_ALL(a_type, b_type, small, half, full)              \
    CU2PORT_MMA_S32_BOTH(m8n8##small, 1, 1, a_type, b_type)                 \
    CU2PORT_MMA_S32_BOTH(m16n8##half, 2, 1, a_type, b_type)               \
    CU2PORT_MMA_S32_BOTH(m16n8##full, 2, 2, a_type, b_type)
CU2PORT_MMA_S32_ALL(s8, s8, k16, k16, k32)
CU2PORT_MMA_S32_KEPT(m16n8k16, 1, s8, s8)
CU2PORT_MMA_S32_KEPT(m16n8k32, 2, s8, s8)
CU2PORT_MMA_S32_ALL(s8, u8, k16, k16, k32)
CU2PORT_MMA_S32_ALL(u8, s8, k16, k16, k32)
CU2PORT_MMA_S32_ALL(u8, u8, k16, k16, k32)
CU2PORT_MMA_S32_ALL(s4, s4, k32, k32, k64)
CU2PORT_MMA_S32_ALL(s4, u4, k32, k32, k64)
CU2PORT_MMA_S32_ALL(u4, s4, k32, k32, k64)
CU2PORT_MMA_S32_ALL(u4, u4, k32, k32, k64)
#define CU2PORT_MMA_B1(how, suffix)                                \
    CU2PORT_MMA_S32(m8n8k128, 1, 1, b1, b1, how, suffix)           \
    CU2PORT_MMA_S32(m16n8k128, 2, 1, b1, b1, how, suffix)          \
    CU2PORT_MMA_S32(m16n8k256, 2, 2, b1, b1, how, suffix)
CU2PORT_MMA_B1(Xor, _xor_popc)
CU2PORT_MMA_B1(And, _and_popc)
#undef CU2PORT_MMA_B1
#undef CU2PORT_MMA_S32_ALL
#undef CU2PORT_MMA_S32_BOTH
#undef CU2PORT_MMA_S32_SATFINITE
#undef CU2PORT_MMA_S32_KEPT
#undef CU2PORT_MMA_S32

}  // namespace mma
}  // namespace cu2port

#include "mma_sparse.hpp"
#include "mma_volta.hpp"

#undef CU2PORT_MMA
#endif

#include "names_on.hpp"

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_MMA_HPP
