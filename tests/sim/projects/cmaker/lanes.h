#pragma once
// Defined in another unit: device code is linked (-rdc).
__device__ int rank_in_warp(bool keep);
extern __device__ int calls;
