// hipBLASLt on the CPU: products of matrices with batches, bias, ReLU, GELU, their inputs kept and their gradients.
//
// What is computed is said by descriptions: a matrix has rows, columns, a leading dimension, an order and batches; a
// product has transposed factors and an epilogue, whose parts are the bits of its number. There is one algorithm.
#pragma once

#include <vector>

#include "../hipblas/hipblas.h"

enum hipblasLtEpilogue_t {
    HIPBLASLT_EPILOGUE_DEFAULT = 1, HIPBLASLT_EPILOGUE_RELU = 2, HIPBLASLT_EPILOGUE_BIAS = 4,
    HIPBLASLT_EPILOGUE_RELU_BIAS = 6, HIPBLASLT_EPILOGUE_GELU = 32, HIPBLASLT_EPILOGUE_GELU_BIAS = 36,
    HIPBLASLT_EPILOGUE_GELU_AUX = 160, HIPBLASLT_EPILOGUE_GELU_AUX_BIAS = 164, HIPBLASLT_EPILOGUE_DGELU = 192,
    HIPBLASLT_EPILOGUE_DGELU_BGRAD = 208, HIPBLASLT_EPILOGUE_BGRADA = 256, HIPBLASLT_EPILOGUE_BGRADB = 512,
};
enum hipblasLtMatrixLayoutAttribute_t {
    HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1,
    HIPBLASLT_MATRIX_LAYOUT_TYPE = 2, HIPBLASLT_MATRIX_LAYOUT_ORDER = 3, HIPBLASLT_MATRIX_LAYOUT_ROWS = 4,
    HIPBLASLT_MATRIX_LAYOUT_COLS = 5, HIPBLASLT_MATRIX_LAYOUT_LD = 6,
};
enum hipblasLtPointerMode_t {
    HIPBLASLT_POINTER_MODE_HOST = 0, HIPBLASLT_POINTER_MODE_DEVICE = 1,
    HIPBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST = 4,
};
enum hipblasLtMatmulDescAttributes_t {
    HIPBLASLT_MATMUL_DESC_TRANSA = 0, HIPBLASLT_MATMUL_DESC_TRANSB = 1, HIPBLASLT_MATMUL_DESC_EPILOGUE = 2,
    HIPBLASLT_MATMUL_DESC_BIAS_POINTER = 3, HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 4,
    HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = 5, HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER = 6,
    HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER = 7, HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER = 8,
    HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER = 9, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 10,
    HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 11, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 12,
    HIPBLASLT_MATMUL_DESC_POINTER_MODE = 13, HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER = 14,
};
enum hipblasLtMatmulPreferenceAttributes_t {
    HIPBLASLT_MATMUL_PREF_SEARCH_MODE = 0, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1, HIPBLASLT_MATMUL_PREF_MAX = 2,
};
enum hipblasLtOrder_t { HIPBLASLT_ORDER_COL = 0, HIPBLASLT_ORDER_ROW = 1 };

namespace cu2port_sim {
namespace blas_lt {

struct Layout {
    hipDataType type = HIP_R_32F;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t leading = 0, step = 0;
    std::int32_t count = 1;
    hipblasLtOrder_t order = HIPBLASLT_ORDER_COL;

