// Arrays, pitched memory and boxes: what textures read and cudaMemcpy's 2D and 3D forms move. An array is kept row
// after row; its layout is nobody's business.
#pragma once

#include <cstdlib>

#include "api.h"

typedef enum hipChannelFormatKind {
    hipChannelFormatKindSigned,
    hipChannelFormatKindUnsigned,
    hipChannelFormatKindFloat,
    hipChannelFormatKindNone
} hipChannelFormatKind;
typedef struct hipChannelFormatDesc {
    int x, y, z, w;  // bits
    hipChannelFormatKind f;
} hipChannelFormatDesc;
typedef struct hipExtent {
    size_t width, height, depth;
} hipExtent;
typedef struct hipPos {
    size_t x, y, z;
} hipPos;
typedef struct hipPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
} hipPitchedPtr;
#define hipArrayDefault 0x00
#define hipArrayLayered 0x01
#define hipArraySurfaceLoadStore 0x02
#define hipArrayCubemap 0x04
#define hipArrayTextureGather 0x08

struct hipArray {
    hipChannelFormatDesc desc;
    size_t texel;                 // bytes
    size_t width, height, depth;  // texels; a missing height or depth is 1 here
    hipExtent asked;
    unsigned flags;
    char* data;

    size_t pitch() const { return width * texel; }
    char* at(size_t x_bytes, size_t y, size_t z) const { return data + (z * height + y) * pitch() + x_bytes; }
};
typedef hipArray* hipArray_t;
typedef const hipArray* hipArray_const_t;
typedef struct hipMemcpy3DParms {
    hipArray_t srcArray;
    hipPos srcPos;
    hipPitchedPtr srcPtr;
    hipArray_t dstArray;
    hipPos dstPos;
    hipPitchedPtr dstPtr;
    hipExtent extent;
    hipMemcpyKind kind;
} hipMemcpy3DParms;
typedef struct hipMemcpy3DPeerParms {
    hipArray_t srcArray;
    hipPos srcPos;
    hipPitchedPtr srcPtr;
    int srcDevice;
    hipArray_t dstArray;
    hipPos dstPos;
    hipPitchedPtr dstPtr;
    int dstDevice;
    hipExtent extent;
} hipMemcpy3DPeerParms;
typedef struct hip_Memcpy2D {
    size_t srcXInBytes, srcY;
    hipMemoryType srcMemoryType;
    const void* srcHost;
    hipDeviceptr_t srcDevice;
    hipArray_t srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    hipMemoryType dstMemoryType;
    void* dstHost;
    hipDeviceptr_t dstDevice;
    hipArray_t dstArray;
    size_t dstPitch, WidthInBytes, Height;
} hip_Memcpy2D;

inline hipExtent make_hipExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline hipPos make_hipPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline hipPitchedPtr make_hipPitchedPtr(void* p, size_t pitch, size_t w, size_t h) { return {p, pitch, w, h}; }
inline hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f) { return {x, y, z, w, f}; }

