// thrust::hip_category(): errors of HIP's runtime as error codes of Thrust.
#pragma once

#include <string>

#include <thrust/detail/config.h>
#include <thrust/system/error_code.h>

#include "../../../hip/hip_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace system {

class hip_error_category : public error_category {
public:
    const char* name() const override { return "hip"; }
    std::string message(int code) const override {
        const auto error = static_cast<hipError_t>(code);
        return std::string(hipGetErrorName(error)) + ": " + hipGetErrorString(error);
    }
};
inline const error_category& hip_category() {
    static const hip_error_category category;
    return category;
}

}  // namespace system
using system::hip_category;
THRUST_NAMESPACE_END
