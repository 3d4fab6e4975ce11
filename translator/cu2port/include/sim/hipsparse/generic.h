// hipSPARSE's generic functions. Scalars may be in host or device memory, whatever the pointer mode.
#pragma once

namespace cu2port_sim {
namespace sparse {
inline hipsparseStatus_t no_buffer(const void* handle, std::size_t* size) {
    if (size) *size = 16;
    return checked(handle, size != nullptr);
}
template <class S>
S scalar(const void* p, hipDataType type) { return p ? number_at<S>(p, type, 0) : S(0); }
inline bool same(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e, std::int64_t f) {
    return a == b && c == d && e == f;
}
}  // namespace sparse
}  // namespace cu2port_sim

inline hipsparseStatus_t hipsparseSpMV_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, const void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, const void*,
                                                  const hipsparseDnVecDescr_t, hipDataType, hipsparseSpMVAlg_t,
                                                  std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpMV_preprocess(hipsparseHandle_t h, hipsparseOperation_t, const void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t, const void*,
                                                  const hipsparseDnVecDescr_t, hipDataType, hipsparseSpMVAlg_t, void*) {
    return cu2port_sim::sparse::checked(h, true);
}
inline hipsparseStatus_t hipsparseSpMV(hipsparseHandle_t h, hipsparseOperation_t op, const void* alpha,
                                       hipsparseConstSpMatDescr_t a, hipsparseConstDnVecDescr_t x, const void* beta,
                                       const hipsparseDnVecDescr_t y, hipDataType type, hipsparseSpMVAlg_t, void*) {
    using namespace cu2port_sim::sparse;
    const auto status = checked(h, a && x && y && rows_of(*a, op) == y->size && columns_of(*a, op) == x->size);
    if (status) return status;
    return computed(type, {a->type, x->type, y->type}, [&](auto s) {
        using S = decltype(s);
        spmv(op, scalar<S>(alpha, type), *a, *x, scalar<S>(beta, type), *y);
    });
}
inline hipsparseStatus_t hipsparseSpMM_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t, const
    void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                                  const hipsparseDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t,
                                                  std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpMM_preprocess(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t, const
    void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                                  const hipsparseDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t, void*) {
    return cu2port_sim::sparse::checked(h, true);
}
inline hipsparseStatus_t hipsparseSpMM(hipsparseHandle_t h, hipsparseOperation_t op_a, hipsparseOperation_t op_b,
                                       const void* alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnMatDescr_t b,
                                       const void* beta, const hipsparseDnMatDescr_t c, hipDataType type,
                                           hipsparseSpMMAlg_t,
                                       void*) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && b && c)) return status;
    const View<double> right{*b, op_b};
    if (!same(rows_of(*a, op_a), c->rows, columns_of(*a, op_a), right.rows(), right.columns(), c->columns))
        return HIPSPARSE_STATUS_INVALID_VALUE;
    return computed(type, {a->type, b->type, c->type}, [&](auto s) {
        using S = decltype(s);
        spmm(op_a, scalar<S>(alpha, type), *a, View<S>{*b, op_b}, scalar<S>(beta, type), *c);
    });
}
inline hipsparseStatus_t hipsparseSDDMM_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t,
    const void*,
                                                   hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                                   hipsparseSpMatDescr_t, hipDataType, hipsparseSDDMMAlg_t, std::size_t*
                                                       size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSDDMM_preprocess(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t,
    const void*,
                                                   hipsparseConstDnMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                                   hipsparseSpMatDescr_t, hipDataType, hipsparseSDDMMAlg_t, void*) {
    return cu2port_sim::sparse::checked(h, true);
}
inline hipsparseStatus_t hipsparseSDDMM(hipsparseHandle_t h, hipsparseOperation_t op_a, hipsparseOperation_t op_b,
                                        const void* alpha, hipsparseConstDnMatDescr_t a, hipsparseConstDnMatDescr_t b,
                                        const void* beta, hipsparseSpMatDescr_t c, hipDataType type,
                                            hipsparseSDDMMAlg_t,
                                        void*) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && b && c)) return status;
    const View<double> left{*a, op_a}, right{*b, op_b};
    if (!same(left.rows(), c->rows, left.columns(), right.rows(), right.columns(), c->columns))
        return HIPSPARSE_STATUS_INVALID_VALUE;
    return computed(type, {a->type, b->type, c->type}, [&](auto s) {
        using S = decltype(s);
        sddmm(scalar<S>(alpha, type), View<S>{*a, op_a}, View<S>{*b, op_b}, scalar<S>(beta, type), *c);
    });
}

