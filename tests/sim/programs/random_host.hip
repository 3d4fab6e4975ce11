// hipRAND's functions of the host: what they draw, and what a seed gives again.
#include <cstdio>
#include <cmath>
#include <vector>
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>
int bad;
void want(bool ok, const char* what) { if (!ok) std::printf("no: %s\n", what), bad = 1; }
template <class T> std::vector<double> back(T* d, int n) {
    std::vector<T> h(n);
    hipMemcpy(h.data(), d, n * sizeof(T), hipMemcpyDeviceToHost);
    return std::vector<double>(h.begin(), h.end());
}
double mean(const std::vector<double>& v) { double s = 0; for (double x : v) s += x; return s / v.size(); }
double var(const std::vector<double>& v) { double m = mean(v), s = 0; for (double x : v) s += (x - m) * (x - m); return s / v.size(); }
int main() {
    const int n = 10001;
    float* f; double* d; unsigned* u; unsigned long long* l;
    hipMalloc(&f, n * 4); hipMalloc(&d, n * 8); hipMalloc(&u, n * 4); hipMalloc(&l, n * 8);
    hiprandGenerator_t g, h;
    hipStream_t s; hipStreamCreate(&s);
    want(!hiprandCreateGenerator(&g, HIPRAND_RNG_PSEUDO_DEFAULT), "create");
    want(!hiprandSetPseudoRandomGeneratorSeed(g, 42) && !hiprandSetStream(g, s), "set");
    want(!hiprandGenerateUniform(g, f, n), "uniform");
    auto a = back(f, n);
    for (double x : a) want(x > 0 && x <= 1, "range");
    want(std::fabs(mean(a) - .5) < .02 && std::fabs(var(a) - 1. / 12) < .005, "uniform");
    hiprandGenerateUniform(g, f, n);
    want(back(f, n) != a, "the next are others");
    hiprandSetPseudoRandomGeneratorSeed(g, 42);
    hiprandGenerateUniform(g, f, 10), hiprandGenerateUniform(g, f + 10, n - 10);
    want(back(f, n) == a, "a seed gives the same again, in parts too");
    want(!hiprandCreateGenerator(&h, HIPRAND_RNG_PSEUDO_PHILOX4_32_10), "another");
    hiprandSetPseudoRandomGeneratorSeed(h, 42), hiprandGenerateUniform(h, f, n);
    want(back(f, n) != a, "another generator");
    hiprandGenerateNormal(g, f, n - 1, 3, 2), a = back(f, n - 1);
    want(std::fabs(mean(a) - 3) < .1 && std::fabs(var(a) - 4) < .2, "normal");
    hiprandGenerateNormalDouble(g, d, n, 3, 2), a = back(d, n);
    want(std::fabs(mean(a) - 3) < .1 && std::fabs(var(a) - 4) < .2, "normal double");
    hiprandGenerateLogNormal(g, f, n - 1, 0, .5f), a = back(f, n - 1);
    want(std::fabs(mean(a) - std::exp(.125)) < .05, "log normal");
    hiprandGenerateUniformDouble(g, d, n), want(std::fabs(mean(back(d, n)) - .5) < .02, "uniform double");
    hiprandGeneratePoisson(g, u, n, 7.5), a = back(u, n);
    want(std::fabs(mean(a) - 7.5) < .2 && std::fabs(var(a) - 7.5) < .6, "poisson");
    hiprandGenerate(g, u, n), want(std::fabs(mean(back(u, n)) / 4294967296. - .5) < .02, "bits");
    want(hiprandGenerateLongLong(g, l, n) == 0, "64 bits");
    want(hiprandGenerateUniform(g, f, n + 100000) != 0, "more than the memory");
    want(!hiprandDestroyGenerator(g) && !hiprandDestroyGenerator(h), "destroy");
    std::vector<float> own(n);
    want(!hiprandCreateGeneratorHost(&g, HIPRAND_RNG_PSEUDO_MT19937) && !hiprandGenerateUniform(g, own.data(), n), "host");
    want(std::fabs(mean({own.begin(), own.end()}) - .5) < .02, "on the host");
    want(hiprandSetGeneratorOffset(g, 1) == HIPRAND_STATUS_TYPE_ERROR, "offset");
    want(!hiprandCreateGenerator(&h, HIPRAND_RNG_QUASI_SOBOL32) && hiprandGenerateUniform(h, f, n) != 0, "quasi");
    return bad;
}
