// rocWMMA's fragments: the lanes of a wave own one tile. Which lane has which element is left open by rocWMMA; here
// element e of a tile, counted by rows, is number e / wave of lane e % wave.
#pragma once

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rocwmma {

using std::int32_t;
using std::int8_t;
using std::uint32_t;
using std::uint8_t;
using float16_t = __half;
using hfloat16_t = __half;
using bfloat16_t = hip_bfloat16;
using float32_t = float;
using float64_t = double;

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t : uint32_t { mem_row_major, mem_col_major };

struct Constants {
    static constexpr uint32_t AMDGCN_WAVE_SIZE = cu2port_sim::kWave;
};

template <class Matrix, uint32_t M, uint32_t N, uint32_t K, class T, class Layout = void>
class fragment {
public:
    using element_type = T;
    using storage_type = T;
    static constexpr uint32_t rows = std::is_same_v<Matrix, matrix_b> ? K : M;
    static constexpr uint32_t columns = std::is_same_v<Matrix, matrix_a> ? K : N;
    static constexpr uint32_t wave = cu2port_sim::kWave;
    static constexpr uint32_t num_elements = rows * columns / wave;
    static_assert(rows * columns % wave == 0 && num_elements > 0, "the lanes of a wave have as many elements each");

    T x[num_elements];

    static constexpr uint32_t size() { return num_elements; }
    static constexpr uint32_t height() { return rows; }
    static constexpr uint32_t width() { return columns; }
    T& operator[](uint32_t i) { return x[i]; }
    const T& operator[](uint32_t i) const { return x[i]; }
};

namespace detail {

template <class F>
uint32_t place_in_tile(uint32_t i, uint32_t leading, bool by_rows) {
    const uint32_t e = i * F::wave + cu2port_sim::lane_id(), row = e / F::columns, column = e % F::columns;
    return by_rows ? row * leading + column : column * leading + row;
}

template <class F, class T>
void load_tile(F& to, const T* from, uint32_t leading, bool by_rows) {
    for (uint32_t i = 0; i < F::num_elements; ++i) to.x[i] = from[place_in_tile<F>(i, leading, by_rows)];
}

template <class F, class T>
void store_tile(T* to, const F& from, uint32_t leading, bool by_rows) {
    for (uint32_t i = 0; i < F::num_elements; ++i) to[place_in_tile<F>(i, leading, by_rows)] = from.x[i];
}

template <class F>
struct Tile {
    typename F::element_type at[F::rows * F::columns] = {};
};

// A whole tile, which all lanes show each other.
template <class F>
Tile<F> shown_tile(const F& mine) {
    Tile<F> out;
    for (uint32_t i = 0; i < F::num_elements; ++i) {
        const std::size_t size = sizeof mine.x[i];
        const auto m = cu2port_sim::meet(cu2port_sim::Kind::exchange, "mma_sync", &mine.x[i], size, {"rocwmma", 0});
        for (uint32_t lane = 0; lane < F::wave; ++lane)
            if (m.mask >> lane & 1) std::memcpy(&out.at[i * F::wave + lane], m.slots[lane].bytes, size);
    }
    return out;
}

template <class To, class T>
To as(const T& x) {
    if constexpr (std::is_arithmetic_v<T>) return static_cast<To>(x);
    else return static_cast<To>(static_cast<float>(x));
}

}  // namespace detail

template <class F>
void fill_fragment(F& frag, typename F::element_type value) {
    for (auto& x : frag.x) x = value;
}

template <class Matrix, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
void load_matrix_sync(fragment<Matrix, M, N, K, T, Layout>& frag, const T* data, uint32_t leading) {
    static_assert(!std::is_void_v<Layout>, "the fragment has no layout: give one to load_matrix_sync");
    detail::load_tile(frag, data, leading, std::is_same_v<Layout, row_major>);
}
template <uint32_t M, uint32_t N, uint32_t K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& frag, const T* data, uint32_t leading, layout_t layout) {
    detail::load_tile(frag, data, leading, layout == mem_row_major);
}

template <class Matrix, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
void store_matrix_sync(T* data, const fragment<Matrix, M, N, K, T, Layout>& frag, uint32_t leading) {
    static_assert(!std::is_void_v<Layout>, "the fragment has no layout: give one to store_matrix_sync");
    detail::store_tile(data, frag, leading, std::is_same_v<Layout, row_major>);
}
template <uint32_t M, uint32_t N, uint32_t K, class T>
void store_matrix_sync(T* data, const fragment<accumulator, M, N, K, T>& frag, uint32_t leading, layout_t layout) {
    detail::store_tile(data, frag, leading, layout == mem_row_major);
}

// d = a * b + c, products and sums in the type in which AMD's matrix units add up.
template <uint32_t M, uint32_t N, uint32_t K, class In, class Out, class A, class B, class C, class D>
void mma_sync(fragment<accumulator, M, N, K, Out, D>& d, const fragment<matrix_a, M, N, K, In, A>& a,
              const fragment<matrix_b, M, N, K, In, B>& b, const fragment<accumulator, M, N, K, Out, C>& c) {
    using Float = std::conditional_t<std::is_same_v<In, double>, double, float>;
    using Sum = std::conditional_t<std::is_integral_v<In>, int32_t, Float>;
    using Own = fragment<accumulator, M, N, K, Out, C>;
    const auto left = detail::shown_tile(a);
    const auto right = detail::shown_tile(b);
    for (uint32_t i = 0; i < Own::num_elements; ++i) {
        const uint32_t e = i * Own::wave + cu2port_sim::lane_id(), row = e / N, column = e % N;
        Sum sum = detail::as<Sum>(c.x[i]);
        for (uint32_t k = 0; k < K; ++k)
            sum += detail::as<Sum>(left.at[row * K + k]) * detail::as<Sum>(right.at[k * N + column]);
        d.x[i] = static_cast<Out>(sum);
    }
}

inline void synchronize_workgroup() { __syncthreads(); }

}  // namespace rocwmma
