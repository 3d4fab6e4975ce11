// hipSPARSE on the CPU against plain loops over dense matrices.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>

using V = std::vector<double>;
using I = std::vector<int>;
int failed = 0;
#define OK(call) failed += (call) != CUSPARSE_STATUS_SUCCESS && std::printf("%s failed\n", #call) > 0
template <class T>
struct Dev {
    T* p;
    int n;
    Dev(int n) : n(n) { cudaMalloc(&p, sizeof(T) * (n + 1)), cudaMemset(p, 0, sizeof(T) * (n + 1)); }
    Dev(const std::vector<T>& v) : Dev(static_cast<int>(v.size())) {
        cudaMemcpy(p, v.data(), sizeof(T) * n, cudaMemcpyHostToDevice);
    }
    std::vector<T> get() const {
        std::vector<T> v(n);
        cudaMemcpy(v.data(), p, sizeof(T) * n, cudaMemcpyDeviceToHost);
        return v;
    }
    ~Dev() { cudaFree(p); }
};
void near(const char* what, const V& a, const V& b, double eps = 1e-12) {
    double worst = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) worst = std::fmax(worst, std::fabs(a[i] - b[i]));
    if (!(worst < eps)) std::printf("%s: off by %g\n", what, worst), ++failed;
}
void equal(const char* what, const I& a, const I& b) {
    if (a != b) std::printf("%s: other indices\n", what), ++failed;
}
unsigned state = 5;
double draw() { return (state = state * 1664525u + 1013904223u, state >> 8) / 16777216.0 - 0.5; }
V random(int n) {
    V v(n);
    for (double& x : v) x = draw();
    return v;
}
V few(int n) {  // about a third of the elements
    V v = random(n);
    for (double& x : v) x = draw() < -0.15 ? x : 0;
    return v;
}
// Matrices in rows: op(A) B
V times(const V& a, int m, int k, const V& b, int n, bool at = false, bool bt = false) {
    V c(m * n, 0);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int p = 0; p < k; ++p) c[i * n + j] += (at ? a[p * m + i] : a[i * k + p]) * (bt ? b[j * k + p] : b[p *
                n + j]);
    return c;
}
struct Csr {
    I offsets, columns, rows;
    V values;
};
Csr csr(const V& a, int m, int n, int base = 0) {
    Csr out;
    out.offsets.push_back(base);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j)
            if (a[i * n + j] != 0) out.columns.push_back(j + base), out.rows.push_back(i + base),
                out.values.push_back(a[i * n + j]);
        out.offsets.push_back(static_cast<int>(out.columns.size()) + base);
    }
    return out;
}
constexpr auto D = CUDA_R_64F;
constexpr auto I32 = CUSPARSE_INDEX_32I;
constexpr auto N = CUSPARSE_OPERATION_NON_TRANSPOSE, T = CUSPARSE_OPERATION_TRANSPOSE;

