// hipBLAS on the CPU: vectors, gemv, ger and gemm by plain loops in the order of the indices, columns first.
//
// Scalars and results may be in host or device memory, whatever the pointer mode.
#pragma once
#define HIPBLAS_H

#include <cmath>
#include <complex>

#include "../hip/hip_bf16.h"
#include "../hip/hip_complex.h"
#include "../hip/hip_fp16.h"
#include "../hip/hip_runtime.h"
#include "../hip/library_types.h"

typedef hipComplex hipblasComplex;
typedef hipDoubleComplex hipblasDoubleComplex;
enum hipblasStatus_t {
    HIPBLAS_STATUS_SUCCESS = 0, HIPBLAS_STATUS_NOT_INITIALIZED = 1, HIPBLAS_STATUS_ALLOC_FAILED = 2,
    HIPBLAS_STATUS_INVALID_VALUE = 3, HIPBLAS_STATUS_MAPPING_ERROR = 4, HIPBLAS_STATUS_EXECUTION_FAILED = 5,
    HIPBLAS_STATUS_INTERNAL_ERROR = 6, HIPBLAS_STATUS_NOT_SUPPORTED = 7, HIPBLAS_STATUS_ARCH_MISMATCH = 8,
    HIPBLAS_STATUS_HANDLE_IS_NULLPTR = 9, HIPBLAS_STATUS_INVALID_ENUM = 10, HIPBLAS_STATUS_UNKNOWN = 11,
};
enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 };
enum hipblasFillMode_t { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122, HIPBLAS_FILL_MODE_FULL = 123 };
enum hipblasDiagType_t { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 };
enum hipblasSideMode_t { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142 };
enum hipblasPointerMode_t { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE };
enum hipblasAtomicsMode_t { HIPBLAS_ATOMICS_NOT_ALLOWED, HIPBLAS_ATOMICS_ALLOWED };
enum hipblasMath_t { HIPBLAS_DEFAULT_MATH = 0, HIPBLAS_XF32_XDL_MATH = 1, HIPBLAS_PEDANTIC_MATH = 2,
                     HIPBLAS_TF32_TENSOR_OP_MATH = 3, HIPBLAS_TENSOR_OP_MATH = 5 };
enum hipblasGemmAlgo_t { HIPBLAS_GEMM_DEFAULT = 160 };
enum hipblasComputeType_t {
    HIPBLAS_COMPUTE_16F = 0, HIPBLAS_COMPUTE_16F_PEDANTIC = 1, HIPBLAS_COMPUTE_32F = 2, HIPBLAS_COMPUTE_32F_PEDANTIC = 3,
    HIPBLAS_COMPUTE_32F_FAST_16F = 4, HIPBLAS_COMPUTE_32F_FAST_16BF = 5, HIPBLAS_COMPUTE_32F_FAST_TF32 = 6,
    HIPBLAS_COMPUTE_64F = 7, HIPBLAS_COMPUTE_64F_PEDANTIC = 8, HIPBLAS_COMPUTE_32I = 9, HIPBLAS_COMPUTE_32I_PEDANTIC = 10,
};
typedef long long hipblasStride;
typedef __half hipblasHalf;

