// hipSPARSE's conversions, and tridiagonal systems.
#pragma once

inline hipsparseStatus_t hipsparseSparseToDense_bufferSize(hipsparseHandle_t h, hipsparseConstSpMatDescr_t,
    hipsparseDnMatDescr_t,
                                                           hipsparseSparseToDenseAlg_t, std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSparseToDense(hipsparseHandle_t h, hipsparseConstSpMatDescr_t a, hipsparseDnMatDescr_t
    b,
                                                hipsparseSparseToDenseAlg_t, void*) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && b && same(a->rows, b->rows, a->columns, b->columns, 0, 0))) return status;
    for (std::int64_t i = 0; i < b->rows; ++i)
        for (std::int64_t j = 0; j < b->columns; ++j) put_number(b->values, b->type, b->at(i, j), Complex(0));
    for (const Entry& e : stored(*a)) put_number(b->values, b->type, b->at(e.row, e.column),
        number_at<Complex>(a->values, a->type, e.at));
    return HIPSPARSE_STATUS_SUCCESS;
}

namespace cu2port_sim {
namespace sparse {
// f(row, column, value) for what is not zero, in the order of a format.
template <class F>
void each_other_than_zero(const Dense& a, hipsparseFormat_t format, F f) {
    const bool by_columns = format == HIPSPARSE_FORMAT_CSC;
    for (std::int64_t x = 0; x < (by_columns ? a.columns : a.rows); ++x)
        for (std::int64_t y = 0; y < (by_columns ? a.rows : a.columns); ++y) {
            const std::int64_t i = by_columns ? y : x, j = by_columns ? x : y;
            const Complex v = number_at<Complex>(a.values, a.type, a.at(i, j));
            if (v != Complex(0)) f(i, j, v);
        }
}
}  // namespace sparse
}  // namespace cu2port_sim

inline hipsparseStatus_t hipsparseDenseToSparse_bufferSize(hipsparseHandle_t h, hipsparseConstDnMatDescr_t,
    hipsparseSpMatDescr_t,
                                                           hipsparseDenseToSparseAlg_t, std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
// How many elements there are, and the offsets.
inline hipsparseStatus_t hipsparseDenseToSparse_analysis(hipsparseHandle_t h, hipsparseConstDnMatDescr_t a,
    hipsparseSpMatDescr_t b,
                                                         hipsparseDenseToSparseAlg_t, void*) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && b && same(a->rows, b->rows, a->columns, b->columns, 0, 0))) return status;
    const bool by_columns = b->format == HIPSPARSE_FORMAT_CSC;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(by_columns ? a->columns : a->rows), 0);
    b->count = 0;
    each_other_than_zero(*a, b->format, [&](std::int64_t i, std::int64_t j, Complex) { ++counts[by_columns ? j : i],
        ++b->count; });
    std::int64_t sum = b->base;
    if (b->format == HIPSPARSE_FORMAT_COO || !b->major) return HIPSPARSE_STATUS_SUCCESS;
    put_index(b->major, b->major_type, 0, sum);
    for (std::size_t i = 0; i < counts.size(); ++i) put_index(b->major, b->major_type, static_cast<std::int64_t>(i) + 1,
        sum += counts[i]);
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseDenseToSparse_convert(hipsparseHandle_t h, hipsparseConstDnMatDescr_t a,
    hipsparseSpMatDescr_t b,
                                                        hipsparseDenseToSparseAlg_t alg, void* buffer) {
    using namespace cu2port_sim::sparse;
    if (const auto status = hipsparseDenseToSparse_analysis(h, a, b, alg, buffer)) return status;
    std::int64_t at = 0;
    each_other_than_zero(*a, b->format, [&](std::int64_t i, std::int64_t j, Complex v) {
        if (b->format == HIPSPARSE_FORMAT_COO) put_index(b->major, b->major_type, at, i + b->base);
        put_index(b->minor, b->minor_type, at, (b->format == HIPSPARSE_FORMAT_CSC ? i : j) + b->base);
        put_number(b->values, b->type, at++, v);
    });
    return HIPSPARSE_STATUS_SUCCESS;
}

