// rocThrust's tuple.h also has thrust::swap, which CCCL has in another header.
#pragma once
#include_next <thrust/tuple.h>

#include <cuda/std/utility>

THRUST_NAMESPACE_BEGIN
using ::cuda::std::swap;
THRUST_NAMESPACE_END
