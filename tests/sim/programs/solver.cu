// hipSOLVER on the CPU against plain products: what is solved, factorised or taken apart gives the matrix again.
#include <cstdio>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cusolverDn.h>
#include <cuda_runtime.h>
template <class T> struct Dev {
    T* p; int n;
    Dev(int n) : n(n) { cudaMalloc(&p, sizeof(T) * n); cudaMemset(p, 0, sizeof(T) * n); }
    Dev(const std::vector<T>& v) : Dev(static_cast<int>(v.size())) { cudaMemcpy(p, v.data(), sizeof(T) * n,
        cudaMemcpyHostToDevice); }
    std::vector<T> get() const { std::vector<T> v(n); cudaMemcpy(v.data(), p, sizeof(T) * n, cudaMemcpyDeviceToHost);
        return v; }
    ~Dev() { cudaFree(p); }
};
using V = std::vector<double>;
// C = A B, columns first
V mul(const V& a, int m, int k, const V& b, int n) {
    V c(m * n, 0);
    for (int j = 0; j < n; ++j) for (int p = 0; p < k; ++p) for (int i = 0; i < m; ++i) c[i + j * m] += a[i + p * m] *
        b[p + j * k];
    return c;
}
V tr(const V& a, int m, int n) { V t(m * n); for (int j = 0; j < n; ++j) for (int i = 0; i < m; ++i) t[j + i * n] = a[i
    + j * m]; return t; }
int failed = 0;
void near(const char* what, const V& a, const V& b, double eps = 1e-10) {
    double worst = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
    if (!(worst < eps)) { std::printf("%s: off by %g\n", what, worst); ++failed; }
}
unsigned state = 7;
double draw() { state = state * 1664525u + 1013904223u; return (state >> 8) / 16777216.0 - 0.5; }
V random(int n) { V v(n); for (double& x : v) x = draw(); return v; }
V spd(int n) { V a = random(n * n), s = mul(a, n, n, tr(a, n, n), n); for (int i = 0; i < n; ++i) s[i * (n + 1)] += 1;
    return s; }
#define OK(call) failed += (call) != CUSOLVER_STATUS_SUCCESS && std::printf("%s failed\n", #call) > 0

