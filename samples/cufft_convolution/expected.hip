// Circular convolution of two real signals through their spectra.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>
#include <hipfft/hipfft.h>

static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}
static void check(hipError_t status) { require(status == hipSuccess, hipGetErrorString(status)); }
static void check(hipfftResult status) { require(status == HIPFFT_SUCCESS, "cuFFT error " + std::to_string(status)); }

// The product of two spectra, divided by the length: cuFFT leaves its inverse unscaled.
__global__ void multiply(const hipfftComplex* a, hipfftComplex* b, int n, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const hipFloatComplex product = hipCmulf(a[i], b[i]);
    b[i] = make_hipFloatComplex(scale * hipCrealf(product), scale * hipCimagf(product));
}

static std::vector<float> convolve(const std::vector<float>& x, const std::vector<float>& y) {
    const int n = int(x.size()), bins = n / 2 + 1;
    hipfftReal* signal;
    hipfftComplex *spectrum_x, *spectrum_y;
    check(hipMalloc(&signal, n * sizeof(hipfftReal)));
    check(hipMalloc(&spectrum_x, bins * sizeof(hipfftComplex)));
    check(hipMalloc(&spectrum_y, bins * sizeof(hipfftComplex)));

    hipfftHandle forward, inverse;
    hipStream_t stream;
    check(hipStreamCreate(&stream));
    check(hipfftPlan1d(&forward, n, HIPFFT_R2C, 1));
    int length = n;
    check(hipfftPlanMany(&inverse, 1, &length, nullptr, 1, bins, nullptr, 1, n, HIPFFT_C2R, 1));
    check(hipfftSetStream(forward, stream));
    check(hipfftSetStream(inverse, stream));

    check(hipMemcpyAsync(signal, x.data(), n * sizeof(float), hipMemcpyHostToDevice, stream));
    check(hipfftExecR2C(forward, signal, spectrum_x));
    check(hipMemcpyAsync(signal, y.data(), n * sizeof(float), hipMemcpyHostToDevice, stream));
    check(hipfftExecR2C(forward, signal, spectrum_y));
    multiply<<<(bins + 127) / 128, 128, 0, stream>>>(spectrum_x, spectrum_y, bins, 1.0f / n);
    check(hipGetLastError());
    check(hipfftExecC2R(inverse, spectrum_y, signal));

    std::vector<float> result(n);
    check(hipMemcpyAsync(result.data(), signal, n * sizeof(float), hipMemcpyDeviceToHost, stream));
    check(hipStreamSynchronize(stream));
    check(hipfftDestroy(forward));
    check(hipfftDestroy(inverse));
    check(hipStreamDestroy(stream));
    check(hipFree(signal));
    check(hipFree(spectrum_x));
    check(hipFree(spectrum_y));
    return result;
}

int main() {
    const int n = 512;
    std::vector<float> x(n), y(n, 0.0f);
    for (int i = 0; i < n; ++i) x[i] = std::sin(0.05f * i);
    for (int i = 0; i < 5; ++i) y[i] = 0.2f;

    const std::vector<float> got = convolve(x, y);
    bool ok = true;
    for (int i = 0; i < n; ++i) {
        float want = 0.0f;
        for (int j = 0; j < 5; ++j) want += 0.2f * x[(i - j + n) % n];
        ok = ok && std::fabs(got[i] - want) < 1e-4f;
    }
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