// The product of two sparse matrices: computed by the second call of `compute`, which has a buffer, and copied when the
// program has made room for it.
inline hipsparseStatus_t hipsparseSpGEMM_workEstimation(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t,
                                                        const void*, hipsparseConstSpMatDescr_t,
                                                            hipsparseConstSpMatDescr_t,
                                                        const void*, hipsparseSpMatDescr_t, hipDataType,
                                                            hipsparseSpGEMMAlg_t,
                                                        hipsparseSpGEMMDescr_t, std::size_t* size, void*) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpGEMM_compute(hipsparseHandle_t h, hipsparseOperation_t op_a, hipsparseOperation_t
    op_b,
                                                 const void* alpha, hipsparseConstSpMatDescr_t a,
                                                     hipsparseConstSpMatDescr_t b,
                                                 const void* beta, hipsparseSpMatDescr_t c, hipDataType type,
                                                 hipsparseSpGEMMAlg_t, hipsparseSpGEMMDescr_t made, std::size_t* size,
                                                 void* buffer) {
    using namespace cu2port_sim::sparse;
    const bool valid = a && b && c && made && size && c->format == HIPSPARSE_FORMAT_CSR;
    if (const auto status = checked(h, valid && columns_of(*a, op_a) == rows_of(*b, op_b))) return status;
    *size = 16;
    if (!buffer) return HIPSPARSE_STATUS_SUCCESS;
    return computed(type, {a->type, b->type, c->type}, [&](auto s) {
        using S = decltype(s);
        if (scalar<S>(beta, type) != S(0)) cu2port_sim::not_supported("hipsparseSpGEMM_compute with a beta");
        spgemm(scalar<S>(alpha, type), *a, op_a, *b, op_b, *made);
        c->count = static_cast<std::int64_t>(made->columns.size());
    });
}
inline hipsparseStatus_t hipsparseSpGEMM_copy(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t, const
    void*,
                                              hipsparseConstSpMatDescr_t, hipsparseConstSpMatDescr_t, const void*,
                                              hipsparseSpMatDescr_t c, hipDataType, hipsparseSpGEMMAlg_t,
                                              hipsparseSpGEMMDescr_t made) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, c && made && c->major && !made->offsets.empty())) return status;
    for (std::size_t i = 0; i < made->offsets.size(); ++i)
        put_index(c->major, c->major_type, static_cast<std::int64_t>(i), made->offsets[i] + c->base);
    for (std::size_t i = 0; i < made->columns.size(); ++i) {
        put_index(c->minor, c->minor_type, static_cast<std::int64_t>(i), made->columns[i] + c->base);
        put_number(c->values, c->type, static_cast<std::int64_t>(i), made->values[i]);
    }
    return HIPSPARSE_STATUS_SUCCESS;
}

inline hipsparseStatus_t hipsparseSpSV_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, const void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t,
                                                  const hipsparseDnVecDescr_t, hipDataType, hipsparseSpSVAlg_t,
                                                  hipsparseSpSVDescr_t, std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpSV_analysis(hipsparseHandle_t h, hipsparseOperation_t, const void*,
                                                hipsparseConstSpMatDescr_t, hipsparseConstDnVecDescr_t,
                                                const hipsparseDnVecDescr_t, hipDataType, hipsparseSpSVAlg_t,
                                                hipsparseSpSVDescr_t, void*) {
    return cu2port_sim::sparse::checked(h, true);
}
inline hipsparseStatus_t hipsparseSpSV_solve(hipsparseHandle_t h, hipsparseOperation_t op, const void* alpha,
                                             hipsparseConstSpMatDescr_t a, hipsparseConstDnVecDescr_t x,
                                             const hipsparseDnVecDescr_t y, hipDataType type, hipsparseSpSVAlg_t,
                                             hipsparseSpSVDescr_t) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && x && y && same(a->rows, a->columns, a->rows, x->size, a->rows, y->size)))
        return status;
    return computed(type, {a->type, x->type, y->type}, [&](auto s) {
        using S = decltype(s);
        solve_triangle(op, scalar<S>(alpha, type), *a, [&](std::int64_t i) { return number_at<S>(x->values, x->type, i);
            },
                       [&](std::int64_t i, S v) { put_number(y->values, y->type, i, v); });
    });
}
inline hipsparseStatus_t hipsparseSpSM_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t, const
    void*,
                                                  hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t,
                                                  const hipsparseDnMatDescr_t, hipDataType, hipsparseSpSMAlg_t,
                                                  hipsparseSpSMDescr_t, std::size_t* size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpSM_analysis(hipsparseHandle_t h, hipsparseOperation_t, hipsparseOperation_t, const
    void*,
                                                hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t,
                                                const hipsparseDnMatDescr_t, hipDataType, hipsparseSpSMAlg_t,
                                                hipsparseSpSMDescr_t, void*) {
    return cu2port_sim::sparse::checked(h, true);
}
inline hipsparseStatus_t hipsparseSpSM_solve(hipsparseHandle_t h, hipsparseOperation_t op_a, hipsparseOperation_t op_b,
                                             const void* alpha, hipsparseConstSpMatDescr_t a, hipsparseConstDnMatDescr_t
                                                 b,
                                             const hipsparseDnMatDescr_t c, hipDataType type, hipsparseSpSMAlg_t,
                                             hipsparseSpSMDescr_t, void* = nullptr) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, a && b && c)) return status;
    const View<double> right{*b, op_b};
    if (!same(a->rows, a->columns, a->rows, right.rows(), right.columns(), c->columns)) return
        HIPSPARSE_STATUS_INVALID_VALUE;
    return computed(type, {a->type, b->type, c->type}, [&](auto s) {
        using S = decltype(s);
        const View<S> in{*b, op_b};
        for (std::int64_t j = 0; j < c->columns; ++j)
            solve_triangle(op_a, scalar<S>(alpha, type), *a, [&](std::int64_t i) { return in(i, j); },
                           [&](std::int64_t i, S v) { put_number(c->values, c->type, c->at(i, j), v); });
    });
}