    std::int64_t at(std::uint64_t i, std::uint64_t j, int batch) const {
        const auto [slow, fast] = order == HIPBLASLT_ORDER_COL ? std::pair(j, i) : std::pair(i, j);
        return batch * step + static_cast<std::int64_t>(slow) * leading + static_cast<std::int64_t>(fast);
    }
};

struct Product {
    hipblasComputeType_t compute = HIPBLAS_COMPUTE_32F;
    hipDataType scale = HIP_R_32F;
    hipblasOperation_t op_a = HIPBLAS_OP_N, op_b = HIPBLAS_OP_N;
    std::uint32_t epilogue = HIPBLASLT_EPILOGUE_DEFAULT;
    void *bias = nullptr, *aux = nullptr;
    std::int32_t bias_type = -1, pointers = HIPBLASLT_POINTER_MODE_HOST;  // -1: the type of D
    std::int64_t aux_leading = 0, aux_step = 0;
    bool scaled = false;  // by what is not simulated
};
constexpr std::uint32_t RELU = 2, BIAS = 4, BIAS_GRADIENT = 16, GELU = 32, GRADIENT = 64, AUX = 128, A_SUMS = 256,
                        B_SUMS = 512;

struct Preference {
    std::uint64_t workspace = 0;
};

template <class T>
hipblasStatus_t set(T& to, const void* from, std::size_t size) {
    if (!from || size < sizeof to) return HIPBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, from, sizeof to);
    return HIPBLAS_STATUS_SUCCESS;
}
template <class T>
hipblasStatus_t make(T** out, T value) {
    if (!out) return HIPBLAS_STATUS_INVALID_VALUE;
    *out = new T(value);
    return HIPBLAS_STATUS_SUCCESS;
}

// An element of memory whose type a hipDataType says.
template <class S>
S read(const void* p, hipDataType type, std::int64_t i) {
    S out = S();
    blas::with_type(type, [&](auto x) { out = static_cast<S>(static_cast<const decltype(x)*>(p)[i]); });
    return out;
}
template <class S>
void write(void* p, hipDataType type, std::int64_t i, S value) {
    blas::with_type(type, [&](auto x) {
        using T = decltype(x);
        static_cast<T*>(p)[i] = static_cast<T>(value);
    });
}

// A factor as it is multiplied, in columns: `rows` and `columns` after its operation.
template <class S>
std::vector<S> factor(const void* p, const Layout& l, hipblasOperation_t op, int batch) {
    const bool plain = op == HIPBLAS_OP_N;
    const std::uint64_t rows = plain ? l.rows : l.columns, columns = plain ? l.columns : l.rows;
    std::vector<S> out(rows * columns);
    blas::with_type(l.type, [&](auto x) {
        const auto* from = static_cast<const decltype(x)*>(p);
        for (std::uint64_t j = 0; j < columns; ++j)
            for (std::uint64_t i = 0; i < rows; ++i)
                out[j * rows + i] = static_cast<S>(from[plain ? l.at(i, j, batch) : l.at(j, i, batch)]);
    });
    return out;
}

// GELU by tanh, and its derivative.
inline double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
inline double gelu_gradient(double x) {
    const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

template <class S>
void sums(const std::vector<S>& of, std::uint64_t rows, bool of_rows, void* out, hipDataType type) {
    const std::uint64_t columns = rows ? of.size() / rows : 0;
    for (std::uint64_t i = 0; i < (of_rows ? rows : columns); ++i) {
        S sum = S();
        for (std::uint64_t j = 0; j < (of_rows ? columns : rows); ++j) sum += of_rows ? of[j * rows + i] : of[i * rows + j];
        write(out, type, static_cast<std::int64_t>(i), sum);
    }
}

template <class S>
void multiply(const Product& w, S alpha, const void* a, const Layout& la, const void* b, const Layout& lb, S beta,
              const void* c, const Layout& lc, void* d, const Layout& ld, int batch) {
    const auto left = factor<S>(a, la, w.op_a, batch), right = factor<S>(b, lb, w.op_b, batch);
    const std::uint64_t m = ld.rows, n = ld.columns, k = w.op_a == HIPBLAS_OP_N ? la.columns : la.rows;
    const auto bias_type = w.bias_type < 0 ? ld.type : static_cast<hipDataType>(w.bias_type);
    if (w.epilogue & A_SUMS) sums(left, m, true, w.bias, bias_type);
    if (w.epilogue & B_SUMS) sums(right, k, false, w.bias, bias_type);
    std::vector<S> all(m * n);
    for (std::uint64_t j = 0; j < n; ++j)
        for (std::uint64_t i = 0; i < m; ++i) {
            S sum = S();
            for (std::uint64_t p = 0; p < k; ++p) sum += left[p * m + i] * right[j * k + p];
            sum *= alpha;
            if (beta != S()) sum += beta * read<S>(c, lc.type, lc.at(i, j, batch));
            if (w.epilogue & BIAS) sum += read<S>(w.bias, bias_type, static_cast<std::int64_t>(i));
            const auto kept = batch * w.aux_step + static_cast<std::int64_t>(j) * w.aux_leading + static_cast<std::int64_t>(i);
            if (w.epilogue & GRADIENT)
                sum *= static_cast<S>(gelu_gradient(read<double>(w.aux, ld.type, kept)));
            else if (w.epilogue & AUX)
                write(w.aux, ld.type, kept, sum);
            if (w.epilogue & GELU) sum = static_cast<S>(gelu(static_cast<double>(sum)));
            if ((w.epilogue & RELU) && sum < S()) sum = S();
            all[j * m + i] = sum;
            write(d, ld.type, ld.at(i, j, batch), sum);
        }
    if (w.epilogue & BIAS_GRADIENT) sums(all, m, true, w.bias, bias_type);
}

inline bool fits(const Product& w, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
    const auto [m, k] = w.op_a == HIPBLAS_OP_N ? std::pair(a.rows, a.columns) : std::pair(a.columns, a.rows);
    const auto [k2, n] = w.op_b == HIPBLAS_OP_N ? std::pair(b.rows, b.columns) : std::pair(b.columns, b.rows);
    const bool sized = k == k2 && d.rows == m && d.columns == n && c.rows == m && c.columns == n;
    return sized && a.count == d.count && b.count == d.count && c.count == d.count;
}
inline bool has_types(const Product& w, std::initializer_list<hipDataType> types) {
    bool out = !w.scaled && w.pointers != HIPBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
    for (const auto type : types) out = out && blas::with_type(type, [](auto) {});
    return out && (w.scale == HIP_R_32F || w.scale == HIP_R_64F || w.scale == HIP_R_32I);
}

}  // namespace blas_lt
}  // namespace cu2port_sim

