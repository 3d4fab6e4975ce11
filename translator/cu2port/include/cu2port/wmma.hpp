// cu2port wmma: CUDA's warp matrix functions, `nvcuda::wmma`, for warps of 32 threads.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A fragment belongs to 32 threads, on wavefronts of 32 and of 64 lanes, whatever the other half does. Which elements a
// thread has is as unspecified as in CUDA, but for this: fragments of one type agree, and so do A and B of a product.
// A thread's elements of A and B are neighbours in k, so that matrices with k contiguous load by words. Products are
// those of mma.hpp, which says how numbers are rounded.
#ifndef CU2PORT_WMMA_HPP
#define CU2PORT_WMMA_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include "mma.hpp"
#include "names_off.hpp"

#define CU2PORT_WMMA __device__ inline __attribute__((__always_inline__))

namespace cu2port {
/// What `using namespace nvcuda;` brings, and where code that declares CUDA's names by itself has them.
namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

// --- Where elements are ---------------------------------------------------------------------------------------------

namespace tiles {

using ptx::u16;
using ptx::u32;

// Of a type of A and B: what a program sees of an element, its bits, the register that holds it, how products are made.
template <class Element, int Size, class Register, class Kind, class Method> struct Operand {
    typedef Element element_type;
    typedef Register word_type;
    typedef Kind kind;
    typedef Method how;
    static constexpr int bits = Size, in_word = 8 * sizeof(Register) / Size;  // elements of a register
};
#ifdef CU2PORT_WMMA_FAST  // two products of halves at a time, where the GPU can: denormals may be flushed
typedef mma::Fast HowHalf;
#else
typedef mma::Exact HowHalf;
#endif
template <class T> struct operand;
template <> struct operand<__half> : Operand<__half, 16, u32, mma::f16, HowHalf> {};
template <> struct operand<__hip_bfloat16> : Operand<__hip_bfloat16, 16, u32, mma::bf16, mma::Exact> {};
template <> struct operand<precision::tf32> : Operand<float, 32, u32, mma::tf32, mma::Exact> {};
template <> struct operand<double> : Operand<double, 64, double, mma::f64, mma::Exact> {};
template <> struct operand<signed char> : Operand<signed char, 8, u32, mma::s8, mma::Integers> {};
template <> struct operand<unsigned char> : Operand<unsigned char, 8, u32, mma::u8, mma::Integers> {};
template <> struct operand<experimental::precision::s4> : Operand<int, 4, u32, mma::s4, mma::Integers> {};
template <> struct operand<experimental::precision::u4> : Operand<unsigned, 4, u32, mma::u4, mma::Integers> {};
template <> struct operand<experimental::precision::b1> : Operand<unsigned, 1, u32, mma::b1, mma::Xor> {};

// How a shape is put together from products of 16 x 8 (`rows` 2) or 8 x 8 (`rows` 1): `tall` tiles of the left matrix,
// `wide` ones of the right. Where M is 8 and N 32 the matrices change places, as those of the transposed product do.
template <int M_, int N_> struct Shape {
    static constexpr bool swapped = N_ > 16;
    static constexpr int left = swapped ? N_ : M_, right = swapped ? M_ : N_;
    static constexpr int rows = left >= 16 ? 2 : 1, tall = left / (8 * rows), wide = right / 8;
};
template <int M_, int N_, int K_> struct Known { static constexpr bool value = false; };
template <> struct Known<16, 16, 16> { static constexpr bool value = true; };
template <> struct Known<32, 8, 16> { static constexpr bool value = true; };
template <> struct Known<8, 32, 16> { static constexpr bool value = true; };
template <> struct Known<16, 16, 8> { static constexpr bool value = true; };  // tf32
template <> struct Known<8, 8, 4> { static constexpr bool value = true; };    // double
template <> struct Known<8, 8, 32> { static constexpr bool value = true; };   // 4 bits
template <> struct Known<8, 8, 128> { static constexpr bool value = true; };  // 1 bit

CU2PORT_WMMA int group() { return int(warp::lane_id() >> 2); }
CU2PORT_WMMA int member() { return int(warp::lane_id() & 3); }

// Registers of the left or right matrix: of each of its blocks of 8 rows (or columns) `steps`, in mma's order.
template <class T, int Blocks, int PerTile, int K_> struct Registers {
    typedef operand<T> O_;
    typedef typename O_::word_type W_;
    static constexpr int steps = K_ / (4 * O_::in_word), count = Blocks * steps;

    // Where a register is: the row (or column), and the first of its neighbours in k.
    static CU2PORT_WMMA int line(int i) {
        const int tile = i / (PerTile * steps), part = i % PerTile;
        return 8 * (PerTile * tile + part) + group();
    }
    static CU2PORT_WMMA int k(int i) {
        const int step = i / PerTile % steps;
        return O_::in_word * (steps * member() + step);
    }
};

// Memory of any type as whole registers, and as single elements.
template <class W_> struct Loose { typedef W_ type __attribute__((may_alias, aligned(4))); };
template <> struct Loose<double> { typedef double type __attribute__((may_alias, aligned(8))); };
template <int Bits> struct Bits_of { typedef u32 type __attribute__((may_alias)); };  // 32 and less than 8
template <> struct Bits_of<8> { typedef ptx::u8 type __attribute__((may_alias)); };
template <> struct Bits_of<16> { typedef u16 type __attribute__((may_alias)); };
template <> struct Bits_of<64> { typedef double type __attribute__((may_alias)); };

// One register, from neighbours, or from elements that are `stride` apart.
template <class O_> CU2PORT_WMMA typename O_::word_type neighbours(const void* p, unsigned long long line, unsigned k) {
    typedef typename Loose<typename O_::word_type>::type W_;
    return *reinterpret_cast<const W_*>(static_cast<const char*>(p) + line * O_::bits / 8 + k * O_::bits / 8);
}
template <class O_>
CU2PORT_WMMA typename O_::word_type apart(const void* p, unsigned long long element, unsigned long long stride) {
    static_assert(O_::bits >= 8, "CUDA loads such elements along k only: A by rows, B by columns");
    typedef typename Bits_of<O_::bits>::type E_;
    if constexpr (O_::in_word == 1) {
        return __builtin_bit_cast(typename O_::word_type, static_cast<const E_*>(p)[element]);
    } else {
        u32 word = 0;
        for (int e = 0; e < O_::in_word; ++e)
            word |= u32(static_cast<const E_*>(p)[element + e * stride]) << (O_::bits * e);
        return word;
    }
}

template <class T> struct same_word { typedef T type; };

}  // namespace tiles

// --- Fragments ------------------------------------------------------------------------------------------------------

namespace tiles {

template <class Element, int Count, int Words> struct Storage {
    typedef Element element_type;
    typedef Element storage_element_type;
    static constexpr int num_elements = Count;
    static constexpr int num_storage_elements = Words;
    Element x[Words];
};
template <class T, class R_, int Elements>
struct OperandStorage : Storage<typename operand<T>::element_type, Elements,
                            (operand<T>::bits < 8 ? R_::count : Elements)> {
    typedef R_ registers;
    CU2PORT_WMMA typename R_::W_ word(int i) const {
        typename R_::W_ out;
        __builtin_memcpy(&out, reinterpret_cast<const char*>(this->x) + i * sizeof out, sizeof out);
        return out;
    }
    CU2PORT_WMMA void set(int i, typename R_::W_ word) {
        __builtin_memcpy(reinterpret_cast<char*>(this->x) + i * sizeof word, &word, sizeof word);
    }
};
template <class T, int Blocks, int PerTile, int K_>
using OperandFragment = OperandStorage<T, Registers<T, Blocks, PerTile, K_>,
    Registers<T, Blocks, PerTile, K_>::count * operand<T>::in_word>;

}  // namespace tiles

template <class Use, int M_, int N_, int K_, class T, class Layout = void> struct fragment;

template <int M_, int N_, int K_, class T, class Layout>
struct fragment<matrix_a, M_, N_, K_, T, Layout>
    : tiles::OperandFragment<T, M_ / 8, (tiles::Shape<M_, N_>::swapped ? 1 : tiles::Shape<M_, N_>::rows), K_> {
    static_assert(tiles::Known<M_, N_, K_>::value, "CUDA has no such shape");
};
template <int M_, int N_, int K_, class T, class Layout>
struct fragment<matrix_b, M_, N_, K_, T, Layout>
    : tiles::OperandFragment<T, N_ / 8, (tiles::Shape<M_, N_>::swapped ? tiles::Shape<M_, N_>::rows : 1), K_> {
    static_assert(tiles::Known<M_, N_, K_>::value, "CUDA has no such shape");
};
template <int M_, int N_, int K_, class T>
struct fragment<accumulator, M_, N_, K_, T> : tiles::Storage<T, M_ * N_ / 32, M_ * N_ / 32> {
    static_assert(tiles::Known<M_, N_, K_>::value, "CUDA has no such shape");
};

/// Sets every element.
template <class Use, int M_, int N_, int K_, class T, class Layout>
CU2PORT_WMMA void fill_fragment(fragment<Use, M_, N_, K_, T, Layout>& f,
    typename tiles::same_word<typename fragment<Use, M_, N_, K_, T, Layout>::storage_element_type>::type value) {
    for (int i = 0; i < f.num_storage_elements; ++i) f.x[i] = value;
}

// --- Loads and stores: `ldm` elements from one row to the next, or from one column to the next ---

namespace tiles {

template <class F_, class T> CU2PORT_WMMA void load(F_& f, const void* p, unsigned ldm, bool along_k, T*) {
    typedef typename F_::registers R_;
    typedef operand<T> O_;
    for (int i = 0; i < R_::count; ++i) {
        const unsigned long long line = R_::line(i), k = R_::k(i);
        if constexpr (O_::bits < 8)
            f.set(i, neighbours<O_>(p, line * ldm, unsigned(k)));
        else
            f.set(i, along_k ? neighbours<O_>(p, line * ldm, unsigned(k)) : apart<O_>(p, k * ldm + line, ldm));
    }
}

// Row and column of the first of two elements of C, which are neighbours in its rows, or in its columns if `swapped`.
template <int M_, int N_> struct Pair {
    typedef Shape<M_, N_> S_;
    int row, column;
    CU2PORT_WMMA explicit Pair(int pair) {
        const int part = pair % S_::rows, wide = pair / S_::rows % S_::wide, tall = pair / (S_::rows * S_::wide);
        const int line = 8 * (S_::rows * tall + part) + group(), across = 8 * wide + 2 * member();
        row = S_::swapped ? across : line;
        column = S_::swapped ? line : across;
    }
    CU2PORT_WMMA long long at(unsigned ldm, layout_t layout, int second) const {
        const long long r = row + (S_::swapped ? second : 0), c = column + (S_::swapped ? 0 : second);
        return layout == mem_row_major ? r * ldm + c : c * ldm + r;
    }
};

}  // namespace tiles

template <int M_, int N_, int K_, class T, class P_>
CU2PORT_WMMA void load_matrix_sync(fragment<matrix_a, M_, N_, K_, T, row_major>& f, const P_* p, unsigned ldm) {
    tiles::load(f, p, ldm, true, static_cast<T*>(nullptr));
}
template <int M_, int N_, int K_, class T, class P_>
CU2PORT_WMMA void load_matrix_sync(fragment<matrix_a, M_, N_, K_, T, col_major>& f, const P_* p, unsigned ldm) {
    tiles::load(f, p, ldm, false, static_cast<T*>(nullptr));
}
template <int M_, int N_, int K_, class T, class P_>
CU2PORT_WMMA void load_matrix_sync(fragment<matrix_b, M_, N_, K_, T, col_major>& f, const P_* p, unsigned ldm) {
    tiles::load(f, p, ldm, true, static_cast<T*>(nullptr));
}
template <int M_, int N_, int K_, class T, class P_>
CU2PORT_WMMA void load_matrix_sync(fragment<matrix_b, M_, N_, K_, T, row_major>& f, const P_* p, unsigned ldm) {
    tiles::load(f, p, ldm, false, static_cast<T*>(nullptr));
}
template <int M_, int N_, int K_, class T>
CU2PORT_WMMA void load_matrix_sync(fragment<accumulator, M_, N_, K_, T>& f, const T* p, unsigned ldm, layout_t layout) {
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = p[tiles::Pair<M_, N_>(i / 2).at(ldm, layout, i % 2)];
}
template <int M_, int N_, int K_, class T>
CU2PORT_WMMA void store_matrix_sync(T* p, const fragment<accumulator, M_, N_, K_, T>& f, unsigned ldm,
    layout_t layout) {
    for (int i = 0; i < f.num_elements; ++i) p[tiles::Pair<M_, N_>(i / 2).at(ldm, layout, i % 2)] = f.x[i];
}

// --- Products -------------------------------------------------------------------------------------------------------

namespace tiles {

// Accumulators as they are computed with, and back.
CU2PORT_WMMA float wide(__half x) { return mma::f16_at(__builtin_bit_cast(u16, x), 0); }
CU2PORT_WMMA float wide(float x) { return x; }
CU2PORT_WMMA double wide(double x) { return x; }
CU2PORT_WMMA u32 wide(int x) { return u32(x); }
CU2PORT_WMMA void narrow(__half& to, float x) { to = __builtin_bit_cast(__half, u16(ptx::f16_rn(x))); }
CU2PORT_WMMA void narrow(float& to, float x) { to = x; }
CU2PORT_WMMA void narrow(double& to, double x) { to = x; }
CU2PORT_WMMA void narrow(int& to, u32 x) { to = int(x); }
// Within the type's range, where `satf` asks for it: no infinity, and zero for NaN.
CU2PORT_WMMA float finite(__half, float x) {
    return x != x ? 0.0f : x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x;
}
CU2PORT_WMMA float finite(float, float x) {
    return x != x ? 0.0f : x > 3.402823466e38f ? 3.402823466e38f : x < -3.402823466e38f ? -3.402823466e38f : x;
}
template <class T> CU2PORT_WMMA T finite(T, T x) { return x; }

// The product of a left tile and a right tile.
template <class How, class O_, class Left, class Right, int Rows, int Steps, class Acc>
CU2PORT_WMMA mma::Fragment<Acc, 2 * Rows> product(const Left& left, const Right& right, int tall, int wide,
    mma::Fragment<Acc, 2 * Rows> c) {
    typedef typename O_::word_type W_;
    mma::Fragment<W_, Rows * Steps> a;
    mma::Fragment<W_, Steps> b;
    for (int i = 0; i < Rows * Steps; ++i) a[i] = left.word(Rows * Steps * tall + i);
    for (int i = 0; i < Steps; ++i) b[i] = right.word(Steps * wide + i);
    return mma::multiply<How, typename O_::kind, typename O_::kind, Rows, Steps>(a, b, c);
}

template <class How, class T, int M_, int N_, int K_, class D_, class A_, class B_, class C_>
CU2PORT_WMMA void multiply(D_& d, const A_& a, const B_& b, const C_& c, bool satf) {
    typedef Shape<M_, N_> S_;
    typedef decltype(wide(c.x[0])) Acc;
    constexpr int steps = K_ / (4 * operand<T>::in_word), per_tile = 2 * S_::rows;
    D_ out;
    for (int tall = 0; tall < S_::tall; ++tall)
        for (int across = 0; across < S_::wide; ++across) {
            const int first = per_tile * (S_::wide * tall + across);
            mma::Fragment<Acc, per_tile> sum;
            constexpr bool integers = operand<T>::bits <= 8;
            for (int i = 0; i < per_tile; ++i) sum[i] = integers && satf ? Acc(0) : wide(c.x[first + i]);
            if constexpr (S_::swapped)
                sum = product<How, operand<T>, B_, A_, S_::rows, steps>(b, a, tall, across, sum);
            else
                sum = product<How, operand<T>, A_, B_, S_::rows, steps>(a, b, tall, across, sum);
            for (int i = 0; i < per_tile; ++i) {
                if constexpr (integers) {
                    if (satf) sum[i] = u32(ptx::add_sat_s32(ptx::s32(sum[i]), ptx::s32(wide(c.x[first + i]))));
                } else if (satf) {
                    sum[i] = finite(out.x[0], sum[i]);
                }
                narrow(out.x[first + i], sum[i]);
            }
        }
    d = out;
}

}  // namespace tiles

/// D = A * B + C
template <int M_, int N_, int K_, class T, class LayoutA, class LayoutB, class TD_, class TC_>
CU2PORT_WMMA void mma_sync(fragment<accumulator, M_, N_, K_, TD_>& d, const fragment<matrix_a, M_, N_, K_, T,
    LayoutA>& a,
    const fragment<matrix_b, M_, N_, K_, T, LayoutB>& b, const fragment<accumulator, M_, N_, K_, TC_>& c,
    bool satf = false) {
    tiles::multiply<typename tiles::operand<T>::how, T, M_, N_, K_>(d, a, b, c, satf);
}

/// The same of single bits: how many of a row and a column differ, or are both set.
template <int M_, int N_, int K_, class T, class LayoutA, class LayoutB>
CU2PORT_WMMA void bmma_sync(fragment<accumulator, M_, N_, K_, int>& d, const fragment<matrix_a, M_, N_, K_, T,
    LayoutA>& a,
    const fragment<matrix_b, M_, N_, K_, T, LayoutB>& b, const fragment<accumulator, M_, N_, K_, int>& c,
    experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
    experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
    if (op == experimental::bmmaBitOpAND)
        tiles::multiply<mma::And, T, M_, N_, K_>(d, a, b, c, false);
    else
        tiles::multiply<mma::Xor, T, M_, N_, K_>(d, a, b, c, false);
}

/// The nearest number with 10 bits of fraction; of two, the one that is further from zero.
CU2PORT_WMMA float __float_to_tf32(float x) { return __builtin_bit_cast(float, ptx::cvt_rna_tf32(x)); }

// --- The same by registers, as PTX has them: for code that had `wmma` as inline assembly ---

namespace tiles {

// Registers that a fragment does not fill are zero, and those that it has are all there.
template <class V_, class F_> CU2PORT_WMMA V_ registers(const F_& f) {
    V_ v = {};
    __builtin_memcpy(&v, f.x, sizeof f.x < sizeof v ? sizeof f.x : sizeof v);
    return v;
}
template <class F_, class V_> CU2PORT_WMMA F_ from(const V_& v) {
    F_ f;
    __builtin_memcpy(f.x, &v, sizeof f.x < sizeof v ? sizeof f.x : sizeof v);
    return f;
}
template <class F_, class P_> CU2PORT_WMMA auto* pointer(P_ p) {
    typedef typename F_::element_type E_;
    return (E_*)(const void*)p;
}

}  // namespace tiles

#define CU2PORT_WMMA_SPACE(suffix, space)                                                                   \
    template <class F_, class V_, class A_> CU2PORT_WMMA V_ load##suffix(A_ p, unsigned ldm) {               \
        F_ f;                                                                                               \
        load_matrix_sync(f, tiles::pointer<F_>(ptx::space<const ptx::u8>::to(p)), ldm);                     \
        return tiles::registers<V_>(f);                                                                     \
    }                                                                                                       \
    template <class F_, class V_, class A_> CU2PORT_WMMA V_ load##suffix(A_ p, unsigned ldm, layout_t layout) { \
        F_ f;                                                                                               \
        load_matrix_sync(f, tiles::pointer<F_>(ptx::space<const ptx::u8>::to(p)), ldm, layout);             \
        return tiles::registers<V_>(f);                                                                     \
    }                                                                                                       \
    template <class F_, class A_, class V_>                                                                 \
    CU2PORT_WMMA void store##suffix(A_ p, V_ v, unsigned ldm, layout_t layout) {                            \
        store_matrix_sync(tiles::pointer<F_>(ptx::space<const ptx::u8>::to(p)), tiles::from<F_>(v), ldm, layout); \
    }
