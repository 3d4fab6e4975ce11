// CUDA's device language on the simulator, for the CUDA side of `cu2port trial`: warps of 32 lanes, CUDA's own
// cross-lane operations. Math, atomics and memory are the simulator's, which HIP's side uses as well.
#pragma once

#define CU2PORT_SIM_CUDA 1
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 800
#define CUDA_VERSION 12040
#define CUDART_VERSION 12040
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4

#include "../hip/hip_runtime.h"
#include "device.h"

#define __grid_constant__
#define __inline__ inline
#define __device_builtin__
#define __cluster_dims__(...)
#define __nv_pure__
#define CUDART_CB
