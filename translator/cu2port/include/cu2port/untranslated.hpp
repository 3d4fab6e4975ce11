// cu2port untranslated: marks places whose PTX or calls have no counterpart on AMD GPUs, so that they never compile by
// accident. This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `untranslated` is a host function: device code that calls it does not compile, and the compiler shows the call with
// its text; on the host it stops the program. Functions that no kernel reaches do not disturb. Replace the call by code
// for AMD GPUs and take it out.
#ifndef CU2PORT_UNTRANSLATED_HPP
#define CU2PORT_UNTRANSLATED_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#if defined(__HIP__) || defined(__HIPCC__)
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#define CU2PORT_UNTRANSLATED_HOST __host__
#define CU2PORT_UNTRANSLATED_BOTH __host__ __device__ inline
#else
#define CU2PORT_UNTRANSLATED_HOST
#define CU2PORT_UNTRANSLATED_BOTH inline
#endif
#if !defined(__HIP_DEVICE_COMPILE__) && !defined(__HIPCC_RTC__)
#include <cstdio>
#include <cstdlib>
#endif

namespace cu2port {

#if defined(__HIP_DEVICE_COMPILE__) || defined(__HIPCC_RTC__)
CU2PORT_UNTRANSLATED_HOST void untranslated(const char* what);
#else
CU2PORT_UNTRANSLATED_HOST inline void untranslated(const char* what) {
    std::fprintf(stderr, "cu2port: untranslated: %s\n", what);
    std::abort();
}
#endif

namespace ptx {

using cu2port::untranslated;

#if defined(__HIP_DEVICE_COMPILE__) || defined(__HIPCC_RTC__)
// Stops the kernel that comes here.
CU2PORT_UNTRANSLATED_BOTH void untranslated_trap(const char*) { __builtin_trap(); }
#else
CU2PORT_UNTRANSLATED_BOTH void untranslated_trap(const char* ptx) {
    std::fprintf(stderr, "cu2port: untranslated: %s\n", ptx);
    std::abort();
}
#endif

// Whether two texts are the same: which of the cases a macro's parameter asks for.
CU2PORT_UNTRANSLATED_BOTH constexpr bool same(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

}  // namespace ptx
}  // namespace cu2port

#undef CU2PORT_UNTRANSLATED_HOST
#undef CU2PORT_UNTRANSLATED_BOTH

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_UNTRANSLATED_HPP
