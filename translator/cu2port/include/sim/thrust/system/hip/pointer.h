// Pointers of rocThrust's back end: Thrust's algorithms run on the host, so they are those of plain C++.
#pragma once

#include <thrust/system/cpp/pointer.h>

#include "execution_policy.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace hip {
using thrust::system::cpp::pointer;
using thrust::system::cpp::reference;
using thrust::system::cpp::universal_pointer;
}  // namespace hip
}  // namespace system
THRUST_NAMESPACE_END
