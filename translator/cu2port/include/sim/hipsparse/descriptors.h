// hipSPARSE's handles and descriptors.
#pragma once

inline hipsparseStatus_t hipsparseCreate(hipsparseHandle_t* handle) {
    if (!handle) return HIPSPARSE_STATUS_INVALID_VALUE;
    *handle = new cu2port_sim::sparse::Handle;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseDestroy(hipsparseHandle_t handle) {
    const auto status = cu2port_sim::sparse::checked(handle, true);
    delete handle;
    return status;
}
inline hipsparseStatus_t hipsparseGetVersion(hipsparseHandle_t handle, int* version) {
    *version = 400000;
    return cu2port_sim::sparse::checked(handle, true);
}
#define CU2PORT_SIM_SPARSE_SETTING(NAME, TYPE, MEMBER) \
    inline hipsparseStatus_t hipsparseSet##NAME(hipsparseHandle_t handle, TYPE value) { \
        if (handle) handle->MEMBER = value; \
        return cu2port_sim::sparse::checked(handle, true); \
    } \
    inline hipsparseStatus_t hipsparseGet##NAME(hipsparseHandle_t handle, TYPE* value) { \
        if (handle) *value = handle->MEMBER; \
        return cu2port_sim::sparse::checked(handle, true); \
    }
CU2PORT_SIM_SPARSE_SETTING(Stream, hipStream_t, stream)
CU2PORT_SIM_SPARSE_SETTING(PointerMode, hipsparsePointerMode_t, pointers)
#undef CU2PORT_SIM_SPARSE_SETTING
inline const char* hipsparseGetErrorName(hipsparseStatus_t status) {
    static const char* const names[] = {
        "HIPSPARSE_STATUS_SUCCESS", "HIPSPARSE_STATUS_NOT_INITIALIZED", "HIPSPARSE_STATUS_ALLOC_FAILED",
        "HIPSPARSE_STATUS_INVALID_VALUE", "HIPSPARSE_STATUS_ARCH_MISMATCH", "HIPSPARSE_STATUS_MAPPING_ERROR",
        "HIPSPARSE_STATUS_EXECUTION_FAILED", "HIPSPARSE_STATUS_INTERNAL_ERROR",
        "HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "HIPSPARSE_STATUS_ZERO_PIVOT", "HIPSPARSE_STATUS_NOT_SUPPORTED",
        "HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
    return status <= HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES ? names[status] : "unrecognized error code";
}
inline const char* hipsparseGetErrorString(hipsparseStatus_t status) { return hipsparseGetErrorName(status); }

// Matrices of the older functions: what programs set and ask for.
inline hipsparseStatus_t hipsparseCreateMatDescr(hipsparseMatDescr_t* descr) {
    *descr = new cu2port_sim::sparse::Legacy;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseDestroyMatDescr(hipsparseMatDescr_t descr) {
    delete descr;
    return HIPSPARSE_STATUS_SUCCESS;
}
#define CU2PORT_SIM_SPARSE_LEGACY(NAME, TYPE, MEMBER) \
    inline hipsparseStatus_t hipsparseSetMat##NAME(hipsparseMatDescr_t descr, TYPE value) { \
        if (descr) descr->MEMBER = value; \
        return descr ? HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE; \
    } \
    inline TYPE hipsparseGetMat##NAME(const hipsparseMatDescr_t descr) { return descr->MEMBER; }
CU2PORT_SIM_SPARSE_LEGACY(Type, hipsparseMatrixType_t, type)
CU2PORT_SIM_SPARSE_LEGACY(FillMode, hipsparseFillMode_t, fill)
CU2PORT_SIM_SPARSE_LEGACY(DiagType, hipsparseDiagType_t, diagonal)
CU2PORT_SIM_SPARSE_LEGACY(IndexBase, hipsparseIndexBase_t, base)
#undef CU2PORT_SIM_SPARSE_LEGACY

namespace cu2port_sim {
namespace sparse {
// A descriptor that a call makes; those of `const` memory are the same.
template <class D, class T>
hipsparseStatus_t make(D* to, const T& value, bool valid) {
    if (!to || !valid) return HIPSPARSE_STATUS_INVALID_VALUE;
    *to = new T(value);
    return HIPSPARSE_STATUS_SUCCESS;
}
}  // namespace sparse
}  // namespace cu2port_sim

#define CU2PORT_SIM_SPARSE_OFFSETS(NAME, FORMAT) \
    template <class D, class A, class B, class V> \
    hipsparseStatus_t hipsparseCreate##NAME(D* descr, std::int64_t rows, std::int64_t columns, std::int64_t count, \
                                            A offsets, B others, V values, hipsparseIndexType_t offsets_type, \
                                            hipsparseIndexType_t others_type, hipsparseIndexBase_t base, \
                                            hipDataType type) { \
        return cu2port_sim::sparse::make( \
            descr, \
            cu2port_sim::sparse::Sparse{HIPSPARSE_FORMAT_##FORMAT, rows, columns, count, (void*)offsets, \
                (void*)others, \
                                        (void*)values, offsets_type, others_type, base, type}, \
            rows >= 0 && columns >= 0 && count >= 0); \
    }
