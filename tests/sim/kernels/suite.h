// What the kernels of this folder share. Every program prints `ok NAME` or `FAIL NAME`, one a line.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

typedef unsigned long long u64;

static int wave_size() {
    int w = 0;
    (void)hipDeviceGetAttribute(&w, hipDeviceAttributeWarpSize, 0);
    return w;
}

static void say(const char* name, bool good) { printf("%s %s\n", good ? "ok" : "FAIL", name); }

// Device memory that is copied back when asked for.
template <class T>
struct Out {
    T* d = nullptr;
    int n;
    explicit Out(int n_) : n(n_) {
        (void)hipMalloc(&d, n * sizeof(T));
        (void)hipMemset(d, 0, n * sizeof(T));
    }
    ~Out() { (void)hipFree(d); }
    std::vector<T> get() const {
        std::vector<T> h(n);
        (void)hipMemcpy(h.data(), d, n * sizeof(T), hipMemcpyDeviceToHost);
        return h;
    }
};

template <class T, class F>
static bool all(const Out<T>& out, F want) {
    const std::vector<T> h = out.get();
    for (int i = 0; i < out.n; ++i)
        if (h[i] != static_cast<T>(want(i))) {
            printf("# %d is not as wanted\n", i);
            return false;
        }
    return true;
}
