// hipSOLVER's functions by the type of the matrix. `T`: the type of the interface; `U`: the one that has arithmetic.
#pragma once

inline hipsolverStatus_t hipsolverDnCreate(hipsolverHandle_t* handle) {
    if (!handle) return HIPSOLVER_STATUS_HANDLE_IS_NULLPTR;
    *handle = new cu2port_sim::solver::Handle;
    return HIPSOLVER_STATUS_SUCCESS;
}
inline hipsolverStatus_t hipsolverDnDestroy(hipsolverHandle_t handle) {
    delete handle;
    return cu2port_sim::solver::checked(handle, true);
}
inline hipsolverStatus_t hipsolverDnSetStream(hipsolverHandle_t handle, hipStream_t stream) {
    if (handle) handle->stream = stream;
    return cu2port_sim::solver::checked(handle, true);
}
inline hipsolverStatus_t hipsolverDnGetStream(hipsolverHandle_t handle, hipStream_t* stream) {
    if (handle) *stream = handle->stream;
    return cu2port_sim::solver::checked(handle, true);
}
inline hipsolverStatus_t hipsolverDnSetDeterministicMode(hipsolverHandle_t handle, hipsolverDeterministicMode_t mode) {
    if (handle) handle->mode = mode;
    return cu2port_sim::solver::checked(handle, true);
}
inline hipsolverStatus_t hipsolverDnGetDeterministicMode(hipsolverHandle_t handle, hipsolverDeterministicMode_t* mode) {
    if (handle) *mode = handle->mode;
    return cu2port_sim::solver::checked(handle, true);
}

#define CU2PORT_SIM_ROTATIONS(KIND, NAME) \
    inline hipsolverStatus_t hipsolverDnCreate##NAME##Info(hipsolver##NAME##Info_t* info) { \
        *info = new cu2port_sim::solver::Rotations; \
        return HIPSOLVER_STATUS_SUCCESS; \
    } \
    inline hipsolverStatus_t hipsolverDnDestroy##NAME##Info(hipsolver##NAME##Info_t info) { \
        delete info; \
        return HIPSOLVER_STATUS_SUCCESS; \
    } \
    inline hipsolverStatus_t hipsolverDnX##KIND##SetTolerance(hipsolver##NAME##Info_t info, double tolerance) { \
        info->tolerance = tolerance; \
        return HIPSOLVER_STATUS_SUCCESS; \
    } \
    inline hipsolverStatus_t hipsolverDnX##KIND##SetMaxSweeps(hipsolver##NAME##Info_t info, int sweeps) { \
        info->sweeps = sweeps; \
        return HIPSOLVER_STATUS_SUCCESS; \
    } \
    inline hipsolverStatus_t hipsolverDnX##KIND##SetSortEig(hipsolver##NAME##Info_t info, int sorted) { \
        info->sorted = sorted; \
        return HIPSOLVER_STATUS_SUCCESS; \
    } \
    inline hipsolverStatus_t hipsolverDnX##KIND##GetResidual(hipsolverDnHandle_t h, hipsolver##NAME##Info_t, double* \
        residual) { \
        *residual = 0; \
        return cu2port_sim::solver::checked(h, true); \
    } \
    inline hipsolverStatus_t hipsolverDnX##KIND##GetSweeps(hipsolverDnHandle_t h, hipsolver##NAME##Info_t, int* \
        sweeps) { \
        *sweeps = 1; \
        return cu2port_sim::solver::checked(h, true); \
    }
CU2PORT_SIM_ROTATIONS(gesvdj, Gesvdj)
CU2PORT_SIM_ROTATIONS(syevj, Syevj)
#undef CU2PORT_SIM_ROTATIONS

