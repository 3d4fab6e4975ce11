// Dense factorisations by plain loops, columns first, as LAPACK stores them: LU, Cholesky and QR.
#pragma once

namespace cu2port_sim {
namespace solver {

using blas::conjugate;
using blas::Matrix;

template <class T>
double size_of(T x) { return static_cast<double>(std::abs(x)); }
inline float real_part(float x) { return x; }
inline double real_part(double x) { return x; }
template <class R>
R real_part(std::complex<R> x) { return x.real(); }

// P A = L U with pivots from 1, none where `pivots` is null. The result: the first column without a pivot, from 1, or
// 0.
template <class T, class I>
int getrf(int m, int n, T* a, int lda, I* pivots) {
    const Matrix<T> out(a, lda);
    int info = 0;
    for (int j = 0; j < std::min(m, n); ++j) {
        int best = j;
        for (int i = j + 1; pivots && i < m; ++i)
            if (size_of(out(i, j)) > size_of(out(best, j))) best = i;
        if (pivots) pivots[j] = static_cast<I>(best + 1);
        if (out(best, j) == T(0)) {
            if (info == 0) info = j + 1;
            continue;
        }
        for (int k = 0; best != j && k < n; ++k) std::swap(out(j, k), out(best, k));
        for (int i = j + 1; i < m; ++i) {
            out(i, j) /= out(j, j);
            for (int k = j + 1; k < n; ++k) out(i, k) -= out(i, j) * out(j, k);
        }
    }
    return info;
}

// op(A) X = B from what getrf made of A; X replaces B.
template <class T, class I>
void getrs(void* handle, hipblasOperation_t op, int n, int systems, const T* a, int lda, const I* pivots, T* b, int ldb)
    {
    const Matrix<T> out(b, ldb);
    const T one(1);
    const auto swap_rows = [&](int i) {
        const int other = static_cast<int>(pivots[i]) - 1;
        for (int s = 0; other != i && s < systems; ++s) std::swap(out(i, s), out(other, s));
    };
    const auto solve = [&](hipblasFillMode_t fill, hipblasDiagType_t diagonal) {
        blas::trsm(handle, HIPBLAS_SIDE_LEFT, fill, op, diagonal, n, systems, &one, a, lda, b, ldb);
    };
    if (op == HIPBLAS_OP_N) {
        for (int i = 0; pivots && i < n; ++i) swap_rows(i);
        solve(HIPBLAS_FILL_MODE_LOWER, HIPBLAS_DIAG_UNIT);
        solve(HIPBLAS_FILL_MODE_UPPER, HIPBLAS_DIAG_NON_UNIT);
    } else {
        solve(HIPBLAS_FILL_MODE_UPPER, HIPBLAS_DIAG_NON_UNIT);
        solve(HIPBLAS_FILL_MODE_LOWER, HIPBLAS_DIAG_UNIT);
        for (int i = n - 1; pivots && i >= 0; --i) swap_rows(i);
    }
}

// A = L L^H, or U^H U, in the triangle that is given; the other is left. The result: the first leading minor that is
// not
// positive, from 1, or 0.
template <class T>
int potrf(hipblasFillMode_t fill, int n, T* a, int lda) {
    const bool lower = fill == HIPBLAS_FILL_MODE_LOWER;
    const Matrix<T> entries(a, lda);
    const auto l = [&](int i, int j) -> T& { return lower ? entries(i, j) : entries(j, i); };  // of U^H U the conjugate
    for (int j = 0; j < n; ++j) {
        auto sum = real_part(l(j, j));
        for (int k = 0; k < j; ++k) sum -= real_part(l(j, k) * conjugate(l(j, k)));
        if (!(sum > 0)) return j + 1;
        l(j, j) = T(std::sqrt(sum));
        for (int i = j + 1; i < n; ++i) {
            T rest = l(i, j);
            for (int k = 0; k < j; ++k) rest -= lower ? l(i, k) * conjugate(l(j, k)) : conjugate(l(j, k)) * l(i, k);
            l(i, j) = rest / l(j, j);
        }
    }
    return 0;
}

template <class T>
void potrs(void* handle, hipblasFillMode_t fill, int n, int systems, const T* a, int lda, T* b, int ldb) {
    const T one(1);
    const bool lower = fill == HIPBLAS_FILL_MODE_LOWER;
    for (const hipblasOperation_t op : {lower ? HIPBLAS_OP_N : HIPBLAS_OP_C, lower ? HIPBLAS_OP_C : HIPBLAS_OP_N})
        blas::trsm(handle, HIPBLAS_SIDE_LEFT, fill, op, HIPBLAS_DIAG_NON_UNIT, n, systems, &one, a, lda, b, ldb);
}

// The triangle of the inverse, from what potrf made.
template <class T>
void potri(void* handle, hipblasFillMode_t fill, int n, T* a, int lda) {
    std::vector<T> inverse(static_cast<std::size_t>(n) * n, T(0));
    for (int i = 0; i < n; ++i) inverse[static_cast<std::size_t>(i) * n + i] = T(1);
    potrs(handle, fill, n, n, a, lda, inverse.data(), n);
    const Matrix<T> out(a, lda), in(inverse.data(), n);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            if (i == j || (i > j) == (fill == HIPBLAS_FILL_MODE_LOWER)) out(i, j) = in(i, j);
}

// Householder's reflectors, H = 1 - tau v v^T with v(0) = 1: below the diagonal the rest of each v, above it R.
template <class T>
void geqrf(int m, int n, T* a, int lda, T* tau) {
    const Matrix<T> out(a, lda);
    for (int j = 0; j < std::min(m, n); ++j) {
        double rest = 0;
        for (int i = j + 1; i < m; ++i) rest += static_cast<double>(out(i, j)) * out(i, j);
        const double alpha = out(j, j), norm = std::sqrt(alpha * alpha + rest), beta = alpha > 0 ? -norm : norm;
        tau[j] = T(0);
        if (rest == 0) continue;
        tau[j] = static_cast<T>((beta - alpha) / beta);
        for (int i = j + 1; i < m; ++i) out(i, j) = static_cast<T>(out(i, j) / (alpha - beta));
        out(j, j) = static_cast<T>(beta);
        for (int k = j + 1; k < n; ++k) {
            T sum = out(j, k);
            for (int i = j + 1; i < m; ++i) sum += out(i, j) * out(i, k);
            out(j, k) -= tau[j] * sum;
            for (int i = j + 1; i < m; ++i) out(i, k) -= tau[j] * sum * out(i, j);
        }
    }
}

// C = op(Q) C, or C op(Q), where Q is the product of k reflectors.
template <class T>
void ormqr(hipblasSideMode_t side, hipblasOperation_t op, int m, int n, int k, const T* a, int lda, const T* tau, T* c,
    int ldc) {
    const bool left = side == HIPBLAS_SIDE_LEFT, forwards = left == (op != HIPBLAS_OP_N);
    const Matrix<const T> in(a, lda);
    const Matrix<T> out(c, ldc);
    for (int step = 0; step < k; ++step) {
        const int r = forwards ? step : k - 1 - step;
        for (int s = 0; s < (left ? n : m); ++s) {
            const auto x = [&](int i) -> T& { return left ? out(i, s) : out(s, i); };
            T sum = x(r);
            for (int i = r + 1; i < (left ? m : n); ++i) sum += in(i, r) * x(i);
            x(r) -= tau[r] * sum;
            for (int i = r + 1; i < (left ? m : n); ++i) x(i) -= tau[r] * sum * in(i, r);
        }
    }
}

// The first n columns of Q, in place of its reflectors.
template <class T>
void orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
    std::vector<T> q(static_cast<std::size_t>(m) * n, T(0));
    for (int i = 0; i < std::min(m, n); ++i) q[static_cast<std::size_t>(i) * m + i] = T(1);
    ormqr(HIPBLAS_SIDE_LEFT, HIPBLAS_OP_N, m, n, k, a, lda, tau, q.data(), m);
    const Matrix<T> out(a, lda), in(q.data(), m);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) out(i, j) = in(i, j);
}

}  // namespace solver
}  // namespace cu2port_sim
