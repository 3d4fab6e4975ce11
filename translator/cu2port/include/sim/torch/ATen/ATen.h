#ifdef CU2PORT_IN_TORCH
#include_next <ATen/ATen.h>
#else
#define CU2PORT_IN_TORCH
#undef is_cuda
#undef kCUDA
#undef CUDA
#include_next <ATen/ATen.h>
#undef CU2PORT_IN_TORCH
#include <cu2port_torch/host.h>
#endif