namespace cu2port_sim {
namespace blas {

struct Handle {
    hipStream_t stream = nullptr;
    hipblasPointerMode_t pointers = HIPBLAS_POINTER_MODE_HOST;
    hipblasAtomicsMode_t atomics = HIPBLAS_ATOMICS_ALLOWED;
    hipblasMath_t math = HIPBLAS_DEFAULT_MATH;
};

inline hipblasStatus_t checked(const void* handle, bool valid) {
    if (!handle) return HIPBLAS_STATUS_NOT_INITIALIZED;
    return valid ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_INVALID_VALUE;
}

// A vector as BLAS strides it: with a negative step the last element comes first.
template <class T>
struct Vector {
    T* first;
    long long step;
    Vector(T* p, int n, int increment)
        : first(increment < 0 ? p - static_cast<long long>(n - 1) * increment : p), step(increment) {}
    T& operator[](int i) const { return first[i * step]; }
};

inline float conjugate(float x) { return x; }
inline double conjugate(double x) { return x; }
template <class R>
std::complex<R> conjugate(std::complex<R> x) { return std::conj(x); }

// A matrix in columns, or its transpose.
template <class T>
struct Matrix {
    T* first;
    long long row, column;
    Matrix(T* p, int leading, hipblasOperation_t op = HIPBLAS_OP_N)
        : first(p), row(op == HIPBLAS_OP_N ? 1 : leading), column(op == HIPBLAS_OP_N ? leading : 1) {}
    T& operator()(int i, int j) const { return first[i * row + j * column]; }
};

// C = alpha A B + beta C, computed in type S: the one of alpha and beta. A beta of 0 does not read C.
template <class S, class A, class B, class C>
hipblasStatus_t gemm(void* handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k, const S* alpha,
                     const A* a, int lda, const B* b, int ldb, const S* beta, C* c, int ldc) {
    const int rows_a = op_a == HIPBLAS_OP_N ? m : k, rows_b = op_b == HIPBLAS_OP_N ? k : n;
    const auto status = checked(handle, m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, rows_a) &&
                                            ldb >= std::max(1, rows_b) && ldc >= std::max(1, m));
    if (status || m == 0 || n == 0) return status;
    const Matrix<const A> left(a, lda, op_a);
    const Matrix<const B> right(b, ldb, op_b);
    const Matrix<C> out(c, ldc);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            S sum = S(0);
            for (int p = 0; p < k && *alpha != S(0); ++p) {
                S x = static_cast<S>(left(i, p)), y = static_cast<S>(right(p, j));
                if (op_a == HIPBLAS_OP_C) x = conjugate(x);
                if (op_b == HIPBLAS_OP_C) y = conjugate(y);
                sum += x * y;
            }
            sum *= *alpha;
            if (*beta != S(0)) sum += *beta * static_cast<S>(out(i, j));
            out(i, j) = static_cast<C>(sum);
        }
    return status;
}

template <class T>
hipblasStatus_t gemv(void* handle, hipblasOperation_t op, int m, int n, const T* alpha, const T* a, int lda, const T* x,
                     int incx, const T* beta, T* y, int incy) {
    const auto status = checked(handle, m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy);
    if (status || m == 0 || n == 0) return status;
    const int rows = op == HIPBLAS_OP_N ? m : n, columns = op == HIPBLAS_OP_N ? n : m;
    const Matrix<const T> left(a, lda, op);
    const Vector<const T> in(x, columns, incx);
    const Vector<T> out(y, rows, incy);
    for (int i = 0; i < rows; ++i) {
        T sum = T(0);
        for (int j = 0; j < columns; ++j) sum += (op == HIPBLAS_OP_C ? conjugate(left(i, j)) : left(i, j)) * in[j];
        out[i] = *alpha * sum + (*beta == T(0) ? T(0) : *beta * out[i]);
    }
    return status;
}

// What a hipDataType means, given to `f` as a value of the type; false when it is not known here.
template <class F>
bool with_type(hipDataType type, F f) {
    switch (type) {
        case HIP_R_32F: f(float()); return true;
        case HIP_R_64F: f(double()); return true;
        case HIP_R_16F: f(__half()); return true;
        case HIP_R_16BF: f(__hip_bfloat16()); return true;
        case HIP_R_8I: f(static_cast<signed char>(0)); return true;
        case HIP_R_32I: f(0); return true;
        default: return false;
    }
}
inline bool with_compute(hipblasComputeType_t type, bool halves, hipDataType c) {
    switch (type) {  // which pairs gemm_ex takes: floats by floats, doubles by doubles, bytes by integers
        case HIPBLAS_COMPUTE_64F: return c == HIP_R_64F;
        case HIPBLAS_COMPUTE_32I: return c == HIP_R_32I;
        case HIPBLAS_COMPUTE_16F: return halves;
        case HIPBLAS_COMPUTE_32F: return c == HIP_R_32F || c == HIP_R_16F || c == HIP_R_16BF;
        default: return false;  // hipBLAS rejects the others on AMD GPUs
    }
}

