// cu2port half_atomic: atomicAdd on numbers of 16 bits, pairs of them and vectors, which CUDA has and HIP has not.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A number of 16 bits is exchanged with the 32-bit word that it lies in. Of a pair each half is added as a whole, as
// CUDA promises; here the whole word is exchanged, which is more. With -munsafe-fp-atomics pairs are one instruction
// where the GPU has it; it must not meet memory that the host sees at the same time. Of a vector each number is added
// by itself, as in CUDA. Other types are HIP's.
#ifndef CU2PORT_HALF_ATOMIC_HPP
#define CU2PORT_HALF_ATOMIC_HPP
#if defined(__cplusplus) && (defined(__HIP__) || defined(CU2PORT_SIM_WAVE))  // C and the host may include it too
extern "C++" {  // the includer may be in a block of `extern "C"`

#ifndef __HIPCC_RTC__  // which includes them by itself
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#endif

namespace cu2port {
namespace half_atomic {

template <class T> struct same {
    using type = T;
};

template <class To, class From> __device__ inline To bits_as(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    __builtin_memcpy(static_cast<void *>(&to), &from, sizeof to);
    return to;
}

// Replaces a word by `change(word)`; returns what was there before.
template <class F_> __device__ inline unsigned int exchange(unsigned int *word, F_ change) {
    unsigned int seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        const unsigned int found = atomicCAS(word, seen, change(seen));
        if (found == seen)
            return found;
        seen = found;
    }
}

template <class T> __device__ inline T add_16(T *address, T value) {
    const auto at = reinterpret_cast<unsigned long long>(address);
    const unsigned int shift = (at & 2u) * 8u;  // the upper half of its word is at the higher address
    auto *word = reinterpret_cast<unsigned int *>(at & ~3ull);
    const unsigned int old = exchange(word, [=](unsigned int all) {
        const T sum = __hadd(bits_as<T>(static_cast<unsigned short>(all >> shift)), value);
        return (all & ~(0xffffu << shift)) | static_cast<unsigned int>(bits_as<unsigned short>(sum)) << shift;
    });
    return bits_as<T>(static_cast<unsigned short>(old >> shift));
}

template <class T> __device__ inline T add_pair(T *address, T value) {
#ifdef __AMDGCN_UNSAFE_FP_ATOMICS__
    return unsafeAtomicAdd(address, value);
#else
    return bits_as<T>(exchange(reinterpret_cast<unsigned int *>(address), [=](unsigned int all) {
        return bits_as<unsigned int>(static_cast<T>(__hadd2(bits_as<T>(all), value)));
    }));
#endif
}

}  // namespace half_atomic

template <class T> __device__ inline T atomic_add(T *address, typename half_atomic::same<T>::type value) {
    return ::atomicAdd(address, value);
}
__device__ inline __half atomic_add(__half *address, __half value) { return half_atomic::add_16(address, value); }
__device__ inline __half2 atomic_add(__half2 *address, __half2 value) {
    return half_atomic::add_pair(address, value);
}
__device__ inline __hip_bfloat16 atomic_add(__hip_bfloat16 *address, __hip_bfloat16 value) {
    return half_atomic::add_16(address, value);
}
__device__ inline __hip_bfloat162 atomic_add(__hip_bfloat162 *address, __hip_bfloat162 value) {
    return half_atomic::add_pair(address, value);
}
__device__ inline float2 atomic_add(float2 *address, float2 value) {
    const float x = ::atomicAdd(&address->x, value.x);
    return make_float2(x, ::atomicAdd(&address->y, value.y));
}
__device__ inline float4 atomic_add(float4 *address, float4 value) {
    const float x = ::atomicAdd(&address->x, value.x), y = ::atomicAdd(&address->y, value.y);
    const float z = ::atomicAdd(&address->z, value.z);
    return make_float4(x, y, z, ::atomicAdd(&address->w, value.w));
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_HALF_ATOMIC_HPP
