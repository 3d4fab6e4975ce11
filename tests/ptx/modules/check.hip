// Runs the kernels that `cu2port ptx` made, and compares with what the CUDA source computes.
#include "kernels.hip"
#include <cstdio>
#include <cstring>
#include <vector>

struct Pair {
    int a;
    float b[3];
};

static const int table_[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static bool ok = true;

static void expect(const char* what, int i, long long got, long long wanted) {
    if (got != wanted && ok) std::printf("%s %d: %lld instead of %lld\n", what, i, got, wanted);
    ok = ok && got == wanted;
}

template <class T> static T* on_device(const std::vector<T>& host) {
    T* p = nullptr;
    if (hipMalloc(&p, host.size() * sizeof(T)) != hipSuccess) return nullptr;
    (void)hipMemcpy(p, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice);
    return p;
}

template <class T> static std::vector<T> back(const T* p, int n) {
    std::vector<T> host(n);
    (void)hipMemcpy(host.data(), p, n * sizeof(T), hipMemcpyDeviceToHost);
    return host;
}

template <class T> static std::uint64_t address(T* p) { return reinterpret_cast<std::uint64_t>(p); }

static int mixed(int x, Pair p) { return x * 3 + p.a + (int)p.b[1]; }

static unsigned long long walked(unsigned long long x) {
    while (x & 1) {
        x = x * 5 + 1;
        if (x > 1000000) break;
        switch (x % 5) {
            case 0: x += 2; break;
            case 1: x ^= 3; break;
            case 2: x -= 9; break;
            default: x >>= 1;
        }
    }
    return x;
}

int main() {
    const int n = 1000;
    std::vector<float> x(n), y(n);
    std::vector<int> in(n);
    std::vector<unsigned long long> words(n);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        x[i] = i * 0.5f;
        y[i] = 3 - i;
        sum += in[i] = i * 37 % 101;
        words[i] = (i * 2654435761u) % 97;
    }

    float* dev_y = on_device(y);
    axpy<<<(n + 127) / 128, 128>>>(2.5f, address(on_device(x)), address(dev_y), n);
    const std::vector<float> sums = back(dev_y, n);
    for (int i = 0; i < n; ++i) expect("axpy", i, (long long)(sums[i] * 4), (long long)((2.5f * x[i] + y[i]) * 4));

    int* dev_out = on_device(std::vector<int>(64));
    reduce<<<1, 256>>>(address(on_device(in)), address(dev_out), n);
    expect("reduce", 0, back(dev_out, 1)[0], sum + table_[n & 7] + 7);

    const Pair given = {5, {1.5f, 2.5f, 3.5f}}, made = {5, {3.5f, 7.0f, 1.0f}};
    bytes16_4 bytes;
    std::memcpy(&bytes, &given, sizeof bytes);
    structs<<<1, 64>>>(bytes, address(dev_out));
    const std::vector<int> mixes = back(dev_out, 64);
    for (int i = 0; i < 64; ++i) expect("structs", i, mixes[i], mixed(i, made) + mixed(1, given) + table_[i & 1 ? 0 : 2]);

    unsigned long long* dev_words = on_device(std::vector<unsigned long long>(64, 5));
    dynamic<<<1, 64, 64 * 8>>>(address(dev_words), address(on_device(words)), n);
    const std::vector<unsigned long long> after = back(dev_words, 64);
    for (int t = 0; t < 64; ++t) {
        const int u = (t + 1) % 64;
        const unsigned long long start = words[((words[u] & 15) * 7 + u) % n];
        expect("dynamic", t, after[t], walked(start) + 5);
    }

    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return !ok;
}
