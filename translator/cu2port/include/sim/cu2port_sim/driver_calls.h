// The driver's forms of arrays, boxes, rows and texture objects, and a graph's node of any kind.
#pragma once

#include "driver.h"

namespace cu2port_sim {

// What a format and a number of channels are for the runtime; of no bits where they are none.
inline hipChannelFormatDesc channels_of(hipArray_Format format, unsigned n) {
    const int is = static_cast<int>(format);
    const bool is_float = is >= HIP_AD_FORMAT_HALF, is_known = is_float ? is == 0x10 || is == 0x20 : (is > 0 && is < 4) || (is > 7 && is < 11);
    const int bits = !is_known ? 0 : is_float ? is : 8 << ((is & 3) - (is < 8 ? 1 : 0));
    const hipChannelFormatKind kind = is_float ? hipChannelFormatKindFloat : is < 8 ? hipChannelFormatKindUnsigned : hipChannelFormatKindSigned;
    if (n != 1 && n != 2 && n != 4) return {0, 0, 0, 0, kind};
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 2 ? bits : 0, kind};
}
inline hipArray_Format format_of(const hipChannelFormatDesc& d) {
    if (d.f == hipChannelFormatKindFloat) return d.x == 16 ? HIP_AD_FORMAT_HALF : HIP_AD_FORMAT_FLOAT;
    const int size = d.x == 8 ? 0 : d.x == 16 ? 1 : 2;
    return static_cast<hipArray_Format>((d.f == hipChannelFormatKindSigned ? HIP_AD_FORMAT_SIGNED_INT8 : HIP_AD_FORMAT_UNSIGNED_INT8) + size);
}
inline unsigned channels(const hipChannelFormatDesc& d) { return 1u + (d.y != 0) + (d.z != 0) + (d.w != 0); }

inline int copy_3d(const HIP_MEMCPY3D& p) {
    auto side = [&](hipMemoryType type, const hipArray* a, const void* host, void* device, size_t pitch, size_t height, size_t x, size_t y,
                    size_t z, Rows* out) {
        if (type == hipMemoryTypeArray) return a && rows_of(a, x, y, z, p.WidthInBytes, p.Height, p.Depth, out);
        char* base = type == hipMemoryTypeHost ? static_cast<char*>(const_cast<void*>(host)) : static_cast<char*>(device);
        if (pitch == 0) pitch = x + p.WidthInBytes;
        const size_t slice = pitch * (height ? height : y + p.Height);
        *out = {base + z * slice + y * pitch + x, pitch, slice};
        return base != nullptr;
    };
    Rows from, to;
    if (!side(p.srcMemoryType, p.srcArray, p.srcHost, p.srcDevice, p.srcPitch, p.srcHeight, p.srcXInBytes, p.srcY, p.srcZ, &from) ||
        !side(p.dstMemoryType, p.dstArray, p.dstHost, p.dstDevice, p.dstPitch, p.dstHeight, p.dstXInBytes, p.dstY, p.dstZ, &to))
        return hipErrorInvalidValue;
    return copy_rows(to, from, p.WidthInBytes, p.Height, p.Depth);
}
template <class T>
int fill_rows(void* p, size_t pitch, T value, size_t width, size_t height) {
    if (pitch < width * sizeof(T) && height > 1) return hipErrorInvalidValue;
    for (size_t y = 0; y < height; ++y)
        if (const int e = fill_words(static_cast<char*>(p) + y * pitch, value, width)) return e;
    return hipSuccess;
}

}  // namespace cu2port_sim

// --- arrays ----------------------------------------------------------------------------------------------------------

inline hipError_t hipArray3DCreate(hipArray_t* out, const HIP_ARRAY3D_DESCRIPTOR* p) {
    if (p == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    const hipChannelFormatDesc desc = cu2port_sim::channels_of(p->Format, p->NumChannels);
    return cu2port_sim::note(cu2port_sim::allocate_array(out, &desc, {p->Width, p->Height, p->Depth}, p->Flags));
}
inline hipError_t hipArrayCreate(hipArray_t* out, const HIP_ARRAY_DESCRIPTOR* p) {
    if (p == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    const HIP_ARRAY3D_DESCRIPTOR all = {p->Width, p->Height, 0, p->Format, p->NumChannels, 0};
    return hipArray3DCreate(out, &all);
}
inline hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* out, hipArray_t a) {
    if (out == nullptr || a == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    *out = {a->asked.width, a->asked.height, a->asked.depth, cu2port_sim::format_of(a->desc), cu2port_sim::channels(a->desc), a->flags};
    return hipSuccess;
}
inline hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* out, hipArray_t a) {
    if (out == nullptr || a == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    *out = {a->asked.width, a->asked.height, cu2port_sim::format_of(a->desc), cu2port_sim::channels(a->desc)};
    return hipSuccess;
}
inline hipError_t hipMemcpyHtoA(hipArray_t a, size_t at, const void* from, size_t n) { return hipMemcpyToArray(a, at, 0, from, n, hipMemcpyHostToDevice); }
inline hipError_t hipMemcpyHtoAAsync(hipArray_t a, size_t at, const void* from, size_t n, hipStream_t s) {
    return hipMemcpyToArrayAsync(a, at, 0, from, n, hipMemcpyHostToDevice, s);
}
inline hipError_t hipMemcpyDtoA(hipArray_t a, size_t at, hipDeviceptr_t from, size_t n) { return hipMemcpyToArray(a, at, 0, from, n, hipMemcpyDeviceToDevice); }
inline hipError_t hipMemcpyAtoH(void* to, hipArray_t a, size_t at, size_t n) { return hipMemcpyFromArray(to, a, at, 0, n, hipMemcpyDeviceToHost); }
inline hipError_t hipMemcpyAtoHAsync(void* to, hipArray_t a, size_t at, size_t n, hipStream_t s) {
    return hipMemcpyFromArrayAsync(to, a, at, 0, n, hipMemcpyDeviceToHost, s);
}
inline hipError_t hipMemcpyAtoD(hipDeviceptr_t to, hipArray_t a, size_t at, size_t n) { return hipMemcpyFromArray(to, a, at, 0, n, hipMemcpyDeviceToDevice); }
inline hipError_t hipMemcpyAtoA(hipArray_t to, size_t to_at, hipArray_t from, size_t from_at, size_t n) {
    if (from == nullptr || from_at + n > from->pitch() * from->height) return cu2port_sim::note(hipErrorInvalidValue);
    return hipMemcpyToArray(to, to_at, 0, from->data + from_at, n, hipMemcpyDeviceToDevice);
}
inline hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* p) { return cu2port_sim::at_once([v = *p] { return cu2port_sim::copy_3d(v); }); }
inline hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* p, hipStream_t s) {
    return cu2port_sim::submit(s, [v = *p] { return cu2port_sim::copy_3d(v); });
}