typedef cu2port_sim::blas::Handle* hipblasLtHandle_t;
typedef cu2port_sim::blas_lt::Layout* hipblasLtMatrixLayout_t;
typedef cu2port_sim::blas_lt::Product* hipblasLtMatmulDesc_t;
typedef cu2port_sim::blas_lt::Preference* hipblasLtMatmulPreference_t;
struct hipblasLtMatmulAlgo_t {
    std::uint8_t data[16] = {0};
    std::size_t max_workspace_bytes = 0;
};
struct hipblasLtMatmulHeuristicResult_t {
    hipblasLtMatmulAlgo_t algo;
    std::size_t workspaceSize = 0;
    hipblasStatus_t state = HIPBLAS_STATUS_SUCCESS;
    float wavesCount = 1.0f;
    int reserved[4] = {0};
};

inline hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t* handle) { return hipblasCreate(handle); }
inline hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t handle) { return hipblasDestroy(handle); }

inline hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t* layout, hipDataType type, std::uint64_t rows,
                                                   std::uint64_t columns, std::int64_t leading) {
    return cu2port_sim::blas_lt::make(layout, cu2port_sim::blas_lt::Layout{type, rows, columns, leading});
}
inline hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t layout) {
    delete layout;
    return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t l, hipblasLtMatrixLayoutAttribute_t what,
                                                         const void* from, std::size_t size) {
    using cu2port_sim::blas_lt::set;
    switch (what) {
        case HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(l->count, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(l->step, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_TYPE: return set(l->type, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_ORDER: return set(l->order, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_ROWS: return set(l->rows, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_COLS: return set(l->columns, from, size);
        case HIPBLASLT_MATRIX_LAYOUT_LD: return set(l->leading, from, size);
    }
    return HIPBLAS_STATUS_INVALID_VALUE;
}

inline hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t* desc, hipblasComputeType_t compute,
                                                 hipDataType scale) {
    return cu2port_sim::blas_lt::make(desc, cu2port_sim::blas_lt::Product{compute, scale});
}
inline hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t desc) {
    delete desc;
    return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t w, hipblasLtMatmulDescAttributes_t what,
                                                       const void* from, std::size_t size) {
    using cu2port_sim::blas_lt::set;
    switch (what) {
        case HIPBLASLT_MATMUL_DESC_TRANSA: return set(w->op_a, from, size);
        case HIPBLASLT_MATMUL_DESC_TRANSB: return set(w->op_b, from, size);
        case HIPBLASLT_MATMUL_DESC_EPILOGUE: return set(w->epilogue, from, size);
        case HIPBLASLT_MATMUL_DESC_BIAS_POINTER: return set(w->bias, from, size);
        case HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set(w->bias_type, from, size);
        case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return set(w->aux, from, size);
        case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return set(w->aux_leading, from, size);
        case HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return set(w->aux_step, from, size);
        case HIPBLASLT_MATMUL_DESC_POINTER_MODE: return set(w->pointers, from, size);
        default: break;
    }
    void* scale = nullptr;
    const auto status = set(scale, from, size);
    w->scaled = w->scaled || scale;
    return status;
}

inline hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t* preference) {
    return cu2port_sim::blas_lt::make(preference, cu2port_sim::blas_lt::Preference{});
}
inline hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t preference) {
    delete preference;
    return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t preference,
                                                             hipblasLtMatmulPreferenceAttributes_t what,
                                                             const void* from, std::size_t size) {
    if (what != HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return HIPBLAS_STATUS_SUCCESS;
    return cu2port_sim::blas_lt::set(preference->workspace, from, size);
}

inline hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(
    hipblasLtHandle_t handle, hipblasLtMatmulDesc_t w, hipblasLtMatrixLayout_t a, hipblasLtMatrixLayout_t b,
    hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d, hipblasLtMatmulPreference_t, int wanted,
    hipblasLtMatmulHeuristicResult_t* results, int* found) {
    const auto status = cu2port_sim::blas::checked(handle, wanted > 0 && results && found);
    if (status) return status;
    const bool known = cu2port_sim::blas_lt::has_types(*w, {a->type, b->type, c->type, d->type});
    *found = known && cu2port_sim::blas_lt::fits(*w, *a, *b, *c, *d);
    if (*found) results[0] = hipblasLtMatmulHeuristicResult_t{};
    return known ? status : HIPBLAS_STATUS_NOT_SUPPORTED;
}

inline hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t w, const void* alpha, const void* a,
                                       hipblasLtMatrixLayout_t la, const void* b, hipblasLtMatrixLayout_t lb,
                                       const void* beta, const void* c, hipblasLtMatrixLayout_t lc, void* d,
                                       hipblasLtMatrixLayout_t ld, const hipblasLtMatmulAlgo_t*, void*, std::size_t,
                                       hipStream_t) {
    namespace lt = cu2port_sim::blas_lt;
    const auto status = cu2port_sim::blas::checked(handle, lt::fits(*w, *la, *lb, *lc, *ld));
    if (status) return status;
    if (!lt::has_types(*w, {la->type, lb->type, lc->type, ld->type})) {
        cu2port_sim::not_supported("hipblasLtMatmul with these types or scales");
        return HIPBLAS_STATUS_NOT_SUPPORTED;
    }
    const auto run = [&](auto zero, hipDataType scale) {  // computed in the type of `zero`
        using S = decltype(zero);
        for (int batch = 0; batch < ld->count; ++batch)
            lt::multiply<S>(*w, lt::read<S>(alpha, scale, 0), a, *la, b, *lb, lt::read<S>(beta, scale, 0), c, *lc, d, *ld,
                            batch);
    };
    w->scale == HIP_R_32F ? run(0.0f, HIP_R_32F) : run(0.0, w->scale);
    return status;
}

CU2PORT_SIM_NOT_BLAS(hipblasLtMatmulDescGetAttribute)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatmulPreferenceGetAttribute)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatrixLayoutGetAttribute)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatrixTransform)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatrixTransformDescCreate)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatrixTransformDescDestroy)
CU2PORT_SIM_NOT_BLAS(hipblasLtMatrixTransformDescSetAttribute)
