// hipSPARSE on the CPU: the generic functions for CSR, CSC and COO, conversions and tridiagonal systems, by plain loops
// in
// the order of what is stored. No function uses the buffer that it asks for.
#pragma once
#define HIPSPARSE_H

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "../hip/hip_bf16.h"
#include "../hip/hip_complex.h"
#include "../hip/hip_fp16.h"
#include "../hip/hip_runtime.h"
#include "../hip/library_types.h"

enum hipsparseStatus_t {
    HIPSPARSE_STATUS_SUCCESS = 0, HIPSPARSE_STATUS_NOT_INITIALIZED = 1, HIPSPARSE_STATUS_ALLOC_FAILED = 2,
    HIPSPARSE_STATUS_INVALID_VALUE = 3, HIPSPARSE_STATUS_ARCH_MISMATCH = 4, HIPSPARSE_STATUS_MAPPING_ERROR = 5,
    HIPSPARSE_STATUS_EXECUTION_FAILED = 6, HIPSPARSE_STATUS_INTERNAL_ERROR = 7,
    HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, HIPSPARSE_STATUS_ZERO_PIVOT = 9, HIPSPARSE_STATUS_NOT_SUPPORTED =
        10,
    HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
};
enum hipsparsePointerMode_t { HIPSPARSE_POINTER_MODE_HOST = 0, HIPSPARSE_POINTER_MODE_DEVICE = 1 };
enum hipsparseAction_t { HIPSPARSE_ACTION_SYMBOLIC = 0, HIPSPARSE_ACTION_NUMERIC = 1 };
enum hipsparseMatrixType_t {
    HIPSPARSE_MATRIX_TYPE_GENERAL = 0, HIPSPARSE_MATRIX_TYPE_SYMMETRIC = 1, HIPSPARSE_MATRIX_TYPE_HERMITIAN = 2,
    HIPSPARSE_MATRIX_TYPE_TRIANGULAR = 3,
};
enum hipsparseFillMode_t { HIPSPARSE_FILL_MODE_LOWER = 0, HIPSPARSE_FILL_MODE_UPPER = 1 };
enum hipsparseDiagType_t { HIPSPARSE_DIAG_TYPE_NON_UNIT = 0, HIPSPARSE_DIAG_TYPE_UNIT = 1 };
enum hipsparseIndexBase_t { HIPSPARSE_INDEX_BASE_ZERO = 0, HIPSPARSE_INDEX_BASE_ONE = 1 };
enum hipsparseOperation_t {
    HIPSPARSE_OPERATION_NON_TRANSPOSE = 0, HIPSPARSE_OPERATION_TRANSPOSE = 1, HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE =
        2,
};
enum hipsparseSolvePolicy_t { HIPSPARSE_SOLVE_POLICY_NO_LEVEL = 0, HIPSPARSE_SOLVE_POLICY_USE_LEVEL = 1 };
enum hipsparseSideMode_t { HIPSPARSE_SIDE_LEFT = 0, HIPSPARSE_SIDE_RIGHT = 1 };
enum hipsparseDirection_t { HIPSPARSE_DIRECTION_ROW = 0, HIPSPARSE_DIRECTION_COLUMN = 1 };
enum hipsparseFormat_t {
    HIPSPARSE_FORMAT_CSR = 1, HIPSPARSE_FORMAT_CSC = 2, HIPSPARSE_FORMAT_COO = 3, HIPSPARSE_FORMAT_COO_AOS = 4,
    HIPSPARSE_FORMAT_BLOCKED_ELL = 5,
};
enum hipsparseOrder_t { HIPSPARSE_ORDER_COLUMN = 1, HIPSPARSE_ORDER_COL = 1, HIPSPARSE_ORDER_ROW = 2 };
enum hipsparseIndexType_t { HIPSPARSE_INDEX_16U = 1, HIPSPARSE_INDEX_32I = 2, HIPSPARSE_INDEX_64I = 3 };
enum hipsparseCsr2CscAlg_t { HIPSPARSE_CSR2CSC_ALG_DEFAULT = 0, HIPSPARSE_CSR2CSC_ALG1 = 1, HIPSPARSE_CSR2CSC_ALG2 = 2
    };
