// Textures, fetched in software: 1D, 2D, 3D and layers, points or linear filter with 8-bit weights, all
// address modes. There are no mipmaps, cubes or sRGB: levels of detail are not looked at.
#pragma once

#include <cmath>

#include "arrays.h"
#include "small_floats.h"

typedef enum hipResourceType {
    hipResourceTypeArray,
    hipResourceTypeMipmappedArray,
    hipResourceTypeLinear,
    hipResourceTypePitch2D
} hipResourceType;
enum hipTextureAddressMode { hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder };
enum hipTextureFilterMode { hipFilterModePoint, hipFilterModeLinear };
enum hipTextureReadMode { hipReadModeElementType, hipReadModeNormalizedFloat };
#define hipTextureType1D 0x01
#define hipTextureType2D 0x02
#define hipTextureType3D 0x03
#define hipTextureTypeCubemap 0x0c
#define hipTextureType1DLayered 0xf1
#define hipTextureType2DLayered 0xf2
#define hipTextureTypeCubemapLayered 0xfc

typedef struct hipMipmappedArray* hipMipmappedArray_t;
typedef struct hipResourceDesc {
    hipResourceType resType;
    union {
        struct {
            hipArray_t array;
        } array;
        struct {
            hipMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void* devPtr;
            hipChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            hipChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
} hipResourceDesc;
typedef struct hipTextureDesc {
    hipTextureAddressMode addressMode[3];
    hipTextureFilterMode filterMode;
    hipTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
} hipTextureDesc;
typedef enum hipResourceViewFormat {
    hipResViewFormatNone, hipResViewFormatUnsignedChar1, hipResViewFormatUnsignedChar2, hipResViewFormatUnsignedChar4,
    hipResViewFormatSignedChar1, hipResViewFormatSignedChar2, hipResViewFormatSignedChar4,
    hipResViewFormatUnsignedShort1, hipResViewFormatUnsignedShort2, hipResViewFormatUnsignedShort4,
    hipResViewFormatSignedShort1, hipResViewFormatSignedShort2, hipResViewFormatSignedShort4,
    hipResViewFormatUnsignedInt1, hipResViewFormatUnsignedInt2, hipResViewFormatUnsignedInt4,
    hipResViewFormatSignedInt1, hipResViewFormatSignedInt2, hipResViewFormatSignedInt4, hipResViewFormatHalf1,
    hipResViewFormatHalf2, hipResViewFormatHalf4, hipResViewFormatFloat1, hipResViewFormatFloat2,
    hipResViewFormatFloat4, hipResViewFormatUnsignedBlockCompressed1, hipResViewFormatUnsignedBlockCompressed2,
    hipResViewFormatUnsignedBlockCompressed3, hipResViewFormatUnsignedBlockCompressed4,
    hipResViewFormatSignedBlockCompressed4, hipResViewFormatUnsignedBlockCompressed5,
    hipResViewFormatSignedBlockCompressed5, hipResViewFormatUnsignedBlockCompressed6H,
    hipResViewFormatSignedBlockCompressed6H, hipResViewFormatUnsignedBlockCompressed7
} hipResourceViewFormat;
typedef struct hipResourceViewDesc {
    hipResourceViewFormat format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} hipResourceViewDesc;

struct __hip_texture {
    hipResourceDesc resource;
    hipTextureDesc sampler;
    hipChannelFormatDesc format;
    const char* data;
    long width, height, depth;       // texels
    std::size_t texel, pitch, slice;  // bytes
};
typedef __hip_texture* hipTextureObject_t;

namespace cu2port_sim {

struct Texel {
    double c[4];  // exact for every format
};

// One channel: `bits` of a format at an offset in bits.
inline double channel(const char* p, int bits, hipChannelFormatKind kind) {
    auto get = [p](auto v) { return std::memcpy(&v, p, sizeof v), v; };
    if (kind == hipChannelFormatKindFloat) return bits == 16 ? half_value(get(std::uint16_t{})) : get(float{});
    const bool is_signed = kind == hipChannelFormatKindSigned;
    if (bits == 8) return is_signed ? get(std::int8_t{}) : get(std::uint8_t{});
    if (bits == 16) return is_signed ? get(std::int16_t{}) : get(std::uint16_t{});
    return is_signed ? double(get(std::int32_t{})) : double(get(std::uint32_t{}));  // not the type that both share
}

// Which texel an index stands for; -1 is the border.
inline long addressed(long i, long n, hipTextureAddressMode mode, bool normalized) {
    if (!normalized && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) mode = hipAddressModeClamp;
    if (i >= 0 && i < n) return i;
    switch (mode) {
        case hipAddressModeClamp: return i < 0 ? 0 : n - 1;
        case hipAddressModeBorder: return -1;
        case hipAddressModeWrap: return (i % n + n) % n;
        default: {
            const long k = (i % (2 * n) + 2 * n) % (2 * n);
            return k < n ? k : 2 * n - 1 - k;
        }
    }
}

inline Texel texel_at(const __hip_texture& t, long x, long y, long z) {
    Texel out{};
    if (x < 0 || y < 0 || z < 0) {
        for (int i = 0; i < 4; ++i) out.c[i] = t.sampler.borderColor[i];
        return out;
    }
    const char* p = t.data + z * t.slice + y * t.pitch + x * t.texel;
    const int bits[4] = {t.format.x, t.format.y, t.format.z, t.format.w};
    for (int i = 0, at = 0; i < 4; at += bits[i++]) {
        if (bits[i] == 0) continue;
        out.c[i] = channel(p + at / 8, bits[i], t.format.f);
        if (t.sampler.readMode != hipReadModeNormalizedFloat || t.format.f == hipChannelFormatKindFloat || bits[i] > 16) continue;
        const bool is_signed = t.format.f == hipChannelFormatKindSigned;
        out.c[i] /= (1 << (bits[i] - is_signed)) - 1;
        if (out.c[i] < -1) out.c[i] = -1;
    }
    return out;
}

struct Axis {  // two neighbours and the weight of the second
    long first, second;
    double weight;
};
inline Axis axis(const __hip_texture& t, float x, long n, int dimension) {
    const bool normalized = t.sampler.normalizedCoords != 0;
    const double at = normalized ? static_cast<double>(x) * static_cast<double>(n) : x;
    const hipTextureAddressMode mode = t.sampler.addressMode[dimension];
    const bool linear = t.sampler.filterMode == hipFilterModeLinear;
    const double shifted = linear ? at - 0.5 : at;
    double whole = std::floor(shifted);
    double weight = linear ? std::nearbyint((shifted - whole) * 256) / 256 : 0;
    const double far = 1e15;
    whole = whole != whole ? 0 : whole > far ? far : whole < -far ? -far : whole;
    const long i = static_cast<long>(whole);
    return {addressed(i, n, mode, normalized), weight == 0 ? addressed(i, n, mode, normalized) : addressed(i + 1, n, mode, normalized), weight};
}

template <class T>
T as_result(const Texel& v) {
    using C = typename Components<T>::type;
    if constexpr (Components<T>::count == 1 && std::is_same_v<C, T>) {
        return static_cast<T>(v.c[0]);
    } else {
        T out{};
        C* c = reinterpret_cast<C*>(&out);
        for (int i = 0; i < Components<T>::count; ++i) c[i] = static_cast<C>(v.c[i]);
        return out;
    }
}

inline const Axis kOnly{0, 0, 0};
inline Texel blend(const __hip_texture& t, const Axis& x, const Axis& y, const Axis& z) {
    Texel out{};
    for (int k = 0; k < 8; ++k) {
        const double w = (k & 1 ? x.weight : 1 - x.weight) * (k & 2 ? y.weight : 1 - y.weight) * (k & 4 ? z.weight : 1 - z.weight);
        if (w == 0) continue;
        const Texel v = texel_at(t, k & 1 ? x.second : x.first, k & 2 ? y.second : y.first, k & 4 ? z.second : z.first);
        for (int i = 0; i < 4; ++i) out.c[i] += w * v.c[i];
    }
    return out;
}
inline Axis layer_of(const __hip_texture& t, int layer, long n) {
    const long i = layer < 0 ? 0 : layer >= n ? n - 1 : layer;
    (void)t;
    return {i, i, 0};
}

inline int make_texture(hipTextureObject_t* out, const hipResourceDesc* r, const hipTextureDesc* s) {
    if (out == nullptr || r == nullptr || s == nullptr) return hipErrorInvalidValue;
    auto bytes = [](const hipChannelFormatDesc& d) { return static_cast<std::size_t>(d.x + d.y + d.z + d.w) / 8; };
    auto* t = new __hip_texture{*r, *s, {}, nullptr, 1, 1, 1, 0, 0, 0};
    if (r->resType == hipResourceTypeArray && r->res.array.array) {
        const hipArray& a = *r->res.array.array;
        t->format = a.desc, t->data = a.data, t->texel = a.texel;
        t->width = static_cast<long>(a.width), t->height = static_cast<long>(a.height), t->depth = static_cast<long>(a.depth);
        t->pitch = a.pitch(), t->slice = a.pitch() * a.height;
    } else if (r->resType == hipResourceTypeLinear) {
        t->format = r->res.linear.desc, t->data = static_cast<char*>(r->res.linear.devPtr), t->texel = bytes(t->format);
        t->width = t->texel ? static_cast<long>(r->res.linear.sizeInBytes / t->texel) : 0;
    } else if (r->resType == hipResourceTypePitch2D) {
        t->format = r->res.pitch2D.desc, t->data = static_cast<char*>(r->res.pitch2D.devPtr), t->texel = bytes(t->format);
        t->width = static_cast<long>(r->res.pitch2D.width), t->height = static_cast<long>(r->res.pitch2D.height);
        t->pitch = r->res.pitch2D.pitchInBytes;
    }
    if (t->data == nullptr || t->texel == 0 || t->width == 0) return delete t, hipErrorInvalidValue;
    return *out = t, hipSuccess;
}

}  // namespace cu2port_sim

// --- texture objects ---------------------------------------------------------------------------------------------

inline hipError_t hipCreateTextureObject(hipTextureObject_t* out, const hipResourceDesc* r, const hipTextureDesc* s, const hipResourceViewDesc*) {
    if (r && r->resType == hipResourceTypeMipmappedArray) {
        cu2port_sim::not_supported("a texture of a mipmapped array");
        return cu2port_sim::note(hipErrorNotSupported);
    }
    return cu2port_sim::note(cu2port_sim::make_texture(out, r, s));
}
inline hipError_t hipDestroyTextureObject(hipTextureObject_t t) { return delete t, hipSuccess; }
inline hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* out, hipTextureObject_t t) { return *out = t->resource, hipSuccess; }
inline hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* out, hipTextureObject_t t) { return *out = t->sampler, hipSuccess; }

