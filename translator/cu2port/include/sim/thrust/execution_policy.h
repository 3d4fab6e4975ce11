// CCCL's header of this name, and the policies of rocThrust's HIP system.
#pragma once

#include_next <thrust/execution_policy.h>

#include <thrust/system/hip/execution_policy.h>
