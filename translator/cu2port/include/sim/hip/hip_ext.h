// The simulator has one header for host and device.
#pragma once
#include "hip_runtime.h"
