#ifdef CU2PORT_IN_TORCH
#include_next <torch/extension.h>
#else
#define CU2PORT_IN_TORCH
#undef is_cuda
#undef kCUDA
#undef CUDA
#include_next <torch/extension.h>
#undef CU2PORT_IN_TORCH
#include <cu2port_torch/host.h>
#endif