inline hipsparseStatus_t hipsparseGather(hipsparseHandle_t h, hipsparseConstDnVecDescr_t y, hipsparseSpVecDescr_t x) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, x && y)) return status;
    for (std::int64_t i = 0; i < x->count; ++i)
        put_number(x->values, x->type, i, number_at<Complex>(y->values, y->type, index_at(x->indices, x->index_type, i)
            - x->base));
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseScatter(hipsparseHandle_t h, hipsparseConstSpVecDescr_t x, hipsparseDnVecDescr_t y) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, x && y)) return status;
    for (std::int64_t i = 0; i < x->count; ++i)
        put_number(y->values, y->type, index_at(x->indices, x->index_type, i) - x->base, number_at<Complex>(x->values,
            x->type, i));
    return HIPSPARSE_STATUS_SUCCESS;
}
// y = alpha x + beta y. The scalars have the type of the vectors.
inline hipsparseStatus_t hipsparseAxpby(hipsparseHandle_t h, const void* alpha, hipsparseConstSpVecDescr_t x, const
    void* beta,
                                        hipsparseDnVecDescr_t y) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, x && y)) return status;
    return computed(y->type, {x->type}, [&](auto s) {
        using S = decltype(s);
        const S b = scalar<S>(beta, y->type);
        for (std::int64_t i = 0; i < y->size; ++i)
            put_number(y->values, y->type, i, b == S(0) ? S(0) : b * number_at<S>(y->values, y->type, i));
        for (std::int64_t i = 0; i < x->count; ++i) {
            const std::int64_t at = index_at(x->indices, x->index_type, i) - x->base;
            const S v = scalar<S>(alpha, y->type) * number_at<S>(x->values, x->type, i);
            put_number(y->values, y->type, at, v + number_at<S>(y->values, y->type, at));
        }
    });
}
inline hipsparseStatus_t hipsparseSpVV_bufferSize(hipsparseHandle_t h, hipsparseOperation_t, hipsparseConstSpVecDescr_t,
                                                  hipsparseConstDnVecDescr_t, const void*, hipDataType, std::size_t*
                                                      size) {
    return cu2port_sim::sparse::no_buffer(h, size);
}
inline hipsparseStatus_t hipsparseSpVV(hipsparseHandle_t h, hipsparseOperation_t op, hipsparseConstSpVecDescr_t x,
                                       hipsparseConstDnVecDescr_t y, void* result, hipDataType type, void*) {
    using namespace cu2port_sim::sparse;
    if (const auto status = checked(h, x && y && result)) return status;
    return computed(type, {x->type, y->type}, [&](auto s) {
        using S = decltype(s);
        S sum(0);
        for (std::int64_t i = 0; i < x->count; ++i) {
            const S v = number_at<S>(x->values, x->type, i);
            const S w = number_at<S>(y->values, y->type, index_at(x->indices, x->index_type, i) - x->base);
            sum += (op == HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugated(v) : v) * w;
        }
        put_number(result, type, 0, sum);
    });
}
