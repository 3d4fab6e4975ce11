// cu2port gl: OpenGL buffers by name, as in the older interface of CUDA (cudaGLMapBufferObject).
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// HIP knows buffers as graphics resources alone. The resource of each registered buffer is kept here. Flags are set at
// registration in HIP, so a buffer whose flags change is registered again.
#ifndef CU2PORT_GL_HPP
#define CU2PORT_GL_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime_api.h>
#include <hip/hip_gl_interop.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace cu2port {

enum gl_map_flags {  // the values of hipGraphicsRegisterFlags
    gl_map_flags_none = 0,
    gl_map_flags_read_only = 1,
    gl_map_flags_write_discard = 2
};

namespace detail {

struct gl_buffer {
    hipGraphicsResource_t resource;
    bool mapped;
};
struct gl_buffers {
    std::mutex lock;
    std::map<unsigned, gl_buffer> known;  // by OpenGL's name
};
inline gl_buffers& gl_registered() {
    static gl_buffers all;
    return all;
}

}  // namespace detail

// Register a buffer; without it no other function here knows the buffer.
inline hipError_t gl_register_buffer(unsigned buffer) {
    detail::gl_buffers& all = detail::gl_registered();
    std::lock_guard<std::mutex> held(all.lock);
    if (all.known.count(buffer)) return hipErrorInvalidValue;
    detail::gl_buffer made = {nullptr, false};
    const hipError_t error = hipGraphicsGLRegisterBuffer(&made.resource, buffer, gl_map_flags_none);
    if (error == hipSuccess) all.known[buffer] = made;
    return error;
}
inline hipError_t gl_unregister_buffer(unsigned buffer) {
    detail::gl_buffers& all = detail::gl_registered();
    std::lock_guard<std::mutex> held(all.lock);
    const auto found = all.known.find(buffer);
    if (found == all.known.end()) return hipErrorInvalidResourceHandle;
    const hipError_t error = hipGraphicsUnregisterResource(found->second.resource);
    if (error == hipSuccess) all.known.erase(found);
    return error;
}

// The flags of the next mapping. A buffer that is mapped gives hipErrorUnknown, as in CUDA.
inline hipError_t gl_set_buffer_map_flags(unsigned buffer, unsigned flags) {
    if (flags > gl_map_flags_write_discard) return hipErrorInvalidValue;
    detail::gl_buffers& all = detail::gl_registered();
    std::lock_guard<std::mutex> held(all.lock);
    const auto found = all.known.find(buffer);
    if (found == all.known.end()) return hipErrorInvalidResourceHandle;
    if (found->second.mapped) return hipErrorUnknown;
    hipGraphicsResource_t made = nullptr;
    hipError_t error = hipGraphicsUnregisterResource(found->second.resource);
    if (error == hipSuccess) {
        error = hipGraphicsGLRegisterBuffer(&made, buffer, flags);
        if (error != hipSuccess) all.known.erase(found);
    }
    if (error == hipSuccess) found->second.resource = made;
    return error;
}

// The address of a buffer for kernels, and its size in bytes if `size` is given. Work of OpenGL issued before is
// done when kernels of `stream` read it.
inline hipError_t gl_map_buffer_async(void** address, std::size_t* size, unsigned buffer, hipStream_t stream) {
    detail::gl_buffers& all = detail::gl_registered();
    std::lock_guard<std::mutex> held(all.lock);
    const auto found = all.known.find(buffer);
    if (found == all.known.end() || found->second.mapped) return hipErrorMapFailed;
    if (hipGraphicsMapResources(1, &found->second.resource, stream) != hipSuccess) return hipErrorMapFailed;
    std::size_t bytes = 0;
    const hipError_t error = hipGraphicsResourceGetMappedPointer(address, &bytes, found->second.resource);
    if (error != hipSuccess) {
        (void)hipGraphicsUnmapResources(1, &found->second.resource, stream);
        return error;
    }
    found->second.mapped = true;
    if (size) *size = bytes;
    return hipSuccess;
}
inline hipError_t gl_map_buffer_async(void** address, unsigned buffer, hipStream_t stream) {
    return gl_map_buffer_async(address, nullptr, buffer, stream);
}
inline hipError_t gl_map_buffer(void** address, std::size_t* size, unsigned buffer) {
    return gl_map_buffer_async(address, size, buffer, nullptr);
}
inline hipError_t gl_map_buffer(void** address, unsigned buffer) {
    return gl_map_buffer_async(address, nullptr, buffer, nullptr);
}

inline hipError_t gl_unmap_buffer_async(unsigned buffer, hipStream_t stream) {
    detail::gl_buffers& all = detail::gl_registered();
    std::lock_guard<std::mutex> held(all.lock);
    const auto found = all.known.find(buffer);
    if (found == all.known.end() || !found->second.mapped) return hipErrorUnmapFailed;
    if (hipGraphicsUnmapResources(1, &found->second.resource, stream) != hipSuccess) return hipErrorUnmapFailed;
    found->second.mapped = false;
    return hipSuccess;
}
inline hipError_t gl_unmap_buffer(unsigned buffer) {
    return gl_unmap_buffer_async(buffer, nullptr);
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif
