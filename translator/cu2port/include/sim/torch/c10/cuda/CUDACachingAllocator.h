#pragma once
#include <cu2port_torch/torch.h>
