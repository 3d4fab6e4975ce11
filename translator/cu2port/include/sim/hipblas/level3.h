// hipBLAS's other functions of matrices, by plain loops: triangular systems, symmetric products, sums and diagonals.
#pragma once

namespace cu2port_sim {
namespace blas {

// The element of op(A) at (i, j), of which A has one triangle; outside of it, 0 or, for symmetric ones, the mirrored one.
template <class T>
struct Triangle {
    Matrix<const T> of;
    bool lower, unit, conjugated;
    Triangle(const T* a, int lda, hipblasFillMode_t fill, hipblasOperation_t op, hipblasDiagType_t diagonal)
        : of(a, lda, op), lower((fill == HIPBLAS_FILL_MODE_LOWER) == (op == HIPBLAS_OP_N)),
          unit(diagonal == HIPBLAS_DIAG_UNIT), conjugated(op == HIPBLAS_OP_C) {}
    T operator()(int i, int j) const {
        if (i == j && unit) return T(1);
        return conjugated ? conjugate(of(i, j)) : of(i, j);
    }
    T mirrored(int i, int j) const { return (i >= j) == lower ? of(i, j) : of(j, i); }
};

// op(A) X = alpha B, or X op(A) = alpha B; X replaces B.
template <class T>
hipblasStatus_t trsm(void* handle, hipblasSideMode_t side, hipblasFillMode_t fill, hipblasOperation_t op,
                     hipblasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
    const bool left = side == HIPBLAS_SIDE_LEFT;
    const int size = left ? m : n, systems = left ? n : m;
    const auto status = checked(handle, m >= 0 && n >= 0 && lda >= std::max(1, size) && ldb >= std::max(1, m));
    if (status || m == 0 || n == 0) return status;
    const Triangle<T> known(a, lda, fill, op, diagonal);
    const Matrix<T> out(b, ldb);
    const bool forwards = known.lower == left;  // from the left, a lower triangle gives its first unknown first
    for (int s = 0; s < systems; ++s) {
        const auto x = [&](int i) -> T& { return left ? out(i, s) : out(s, i); };
        for (int step = 0; step < size; ++step) {
            const int i = forwards ? step : size - 1 - step;
            if (*alpha == T(0)) {
                x(i) = T(0);
                continue;
            }
            T sum = *alpha * x(i);
            for (int done = 0; done < step; ++done) {
                const int j = forwards ? done : size - 1 - done;
                sum -= (left ? known(i, j) : known(j, i)) * x(j);
            }
            x(i) = known.unit ? sum : sum / known(i, i);
        }
    }
    return status;
}

// One triangle of C = alpha op(A) op(A)^T + beta C.
template <class T>
hipblasStatus_t syrk(void* handle, hipblasFillMode_t fill, hipblasOperation_t op, int n, int k, const T* alpha, const T* a,
                     int lda, const T* beta, T* c, int ldc) {
    const int rows = op == HIPBLAS_OP_N ? n : k;
    const auto status = checked(handle, n >= 0 && k >= 0 && lda >= std::max(1, rows) && ldc >= std::max(1, n));
    const Matrix<const T> in(a, lda, op);
    const Matrix<T> out(c, ldc);
    for (int j = 0; !status && j < n; ++j)
        for (int i = 0; i < n; ++i) {
            if (fill != HIPBLAS_FILL_MODE_FULL && i != j && (i > j) != (fill == HIPBLAS_FILL_MODE_LOWER)) continue;
            T sum = T(0);
            for (int p = 0; p < k && *alpha != T(0); ++p) sum += in(i, p) * in(j, p);
            out(i, j) = *alpha * sum + (*beta == T(0) ? T(0) : *beta * out(i, j));
        }
    return status;
}

// C = alpha A B + beta C, or B A, with a symmetric A of which one triangle is read.
template <class T>
hipblasStatus_t symm(void* handle, hipblasSideMode_t side, hipblasFillMode_t fill, int m, int n, const T* alpha, const T* a,
                     int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
    const bool left = side == HIPBLAS_SIDE_LEFT;
    const int size = left ? m : n;
    const auto status = checked(handle, m >= 0 && n >= 0 && lda >= std::max(1, size) && ldb >= std::max(1, m) &&
                                            ldc >= std::max(1, m));
    const Triangle<T> known(a, lda, fill, HIPBLAS_OP_N, HIPBLAS_DIAG_NON_UNIT);
    const Matrix<const T> in(b, ldb);
    const Matrix<T> out(c, ldc);
    for (int j = 0; !status && j < n; ++j)
        for (int i = 0; i < m; ++i) {
            T sum = T(0);
            for (int p = 0; p < size && *alpha != T(0); ++p)
                sum += left ? known.mirrored(i, p) * in(p, j) : in(i, p) * known.mirrored(p, j);
            out(i, j) = *alpha * sum + (*beta == T(0) ? T(0) : *beta * out(i, j));
        }
    return status;
}

// C = alpha op(A) + beta op(B). A factor of 0 does not read its matrix; C may be A or B where that is not transposed.
template <class T>
hipblasStatus_t geam(void* handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, const T* alpha,
                     const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
    const int rows_a = op_a == HIPBLAS_OP_N ? m : n, rows_b = op_b == HIPBLAS_OP_N ? m : n;
    const auto status = checked(handle, m >= 0 && n >= 0 && lda >= std::max(1, rows_a) && ldb >= std::max(1, rows_b) &&
                                            ldc >= std::max(1, m));
    const Matrix<const T> left(a, lda, op_a), right(b, ldb, op_b);
    const Matrix<T> out(c, ldc);
    const auto part = [](const T& factor, const Matrix<const T>& of, hipblasOperation_t op, int i, int j) {
        if (factor == T(0)) return T(0);
        return factor * (op == HIPBLAS_OP_C ? conjugate(of(i, j)) : of(i, j));
    };
    for (int j = 0; !status && j < n; ++j)
        for (int i = 0; i < m; ++i) out(i, j) = part(*alpha, left, op_a, i, j) + part(*beta, right, op_b, i, j);
    return status;
}

// C = diag(x) A, or A diag(x).
template <class T>
hipblasStatus_t dgmm(void* handle, hipblasSideMode_t side, int m, int n, const T* a, int lda, const T* x, int incx, T* c,
                     int ldc) {
    const bool left = side == HIPBLAS_SIDE_LEFT;
    const auto status = checked(handle, m >= 0 && n >= 0 && lda >= std::max(1, m) && ldc >= std::max(1, m));
    const Matrix<const T> in(a, lda);
    const Vector<const T> diagonal(x, left ? m : n, incx);
    const Matrix<T> out(c, ldc);
    for (int j = 0; !status && j < n; ++j)
        for (int i = 0; i < m; ++i) out(i, j) = in(i, j) * diagonal[left ? i : j];
    return status;
}

}  // namespace blas
}  // namespace cu2port_sim

