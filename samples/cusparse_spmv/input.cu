// y = A * x for a sparse tridiagonal matrix in CSR form, with cuSPARSE's generic interface.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t err_ = (call);                                                       \
        if (err_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define CUSPARSE_CHECK(call)                                                                            \
    do {                                                                                                \
        const cusparseStatus_t status_ = (call);                                                        \
        if (status_ != CUSPARSE_STATUS_SUCCESS) {                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cusparseGetErrorString(status_));   \
            std::exit(EXIT_FAILURE);                                                                    \
        }                                                                                               \
    } while (0)

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* dev = nullptr;
    CUDA_CHECK(cudaMalloc(&dev, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(dev, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return dev;
}

int main() {
    const int n = 1000;
    std::vector<int> rows(1, 0), cols;
    std::vector<float> values, x(n), y(n, 0.0f), want(n, 0.0f);
    for (int i = 0; i < n; ++i) x[i] = float(i % 9);
    for (int i = 0; i < n; ++i) {
        for (int j = i > 0 ? i - 1 : i; j <= i + 1 && j < n; ++j) {
            cols.push_back(j);
            values.push_back(i == j ? 2.0f : -1.0f);
            want[i] += values.back() * x[j];
        }
        rows.push_back(int(cols.size()));
    }
    int *dev_rows = upload(rows), *dev_cols = upload(cols);
    float *dev_values = upload(values), *dev_x = upload(x), *dev_y = upload(y);

    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vec_x, vec_y;
    CUSPARSE_CHECK(cusparseCreate(&handle));
    CUSPARSE_CHECK(cusparseCreateCsr(&matrix, n, n, int64_t(cols.size()), dev_rows, dev_cols, dev_values,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CUSPARSE_CHECK(cusparseCreateDnVec(&vec_x, n, dev_x, CUDA_R_32F));
    CUSPARSE_CHECK(cusparseCreateDnVec(&vec_y, n, dev_y, CUDA_R_32F));

    const float alpha = 1.0f, beta = 0.0f;
    size_t bytes = 0;
    void* scratch = nullptr;
    CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vec_x, &beta,
                                           vec_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CUDA_CHECK(cudaMalloc(&scratch, bytes));
    CUSPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vec_x, &beta, vec_y,
                                CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, scratch));
    CUDA_CHECK(cudaMemcpy(y.data(), dev_y, n * sizeof(float), cudaMemcpyDeviceToHost));

    const bool ok = y == want;
    CUSPARSE_CHECK(cusparseDestroyDnVec(vec_x));
    CUSPARSE_CHECK(cusparseDestroyDnVec(vec_y));
    CUSPARSE_CHECK(cusparseDestroySpMat(matrix));
    CUSPARSE_CHECK(cusparseDestroy(handle));
    for (void* p : {(void*)dev_rows, (void*)dev_cols, (void*)dev_values, (void*)dev_x, (void*)dev_y, scratch}) {
        CUDA_CHECK(cudaFree(p));
    }
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
