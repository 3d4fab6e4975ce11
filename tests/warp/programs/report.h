// What the programs of this folder share: arrays to the device and back, and the verdict.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <vector>

template <class T>
T* sent(const std::vector<T>& host) {
    T* device = nullptr;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

// Prints PASS when the device's array holds what is wanted; returns the exit code.
template <class T>
int report(const T* device, const std::vector<T>& wanted) {
    std::vector<T> got(wanted.size());
    if (cudaMemcpy(got.data(), device, got.size() * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) {
        std::printf("FAIL: no result\n");
        return 1;
    }
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != wanted[i]) {
            std::printf("FAIL: [%zu] is %lld, not %lld\n", i, static_cast<long long>(got[i]),
                        static_cast<long long>(wanted[i]));
            return 1;
        }
    std::printf("PASS\n");
    return 0;
}

// Numbers that look like chance: the same on every machine.
inline std::vector<int> numbers(int n, int below) {
    std::vector<int> out(n);
    unsigned state = 12345;
    for (int& x : out) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<int>(state >> 8) % below;
    }
    return out;
}
