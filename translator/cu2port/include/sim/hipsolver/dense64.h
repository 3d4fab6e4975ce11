// hipSOLVER's functions that are told the type of the matrix, with 64-bit sizes.
#pragma once

inline hipsolverStatus_t hipsolverDnCreateParams(hipsolverDnParams_t* params) {
    static char any;
    *params = reinterpret_cast<hipsolverDnParams_t>(&any);
    return HIPSOLVER_STATUS_SUCCESS;
}
inline hipsolverStatus_t hipsolverDnDestroyParams(hipsolverDnParams_t) { return HIPSOLVER_STATUS_SUCCESS; }
inline hipsolverStatus_t hipsolverDnSetAdvOptions(hipsolverDnParams_t, hipsolverDnFunction_t, hipsolverAlgMode_t) {
    return HIPSOLVER_STATUS_SUCCESS;
}

namespace cu2port_sim {
namespace solver {

inline hipsolverStatus_t sizes_told(const void* handle, bool valid, long long count, std::size_t* device, std::size_t*
    host) {
    if (host) *host = 0;
    return size_told(handle, valid, 16 * count, device);
}
// f(a pointer of the matrix' type), where all is well.
template <class F>
hipsolverStatus_t typed(const void* handle, bool valid, hipDataType type, void* a, F f) {
    const auto status = checked(handle, valid);
    if (status) return status;
    return with_type(type, [&](auto x) { f(static_cast<decltype(x)*>(a)); }) ? status : HIPSOLVER_STATUS_NOT_SUPPORTED;
}

}  // namespace solver
}  // namespace cu2port_sim

inline hipsolverStatus_t hipsolverDnXgetrf_bufferSize(hipsolverDnHandle_t h, hipsolverDnParams_t, std::int64_t m,
    std::int64_t n, hipDataType,
                                                      const void*, std::int64_t lda, hipDataType, std::size_t* device,
                                                          std::size_t* host) {
    return cu2port_sim::solver::sizes_told(h, cu2port_sim::solver::fits(m, n, lda), m * n, device, host);
}
inline hipsolverStatus_t hipsolverDnXgetrf(hipsolverDnHandle_t h, hipsolverDnParams_t, std::int64_t m, std::int64_t n,
    hipDataType type, void* a,
                                           std::int64_t lda, std::int64_t* pivots, hipDataType, void*, std::size_t,
                                               void*, std::size_t,
                                           int* info) {
    return cu2port_sim::solver::typed(h, cu2port_sim::solver::fits(m, n, lda), type, a, [&](auto* p) {
        cu2port_sim::solver::tell(info, cu2port_sim::solver::getrf(static_cast<int>(m), static_cast<int>(n), p,
            static_cast<int>(lda), pivots));
    });
}
inline hipsolverStatus_t hipsolverDnXgetrs(hipsolverDnHandle_t h, hipsolverDnParams_t, hipsolverOperation_t op,
    std::int64_t n, std::int64_t systems,
                                           hipDataType type, const void* a, std::int64_t lda, const std::int64_t*
                                               pivots, hipDataType, void* b,
                                           std::int64_t ldb, int* info) {
    return cu2port_sim::solver::typed(h, cu2port_sim::solver::fits(n, n, lda) && cu2port_sim::solver::fits(n, systems,
        ldb), type,
                                      const_cast<void*>(a), [&](auto* p) {
        using T = std::remove_pointer_t<decltype(p)>;
        cu2port_sim::solver::getrs<T>(h, op, static_cast<int>(n), static_cast<int>(systems), p, static_cast<int>(lda),
            pivots, static_cast<T*>(b),
                                      static_cast<int>(ldb));
        cu2port_sim::solver::tell(info, 0);
    });
}
inline hipsolverStatus_t hipsolverDnXpotrf_bufferSize(hipsolverDnHandle_t h, hipsolverDnParams_t, hipsolverFillMode_t,
    std::int64_t n, hipDataType,
                                                      const void*, std::int64_t lda, hipDataType, std::size_t* device,
                                                          std::size_t* host) {
    return cu2port_sim::solver::sizes_told(h, cu2port_sim::solver::fits(n, n, lda), n, device, host);
}
inline hipsolverStatus_t hipsolverDnXpotrf(hipsolverDnHandle_t h, hipsolverDnParams_t, hipsolverFillMode_t fill,
    std::int64_t n, hipDataType type,
                                           void* a, std::int64_t lda, hipDataType, void*, std::size_t, void*,
                                               std::size_t, int* info) {
    return cu2port_sim::solver::typed(h, cu2port_sim::solver::fits(n, n, lda), type, a, [&](auto* p) {
        cu2port_sim::solver::tell(info, cu2port_sim::solver::potrf(fill, static_cast<int>(n), p,
            static_cast<int>(lda)));
    });
}
inline hipsolverStatus_t hipsolverDnXpotrs(hipsolverDnHandle_t h, hipsolverDnParams_t, hipsolverFillMode_t fill,
    std::int64_t n,
                                           std::int64_t systems, hipDataType type, const void* a, std::int64_t lda,
                                               hipDataType, void* b,
                                           std::int64_t ldb, int* info) {
    return cu2port_sim::solver::typed(h, cu2port_sim::solver::fits(n, n, lda) && cu2port_sim::solver::fits(n, systems,
        ldb), type,
                                      const_cast<void*>(a), [&](auto* p) {
        using T = std::remove_pointer_t<decltype(p)>;
        cu2port_sim::solver::potrs<T>(h, fill, static_cast<int>(n), static_cast<int>(systems), p, static_cast<int>(lda),
            static_cast<T*>(b),
                                      static_cast<int>(ldb));
        cu2port_sim::solver::tell(info, 0);
    });
}
