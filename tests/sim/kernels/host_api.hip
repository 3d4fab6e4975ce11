// The host side: memory, symbols, streams, events, graphs, errors.
#include "suite.h"

#include <cstring>

__constant__ float factors[4];
__device__ int total = 5;
__device__ int table[8];
__managed__ int shared_count;

__global__ void use_symbols(float* out) {
    out[threadIdx.x] = factors[threadIdx.x % 4] + total;
    table[threadIdx.x % 8] = threadIdx.x % 8;
    atomicAdd(&shared_count, 1);
}
__global__ void add(int* d, int v) { d[threadIdx.x] += v; }
template <class T, int N>
__global__ void templated(T* d, T v) {
    d[threadIdx.x] = v * N;
}
struct Counted {  // copied by a reference that is not const, as the table of a hash map may be
    int* d;
    int copies = 0;
    explicit Counted(int* p) : d(p) {}
    Counted(Counted& o) : d(o.d), copies(o.copies + 1) { ++o.copies; }
};
__global__ void add_counted(Counted c, int v) { c.d[threadIdx.x] += c.copies > 0 ? v : 0; }
__global__ void divide(int* d, int v) { *d = 100 / v; }
__global__ void says() {
    if (threadIdx.x == 0) printf("# block %d\n", static_cast<int>(blockIdx.x));
}