#define CU2PORT_SIM_SYSTEMS(P, T, U) \
    inline hipsolverStatus_t hipsolverDn##P##getrf_bufferSize(hipsolverHandle_t h, int m, int n, T*, int lda, int* \
        size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(m, n, lda), 1ll * m * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##getrf(hipsolverHandle_t h, int m, int n, T* a, int lda, T*, int* pivots, \
        int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(m, n, lda)); \
        if (!status) cu2port_sim::solver::tell(info, cu2port_sim::solver::getrf(m, n, (U*)a, lda, pivots)); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##getrs(hipsolverHandle_t h, hipblasOperation_t op, int n, int systems, \
        const T* a, int lda, \
                                                   const int* pivots, T* b, int ldb, int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(n, n, lda) && \
            cu2port_sim::solver::fits(n, systems, ldb)); \
        if (!status) cu2port_sim::solver::getrs(h, op, n, systems, (const U*)a, lda, pivots, (U*)b, ldb); \
        if (!status) cu2port_sim::solver::tell(info, 0); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potrf_bufferSize(hipsolverHandle_t h, hipblasFillMode_t, int n, T*, int \
        lda, int* size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(n, n, lda), n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potrf(hipsolverHandle_t h, hipblasFillMode_t fill, int n, T* a, int lda, \
        T*, int, int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(n, n, lda)); \
        if (!status) cu2port_sim::solver::tell(info, cu2port_sim::solver::potrf(fill, n, (U*)a, lda)); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potrfBatched(hipsolverHandle_t h, hipblasFillMode_t fill, int n, T* a[], \
        int lda, int* info, int count) { \
        const auto status = cu2port_sim::solver::checked(h, count >= 0 && cu2port_sim::solver::fits(n, n, lda)); \
        for (int i = 0; !status && i < count; ++i) info[i] = cu2port_sim::solver::potrf(fill, n, (U*)a[i], lda); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potrs(hipsolverHandle_t h, hipblasFillMode_t fill, int n, int systems, \
        const T* a, int lda, \
                                                   T* b, int ldb, int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(n, n, lda) && \
            cu2port_sim::solver::fits(n, systems, ldb)); \
        if (!status) cu2port_sim::solver::potrs(h, fill, n, systems, (const U*)a, lda, (U*)b, ldb); \
        if (!status) cu2port_sim::solver::tell(info, 0); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potrsBatched(hipsolverHandle_t h, hipblasFillMode_t fill, int n, int \
        systems, T* a[], int lda, \
                                                          T* b[], int ldb, int* info, int count) { \
        auto status = cu2port_sim::solver::checked(h, count >= 0); \
        for (int i = 0; !status && i < count; ++i) status = hipsolverDn##P##potrs(h, fill, n, systems, a[i], lda, \
            b[i], ldb, info); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potri_bufferSize(hipsolverHandle_t h, hipblasFillMode_t, int n, T*, int \
        lda, int* size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(n, n, lda), n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##potri(hipsolverHandle_t h, hipblasFillMode_t fill, int n, T* a, int lda, \
        T*, int, int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(n, n, lda)); \
        if (!status) cu2port_sim::solver::potri(h, fill, n, (U*)a, lda); \
        if (!status) cu2port_sim::solver::tell(info, 0); \
        return status; \
    }
CU2PORT_SIM_SYSTEMS(S, float, float)
CU2PORT_SIM_SYSTEMS(D, double, double)
CU2PORT_SIM_SYSTEMS(C, hipFloatComplex, std::complex<float>)
CU2PORT_SIM_SYSTEMS(Z, hipDoubleComplex, std::complex<double>)
#undef CU2PORT_SIM_SYSTEMS

#define CU2PORT_SIM_REAL(P, T) \
    inline hipsolverStatus_t hipsolverDn##P##geqrf_bufferSize(hipsolverHandle_t h, int m, int n, T*, int lda, int* \
        size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(m, n, lda), n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##geqrf(hipsolverHandle_t h, int m, int n, T* a, int lda, T* tau, T*, int, \
        int* info) { \
        const auto status = cu2port_sim::solver::checked(h, cu2port_sim::solver::fits(m, n, lda)); \
        if (!status) cu2port_sim::solver::geqrf(m, n, a, lda, tau), cu2port_sim::solver::tell(info, 0); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##orgqr_bufferSize(hipsolverHandle_t h, int m, int n, int k, const T*, int \
        lda, const T*, int* size) { \
        return cu2port_sim::solver::size_told(h, k >= 0 && cu2port_sim::solver::fits(m, n, lda), n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##orgqr(hipsolverHandle_t h, int m, int n, int k, T* a, int lda, const T* \
        tau, T*, int, int* info) { \
        const auto status = cu2port_sim::solver::checked(h, k >= 0 && k <= n && n <= m && \
            cu2port_sim::solver::fits(m, n, lda)); \
        if (!status) cu2port_sim::solver::orgqr(m, n, k, a, lda, tau), cu2port_sim::solver::tell(info, 0); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##ormqr_bufferSize(hipsolverHandle_t h, hipblasSideMode_t, \
        hipblasOperation_t, int m, int n, int k, \
                                                              const T*, int, const T*, const T*, int ldc, int* size) { \
        return cu2port_sim::solver::size_told(h, k >= 0 && cu2port_sim::solver::fits(m, n, ldc), std::max(m, n), \
            size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##ormqr(hipsolverHandle_t h, hipblasSideMode_t side, hipblasOperation_t \
        op, int m, int n, int k, \
                                                   const T* a, int lda, const T* tau, T* c, int ldc, T*, int, int* \
                                                       info) { \
        const int rows = side == HIPBLAS_SIDE_LEFT ? m : n; \
        const auto status = cu2port_sim::solver::checked(h, k >= 0 && k <= rows && cu2port_sim::solver::fits(rows, k, \
            lda) && cu2port_sim::solver::fits(m, n, ldc)); \
        if (!status) cu2port_sim::solver::ormqr(side, op, m, n, k, a, lda, tau, c, ldc), \
            cu2port_sim::solver::tell(info, 0); \
        return status; \
    } \
    inline hipsolverStatus_t hipsolverDn##P##gesvd_bufferSize(hipsolverHandle_t h, int m, int n, int* size) { \
        return cu2port_sim::solver::size_told(h, m >= 0 && n >= 0, 1ll * m * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##gesvd(hipsolverHandle_t h, signed char job_u, signed char job_v, int m, \
        int n, T* a, int lda, T* s, \
                                                   T* u, int ldu, T* v, int ldv, T*, int, T*, int* info) { \
        return cu2port_sim::solver::gesvd(h, job_u, job_v, m, n, a, lda, s, u, ldu, v, ldv, info); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##gesvdj_bufferSize(hipsolverDnHandle_t h, hipsolverEigMode_t, int, int m, \
        int n, const T*, int lda, \
                                                               const T*, const T*, int, const T*, int, int* size, \
                                                                   hipsolverGesvdjInfo_t) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(m, n, lda), 1ll * m * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##gesvdj(hipsolverDnHandle_t h, hipsolverEigMode_t job, int few, int m, \
        int n, T* a, int lda, T* s, T* u, \
                                                    int ldu, T* v, int ldv, T*, int, int* info, \
                                                        hipsolverGesvdjInfo_t) { \
        return cu2port_sim::solver::gesvdj(h, job, few != 0, m, n, a, lda, s, u, ldu, v, ldv, info); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##syevd_bufferSize(hipsolverHandle_t h, hipsolverEigMode_t, \
        hipblasFillMode_t, int n, const T*, int lda, \
                                                              const T*, int* size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(n, n, lda), 1ll * n * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##syevd(hipsolverHandle_t h, hipsolverEigMode_t job, hipblasFillMode_t \
        fill, int n, T* a, int lda, T* w, T*, \
                                                   int, int* info) { \
        return cu2port_sim::solver::syevd(h, job, fill, n, a, lda, w, info); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##syevj_bufferSize(hipsolverDnHandle_t h, hipsolverEigMode_t, \
        hipblasFillMode_t, int n, const T*, int lda, \
                                                              const T*, int* size, hipsolverSyevjInfo_t) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(n, n, lda), 1ll * n * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##syevj(hipsolverDnHandle_t h, hipsolverEigMode_t job, hipblasFillMode_t \
        fill, int n, T* a, int lda, T* w, T*, \
                                                   int, int* info, hipsolverSyevjInfo_t) { \
        return cu2port_sim::solver::syevd(h, job, fill, n, a, lda, w, info); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##sygvd_bufferSize(hipsolverHandle_t h, hipsolverEigType_t, \
        hipsolverEigMode_t, hipblasFillMode_t, int n, \
                                                              const T*, int lda, const T*, int, const T*, int* size) { \
        return cu2port_sim::solver::size_told(h, cu2port_sim::solver::fits(n, n, lda), 1ll * n * n, size); \
    } \
    inline hipsolverStatus_t hipsolverDn##P##sygvd(hipsolverHandle_t h, hipsolverEigType_t type, hipsolverEigMode_t \
        job, hipblasFillMode_t fill, int n, \
                                                   T* a, int lda, T* b, int ldb, T* w, T*, int, int* info) { \
        return cu2port_sim::solver::sygvd(h, type, job, fill, n, a, lda, b, ldb, w, info); \
    }
CU2PORT_SIM_REAL(S, float)
CU2PORT_SIM_REAL(D, double)
#undef CU2PORT_SIM_REAL