void multiply(cusparseHandle_t h) {
    const int m = 7, n = 5, k = 3;
    const V a = few(m * n), x = random(n), y = random(m), b = random(n * k), c = random(m * k);
    const double alpha = 1.5, beta = -0.5;
    for (int form = 0; form < 6; ++form) {  // CSR, CSC, COO from 0 and from 1
        const auto base = form % 2 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
        V flipped(a.size());
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) flipped[j * m + i] = a[i * n + j];
        const Csr s = form / 2 == 1 ? csr(flipped, n, m, form % 2) : csr(a, m, n, form % 2);
        Dev<int> offsets(s.offsets), columns(s.columns), rows(s.rows);
        Dev<double> values(s.values), dx(x), dy(y), db(b), dc(c), tx(y), ty(x);
        const int count = static_cast<int>(s.values.size());
        cusparseSpMatDescr_t A;
        if (form / 2 == 0) OK(cusparseCreateCsr(&A, m, n, count, offsets.p, columns.p, values.p, I32, I32, base, D));
        if (form / 2 == 1) OK(cusparseCreateCsc(&A, m, n, count, offsets.p, columns.p, values.p, I32, I32, base, D));
        if (form / 2 == 2) OK(cusparseCreateCoo(&A, m, n, count, rows.p, columns.p, values.p, I32, base, D));
        cusparseDnVecDescr_t X, Y, TX, TY;
        OK(cusparseCreateDnVec(&X, n, dx.p, D)), OK(cusparseCreateDnVec(&Y, m, dy.p, D));
        OK(cusparseCreateDnVec(&TX, m, tx.p, D)), OK(cusparseCreateDnVec(&TY, n, ty.p, D));
        size_t size = 0;
        OK(cusparseSpMV_bufferSize(h, N, &alpha, A, X, &beta, Y, D, CUSPARSE_SPMV_ALG_DEFAULT, &size));
        Dev<char> buffer(static_cast<int>(size));
        OK(cusparseSpMV(h, N, &alpha, A, X, &beta, Y, D, CUSPARSE_SPMV_ALG_DEFAULT, buffer.p));
        OK(cusparseSpMV(h, T, &alpha, A, TX, &beta, TY, D, CUSPARSE_SPMV_ALG_DEFAULT, buffer.p));
        V want = times(a, m, n, x, 1), turned = times(a, n, m, y, 1, true);
        for (int i = 0; i < m; ++i) want[i] = alpha * want[i] + beta * y[i];
        for (int i = 0; i < n; ++i) turned[i] = alpha * turned[i] + beta * x[i];
        near("SpMV", dy.get(), want), near("SpMV of the transpose", ty.get(), turned);
        cusparseDnMatDescr_t B, C;
        OK(cusparseCreateDnMat(&B, k, n, k, db.p, D, CUSPARSE_ORDER_COL));  // B^T in rows
        OK(cusparseCreateDnMat(&C, m, k, k, dc.p, D, CUSPARSE_ORDER_ROW));
        OK(cusparseSpMM_bufferSize(h, N, T, &alpha, A, B, &beta, C, D, CUSPARSE_SPMM_ALG_DEFAULT, &size));
        OK(cusparseSpMM(h, N, T, &alpha, A, B, &beta, C, D, CUSPARSE_SPMM_ALG_DEFAULT, buffer.p));
        V product = times(a, m, n, b, k);
        for (int i = 0; i < m * k; ++i) product[i] = alpha * product[i] + beta * c[i];
        near("SpMM", dc.get(), product);
        Dev<double> dense(m * n);
        cusparseDnMatDescr_t W;
        OK(cusparseCreateDnMat(&W, m, n, m, dense.p, D, CUSPARSE_ORDER_COL));
        OK(cusparseSparseToDense_bufferSize(h, A, W, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &size));
        OK(cusparseSparseToDense(h, A, W, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer.p));
        near("SparseToDense", dense.get(), flipped);
        OK(cusparseDestroySpMat(A)), OK(cusparseDestroyDnVec(X)), OK(cusparseDestroyDnMat(B));
    }
}
void convert(cusparseHandle_t h) {
    const int m = 6, n = 4;
    const V a = few(m * n);
    V flipped(a.size());
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) flipped[j * m + i] = a[i * n + j];
    const Csr want = csr(a, m, n, 1), turned = csr(flipped, n, m, 1);
    Dev<double> dense(a);
    Dev<int> offsets(m + 1);
    cusparseSpMatDescr_t S;
    cusparseDnMatDescr_t A;
    OK(cusparseCreateDnMat(&A, m, n, n, dense.p, D, CUSPARSE_ORDER_ROW));
    OK(cusparseCreateCsr(&S, m, n, 0, offsets.p, nullptr, nullptr, I32, I32, CUSPARSE_INDEX_BASE_ONE, D));
    size_t size = 0;
    OK(cusparseDenseToSparse_bufferSize(h, A, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &size));
    Dev<char> buffer(static_cast<int>(size));
    OK(cusparseDenseToSparse_analysis(h, A, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer.p));
    int64_t rows, columns, count;
    OK(cusparseSpMatGetSize(S, &rows, &columns, &count));
    if (rows != m || columns != n || count != static_cast<int64_t>(want.values.size())) std::printf("size\n"), ++failed;
    Dev<int> in(static_cast<int>(count)), coo(static_cast<int>(count)), back(m + 1), t_offsets(n + 1),
        t_rows(static_cast<int>(count));
    Dev<double> values(static_cast<int>(count)), t_values(static_cast<int>(count));
    OK(cusparseCsrSetPointers(S, offsets.p, in.p, values.p));
    OK(cusparseDenseToSparse_convert(h, A, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer.p));
    equal("offsets", offsets.get(), want.offsets), equal("columns", in.get(), want.columns), near("values",
        values.get(), want.values);
    OK(cusparseXcsr2coo(h, offsets.p, static_cast<int>(count), m, coo.p, CUSPARSE_INDEX_BASE_ONE));
    OK(cusparseXcoo2csr(h, coo.p, static_cast<int>(count), m, back.p, CUSPARSE_INDEX_BASE_ONE));
    equal("csr2coo", coo.get(), want.rows), equal("coo2csr", back.get(), want.offsets);
    OK(cusparseCsr2cscEx2_bufferSize(h, m, n, static_cast<int>(count), values.p, offsets.p, in.p, t_values.p,
        t_offsets.p, t_rows.p, D,
                                     CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG1, &size));
    OK(cusparseCsr2cscEx2(h, m, n, static_cast<int>(count), values.p, offsets.p, in.p, t_values.p, t_offsets.p,
        t_rows.p, D,
                          CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG1, buffer.p));
    equal("csc offsets", t_offsets.get(), turned.offsets), equal("csc rows", t_rows.get(), turned.columns);
    near("csc values", t_values.get(), turned.values);
}
void products(cusparseHandle_t h) {
    const int m = 5, n = 6, k = 4;
    const V a = few(m * k), b = few(k * n), dense_a = random(m * k), dense_b = random(k * n);
    const Csr sa = csr(a, m, k), sb = csr(b, k, n);
    const double alpha = 2, zero = 0, beta = 3;
    Dev<int> ao(sa.offsets), ac(sa.columns), bo(sb.offsets), bc(sb.columns), co(m + 1);
    Dev<double> av(sa.values), bv(sb.values);
    cusparseSpMatDescr_t A, B, C;
    OK(cusparseCreateCsr(&A, m, k, sa.values.size(), ao.p, ac.p, av.p, I32, I32, CUSPARSE_INDEX_BASE_ZERO, D));
    OK(cusparseCreateCsr(&B, k, n, sb.values.size(), bo.p, bc.p, bv.p, I32, I32, CUSPARSE_INDEX_BASE_ZERO, D));
    OK(cusparseCreateCsr(&C, m, n, 0, nullptr, nullptr, nullptr, I32, I32, CUSPARSE_INDEX_BASE_ZERO, D));
    cusparseSpGEMMDescr_t descr;
    OK(cusparseSpGEMM_createDescr(&descr));
    const auto alg = CUSPARSE_SPGEMM_DEFAULT;
    size_t one = 0, two = 0;
    OK(cusparseSpGEMM_workEstimation(h, N, N, &alpha, A, B, &zero, C, D, alg, descr, &one, nullptr));
    Dev<char> first(static_cast<int>(one));
    OK(cusparseSpGEMM_workEstimation(h, N, N, &alpha, A, B, &zero, C, D, alg, descr, &one, first.p));
    OK(cusparseSpGEMM_compute(h, N, N, &alpha, A, B, &zero, C, D, alg, descr, &two, nullptr));
    Dev<char> second(static_cast<int>(two));
    OK(cusparseSpGEMM_compute(h, N, N, &alpha, A, B, &zero, C, D, alg, descr, &two, second.p));
    int64_t rows, columns, count;
    OK(cusparseSpMatGetSize(C, &rows, &columns, &count));
    Dev<int> cc(static_cast<int>(count));
    Dev<double> cv(static_cast<int>(count));
    OK(cusparseCsrSetPointers(C, co.p, cc.p, cv.p));
    OK(cusparseSpGEMM_copy(h, N, N, &alpha, A, B, &zero, C, D, alg, descr));
    OK(cusparseSpGEMM_destroyDescr(descr));
    const V full = times(a, m, k, b, n);
    V got(m * n, 0);
    const I offsets = co.get(), in = cc.get();
    const V values = cv.get();
    for (int i = 0; i < m; ++i)
        for (int p = offsets[i]; p < offsets[i + 1]; ++p) got[i * n + in[p]] += values[p] / alpha;
    near("SpGEMM", got, full);
    // what C stores of a dense product
    V before = values, wanted = values;
    const V all = times(dense_a, m, k, dense_b, n);
    for (int i = 0; i < m; ++i)
        for (int p = offsets[i]; p < offsets[i + 1]; ++p) wanted[p] = alpha * all[i * n + in[p]] + beta * before[p];
    Dev<double> da(dense_a), db(dense_b);
    cusparseDnMatDescr_t X, Y;
    OK(cusparseCreateDnMat(&X, m, k, k, da.p, D, CUSPARSE_ORDER_ROW));
    OK(cusparseCreateDnMat(&Y, k, n, n, db.p, D, CUSPARSE_ORDER_ROW));
    OK(cusparseSDDMM_bufferSize(h, N, N, &alpha, X, Y, &beta, C, D, CUSPARSE_SDDMM_ALG_DEFAULT, &one));
    OK(cusparseSDDMM(h, N, N, &alpha, X, Y, &beta, C, D, CUSPARSE_SDDMM_ALG_DEFAULT, first.p));
    near("SDDMM", cv.get(), wanted);
}
void triangles(cusparseHandle_t h) {
    const int n = 6, k = 2;
    const double alpha = 0.5;
    for (int form = 0; form < 8; ++form) {
        const bool lower = form & 1, unit = form & 2, turned = form & 4;
        V a = few(n * n), triangle(n * n, 0);
        for (int i = 0; i < n; ++i) {
            a[i * n + i] = 2 + draw();
            for (int j = 0; j < n; ++j) triangle[i * n + j] = i == j ? (unit ? 1 : a[i * n + i]) : (i > j) == lower ?
                a[i * n + j] : 0;
        }
        const Csr s = csr(a, n, n);
        const V x = random(n * k);
        V right = times(triangle, n, n, x, k, turned), column(n), wanted(n);
        for (double& v : right) v /= alpha;
        for (int i = 0; i < n; ++i) column[i] = right[i * k], wanted[i] = x[i * k];
        Dev<int> offsets(s.offsets), columns(s.columns);
        Dev<double> values(s.values), b(column), y(n), bm(right), ym(n * k);
        cusparseSpMatDescr_t A;
        OK(cusparseCreateCsr(&A, n, n, s.values.size(), offsets.p, columns.p, values.p, I32, I32,
            CUSPARSE_INDEX_BASE_ZERO, D));
        const cusparseFillMode_t fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
        const cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
        OK(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
        OK(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
        cusparseDnVecDescr_t X, Y;
        OK(cusparseCreateDnVec(&X, n, b.p, D)), OK(cusparseCreateDnVec(&Y, n, y.p, D));
        cusparseSpSVDescr_t descr;
        OK(cusparseSpSV_createDescr(&descr));
        size_t size = 0;
        const auto op = turned ? T : N;
        OK(cusparseSpSV_bufferSize(h, op, &alpha, A, X, Y, D, CUSPARSE_SPSV_ALG_DEFAULT, descr, &size));
        Dev<char> buffer(static_cast<int>(size));
        OK(cusparseSpSV_analysis(h, op, &alpha, A, X, Y, D, CUSPARSE_SPSV_ALG_DEFAULT, descr, buffer.p));
        OK(cusparseSpSV_solve(h, op, &alpha, A, X, Y, D, CUSPARSE_SPSV_ALG_DEFAULT, descr));
        near("SpSV", y.get(), wanted);
        cusparseDnMatDescr_t B, C;
        OK(cusparseCreateDnMat(&B, n, k, k, bm.p, D, CUSPARSE_ORDER_ROW)), OK(cusparseCreateDnMat(&C, n, k, k, ym.p, D,
            CUSPARSE_ORDER_ROW));
        cusparseSpSMDescr_t several;
        OK(cusparseSpSM_createDescr(&several));
        OK(cusparseSpSM_bufferSize(h, op, N, &alpha, A, B, C, D, CUSPARSE_SPSM_ALG_DEFAULT, several, &size));
        OK(cusparseSpSM_analysis(h, op, N, &alpha, A, B, C, D, CUSPARSE_SPSM_ALG_DEFAULT, several, buffer.p));
        OK(cusparseSpSM_solve(h, op, N, &alpha, A, B, C, D, CUSPARSE_SPSM_ALG_DEFAULT, several));
        near("SpSM", ym.get(), x);
    }
}
void lines(cusparseHandle_t h) {
    const int m = 7;
    V low = random(m), middle = random(m), up = random(m), x = random(m * 2), b(m * 2, 0);  
    low[0] = up[m - 1] = 1e9;  // which nothing reads
    for (int s = 0; s < 2; ++s)
        for (int i = 0; i < m; ++i) {
            b[s * m + i] = middle[i] * x[s * m + i];
            if (i > 0) b[s * m + i] += low[i] * x[s * m + i - 1];
            if (i + 1 < m) b[s * m + i] += up[i] * x[s * m + i + 1];
        }
    Dev<double> l(low), d(middle), u(up), out(b), plain(b);
    size_t size = 0;
    OK(cusparseDgtsv2_bufferSizeExt(h, m, 2, l.p, d.p, u.p, out.p, m, &size));
    OK(cusparseDgtsv2(h, m, 2, l.p, d.p, u.p, out.p, m, nullptr));
    OK(cusparseDgtsv2_nopivot(h, m, 2, l.p, d.p, u.p, plain.p, m, nullptr));
    near("gtsv2", out.get(), x, 1e-9), near("gtsv2_nopivot", plain.get(), x, 1e-6);
    Dev<int> at(I{1, 4, 6});
    Dev<double> v(V{2, -1, 3}), y(V{1, 2, 3, 4, 5, 6, 7}), taken(3);
    cusparseSpVecDescr_t F, G;
    cusparseDnVecDescr_t Y;
    const double alpha = 2, beta = 10;
    double dot = 0;
    OK(cusparseCreateSpVec(&F, m, 3, at.p, v.p, I32, CUSPARSE_INDEX_BASE_ZERO, D));
    OK(cusparseCreateSpVec(&G, m, 3, at.p, taken.p, I32, CUSPARSE_INDEX_BASE_ZERO, D));
    OK(cusparseCreateDnVec(&Y, m, y.p, D));
    OK(cusparseSpVV(h, N, F, Y, &dot, D, nullptr));
    OK(cusparseGather(h, Y, G));
    near("SpVV, Gather", {dot, taken.get()[0], taken.get()[1], taken.get()[2]}, {20, 2, 5, 7});
    OK(cusparseAxpby(h, &alpha, F, &beta, Y));
    near("Axpby", y.get(), {10, 24, 30, 40, 48, 60, 76});
    OK(cusparseScatter(h, F, Y));
    near("Scatter", y.get(), {10, 2, 30, 40, -1, 60, 3});
}
void floats(cusparseHandle_t h) {
    Dev<int64_t> offsets({0, 1, 3}), columns({1, 0, 1});
    Dev<float> values({2, 3, 4}), x({5, 7}), y(2);
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t X, Y;
    const float alpha = 1, beta = 0;
    OK(cusparseCreateCsr(&A, 2, 2, 3, offsets.p, columns.p, values.p, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateDnVec(&X, 2, x.p, CUDA_R_32F)), OK(cusparseCreateDnVec(&Y, 2, y.p, CUDA_R_32F));
    OK(cusparseSpMV(h, N, &alpha, A, X, &beta, Y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    near("floats", {y.get()[0], y.get()[1]}, {14, 43}, 1e-6);
    if (cusparseSpMV(h, N, &alpha, A, X, &beta, nullptr, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr) !=
        CUSPARSE_STATUS_INVALID_VALUE)
        ++failed;
}
int main() {
    cusparseHandle_t h;
    OK(cusparseCreate(&h));
    multiply(h), convert(h), products(h), triangles(h), lines(h), floats(h);
    OK(cusparseDestroy(h));
    std::printf("%d failed\n", failed);
    return failed;
}
