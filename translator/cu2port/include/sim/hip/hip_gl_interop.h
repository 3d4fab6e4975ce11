// Programs with OpenGL build; no call reaches it, and each says once that it is not simulated.
#pragma once
#include "hip_runtime.h"

enum hipGLDeviceList { hipGLDeviceListAll = 1, hipGLDeviceListCurrentFrame = 2, hipGLDeviceListNextFrame = 3 };
typedef unsigned int GLuint;
typedef unsigned int GLenum;

#define CU2PORT_SIM_NOT(name)                             \
    template <class... A>                                 \
    inline hipError_t name(A&&...) {                      \
        cu2port_sim::not_supported(#name);                \
        cu2port_sim::last_error() = hipErrorNotSupported; \
        return hipErrorNotSupported;                      \
    }
CU2PORT_SIM_NOT(hipGLGetDevices)
CU2PORT_SIM_NOT(hipGraphicsGLRegisterBuffer)
CU2PORT_SIM_NOT(hipGraphicsGLRegisterImage)
#undef CU2PORT_SIM_NOT