template <class S>
hipblasStatus_t gemm_typed(void* handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k, S alpha,
                           const void* a, hipDataType type_a, int lda, const void* b, hipDataType type_b, int ldb, S beta,
                           void* c, hipDataType type_c, int ldc) {
    hipblasStatus_t status = HIPBLAS_STATUS_NOT_SUPPORTED;
    if (type_a != type_b) return status;
    with_type(type_a, [&](auto in) {
        with_type(type_c, [&](auto out) {
            using In = decltype(in);
            status = gemm(handle, op_a, op_b, m, n, k, &alpha, static_cast<const In*>(a), lda, static_cast<const In*>(b),
                          ldb, &beta, static_cast<decltype(out)*>(c), ldc);
        });
    });
    return status;
}

inline hipblasStatus_t gemm_ex(void* handle, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k,
                               const void* alpha, const void* a, hipDataType type_a, int lda, const void* b,
                               hipDataType type_b, int ldb, const void* beta, void* c, hipDataType type_c, int ldc,
                               hipblasComputeType_t compute) {
    if (!with_compute(compute, type_a == HIP_R_16F && type_c == HIP_R_16F, type_c)) return HIPBLAS_STATUS_NOT_SUPPORTED;
    const auto run = [&](auto one, auto zero) {
        return gemm_typed(handle, op_a, op_b, m, n, k, one, a, type_a, lda, b, type_b, ldb, zero, c, type_c, ldc);
    };
    switch (compute) {
        case HIPBLAS_COMPUTE_64F: return run(*static_cast<const double*>(alpha), *static_cast<const double*>(beta));
        case HIPBLAS_COMPUTE_16F:
            return run(static_cast<float>(*static_cast<const __half*>(alpha)),
                       static_cast<float>(*static_cast<const __half*>(beta)));
        case HIPBLAS_COMPUTE_32I:
            return run(static_cast<double>(*static_cast<const int*>(alpha)),
                       static_cast<double>(*static_cast<const int*>(beta)));
        default: return run(*static_cast<const float*>(alpha), *static_cast<const float*>(beta));
    }
}

}  // namespace blas
}  // namespace cu2port_sim

typedef cu2port_sim::blas::Handle* hipblasHandle_t;

inline hipblasStatus_t hipblasCreate(hipblasHandle_t* handle) {
    if (!handle) return HIPBLAS_STATUS_HANDLE_IS_NULLPTR;
    *handle = new cu2port_sim::blas::Handle;
    return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasDestroy(hipblasHandle_t handle) {
    delete handle;
    return cu2port_sim::blas::checked(handle, true);
}
#define CU2PORT_SIM_BLAS_SETTING(NAME, TYPE, MEMBER)                             \
    inline hipblasStatus_t hipblasSet##NAME(hipblasHandle_t handle, TYPE value) { \
        if (handle) handle->MEMBER = value;                                      \
        return cu2port_sim::blas::checked(handle, true);                         \
    }                                                                            \
    inline hipblasStatus_t hipblasGet##NAME(hipblasHandle_t handle, TYPE* value) { \
        if (handle) *value = handle->MEMBER;                                     \
        return cu2port_sim::blas::checked(handle, true);                         \
    }
