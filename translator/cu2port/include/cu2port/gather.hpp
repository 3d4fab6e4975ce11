// cu2port gather: one component of four texels, counted as CUDA counts it, on GPUs with texture units.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// `cu2port::gather2D<T>(object, x, y, component)` is CUDA's `tex2Dgather`. HIP's counts the components of objects from
// 1, so that 0, which is also what it takes where none is given, is the last; those of references it counts from 0.
#ifndef CU2PORT_GATHER_HPP
#define CU2PORT_GATHER_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif

namespace cu2port {

#ifdef __HIP_DEVICE_COMPILE__
template <class T> __device__ inline T gather2D(hipTextureObject_t textureObject, float x, float y, int component = 0) {
    TEXTURE_OBJECT_PARAMETERS_INIT  // HIP's: the image `i` and the sampler `s` of `textureObject`
    const float2 at{x, y};
    switch (component & 3) {
        case 0: return __hipMapFrom<T>(__ockl_image_gather4r_2D(i, s, get_native_vector(at)));
        case 1: return __hipMapFrom<T>(__ockl_image_gather4g_2D(i, s, get_native_vector(at)));
        case 2: return __hipMapFrom<T>(__ockl_image_gather4b_2D(i, s, get_native_vector(at)));
        default: return __hipMapFrom<T>(__ockl_image_gather4a_2D(i, s, get_native_vector(at)));
    }
}
#elif defined(CU2PORT_SIM_WAVE)  // the simulator's counts as CUDA's
template <class T> T gather2D(hipTextureObject_t object, float x, float y, int component = 0) {
    return tex2Dgather<T>(object, x, y, component);
}
#else
template <class T> __device__ T gather2D(hipTextureObject_t object, float x, float y, int component = 0);
#endif
template <class T>
__device__ inline void gather2D(T* to, hipTextureObject_t object, float x, float y, int component = 0) {
    *to = gather2D<T>(object, x, y, component);
}
template <class T, hipTextureReadMode mode>
__device__ inline auto gather2D(texture<T, hipTextureType2D, mode> reference, float x, float y, int component = 0)
    -> decltype(tex2Dgather(reference, x, y, component)) {
    return tex2Dgather(reference, x, y, component);
}

}  // namespace cu2port

}  // extern "C++"
#endif
#endif  // CU2PORT_GATHER_HPP