namespace cu2port_sim {
// What stands for a fetch's texture: an object, or a reference (textures bound to global variables).
inline const __hip_texture& texture_of(hipTextureObject_t t) { return *t; }
inline Texel fetch_linear(const __hip_texture& t, long i) { return i < 0 || i >= t.width ? Texel{} : texel_at(t, i, 0, 0); }
}  // namespace cu2port_sim

// Fetches: `name<T>(object, ...)`, and the form that writes through a pointer.
#define CU2PORT_SIM_FETCH(name, parameters, arguments, ...)                             \
    template <class T>                                                                  \
    inline T name(hipTextureObject_t o, CU2PORT_SIM_ARGS parameters) {                  \
        const __hip_texture& t = *o;                                                    \
        return cu2port_sim::as_result<T>(__VA_ARGS__);                                  \
    }                                                                                   \
    template <class T>                                                                  \
    inline void name(T* out, hipTextureObject_t o, CU2PORT_SIM_ARGS parameters) {       \
        *out = name<T>(o, CU2PORT_SIM_ARGS arguments);                                  \
    }
#define CU2PORT_SIM_ARGS(...) __VA_ARGS__
#define CU2PORT_SIM_X cu2port_sim::axis(t, x, t.width, 0)
#define CU2PORT_SIM_Y cu2port_sim::axis(t, y, t.height, 1)
#define CU2PORT_SIM_Z cu2port_sim::axis(t, z, t.depth, 2)
#define CU2PORT_SIM_1D cu2port_sim::blend(t, CU2PORT_SIM_X, cu2port_sim::kOnly, cu2port_sim::kOnly)
#define CU2PORT_SIM_2D cu2port_sim::blend(t, CU2PORT_SIM_X, CU2PORT_SIM_Y, cu2port_sim::kOnly)
#define CU2PORT_SIM_3D cu2port_sim::blend(t, CU2PORT_SIM_X, CU2PORT_SIM_Y, CU2PORT_SIM_Z)
#define CU2PORT_SIM_L1 cu2port_sim::blend(t, CU2PORT_SIM_X, cu2port_sim::layer_of(t, layer, t.height * t.depth), cu2port_sim::kOnly)
#define CU2PORT_SIM_L2 cu2port_sim::blend(t, CU2PORT_SIM_X, CU2PORT_SIM_Y, cu2port_sim::layer_of(t, layer, t.depth))
CU2PORT_SIM_FETCH(tex1Dfetch, (int x), (x), cu2port_sim::fetch_linear(t, x))
CU2PORT_SIM_FETCH(tex1D, (float x), (x), CU2PORT_SIM_1D)
CU2PORT_SIM_FETCH(tex1DLod, (float x, float), (x, 0), CU2PORT_SIM_1D)
CU2PORT_SIM_FETCH(tex1DGrad, (float x, float, float), (x, 0, 0), CU2PORT_SIM_1D)
CU2PORT_SIM_FETCH(tex1DLayered, (float x, int layer), (x, layer), CU2PORT_SIM_L1)
CU2PORT_SIM_FETCH(tex1DLayeredLod, (float x, int layer, float), (x, layer, 0), CU2PORT_SIM_L1)
CU2PORT_SIM_FETCH(tex2D, (float x, float y), (x, y), CU2PORT_SIM_2D)
CU2PORT_SIM_FETCH(tex2DLod, (float x, float y, float), (x, y, 0), CU2PORT_SIM_2D)
CU2PORT_SIM_FETCH(tex2DGrad, (float x, float y, float2, float2), (x, y, {}, {}), CU2PORT_SIM_2D)
CU2PORT_SIM_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), CU2PORT_SIM_L2)
CU2PORT_SIM_FETCH(tex2DLayeredLod, (float x, float y, int layer, float), (x, y, layer, 0), CU2PORT_SIM_L2)
CU2PORT_SIM_FETCH(tex3D, (float x, float y, float z), (x, y, z), CU2PORT_SIM_3D)
CU2PORT_SIM_FETCH(tex3DLod, (float x, float y, float z, float), (x, y, z, 0), CU2PORT_SIM_3D)
CU2PORT_SIM_FETCH(tex3DGrad, (float x, float y, float z, float4, float4), (x, y, z, {}, {}), CU2PORT_SIM_3D)
#undef CU2PORT_SIM_FETCH
// One component of the four texels around a point: lower left, lower right, upper right, upper left.
template <class T>
inline T tex2Dgather(hipTextureObject_t o, float x, float y, int component = 0) {
    __hip_texture t = *o;
    t.sampler.filterMode = hipFilterModeLinear;
    const cu2port_sim::Axis u = CU2PORT_SIM_X, v = CU2PORT_SIM_Y;
    const long right = u.weight == 0 ? u.first + (u.first + 1 < t.width) : u.second;
    const long lower = v.weight == 0 ? v.first + (v.first + 1 < t.height) : v.second;
    cu2port_sim::Texel out{};
    const long xs[4] = {u.first, right, right, u.first}, ys[4] = {lower, lower, v.first, v.first};
    for (int i = 0; i < 4; ++i) out.c[i] = cu2port_sim::texel_at(t, xs[i], ys[i], 0).c[component & 3];
    return cu2port_sim::as_result<T>(out);
}

