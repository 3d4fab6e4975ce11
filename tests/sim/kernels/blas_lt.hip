// hipBLASLt, against sums written out over the same numbers.
#include "suite.h"

#include <hipblaslt/hipblaslt.h>

#include <cmath>

constexpr int kM = 3, kN = 4, kK = 5, kBatches = 2;
static double value(int i) { return (i * 37 % 19) / 4.0 - 2.0; }

template <class T>
static T* filled(int n, int from) {
    T* p = nullptr;
    (void)hipMallocManaged(&p, n * sizeof(T));
    for (int i = 0; i < n; ++i) p[i] = static_cast<T>(value(i + from));
    return p;
}
template <class T>
static bool near(T x, double want) { return std::fabs(static_cast<double>(x) - want) < 1e-4; }

// Element (i, j) of A(transposed in memory) * B in a batch, and GELU by tanh with its slope.
static double product(int i, int j, int batch) {
    double sum = 0;
    for (int p = 0; p < kK; ++p) sum += value(batch * kM * kK + i * kK + p) * value(7 + batch * kK * kN + j * kK + p);
    return sum;
}
static double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
static double slope(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

struct Call {
    hipblasLtHandle_t handle;
    hipblasLtMatmulDesc_t what;
    hipblasLtMatrixLayout_t a, b, d;
    float* left = filled<float>(kBatches * kM * kK, 0);
    float* right = filled<float>(kBatches * kK * kN, 7);
    float* out = filled<float>(kBatches * kM * kN, 30);
    float* bias = filled<float>(8, 50);
    float* aux = filled<float>(kBatches * kM * kN, 60);

    Call() {
        (void)hipblasLtCreate(&handle);
        (void)hipblasLtMatmulDescCreate(&what, HIPBLAS_COMPUTE_32F, HIP_R_32F);
        const hipblasOperation_t transposed = HIPBLAS_OP_T;
        (void)hipblasLtMatmulDescSetAttribute(what, HIPBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
        (void)hipblasLtMatrixLayoutCreate(&a, HIP_R_32F, kK, kM, kK);
        (void)hipblasLtMatrixLayoutCreate(&b, HIP_R_32F, kK, kN, kK);
        (void)hipblasLtMatrixLayoutCreate(&d, HIP_R_32F, kM, kN, kM);
    }
    template <class T>
    void set(hipblasLtMatmulDescAttributes_t name, T v) {
        (void)hipblasLtMatmulDescSetAttribute(what, name, &v, sizeof v);
    }
    hipblasStatus_t operator()(float alpha, float beta) {
        return hipblasLtMatmul(handle, what, &alpha, left, a, right, b, &beta, out, d, out, d, nullptr, nullptr, 0, nullptr);
    }
    hipblasStatus_t operator()(hipblasLtEpilogue_t epilogue) {
        set(HIPBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
        set(HIPBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(bias));
        set(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(aux));
        set(HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(kM));
        return (*this)(1, 0);
    }
    template <class F>
    bool is(F want, int batches = 1) const {
        for (int n = 0; n < batches * kM * kN; ++n)
            if (!near(out[n], want(n % kM, n / kM % kN, n / (kM * kN)))) return false;
        return true;
    }
};

int main() {
    {
        Call call;
        say("plain", call(2, 0.5f) == HIPBLAS_STATUS_SUCCESS && call.is([](int i, int j, int) {
            return 2 * product(i, j, 0) + 0.5 * value(30 + i + j * kM);
        }));
    }
    {
        Call call;
        const int count = kBatches;
        const hipblasLtMatrixLayout_t layouts[] = {call.a, call.b, call.d};
        const std::int64_t steps[] = {kM * kK, kK * kN, kM * kN};
        for (int k = 0; k < 3; ++k) {
            (void)hipblasLtMatrixLayoutSetAttribute(layouts[k], HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
            (void)hipblasLtMatrixLayoutSetAttribute(layouts[k], HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &steps[k],
                                                    sizeof steps[k]);
        }
        say("batches", call(1, 0) == HIPBLAS_STATUS_SUCCESS && call.is(product, kBatches));
    }
    const auto biased = [](int i, int j) { return product(i, j, 0) + value(50 + i); };
    {
        Call call;
        say("bias", !call(HIPBLASLT_EPILOGUE_BIAS) && call.is([&](int i, int j, int) { return biased(i, j); }));
        say("relu and bias", !call(HIPBLASLT_EPILOGUE_RELU_BIAS) &&
                                 call.is([&](int i, int j, int) { return std::fmax(0, biased(i, j)); }));
        say("gelu", !call(HIPBLASLT_EPILOGUE_GELU) && call.is([](int i, int j, int) { return gelu(product(i, j, 0)); }));
        say("gelu with what it was given", !call(HIPBLASLT_EPILOGUE_GELU_AUX_BIAS) &&
                                               call.is([&](int i, int j, int) { return gelu(biased(i, j)); }) &&
                                               near(call.aux[5], biased(5 % kM, 5 / kM)));
    }
    {
        Call call;
        const auto want = [](int i, int j, int) { return product(i, j, 0) * slope(value(60 + i + j * kM)); };
        double sum = 0;
        for (int j = 0; j < kN; ++j) sum += want(1, j, 0);
        say("slope of gelu", !call(HIPBLASLT_EPILOGUE_DGELU_BGRAD) && call.is(want));
        say("sums of rows", std::fabs(call.bias[1] - sum) < 1e-3);
        sum = 0;
        for (int p = 0; p < kK; ++p) sum += value(7 + 2 * kK + p);
        say("sums of the second factor", !call(HIPBLASLT_EPILOGUE_BGRADB) && near(call.bias[2], sum));
    }
    {
        Call call;
        hipblasLtMatmulPreference_t preference;
        hipblasLtMatmulHeuristicResult_t result;
        int found = 0;
        (void)hipblasLtMatmulPreferenceCreate(&preference);
        const auto status = hipblasLtMatmulAlgoGetHeuristic(call.handle, call.what, call.a, call.b, call.d, call.d,
                                                            preference, 1, &result, &found);
        say("algorithm", status == HIPBLAS_STATUS_SUCCESS && found == 1);
        call.set(HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<void*>(call.bias));
        say("scales are refused", call(1, 0) == HIPBLAS_STATUS_NOT_SUPPORTED);
    }
    return 0;
}
