#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "parts.h"

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) return 2;
    std::vector<float> x(40, 2.0f);
    scale_on_device(x.data(), 40, 1.0f);
    const float sum = sum_on_device(x.data(), 40);
    std::printf("%s: sum %g\n", sum == 280 ? "ok" : "wrong", sum);
    return sum != 280;
}
