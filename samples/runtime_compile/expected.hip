// Compiles a kernel from a string at run time, for a power chosen by the caller.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#define CHECK_AS(type, good, call)                                                    \
    do {                                                                              \
        const type status_ = (call);                                                  \
        if (status_ != good) {                                                        \
            std::fprintf(stderr, "%s:%d: status %d\n", __FILE__, __LINE__, status_);  \
            std::exit(EXIT_FAILURE);                                                  \
        }                                                                             \
    } while (0)
#define CUDA_CHECK(call) CHECK_AS(hipError_t, hipSuccess, call)
#define DRIVER_CHECK(call) CHECK_AS(hipError_t, hipSuccess, call)
#define NVRTC_CHECK(call) CHECK_AS(hiprtcResult, HIPRTC_SUCCESS, call)

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
    hiprtcProgram program;
    NVRTC_CHECK(hiprtcCreateProgram(&program, kSource, "raise.cu", 0, nullptr, nullptr));
    const std::string define = "-DPOWER=" + std::to_string(power);
    const char* options[] = {define.c_str(), "--std=c++17"};
    const hiprtcResult status = hiprtcCompileProgram(program, 2, options);
    if (status != HIPRTC_SUCCESS) {
        size_t size = 0;
        NVRTC_CHECK(hiprtcGetProgramLogSize(program, &size));
        std::string log(size, '\0');
        NVRTC_CHECK(hiprtcGetProgramLog(program, &log[0]));
        std::fprintf(stderr, "%s\n%s\n", hiprtcGetErrorString(status), log.c_str());
        std::exit(EXIT_FAILURE);
    }
    size_t size = 0;
    NVRTC_CHECK(hiprtcGetCodeSize(program, &size));
    std::vector<char> code(size);
    NVRTC_CHECK(hiprtcGetCode(program, code.data()));
    NVRTC_CHECK(hiprtcDestroyProgram(&program));
    return code;
}

int main() {
    CUDA_CHECK(hipFree(nullptr));  // creates the context
    const std::vector<char> code = compile(3);
    hipModule_t module;
    hipFunction_t raise;
    DRIVER_CHECK(hipModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr));
    DRIVER_CHECK(hipModuleGetFunction(&raise, module, "raise"));

    int n = 1000;
    std::vector<double> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = i;
    double *dev_in, *dev_out;
    CUDA_CHECK(hipMalloc(&dev_in, n * sizeof(double)));
    CUDA_CHECK(hipMalloc(&dev_out, n * sizeof(double)));
    CUDA_CHECK(hipMemcpy(dev_in, in.data(), n * sizeof(double), hipMemcpyHostToDevice));
    void* args[] = {&dev_in, &dev_out, &n};
    DRIVER_CHECK(hipModuleLaunchKernel(raise, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
    CUDA_CHECK(hipMemcpy(out.data(), dev_out, n * sizeof(double), hipMemcpyDeviceToHost));

    bool ok = true;
    for (int i = 0; i < n; ++i) ok = ok && out[i] == in[i] * in[i] * in[i];
    DRIVER_CHECK(hipModuleUnload(module));
    CUDA_CHECK(hipFree(dev_in));
    CUDA_CHECK(hipFree(dev_out));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
