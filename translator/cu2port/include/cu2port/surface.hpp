// cu2port surface: CUDA's reads of a surface that return the value; HIP has those that take a pointer to it.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// As in CUDA, x counts bytes. A read outside the surface gives 0. GPUs for computing alone (gfx942, gfx950) have no
// surfaces: there a call does not compile.
#ifndef CU2PORT_SURFACE_HPP
#define CU2PORT_SURFACE_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

namespace cu2port {

template <class T> __device__ inline T surf1Dread(hipSurfaceObject_t surface, int x) {
    T value;
    ::surf1Dread(&value, surface, x);
    return value;
}

template <class T> __device__ inline T surf2Dread(hipSurfaceObject_t surface, int x, int y) {
    T value;
    ::surf2Dread(&value, surface, x, y);
    return value;
}

template <class T> __device__ inline T surf3Dread(hipSurfaceObject_t surface, int x, int y, int z) {
    T value;
    ::surf3Dread(&value, surface, x, y, z);
    return value;
}

template <class T> __device__ inline T surf1DLayeredread(hipSurfaceObject_t surface, int x, int layer) {
    T value;
    ::surf1DLayeredread(&value, surface, x, layer);
    return value;
}

template <class T> __device__ inline T surf2DLayeredread(hipSurfaceObject_t surface, int x, int y, int layer) {
    T value;
    ::surf2DLayeredread(&value, surface, x, y, layer);
    return value;
}

template <class T> __device__ inline T surfCubemapread(hipSurfaceObject_t surface, int x, int y, int face) {
    T value;
    ::surfCubemapread(&value, surface, x, y, face);
    return value;
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_SURFACE_HPP