int main() {
    cusolverDnHandle_t h; OK(cusolverDnCreate(&h));
    int size = 0; Dev<int> info(1);
    const int n = 6, r = 3;
    {   // LU, both ways
        V a = random(n * n), x = random(n * r);
        Dev<double> da(a), b(mul(a, n, n, x, r)), bt(mul(tr(a, n, n), n, n, x, r)); Dev<int> piv(n);
        OK(cusolverDnDgetrf_bufferSize(h, n, n, da.p, n, &size)); Dev<double> w(size);
        OK(cusolverDnDgetrf(h, n, n, da.p, n, w.p, piv.p, info.p));
        OK(cusolverDnDgetrs(h, CUBLAS_OP_N, n, r, da.p, n, piv.p, b.p, n, info.p));
        OK(cusolverDnDgetrs(h, CUBLAS_OP_T, n, r, da.p, n, piv.p, bt.p, n, info.p));
        near("getrs", b.get(), x); near("getrs T", bt.get(), x);
        V p = {1, 2, 2, 4}; Dev<double> s(p);
        OK(cusolverDnDgetrf(h, 2, 2, s.p, 2, w.p, piv.p, info.p));
        if (info.get()[0] != 2 || piv.get()[0] != 2) { std::printf("singular\n"); ++failed; }
    }
    {   // complex LU
        Dev<cuDoubleComplex> a({make_cuDoubleComplex(0, 1), make_cuDoubleComplex(2, 0), make_cuDoubleComplex(1, 1),
            make_cuDoubleComplex(0, -1)});
        Dev<cuDoubleComplex> b({make_cuDoubleComplex(0, 1), make_cuDoubleComplex(2, 0)}); Dev<int> piv(2);
        OK(cusolverDnZgetrf(h, 2, 2, a.p, 2, nullptr, piv.p, info.p));
        OK(cusolverDnZgetrs(h, CUBLAS_OP_N, 2, 1, a.p, 2, piv.p, b.p, 2, info.p));
        auto x = b.get(); near("zgetrs", {x[0].x, x[0].y, x[1].x, x[1].y}, {1, 0, 0, 0});
    }
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        V a = spd(n), x = random(n * r); Dev<double> da(a), b(mul(a, n, n, x, r));
        for (int j = 0; j < n; ++j) for (int i = 0; i < n; ++i) if (i != j && (i > j) != (fill ==
            CUBLAS_FILL_MODE_LOWER)) { double junk = 1e9; cudaMemcpy(da.p + i + j * n, &junk, 8,
            cudaMemcpyHostToDevice); }
        OK(cusolverDnDpotrf_bufferSize(h, fill, n, da.p, n, &size)); Dev<double> w(size);
        OK(cusolverDnDpotrf(h, fill, n, da.p, n, w.p, size, info.p));
        OK(cusolverDnDpotrs(h, fill, n, r, da.p, n, b.p, n, info.p));
        near("potrs", b.get(), x);
        OK(cusolverDnDpotri(h, fill, n, da.p, n, w.p, size, info.p));
        V inv = da.get(); for (int j = 0; j < n; ++j) for (int i = 0; i < n; ++i) if (i != j && (i > j) != (fill ==
            CUBLAS_FILL_MODE_LOWER)) inv[i + j * n] = inv[j + i * n];
        V eye(n * n, 0); for (int i = 0; i < n; ++i) eye[i * (n + 1)] = 1;
        near("potri", mul(a, n, n, inv, n), eye);
        Dev<double> bad({1.0, 2.0, 2.0, 1.0}); OK(cusolverDnDpotrf(h, fill, 2, bad.p, 2, w.p, size, info.p));
        if (info.get()[0] != 2) { std::printf("not positive\n"); ++failed; }
    }
    {   // QR: Q R = A, Q^T Q = 1, least squares
        const int m = 8, k = 5; V a = random(m * k); Dev<double> da(a), tau(k);
        OK(cusolverDnDgeqrf_bufferSize(h, m, k, da.p, m, &size)); Dev<double> w(size);
        OK(cusolverDnDgeqrf(h, m, k, da.p, m, tau.p, w.p, size, info.p));
        V f = da.get(), up(k * k, 0); for (int j = 0; j < k; ++j) for (int i = 0; i <= j; ++i) up[i + j * k] = f[i + j *
            m];
        V c = random(m * 4), c2 = random(4 * m); Dev<double> l(c), lt(c), rt(c2), rr(c2), q(f);
        OK(cusolverDnDorgqr(h, m, k, k, q.p, m, tau.p, w.p, size, info.p));
        near("geqrf", mul(q.get(), m, k, up, k), a);
        V whole(m * m, 0); for (int i = 0; i < m; ++i) whole[i * (m + 1)] = 1; Dev<double> dq(whole);
        OK(cusolverDnDormqr_bufferSize(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, m, k, da.p, m, tau.p, dq.p, m, &size));
        OK(cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, m, k, da.p, m, tau.p, dq.p, m, w.p, size, info.p));
        V Q = dq.get(), first(Q.begin(), Q.begin() + m * k); near("ormqr", first, q.get()); near("orthogonal", mul(tr(Q,
            m, m), m, m, Q, m), whole);
        OK(cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, 4, k, da.p, m, tau.p, l.p, m, w.p, size, info.p));
            near("Q C", l.get(), mul(Q, m, m, c, 4));
        OK(cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 4, k, da.p, m, tau.p, lt.p, m, w.p, size, info.p));
            near("QT C", lt.get(), mul(tr(Q, m, m), m, m, c, 4));
        OK(cusolverDnDormqr(h, CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, 4, m, k, da.p, m, tau.p, rr.p, 4, w.p, size, info.p));
            near("C Q", rr.get(), mul(c2, 4, m, Q, m));
        OK(cusolverDnDormqr(h, CUBLAS_SIDE_RIGHT, CUBLAS_OP_T, 4, m, k, da.p, m, tau.p, rt.p, 4, w.p, size, info.p));
            near("C QT", rt.get(), mul(c2, 4, m, tr(Q, m, m), m));
    }
    for (int wide = 0; wide < 3; ++wide) {  // singular values; the last one has rank 2
        const int m = wide == 1 ? 4 : 7, k = wide == 1 ? 7 : 4, few = 4;
        V a = wide < 2 ? random(m * k) : mul(random(m * 2), m, 2, random(2 * k), k);
        Dev<double> da(a), s(few), u(m * m), v(k * k), da2(a), s2(few), u2(m * few), v2(k * few);
        OK(cusolverDnDgesvd_bufferSize(h, m, k, &size)); Dev<double> w(size);
        OK(cusolverDnDgesvd(h, 'A', 'A', m, k, da.p, m, s.p, u.p, m, v.p, k, w.p, size, nullptr, info.p));
        V S(m * k, 0), sv = s.get(); for (int i = 0; i < few; ++i) { S[i + i * m] = sv[i]; if (i && sv[i] > sv[i - 1])
            ++failed; }
        near("gesvd", mul(mul(u.get(), m, m, S, k), m, k, v.get(), k), a);
        V one(m * m, 0); for (int i = 0; i < m; ++i) one[i * (m + 1)] = 1; near("U", mul(tr(u.get(), m, m), m, m,
            u.get(), m), one);
        V kk(k * k, 0); for (int i = 0; i < k; ++i) kk[i * (k + 1)] = 1; near("V", mul(tr(v.get(), k, k), k, k, v.get(),
            k), kk);
        gesvdjInfo_t j; OK(cusolverDnCreateGesvdjInfo(&j)); OK(cusolverDnXgesvdjSetTolerance(j, 1e-12));
        OK(cusolverDnDgesvdj(h, CUSOLVER_EIG_MODE_VECTOR, 1, m, k, da2.p, m, s2.p, u2.p, m, v2.p, k, w.p, size, info.p,
            j));
        V S2(few * few, 0), sv2 = s2.get(); for (int i = 0; i < few; ++i) S2[i * (few + 1)] = sv2[i];
        near("values", sv2, sv); near("gesvdj", mul(mul(u2.get(), m, few, S2, few), m, few, tr(v2.get(), k, few), k),
            a);
        OK(cusolverDnDestroyGesvdjInfo(j));
    }
    for (cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        V a = random(n * n); for (int j = 0; j < n; ++j) for (int i = 0; i < j; ++i) a[i + j * n] = a[j + i * n];
        V given = a; for (int j = 0; j < n; ++j) for (int i = 0; i < n; ++i) if (i != j && (i > j) != (fill ==
            CUBLAS_FILL_MODE_LOWER)) given[i + j * n] = 1e9;
        Dev<double> da(given), w(n);
        OK(cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, fill, n, da.p, n, w.p, &size)); Dev<double>
            work(size);
        OK(cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, fill, n, da.p, n, w.p, work.p, size, info.p));
        V x = da.get(), e = w.get(), xe = x; for (int j = 0; j < n; ++j) for (int i = 0; i < n; ++i) xe[i + j * n] *=
            e[j];
        near("syevd", mul(a, n, n, x, n), xe); if (!std::is_sorted(e.begin(), e.end())) { std::printf("order\n");
            ++failed; }
        for (cusolverEigType_t type : {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3}) {
            V b = spd(n); Dev<double> ga(given), gb(b), gw(n);
            OK(cusolverDnDsygvd(h, type, CUSOLVER_EIG_MODE_VECTOR, fill, n, ga.p, n, gb.p, n, gw.p, work.p, size,
                info.p));
            V y = ga.get(), ge = gw.get(), ye = y; for (int j = 0; j < n; ++j) for (int i = 0; i < n; ++i) ye[i + j * n]
                *= ge[j];
            if (type == CUSOLVER_EIG_TYPE_1) near("sygvd 1", mul(a, n, n, y, n), mul(b, n, n, ye, n), 1e-9);
            else if (type == CUSOLVER_EIG_TYPE_2) near("sygvd 2", mul(a, n, n, mul(b, n, n, y, n), n), ye, 1e-9);
            else near("sygvd 3", mul(b, n, n, mul(a, n, n, y, n), n), ye, 1e-9);
        }
    }
    {   // the 64-bit functions, floats
        std::vector<float> a = {4, 1, 1, 3}, b = {1, 2}; Dev<float> da(a), db(b), dc(a), dd(b); Dev<int64_t> piv(2);
        cusolverDnParams_t p; OK(cusolverDnCreateParams(&p)); size_t dev = 0, host = 0;
        OK(cusolverDnXgetrf_bufferSize(h, p, 2, 2, CUDA_R_32F, da.p, 2, CUDA_R_32F, &dev, &host)); Dev<char>
            w(static_cast<int>(dev));
        OK(cusolverDnXgetrf(h, p, 2, 2, CUDA_R_32F, da.p, 2, piv.p, CUDA_R_32F, w.p, dev, nullptr, host, info.p));
        OK(cusolverDnXgetrs(h, p, CUBLAS_OP_N, 2, 1, CUDA_R_32F, da.p, 2, piv.p, CUDA_R_32F, db.p, 2, info.p));
        OK(cusolverDnXpotrf(h, p, CUBLAS_FILL_MODE_LOWER, 2, CUDA_R_32F, dc.p, 2, CUDA_R_32F, w.p, dev, nullptr, host,
            info.p));
        OK(cusolverDnXpotrs(h, p, CUBLAS_FILL_MODE_LOWER, 2, 1, CUDA_R_32F, dc.p, 2, CUDA_R_32F, dd.p, 2, info.p));
        auto x = db.get(), y = dd.get(); near("Xgetrs", {x[0], x[1]}, {1.0 / 11, 7.0 / 11}, 1e-6); near("Xpotrs", {y[0],
            y[1]}, {1.0 / 11, 7.0 / 11}, 1e-6);
    }
    if (cusolverDnDgetrf(h, 2, 2, nullptr, 1, nullptr, nullptr, nullptr) != CUSOLVER_STATUS_INVALID_VALUE) ++failed;
    std::printf("%d failed\n", failed);
    cusolverDnDestroy(h);
    return failed;
}
