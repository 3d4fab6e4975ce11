#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>

// columns x columns = matrix^T * matrix / rows, for a matrix whose columns have mean 0. Rows lie one after another.
void covariance(cublasHandle_t handle, const float* matrix, int rows, int columns, float* result) {
    const float scale = 1.0f / rows, zero = 0.0f;
    const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, columns, columns, rows, &scale, matrix,
                                              columns, matrix, columns, &zero, result, columns);
    if (status != CUBLAS_STATUS_SUCCESS) {
        std::fprintf(stderr, "cublasSgemm: %s\n", cublasGetStatusString(status));
        std::exit(EXIT_FAILURE);
    }
}
