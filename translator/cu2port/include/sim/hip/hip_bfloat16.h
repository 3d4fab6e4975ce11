// The older bfloat16 type: a struct that converts to and from float.
#pragma once

#include "hip_runtime.h"
#include "../cu2port_sim/small_floats.h"

CU2PORT_SIM_SMALL(hip_bfloat16, cu2port_sim_old_bfloat16, bf16_bits, bf16_value)
