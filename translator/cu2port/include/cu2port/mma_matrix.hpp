// cu2port mma_matrix: products by matrix instructions of AMD GPUs. Included by mma.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// CDNA GPUs have MFMA, for wavefronts of two warps: mma_wave64.hpp; RDNA 3 and 4 have WMMA, for wavefronts of one:
// mma_wave32.hpp. CU2PORT_MMA_PORTABLE turns both off.
#ifndef CU2PORT_MMA_MATRIX_HPP
#define CU2PORT_MMA_MATRIX_HPP

#if defined(CU2PORT_MMA_PORTABLE)
#elif defined(CU2PORT_SIM_WAVE)
#if CU2PORT_SIM_WAVE == 64
#define CU2PORT_MMA_CDNA 3
#elif defined(CU2PORT_SIM_RDNA)
#define CU2PORT_MMA_RDNA CU2PORT_SIM_RDNA
#else
#define CU2PORT_MMA_RDNA 4
#endif
#elif !defined(CU2PORT_PTX_AMD)
#elif defined(__gfx90a__)
#define CU2PORT_MMA_CDNA 2
#elif defined(__gfx942__) || defined(__gfx950__)
#define CU2PORT_MMA_CDNA 3
#elif (defined(__GFX11__) || defined(__GFX12__)) && !defined(__gfx1250__)
// No macro tells that a wavefront has 32 lanes; the builtins are there just then.
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
#define CU2PORT_MMA_RDNA 4
#elif __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
#define CU2PORT_MMA_RDNA 3
#endif
#endif

// Functions that take tiles, and lambdas of loops with tiles, are a part of what calls them: else what they are given
// the address of stays in memory.
#ifdef CU2PORT_SIM_WAVE
#define CU2PORT_MMA_INLINE
#else
#define CU2PORT_MMA_INLINE __attribute__((__always_inline__))
#endif

