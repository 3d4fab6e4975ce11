#include <cstdio>
#include <cstdlib>
#include <vector>

#include "parts.h"

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 100;
    std::vector<float> x(n, 1.0f);
    scale_on_device(x.data(), n, 4.0f);  // 7
    // `offset` of reduce.cu is another variable, still 0
    const float sum = sum_on_device(x.data(), n);
    std::printf("%s: sum %g\n", sum == 7.0f * n ? "ok" : "wrong", sum);
    return sum != 7.0f * n;
}
