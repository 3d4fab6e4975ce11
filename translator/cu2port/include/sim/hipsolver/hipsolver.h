// hipSOLVER on the CPU: dense systems, least squares, eigenvalues and singular values of floats and doubles, and
// systems of
// complex numbers, by plain loops. No function uses the workspace that it asks for.
#pragma once
#define HIPSOLVER_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../hipblas/hipblas.h"
#include "factors.h"
#include "spectra.h"

enum hipsolverStatus_t {
    HIPSOLVER_STATUS_SUCCESS = 0, HIPSOLVER_STATUS_NOT_INITIALIZED = 1, HIPSOLVER_STATUS_ALLOC_FAILED = 2,
    HIPSOLVER_STATUS_INVALID_VALUE = 3, HIPSOLVER_STATUS_MAPPING_ERROR = 4, HIPSOLVER_STATUS_EXECUTION_FAILED = 5,
    HIPSOLVER_STATUS_INTERNAL_ERROR = 6, HIPSOLVER_STATUS_NOT_SUPPORTED = 7, HIPSOLVER_STATUS_ARCH_MISMATCH = 8,
    HIPSOLVER_STATUS_HANDLE_IS_NULLPTR = 9, HIPSOLVER_STATUS_INVALID_ENUM = 10, HIPSOLVER_STATUS_UNKNOWN = 11,
    HIPSOLVER_STATUS_ZERO_PIVOT = 12, HIPSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 13,
};
enum hipsolverEigMode_t { HIPSOLVER_EIG_MODE_NOVECTOR = 201, HIPSOLVER_EIG_MODE_VECTOR = 202 };
enum hipsolverEigType_t { HIPSOLVER_EIG_TYPE_1 = 211, HIPSOLVER_EIG_TYPE_2 = 212, HIPSOLVER_EIG_TYPE_3 = 213 };
enum hipsolverEigRange_t { HIPSOLVER_EIG_RANGE_ALL = 221, HIPSOLVER_EIG_RANGE_V = 222, HIPSOLVER_EIG_RANGE_I = 223 };
enum hipsolverDeterministicMode_t { HIPSOLVER_DETERMINISTIC_RESULTS = 241, HIPSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS =
    242 };
enum hipsolverDnFunction_t { HIPSOLVERDN_GETRF = 0, HIPSOLVERDN_POTRF = 1 };
enum hipsolverAlgMode_t { HIPSOLVER_ALG_0 = 0, HIPSOLVER_ALG_1 = 1 };
typedef hipblasOperation_t hipsolverOperation_t;
typedef hipblasFillMode_t hipsolverFillMode_t;
typedef hipblasSideMode_t hipsolverSideMode_t;
#define HIPSOLVER_OP_N HIPBLAS_OP_N
#define HIPSOLVER_OP_T HIPBLAS_OP_T
#define HIPSOLVER_OP_C HIPBLAS_OP_C
#define HIPSOLVER_FILL_MODE_UPPER HIPBLAS_FILL_MODE_UPPER
#define HIPSOLVER_FILL_MODE_LOWER HIPBLAS_FILL_MODE_LOWER
#define HIPSOLVER_SIDE_LEFT HIPBLAS_SIDE_LEFT
#define HIPSOLVER_SIDE_RIGHT HIPBLAS_SIDE_RIGHT