inline hipsparseStatus_t hipsparseCsr2cscEx2_bufferSize(hipsparseHandle_t h, int, int, int, const void*, const int*,
    const int*,
                                                        void*, int*, int*, hipDataType, hipsparseAction_t,
                                                            hipsparseIndexBase_t,
                                                        hipsparseCsr2CscAlg_t, std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseCsr2cscEx2(hipsparseHandle_t h, int m, int n, int count, const void* from, const int*
    rows,
                                             const int* columns, void* to, int* offsets, int* in_rows, hipDataType type,
                                             hipsparseAction_t action, hipsparseIndexBase_t base, hipsparseCsr2CscAlg_t,
                                                 void*) {
    using namespace cu2port_sim::sparse;
    const std::size_t bytes = bytes_of(type);
    if (const auto status = checked(h, m >= 0 && n >= 0 && count >= 0)) return status;
    if (bytes == 0) return HIPSPARSE_STATUS_NOT_SUPPORTED;
    std::fill(offsets, offsets + n + 1, 0);
    for (int i = 0; i < count; ++i) ++offsets[columns[i] - base + 1];
    for (int j = 0; j < n; ++j) offsets[j + 1] += offsets[j];
    std::vector<int> next(offsets, offsets + n);
    for (int i = 0; i < m; ++i)
        for (int k = rows[i] - base; k < rows[i + 1] - base; ++k) {
            const int at = next[columns[k] - base]++;
            in_rows[at] = i + base;
            if (action == HIPSPARSE_ACTION_NUMERIC)
                std::memcpy(static_cast<char*>(to) + at * bytes, static_cast<const char*>(from) + k * bytes, bytes);
        }
    for (int j = 0; j <= n; ++j) offsets[j] += base;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseXcsr2coo(hipsparseHandle_t h, const int* offsets, int count, int m, int* rows,
                                           hipsparseIndexBase_t base) {
    const auto status = cu2port_sim::sparse::checked(h, m >= 0 && count >= 0);
    for (int i = 0; !status && i < m; ++i)
        for (int k = offsets[i] - base; k < offsets[i + 1] - base; ++k) rows[k] = i + base;
    return status;
}
inline hipsparseStatus_t hipsparseXcoo2csr(hipsparseHandle_t h, const int* rows, int count, int m, int* offsets,
                                           hipsparseIndexBase_t base) {
    const auto status = cu2port_sim::sparse::checked(h, m >= 0 && count >= 0);
    if (status) return status;
    std::fill(offsets, offsets + m + 1, 0);
    for (int i = 0; i < count; ++i) ++offsets[rows[i] - base + 1];
    offsets[0] = base;
    for (int i = 0; i < m; ++i) offsets[i + 1] += offsets[i];
    return status;
}

#define CU2PORT_SIM_TRIDIAGONAL(P, T, U) \
    inline hipsparseStatus_t hipsparse##P##gtsv2_bufferSizeExt(hipsparseHandle_t h, int, int, const T*, const T*, \
        const T*, \
                                                               const T*, int, std::size_t* size) { \
        return cu2port_sim::sparse::no_buffer(h, size); \
    } \
    inline hipsparseStatus_t hipsparse##P##gtsv2_nopivot_bufferSizeExt(hipsparseHandle_t h, int, int, const T*, const \
        T*, \
                                                                       const T*, const T*, int, std::size_t* size) { \
        return cu2port_sim::sparse::no_buffer(h, size); \
    } \
    inline hipsparseStatus_t hipsparse##P##gtsv2StridedBatch_bufferSizeExt(hipsparseHandle_t h, int, const T*, const \
        T*, \
                                                                           const T*, const T*, int, int, \
                                                                           std::size_t* size) { \
        return cu2port_sim::sparse::no_buffer(h, size); \
    } \
    inline hipsparseStatus_t cu2port_sim_gtsv2(bool pivots, hipsparseHandle_t h, int m, int n, const T* below, \
                                               const T* diagonal, const T* above, T* b, int ldb) { \
        const auto status = cu2port_sim::sparse::checked(h, m >= 0 && n >= 0 && ldb >= std::max(1, m)); \
        for (int j = 0; !status && j < n; ++j) \
            cu2port_sim::sparse::tridiagonal(pivots, m, (const U*)below, (const U*)diagonal, (const U*)above, \
                                             (U*)b + static_cast<long long>(j) * ldb, 1); \
        return status; \
    } \
    inline hipsparseStatus_t hipsparse##P##gtsv2(hipsparseHandle_t h, int m, int n, const T* below, const T* diagonal, \
                                                 const T* above, T* b, int ldb, void*) { \
        return cu2port_sim_gtsv2(true, h, m, n, below, diagonal, above, b, ldb); \
    } \
    inline hipsparseStatus_t hipsparse##P##gtsv2_nopivot(hipsparseHandle_t h, int m, int n, const T* below, \
                                                         const T* diagonal, const T* above, T* b, int ldb, void*) { \
        return cu2port_sim_gtsv2(false, h, m, n, below, diagonal, above, b, ldb); \
    } \
    inline hipsparseStatus_t hipsparse##P##gtsv2StridedBatch(hipsparseHandle_t h, int m, const T* below, \
                                                             const T* diagonal, const T* above, T* x, int count, \
                                                             int step, void*) { \
        auto status = cu2port_sim::sparse::checked(h, count >= 0 && step >= m); \
        for (long long i = 0; !status && i < count; ++i) \
            status = cu2port_sim_gtsv2(false, h, m, 1, below + i * step, diagonal + i * step, above + i * step, \
                                       x + i * step, std::max(1, m)); \
        return status; \
    }
CU2PORT_SIM_TRIDIAGONAL(S, float, float)
CU2PORT_SIM_TRIDIAGONAL(D, double, double)
CU2PORT_SIM_TRIDIAGONAL(C, hipFloatComplex, std::complex<float>)
CU2PORT_SIM_TRIDIAGONAL(Z, hipDoubleComplex, std::complex<double>)
#undef CU2PORT_SIM_TRIDIAGONAL
