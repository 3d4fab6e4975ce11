// CCCL's header of this name, and what comes with it where Thrust's device is a GPU.
#pragma once

#include_next <thrust/device_ptr.h>

#include <thrust/system/hip/execution_policy.h>
#include <thrust/system_error.h>