namespace cu2port_sim {
namespace solver {

struct Handle {
    hipStream_t stream = nullptr;
    hipsolverDeterministicMode_t mode = HIPSOLVER_DETERMINISTIC_RESULTS;
};
struct Rotations {  // what rotations are asked for; all rotate until nothing changes
    double tolerance = 0;
    int sweeps = kSweeps;
    int sorted = 1;
};
inline hipsolverStatus_t checked(const void* handle, bool valid) {
    if (!handle) return HIPSOLVER_STATUS_NOT_INITIALIZED;
    return valid ? HIPSOLVER_STATUS_SUCCESS : HIPSOLVER_STATUS_INVALID_VALUE;
}
inline bool fits(long long rows, long long columns, long long leading) {
    return rows >= 0 && columns >= 0 && leading >= std::max(1ll, rows);
}
template <class I>
hipsolverStatus_t size_told(const void* handle, bool valid, long long count, I* size) {
    const auto status = checked(handle, valid && size);
    if (!status) *size = static_cast<I>(std::max(1ll, count));
    return status;
}
inline void tell(int* info, int value) {
    if (info) *info = value;
}

template <class T>
hipsolverStatus_t gesvd(void* handle, char job_u, char job_v, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v,
    int ldv, int* info) {
    const int few = std::min(m, n);
    const int columns_u = job_u == 'A' ? m : job_u == 'S' ? few : 0, rows_v = job_v == 'A' ? n : job_v == 'S' ? few : 0;
    const auto status = checked(handle, fits(m, n, lda) && (!columns_u || ldu >= std::max(1, m)) && (!rows_v || ldv >=
        std::max(1, rows_v)) &&
                                            !(job_u == 'O' && job_v == 'O'));
    if (status) return status;
    const Singular it = singular(m, n, a, lda);
    std::transform(it.values.begin(), it.values.end(), s, [](double x) { return static_cast<T>(x); });
    put_columns(it.u, columns_u, u, ldu);
    put_rows(it.v, rows_v, v, ldv);
    if (job_u == 'O') put_columns(it.u, few, a, lda);
    if (job_v == 'O') put_rows(it.v, few, a, lda);
    tell(info, 0);
    return status;
}
template <class T>
hipsolverStatus_t gesvdj(void* handle, hipsolverEigMode_t job, bool few_only, int m, int n, T* a, int lda, T* s, T* u,
    int ldu, T* v,
                         int ldv, int* info) {
    const bool vectors = job == HIPSOLVER_EIG_MODE_VECTOR;
    const auto status = checked(handle, fits(m, n, lda) && (!vectors || (ldu >= std::max(1, m) && ldv >= std::max(1,
        n))));
    if (status) return status;
    const Singular it = singular(m, n, a, lda);
    std::transform(it.values.begin(), it.values.end(), s, [](double x) { return static_cast<T>(x); });
    put_columns(it.u, !vectors ? 0 : few_only ? std::min(m, n) : m, u, ldu);
    put_columns(it.v, !vectors ? 0 : few_only ? std::min(m, n) : n, v, ldv);
    tell(info, 0);
    return status;
}
template <class T>
hipsolverStatus_t syevd(void* handle, hipsolverEigMode_t job, hipblasFillMode_t fill, int n, T* a, int lda, T* w, int*
    info) {
    const auto status = checked(handle, fits(n, n, lda));
    if (status) return status;
    const Eigen it = eigen(symmetric(fill, n, a, lda));
    std::transform(it.values.begin(), it.values.end(), w, [](double x) { return static_cast<T>(x); });
    put_columns(it.vectors, job == HIPSOLVER_EIG_MODE_VECTOR ? n : 0, a, lda);
    tell(info, 0);
    return status;
}
// A x = w B x, A B x = w x or B A x = w x. B becomes its Cholesky factor.
template <class T>
hipsolverStatus_t sygvd(void* handle, hipsolverEigType_t type, hipsolverEigMode_t job, hipblasFillMode_t fill, int n, T*
    a, int lda, T* b,
                        int ldb, T* w, int* info) {
    auto status = checked(handle, fits(n, n, lda) && fits(n, n, ldb));
    if (status) return status;
    if (const int minor = potrf(fill, n, b, ldb)) return tell(info, n + minor), status;
    const bool lower = fill == HIPBLAS_FILL_MODE_LOWER, first = type == HIPSOLVER_EIG_TYPE_1;
    std::vector<double> c(static_cast<std::size_t>(n) * n), l(c.size(), 0);
    const Columns whole = symmetric(fill, n, a, lda);
    const Matrix<T> factor(b, ldb);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            c[i + static_cast<std::size_t>(j) * n] = whole[j][i];
            if (i >= j) l[i + static_cast<std::size_t>(j) * n] = lower ? factor(i, j) : factor(j, i);
        }
    const double one = 1, zero = 0;
    const auto solve = [&](hipblasSideMode_t side, hipblasOperation_t op, std::vector<double>& x) {
        blas::trsm(handle, side, HIPBLAS_FILL_MODE_LOWER, op, HIPBLAS_DIAG_NON_UNIT, n, n, &one, l.data(), std::max(1,
            n), x.data(), std::max(1, n));
    };
    const auto times = [&](hipblasOperation_t op, bool left, std::vector<double>& x) {
        std::vector<double> out(x.size());
        blas::gemm(handle, left ? op : HIPBLAS_OP_N, left ? HIPBLAS_OP_N : op, n, n, n, &one, left ? l.data() :
            x.data(), std::max(1, n),
                   left ? x.data() : l.data(), std::max(1, n), &zero, out.data(), std::max(1, n));
        x = out;
    };
    if (first) solve(HIPBLAS_SIDE_LEFT, HIPBLAS_OP_N, c), solve(HIPBLAS_SIDE_RIGHT, HIPBLAS_OP_T, c);
    else times(HIPBLAS_OP_T, true, c), times(HIPBLAS_OP_N, false, c);
    std::vector<double> values(static_cast<std::size_t>(n));
    status = syevd(handle, HIPSOLVER_EIG_MODE_VECTOR, HIPBLAS_FILL_MODE_LOWER, n, c.data(), std::max(1, n),
        values.data(), info);
    if (type == HIPSOLVER_EIG_TYPE_3) times(HIPBLAS_OP_N, true, c);
    else solve(HIPBLAS_SIDE_LEFT, HIPBLAS_OP_T, c);
    std::transform(values.begin(), values.end(), w, [](double x) { return static_cast<T>(x); });
    for (int j = 0; job == HIPSOLVER_EIG_MODE_VECTOR && j < n; ++j)
        for (int i = 0; i < n; ++i) a[i + static_cast<long long>(j) * lda] = static_cast<T>(c[i +
            static_cast<std::size_t>(j) * n]);
    return status;
}

// f(a value of the type); false where there is none.
template <class F>
bool with_type(hipDataType type, F f) {
    switch (type) {
        case HIP_R_32F: return f(float()), true;
        case HIP_R_64F: return f(double()), true;
        case HIP_C_32F: return f(std::complex<float>()), true;
        case HIP_C_64F: return f(std::complex<double>()), true;
        default: return false;
    }
}

}  // namespace solver
}  // namespace cu2port_sim

typedef cu2port_sim::solver::Handle* hipsolverHandle_t;
typedef hipsolverHandle_t hipsolverDnHandle_t;
typedef cu2port_sim::solver::Rotations* hipsolverGesvdjInfo_t;
typedef cu2port_sim::solver::Rotations* hipsolverSyevjInfo_t;
typedef struct cu2port_sim_solver_params* hipsolverDnParams_t;

#include "dense.h"
#include "dense64.h"
#include "not_simulated.h"
