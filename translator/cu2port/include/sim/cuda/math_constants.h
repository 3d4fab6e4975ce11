#pragma once
#include "cuda_runtime.h"
#include "../hip/hip_math_constants.h"
