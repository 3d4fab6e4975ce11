// cuda::std by the C++ library, which it follows. Every header <cuda/std/...> of a trial's CUDA side is this one.
#pragma once

#include "../cuda_runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <ratio>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#if __cplusplus >= 202002L
#include <bit>
#include <concepts>
#include <numbers>
#include <span>
#endif

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
