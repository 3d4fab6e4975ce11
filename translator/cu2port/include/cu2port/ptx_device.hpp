// cu2port ptx_device: what lanes do together, fences, clocks and other special registers. Included by ptx.hpp.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
#ifndef CU2PORT_PTX_DEVICE_HPP
#define CU2PORT_PTX_DEVICE_HPP

#include "warp.hpp"

#define CU2PORT_PTX_DEVICE __device__ inline __attribute__((__always_inline__))
#ifdef __clang__  // a lane that is not read need not have set its value
#define CU2PORT_PTX_VALUE __attribute__((maybe_undef))
#else
#define CU2PORT_PTX_VALUE
#endif

namespace cu2port {
namespace ptx {

// --- shuffles with a clamp and segments of their own; c is ((32 - width) << 8) | clamp -------------------------------

CU2PORT_PTX_DEVICE u32 shfl_last(u32 c) { return (warp::lane_id() & c >> 8 & 31) | (c & ~(c >> 8) & 31); }
CU2PORT_PTX_DEVICE u32 shfl_idx_from(u32 b, u32 c) { return (warp::lane_id() & c >> 8 & 31) | (b & ~(c >> 8) & 31); }
// Whether the lane that is asked for can be reached: the predicate that shfl may give.
CU2PORT_PTX_DEVICE bool shfl_up_reaches(u32 b, u32 c) { return s32(warp::lane_id() - b) >= s32(shfl_last(c)); }
CU2PORT_PTX_DEVICE bool shfl_down_reaches(u32 b, u32 c) { return warp::lane_id() + b <= shfl_last(c); }
CU2PORT_PTX_DEVICE bool shfl_bfly_reaches(u32 b, u32 c) { return (warp::lane_id() ^ b) <= shfl_last(c); }
CU2PORT_PTX_DEVICE bool shfl_idx_reaches(u32 b, u32 c) { return shfl_idx_from(b, c) <= shfl_last(c); }
// A lane out of reach leaves a lane its own value.
template <class T> CU2PORT_PTX_DEVICE T shfl_up(CU2PORT_PTX_VALUE T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_up_reaches(b, c) ? warp::lane_id() - b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_down(CU2PORT_PTX_VALUE T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_down_reaches(b, c) ? warp::lane_id() + b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_bfly(CU2PORT_PTX_VALUE T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_bfly_reaches(b, c) ? warp::lane_id() ^ b : warp::lane_id()));
}
template <class T> CU2PORT_PTX_DEVICE T shfl_idx(CU2PORT_PTX_VALUE T a, u32 b, u32 c, u32 mask) {
    return warp::shfl(mask, a, int(shfl_idx_reaches(b, c) ? shfl_idx_from(b, c) : warp::lane_id()));
}

template <class T> CU2PORT_PTX_DEVICE u32 match_all(u32 mask, CU2PORT_PTX_VALUE T value) {
    int same;
    return warp::match_all(mask, value, &same);
}

// --- textures and surfaces, by HIP's objects -------------------------------------------------------------------------

// HIP's vector of four for what PTX reads, and of one, two or four for what surfaces hold.
template <class V_> struct Texel;
template <> struct Texel<f32x4> { typedef float4 type; };
template <> struct Texel<s32x4> { typedef int4 type; };
template <> struct Texel<u32x4> { typedef uint4 type; };
template <> struct Texel<u8> { typedef uchar1 type; };
template <> struct Texel<u16> { typedef ushort1 type; };
template <> struct Texel<u32> { typedef uint1 type; };
template <> struct Texel<u8x2> { typedef uchar2 type; };
template <> struct Texel<u16x2> { typedef ushort2 type; };
template <> struct Texel<u32x2> { typedef uint2 type; };
template <> struct Texel<u8x4> { typedef uchar4 type; };
template <> struct Texel<u16x4> { typedef ushort4 type; };

#define CU2PORT_PTX_TEX(function, parameters, call)                                                              \
    template <class V_> CU2PORT_PTX_DEVICE V_ function parameters {                                             \
        typedef typename Texel<V_>::type T;                                                                  \
        const hipTextureObject_t t = reinterpret_cast<hipTextureObject_t>(address(texture));                 \
        return __builtin_bit_cast(V_, call);                                                                 \
    }
CU2PORT_PTX_TEX(tex_1d, (u64 texture, float x), (::tex1D<T>(t, x)))
CU2PORT_PTX_TEX(tex_2d, (u64 texture, float x, float y), (::tex2D<T>(t, x, y)))
CU2PORT_PTX_TEX(tex_3d, (u64 texture, float x, float y, float z), (::tex3D<T>(t, x, y, z)))
CU2PORT_PTX_TEX(tex_a1d, (u64 texture, u32 layer, float x), (::tex1DLayered<T>(t, x, int(layer))))
CU2PORT_PTX_TEX(tex_a2d, (u64 texture, u32 layer, float x, float y), (::tex2DLayered<T>(t, x, y, int(layer))))
#if !defined(CU2PORT_SIMULATED)
CU2PORT_PTX_TEX(tex_cube, (u64 texture, float x, float y, float z), (::texCubemap<T>(t, x, y, z)))
#endif
CU2PORT_PTX_TEX(tex_1d_fetch, (u64 texture, s32 x), (::tex1Dfetch<T>(t, x)))
CU2PORT_PTX_TEX(tex_level_1d, (u64 texture, float x, float level), (::tex1DLod<T>(t, x, level)))
CU2PORT_PTX_TEX(tex_level_2d, (u64 texture, float x, float y, float level), (::tex2DLod<T>(t, x, y, level)))
CU2PORT_PTX_TEX(tex_level_3d, (u64 texture, float x, float y, float z, float level), (::tex3DLod<T>(t, x, y, z, level)))
CU2PORT_PTX_TEX(tex_level_a1d, (u64 texture, u32 layer, float x, float level),
                (::tex1DLayeredLod<T>(t, x, int(layer), level)))
CU2PORT_PTX_TEX(tex_level_a2d, (u64 texture, u32 layer, float x, float y, float level),
                (::tex2DLayeredLod<T>(t, x, y, int(layer), level)))
CU2PORT_PTX_TEX(tex_grad_1d, (u64 texture, float x, float dx, float dy), (::tex1DGrad<T>(t, x, dx, dy)))
CU2PORT_PTX_TEX(tex_grad_2d, (u64 texture, float x, float y, float x0, float y0, float x1, float y1),
                (::tex2DGrad<T>(t, x, y, ::float2{x0, y0}, ::float2{x1, y1})))
CU2PORT_PTX_TEX(tld4_r, (u64 texture, float x, float y), (::tex2Dgather<T>(t, x, y, 0)))
CU2PORT_PTX_TEX(tld4_g, (u64 texture, float x, float y), (::tex2Dgather<T>(t, x, y, 1)))
CU2PORT_PTX_TEX(tld4_b, (u64 texture, float x, float y), (::tex2Dgather<T>(t, x, y, 2)))
CU2PORT_PTX_TEX(tld4_a, (u64 texture, float x, float y), (::tex2Dgather<T>(t, x, y, 3)))
#undef CU2PORT_PTX_TEX

#define CU2PORT_PTX_SURF(g, parameters, function, place)                                                     \
    template <class V_> CU2PORT_PTX_DEVICE V_ suld_##g parameters {                                         \
        typename Texel<V_>::type out;                                                                        \
        ::function##read(&out, reinterpret_cast<hipSurfaceObject_t>(address(surface)), CU2PORT_PTX_AT place);\
        return __builtin_bit_cast(V_, out);                                                                  \
    }
#define CU2PORT_PTX_AT(...) __VA_ARGS__
CU2PORT_PTX_SURF(1d, (u64 surface, s32 x), surf1D, (x))
CU2PORT_PTX_SURF(2d, (u64 surface, s32 x, s32 y), surf2D, (x, y))
CU2PORT_PTX_SURF(3d, (u64 surface, s32 x, s32 y, s32 z), surf3D, (x, y, z))
CU2PORT_PTX_SURF(a1d, (u64 surface, u32 layer, s32 x), surf1DLayered, (x, int(layer)))
CU2PORT_PTX_SURF(a2d, (u64 surface, u32 layer, s32 x, s32 y), surf2DLayered, (x, y, int(layer)))
#undef CU2PORT_PTX_SURF
#define CU2PORT_PTX_SURF(g, parameters, function, place)                                                     \
    template <class V_, class... E_> CU2PORT_PTX_DEVICE void sust_##g parameters {                          \
        const V_ value{typename Parts<V_>::element(e)...};                                                   \
        ::function##write(__builtin_bit_cast(typename Texel<V_>::type, value),                               \
                          reinterpret_cast<hipSurfaceObject_t>(address(surface)), CU2PORT_PTX_AT place);     \
    }
