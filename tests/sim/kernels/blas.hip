// hipBLAS, against sums written out over the same numbers.
#include "suite.h"

#include <hipblas/hipblas.h>

#include <cmath>
#include <algorithm>
#include <complex>

static double value(int i) { return (i * 37 % 19) / 4.0 - 2.0; }

template <class T>
static std::vector<T> values(int n, int from) {
    std::vector<T> out(n);
    for (int i = 0; i < n; ++i) out[i] = static_cast<T>(value(i + from));
    return out;
}
template <class T>
struct In : Out<T> {
    In(int n, int from) : Out<T>(n) {
        const auto h = values<T>(n, from);
        (void)hipMemcpy(this->d, h.data(), n * sizeof(T), hipMemcpyHostToDevice);
    }
};

constexpr int kM = 5, kN = 4, kK = 7, kLd = 9;

// Element (i, j) of op(X), X stored in columns of kLd numbers that begin at value(from).
static double element(int from, hipblasOperation_t op, int i, int j) {
    return op == HIPBLAS_OP_N ? value(from + i + j * kLd) : value(from + j + i * kLd);
}
static double product(hipblasOperation_t a, hipblasOperation_t b, int i, int j) {
    double sum = 0;
    for (int p = 0; p < kK; ++p) sum += element(3, a, i, p) * element(8, b, p, j);
    return sum;
}