CU2PORT_SIM_SPARSE_OFFSETS(Csr, CSR)
CU2PORT_SIM_SPARSE_OFFSETS(Csc, CSC)
CU2PORT_SIM_SPARSE_OFFSETS(ConstCsr, CSR)
CU2PORT_SIM_SPARSE_OFFSETS(ConstCsc, CSC)
#undef CU2PORT_SIM_SPARSE_OFFSETS
#define CU2PORT_SIM_SPARSE_MADE(KIND) \
    template <class D, class A, class B, class V> \
    hipsparseStatus_t hipsparseCreate##KIND##Coo(D* descr, std::int64_t rows, std::int64_t columns, std::int64_t \
        count, \
                                                 A in_rows, B in_columns, V values, hipsparseIndexType_t index, \
                                                 hipsparseIndexBase_t base, hipDataType type) { \
        return cu2port_sim::sparse::make( \
            descr, \
            cu2port_sim::sparse::Sparse{HIPSPARSE_FORMAT_COO, rows, columns, count, (void*)in_rows, (void*)in_columns, \
                                        (void*)values, index, index, base, type}, \
            rows >= 0 && columns >= 0 && count >= 0); \
    } \
    template <class D, class I, class V> \
    hipsparseStatus_t hipsparseCreate##KIND##SpVec(D* descr, std::int64_t size, std::int64_t count, I indices, V \
        values, \
                                                   hipsparseIndexType_t index, hipsparseIndexBase_t base, \
                                                   hipDataType type) { \
        return cu2port_sim::sparse::make( \
            descr, cu2port_sim::sparse::Few{size, count, (void*)indices, (void*)values, index, base, type}, \
            count >= 0 && size >= count); \
    } \
    template <class D, class V> \
    hipsparseStatus_t hipsparseCreate##KIND##DnVec(D* descr, std::int64_t size, V values, hipDataType type) { \
        return cu2port_sim::sparse::make(descr, cu2port_sim::sparse::Line{size, (void*)values, type}, size >= 0); \
    } \
    template <class D, class V> \
    hipsparseStatus_t hipsparseCreate##KIND##DnMat(D* descr, std::int64_t rows, std::int64_t columns, std::int64_t ld, \
                                                   V values, hipDataType type, hipsparseOrder_t order) { \
        return cu2port_sim::sparse::make( \
            descr, cu2port_sim::sparse::Dense{rows, columns, ld, (void*)values, type, order}, \
            rows >= 0 && columns >= 0 && ld >= (order == HIPSPARSE_ORDER_ROW ? columns : rows)); \
    }
CU2PORT_SIM_SPARSE_MADE()
CU2PORT_SIM_SPARSE_MADE(Const)
#undef CU2PORT_SIM_SPARSE_MADE

#define CU2PORT_SIM_SPARSE_GONE(NAME, TYPE) \
    inline hipsparseStatus_t hipsparse##NAME(TYPE descr) { \
        delete descr; \
        return descr ? HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE; \
    }
CU2PORT_SIM_SPARSE_GONE(DestroySpMat, hipsparseConstSpMatDescr_t)
CU2PORT_SIM_SPARSE_GONE(DestroySpVec, hipsparseConstSpVecDescr_t)
CU2PORT_SIM_SPARSE_GONE(DestroyDnMat, hipsparseConstDnMatDescr_t)
CU2PORT_SIM_SPARSE_GONE(DestroyDnVec, hipsparseConstDnVecDescr_t)
CU2PORT_SIM_SPARSE_GONE(SpGEMM_destroyDescr, hipsparseSpGEMMDescr_t)
#undef CU2PORT_SIM_SPARSE_GONE
inline hipsparseStatus_t hipsparseSpGEMM_createDescr(hipsparseSpGEMMDescr_t* descr) {
    return cu2port_sim::sparse::make(descr, cu2port_sim::sparse::Made{}, true);
}
#define CU2PORT_SIM_SPARSE_EMPTY(NAME) \
    inline hipsparseStatus_t hipsparse##NAME##_createDescr(hipsparse##NAME##Descr_t* descr) { \
        *descr = nullptr; \
        return HIPSPARSE_STATUS_SUCCESS; \
    } \
    inline hipsparseStatus_t hipsparse##NAME##_destroyDescr(hipsparse##NAME##Descr_t) { \
        return HIPSPARSE_STATUS_SUCCESS;                                                    \
    }
CU2PORT_SIM_SPARSE_EMPTY(SpSV)
CU2PORT_SIM_SPARSE_EMPTY(SpSM)
#undef CU2PORT_SIM_SPARSE_EMPTY

