// What bitsandbytes' GEMM uses of its compat.cuh, without the libraries that the rest of it includes.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define BNB_HIP 0
using bnb_bfloat16 = __nv_bfloat16;
using bnb_bfloat162 = __nv_bfloat162;
