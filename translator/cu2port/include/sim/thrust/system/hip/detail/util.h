// The stream of an execution policy, as rocThrust's back end tells it to programs that copy with it.
#pragma once

#include <thrust/system/hip/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace hip_rocprim {

template <class Policy>
hipStream_t stream(const Policy&) {
    return nullptr;
}
inline hipStream_t stream(const system::hip::par_t& policy) { return policy.stream; }

}  // namespace hip_rocprim
THRUST_NAMESPACE_END
