// Compiles a kernel from a string at run time, for a power chosen by the caller.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

#define CHECK_AS(type, good, call)                                                    \
    do {                                                                              \
        const type status_ = (call);                                                  \
        if (status_ != good) {                                                        \
            std::fprintf(stderr, "%s:%d: status %d\n", __FILE__, __LINE__, status_);  \
            std::exit(EXIT_FAILURE);                                                  \
        }                                                                             \
    } while (0)
#define CUDA_CHECK(call) CHECK_AS(cudaError_t, cudaSuccess, call)
#define DRIVER_CHECK(call) CHECK_AS(CUresult, CUDA_SUCCESS, call)
#define NVRTC_CHECK(call) CHECK_AS(nvrtcResult, NVRTC_SUCCESS, call)

static const char* const kSource = R"(
extern "C" __global__ void raise(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double product = 1.0;
    for (int p = 0; p < POWER; ++p) product *= in[i];
    out[i] = product;
}
)";

static std::vector<char> compile(int power) {
    nvrtcProgram program;
    NVRTC_CHECK(nvrtcCreateProgram(&program, kSource, "raise.cu", 0, nullptr, nullptr));
    const std::string define = "-DPOWER=" + std::to_string(power);
    const char* options[] = {define.c_str(), "--std=c++17"};
    const nvrtcResult status = nvrtcCompileProgram(program, 2, options);
    if (status != NVRTC_SUCCESS) {
        size_t size = 0;
        NVRTC_CHECK(nvrtcGetProgramLogSize(program, &size));
        std::string log(size, '\0');
        NVRTC_CHECK(nvrtcGetProgramLog(program, &log[0]));
        std::fprintf(stderr, "%s\n%s\n", nvrtcGetErrorString(status), log.c_str());
        std::exit(EXIT_FAILURE);
    }
    size_t size = 0;
    NVRTC_CHECK(nvrtcGetPTXSize(program, &size));
    std::vector<char> code(size);
    NVRTC_CHECK(nvrtcGetPTX(program, code.data()));
    NVRTC_CHECK(nvrtcDestroyProgram(&program));
    return code;
}

int main() {
    CUDA_CHECK(cudaFree(nullptr));  // creates the context
    const std::vector<char> code = compile(3);
    CUmodule module;
    CUfunction raise;
    DRIVER_CHECK(cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr));
    DRIVER_CHECK(cuModuleGetFunction(&raise, module, "raise"));

    int n = 1000;
    std::vector<double> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = i;
    double *dev_in, *dev_out;
    CUDA_CHECK(cudaMalloc(&dev_in, n * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&dev_out, n * sizeof(double)));
    CUDA_CHECK(cudaMemcpy(dev_in, in.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    void* args[] = {&dev_in, &dev_out, &n};
    DRIVER_CHECK(cuLaunchKernel(raise, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
    CUDA_CHECK(cudaMemcpy(out.data(), dev_out, n * sizeof(double), cudaMemcpyDeviceToHost));

    bool ok = true;
    for (int i = 0; i < n; ++i) ok = ok && out[i] == in[i] * in[i] * in[i];
    DRIVER_CHECK(cuModuleUnload(module));
    CUDA_CHECK(cudaFree(dev_in));
    CUDA_CHECK(cudaFree(dev_out));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
