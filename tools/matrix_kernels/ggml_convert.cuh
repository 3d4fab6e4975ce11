// See ggml_common.cuh.
#pragma once
#include "common.cuh"
