#ifdef CU2PORT_IN_TORCH
#include_next <torch/all.h>
#else
#define CU2PORT_IN_TORCH
#undef is_cuda
#undef kCUDA
#undef CUDA
#include_next <torch/all.h>
#undef CU2PORT_IN_TORCH
#include <cu2port_torch/host.h>
#endif
