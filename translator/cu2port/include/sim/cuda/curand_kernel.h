// cuRAND's device functions by hipRAND's, whose numbers both sides of a trial draw.
#pragma once
#include "cuda_runtime.h"
#include "../hiprand/hiprand_kernel.h"