inline hipsparseStatus_t hipsparseSpMatGetSize(hipsparseConstSpMatDescr_t m, std::int64_t* rows, std::int64_t* columns,
                                               std::int64_t* count) {
    if (!m) return HIPSPARSE_STATUS_INVALID_VALUE;
    *rows = m->rows, *columns = m->columns, *count = m->count;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseSpMatGetFormat(hipsparseConstSpMatDescr_t m, hipsparseFormat_t* format) {
    return m ? *format = m->format, HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE;
}
inline hipsparseStatus_t hipsparseSpMatGetIndexBase(hipsparseConstSpMatDescr_t m, hipsparseIndexBase_t* base) {
    return m ? *base = m->base, HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE;
}
#define CU2PORT_SIM_SPARSE_VALUES(NAME) \
    inline hipsparseStatus_t hipsparse##NAME##GetValues(hipsparse##NAME##Descr_t m, void** values) { \
        return m ? *values = m->values, HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE; \
    } \
    inline hipsparseStatus_t hipsparse##NAME##SetValues(hipsparse##NAME##Descr_t m, void* values) { \
        return m ? m->values = values, HIPSPARSE_STATUS_SUCCESS : HIPSPARSE_STATUS_INVALID_VALUE; \
    }
CU2PORT_SIM_SPARSE_VALUES(SpMat)
CU2PORT_SIM_SPARSE_VALUES(SpVec)
CU2PORT_SIM_SPARSE_VALUES(DnMat)
CU2PORT_SIM_SPARSE_VALUES(DnVec)
#undef CU2PORT_SIM_SPARSE_VALUES
#define CU2PORT_SIM_SPARSE_POINTERS(NAME) \
    inline hipsparseStatus_t hipsparse##NAME##SetPointers(hipsparseSpMatDescr_t m, void* major, void* minor, \
                                                          void* values) { \
        if (!m) return HIPSPARSE_STATUS_INVALID_VALUE; \
        m->major = major, m->minor = minor, m->values = values; \
        return HIPSPARSE_STATUS_SUCCESS; \
    }
CU2PORT_SIM_SPARSE_POINTERS(Csr)
CU2PORT_SIM_SPARSE_POINTERS(Csc)
CU2PORT_SIM_SPARSE_POINTERS(Coo)
#undef CU2PORT_SIM_SPARSE_POINTERS
#define CU2PORT_SIM_SPARSE_GET(NAME) \
    inline hipsparseStatus_t hipsparse##NAME##Get(hipsparseConstSpMatDescr_t m, std::int64_t* rows, \
                                                  std::int64_t* columns, std::int64_t* count, void** major, \
                                                  void** minor, void** values, hipsparseIndexType_t* major_type, \
                                                  hipsparseIndexType_t* minor_type, hipsparseIndexBase_t* base, \
                                                  hipDataType* type) { \
        if (!m) return HIPSPARSE_STATUS_INVALID_VALUE; \
        *rows = m->rows, *columns = m->columns, *count = m->count, *major = m->major, *minor = m->minor; \
        *values = m->values, *major_type = m->major_type, *minor_type = m->minor_type, *base = m->base, *type = \
            m->type; \
        return HIPSPARSE_STATUS_SUCCESS; \
    }
CU2PORT_SIM_SPARSE_GET(Csr)
CU2PORT_SIM_SPARSE_GET(Csc)
#undef CU2PORT_SIM_SPARSE_GET
inline hipsparseStatus_t hipsparseCooGet(hipsparseConstSpMatDescr_t m, std::int64_t* rows, std::int64_t* columns,
                                         std::int64_t* count, void** in_rows, void** in_columns, void** values,
                                         hipsparseIndexType_t* index, hipsparseIndexBase_t* base, hipDataType* type) {
    return hipsparseCsrGet(m, rows, columns, count, in_rows, in_columns, values, index, index, base, type);
}
inline hipsparseStatus_t hipsparseDnVecGet(hipsparseConstDnVecDescr_t v, std::int64_t* size, void** values, hipDataType*
    type) {
    if (!v) return HIPSPARSE_STATUS_INVALID_VALUE;
    *size = v->size, *values = v->values, *type = v->type;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseDnMatGet(hipsparseConstDnMatDescr_t m, std::int64_t* rows, std::int64_t* columns,
                                           std::int64_t* ld, void** values, hipDataType* type, hipsparseOrder_t* order)
                                               {
    if (!m) return HIPSPARSE_STATUS_INVALID_VALUE;
    *rows = m->rows, *columns = m->columns, *ld = m->leading, *values = m->values, *type = m->type, *order = m->order;
    return HIPSPARSE_STATUS_SUCCESS;
}
inline hipsparseStatus_t hipsparseSpMatSetAttribute(hipsparseSpMatDescr_t m, hipsparseSpMatAttribute_t attribute,
                                                    const void* data, std::size_t) {
    if (!m || !data) return HIPSPARSE_STATUS_INVALID_VALUE;
    if (attribute == HIPSPARSE_SPMAT_FILL_MODE) m->fill = *static_cast<const hipsparseFillMode_t*>(data);
    else m->diagonal = *static_cast<const hipsparseDiagType_t*>(data);
    return HIPSPARSE_STATUS_SUCCESS;
}