namespace cu2port_sim {

template <class T>
struct Components {
    using type = T;
    static constexpr int count = 1;
};
template <class T, unsigned N>
struct Components<HIP_vector_type<T, N>> {
    using type = T;
    static constexpr int count = N;
};

inline int allocate_array(hipArray_t* out, const hipChannelFormatDesc* desc, hipExtent size, unsigned flags) {
    if (out == nullptr || desc == nullptr || size.width == 0) return hipErrorInvalidValue;
    const int bits = desc->x + desc->y + desc->z + desc->w;
    if (bits % 8 || bits > 128 || bits < 8) return hipErrorInvalidValue;
    auto* a = new hipArray{*desc, static_cast<size_t>(bits) / 8, size.width, size.height ? size.height : 1,
                           size.depth ? size.depth : 1, size, flags, nullptr};
    a->data = static_cast<char*>(allocate(a->pitch() * a->height * a->depth, 2));
    if (a->data == nullptr) return delete a, hipErrorOutOfMemory;
    return *out = a, hipSuccess;
}

// One side of a copy: rows of an array or of memory.
struct Rows {
    char* base;
    size_t pitch, slice;  // bytes
    char* at(size_t y, size_t z) const { return base + z * slice + y * pitch; }
};
inline bool rows_of(const hipArray* a, size_t x_bytes, size_t y, size_t z, size_t width, size_t height, size_t depth, Rows* out) {
    if (x_bytes + width > a->pitch() || y + height > a->height || z + depth > a->depth) return false;
    *out = {a->at(x_bytes, y, z), a->pitch(), a->pitch() * a->height};
    return true;
}
inline int copy_rows(Rows to, Rows from, size_t width, size_t height, size_t depth) {
    for (size_t z = 0; z < depth; ++z)
        for (size_t y = 0; y < height; ++y)
            if (int e = copy(to.at(y, z), from.at(y, z), width)) return e;
    return hipSuccess;
}

// The extent's width counts texels when an array takes part, else bytes; so does a position's x on its own side.
inline int copy_box(const hipMemcpy3DParms& p) {
    const hipArray* any = p.srcArray ? p.srcArray : p.dstArray;
    const size_t width = p.extent.width * (any ? any->texel : 1);
    auto side = [&](const hipArray* a, const hipPos& pos, const hipPitchedPtr& m, Rows* out) {
        if (a) return rows_of(a, pos.x * a->texel, pos.y, pos.z, width, p.extent.height, p.extent.depth, out);
        if (m.ptr == nullptr || (m.pitch < width && p.extent.height > 1)) return false;
        const size_t slice = m.pitch * m.ysize;
        *out = {static_cast<char*>(m.ptr) + pos.z * slice + pos.y * m.pitch + pos.x, m.pitch, slice};
        return true;
    };
    Rows from, to;
    if (!side(p.srcArray, p.srcPos, p.srcPtr, &from) || !side(p.dstArray, p.dstPos, p.dstPtr, &to)) return hipErrorInvalidValue;
    return copy_rows(to, from, width, p.extent.height, p.extent.depth);
}

inline int copy_to_array(hipArray* a, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height) {
    Rows to;
    if (a == nullptr || from == nullptr || (width > pitch && height > 1) || !rows_of(a, x, y, 0, width, height, 1, &to)) return hipErrorInvalidValue;
    return copy_rows(to, {static_cast<char*>(const_cast<void*>(from)), pitch, 0}, width, height, 1);
}
inline int copy_from_array(void* to, size_t pitch, const hipArray* a, size_t x, size_t y, size_t width, size_t height) {
    Rows from;
    if (a == nullptr || to == nullptr || (width > pitch && height > 1) || !rows_of(a, x, y, 0, width, height, 1, &from)) return hipErrorInvalidValue;
    return copy_rows({static_cast<char*>(to), pitch, 0}, from, width, height, 1);
}
// The forms without a height: bytes that run on from row to row.
inline int copy_run(hipArray* a, size_t x, size_t y, void* memory, size_t n, bool in) {
    if (a == nullptr || memory == nullptr || y * a->pitch() + x + n > a->pitch() * a->height) return hipErrorInvalidValue;
    return in ? copy(a->at(x, y, 0), memory, n) : copy(memory, a->at(x, y, 0), n);
}
inline int copy_2d(const hip_Memcpy2D& p) {
    auto side = [&](hipMemoryType type, const hipArray* a, const void* host, void* device, size_t pitch, size_t x, size_t y, Rows* out) {
        if (type == hipMemoryTypeArray) return rows_of(a, x, y, 0, p.WidthInBytes, p.Height, 1, out);
        char* base = type == hipMemoryTypeHost ? static_cast<char*>(const_cast<void*>(host)) : static_cast<char*>(device);
        if (pitch == 0) pitch = p.WidthInBytes;
        *out = {base + y * pitch + x, pitch, 0};
        return base != nullptr;
    };
    Rows from, to;
    if (!side(p.srcMemoryType, p.srcArray, p.srcHost, p.srcDevice, p.srcPitch, p.srcXInBytes, p.srcY, &from) ||
        !side(p.dstMemoryType, p.dstArray, p.dstHost, p.dstDevice, p.dstPitch, p.dstXInBytes, p.dstY, &to))
        return hipErrorInvalidValue;
    return copy_rows(to, from, p.WidthInBytes, p.Height, 1);
}
inline int fill_box(const hipPitchedPtr& m, int value, hipExtent e) {
    for (size_t z = 0; z < e.depth; ++z)
        for (size_t y = 0; y < e.height; ++y)
            if (int bad = fill(static_cast<char*>(m.ptr) + (z * m.ysize + y) * m.pitch, value, e.width)) return bad;
    return hipSuccess;
}

}  // namespace cu2port_sim

template <class T>
inline hipChannelFormatDesc hipCreateChannelDesc() {
    using C = typename cu2port_sim::Components<T>::type;
    constexpr int bits = 8 * sizeof(C), n = cu2port_sim::Components<T>::count;
    constexpr bool is_float = !std::is_integral_v<C>;
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
            is_float ? hipChannelFormatKindFloat : std::is_signed_v<C> ? hipChannelFormatKindSigned : hipChannelFormatKindUnsigned};
}
inline hipChannelFormatDesc hipCreateChannelDescHalf() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
inline hipChannelFormatDesc hipCreateChannelDescHalf1() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
inline hipChannelFormatDesc hipCreateChannelDescHalf2() { return {16, 16, 0, 0, hipChannelFormatKindFloat}; }
inline hipChannelFormatDesc hipCreateChannelDescHalf4() { return {16, 16, 16, 16, hipChannelFormatKindFloat}; }

