// thrust::hip::par and its kin: Thrust's algorithms run on the host, at once, on whatever stream.
#pragma once

#include <thrust/detail/config.h>
#include <thrust/system/cpp/execution_policy.h>

#include "../../../hip/hip_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace hip {

struct par_t : thrust::system::cpp::execution_policy<par_t> {
    hipStream_t stream = nullptr;

    par_t on(hipStream_t s) const {
        par_t out;
        out.stream = s;
        return out;
    }
    template <class Allocator>
    par_t operator()(Allocator&&) const { return *this; }  // of temporary memory
};
inline constexpr par_t par{}, par_nosync{};
using thrust::system::cpp::tag;

}  // namespace hip
}  // namespace system
namespace hip {
using namespace thrust::system::hip;
}
THRUST_NAMESPACE_END