// T: the type of the interface, U: the one that has arithmetic.
#define CU2PORT_SIM_BLAS_LEVEL3(P, T, U)                                                                                \
    inline hipblasStatus_t hipblas##P##trsm(hipblasHandle_t h, hipblasSideMode_t side, hipblasFillMode_t fill,          \
                                            hipblasOperation_t op, hipblasDiagType_t diagonal, int m, int n,            \
                                            const T* alpha, const T* a, int lda, T* b, int ldb) {                       \
        return cu2port_sim::blas::trsm(h, side, fill, op, diagonal, m, n, (const U*)alpha, (const U*)a, lda, (U*)b,     \
                                       ldb);                                                                           \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##trsmBatched(                                                                    \
        hipblasHandle_t h, hipblasSideMode_t side, hipblasFillMode_t fill, hipblasOperation_t op,                       \
        hipblasDiagType_t diagonal, int m, int n, const T* alpha, const T* const a[], int lda, T* const b[], int ldb,   \
        int count) {                                                                                                   \
        hipblasStatus_t status = cu2port_sim::blas::checked(h, count >= 0);                                             \
        for (int i = 0; status == HIPBLAS_STATUS_SUCCESS && i < count; ++i)                                             \
            status = hipblas##P##trsm(h, side, fill, op, diagonal, m, n, alpha, a[i], lda, b[i], ldb);                  \
        return status;                                                                                                 \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##syrk(hipblasHandle_t h, hipblasFillMode_t fill, hipblasOperation_t op, int n,    \
                                            int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc) { \
        return cu2port_sim::blas::syrk(h, fill, op, n, k, (const U*)alpha, (const U*)a, lda, (const U*)beta, (U*)c,     \
                                       ldc);                                                                           \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##symm(hipblasHandle_t h, hipblasSideMode_t side, hipblasFillMode_t fill, int m,   \
                                            int n, const T* alpha, const T* a, int lda, const T* b, int ldb,            \
                                            const T* beta, T* c, int ldc) {                                             \
        return cu2port_sim::blas::symm(h, side, fill, m, n, (const U*)alpha, (const U*)a, lda, (const U*)b, ldb,        \
                                       (const U*)beta, (U*)c, ldc);                                                     \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##geam(hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, \
                                            int n, const T* alpha, const T* a, int lda, const T* beta, const T* b,      \
                                            int ldb, T* c, int ldc) {                                                   \
        return cu2port_sim::blas::geam(h, op_a, op_b, m, n, (const U*)alpha, (const U*)a, lda, (const U*)beta,          \
                                       (const U*)b, ldb, (U*)c, ldc);                                                   \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##dgmm(hipblasHandle_t h, hipblasSideMode_t side, int m, int n, const T* a,        \
                                            int lda, const T* x, int incx, T* c, int ldc) {                             \
        return cu2port_sim::blas::dgmm(h, side, m, n, (const U*)a, lda, (const U*)x, incx, (U*)c, ldc);                 \
    }
CU2PORT_SIM_BLAS_LEVEL3(S, float, float)
CU2PORT_SIM_BLAS_LEVEL3(D, double, double)
CU2PORT_SIM_BLAS_LEVEL3(C, hipComplex, std::complex<float>)
CU2PORT_SIM_BLAS_LEVEL3(Z, hipDoubleComplex, std::complex<double>)
#undef CU2PORT_SIM_BLAS_LEVEL3
