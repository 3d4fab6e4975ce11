// hipCUB on the CPU: function objects and iterators, an allocator, the collectives of warps and blocks, the algorithms for
// a device.
#pragma once

#include "types.h"
#include "allocator.h"
#include "warp.h"
#include "block.h"
#include "block_sort.h"
#include "block_merge.h"
#include "device.h"
#include "device_sort.h"