#define CU2PORT_SIM_ROWS(name, T)                                                                                       \
    inline hipError_t name(hipDeviceptr_t p, size_t pitch, T v, size_t w, size_t h) {                                   \
        return cu2port_sim::at_once([=] { return cu2port_sim::fill_rows(p, pitch, v, w, h); });                         \
    }                                                                                                                   \
    inline hipError_t name##Async(hipDeviceptr_t p, size_t pitch, T v, size_t w, size_t h, hipStream_t s = nullptr) {   \
        return cu2port_sim::submit(s, [=] { return cu2port_sim::fill_rows(p, pitch, v, w, h); }, hipGraphNodeTypeMemset); \
    }
CU2PORT_SIM_ROWS(hipMemsetD2D8, unsigned char)
CU2PORT_SIM_ROWS(hipMemsetD2D16, unsigned short)
CU2PORT_SIM_ROWS(hipMemsetD2D32, unsigned)
#undef CU2PORT_SIM_ROWS

// --- texture objects -------------------------------------------------------------------------------------------------

inline hipError_t hipTexObjectCreate(hipTextureObject_t* out, const HIP_RESOURCE_DESC* r, const HIP_TEXTURE_DESC* s, const HIP_RESOURCE_VIEW_DESC*) {
    if (r == nullptr || s == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    hipResourceDesc from = {};
    from.resType = static_cast<hipResourceType>(r->resType);
    hipChannelFormatDesc desc = {};
    if (r->resType == HIP_RESOURCE_TYPE_ARRAY) {
        from.res.array.array = r->res.array.hArray;
        if (r->res.array.hArray) desc = r->res.array.hArray->desc;
    } else if (r->resType == HIP_RESOURCE_TYPE_LINEAR) {
        desc = cu2port_sim::channels_of(r->res.linear.format, r->res.linear.numChannels);
        from.res.linear = {r->res.linear.devPtr, desc, r->res.linear.sizeInBytes};
    } else if (r->resType == HIP_RESOURCE_TYPE_PITCH2D) {
        desc = cu2port_sim::channels_of(r->res.pitch2D.format, r->res.pitch2D.numChannels);
        from.res.pitch2D = {r->res.pitch2D.devPtr, desc, r->res.pitch2D.width, r->res.pitch2D.height, r->res.pitch2D.pitchInBytes};
    }
    hipTextureDesc how = {};
    for (int i = 0; i < 3; ++i) how.addressMode[i] = static_cast<hipTextureAddressMode>(s->addressMode[i]);
    for (int i = 0; i < 4; ++i) how.borderColor[i] = s->borderColor[i];
    how.filterMode = static_cast<hipTextureFilterMode>(s->filterMode);
    const bool is_small = desc.f != hipChannelFormatKindFloat && desc.x < 32;  // integers become fractions of 1
    how.readMode = is_small && !(s->flags & HIP_TRSF_READ_AS_INTEGER) ? hipReadModeNormalizedFloat : hipReadModeElementType;
    how.normalizedCoords = (s->flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
    how.sRGB = (s->flags & HIP_TRSF_SRGB) != 0;
    return hipCreateTextureObject(out, &from, &how, nullptr);
}
inline hipError_t hipTexObjectDestroy(hipTextureObject_t t) { return hipDestroyTextureObject(t); }

// --- nodes of any kind -----------------------------------------------------------------------------------------------

inline hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t g, const hipGraphNode_t* after, size_t n, hipGraphNodeParams* p) {
    if (p == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    switch (p->type) {
        case hipGraphNodeTypeKernel: return hipGraphAddKernelNode(node, g, after, n, &p->kernel);
        case hipGraphNodeTypeMemcpy: return hipGraphAddMemcpyNode(node, g, after, n, &p->memcpy.copyParams);
        case hipGraphNodeTypeMemset: return hipGraphAddMemsetNode(node, g, after, n, &p->memset);
        case hipGraphNodeTypeHost: return hipGraphAddHostNode(node, g, after, n, &p->host);
        case hipGraphNodeTypeGraph: return hipGraphAddChildGraphNode(node, g, after, n, p->graph.graph);
        case hipGraphNodeTypeEmpty: return hipGraphAddEmptyNode(node, g, after, n);
        case hipGraphNodeTypeWaitEvent: return hipGraphAddEventWaitNode(node, g, after, n, p->eventWait.event);
        case hipGraphNodeTypeEventRecord: return hipGraphAddEventRecordNode(node, g, after, n, p->eventRecord.event);
        default: cu2port_sim::not_supported("hipGraphAddNode of memory or semaphores"); return cu2port_sim::note(hipErrorNotSupported);
    }
}
