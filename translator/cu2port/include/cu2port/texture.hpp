// cu2port texture: arrays, textures and surfaces in plain memory, for GPUs without texture units (gfx942, gfx950).
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// An array is a block of memory, row after row; a texture object points to a description in the GPU's memory, and a
// fetch does the work of a texture unit: all address modes, points or linear filter with weights of 8 bits as CUDA
// has them, normalized coordinates, integers read as fractions, borders. There are no mipmaps, cubes or sRGB.
// These objects are not HIP's: what makes, fills, reads and frees them is all of this header. A texture reference is a
// variable in managed memory with such an object: one for all GPUs of the program.
#ifndef CU2PORT_TEXTURE_HPP
#define CU2PORT_TEXTURE_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

namespace cu2port {
namespace texture {

// What a texture or surface object points to, in the GPU's memory.
struct Object {
    const char* data;
    int width, height, depth;     // texels, at least 1
    int texel;                    // bytes
    size_t pitch, slice;          // bytes
    int bits[4];                  // of each channel
    int kind;                     // hipChannelFormatKind
    int address[3];               // hipTextureAddressMode
    bool linear, fraction, normalized;
    float border[4];
    hipResourceDesc resource;     // as it was given
    hipTextureDesc sampler;
};

template <class T> struct Components {
    using type = T;
    static constexpr int count = 1;
};
template <class T, unsigned N_> struct Components<HIP_vector_type<T, N_>> {
    using type = T;
    static constexpr int count = N_;
};

#define CU2PORT_TEXTURE __device__ inline

// One channel of a texel: a number of `bits` bits.
template <class C_> CU2PORT_TEXTURE C_ channel(const Object& t, const char* p, int bits) {
    float value;
    if (t.kind == hipChannelFormatKindFloat) {
        if (bits == 32) {
            __builtin_memcpy(&value, p, 4);
        } else {
            _Float16 half;
            __builtin_memcpy(&half, p, 2);
            value = float(half);
        }
        return C_(value);
    }
    unsigned raw = 0;
    if (bits == 8) raw = *reinterpret_cast<const unsigned char*>(p);
    if (bits == 16) raw = *reinterpret_cast<const unsigned short*>(p);
    if (bits == 32) raw = *reinterpret_cast<const unsigned*>(p);
    const bool has_sign = t.kind == hipChannelFormatKindSigned;
    const int number = int(raw << (32 - bits)) >> (32 - bits);
    if (t.fraction && bits <= 16) {
        value = has_sign ? float(number) / float((1 << (bits - 1)) - 1) : float(raw) / float((1 << bits) - 1);
        return C_(value < -1.0f ? -1.0f : value);
    }
    return has_sign ? C_(number) : C_(raw);
}

// The texel at x, y, z; where one of them is -1, the border's colour.
template <class C_> CU2PORT_TEXTURE void load(const Object& t, int x, int y, int z, C_ (&out)[4]) {
    const char* p = t.data + size_t(z) * t.slice + size_t(y) * t.pitch + size_t(x) * size_t(t.texel);
    for (int i = 0, at = 0; i < 4; at += t.bits[i++]) {
        if (x < 0 || y < 0 || z < 0) {
            out[i] = C_(t.border[i]);
        } else {
            out[i] = t.bits[i] != 0 ? channel<C_>(t, p + at / 8, t.bits[i]) : C_(0);
        }
    }
}

// Which texel of n an index means; -1 is the border.
CU2PORT_TEXTURE int addressed(const Object& t, int i, int n, int dimension) {
    if (i >= 0 && i < n) return i;
    const int mode = t.address[dimension];
    if (mode == hipAddressModeBorder) return -1;
    if (t.normalized && mode == hipAddressModeWrap) return (i % n + n) % n;
    if (t.normalized && mode == hipAddressModeMirror) {
        const int k = (i % (2 * n) + 2 * n) % (2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    return i < 0 ? 0 : n - 1;
}

struct Axis {  // two neighbours, and the weight of the second
    int first, second;
    float weight;
};
CU2PORT_TEXTURE Axis axis(const Object& t, float x, int n, int dimension, bool linear) {
    float at = (t.normalized ? x * float(n) : x) - (linear ? 0.5f : 0.0f);
    float whole = __builtin_floorf(at);
    const float weight = linear ? __builtin_rintf((at - whole) * 256.0f) * (1.0f / 256.0f) : 0.0f;
    const float far = 1e9f;  // also for infinities; what is not a number counts as 0
    whole = whole != whole ? 0.0f : whole > far ? far : whole < -far ? -far : whole;
    const int i = int(whole), first = addressed(t, i, n, dimension);
    return {first, weight > 0.0f ? addressed(t, i + 1, n, dimension) : first, weight > 0.0f ? weight : 0.0f};
}
CU2PORT_TEXTURE Axis only(int i = 0) { return {i, i, 0.0f}; }
CU2PORT_TEXTURE Axis layer(int i, int n) { return only(i < 0 ? 0 : i >= n ? n - 1 : i); }

template <class T, class C_> CU2PORT_TEXTURE T result(const C_ (&c)[4]) {
    using To = typename Components<T>::type;
    To parts[Components<T>::count];
    for (int i = 0; i < Components<T>::count; ++i) parts[i] = To(c[i]);
    T out;
    __builtin_memcpy(&out, parts, sizeof parts);
    return out;
}

template <class T> CU2PORT_TEXTURE T sample(const Object& t, const Axis& x, const Axis& y, const Axis& z) {
    if (!t.linear) {
        typename Components<T>::type texel[4];
        load(t, x.first, y.first, z.first, texel);
        return result<T>(texel);
    }
    float sum[4] = {}, texel[4];
    for (int k = 0; k < 8; ++k) {
        const float w = (k & 1 ? x.weight : 1.0f - x.weight) * (k & 2 ? y.weight : 1.0f - y.weight) *
                        (k & 4 ? z.weight : 1.0f - z.weight);
        if (w == 0.0f) continue;
        load(t, k & 1 ? x.second : x.first, k & 2 ? y.second : y.first, k & 4 ? z.second : z.first, texel);
        for (int i = 0; i < 4; ++i) sum[i] += w * texel[i];
    }
    return result<T>(sum);
}

CU2PORT_TEXTURE const Object& of(hipTextureObject_t t) { return *reinterpret_cast<const Object*>(t); }
CU2PORT_TEXTURE Axis on_x(const Object& t, float x) { return axis(t, x, t.width, 0, t.linear); }
CU2PORT_TEXTURE Axis on_y(const Object& t, float y) { return axis(t, y, t.height, 1, t.linear); }
CU2PORT_TEXTURE Axis on_z(const Object& t, float z) { return axis(t, z, t.depth, 2, t.linear); }

// --- the host's part --------------------------------------------------------------------------------------------

// What a `hipArray_t` of this header points to, in the host's memory.
struct Array {
    hipChannelFormatDesc format;
    size_t texel, width, height, depth;  // bytes; texels, a missing height or depth is 1 here
    hipExtent asked;
    unsigned flags;
    char* data;

    size_t pitch() const { return width * texel; }
};
inline Array* of(hipArray_const_t a) { return reinterpret_cast<Array*>(const_cast<hipArray_t>(a)); }
inline size_t bytes(const hipChannelFormatDesc& f) { return size_t(f.x + f.y + f.z + f.w) / 8; }

inline hipError_t allocate(hipArray_t* out, const hipChannelFormatDesc* format, hipExtent size, unsigned flags) {
    if (out == nullptr || format == nullptr || size.width == 0 || bytes(*format) == 0) return hipErrorInvalidValue;
    const size_t height = size.height ? size.height : 1, depth = size.depth ? size.depth : 1;
    Array* a = new Array{*format, bytes(*format), size.width, height, depth, size, flags, nullptr};
    const hipError_t error = hipMalloc(reinterpret_cast<void**>(&a->data), a->pitch() * a->height * a->depth);
    if (error != hipSuccess) return delete a, error;
    *out = reinterpret_cast<hipArray_t>(a);
    return hipSuccess;
}

inline hipError_t describe(Object& t, const hipResourceDesc& r) {
    hipChannelFormatDesc f = {};
    t.width = t.height = t.depth = 1;
    if (r.resType == hipResourceTypeArray && r.res.array.array != nullptr) {
        const Array& a = *of(r.res.array.array);
        f = a.format, t.data = a.data, t.pitch = a.pitch(), t.slice = a.pitch() * a.height;
        t.width = int(a.width), t.height = int(a.height), t.depth = int(a.depth);
    } else if (r.resType == hipResourceTypeLinear) {
        f = r.res.linear.desc, t.data = static_cast<const char*>(r.res.linear.devPtr);
        if (bytes(f) != 0) t.width = int(r.res.linear.sizeInBytes / bytes(f));
    } else if (r.resType == hipResourceTypePitch2D) {
        f = r.res.pitch2D.desc, t.data = static_cast<const char*>(r.res.pitch2D.devPtr);
        t.width = int(r.res.pitch2D.width), t.height = int(r.res.pitch2D.height), t.pitch = r.res.pitch2D.pitchInBytes;
    } else {
        return hipErrorNotSupported;  // mipmaps
    }
    t.texel = int(bytes(f)), t.kind = f.f;
    t.bits[0] = f.x, t.bits[1] = f.y, t.bits[2] = f.z, t.bits[3] = f.w;
    return t.data == nullptr || t.texel == 0 || t.width == 0 ? hipErrorInvalidValue : hipSuccess;
}

template <class Handle> inline hipError_t place(Handle* out, const Object& t) {
    void* there = nullptr;
    hipError_t error = hipMalloc(&there, sizeof t);
    if (error == hipSuccess) error = hipMemcpy(there, &t, sizeof t, hipMemcpyHostToDevice);
    if (error == hipSuccess) *out = reinterpret_cast<Handle>(there);
    return error;
}

}  // namespace texture

inline hipError_t mallocArray(hipArray_t* out, const hipChannelFormatDesc* format, size_t width, size_t height = 0,
                              unsigned flags = 0) {
    return texture::allocate(out, format, make_hipExtent(width, height, 0), flags);
}
inline hipError_t malloc3DArray(hipArray_t* out, const hipChannelFormatDesc* format, hipExtent size,
                                unsigned flags = 0) {
    return texture::allocate(out, format, size, flags);
}
inline hipError_t freeArray(hipArray_t array) {
    if (array == nullptr) return hipSuccess;
    const hipError_t error = hipFree(texture::of(array)->data);
    delete texture::of(array);
    return error;
}
inline hipError_t arrayGetInfo(hipChannelFormatDesc* format, hipExtent* size, unsigned* flags, hipArray_t array) {
    if (array == nullptr) return hipErrorInvalidValue;
    if (format != nullptr) *format = texture::of(array)->format;
    if (size != nullptr) *size = texture::of(array)->asked;
    if (flags != nullptr) *flags = texture::of(array)->flags;
    return hipSuccess;
}
inline hipError_t getChannelDesc(hipChannelFormatDesc* format, hipArray_const_t array) {
    return arrayGetInfo(format, nullptr, nullptr, const_cast<hipArray_t>(array));
}

// Copies. x counts bytes, y rows; the copies without a height run on from row to row.
inline hipError_t memcpy2DToArrayAsync(hipArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                       size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr) {
    const texture::Array* a = texture::of(to);
    if (a == nullptr || x + width > a->pitch() || y + height > a->height) return hipErrorInvalidValue;
    return hipMemcpy2DAsync(a->data + y * a->pitch() + x, a->pitch(), from, pitch, width, height, kind, stream);
}
inline hipError_t memcpy2DToArray(hipArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                  size_t height, hipMemcpyKind kind) {
    const texture::Array* a = texture::of(to);
    if (a == nullptr || x + width > a->pitch() || y + height > a->height) return hipErrorInvalidValue;
    return hipMemcpy2D(a->data + y * a->pitch() + x, a->pitch(), from, pitch, width, height, kind);
}
inline hipError_t memcpy2DFromArrayAsync(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y,
                                         size_t width, size_t height, hipMemcpyKind kind,
                                         hipStream_t stream = nullptr) {
    const texture::Array* a = texture::of(from);
    if (a == nullptr || x + width > a->pitch() || y + height > a->height) return hipErrorInvalidValue;
    return hipMemcpy2DAsync(to, pitch, a->data + y * a->pitch() + x, a->pitch(), width, height, kind, stream);
}
inline hipError_t memcpy2DFromArray(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                    size_t height, hipMemcpyKind kind) {
    const texture::Array* a = texture::of(from);
    if (a == nullptr || x + width > a->pitch() || y + height > a->height) return hipErrorInvalidValue;
    return hipMemcpy2D(to, pitch, a->data + y * a->pitch() + x, a->pitch(), width, height, kind);
}
inline hipError_t memcpy2DArrayToArray(hipArray_t to, size_t x, size_t y, hipArray_const_t from, size_t from_x,
                                       size_t from_y, size_t width, size_t height,
                                       hipMemcpyKind kind = hipMemcpyDeviceToDevice) {
    const texture::Array* a = texture::of(from);
    if (a == nullptr || from_x + width > a->pitch() || from_y + height > a->height) return hipErrorInvalidValue;
    return memcpy2DToArray(to, x, y, a->data + from_y * a->pitch() + from_x, a->pitch(), width, height, kind);
}
inline hipError_t memcpyToArray(hipArray_t to, size_t x, size_t y, const void* from, size_t count, hipMemcpyKind kind) {
    const texture::Array* a = texture::of(to);
    if (a == nullptr || y * a->pitch() + x + count > a->pitch() * a->height) return hipErrorInvalidValue;
    return hipMemcpy(a->data + y * a->pitch() + x, from, count, kind);
}
inline hipError_t memcpyFromArray(void* to, hipArray_const_t from, size_t x, size_t y, size_t count,
                                  hipMemcpyKind kind) {
    const texture::Array* a = texture::of(from);
    if (a == nullptr || y * a->pitch() + x + count > a->pitch() * a->height) return hipErrorInvalidValue;
    return hipMemcpy(to, a->data + y * a->pitch() + x, count, kind);
}

namespace texture {
// A copy in which arrays are what they are here: memory with a pitch. Where one takes part, the extent's width and the
// positions in it count texels.
inline bool in_memory(hipMemcpy3DParms& p) {
    const Array *from = of(p.srcArray), *to = of(p.dstArray);
    const auto inside = [&p](const Array& a, hipPos& at, hipPitchedPtr& memory) {
        const bool fits = at.x + p.extent.width <= a.width && at.y + p.extent.height <= a.height &&
                          at.z + p.extent.depth <= a.depth;
        at.x *= a.texel;
        memory = make_hipPitchedPtr(a.data, a.pitch(), a.pitch(), a.height);
        return fits;
    };
    if (from != nullptr && !inside(*from, p.srcPos, p.srcPtr)) return false;
    if (to != nullptr && !inside(*to, p.dstPos, p.dstPtr)) return false;
    if (from != nullptr || to != nullptr) p.extent.width *= (from != nullptr ? from : to)->texel;
    p.srcArray = p.dstArray = nullptr;
    return true;
}
}  // namespace texture

inline hipError_t memcpy3D(const hipMemcpy3DParms* parameters) {
    hipMemcpy3DParms p = *parameters;
    return texture::in_memory(p) ? hipMemcpy3D(&p) : hipErrorInvalidValue;
}
inline hipError_t memcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream = nullptr) {
    hipMemcpy3DParms p = *parameters;
    return texture::in_memory(p) ? hipMemcpy3DAsync(&p, stream) : hipErrorInvalidValue;
}

inline hipError_t createTextureObject(hipTextureObject_t* out, const hipResourceDesc* resource,
                                      const hipTextureDesc* sampler, const hipResourceViewDesc* = nullptr) {
    if (out == nullptr || resource == nullptr || sampler == nullptr) return hipErrorInvalidValue;
    texture::Object t = {};
    const hipError_t error = texture::describe(t, *resource);
    if (error != hipSuccess) return error;
    for (int i = 0; i < 3; ++i) t.address[i] = sampler->addressMode[i];
    for (int i = 0; i < 4; ++i) t.border[i] = sampler->borderColor[i];
    t.linear = sampler->filterMode == hipFilterModeLinear, t.normalized = sampler->normalizedCoords != 0;
    t.fraction = sampler->readMode == hipReadModeNormalizedFloat;
    t.resource = *resource, t.sampler = *sampler;
    return texture::place(out, t);
}
inline hipError_t destroyTextureObject(hipTextureObject_t t) { return hipFree(reinterpret_cast<void*>(t)); }
inline hipError_t getTextureObjectResourceDesc(hipResourceDesc* out, hipTextureObject_t t) {
    return hipMemcpy(out, &reinterpret_cast<texture::Object*>(t)->resource, sizeof *out, hipMemcpyDeviceToHost);
}
inline hipError_t getTextureObjectTextureDesc(hipTextureDesc* out, hipTextureObject_t t) {
    return hipMemcpy(out, &reinterpret_cast<texture::Object*>(t)->sampler, sizeof *out, hipMemcpyDeviceToHost);
}
inline hipError_t createSurfaceObject(hipSurfaceObject_t* out, const hipResourceDesc* resource) {
    if (out == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray) return hipErrorInvalidValue;
    texture::Object t = {};
    const hipError_t error = texture::describe(t, *resource);
    return error == hipSuccess ? texture::place(out, t) : error;
}
inline hipError_t destroySurfaceObject(hipSurfaceObject_t s) { return hipFree(reinterpret_cast<void*>(s)); }

// --- texture references: what CUDA 12 removed ---------------------------------------------------------------------

namespace texture {
template <class T, hipTextureReadMode mode> struct Fetched {
    using type = T;
};
template <class T> struct Fetched<T, hipReadModeNormalizedFloat> {
    using type = float;
};
template <class T, unsigned N_> struct Fetched<HIP_vector_type<T, N_>, hipReadModeNormalizedFloat> {
    using type = HIP_vector_type<float, N_>;
};
template <class C_> constexpr hipChannelFormatKind kind_of() {
    return C_(0.5f) != C_(0)  ? hipChannelFormatKindFloat
           : C_(-1) < C_(0) ? hipChannelFormatKindSigned
                          : hipChannelFormatKindUnsigned;
}
template <class T> constexpr hipChannelFormatDesc format_of() {
    using C_ = typename Components<T>::type;
    return {int(sizeof(C_) * 8), Components<T>::count > 1 ? int(sizeof(C_) * 8) : 0,
            Components<T>::count > 2 ? int(sizeof(C_) * 8) : 0, Components<T>::count > 3 ? int(sizeof(C_) * 8) : 0,
            kind_of<C_>()};
}
// Kernels that run read what the reference is bound to, so that they end before it is bound to something else.
inline hipError_t unbind(const textureReference* reference) {
    hipTextureObject_t& object = const_cast<textureReference*>(reference)->textureObject;
    if (object == nullptr) return hipSuccess;
    hipError_t error = hipDeviceSynchronize();
    if (error == hipSuccess) error = destroyTextureObject(object);
    object = nullptr;
    return error;
}
inline hipError_t bind(const textureReference* reference, const hipResourceDesc& resource) {
    if (reference == nullptr) return hipErrorInvalidValue;
    const hipError_t error = unbind(reference);
    if (error != hipSuccess) return error;
    hipTextureDesc sampler = {};
    for (int i = 0; i < 3; ++i) sampler.addressMode[i] = reference->addressMode[i];
    sampler.filterMode = reference->filterMode, sampler.readMode = reference->readMode;
    sampler.normalizedCoords = reference->normalized;
    return createTextureObject(&const_cast<textureReference*>(reference)->textureObject, &resource, &sampler);
}
// The bytes from p to the end of its allocation, where that is less than a size.
inline size_t room(const void* p, size_t size) {
    hipDeviceptr_t base = {};
    size_t all = 0;
    if (hipMemGetAddressRange(&base, &all, (hipDeviceptr_t)p) != hipSuccess) return (void)hipGetLastError(), size;
    const size_t left = all - size_t(static_cast<const char*>(p) - (const char*)base);
    return left < size ? left : size;
}
}  // namespace texture

/// CUDA's `texture<T, dimensions, mode>`.
template <class T, int dimensions = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct TextureReference : textureReference {
    constexpr TextureReference(int norm = 0, hipTextureFilterMode filter = hipFilterModePoint,
                               hipTextureAddressMode address = hipAddressModeClamp)
        : TextureReference(norm, filter, address, texture::format_of<T>()) {}
    constexpr TextureReference(int norm, hipTextureFilterMode filter, hipTextureAddressMode address,
                               hipChannelFormatDesc format)
        : textureReference{norm, mode, filter, {address, address, address}, format, 0, 0, hipFilterModePoint, 0.0f,
                           0.0f, 0.0f, nullptr} {}
};

inline hipError_t bindTexture(size_t* offset, const textureReference* t, const void* p,
                              const hipChannelFormatDesc* format, size_t size = 0xffffffffu) {
    hipResourceDesc r = {};
    r.resType = hipResourceTypeLinear;
    r.res.linear.devPtr = const_cast<void*>(p), r.res.linear.desc = *format;
    r.res.linear.sizeInBytes = texture::room(p, size);
    if (offset != nullptr) *offset = 0;
    return texture::bind(t, r);
}
inline hipError_t bindTexture2D(size_t* offset, const textureReference* t, const void* p,
                                const hipChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
    hipResourceDesc r = {};
    r.resType = hipResourceTypePitch2D;
    r.res.pitch2D.devPtr = const_cast<void*>(p), r.res.pitch2D.desc = *format;
    r.res.pitch2D.width = width, r.res.pitch2D.height = height, r.res.pitch2D.pitchInBytes = pitch;
    if (offset != nullptr) *offset = 0;
    return texture::bind(t, r);
}
inline hipError_t bindTextureToArray(const textureReference* t, hipArray_const_t array,
                                     const hipChannelFormatDesc* = nullptr) {
    hipResourceDesc r = {};
    r.resType = hipResourceTypeArray, r.res.array.array = const_cast<hipArray_t>(array);
    return texture::bind(t, r);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTexture(size_t* offset, const TextureReference<T, d, m>& t, const void* p,
                       const hipChannelFormatDesc& format, size_t size = 0xffffffffu) {
    return bindTexture(offset, &t, p, &format, size);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTexture(size_t* offset, const TextureReference<T, d, m>& t, const void* p, size_t size = 0xffffffffu) {
    return bindTexture(offset, &t, p, &t.channelDesc, size);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTexture2D(size_t* offset, const TextureReference<T, d, m>& t, const void* p,
                         const hipChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
    return bindTexture2D(offset, &t, p, &format, width, height, pitch);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTexture2D(size_t* offset, const TextureReference<T, d, m>& t, const void* p, size_t width,
                         size_t height, size_t pitch) {
    return bindTexture2D(offset, &t, p, &t.channelDesc, width, height, pitch);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTextureToArray(const TextureReference<T, d, m>& t, hipArray_const_t array) {
    return bindTextureToArray(&t, array);
}
template <class T, int d, hipTextureReadMode m>
hipError_t bindTextureToArray(const TextureReference<T, d, m>& t, hipArray_const_t array,
                              const hipChannelFormatDesc& format) {
    return bindTextureToArray(&t, array, &format);
}
inline hipError_t unbindTexture(const textureReference* t) { return texture::unbind(t); }
inline hipError_t unbindTexture(const textureReference& t) { return texture::unbind(&t); }
inline hipError_t getTextureReference(const textureReference** out, const void* symbol) {
    return *out = static_cast<const textureReference*>(symbol), hipSuccess;
}
inline hipError_t getTextureAlignmentOffset(size_t* offset, const textureReference*) {
    return *offset = 0, hipSuccess;
}
inline hipError_t getTextureAlignmentOffset(size_t* offset, const textureReference& t) {
    return getTextureAlignmentOffset(offset, &t);
}

// --- fetches: `name<T>(object, ...)`, the form that writes through a pointer, and `name(reference, ...)` ----------

#define CU2PORT_TEXTURE_ARGS(...) __VA_ARGS__
#define CU2PORT_TEXTURE_FETCH(name, parameters, arguments, x, y, z)                                  \
    template <class T> CU2PORT_TEXTURE T name(hipTextureObject_t o, CU2PORT_TEXTURE_ARGS parameters) { \
        const texture::Object& t = texture::of(o);                                                   \
        return texture::sample<T>(t, x, y, z);                                                       \
    }                                                                                                \
    template <class T> CU2PORT_TEXTURE void name(T* out, hipTextureObject_t o, CU2PORT_TEXTURE_ARGS parameters) { \
        *out = cu2port::name<T>(o, CU2PORT_TEXTURE_ARGS arguments);                                  \
    }                                                                                                \
    template <class T, int d, hipTextureReadMode m>                                                  \
    CU2PORT_TEXTURE typename texture::Fetched<T, m>::type name(const TextureReference<T, d, m>& r,   \
                                                               CU2PORT_TEXTURE_ARGS parameters) {    \
        return cu2port::name<typename texture::Fetched<T, m>::type>(r.textureObject,                 \
                                                                    CU2PORT_TEXTURE_ARGS arguments); \
    }
#define CU2PORT_TEXTURE_1D texture::on_x(t, x), texture::only(), texture::only()
#define CU2PORT_TEXTURE_2D texture::on_x(t, x), texture::on_y(t, y), texture::only()
#define CU2PORT_TEXTURE_3D texture::on_x(t, x), texture::on_y(t, y), texture::on_z(t, z)
#define CU2PORT_TEXTURE_1L texture::on_x(t, x), texture::layer(layer, t.height * t.depth), texture::only()
#define CU2PORT_TEXTURE_2L texture::on_x(t, x), texture::on_y(t, y), texture::layer(layer, t.depth)
#define CU2PORT_TEXTURE_NAME(name, parameters, arguments, axes) CU2PORT_TEXTURE_FETCH(name, parameters, arguments, axes)
CU2PORT_TEXTURE_NAME(tex1D, (float x), (x), CU2PORT_TEXTURE_1D)
CU2PORT_TEXTURE_NAME(tex1DLayered, (float x, int layer), (x, layer), CU2PORT_TEXTURE_1L)
CU2PORT_TEXTURE_NAME(tex2D, (float x, float y), (x, y), CU2PORT_TEXTURE_2D)
CU2PORT_TEXTURE_NAME(tex2DLayered, (float x, float y, int layer), (x, y, layer), CU2PORT_TEXTURE_2L)
CU2PORT_TEXTURE_NAME(tex3D, (float x, float y, float z), (x, y, z), CU2PORT_TEXTURE_3D)
// there is one level only, so that no level of detail changes what is fetched
CU2PORT_TEXTURE_NAME(tex1DLod, (float x, float), (x, 0), CU2PORT_TEXTURE_1D)
CU2PORT_TEXTURE_NAME(tex1DLayeredLod, (float x, int layer, float), (x, layer, 0), CU2PORT_TEXTURE_1L)
CU2PORT_TEXTURE_NAME(tex2DLod, (float x, float y, float), (x, y, 0), CU2PORT_TEXTURE_2D)
CU2PORT_TEXTURE_NAME(tex2DLayeredLod, (float x, float y, int layer, float), (x, y, layer, 0), CU2PORT_TEXTURE_2L)
CU2PORT_TEXTURE_NAME(tex3DLod, (float x, float y, float z, float), (x, y, z, 0), CU2PORT_TEXTURE_3D)
#undef CU2PORT_TEXTURE_NAME
#undef CU2PORT_TEXTURE_FETCH
#undef CU2PORT_TEXTURE_1D
#undef CU2PORT_TEXTURE_2D
#undef CU2PORT_TEXTURE_3D
#undef CU2PORT_TEXTURE_1L
#undef CU2PORT_TEXTURE_2L

/// A texel of linear memory; outside of it is 0.
template <class T> CU2PORT_TEXTURE T tex1Dfetch(hipTextureObject_t o, int x) {
    const texture::Object& t = texture::of(o);
    if (x < 0 || x >= t.width) return T();
    typename texture::Components<T>::type texel[4];
    texture::load(t, x, 0, 0, texel);
    return texture::result<T>(texel);
}
template <class T> CU2PORT_TEXTURE void tex1Dfetch(T* out, hipTextureObject_t o, int x) {
    *out = cu2port::tex1Dfetch<T>(o, x);
}

template <class T, int d, hipTextureReadMode m>
CU2PORT_TEXTURE typename texture::Fetched<T, m>::type tex1Dfetch(const TextureReference<T, d, m>& r, int x) {
    return cu2port::tex1Dfetch<typename texture::Fetched<T, m>::type>(r.textureObject, x);
}

/// One component of the four texels around a point: lower left, lower right, upper right, upper left.
template <class T> CU2PORT_TEXTURE T tex2Dgather(hipTextureObject_t o, float x, float y, int component = 0) {
    using C_ = typename texture::Components<T>::type;
    const texture::Object& t = texture::of(o);
    texture::Axis u = texture::axis(t, x, t.width, 0, true), v = texture::axis(t, y, t.height, 1, true);
    if (u.weight == 0.0f && u.first + 1 < t.width) u.second = u.first + 1;
    if (v.weight == 0.0f && v.first + 1 < t.height) v.second = v.first + 1;
    const int xs[4] = {u.first, u.second, u.second, u.first}, ys[4] = {v.second, v.second, v.first, v.first};
    C_ out[4], texel[4];
    for (int i = 0; i < 4; ++i) {
        texture::load(t, xs[i], ys[i], 0, texel);
        out[i] = texel[component & 3];
    }
    return texture::result<T>(out);
}

// --- surfaces: x counts bytes; a read outside gives 0, a write outside does nothing -------------------------------

namespace texture {
CU2PORT_TEXTURE char* at(hipSurfaceObject_t s, size_t size, int x, int y, int z) {
    const Object& t = *reinterpret_cast<const Object*>(s);
    const bool inside = x >= 0 && size_t(x) + size <= t.pitch && y >= 0 && y < t.height && z >= 0 && z < t.depth;
    return inside ? const_cast<char*>(t.data) + size_t(z) * t.slice + size_t(y) * t.pitch + size_t(x) : nullptr;
}
template <class T> CU2PORT_TEXTURE T read(hipSurfaceObject_t s, int x, int y, int z) {
    T value = T();
    if (const char* p = at(s, sizeof(T), x, y, z)) __builtin_memcpy(&value, p, sizeof(T));
    return value;
}
template <class T> CU2PORT_TEXTURE void write(const T& value, hipSurfaceObject_t s, int x, int y, int z) {
    if (char* p = at(s, sizeof(T), x, y, z)) __builtin_memcpy(p, &value, sizeof(T));
}
CU2PORT_TEXTURE int rows(hipSurfaceObject_t s) { return reinterpret_cast<const Object*>(s)->height; }
}  // namespace texture

#define CU2PORT_TEXTURE_SURFACE(dimension, parameters, arguments, x, y, z)                                      \
    template <class T>                                                                                          \
    CU2PORT_TEXTURE T surf##dimension##read(hipSurfaceObject_t s, CU2PORT_TEXTURE_ARGS parameters) {            \
        return texture::read<T>(s, x, y, z);                                                                    \
    }                                                                                                           \
    template <class T>                                                                                          \
    CU2PORT_TEXTURE void surf##dimension##read(T* out, hipSurfaceObject_t s, CU2PORT_TEXTURE_ARGS parameters) { \
        *out = texture::read<T>(s, x, y, z);                                                                    \
    }                                                                                                           \
    template <class T>                                                                                          \
    CU2PORT_TEXTURE void surf##dimension##write(T value, hipSurfaceObject_t s, CU2PORT_TEXTURE_ARGS parameters) { \
        texture::write(value, s, x, y, z);                                                                      \
    }
CU2PORT_TEXTURE_SURFACE(1D, (int x), (x), x, 0, 0)
CU2PORT_TEXTURE_SURFACE(2D, (int x, int y), (x, y), x, y, 0)
CU2PORT_TEXTURE_SURFACE(3D, (int x, int y, int z), (x, y, z), x, y, z)
// layers of rows are kept as rows where a height is missing, as slices else
CU2PORT_TEXTURE_SURFACE(1DLayered, (int x, int layer), (x, layer), x, layer % texture::rows(s),
                        layer / texture::rows(s))
CU2PORT_TEXTURE_SURFACE(2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
#undef CU2PORT_TEXTURE_SURFACE
#undef CU2PORT_TEXTURE_ARGS
#undef CU2PORT_TEXTURE

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_TEXTURE_HPP