namespace cu2port {
namespace mma {

template <class Acc> struct Tile;

/// Sums of f16, two in a register of PTX. In a tile each is a float, which every product rounds to what f16 has.
struct Pairs {};

/// Sums of several types, as a template chooses: a tile has their words. Those of f16 are in two of four words, which
/// no tile has as floats: each product exchanges them.
struct Bits {};

/// What PTX has of a tile.
template <class Acc> struct InPtx {
    typedef Acc type;
    static constexpr int count = 4, bytes = 16;
    typedef Fragment<type, count> fragment;
};
template <> struct InPtx<Pairs> {
    typedef u32 type;
    static constexpr int count = 2, bytes = 8;
    typedef Fragment<type, count> fragment;
};
template <> struct InPtx<Bits> : InPtx<ptx::s32> {};

/// Of a wavefront's lanes where a product adds into a tile: they are looked for, all are there, or some are away.
enum class Lanes { tested, whole, apart };

/// The tile that a product adds into; none where the accumulators are in PTX's layout. By value: what is known of
/// lanes, and whether there is a tile, are constants before the compiler has taken the array of tiles apart. A null
/// pointer would be compared with the array's address, which keeps the array in memory.
template <class Acc> struct FromC;
template <class Acc> struct Into {
    Tile<Acc>* tile = nullptr;
    Lanes lanes = Lanes::tested;
    bool kept = false;  // whether there is a tile
    bool same = false;  // C's elements are those of the tile, whatever the product calls them
    CU2PORT_MMA Into operator+(int n) const { return {kept ? tile + n : nullptr, lanes, kept, same}; }
    /// The same tile, which begins with zeros.
    CU2PORT_MMA Into from_zero() const {
        if (kept) tile->clear();
        return *this;
    }
    CU2PORT_MMA FromC<Acc> from_c() const { return {*this}; }
    CU2PORT_MMA Into in_place() const { return {tile, lanes, kept, true}; }
    /// The tile of four accumulators that begin at p, where this is the tile of those that begin at `first`.
    CU2PORT_MMA Into at(const void* first, const void* p) const {
        return *this + int((static_cast<const char*>(p) - static_cast<const char*>(first)) / InPtx<Acc>::bytes);
    }
    /// The first tile of an element that holds whole tiles.
    template <class E_> CU2PORT_MMA Into of(const void* first, const E_& element) const {
        static_assert(sizeof(E_) % InPtx<Acc>::bytes == 0, "whole tiles");
        return at(first, &element);
    }
};

/// The same tile, which begins with the product's C.
template <class Acc> struct FromC { Into<Acc> into; };

/// A way to multiply, and none where products are of another type.
template <bool There, class How> struct Where {};

/// Whether an array has elements of a type.
template <class Acc, class T> struct Holds { static constexpr bool value = false; };
template <class Acc> struct Holds<Acc, Acc> { static constexpr bool value = true; };
template <class Acc, class T, __SIZE_TYPE__ N_> struct Holds<Acc, T[N_]> : Holds<Acc, T> {};

/// What an array has elements of; and whether such a struct has nothing but whole tiles, in a member of a type.
template <class T> struct Elements { typedef T type; };
template <class T, __SIZE_TYPE__ N_> struct Elements<T[N_]> : Elements<T> {};
template <class T> using Element = typename Elements<T>::type;
template <class Acc, class E_, class M_> struct IsAll { static constexpr bool value = false; };
template <class Acc, class E_, __SIZE_TYPE__ N_> struct IsAll<Acc, E_, Acc[N_]> {
    static constexpr bool value = N_ % 4 == 0 && sizeof(E_) == sizeof(Acc[N_]);
};

template <class E_, class M_, __SIZE_TYPE__ N_> struct IsAll<Pairs, E_, M_[N_]> {
    static constexpr bool value = N_ % 2 == 0 && sizeof(M_) == sizeof(u32) && sizeof(E_) == sizeof(M_[N_]);
};
template <class E_, class M_, __SIZE_TYPE__ N_> struct IsAll<Bits, E_, M_[N_]> {
    static constexpr bool value = N_ % 4 == 0 && sizeof(M_) == sizeof(u32) && sizeof(E_) == sizeof(M_[N_]);
};

/// One way to multiply; and two ways whose products add into one tile, as a template chooses.
template <class How, class A_, class B_> struct Kind {};
struct Either {};

namespace matrix {

/// How a wavefront multiplies: `words` registers of a lane in each instruction, 0 where there is none. On a wavefront
/// of one warp, from `least` registers on: vector instructions multiply less of them as fast.
template <class How, class A_, class B_> struct Unit {
    static constexpr int words = 0, least = 0;
};
template <class How, class A_, class B_> struct Unit<Where<true, How>, A_, B_> : Unit<How, A_, B_> {};
template <class How1, class A1_, class B1_, class How2, class A2_, class B2_>
struct Unit<Either, Kind<How1, A1_, B1_>, Kind<How2, A2_, B2_>> {
    static constexpr int words = Unit<How1, A1_, B1_>::words > 0 && Unit<How2, A2_, B2_>::words > 0, least = 0;
};

/// Whether products of a kind may add into elements of a type, as far as it tells.
template <class E_, class How> struct AddsInto { static constexpr bool value = true; };
template <> struct AddsInto<float, Integers> { static constexpr bool value = false; };
template <class How> struct AddsInto<int, How> { static constexpr bool value = false; };
template <> struct AddsInto<int, Integers> { static constexpr bool value = true; };
template <class E_, bool There, class How> struct AddsInto<E_, Where<There, How>> : AddsInto<E_, How> {};

/// Whether tiles of an array with elements of a type have matrix instructions for what adds into them.
template <class Acc, class E_, class How, class A_, class B_> struct Multiplies {
    static constexpr bool value = Unit<How, A_, B_>::words > 0;
};
template <class E_, class How, class A_, class B_> struct Multiplies<Bits, E_, How, A_, B_> {
    static constexpr bool value = !AddsInto<E_, How>::value || Unit<How, A_, B_>::words > 0;
};
template <class E_, class How1, class A1_, class B1_, class How2, class A2_, class B2_>
struct Multiplies<Bits, E_, Either, Kind<How1, A1_, B1_>, Kind<How2, A2_, B2_>> {
    static constexpr bool value =
        Multiplies<Bits, E_, How1, A1_, B1_>::value && Multiplies<Bits, E_, How2, A2_, B2_>::value;
};

}  // namespace matrix
}  // namespace mma
}  // namespace cu2port