CU2PORT_SIM_BLAS_SETTING(Stream, hipStream_t, stream)
CU2PORT_SIM_BLAS_SETTING(PointerMode, hipblasPointerMode_t, pointers)
CU2PORT_SIM_BLAS_SETTING(AtomicsMode, hipblasAtomicsMode_t, atomics)
CU2PORT_SIM_BLAS_SETTING(MathMode, hipblasMath_t, math)
#undef CU2PORT_SIM_BLAS_SETTING
inline const char* hipblasStatusToString(hipblasStatus_t status) {
    static const char* const names[] = {
        "HIPBLAS_STATUS_SUCCESS", "HIPBLAS_STATUS_NOT_INITIALIZED", "HIPBLAS_STATUS_ALLOC_FAILED",
        "HIPBLAS_STATUS_INVALID_VALUE", "HIPBLAS_STATUS_MAPPING_ERROR", "HIPBLAS_STATUS_EXECUTION_FAILED",
        "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED", "HIPBLAS_STATUS_ARCH_MISMATCH",
        "HIPBLAS_STATUS_HANDLE_IS_NULLPTR", "HIPBLAS_STATUS_INVALID_ENUM", "HIPBLAS_STATUS_UNKNOWN"};
    return names[status < HIPBLAS_STATUS_UNKNOWN ? status : HIPBLAS_STATUS_UNKNOWN];
}

// Copies between host and device: vectors with steps, matrices with leading dimensions.
inline hipblasStatus_t hipblasSetMatrix(int rows, int columns, int size, const void* from, int lda, void* to, int ldb) {
    if (rows < 0 || columns < 0 || size <= 0 || lda < std::max(1, rows) || ldb < std::max(1, rows))
        return HIPBLAS_STATUS_INVALID_VALUE;
    for (long long j = 0; j < columns; ++j)
        std::memcpy(static_cast<char*>(to) + j * ldb * size, static_cast<const char*>(from) + j * lda * size,
                    static_cast<std::size_t>(rows) * size);
    return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasGetMatrix(int rows, int columns, int size, const void* from, int lda, void* to, int ldb) {
    return hipblasSetMatrix(rows, columns, size, from, lda, to, ldb);
}
inline hipblasStatus_t hipblasSetVector(int n, int size, const void* from, int incx, void* to, int incy) {
    return hipblasSetMatrix(1, n, size, from, incx, to, incy);
}
inline hipblasStatus_t hipblasGetVector(int n, int size, const void* from, int incx, void* to, int incy) {
    return hipblasSetMatrix(1, n, size, from, incx, to, incy);
}

// What moves elements, of any type.
#define CU2PORT_SIM_BLAS_MOVES(P, T)                                                                                     \
    inline hipblasStatus_t hipblas##P##copy(hipblasHandle_t h, int n, const T* x, int incx, T* y, int incy) {           \
        const cu2port_sim::blas::Vector<const T> in(x, n, incx);                                                        \
        const cu2port_sim::blas::Vector<T> out(y, n, incy);                                                             \
        for (int i = 0; h && i < n; ++i) out[i] = in[i];                                                                \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##swap(hipblasHandle_t h, int n, T* x, int incx, T* y, int incy) {                 \
        const cu2port_sim::blas::Vector<T> a(x, n, incx), b(y, n, incy);                                                \
        for (int i = 0; h && i < n; ++i) std::swap(a[i], b[i]);                                                         \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }
CU2PORT_SIM_BLAS_MOVES(S, float)
CU2PORT_SIM_BLAS_MOVES(D, double)
CU2PORT_SIM_BLAS_MOVES(C, hipComplex)
CU2PORT_SIM_BLAS_MOVES(Z, hipDoubleComplex)
#undef CU2PORT_SIM_BLAS_MOVES