CU2PORT_PTX_SURF(1d, (u64 surface, s32 x, E_... e), surf1D, (x))
CU2PORT_PTX_SURF(2d, (u64 surface, s32 x, s32 y, E_... e), surf2D, (x, y))
CU2PORT_PTX_SURF(3d, (u64 surface, s32 x, s32 y, s32 z, E_... e), surf3D, (x, y, z))
CU2PORT_PTX_SURF(a1d, (u64 surface, u32 layer, s32 x, E_... e), surf1DLayered, (x, int(layer)))
CU2PORT_PTX_SURF(a2d, (u64 surface, u32 layer, s32 x, s32 y, E_... e), surf2DLayered, (x, y, int(layer)))
#undef CU2PORT_PTX_SURF
#undef CU2PORT_PTX_AT

// --- fences ----------------------------------------------------------------------------------------------------------

#ifdef CU2PORT_SIMULATED
#define CU2PORT_PTX_FENCE(function, order, scope) CU2PORT_PTX_DEVICE void function() { __threadfence_system(); }
#else
#define CU2PORT_PTX_FENCE(function, order, scope) \
    CU2PORT_PTX_DEVICE void function() { __builtin_amdgcn_fence(order, scope); }
#endif
#define CU2PORT_PTX_FENCES(kind, order)                               \
    CU2PORT_PTX_FENCE(fence_##kind##_cta, order, "workgroup")         \
    CU2PORT_PTX_FENCE(fence_##kind##_cluster, order, "workgroup")     \
    CU2PORT_PTX_FENCE(fence_##kind##_gpu, order, "agent")             \
    CU2PORT_PTX_FENCE(fence_##kind##_sys, order, "")
CU2PORT_PTX_FENCES(sc, __ATOMIC_SEQ_CST)
CU2PORT_PTX_FENCES(acq_rel, __ATOMIC_ACQ_REL)
CU2PORT_PTX_FENCES(acquire, __ATOMIC_ACQUIRE)
CU2PORT_PTX_FENCES(release, __ATOMIC_RELEASE)
#undef CU2PORT_PTX_FENCES
#undef CU2PORT_PTX_FENCE

// --- special registers -----------------------------------------------------------------------------------------------

// Which warp of the block; threads count along x, then y, then z.
CU2PORT_PTX_DEVICE u32 warpid() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}
CU2PORT_PTX_DEVICE u32 smid() { return __smid(); }
// An address in the shared memory of a block of the cluster. A cluster is one block, so that there is no other.
template <class T>
CU2PORT_PTX_DEVICE T mapa(T own, u32 block) {
    if (block != 0) __builtin_trap();
    return own;
}
// Ticks of the compute unit's clock.
CU2PORT_PTX_DEVICE u64 clock64() { return u64(::clock64()); }
// Nanoseconds, of a clock that counts in steps of ten.
CU2PORT_PTX_DEVICE u64 globaltimer() { return u64(::wall_clock64()) * 10; }

// Waits for about so many nanoseconds, at most twice as long.
CU2PORT_PTX_DEVICE void nanosleep(u32 nanoseconds) {
#ifdef CU2PORT_SIMULATED
    (void)nanoseconds;
    __builtin_amdgcn_s_sleep(1);
#else
    for (u32 left = nanoseconds / 32; left > 0; --left) __builtin_amdgcn_s_sleep(1);  // 64 ticks of a clock near 2 GHz
#endif
}

#if defined(__clang__)
CU2PORT_PTX_DEVICE void brkpt() { __builtin_debugtrap(); }
#else
CU2PORT_PTX_DEVICE void brkpt() { __builtin_trap(); }
#endif

#if defined(__HIP_DEVICE_COMPILE__) && !defined(CU2PORT_SIMULATED)
// Bytes of shared memory that the launch asked for: part of what the runtime passes to each kernel (code object 5 on).
CU2PORT_PTX_DEVICE u32 dynamic_smem_size() {
    return *(const u32*)((const CU2PORT_PTX_SPACE(4) char*)__builtin_amdgcn_implicitarg_ptr() + 120);
}
CU2PORT_PTX_DEVICE u32 total_smem_size() { return __builtin_amdgcn_groupstaticsize() + dynamic_smem_size(); }
#else
CU2PORT_PTX_DEVICE u32 dynamic_smem_size() { return 0; }
CU2PORT_PTX_DEVICE u32 total_smem_size() { return 0; }
#endif

}  // namespace ptx
}  // namespace cu2port

#undef CU2PORT_PTX_DEVICE
#undef CU2PORT_PTX_VALUE

#endif  // CU2PORT_PTX_DEVICE_HPP
