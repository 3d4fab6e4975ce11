// Loads a kernel from PTX text and launches it, with the driver API alone.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

static void check(hipError_t status, const char* file, int line) {
    if (status == hipSuccess) return;
    const char* text = nullptr;
    hipDrvGetErrorString(status, &text);
    std::fprintf(stderr, "%s:%d: %s\n", file, line, text ? text : "unknown error");
    std::exit(EXIT_FAILURE);
}
#define CHECK(call) check((call), __FILE__, __LINE__)

// x[i] *= 2 for i < n
static const char* const kDouble = R"ptx(
.version 7.0
.target sm_52
.address_size 64
.visible .entry double_all(.param .u64 data, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3];
    shl.b32 %r4, %r4, 1;
    st.global.u32 [%rd3], %r4;
done:
    ret;
}
)ptx";

int main() {
    hipDevice_t device;
    hipCtx_t context;
    CHECK(hipInit(0));
    CHECK(hipDeviceGet(&device, 0));
    char name[128];
    int threads = 0;
    CHECK(hipDeviceGetName(name, sizeof(name), device));
    CHECK(hipDeviceGetAttribute(&threads, hipDeviceAttributeMaxThreadsPerBlock, device));
    CHECK(hipDevicePrimaryCtxRetain(&context, device));
    CHECK(hipCtxSetCurrent(context));

    hipModule_t module;
    hipFunction_t kernel;
    CHECK(hipModuleLoadData(&module, kDouble));
    CHECK(hipModuleGetFunction(&kernel, module, "double_all"));

    unsigned int n = 5000;
    std::vector<int> values(n);
    for (unsigned int i = 0; i < n; ++i) values[i] = int(i);
    hipDeviceptr_t dev;
    hipStream_t stream;
    CHECK(hipMalloc(&dev, n * sizeof(int)));
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    CHECK(hipMemcpyHtoDAsync(dev, values.data(), n * sizeof(int), stream));
    void* args[] = {&dev, &n};
    const unsigned int block = threads < 256 ? unsigned(threads) : 256u;
    CHECK(hipModuleLaunchKernel(kernel, (n + block - 1) / block, 1, 1, block, 1, 1, 0, stream, args, nullptr));
    CHECK(hipMemcpyDtoHAsync(values.data(), dev, n * sizeof(int), stream));
    CHECK(hipStreamSynchronize(stream));

    bool ok = true;
    for (unsigned int i = 0; i < n; ++i) ok = ok && values[i] == int(2 * i);
    CHECK(hipFree(dev));
    CHECK(hipStreamDestroy(stream));
    CHECK(hipModuleUnload(module));
    CHECK(hipDevicePrimaryCtxRelease(device));
    std::printf("%s on %s\n", ok ? "PASS" : "FAIL", name);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
