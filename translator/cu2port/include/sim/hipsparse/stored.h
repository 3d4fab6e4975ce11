// What hipSPARSE's descriptors hold, and numbers of the types that they name.
#pragma once

namespace cu2port_sim {
namespace sparse {

struct Handle {
    hipStream_t stream = nullptr;
    hipsparsePointerMode_t pointers = HIPSPARSE_POINTER_MODE_HOST;
};
struct Legacy {
    hipsparseMatrixType_t type = HIPSPARSE_MATRIX_TYPE_GENERAL;
    hipsparseFillMode_t fill = HIPSPARSE_FILL_MODE_LOWER;
    hipsparseDiagType_t diagonal = HIPSPARSE_DIAG_TYPE_NON_UNIT;
    hipsparseIndexBase_t base = HIPSPARSE_INDEX_BASE_ZERO;
};
// `major`: offsets of rows or columns, of COO the rows; `minor`: the columns, of CSC the rows.
struct Sparse {
    hipsparseFormat_t format;
    std::int64_t rows, columns, count;
    void *major, *minor, *values;
    hipsparseIndexType_t major_type, minor_type;
    hipsparseIndexBase_t base;
    hipDataType type;
    hipsparseFillMode_t fill = HIPSPARSE_FILL_MODE_LOWER;
    hipsparseDiagType_t diagonal = HIPSPARSE_DIAG_TYPE_NON_UNIT;
};
struct Few {  // a sparse vector
    std::int64_t size, count;
    void *indices, *values;
    hipsparseIndexType_t index_type;
    hipsparseIndexBase_t base;
    hipDataType type;
};
struct Dense {
    std::int64_t rows, columns, leading;
    void* values;
    hipDataType type;
    hipsparseOrder_t order;
    std::int64_t at(std::int64_t i, std::int64_t j) const { return order == HIPSPARSE_ORDER_ROW ? i * leading + j : i +
        j * leading; }
};
struct Line {  // a dense vector
    std::int64_t size;
    void* values;
    hipDataType type;
};

inline hipsparseStatus_t checked(const void* handle, bool valid) {
    if (!handle) return HIPSPARSE_STATUS_NOT_INITIALIZED;
    return valid ? HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE;
}

inline std::int64_t index_at(const void* p, hipsparseIndexType_t type, std::int64_t i) {
    switch (type) {
        case HIPSPARSE_INDEX_16U: return static_cast<const unsigned short*>(p)[i];
        case HIPSPARSE_INDEX_32I: return static_cast<const int*>(p)[i];
        default: return static_cast<const std::int64_t*>(p)[i];
    }
}
inline void put_index(void* p, hipsparseIndexType_t type, std::int64_t i, std::int64_t value) {
    switch (type) {
        case HIPSPARSE_INDEX_16U: static_cast<unsigned short*>(p)[i] = static_cast<unsigned short>(value); break;
        case HIPSPARSE_INDEX_32I: static_cast<int*>(p)[i] = static_cast<int>(value); break;
        default: static_cast<std::int64_t*>(p)[i] = value;
    }
}

using Complex = std::complex<double>;
inline std::size_t bytes_of(hipDataType type) {
    switch (type) {
        case HIP_R_8I: return 1;
        case HIP_R_16F: case HIP_R_16BF: return 2;
        case HIP_R_32F: case HIP_R_32I: return 4;
        case HIP_R_64F: case HIP_C_32F: return 8;
        case HIP_C_64F: return 16;
        default: return 0;
    }
}
inline bool is_complex(hipDataType type) { return type == HIP_C_32F || type == HIP_C_64F; }

// Numbers are computed in S: float, double or their complex forms.
template <class S>
struct Parts {
    static S of(double real, double) { return static_cast<S>(real); }
};
template <class R>
struct Parts<std::complex<R>> {
    static std::complex<R> of(double real, double imaginary) { return {static_cast<R>(real), static_cast<R>(imaginary)};
        }
};
template <class S>
S number_at(const void* p, hipDataType type, std::int64_t i) {
    switch (type) {
        case HIP_R_8I: return S(static_cast<const signed char*>(p)[i]);
        case HIP_R_16F: return S(static_cast<float>(static_cast<const __half*>(p)[i]));
        case HIP_R_16BF: return S(static_cast<float>(static_cast<const __hip_bfloat16*>(p)[i]));
        case HIP_R_32F: return S(static_cast<const float*>(p)[i]);
        case HIP_R_32I: return Parts<S>::of(static_cast<const int*>(p)[i], 0);
        case HIP_R_64F: return Parts<S>::of(static_cast<const double*>(p)[i], 0);
        case HIP_C_32F: return Parts<S>::of(static_cast<const float*>(p)[2 * i], static_cast<const float*>(p)[2 * i +
            1]);
        default: return Parts<S>::of(static_cast<const double*>(p)[2 * i], static_cast<const double*>(p)[2 * i + 1]);
    }
}
template <class S>
void put_number(void* p, hipDataType type, std::int64_t i, S value) {
    const Complex x(value);
    switch (type) {
        case HIP_R_8I: static_cast<signed char*>(p)[i] = static_cast<signed char>(x.real()); break;
        case HIP_R_16F: static_cast<__half*>(p)[i] = __half(static_cast<float>(x.real())); break;
        case HIP_R_16BF: static_cast<__hip_bfloat16*>(p)[i] = __hip_bfloat16(static_cast<float>(x.real())); break;
        case HIP_R_32F: static_cast<float*>(p)[i] = static_cast<float>(x.real()); break;
        case HIP_R_32I: static_cast<int*>(p)[i] = static_cast<int>(x.real()); break;
        case HIP_R_64F: static_cast<double*>(p)[i] = x.real(); break;
        case HIP_C_32F:
            static_cast<float*>(p)[2 * i] = static_cast<float>(x.real());
            static_cast<float*>(p)[2 * i + 1] = static_cast<float>(x.imag());
            break;
        default:
            static_cast<double*>(p)[2 * i] = x.real();
            static_cast<double*>(p)[2 * i + 1] = x.imag();
    }
}
inline float conjugated(float x) { return x; }
inline double conjugated(double x) { return x; }
template <class R>
std::complex<R> conjugated(std::complex<R> x) { return std::conj(x); }

// f(a number of the type), where all matrices have numbers that it holds.
template <class F>
hipsparseStatus_t computed(hipDataType type, std::initializer_list<hipDataType> operands, F f) {
    for (const hipDataType x : operands)
        if (bytes_of(x) == 0 || (is_complex(x) && !is_complex(type))) return HIPSPARSE_STATUS_NOT_SUPPORTED;
    switch (type) {
        case HIP_R_32F: f(float()); return HIPSPARSE_STATUS_SUCCESS;
        case HIP_R_32I: case HIP_R_64F: f(double()); return HIPSPARSE_STATUS_SUCCESS;
        case HIP_C_32F: f(std::complex<float>()); return HIPSPARSE_STATUS_SUCCESS;
        case HIP_C_64F: f(std::complex<double>()); return HIPSPARSE_STATUS_SUCCESS;
        default: return HIPSPARSE_STATUS_NOT_SUPPORTED;
    }
}

struct Entry {
    std::int64_t row, column, at;
};
// What a matrix stores, in its order.
inline std::vector<Entry> stored(const Sparse& m) {
    std::vector<Entry> out;
    out.reserve(static_cast<std::size_t>(m.count));
    if (m.format == HIPSPARSE_FORMAT_COO) {
        for (std::int64_t i = 0; i < m.count; ++i)
            out.push_back({index_at(m.major, m.major_type, i) - m.base, index_at(m.minor, m.minor_type, i) - m.base,
                i});
        return out;
    }
    const bool by_rows = m.format == HIPSPARSE_FORMAT_CSR;
    for (std::int64_t line = 0; line < (by_rows ? m.rows : m.columns); ++line)
        for (std::int64_t i = index_at(m.major, m.major_type, line) - m.base;
             i < index_at(m.major, m.major_type, line + 1) - m.base; ++i) {
            const std::int64_t other = index_at(m.minor, m.minor_type, i) - m.base;
            out.push_back(by_rows ? Entry{line, other, i} : Entry{other, line, i});
        }
    return out;
}
inline bool is_plain(hipsparseOperation_t op) { return op == HIPSPARSE_OPERATION_NON_TRANSPOSE; }

}  // namespace sparse
}  // namespace cu2port_sim
