// Programs with OpenGL build; no call reaches it, and each says once that it is not simulated (cu2port_sim/not_simulated.h).
#pragma once
#include "hip_runtime.h"

typedef unsigned int GLuint;
typedef unsigned int GLenum;