enum hipsparseSpMVAlg_t {
    HIPSPARSE_MV_ALG_DEFAULT = 0, HIPSPARSE_COOMV_ALG = 1, HIPSPARSE_CSRMV_ALG1 = 2, HIPSPARSE_CSRMV_ALG2 = 3,
    HIPSPARSE_SPMV_ALG_DEFAULT = 0, HIPSPARSE_SPMV_COO_ALG1 = 1, HIPSPARSE_SPMV_CSR_ALG1 = 2, HIPSPARSE_SPMV_CSR_ALG2 =
        3,
    HIPSPARSE_SPMV_COO_ALG2 = 4,
};
enum hipsparseSpMMAlg_t {
    HIPSPARSE_MM_ALG_DEFAULT = 0, HIPSPARSE_COOMM_ALG1 = 1, HIPSPARSE_COOMM_ALG2 = 2, HIPSPARSE_COOMM_ALG3 = 3,
    HIPSPARSE_CSRMM_ALG1 = 4, HIPSPARSE_SPMM_ALG_DEFAULT = 0, HIPSPARSE_SPMM_COO_ALG1 = 1, HIPSPARSE_SPMM_COO_ALG2 = 2,
    HIPSPARSE_SPMM_COO_ALG3 = 3, HIPSPARSE_SPMM_CSR_ALG1 = 4, HIPSPARSE_SPMM_COO_ALG4 = 5, HIPSPARSE_SPMM_CSR_ALG2 = 6,
    HIPSPARSE_SPMM_CSR_ALG3 = 12, HIPSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13,
};
enum hipsparseSpGEMMAlg_t {
    HIPSPARSE_SPGEMM_DEFAULT = 0, HIPSPARSE_SPGEMM_CSR_ALG_DETERMINISTIC = 1, HIPSPARSE_SPGEMM_CSR_ALG_NONDETERMINISTIC
        = 2,
    HIPSPARSE_SPGEMM_ALG1 = 3, HIPSPARSE_SPGEMM_ALG2 = 4, HIPSPARSE_SPGEMM_ALG3 = 5,
};
enum hipsparseSparseToDenseAlg_t { HIPSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 };
enum hipsparseDenseToSparseAlg_t { HIPSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 };
enum hipsparseSDDMMAlg_t { HIPSPARSE_SDDMM_ALG_DEFAULT = 0 };
enum hipsparseSpSVAlg_t { HIPSPARSE_SPSV_ALG_DEFAULT = 0 };
enum hipsparseSpSMAlg_t { HIPSPARSE_SPSM_ALG_DEFAULT = 0 };
enum hipsparseSpMatAttribute_t { HIPSPARSE_SPMAT_FILL_MODE = 0, HIPSPARSE_SPMAT_DIAG_TYPE = 1 };

#include "stored.h"
#include "products.h"

typedef cu2port_sim::sparse::Handle* hipsparseHandle_t;
typedef cu2port_sim::sparse::Legacy* hipsparseMatDescr_t;
typedef cu2port_sim::sparse::Sparse* hipsparseSpMatDescr_t;
typedef const cu2port_sim::sparse::Sparse* hipsparseConstSpMatDescr_t;
typedef cu2port_sim::sparse::Few* hipsparseSpVecDescr_t;
typedef const cu2port_sim::sparse::Few* hipsparseConstSpVecDescr_t;
typedef cu2port_sim::sparse::Dense* hipsparseDnMatDescr_t;
typedef const cu2port_sim::sparse::Dense* hipsparseConstDnMatDescr_t;
typedef cu2port_sim::sparse::Line* hipsparseDnVecDescr_t;
typedef const cu2port_sim::sparse::Line* hipsparseConstDnVecDescr_t;
typedef cu2port_sim::sparse::Made* hipsparseSpGEMMDescr_t;
typedef struct cu2port_sim_spsv* hipsparseSpSVDescr_t;
typedef struct cu2port_sim_spsm* hipsparseSpSMDescr_t;

#include "descriptors.h"
#include "generic.h"
#include "conversions.h"
#include "not_simulated.h"
