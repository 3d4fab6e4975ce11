#pragma once

// Sums n numbers on the device; every thread block makes one sum of its part.
float sum_on_device(const float* host, int n);
// Multiplies n numbers by SCALE and adds an offset that lies in constant memory.
void scale_on_device(float* host, int n, float offset);