// --- texture references ------------------------------------------------------------------------------------------

typedef struct textureReference {
    int normalized;
    hipTextureReadMode readMode;
    hipTextureFilterMode filterMode;
    hipTextureAddressMode addressMode[3];
    hipChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    hipTextureObject_t textureObject;
} textureReference;

namespace cu2port_sim {
template <class T, hipTextureReadMode mode>
struct Fetched {
    using type = T;
};
template <class T>
struct Fetched<T, hipReadModeNormalizedFloat> {
    using type = float;
};
template <class T, unsigned N>
struct Fetched<HIP_vector_type<T, N>, hipReadModeNormalizedFloat> {
    using type = HIP_vector_type<float, N>;
};
}  // namespace cu2port_sim

template <class T, int dimensions = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct texture : textureReference {
    using fetched = typename cu2port_sim::Fetched<T, mode>::type;
    texture(int norm = 0, hipTextureFilterMode filter = hipFilterModePoint, hipTextureAddressMode a = hipAddressModeClamp)
        : texture(norm, filter, a, hipCreateChannelDesc<T>()) {}
    texture(int norm, hipTextureFilterMode filter, hipTextureAddressMode a, hipChannelFormatDesc desc)
        : textureReference{norm, mode, filter, {a, a, a}, desc, 0, 0, hipFilterModePoint, 0, 0, 0, nullptr} {}
};

