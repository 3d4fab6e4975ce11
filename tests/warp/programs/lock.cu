// A lock that one lane of each warp takes: warps that share a wavefront wait for themselves. Solo only.
#include "report.h"

__global__ void locked(int* lock, int* sum) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        *sum += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

int main() {
    int* lock = sent(std::vector<int>(1));
    int* sum = sent(std::vector<int>(1));
    locked<<<2, 128>>>(lock, sum);
    return report(sum, {8});
}
