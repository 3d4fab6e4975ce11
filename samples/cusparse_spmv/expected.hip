// y = A * x for a sparse tridiagonal matrix in CSR form, with cuSPARSE's generic interface.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>
#include <hipsparse/hipsparse.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

#define CUSPARSE_CHECK(call)                                                                            \
    do {                                                                                                \
        const hipsparseStatus_t status_ = (call);                                                        \
        if (status_ != HIPSPARSE_STATUS_SUCCESS) {                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipsparseGetErrorString(status_));   \
            std::exit(EXIT_FAILURE);                                                                    \
        }                                                                                               \
    } while (0)

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* dev = nullptr;
    CUDA_CHECK(hipMalloc(&dev, host.size() * sizeof(T)));
    CUDA_CHECK(hipMemcpy(dev, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
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

    hipsparseHandle_t handle;
    hipsparseSpMatDescr_t matrix;
    hipsparseDnVecDescr_t vec_x, vec_y;
    CUSPARSE_CHECK(hipsparseCreate(&handle));
    CUSPARSE_CHECK(hipsparseCreateCsr(&matrix, n, n, int64_t(cols.size()), dev_rows, dev_cols, dev_values,
                                     HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_BASE_ZERO, HIP_R_32F));
    CUSPARSE_CHECK(hipsparseCreateDnVec(&vec_x, n, dev_x, HIP_R_32F));
    CUSPARSE_CHECK(hipsparseCreateDnVec(&vec_y, n, dev_y, HIP_R_32F));

    const float alpha = 1.0f, beta = 0.0f;
    size_t bytes = 0;
    void* scratch = nullptr;
    CUSPARSE_CHECK(hipsparseSpMV_bufferSize(handle, HIPSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vec_x, &beta,
                                           vec_y, HIP_R_32F, HIPSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CUDA_CHECK(hipMalloc(&scratch, bytes));
    CUSPARSE_CHECK(hipsparseSpMV(handle, HIPSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vec_x, &beta, vec_y,
                                HIP_R_32F, HIPSPARSE_SPMV_ALG_DEFAULT, scratch));
    CUDA_CHECK(hipMemcpy(y.data(), dev_y, n * sizeof(float), hipMemcpyDeviceToHost));

    const bool ok = y == want;
    CUSPARSE_CHECK(hipsparseDestroyDnVec(vec_x));
    CUSPARSE_CHECK(hipsparseDestroyDnVec(vec_y));
    CUSPARSE_CHECK(hipsparseDestroySpMat(matrix));
    CUSPARSE_CHECK(hipsparseDestroy(handle));
    for (void* p : {(void*)dev_rows, (void*)dev_cols, (void*)dev_values, (void*)dev_x, (void*)dev_y, scratch}) {
        CUDA_CHECK(hipFree(p));
    }
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