CU2PORT_WMMA_SPACE(, generic_space)
CU2PORT_WMMA_SPACE(_global, global_space)
CU2PORT_WMMA_SPACE(_shared, shared_space)
#undef CU2PORT_WMMA_SPACE

template <class How, class T, int M_, int N_, int K_, class TD_, class TC_, class V_, class VA_, class VB_, class VC_>
CU2PORT_WMMA V_ multiply_bits(VA_ a, VB_ b, VC_ c, bool satf = false) {
    fragment<accumulator, M_, N_, K_, TD_> d;
    tiles::multiply<How, T, M_, N_, K_>(d, tiles::from<fragment<matrix_a, M_, N_, K_, T, row_major>>(a),
        tiles::from<fragment<matrix_b, M_, N_, K_, T, col_major>>(b),
        tiles::from<fragment<accumulator, M_, N_, K_, TC_>>(c), satf);
    return tiles::registers<V_>(d);
}
template <class T, int M_, int N_, int K_, class TD_, class TC_, class V_, class VA_, class VB_, class VC_>
CU2PORT_WMMA V_ multiply(VA_ a, VB_ b, VC_ c, bool satf = false) {
    return multiply_bits<typename tiles::operand<T>::how, T, M_, N_, K_, TD_, TC_, V_>(a, b, c, satf);
}

}  // namespace wmma
}  // namespace nvcuda
namespace wmma = nvcuda::wmma;

}  // namespace cu2port

#undef CU2PORT_WMMA
#include "names_on.hpp"
}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_WMMA_HPP
