// Products and triangular systems of sparse matrices.
#pragma once

namespace cu2port_sim {
namespace sparse {

// A dense matrix as an operation has it.
template <class S>
struct View {
    const Dense& of;
    hipsparseOperation_t op;
    std::int64_t rows() const { return is_plain(op) ? of.rows : of.columns; }
    std::int64_t columns() const { return is_plain(op) ? of.columns : of.rows; }
    S operator()(std::int64_t i, std::int64_t j) const {
        const S x = number_at<S>(of.values, of.type, is_plain(op) ? of.at(i, j) : of.at(j, i));
        return op == HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugated(x) : x;
    }
};
// What op(A) stores.
template <class S, class F>
void each(const Sparse& a, hipsparseOperation_t op, F f) {
    for (const Entry& e : stored(a)) {
        const S x = number_at<S>(a.values, a.type, e.at);
        if (is_plain(op)) f(e.row, e.column, x);
        else f(e.column, e.row, op == HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugated(x) : x);
    }
}
inline std::int64_t rows_of(const Sparse& a, hipsparseOperation_t op) { return is_plain(op) ? a.rows : a.columns; }
inline std::int64_t columns_of(const Sparse& a, hipsparseOperation_t op) { return is_plain(op) ? a.columns : a.rows; }

template <class S>
void spmv(hipsparseOperation_t op, S alpha, const Sparse& a, const Line& x, S beta, const Line& y) {
    std::vector<S> sums(static_cast<std::size_t>(y.size), S(0));
    each<S>(a, op, [&](std::int64_t i, std::int64_t j, S v) { sums[i] += v * number_at<S>(x.values, x.type, j); });
    for (std::int64_t i = 0; i < y.size; ++i)
        put_number(y.values, y.type, i, alpha * sums[i] + (beta == S(0) ? S(0) : beta * number_at<S>(y.values, y.type,
            i)));
}
template <class S>
void spmm(hipsparseOperation_t op_a, S alpha, const Sparse& a, const View<S>& b, S beta, const Dense& c) {
    std::vector<S> sums(static_cast<std::size_t>(c.rows * c.columns), S(0));
    each<S>(a, op_a, [&](std::int64_t i, std::int64_t k, S v) {
        for (std::int64_t j = 0; j < c.columns; ++j) sums[i * c.columns + j] += v * b(k, j);
    });
    for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int64_t j = 0; j < c.columns; ++j) {
            const S old = beta == S(0) ? S(0) : beta * number_at<S>(c.values, c.type, c.at(i, j));
            put_number(c.values, c.type, c.at(i, j), alpha * sums[i * c.columns + j] + old);
        }
}
// The elements of alpha A B that C stores.
template <class S>
void sddmm(S alpha, const View<S>& a, const View<S>& b, S beta, const Sparse& c) {
    for (const Entry& e : stored(c)) {
        S sum(0);
        for (std::int64_t k = 0; k < a.columns(); ++k) sum += a(e.row, k) * b(k, e.column);
        put_number(c.values, c.type, e.at, alpha * sum + (beta == S(0) ? S(0) : beta * number_at<S>(c.values, c.type,
            e.at)));
    }
}

struct Made {  // of two sparse matrices: the offsets of rows, the columns, and the values
    std::vector<std::int64_t> offsets, columns;
    std::vector<Complex> values;
};
template <class S>
void spgemm(S alpha, const Sparse& a, hipsparseOperation_t op_a, const Sparse& b, hipsparseOperation_t op_b, Made& out)
    {
    std::vector<std::vector<std::pair<std::int64_t, S>>> right(static_cast<std::size_t>(rows_of(b, op_b)));
    each<S>(b, op_b, [&](std::int64_t k, std::int64_t j, S v) { right[k].emplace_back(j, v); });
    std::vector<std::map<std::int64_t, S>> sums(static_cast<std::size_t>(rows_of(a, op_a)));
    each<S>(a, op_a, [&](std::int64_t i, std::int64_t k, S v) {
        for (const auto& [j, w] : right[k]) sums[i][j] += v * w;
    });
    out = Made{{0}, {}, {}};
    for (const auto& row : sums) {
        for (const auto& [j, v] : row) {
            out.columns.push_back(j);
            out.values.push_back(Complex(alpha * v));
        }
        out.offsets.push_back(static_cast<std::int64_t>(out.columns.size()));
    }
}

// op(A) x = alpha b, where A has one triangle: get(i), put(i, x).
template <class S, class Get, class Put>
void solve_triangle(hipsparseOperation_t op, S alpha, const Sparse& a, Get get, Put put) {
    const bool lower = (a.fill == HIPSPARSE_FILL_MODE_LOWER) == is_plain(op), unit = a.diagonal ==
        HIPSPARSE_DIAG_TYPE_UNIT;
    const std::int64_t n = a.rows;
    std::vector<std::vector<std::pair<std::int64_t, S>>> rows(static_cast<std::size_t>(n));
    std::vector<S> diagonal(static_cast<std::size_t>(n), S(unit ? 1 : 0)), x(static_cast<std::size_t>(n));
    each<S>(a, op, [&](std::int64_t i, std::int64_t j, S v) {
        if (i == j && !unit) diagonal[i] = v;
        else if (i != j && (i > j) == lower) rows[i].emplace_back(j, v);
    });
    for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t i = lower ? step : n - 1 - step;
        S sum = alpha * get(i);
        for (const auto& [j, v] : rows[i]) sum -= v * x[j];
        x[i] = sum / diagonal[i];
    }
    for (std::int64_t i = 0; i < n; ++i) put(i, x[i]);
}

// Tridiagonal systems, the columns of B; with pivots rows change places, which fills a second diagonal above.
template <class T>
void tridiagonal(bool pivots, int m, const T* below, const T* diagonal, const T* above, T* b, long long step) {
    std::vector<T> d(diagonal, diagonal + m), u(static_cast<std::size_t>(m) + 1, T(0)),
        second(static_cast<std::size_t>(m) + 2, T(0));
    for (int i = 0; i + 1 < m; ++i) u[i] = above[i];
    for (int i = 0; i + 1 < m; ++i) {
        T low = below[i + 1];
        if (pivots && std::abs(low) > std::abs(d[i])) {
            std::swap(low, d[i]);
            std::swap(u[i], d[i + 1]);
            std::swap(second[i], u[i + 1]);
            std::swap(b[i * step], b[(i + 1) * step]);
        }
        const T factor = low / d[i];
        d[i + 1] -= factor * u[i];
        u[i + 1] -= factor * second[i];
        b[(i + 1) * step] -= factor * b[i * step];
    }
    for (int i = m - 1; i >= 0; --i) {
        T sum = b[i * step];
        if (i + 1 < m) sum -= u[i] * b[(i + 1) * step];
        if (i + 2 < m) sum -= second[i] * b[(i + 2) * step];
        b[i * step] = sum / d[i];
    }
}

}  // namespace sparse
}  // namespace cu2port_sim
