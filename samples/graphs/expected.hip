// The same work as a graph twice: captured from a stream, and built node by node.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const hipError_t err_ = (call);                                                       \
        if (err_ != hipSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                           \
        }                                                                                      \
    } while (0)

__global__ void scale(float* x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void shift(float* x, float offset, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += offset;
}

static hipGraph_t capture(hipStream_t stream, float* dev, float* host, int n) {
    hipGraph_t graph;
    CUDA_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CUDA_CHECK(hipMemcpyAsync(dev, host, n * sizeof(float), hipMemcpyHostToDevice, stream));
    scale<<<(n + 255) / 256, 256, 0, stream>>>(dev, 3.0f, n);
    shift<<<(n + 255) / 256, 256, 0, stream>>>(dev, 1.0f, n);
    CUDA_CHECK(hipMemcpyAsync(host, dev, n * sizeof(float), hipMemcpyDeviceToHost, stream));
    CUDA_CHECK(hipStreamEndCapture(stream, &graph));
    return graph;
}

static hipGraph_t build(float* dev, float* host, int n, hipGraphNode_t* scale_node) {
    hipGraph_t graph;
    CUDA_CHECK(hipGraphCreate(&graph, 0));

    hipGraphNode_t upload, shift_node, download;
    CUDA_CHECK(hipGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, dev, host, n * sizeof(float),
                                        hipMemcpyHostToDevice));
    float factor = 3.0f, offset = 1.0f;
    void* scale_args[] = {&dev, &factor, &n};
    void* shift_args[] = {&dev, &offset, &n};
    hipKernelNodeParams params = {};
    params.func = (void*)scale;
    params.gridDim = dim3((n + 255) / 256);
    params.blockDim = dim3(256);
    params.kernelParams = scale_args;
    CUDA_CHECK(hipGraphAddKernelNode(scale_node, graph, &upload, 1, &params));
    params.func = (void*)shift;
    params.kernelParams = shift_args;
    CUDA_CHECK(hipGraphAddKernelNode(&shift_node, graph, scale_node, 1, &params));
    CUDA_CHECK(hipGraphAddMemcpyNode1D(&download, graph, &shift_node, 1, host, dev, n * sizeof(float),
                                        hipMemcpyDeviceToHost));
    return graph;
}

static bool run(hipGraph_t graph, hipStream_t stream, const std::vector<float>& host, const char* name) {
    hipGraphExec_t exec;
    CUDA_CHECK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_CHECK(hipGraphLaunch(exec, stream));
    CUDA_CHECK(hipStreamSynchronize(stream));
    size_t nodes = 0;
    CUDA_CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
    CUDA_CHECK(hipGraphExecDestroy(exec));
    CUDA_CHECK(hipGraphDestroy(graph));

    bool ok = nodes == 4;
    for (size_t i = 0; i < host.size(); ++i) ok = ok && host[i] == 3.0f * float(i % 64) + 1.0f;
    std::printf("%s: %zu nodes\n", name, nodes);
    return ok;
}

int main() {
    int n = 10000;
    std::vector<float> host(n);
    float* dev;
    hipStream_t stream;
    CUDA_CHECK(hipMalloc(&dev, n * sizeof(float)));
    CUDA_CHECK(hipHostRegister(host.data(), n * sizeof(float), hipHostRegisterDefault));
    CUDA_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));

    for (int i = 0; i < n; ++i) host[i] = float(i % 64);
    bool ok = run(capture(stream, dev, host.data(), n), stream, host, "captured");

    for (int i = 0; i < n; ++i) host[i] = float(i % 64);
    hipGraphNode_t scale_node;
    ok = run(build(dev, host.data(), n, &scale_node), stream, host, "built") && ok;

    CUDA_CHECK(hipStreamDestroy(stream));
    CUDA_CHECK(hipHostUnregister(host.data()));
    CUDA_CHECK(hipFree(dev));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
