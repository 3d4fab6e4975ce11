// The same work as a graph twice: captured from a stream, and built node by node.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t err_ = (call);                                                       \
        if (err_ != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
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

static cudaGraph_t capture(cudaStream_t stream, float* dev, float* host, int n) {
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA_CHECK(cudaMemcpyAsync(dev, host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    scale<<<(n + 255) / 256, 256, 0, stream>>>(dev, 3.0f, n);
    shift<<<(n + 255) / 256, 256, 0, stream>>>(dev, 1.0f, n);
    CUDA_CHECK(cudaMemcpyAsync(host, dev, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static cudaGraph_t build(float* dev, float* host, int n, cudaGraphNode_t* scale_node) {
    cudaGraph_t graph;
    CUDA_CHECK(cudaGraphCreate(&graph, 0));

    cudaGraphNode_t upload, shift_node, download;
    CUDA_CHECK(cudaGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, dev, host, n * sizeof(float),
                                        cudaMemcpyHostToDevice));
    float factor = 3.0f, offset = 1.0f;
    void* scale_args[] = {&dev, &factor, &n};
    void* shift_args[] = {&dev, &offset, &n};
    cudaKernelNodeParams params = {};
    params.func = (void*)scale;
    params.gridDim = dim3((n + 255) / 256);
    params.blockDim = dim3(256);
    params.kernelParams = scale_args;
    CUDA_CHECK(cudaGraphAddKernelNode(scale_node, graph, &upload, 1, &params));
    params.func = (void*)shift;
    params.kernelParams = shift_args;
    CUDA_CHECK(cudaGraphAddKernelNode(&shift_node, graph, scale_node, 1, &params));
    CUDA_CHECK(cudaGraphAddMemcpyNode1D(&download, graph, &shift_node, 1, host, dev, n * sizeof(float),
                                        cudaMemcpyDeviceToHost));
    return graph;
}

static bool run(cudaGraph_t graph, cudaStream_t stream, const std::vector<float>& host, const char* name) {
    cudaGraphExec_t exec;
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    size_t nodes = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));

    bool ok = nodes == 4;
    for (size_t i = 0; i < host.size(); ++i) ok = ok && host[i] == 3.0f * float(i % 64) + 1.0f;
    std::printf("%s: %zu nodes\n", name, nodes);
    return ok;
}

int main() {
    int n = 10000;
    std::vector<float> host(n);
    float* dev;
    cudaStream_t stream;
    CUDA_CHECK(cudaMalloc(&dev, n * sizeof(float)));
    CUDA_CHECK(cudaHostRegister(host.data(), n * sizeof(float), cudaHostRegisterDefault));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    for (int i = 0; i < n; ++i) host[i] = float(i % 64);
    bool ok = run(capture(stream, dev, host.data(), n), stream, host, "captured");

    for (int i = 0; i < n; ++i) host[i] = float(i % 64);
    cudaGraphNode_t scale_node;
    ok = run(build(dev, host.data(), n, &scale_node), stream, host, "built") && ok;

    CUDA_CHECK(cudaStreamDestroy(stream));
    CUDA_CHECK(cudaHostUnregister(host.data()));
    CUDA_CHECK(cudaFree(dev));
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