#define CU2PORT_SIM_BLAS_REAL(P, p, T)                                                                              \
    inline hipblasStatus_t hipblas##P##axpy(hipblasHandle_t h, int n, const T* alpha, const T* x, int incx, T* y,       \
                                            int incy) {                                                                \
        const cu2port_sim::blas::Vector<const T> in(x, n, incx);                                                        \
        const cu2port_sim::blas::Vector<T> out(y, n, incy);                                                             \
        for (int i = 0; h && i < n; ++i) out[i] += *alpha * in[i];                                                      \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##scal(hipblasHandle_t h, int n, const T* alpha, T* x, int incx) {                 \
        for (int i = 0; h && incx > 0 && i < n; ++i) x[i * static_cast<long long>(incx)] *= *alpha;                     \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##dot(hipblasHandle_t h, int n, const T* x, int incx, const T* y, int incy,        \
                                           T* result) {                                                                \
        const cu2port_sim::blas::Vector<const T> a(x, n, incx), b(y, n, incy);                                          \
        T sum = 0;                                                                                                     \
        for (int i = 0; h && i < n; ++i) sum += a[i] * b[i];                                                            \
        if (h) *result = sum;                                                                                          \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##nrm2(hipblasHandle_t h, int n, const T* x, int incx, T* result) {                \
        double sum = 0; /* in double, so that squares of floats do not overflow */                                     \
        for (int i = 0; h && incx > 0 && i < n; ++i) {                                                                 \
            const double v = x[i * static_cast<long long>(incx)];                                                      \
            sum += v * v;                                                                                              \
        }                                                                                                              \
        if (h) *result = static_cast<T>(std::sqrt(sum));                                                               \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##asum(hipblasHandle_t h, int n, const T* x, int incx, T* result) {                \
        T sum = 0;                                                                                                     \
        for (int i = 0; h && incx > 0 && i < n; ++i) sum += std::abs(x[i * static_cast<long long>(incx)]);              \
        if (h) *result = sum;                                                                                          \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t cu2port_sim_index_##P(hipblasHandle_t h, int n, const T* x, int incx, int* result, bool smallest) { \
        int best = 0; /* counted from 1; the first of equals */                                                        \
        for (int i = 0; h && incx > 0 && i < n; ++i) {                                                                 \
            const T v = std::abs(x[i * static_cast<long long>(incx)]);                                                 \
            const T top = best ? std::abs(x[(best - 1) * static_cast<long long>(incx)]) : T();                         \
            if (!best || (smallest ? v < top : top < v)) best = i + 1;                                                 \
        }                                                                                                              \
        if (h) *result = best;                                                                                         \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblasI##p##amax(hipblasHandle_t h, int n, const T* x, int incx, int* result) {             \
        return cu2port_sim_index_##P(h, n, x, incx, result, false);                                                           \
    }                                                                                                                  \
    inline hipblasStatus_t hipblasI##p##amin(hipblasHandle_t h, int n, const T* x, int incx, int* result) {             \
        return cu2port_sim_index_##P(h, n, x, incx, result, true);                                                            \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##ger(hipblasHandle_t h, int m, int n, const T* alpha, const T* x, int incx,       \
                                           const T* y, int incy, T* a, int lda) {                                      \
        const cu2port_sim::blas::Vector<const T> left(x, m, incx), right(y, n, incy);                                   \
        const cu2port_sim::blas::Matrix<T> out(a, lda);                                                                 \
        for (int j = 0; h && j < n; ++j)                                                                               \
            for (int i = 0; i < m; ++i) out(i, j) += *alpha * left[i] * right[j];                                       \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }
CU2PORT_SIM_BLAS_REAL(S, s, float)
CU2PORT_SIM_BLAS_REAL(D, d, double)
#undef CU2PORT_SIM_BLAS_REAL

