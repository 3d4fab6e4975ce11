// Circular convolution of two real signals through their spectra.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cufft.h>

static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}
static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }
static void check(cufftResult status) { require(status == CUFFT_SUCCESS, "cuFFT error " + std::to_string(status)); }

// The product of two spectra, divided by the length: cuFFT leaves its inverse unscaled.
__global__ void multiply(const cufftComplex* a, cufftComplex* b, int n, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const cuFloatComplex product = cuCmulf(a[i], b[i]);
    b[i] = make_cuFloatComplex(scale * cuCrealf(product), scale * cuCimagf(product));
}

static std::vector<float> convolve(const std::vector<float>& x, const std::vector<float>& y) {
    const int n = int(x.size()), bins = n / 2 + 1;
    cufftReal* signal;
    cufftComplex *spectrum_x, *spectrum_y;
    check(cudaMalloc(&signal, n * sizeof(cufftReal)));
    check(cudaMalloc(&spectrum_x, bins * sizeof(cufftComplex)));
    check(cudaMalloc(&spectrum_y, bins * sizeof(cufftComplex)));

    cufftHandle forward, inverse;
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cufftPlan1d(&forward, n, CUFFT_R2C, 1));
    int length = n;
    check(cufftPlanMany(&inverse, 1, &length, nullptr, 1, bins, nullptr, 1, n, CUFFT_C2R, 1));
    check(cufftSetStream(forward, stream));
    check(cufftSetStream(inverse, stream));

    check(cudaMemcpyAsync(signal, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    check(cufftExecR2C(forward, signal, spectrum_x));
    check(cudaMemcpyAsync(signal, y.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    check(cufftExecR2C(forward, signal, spectrum_y));
    multiply<<<(bins + 127) / 128, 128, 0, stream>>>(spectrum_x, spectrum_y, bins, 1.0f / n);
    check(cudaGetLastError());
    check(cufftExecC2R(inverse, spectrum_y, signal));

    std::vector<float> result(n);
    check(cudaMemcpyAsync(result.data(), signal, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    check(cufftDestroy(forward));
    check(cufftDestroy(inverse));
    check(cudaStreamDestroy(stream));
    check(cudaFree(signal));
    check(cudaFree(spectrum_x));
    check(cudaFree(spectrum_y));
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