#include "mma_wave32.hpp"
#include "mma_wave64.hpp"

namespace cu2port {
namespace mma {
namespace matrix {

#if CU2PORT_MMA_CDNA || CU2PORT_MMA_RDNA
}  // namespace matrix
template <> struct Tile<Pairs> : Tile<float> {
    CU2PORT_MMA void from_ptx(const Fragment<u32, 2>& c) {
        Tile<float>::from_ptx(widened(c));
        for (auto& other : sums) other = sums[0];  // as each product leaves them: one value for the compiler
    }
    CU2PORT_MMA Fragment<u32, 2> to_ptx() const { return paired(Tile<float>::to_ptx()); }
    /// An Inf stays one, as in PTX, where each product gives f16.
    CU2PORT_MMA void round() {
        each([](float& x) CU2PORT_MMA_INLINE { x = f16_at(ptx::f16_rn(x), 0); });
    }
};
CU2PORT_MMA Into<float> floats_of(Into<Pairs> into) { return {into.tile, into.lanes, into.kept, into.same}; }
template <> struct Tile<Bits> : Tile<ptx::s32> {};
namespace matrix {
#else
}  // namespace matrix
template <class Acc> struct Tile {
    CU2PORT_MMA void clear() {}
    template <class C_> CU2PORT_MMA void from_ptx(const C_&) {}
    CU2PORT_MMA typename InPtx<Acc>::fragment to_ptx() const { return {}; }
    CU2PORT_MMA void round() {}
    template <class T> CU2PORT_MMA void add_clamped(const T&) {}
};
CU2PORT_MMA Into<float> floats_of(Into<Pairs>) { return {}; }
namespace matrix {
template <class U_, int Rows, int Steps, class A_, class B_, class C_> CU2PORT_MMA bool multiply_all(A_&, B_&, C_&) {
    return false;
}
template <class U_, int Steps, class A_, class B_, class T> CU2PORT_MMA bool multiplied_tile(A_&, B_&, T&, Lanes) {
    return false;
}
#endif
#if !CU2PORT_MMA_CDNA
CU2PORT_MMA bool together() { return true; }
#endif

/// `words` of a unit for a product of 8 * `rows` rows, with B in `steps` registers; 0 where vector instructions do it.
#if CU2PORT_MMA_RDNA
template <class U_>
constexpr int words_of(int rows, int steps) { return rows == 2 && steps >= U_::least ? U_::words : 0; }
#else
template <class U_> constexpr int words_of(int, int) { return U_::words; }
#endif

template <int N_> struct Words {};
template <class U_, int Rows, int Steps, class W_, class Acc, int N_>
CU2PORT_MMA bool multiplied(const Fragment<W_, Rows * Steps>& a, const Fragment<W_, Steps>& b,
    Fragment<Acc, 2 * Rows>& c, Words<N_>) {
    return multiply_all<U_, Rows, Steps>(a, b, c);
}
template <class U_, int Rows, int Steps, class A_, class B_, class C_>
CU2PORT_MMA bool multiplied(A_&, B_&, C_&, Words<0>) {
    return false;
}

template <class Acc> struct Loose { typedef Acc type __attribute__((may_alias)); };

/// `Count` tiles in place of an array of accumulators in PTX's layout, between `keep` and `give`. The array is named in
/// each call: the compiler has to see that nothing else points to it.
template <class Acc, int Count, Lanes L_ = Lanes::tested> struct Kept {
    typedef typename InPtx<Acc>::fragment fragment;
    static constexpr int count = InPtx<Acc>::count;
    typedef typename Loose<typename InPtx<Acc>::type>::type Element;
    Tile<Acc> tiles[Count];

    template <class T> CU2PORT_MMA explicit Kept(T& array) {
        const Element* const from = reinterpret_cast<const Element*>(&array);
#pragma unroll
        for (int n = 0; n < Count; ++n) {
            fragment c;
            for (int i = 0; i < count; ++i) c[i] = from[count * n + i];
            tiles[n].from_ptx(c);
        }
    }
    template <class T> CU2PORT_MMA void give(T& array) const {
        Element* const to = reinterpret_cast<Element*>(&array);
#pragma unroll
        for (int n = 0; n < Count; ++n) {
            const fragment c = tiles[n].to_ptx();
            for (int i = 0; i < count; ++i) to[count * n + i] = c[i];
        }
    }
    /// The tile of four accumulators of the array, the first of which is at p.
    template <class T> CU2PORT_MMA Into<Acc> at(T& array, const void* p) {
        const long long bytes = static_cast<const char*>(p) - reinterpret_cast<const char*>(&array);
        return {tiles + bytes / InPtx<Acc>::bytes, L_, true};
    }
    /// The first tile of an element of the array that holds whole tiles.
    template <class T, class E_> CU2PORT_MMA Into<Acc> of(T& array, const E_& element) {
        static_assert(sizeof(E_) % InPtx<Acc>::bytes == 0, "whole tiles");
        return at(array, &element);
    }
    /// Does f to each of the four accumulators of the array that begin at p, whichever lane has it.
    template <class T, class F_> CU2PORT_MMA void each(T& array, const Acc* p, F_ f) { at(array, p).tile->each(f); }
};
/// The same where vector instructions multiply: nothing is kept.
template <class Acc, Lanes L_> struct Kept<Acc, 0, L_> {
    template <class T> CU2PORT_MMA explicit Kept(T&) {}
    template <class T> CU2PORT_MMA void give(T&) const {}
    template <class T> CU2PORT_MMA Into<Acc> at(T&, const void*) { return {nullptr, L_}; }
    template <class T, class E_> CU2PORT_MMA Into<Acc> of(T&, const E_&) { return {nullptr, L_}; }
    template <class T, class F_> CU2PORT_MMA void each(T&, Acc* p, F_ f) {
#pragma unroll
        for (int i = 0; i < 4; ++i) f(p[i]);
    }
};
}  // namespace matrix

/// How many tiles an array of accumulators is, 0 where vector instructions multiply.
template <class How, class A_, class B_, class Acc, class T> constexpr int tiles_of() {
    constexpr bool there = matrix::Multiplies<Acc, Element<T>, How, A_, B_>::value;
    static_assert(sizeof(T) % InPtx<Acc>::bytes == 0 || !there, "whole tiles");
    return there ? sizeof(T) / InPtx<Acc>::bytes : 0;
}

/// Takes over an array of accumulators, of products of `A` and `B` by `How`, where matrix instructions do them.
/// Until it is given back, only those products may touch it, with the tile in which its elements are, and `each`.
template <class How, class A_, class B_, class Acc, class T> CU2PORT_MMA auto keep(T& array) {
    return matrix::Kept<Acc, tiles_of<How, A_, B_, Acc, T>()>(array);
}

/// The same for a loop that all lanes which begin it are in until it ends: whether they are there is looked at once.
template <class How, class A_, class B_, class Acc, class T, class Loop>
CU2PORT_MMA void in_tiles(T& array, Loop loop) {
    if (__builtin_expect(matrix::together(), 1)) {
        matrix::Kept<Acc, tiles_of<How, A_, B_, Acc, T>(), Lanes::whole> kept(array);
        loop(kept);
        kept.give(array);
    } else {
        matrix::Kept<Acc, 0, Lanes::apart> kept(array);
        loop(kept);
    }
}

}  // namespace mma
}  // namespace cu2port

#endif