// R: the real type, r: its letter.
#define CU2PORT_SIM_BLAS_COMPLEX(P, r, Q, T, R)                                                                          \
    inline hipblasStatus_t hipblas##P##axpy(hipblasHandle_t h, int n, const T* alpha, const T* x, int incx, T* y,       \
                                            int incy) {                                                                \
        const cu2port_sim::blas::Vector<const std::complex<R>> in((const std::complex<R>*)x, n, incx);                  \
        const cu2port_sim::blas::Vector<std::complex<R>> out((std::complex<R>*)y, n, incy);                             \
        for (int i = 0; h && i < n; ++i) out[i] += *(const std::complex<R>*)alpha * in[i];                              \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##scal(hipblasHandle_t h, int n, const T* alpha, T* x, int incx) {                 \
        for (int i = 0; h && incx > 0 && i < n; ++i)                                                                    \
            ((std::complex<R>*)x)[i * static_cast<long long>(incx)] *= *(const std::complex<R>*)alpha;                  \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##r##scal(hipblasHandle_t h, int n, const R* alpha, T* x, int incx) {              \
        for (int i = 0; h && incx > 0 && i < n; ++i) ((std::complex<R>*)x)[i * static_cast<long long>(incx)] *= *alpha; \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t cu2port_sim_dot_##P(hipblasHandle_t h, int n, const T* x, int incx, const T* y, int incy,    \
                                               T* result, bool conjugated) {                                            \
        const cu2port_sim::blas::Vector<const std::complex<R>> a((const std::complex<R>*)x, n, incx),                   \
            b((const std::complex<R>*)y, n, incy);                                                                     \
        std::complex<R> sum = 0;                                                                                       \
        for (int i = 0; h && i < n; ++i) sum += (conjugated ? std::conj(a[i]) : a[i]) * b[i];                           \
        if (h) *(std::complex<R>*)result = sum;                                                                        \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##dotu(hipblasHandle_t h, int n, const T* x, int incx, const T* y, int incy,       \
                                            T* result) {                                                               \
        return cu2port_sim_dot_##P(h, n, x, incx, y, incy, result, false);                                              \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##dotc(hipblasHandle_t h, int n, const T* x, int incx, const T* y, int incy,       \
                                            T* result) {                                                               \
        return cu2port_sim_dot_##P(h, n, x, incx, y, incy, result, true);                                               \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##Q##nrm2(hipblasHandle_t h, int n, const T* x, int incx, R* result) {                \
        double sum = 0;                                                                                                \
        for (int i = 0; h && incx > 0 && i < n; ++i) {                                                                 \
            const std::complex<double> v(((const std::complex<R>*)x)[i * static_cast<long long>(incx)]);               \
            sum += v.real() * v.real() + v.imag() * v.imag();                                                          \
        }                                                                                                              \
        if (h) *result = static_cast<R>(std::sqrt(sum));                                                               \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##Q##asum(hipblasHandle_t h, int n, const T* x, int incx, R* result) {                \
        R sum = 0; /* of the absolute values of both parts */                                                          \
        for (int i = 0; h && incx > 0 && i < n; ++i) {                                                                 \
            const std::complex<R> v = ((const std::complex<R>*)x)[i * static_cast<long long>(incx)];                   \
            sum += std::abs(v.real()) + std::abs(v.imag());                                                            \
        }                                                                                                              \
        if (h) *result = sum;                                                                                          \
        return cu2port_sim::blas::checked(h, true);                                                                    \
    }
CU2PORT_SIM_BLAS_COMPLEX(C, s, Sc, hipComplex, float)
CU2PORT_SIM_BLAS_COMPLEX(Z, d, Dz, hipDoubleComplex, double)
#undef CU2PORT_SIM_BLAS_COMPLEX

