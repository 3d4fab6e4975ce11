// HIP on the CPU: what cu2port's simulator gives programs in place of ROCm's header of this name.
#pragma once

#ifndef CU2PORT_SIM_CUDA  // cuda/cuda_runtime.h includes this header, too
#ifndef CU2PORT_SIM_HOST  // a unit for the host's compiler, which has neither of these two
#ifndef __HIPCC__
#define __HIPCC__ 1
#endif
#ifndef __HIP__
#define __HIP__ 1
#endif
#endif
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#endif
#define CU2PORT_SIMULATED 1
#ifndef CU2PORT_SIM_CUDA  // ROCm's include guards: projects ask for them
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_DRIVER_TYPES_H
#endif

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#pragma GCC visibility push(default)  // one state for all libraries of a process, however they are compiled
#include "../cu2port_sim/core.h"
#include "../cu2port_sim/host.h"
#include "../cu2port_sim/vectors.h"
#include "../cu2port_sim/maths.h"
#include "../cu2port_sim/atomics.h"
#include "../cu2port_sim/warp.h"
#ifndef CU2PORT_SIM_CUDA
#include "../cu2port_sim/amdgcn.h"
#include "../cu2port_sim/matrix.h"
#endif
#include "../cu2port_sim/launch.h"
#include "../cu2port_sim/more_api.h"
#include "../cu2port_sim/named.h"
#include "../cu2port_sim/mapped.h"
#include "../cu2port_sim/graphs.h"
#include "../cu2port_sim/textures.h"
#include "../cu2port_sim/surfaces.h"
#include "../cu2port_sim/driver_calls.h"
#pragma GCC visibility pop
#include "hip_version.h"
#include "library_types.h"

#ifndef CU2PORT_SIM_SIDE
#define __global__
#elif defined(__clang__) && CU2PORT_SIM_SIDE == 1
#define __global__ __attribute__((noinline, used, optnone, visibility("protected")))
#elif defined(__clang__)
#define __global__ __attribute__((noinline, used, visibility("protected")))
#else  // the compiler may not know what a kernel does; by its visibility it is found in an object
#define __global__ __attribute__((noipa, visibility("protected")))
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __noinline__ __attribute__((noinline))
#ifdef __OPTIMIZE__
#define __forceinline__ inline __attribute__((always_inline))
#else  // g++ would inline at -O0 too, which takes it up to four times as long
#define __forceinline__ inline
#define __always_inline__ unused  // as our headers write it; a program's own `always_inline` is its own
#endif
#define __launch_bounds__(...)
#ifndef __clang__
#define __builtin_assume(...) static_cast<void>(0)
#endif
#ifndef __shared__
// Uninstrumented code: one block at a time runs on an OS thread.
#define __shared__ static thread_local
#endif
#define __align__(n) __attribute__((aligned(n)))
#define HIP_DYNAMIC_SHARED(T, name) T* name = reinterpret_cast<T*>(cu2port_sim::now.dynamic);
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

// The older spellings of the indices.
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
