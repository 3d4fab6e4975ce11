// Surfaces: arrays that kernels read and write without a filter. The first coordinate counts bytes.
#pragma once

#include "textures.h"

enum hipSurfaceBoundaryMode { hipBoundaryModeZero, hipBoundaryModeTrap, hipBoundaryModeClamp };
struct __hip_surface {
    hipArray_t array;
};
typedef __hip_surface* hipSurfaceObject_t;

inline hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* out, const hipResourceDesc* r) {
    if (out == nullptr || r == nullptr || r->resType != hipResourceTypeArray) return cu2port_sim::note(hipErrorInvalidValue);
    return *out = new __hip_surface{r->res.array.array}, hipSuccess;
}
inline hipError_t hipDestroySurfaceObject(hipSurfaceObject_t s) { return delete s, hipSuccess; }

namespace cu2port_sim {
inline char* surface_at(hipSurfaceObject_t s, long x, long y, long z, std::size_t size, hipSurfaceBoundaryMode mode) {
    const hipArray& a = *s->array;
    auto inside = [&](long i, std::size_t n) {
        if (i >= 0 && static_cast<std::size_t>(i) < n) return i;
        if (mode == hipBoundaryModeTrap) __builtin_trap();
        return mode == hipBoundaryModeClamp ? (i < 0 ? 0L : static_cast<long>(n) - 1) : -1L;
    };
    const long texel = inside(x < 0 ? -1 : x / static_cast<long>(size), a.pitch() / size);
    y = inside(y, a.height), z = inside(z, a.depth);
    return texel < 0 || y < 0 || z < 0 ? nullptr : a.at(static_cast<std::size_t>(texel) * size, static_cast<std::size_t>(y), static_cast<std::size_t>(z));
}
}  // namespace cu2port_sim
#define CU2PORT_SIM_ARGS(...) __VA_ARGS__
#define CU2PORT_SIM_SURFACE(name, parameters, arguments, x, y, z)                                                          \
    template <class T>                                                                                                     \
    inline void name##read(T* out, hipSurfaceObject_t s, CU2PORT_SIM_ARGS parameters, int mode = hipBoundaryModeZero) {    \
        const char* p = cu2port_sim::surface_at(s, x, y, z, sizeof(T), static_cast<hipSurfaceBoundaryMode>(mode));         \
        *out = T{};                                                                                                        \
        if (p) std::memcpy(out, p, sizeof(T));                                                                             \
    }                                                                                                                      \
    template <class T>                                                                                                     \
    inline T name##read(hipSurfaceObject_t s, CU2PORT_SIM_ARGS parameters, int mode = hipBoundaryModeZero) {               \
        T out;                                                                                                             \
        name##read(&out, s, CU2PORT_SIM_ARGS arguments, mode);                                                             \
        return out;                                                                                                        \
    }                                                                                                                      \
    template <class T>                                                                                                     \
    inline void name##write(T v, hipSurfaceObject_t s, CU2PORT_SIM_ARGS parameters, int mode = hipBoundaryModeZero) {      \
        char* p = cu2port_sim::surface_at(s, x, y, z, sizeof(T), static_cast<hipSurfaceBoundaryMode>(mode));               \
        if (p) std::memcpy(p, &v, sizeof(T));                                                                              \
    }
CU2PORT_SIM_SURFACE(surf1D, (int x), (x), x, 0, 0)
CU2PORT_SIM_SURFACE(surf2D, (int x, int y), (x, y), x, y, 0)
CU2PORT_SIM_SURFACE(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
CU2PORT_SIM_SURFACE(surf1DLayered, (int x, int layer), (x, layer), x, layer % static_cast<int>(s->array->height), layer / static_cast<int>(s->array->height))
CU2PORT_SIM_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
CU2PORT_SIM_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), x, y, face)
#undef CU2PORT_SIM_SURFACE
#undef CU2PORT_SIM_ARGS
