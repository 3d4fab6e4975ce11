// cu2port blas: the compute type of hipBLAS that a data type stands for, as cublasGemmEx takes one.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#ifndef CU2PORT_BLAS_HPP
#define CU2PORT_BLAS_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hipblas/hipblas.h>

namespace cu2port {

// A type that nothing is computed in gives a value that hipBLAS refuses.
inline hipblasComputeType_t compute_type(hipDataType type) {
    switch (type) {
        case HIP_R_16F: return HIPBLAS_COMPUTE_16F;
        case HIP_R_32F:
        case HIP_C_32F: return HIPBLAS_COMPUTE_32F;
        case HIP_R_64F:
        case HIP_C_64F: return HIPBLAS_COMPUTE_64F;
        case HIP_R_32I: return HIPBLAS_COMPUTE_32I;
        default: return static_cast<hipblasComputeType_t>(-1);
    }
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif
