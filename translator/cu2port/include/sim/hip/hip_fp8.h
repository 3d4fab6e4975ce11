// 8-bit floats in the formats of the Open Compute Project and of gfx942.
#pragma once

#include "hip_fp16.h"
#include "hip_bf16.h"
#include "../cu2port_sim/fp8.h"

#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1