namespace cu2port_sim {
inline int bind_texture(const textureReference& ref, const hipResourceDesc& r) {
    auto& t = const_cast<textureReference&>(ref);
    hipTextureDesc s{};
    for (int i = 0; i < 3; ++i) s.addressMode[i] = t.addressMode[i];
    s.filterMode = t.filterMode, s.readMode = t.readMode, s.normalizedCoords = t.normalized;
    delete t.textureObject;
    t.textureObject = nullptr;
    return make_texture(&t.textureObject, &r, &s);
}
}  // namespace cu2port_sim

inline hipError_t hipBindTexture(size_t* offset, const textureReference* t, const void* p, const hipChannelFormatDesc* desc, size_t size = 0xffffffffu) {
    hipResourceDesc r{};
    r.resType = hipResourceTypeLinear;
    const cu2port_sim::Found range = cu2port_sim::find_range(p);  // the size may be left out
    const size_t room = range.base ? static_cast<char*>(range.base) + range.size - static_cast<const char*>(p) : size;
    r.res.linear = {const_cast<void*>(p), *desc, size < room ? size : room};
    if (offset) *offset = 0;
    return cu2port_sim::note(cu2port_sim::bind_texture(*t, r));
}
inline hipError_t hipBindTexture2D(size_t* offset, const textureReference* t, const void* p, const hipChannelFormatDesc* desc, size_t w, size_t h, size_t pitch) {
    hipResourceDesc r{};
    r.resType = hipResourceTypePitch2D;
    r.res.pitch2D = {const_cast<void*>(p), *desc, w, h, pitch};
    if (offset) *offset = 0;
    return cu2port_sim::note(cu2port_sim::bind_texture(*t, r));
}
inline hipError_t hipBindTextureToArray(const textureReference* t, hipArray_const_t a, const hipChannelFormatDesc*) {
    hipResourceDesc r{};
    r.resType = hipResourceTypeArray;
    r.res.array.array = const_cast<hipArray_t>(a);
    return cu2port_sim::note(cu2port_sim::bind_texture(*t, r));
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTexture(size_t* offset, const texture<T, d, m>& t, const void* p, const hipChannelFormatDesc& desc, size_t size = 0xffffffffu) {
    return hipBindTexture(offset, &t, p, &desc, size);
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTexture(size_t* offset, const texture<T, d, m>& t, const void* p, size_t size = 0xffffffffu) {
    return hipBindTexture(offset, &t, p, &t.channelDesc, size);
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, d, m>& t, const void* p, const hipChannelFormatDesc& desc, size_t w, size_t h, size_t pitch) {
    return hipBindTexture2D(offset, &t, p, &desc, w, h, pitch);
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, d, m>& t, const void* p, size_t w, size_t h, size_t pitch) {
    return hipBindTexture2D(offset, &t, p, &t.channelDesc, w, h, pitch);
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTextureToArray(const texture<T, d, m>& t, hipArray_const_t a) {
    return hipBindTextureToArray(&t, a, &t.channelDesc);
}
template <class T, int d, hipTextureReadMode m>
inline hipError_t hipBindTextureToArray(const texture<T, d, m>& t, hipArray_const_t a, const hipChannelFormatDesc& desc) {
    return hipBindTextureToArray(&t, a, &desc);
}
inline hipError_t hipUnbindTexture(const textureReference& t) {
    delete t.textureObject;
    return const_cast<textureReference&>(t).textureObject = nullptr, hipSuccess;
}
inline hipError_t hipUnbindTexture(const textureReference* t) { return hipUnbindTexture(*t); }
inline hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference*) { return *offset = 0, hipSuccess; }
inline hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference&) { return *offset = 0, hipSuccess; }

#define CU2PORT_SIM_FETCH(name, parameters, ...)                                                        \
    template <class T, int d, hipTextureReadMode m>                                                     \
    inline typename texture<T, d, m>::fetched name(const texture<T, d, m>& o, CU2PORT_SIM_ARGS parameters) { \
        const __hip_texture& t = *o.textureObject;                                                      \
        return cu2port_sim::as_result<typename texture<T, d, m>::fetched>(__VA_ARGS__);                 \
    }
CU2PORT_SIM_FETCH(tex1Dfetch, (int x), cu2port_sim::fetch_linear(t, x))
CU2PORT_SIM_FETCH(tex1D, (float x), CU2PORT_SIM_1D)
CU2PORT_SIM_FETCH(tex1DLod, (float x, float), CU2PORT_SIM_1D)
CU2PORT_SIM_FETCH(tex1DLayered, (float x, int layer), CU2PORT_SIM_L1)
CU2PORT_SIM_FETCH(tex2D, (float x, float y), CU2PORT_SIM_2D)
CU2PORT_SIM_FETCH(tex2DLod, (float x, float y, float), CU2PORT_SIM_2D)
CU2PORT_SIM_FETCH(tex2DLayered, (float x, float y, int layer), CU2PORT_SIM_L2)
CU2PORT_SIM_FETCH(tex3D, (float x, float y, float z), CU2PORT_SIM_3D)
CU2PORT_SIM_FETCH(tex3DLod, (float x, float y, float z, float), CU2PORT_SIM_3D)
#undef CU2PORT_SIM_FETCH
#undef CU2PORT_SIM_X
#undef CU2PORT_SIM_Y
#undef CU2PORT_SIM_Z
#undef CU2PORT_SIM_1D
#undef CU2PORT_SIM_2D
#undef CU2PORT_SIM_3D
#undef CU2PORT_SIM_L1
#undef CU2PORT_SIM_L2
#undef CU2PORT_SIM_ARGS
