// The HIP version that the simulator's headers follow.
#pragma once
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 1
#define HIP_VERSION_PATCH 0
#ifndef HIP_VERSION  // extensions of torch are compiled with CUDA's (standin/extensions.py)
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
#endif
