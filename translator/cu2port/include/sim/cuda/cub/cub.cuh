// CUB's collectives by hipCUB's, which both sides of a trial share.
#pragma once
#include "../cuda_runtime.h"
#include "../../hip/hip_bf16.h"
#include "../../hipcub/hipcub.hpp"

namespace hipcub {
template <>
struct FpLimits<__hip_bfloat16> : detail::SmallLimits<__hip_bfloat16, 0x7f7f> {};  // CUDA's own; hipCUB has none for it
}  // namespace hipcub
namespace cub {
using namespace hipcub;
}