inline hipError_t hipMallocArray(hipArray_t* out, const hipChannelFormatDesc* desc, size_t w, size_t h = 0, unsigned flags = 0) {
    return cu2port_sim::note(cu2port_sim::allocate_array(out, desc, {w, h, 0}, flags));
}
inline hipError_t hipMalloc3DArray(hipArray_t* out, const hipChannelFormatDesc* desc, hipExtent e, unsigned flags = 0) {
    return cu2port_sim::note(cu2port_sim::allocate_array(out, desc, e, flags));
}
inline hipError_t hipFreeArray(hipArray_t a) {
    if (a == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    cu2port_sim::release(a->data);
    return delete a, hipSuccess;
}
inline hipError_t hipArrayDestroy(hipArray_t a) { return hipFreeArray(a); }
inline hipError_t hipArrayGetInfo(hipChannelFormatDesc* desc, hipExtent* size, unsigned* flags, hipArray_t a) {
    if (desc) *desc = a->desc;
    if (size) *size = a->asked;
    if (flags) *flags = a->flags;
    return hipSuccess;
}
inline hipError_t hipGetChannelDesc(hipChannelFormatDesc* desc, hipArray_const_t a) { return *desc = a->desc, hipSuccess; }
inline hipError_t hipMalloc3D(hipPitchedPtr* out, hipExtent e) {
    *out = {nullptr, (e.width + 255) & ~size_t{255}, e.width, e.height};
    return hipMalloc(&out->ptr, out->pitch * e.height * e.depth);
}

#define CU2PORT_SIM_COPY(name, parameters, work)                                            \
    inline hipError_t name(CU2PORT_SIM_ARGS parameters) {                                   \
        return cu2port_sim::at_once([=] { return work; });                                  \
    }                                                                                       \
    inline hipError_t name##Async(CU2PORT_SIM_ARGS parameters, hipStream_t s = nullptr) {   \
        return cu2port_sim::submit(s, [=] { return work; });                                \
    }
#define CU2PORT_SIM_ARGS(...) __VA_ARGS__
CU2PORT_SIM_COPY(hipMemcpyToArray, (hipArray_t a, size_t x, size_t y, const void* from, size_t n, hipMemcpyKind),
                 cu2port_sim::copy_run(a, x, y, const_cast<void*>(from), n, true))
CU2PORT_SIM_COPY(hipMemcpyFromArray, (void* to, hipArray_const_t a, size_t x, size_t y, size_t n, hipMemcpyKind),
                 cu2port_sim::copy_run(const_cast<hipArray_t>(a), x, y, to, n, false))
CU2PORT_SIM_COPY(hipMemcpy2DToArray, (hipArray_t a, size_t x, size_t y, const void* from, size_t pitch, size_t w, size_t h, hipMemcpyKind),
                 cu2port_sim::copy_to_array(a, x, y, from, pitch, w, h))
CU2PORT_SIM_COPY(hipMemcpy2DFromArray, (void* to, size_t pitch, hipArray_const_t a, size_t x, size_t y, size_t w, size_t h, hipMemcpyKind),
                 cu2port_sim::copy_from_array(to, pitch, a, x, y, w, h))
CU2PORT_SIM_COPY(hipMemset3D, (hipPitchedPtr p, int v, hipExtent e), cu2port_sim::fill_box(p, v, e))
#undef CU2PORT_SIM_COPY
#undef CU2PORT_SIM_ARGS
inline hipError_t hipMemcpy2DArrayToArray(hipArray_t to, size_t tx, size_t ty, hipArray_const_t from, size_t fx, size_t fy,
                                          size_t w, size_t h, hipMemcpyKind = hipMemcpyDeviceToDevice) {
    cu2port_sim::Rows a;
    if (!cu2port_sim::rows_of(from, fx, fy, 0, w, h, 1, &a)) return cu2port_sim::note(hipErrorInvalidValue);
    return cu2port_sim::at_once([=] { return cu2port_sim::copy_to_array(to, tx, ty, a.base, a.pitch, w, h); });
}
inline hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) { return cu2port_sim::at_once([v = *p] { return cu2port_sim::copy_box(v); }); }
inline hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [v = *p] { return cu2port_sim::copy_box(v); });
}
namespace cu2port_sim {
inline hipMemcpy3DParms box_of(const hipMemcpy3DPeerParms& p) {  // the devices share their memory
    return {p.srcArray, p.srcPos, p.srcPtr, p.dstArray, p.dstPos, p.dstPtr, p.extent, hipMemcpyDefault};
}
}  // namespace cu2port_sim
inline hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms* p) {
    const hipMemcpy3DParms box = cu2port_sim::box_of(*p);
    return hipMemcpy3D(&box);
}
inline hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms* p, hipStream_t s = nullptr) {
    const hipMemcpy3DParms box = cu2port_sim::box_of(*p);
    return hipMemcpy3DAsync(&box, s);
}
inline hipError_t hipMemcpyParam2D(const hip_Memcpy2D* p) { return cu2port_sim::at_once([v = *p] { return cu2port_sim::copy_2d(v); }); }
inline hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* p, hipStream_t s = nullptr) {
    return cu2port_sim::submit(s, [v = *p] { return cu2port_sim::copy_2d(v); });
}
inline hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* p) { return hipMemcpyParam2D(p); }