// Triangular systems, symmetric products, sums and diagonals, each against the definition.
static void level3(hipblasHandle_t handle) {
    using Z = std::complex<double>;
    constexpr int kRows = 5, kColumns = 3, kLead = 7;
    Z *a = nullptr, *b = nullptr, *c = nullptr;
    for (Z** p : {&a, &b, &c}) (void)hipMallocManaged(reinterpret_cast<void**>(p), kLead * kLead * sizeof(Z));
    const auto fresh = [&] {
        for (int i = 0; i < kLead * kLead; ++i) {
            a[i] = Z(value(i), value(i + 2)) + (i % (kLead + 1) ? 0.0 : 9.0);
            b[i] = Z(value(i + 4), value(2 * i));
            c[i] = Z(value(3 * i), value(i + 5));
        }
    };
    const auto z = [](Z* p) { return reinterpret_cast<hipDoubleComplex*>(p); };
    const auto of = [&](hipblasOperation_t op, int i, int j) {
        return op == HIPBLAS_OP_N ? a[i + j * kLead] : op == HIPBLAS_OP_T ? a[j + i * kLead] : std::conj(a[j + i * kLead]);
    };
    Z alpha(2, 1), beta(0, -1);
    for (auto side : {HIPBLAS_SIDE_LEFT, HIPBLAS_SIDE_RIGHT})
        for (auto fill : {HIPBLAS_FILL_MODE_UPPER, HIPBLAS_FILL_MODE_LOWER})
            for (auto op : {HIPBLAS_OP_N, HIPBLAS_OP_T, HIPBLAS_OP_C})
                for (auto diagonal : {HIPBLAS_DIAG_UNIT, HIPBLAS_DIAG_NON_UNIT}) {
                    fresh();
                    const std::vector<Z> before(b, b + kLead * kLead);
                    (void)hipblasZtrsm(handle, side, fill, op, diagonal, kRows, kColumns, z(&alpha), z(a), kLead, z(b), kLead);
                    const auto known = [&](int i, int j) -> Z {
                        if (i == j && diagonal == HIPBLAS_DIAG_UNIT) return 1;
                        const bool lower = (fill == HIPBLAS_FILL_MODE_LOWER) == (op == HIPBLAS_OP_N);
                        return i != j && (i > j) != lower ? 0 : of(op, i, j);
                    };
                    bool right = true;
                    for (int j = 0; j < kLead; ++j)
                        for (int i = 0; i < kLead; ++i) {
                            Z sum = b[i + j * kLead], wanted = before[i + j * kLead];
                            if (i < kRows && j < kColumns) {
                                sum = 0, wanted *= alpha;
                                for (int p = 0; p < (side == HIPBLAS_SIDE_LEFT ? kRows : kColumns); ++p)
                                    sum += side == HIPBLAS_SIDE_LEFT ? known(i, p) * b[p + j * kLead]
                                                                     : b[i + p * kLead] * known(p, j);
                            }
                            right = right && std::abs(sum - wanted) < 1e-6;
                        }
                    say("trsm", right);
                }
    const auto same = [&](const char* what, int rows, int columns, auto wanted) {
        bool right = true;
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) right = right && std::abs(c[i + j * kLead] - wanted(i, j)) < 1e-9;
        say(what, right);
    };
    const auto old = [](int i, int j) { return Z(value(3 * (i + j * kLead)), value(i + j * kLead + 5)); };
    fresh();
    (void)hipblasZsyrk(handle, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_OP_T, kRows, kColumns, z(&alpha), z(a), kLead, z(&beta), z(c),
                       kLead);
    same("syrk", kRows, kRows, [&](int i, int j) {
        Z sum = 0;
        for (int p = 0; p < kColumns; ++p) sum += a[p + i * kLead] * a[p + j * kLead];
        return i < j ? old(i, j) : alpha * sum + beta * old(i, j);
    });
    for (auto side : {HIPBLAS_SIDE_LEFT, HIPBLAS_SIDE_RIGHT}) {
        fresh();
        (void)hipblasZsymm(handle, side, HIPBLAS_FILL_MODE_UPPER, kRows, kColumns, z(&alpha), z(a), kLead, z(b), kLead,
                           z(&beta), z(c), kLead);
        const auto known = [&](int i, int j) { return a[std::min(i, j) + std::max(i, j) * kLead]; };
        same("symm", kRows, kColumns, [&](int i, int j) {
            Z sum = 0;
            for (int p = 0; p < (side == HIPBLAS_SIDE_LEFT ? kRows : kColumns); ++p)
                sum += side == HIPBLAS_SIDE_LEFT ? known(i, p) * b[p + j * kLead] : b[i + p * kLead] * known(p, j);
            return alpha * sum + beta * old(i, j);
        });
    }
    (void)hipblasZgeam(handle, HIPBLAS_OP_C, HIPBLAS_OP_N, kRows, kColumns, z(&alpha), z(a), kLead, z(&beta), z(b), kLead,
                       z(c), kLead);
    same("geam", kRows, kColumns,
         [&](int i, int j) { return alpha * std::conj(a[j + i * kLead]) + beta * b[i + j * kLead]; });
    (void)hipblasZdgmm(handle, HIPBLAS_SIDE_RIGHT, kRows, kColumns, z(a), kLead, z(b), 2, z(c), kLead);
    same("dgmm", kRows, kColumns, [&](int i, int j) { return a[i + j * kLead] * b[2 * j]; });
}