// T: the type of the interface, U: the one that has arithmetic.
#define CU2PORT_SIM_BLAS_MATRIX(P, T, U)                                                                                \
    inline hipblasStatus_t hipblas##P##gemv(hipblasHandle_t h, hipblasOperation_t op, int m, int n, const T* alpha,     \
                                            const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy) { \
        return cu2port_sim::blas::gemv(h, op, m, n, (const U*)alpha, (const U*)a, lda, (const U*)x, incx,               \
                                       (const U*)beta, (U*)y, incy);                                                    \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##gemm(hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, \
                                            int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,     \
                                            const T* beta, T* c, int ldc) {                                             \
        return cu2port_sim::blas::gemm(h, op_a, op_b, m, n, k, (const U*)alpha, (const U*)a, lda, (const U*)b, ldb,     \
                                       (const U*)beta, (U*)c, ldc);                                                     \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##gemmStridedBatched(                                                             \
        hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k, const T* alpha,       \
        const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc, \
        long long stride_c, int count) {                                                                               \
        hipblasStatus_t status = cu2port_sim::blas::checked(h, count >= 0);                                             \
        for (int i = 0; status == HIPBLAS_STATUS_SUCCESS && i < count; ++i)                                             \
            status = hipblas##P##gemm(h, op_a, op_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb,      \
                                      beta, c + i * stride_c, ldc);                                                     \
        return status;                                                                                                 \
    }                                                                                                                  \
    inline hipblasStatus_t hipblas##P##gemmBatched(                                                                    \
        hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k, const T* alpha,       \
        const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {    \
        hipblasStatus_t status = cu2port_sim::blas::checked(h, count >= 0);                                             \
        for (int i = 0; status == HIPBLAS_STATUS_SUCCESS && i < count; ++i)                                             \
            status = hipblas##P##gemm(h, op_a, op_b, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);            \
        return status;                                                                                                 \
    }
CU2PORT_SIM_BLAS_MATRIX(S, float, float)
CU2PORT_SIM_BLAS_MATRIX(D, double, double)
CU2PORT_SIM_BLAS_MATRIX(C, hipComplex, std::complex<float>)
CU2PORT_SIM_BLAS_MATRIX(Z, hipDoubleComplex, std::complex<double>)
#undef CU2PORT_SIM_BLAS_MATRIX

inline hipblasStatus_t hipblasHgemm(hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k,
                                    const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
                                    const __half* beta, __half* c, int ldc) {
    return cu2port_sim::blas::gemm_ex(h, op_a, op_b, m, n, k, alpha, a, HIP_R_16F, lda, b, HIP_R_16F, ldb, beta, c,
                                      HIP_R_16F, ldc, HIPBLAS_COMPUTE_16F);
}
inline hipblasStatus_t hipblasGemmEx(hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n,
                                     int k, const void* alpha, const void* a, hipDataType type_a, int lda, const void* b,
                                     hipDataType type_b, int ldb, const void* beta, void* c, hipDataType type_c, int ldc,
                                     hipblasComputeType_t compute, hipblasGemmAlgo_t) {
    return cu2port_sim::blas::gemm_ex(h, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                                      compute);
}
inline hipblasStatus_t hipblasGemmStridedBatchedEx(
    hipblasHandle_t h, hipblasOperation_t op_a, hipblasOperation_t op_b, int m, int n, int k, const void* alpha,
    const void* a, hipDataType type_a, int lda, long long stride_a, const void* b, hipDataType type_b, int ldb,
    long long stride_b, const void* beta, void* c, hipDataType type_c, int ldc, long long stride_c, int count,
    hipblasComputeType_t compute, hipblasGemmAlgo_t) {
    const auto at = [](const void* p, hipDataType type, long long n) {
        long long size = 0;
        cu2port_sim::blas::with_type(type, [&](auto x) { size = sizeof x; });
        return static_cast<char*>(const_cast<void*>(p)) + n * size;
    };
    hipblasStatus_t status = cu2port_sim::blas::checked(h, count >= 0);
    for (int i = 0; status == HIPBLAS_STATUS_SUCCESS && i < count; ++i)
        status = cu2port_sim::blas::gemm_ex(h, op_a, op_b, m, n, k, alpha, at(a, type_a, i * stride_a), type_a, lda,
                                            at(b, type_b, i * stride_b), type_b, ldb, beta, at(c, type_c, i * stride_c),
                                            type_c, ldc, compute);
    return status;
}

#include "level3.h"
#include "not_simulated.h"
