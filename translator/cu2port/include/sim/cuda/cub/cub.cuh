// CUB's collectives by hipCUB's, which both sides of a trial share.
#pragma once
#include "../cuda_runtime.h"
#include "../../hipcub/hipcub.hpp"

namespace cub {
using namespace hipcub;
}
