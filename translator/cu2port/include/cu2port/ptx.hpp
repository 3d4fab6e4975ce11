// cu2port ptx: what PTX instructions compute, named after them, for code that had them as inline assembly.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// A function is named after its instruction, with `_` for dots: `bfe_u32` is `bfe.u32`. Results are NVIDIA's, bit for bit,
// also where C++ or AMD's instructions define other ones: shifts beyond the width, fields beyond the word, signed overflow.
#pragma once

#ifdef __HIP__
#ifndef __HIPCC_RTC__  // which includes it by itself
#include <hip/hip_runtime.h>
#endif
#endif
#ifndef __HIPCC_RTC__
#include <cstdint>
#endif

#if defined(__HIP__) && !defined(CU2PORT_SIMULATED)
#define CU2PORT_PTX __host__ __device__ inline __attribute__((always_inline))
#else
#define CU2PORT_PTX inline
#endif
#ifdef __HIP_DEVICE_COMPILE__
#define CU2PORT_PTX_SPACE(n) __attribute__((address_space(n)))
#else
#define CU2PORT_PTX_SPACE(n)
#endif

namespace cu2port {
namespace ptx {

typedef unsigned __int128 u128;
typedef __int128 s128;

#define CU2PORT_PTX_VECTORS(T, name)                    \
    typedef T name##x2 __attribute__((vector_size(2 * sizeof(T)))); \
    typedef T name##x4 __attribute__((vector_size(4 * sizeof(T)))); \
    typedef T name##x8 __attribute__((vector_size(8 * sizeof(T))))
CU2PORT_PTX_VECTORS(std::uint8_t, u8);
CU2PORT_PTX_VECTORS(std::uint16_t, u16);
CU2PORT_PTX_VECTORS(std::uint32_t, u32);
CU2PORT_PTX_VECTORS(std::uint64_t, u64);
CU2PORT_PTX_VECTORS(std::int8_t, s8);
CU2PORT_PTX_VECTORS(std::int16_t, s16);
CU2PORT_PTX_VECTORS(std::int32_t, s32);
CU2PORT_PTX_VECTORS(std::int64_t, s64);
CU2PORT_PTX_VECTORS(float, f32);
CU2PORT_PTX_VECTORS(double, f64);
#undef CU2PORT_PTX_VECTORS

// --- memory ----------------------------------------------------------------------------------------------------------
// An address is a pointer, or an integer of 64 bits, or one of 32 bits in shared memory, where it is the offset in LDS.

template <class T> CU2PORT_PTX std::uint64_t address(T* p) { return reinterpret_cast<std::uint64_t>(p); }
CU2PORT_PTX std::uint64_t address(std::uint64_t p) { return p; }
template <class T> CU2PORT_PTX std::uint64_t at(T* p, std::int64_t bytes) { return address(p) + bytes; }

template <class T, class A> CU2PORT_PTX T ld(A p) { return *reinterpret_cast<const T*>(address(p)); }
template <class T, class A> CU2PORT_PTX void st(A p, T value) { *reinterpret_cast<T*>(address(p)) = value; }
template <class T, class A> CU2PORT_PTX T ld_global(A p) {
    return *reinterpret_cast<const CU2PORT_PTX_SPACE(1) T*>(address(p));
}
template <class T, class A> CU2PORT_PTX void st_global(A p, T value) {
    *reinterpret_cast<CU2PORT_PTX_SPACE(1) T*>(address(p)) = value;
}

// --- integers --------------------------------------------------------------------------------------------------------

CU2PORT_PTX std::uint32_t clz(std::uint32_t a) { return a ? __builtin_clz(a) : 32; }
CU2PORT_PTX std::uint32_t clz(std::uint64_t a) { return a ? __builtin_clzll(a) : 64; }
CU2PORT_PTX std::uint32_t popc(std::uint32_t a) { return __builtin_popcount(a); }
CU2PORT_PTX std::uint32_t popc(std::uint64_t a) { return __builtin_popcountll(a); }

// Each nibble of the selector picks a byte of {b, a}; its top bit asks for the byte's sign, eight times.
CU2PORT_PTX std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t bytes = std::uint64_t(b) << 32 | a;
    std::uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t pick = selector >> (4 * i) & 15;
        std::uint32_t byte = std::uint32_t(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * i);
    }
    return out;
}

// --- instructions, generated from cu2port's table by tools/ptx_header.py ---------------------------------------------

// bfi.{t:b32|b64} d, a, b, c:u32, e:u32
CU2PORT_PTX std::uint32_t bfi_b32(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t e) {
    const std::uint32_t pos = c & 0xff;
    const std::uint32_t length = e & 0xff;
    return pos < 32 ? (b & ~((length < 32 ? ~(0xffffffffu << length) : 0xffffffffu) << pos)) | ((a << pos) & ((length < 32 ? ~(0xffffffffu << length) : 0xffffffffu) << pos)) : b;
}

CU2PORT_PTX std::uint64_t bfi_b64(std::uint64_t a, std::uint64_t b, std::uint32_t c, std::uint32_t e) {
    const std::uint32_t pos = c & 0xff;
    const std::uint32_t length = e & 0xff;
    return pos < 64 ? (b & ~((length < 64 ? ~(0xffffffffffffffffull << length) : 0xffffffffffffffffull) << pos)) | ((a << pos) & ((length < 64 ? ~(0xffffffffffffffffull << length) : 0xffffffffffffffffull) << pos)) : b;
}

// bmsk.{mode:clamp|wrap}.b32 d:b32, a:u32, b:u32
CU2PORT_PTX std::uint32_t bmsk_clamp_b32(std::uint32_t a, std::uint32_t b) { return a < 32 ? (b < 32 ? (1u << b) - 1 : 0xffffffffu) << a : 0u; }

CU2PORT_PTX std::uint32_t bmsk_wrap_b32(std::uint32_t a, std::uint32_t b) { return ((1u << (b & 31)) - 1) << (a & 31); }

}  // namespace ptx
}  // namespace cu2port
