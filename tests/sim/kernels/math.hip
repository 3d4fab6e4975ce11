// Functions of CUDA's math library that HIP has for double alone: cu2port/host_math.hpp has float too. And
// the division that stops x86 and no GPU: the least number by -1, with the divisor in a register and in memory.
#include "suite.h"

#include "cu2port/host_math.hpp"

#include <climits>
#include <cmath>
#include <type_traits>

static const double X = 0.375;

template <class T>
__global__ void kernel(T* out, T x) {
    int n = 0;
#define CALL(name, ...)                                                                    \
    static_assert(std::is_same<decltype(cu2port::name(__VA_ARGS__)), T>::value, #name);     \
    out[n++] = cu2port::name(__VA_ARGS__);
    CALL(rsqrt, x) CALL(rcbrt, x) CALL(sinpi, x) CALL(cospi, x) CALL(normcdf, x)
    CALL(exp10, x) CALL(erfinv, x) CALL(erfcinv, x) CALL(erfcx, x) CALL(normcdfinv, x)
    CALL(j0, x) CALL(j1, x) CALL(jn, 2, x) CALL(y0, x) CALL(y1, x) CALL(yn, 2, x)
    CALL(cyl_bessel_i0, x) CALL(cyl_bessel_i1, x)
    cu2port::sincos(x, out + n, out + n + 1);
    cu2port::sincospi(x, out + n + 2, out + n + 3);
}

static double bessel(int order) {  // I0 and I1 by their series
    double term = order ? X / 2 : 1, sum = 0;
    for (int k = 1; k < 20; ++k) sum += term, term *= X * X / 4 / k / (k + order);
    return sum;
}

template <class T>
static void judge(double error) {
    Out<T> out(22);
    kernel<<<1, 1>>>(out.d, static_cast<T>(X));
    const std::vector<T> h = out.get();
    const struct { const char* name; double got, want; } rows[] = {
        {"rsqrt", h[0], 1 / std::sqrt(X)},
        {"rcbrt", h[1], 1 / std::cbrt(X)},
        {"sinpi", h[2], std::sin(M_PI * X)},
        {"cospi", h[3], std::cos(M_PI * X)},
        {"normcdf", h[4], 0.5 * std::erfc(-X / std::sqrt(2.0))},
        {"exp10", h[5], std::pow(10, X)},
        {"erfinv", std::erf(h[6]), X},
        {"erfcinv", std::erfc(h[7]), X},
        {"erfcx", h[8], std::exp(X * X) * std::erfc(X)},
        {"normcdfinv", 0.5 * std::erfc(-h[9] / std::sqrt(2.0)), X},
        {"j0", h[10], ::j0(X)},
        {"j1", h[11], ::j1(X)},
        {"jn", h[12], ::jn(2, X)},
        {"y0", h[13], ::y0(X)},
        {"y1", h[14], ::y1(X)},
        {"yn", h[15], ::yn(2, X)},
        {"cyl_bessel_i0", h[16], bessel(0)},
        {"cyl_bessel_i1", h[17], bessel(1)},
        {"sincos", h[18] * h[19], std::sin(X) * std::cos(X)},
        {"sincospi", h[20] * h[21], std::sin(M_PI * X) * std::cos(M_PI * X)},
    };
    for (const auto& row : rows) say(row.name, std::fabs(row.got - row.want) < error * (1 + std::fabs(row.want)));
}

__device__ volatile int minus_one = -1;
__device__ volatile long long minus_one_wide = -1;

template <class T>
__global__ void divisions(T* out, const T* number, const T* divisor) {
    __builtin_assume(blockDim.x == 64);
    const int i = threadIdx.x;
    const volatile T* again = divisor;
    const T n = number[i], d = divisor[i], constant = sizeof(T) == 8 ? T(minus_one_wide) : T(minus_one);
    T* o = out + 4 * i;
    o[0] = n / d, o[1] = n % again[i], o[2] = n / constant;
    o[3] = sizeof(T) == 8 ? T(number[i] % minus_one_wide) : T(number[i] % minus_one);
}

template <class T>
static void judge_divisions(const char* name, T least) {
    Out<T> number(64), divisor(64), out(256);
    std::vector<T> numbers(64), divisors(64);
    for (int i = 0; i < 64; ++i) numbers[i] = i % 2 ? least : T(i * 1000), divisors[i] = i % 3 ? T(-1) : T(7);
    (void)hipMemcpy(number.d, numbers.data(), 64 * sizeof(T), hipMemcpyHostToDevice);
    (void)hipMemcpy(divisor.d, divisors.data(), 64 * sizeof(T), hipMemcpyHostToDevice);
    divisions<<<1, 64>>>(out.d, number.d, divisor.d);
    say(name, all(out, [&](int i) {
            const __int128 n = numbers[i / 4], d = i % 4 < 2 ? divisors[i / 4] : T(-1);
            return i % 2 ? n % d : n / d;
        }));
}

int main() {
    judge_divisions<int>("division of int", INT_MIN);
    judge_divisions<long long>("division of long long", LLONG_MIN);
    judge<float>(1e-6);
    judge<double>(1e-13);
}
