// In place of a library's header that is not there: what such headers bring along.
#pragma once

extern "C++" {  // an include may be in a block of `extern "C"`
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#ifdef CU2PORT_TRIAL_SMALL_FLOATS
#ifdef CU2PORT_SIM_CUDA
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#else
#include "hip/hip_bf16.h"
#include "hip/hip_fp16.h"
#endif
#endif
}