int main() {
    const float h[4] = {1, 2, 3, 4};
    say("copy to a symbol", hipMemcpyToSymbol(HIP_SYMBOL(factors), h, sizeof h) == hipSuccess);
    say("too much for a symbol", hipMemcpyToSymbol(HIP_SYMBOL(factors), h, 17) == hipErrorInvalidValue);
    Out<float> f(16);
    use_symbols<<<1, 16>>>(f.d);
    say("symbols in kernels", all(f, [](int i) { return 6 + i % 4; }) && shared_count == 16);
    int back[8];
    (void)hipMemcpyFromSymbol(back, HIP_SYMBOL(table), sizeof back);
    say("copy from a symbol", back[0] == 0 && back[7] == 7);
    int* address = nullptr;
    (void)hipGetSymbolAddress(reinterpret_cast<void**>(&address), HIP_SYMBOL(total));
    int five = 0;
    (void)hipMemcpy(&five, address, 4, hipMemcpyDeviceToHost);
    say("address of a symbol", five == 5);
    hipPointerAttribute_t of_symbol;
    (void)hipPointerGetAttributes(&of_symbol, address);
    const bool is_set = hipMemset(address, 0, 4) == hipSuccess && hipMemset(address, 0, 4096) == hipErrorInvalidValue;
    (void)hipMemcpy(&five, address, 4, hipMemcpyDeviceToHost);
    say("memory of a symbol", is_set && five == 0 && of_symbol.type == hipMemoryTypeDevice);
    (void)hipGetLastError();

    int *pinned = nullptr, *managed = nullptr;
    (void)hipHostMalloc(&pinned, 256);
    (void)hipMallocManaged(&managed, 256);
    for (int i = 0; i < 64; ++i) pinned[i] = managed[i] = i;
    add<<<1, 64>>>(pinned, 1);
    add<<<1, 64>>>(managed, 2);
    (void)hipDeviceSynchronize();
    say("pinned and managed memory", pinned[63] == 64 && managed[0] == 2);

    char wide[4][16], narrow[4][4];
    std::memset(wide, 1, sizeof wide);
    size_t pitch = 0;
    void* rows = nullptr;
    (void)hipMallocPitch(&rows, &pitch, 4, 4);
    (void)hipMemcpy2D(rows, pitch, wide, 16, 4, 4, hipMemcpyHostToDevice);
    (void)hipMemcpy2D(narrow, 4, rows, pitch, 4, 4, hipMemcpyDeviceToHost);
    say("copies of rows", pitch >= 4 && narrow[3][3] == 1);

    Out<int> d(64);
    hipStream_t s;
    hipEvent_t a, b;
    (void)hipStreamCreate(&s);
    (void)hipEventCreate(&a);
    (void)hipEventCreate(&b);
    (void)hipEventRecord(a, s);
    add<<<1, 64, 0, s>>>(d.d, 3);
    (void)hipEventRecord(b, s);
    (void)hipEventSynchronize(b);
    float ms = -1;
    (void)hipEventElapsedTime(&ms, a, b);
    say("streams and events", ms >= 0 && all(d, [](int) { return 3; }));

    hipGraph_t graph;
    hipGraphExec_t exec;
    (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
    add<<<1, 64, 0, s>>>(d.d, 10);
    (void)hipStreamEndCapture(s, &graph);
    const bool untouched = all(d, [](int) { return 3; });
    (void)hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    for (int i = 0; i < 3; ++i) (void)hipGraphLaunch(exec, s);
    say("graphs", untouched && all(d, [](int) { return 33; }));

    templated<int, 7><<<dim3(1), dim3(64)>>>(d.d, 2);
    say("a kernel template", all(d, [](int) { return 14; }));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(templated<int, 5>), dim3(1), dim3(64), 0, 0, d.d, 2);
    say("hipLaunchKernelGGL", all(d, [](int) { return 10; }));
    int* p = d.d;
    int v = 4;
    void* args[] = {&p, &v};
    (void)hipLaunchKernel(reinterpret_cast<const void*>(add), dim3(1), dim3(64), args, 0, nullptr);
    say("hipLaunchKernel", all(d, [](int) { return 14; }));
    Counted counted(d.d);
    add_counted<<<1, 64>>>(counted, 2);
    hipLaunchKernelGGL(add_counted, dim3(1), dim3(64), 0, 0, counted, -3);
    (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
    add_counted<<<1, 64, 0, s>>>(counted, 1);
    (void)hipStreamEndCapture(s, &graph);
    say("an argument whose copy changes it", counted.copies >= 3 && all(d, [](int) { return 13; }));
    (void)hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    (void)hipGraphLaunch(exec, s);
    say("the same in a graph", all(d, [](int) { return 14; }));

    (void)hipGetLastError();
    add<<<1, 2000>>>(d.d, 1);
    say("too many threads", hipGetLastError() == hipErrorInvalidConfiguration && hipGetLastError() == hipSuccess);
    add<<<1, 64, 100000>>>(d.d, 1);
    say("too much shared memory", hipGetLastError() != hipSuccess);
    say("copy beyond the end", hipMemcpy(d.d, h, 16, hipMemcpyHostToDevice) == hipSuccess &&
                                   hipMemcpy(d.d + 63, h, 16, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    (void)hipGetLastError();
    say("free what is none", hipFree(&v) != hipSuccess);
    void* huge = nullptr;
    say("more memory than there is", hipMalloc(&huge, size_t{1} << 50) == hipErrorOutOfMemory && huge == nullptr);
    say("names of errors", std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
    hipDeviceProp_t prop;
    (void)hipGetDeviceProperties(&prop, 0);
    say("properties", prop.warpSize == wave_size() && prop.maxThreadsPerBlock == 1024);
    int width = 0;
    (void)hipDeviceGetAttribute(&width, hipDeviceAttributeMaxTexture2DWidth, 0);
    const bool extents = width == prop.maxTexture2D[0] && prop.maxTexture1DLinear > width && prop.maxTexture3D[2] == 2048;
    say("extents of textures and surfaces", extents && prop.maxSurface2D[1] == width && prop.maxTexture2DLinear[2] > 0);
    hipModule_t module;
    say("what is not there says so", hipModuleLoad(&module, "x") == hipErrorNotSupported);
    says<<<3, 64>>>();
    divide<<<1, 1>>>(d.d, 7);
    say("done", d.get()[0] == 14);
}