int main() {
    hipblasHandle_t handle;
    say("create", hipblasCreate(&handle) == HIPBLAS_STATUS_SUCCESS);
    const float two = 2, half = 0.5f, zero = 0;
    const double three = 3;

    In<float> x(20, 0), y(20, 5);
    (void)hipblasSaxpy(handle, 5, &two, x.d, 3, y.d, -2);
    say("axpy with steps", all(y, [](int i) { return value(i + 5) + (i < 9 && i % 2 == 0 ? 2 * value((4 - i / 2) * 3) : 0); }));
    float result;
    double norm, dot;
    (void)hipblasSdot(handle, 10, x.d, 1, x.d, 2, &result);
    double sum = 0, squares = 0, sizes = 0;
    int largest = 0;
    for (int i = 0; i < 10; ++i) sum += value(i) * value(2 * i);
    say("dot", result == static_cast<float>(sum));
    In<double> z(20, 0);
    for (int i = 0; i < 20; ++i) {
        squares += value(i) * value(i), sizes += std::fabs(value(i));
        if (std::fabs(value(i)) > std::fabs(value(largest))) largest = i;
    }
    int index = 0;
    (void)hipblasDnrm2(handle, 20, z.d, 1, &norm);
    say("nrm2", std::fabs(norm - std::sqrt(squares)) < 1e-12);
    (void)hipblasDasum(handle, 20, z.d, 1, &dot);
    say("asum", dot == sizes);
    (void)hipblasIdamax(handle, 20, z.d, 1, &index);
    say("amax", index == largest + 1);
    Out<float> on_device(1);
    (void)hipblasSetPointerMode(handle, HIPBLAS_POINTER_MODE_DEVICE);
    (void)hipblasSdot(handle, 10, x.d, 1, x.d, 2, on_device.d);
    (void)hipblasSetPointerMode(handle, HIPBLAS_POINTER_MODE_HOST);
    say("a result on the device", all(on_device, [&](int) { return sum; }));
    (void)hipblasDscal(handle, 20, &three, z.d, 1);
    say("scal", all(z, [](int i) { return 3 * value(i); }));

    In<float> a(kLd * kLd, 3), b(kLd * kLd, 8);
    const hipblasOperation_t ops[] = {HIPBLAS_OP_N, HIPBLAS_OP_T};
    for (hipblasOperation_t op_a : ops)
        for (hipblasOperation_t op_b : ops) {
            In<float> c(kLd * kN, 1);
            (void)hipblasSgemm(handle, op_a, op_b, kM, kN, kK, &two, a.d, kLd, b.d, kLd, &half, c.d, kLd);
            say("gemm", all(c, [&](int n) {
                return n % kLd < kM ? 2 * product(op_a, op_b, n % kLd, n / kLd) + 0.5 * value(n + 1) : value(n + 1);
            }));
        }
    for (hipblasOperation_t op : ops) {
        In<float> v(kLd, 6), out(kLd, 2);
        (void)hipblasSgemv(handle, op, kM, kK, &two, a.d, kLd, v.d, 1, &half, out.d, 1);
        const int rows = op == HIPBLAS_OP_N ? kM : kK, columns = op == HIPBLAS_OP_N ? kK : kM;
        say("gemv", all(out, [&](int i) {
            double total = 0;
            for (int j = 0; j < columns; ++j) total += element(3, op, i, j) * value(6 + j);
            return i < rows ? 2 * total + 0.5 * value(2 + i) : value(2 + i);
        }));
    }
    Out<float> nan(kM * kN);
    (void)hipMemset(nan.d, 0xff, kM * kN * sizeof(float));
    (void)hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, kM, kN, kK, &two, a.d, kLd, b.d, kLd, &zero, nan.d, kM);
    say("a beta of 0 reads nothing", all(nan, [](int n) { return 2 * product(HIPBLAS_OP_N, HIPBLAS_OP_N, n % kM, n / kM); }));
    Out<float> batch(kM * kN * 2);
    (void)hipblasSgemmStridedBatched(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, kM, kN, kK, &two, a.d, kLd, 0, b.d, kLd, 0, &zero,
                                     batch.d, kM, kM * kN, 2);
    say("batches", all(batch, [](int n) { return 2 * product(HIPBLAS_OP_N, HIPBLAS_OP_N, n % (kM * kN) % kM, n % (kM * kN) / kM); }));

    In<__half> ha(kLd * kLd, 3), hb(kLd * kLd, 8);
    Out<float> mixed(kM * kN);
    const auto status = hipblasGemmEx(handle, HIPBLAS_OP_T, HIPBLAS_OP_N, kM, kN, kK, &two, ha.d, HIP_R_16F, kLd, hb.d,
                                      HIP_R_16F, kLd, &zero, mixed.d, HIP_R_32F, kM, HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT);
    say("GemmEx", status == HIPBLAS_STATUS_SUCCESS &&
                      all(mixed, [](int n) { return 2 * product(HIPBLAS_OP_T, HIPBLAS_OP_N, n % kM, n / kM); }));
    In<double> reals(2 * 4, 0);
    Out<double> squared(2 * 4);
    const hipDoubleComplex one(1, 0), none(0, 0);
    static_assert(std::is_same_v<hipblasDoubleComplex, hipDoubleComplex> && std::is_same_v<hipblasComplex, hipComplex>);
    auto* m = reinterpret_cast<hipblasDoubleComplex*>(reals.d);
    (void)hipblasZgemm(handle, HIPBLAS_OP_C, HIPBLAS_OP_N, 2, 2, 2, &one, m, 2, m, 2, &none,
                       reinterpret_cast<hipDoubleComplex*>(squared.d), 2);
    say("complex gemm", all(squared, [](int n) {
        const auto at = [](int k) { return std::complex<double>(value(2 * k), value(2 * k + 1)); };
        const int i = n / 2 % 2, j = n / 4;
        const auto sum = std::conj(at(2 * i)) * at(2 * j) + std::conj(at(2 * i + 1)) * at(2 * j + 1);
        return n % 2 ? sum.imag() : sum.real();
    }));

    using Z = std::complex<double>;
    const Z u0[3] = {Z(1, 2), Z(-3, 4), Z(0, -1)}, v0[3] = {Z(2, 0), Z(1, -1), Z(5, 7)};
    Z *u = nullptr, *v = nullptr;
    (void)hipMallocManaged(reinterpret_cast<void**>(&u), sizeof u0);
    (void)hipMallocManaged(reinterpret_cast<void**>(&v), sizeof v0);
    std::copy(u0, u0 + 3, u);
    std::copy(v0, v0 + 3, v);
    auto* zu = reinterpret_cast<hipDoubleComplex*>(u);
    auto* zv = reinterpret_cast<hipDoubleComplex*>(v);
    Z zdot[2];
    double znorm = 0, zsum = 0;
    (void)hipblasZdotu(handle, 3, zu, 1, zv, 1, reinterpret_cast<hipDoubleComplex*>(&zdot[0]));
    (void)hipblasZdotc(handle, 3, zu, 1, zv, 1, reinterpret_cast<hipDoubleComplex*>(&zdot[1]));
    (void)hipblasDznrm2(handle, 3, zu, 1, &znorm);
    (void)hipblasDzasum(handle, 3, zu, 1, &zsum);
    say("complex products", zdot[0] == Z(2, 4) + Z(1, 7) + Z(7, -5) && zdot[1] == Z(2, -4) + Z(-7, -1) + Z(-7, 5));
    say("complex sizes", std::abs(znorm - std::sqrt(31.0)) < 1e-15 && zsum == 11);
    const hipDoubleComplex turn(0, 1);
    const double zhalf = 0.5;
    (void)hipblasZaxpy(handle, 3, &turn, zu, 1, zv, 1);
    say("complex axpy", v[0] == Z(0, 1) && v[1] == Z(-3, -4) && v[2] == Z(6, 7));
    (void)hipblasZscal(handle, 2, &turn, zu, 2);
    (void)hipblasZdscal(handle, 2, &zhalf, zu, 1);
    say("complex scal", u[0] == Z(-1, 0.5) && u[1] == Z(-1.5, 2) && u[2] == Z(1, 0));
    (void)hipblasZswap(handle, 3, zu, 1, zv, 1);
    (void)hipblasZcopy(handle, 1, zv, 1, zu + 2, 1);
    say("complex copies", u[0] == Z(0, 1) && v[2] == Z(1, 0) && u[2] == Z(-1, 0.5));

    say("a wrong leading dimension", hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, kM, kN, kK, &two, a.d, kM - 1, b.d,
                                                  kLd, &zero, nan.d, kM) == HIPBLAS_STATUS_INVALID_VALUE);
    say("no handle", hipblasSaxpy(nullptr, 1, &two, x.d, 1, y.d, 1) == HIPBLAS_STATUS_NOT_INITIALIZED);
    say("not simulated", hipblasStrsv(handle, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_OP_N, HIPBLAS_DIAG_UNIT, 1, a.d, 1, b.d, 1) ==
                             HIPBLAS_STATUS_NOT_SUPPORTED);
    level3(handle);
    say("destroy", hipblasDestroy(handle) == HIPBLAS_STATUS_SUCCESS);
}
