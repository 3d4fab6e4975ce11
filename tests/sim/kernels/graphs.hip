// Graphs made node by node, captured, changed and updated; kernels launched by their address.
#include "suite.h"

__global__ void add(int* d, int v) { d[threadIdx.x] += v; }
__global__ void times(int* d, int v) { d[threadIdx.x] *= v; }
template <int N, class T>
__global__ void fill(T* d) {
    d[threadIdx.x] = N;
}

static hipGraphNode_t kernel_node(hipGraph_t g, const std::vector<hipGraphNode_t>& after, void* f, int*& d, int& v) {
    void* args[] = {&d, &v};
    hipKernelNodeParams p = {};
    p.func = f;
    p.gridDim = dim3(1);
    p.blockDim = dim3(8);
    p.kernelParams = args;
    hipGraphNode_t node = nullptr;
    return hipGraphAddKernelNode(&node, g, after.data(), after.size(), &p) == hipSuccess ? node : nullptr;
}

int main() {
    Out<int> a(8);
    int one = 1, three = 3, *d = a.d;
    hipGraph_t g = nullptr;
    (void)hipGraphCreate(&g, 0);
    hipMemsetParams m = {};
    m.dst = d;
    m.elementSize = 4;
    m.width = 8;
    m.height = 1;
    m.value = 5;
    hipGraphNode_t set = nullptr;
    (void)hipGraphAddMemsetNode(&set, g, nullptr, 0, &m);
    // added before the node it depends on
    hipGraphNode_t later = kernel_node(g, {}, (void*)times, d, three);
    hipGraphNode_t first = kernel_node(g, {set}, reinterpret_cast<void*>(add), d, one);
    one = 100;  // parameters were copied
    (void)hipGraphAddDependencies(g, &first, &later, 1);
    size_t nodes = 0, roots = 0, edges = 0;
    (void)hipGraphGetNodes(g, nullptr, &nodes);
    (void)hipGraphGetRootNodes(g, nullptr, &roots);
    (void)hipGraphGetEdges(g, nullptr, nullptr, &edges);
    say("nodes, roots and edges", nodes == 3 && roots == 1 && edges == 2);
    hipGraphNodeType type;
    (void)hipGraphNodeGetType(later, &type);
    say("type of a node", type == hipGraphNodeTypeKernel);

    hipGraphExec_t e = nullptr;
    say("instantiated", hipGraphInstantiate(&e, g, nullptr, nullptr, 0) == hipSuccess);
    (void)hipGraphLaunch(e, nullptr);
    say("in the order of dependencies", all(a, [](int) { return (5 + 1) * 3; }));
    int ten = 10;
    void* args[] = {&d, &ten};
    hipKernelNodeParams p = {};
    (void)hipGraphKernelNodeGetParams(first, &p);
    p.kernelParams = args;
    say("new parameters", hipGraphExecKernelNodeSetParams(e, first, &p) == hipSuccess);
    (void)hipGraphLaunch(e, nullptr);
    say("changed in the executable graph", all(a, [](int) { return (5 + 10) * 3; }));
    (void)hipGraphNodeSetEnabled(e, later, 0);
    (void)hipGraphLaunch(e, nullptr);
    say("a node switched off", all(a, [](int) { return 15; }));

    (void)hipGraphAddDependencies(g, &later, &set, 1);
    hipGraphExec_t bad = nullptr;
    say("a circle", hipGraphInstantiate(&bad, g, nullptr, nullptr, 0) == hipErrorInvalidValue);

    hipStream_t s = nullptr;
    (void)hipStreamCreate(&s);
    (void)hipMemset(d, 0, 32);
    (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
    for (int i = 0; i < 3; ++i) add<<<1, 8, 0, s>>>(d, i);
    hipGraph_t captured = nullptr;
    (void)hipStreamEndCapture(s, &captured);
    (void)hipGraphGetNodes(captured, nullptr, &nodes);
    (void)hipGraphGetEdges(captured, nullptr, nullptr, &edges);
    say("captured nodes follow each other", nodes == 3 && edges == 2 && a.get()[0] == 0);
    hipGraphExec_t again = nullptr;
    (void)hipGraphInstantiateWithFlags(&again, captured, 0);
    for (int i = 0; i < 2; ++i) (void)hipGraphLaunch(again, s);
    say("captured and launched twice", all(a, [](int) { return 6; }));
    (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
    for (int i = 0; i < 3; ++i) add<<<1, 8, 0, s>>>(d, 10);
    hipGraph_t other = nullptr;
    (void)hipStreamEndCapture(s, &other);
    hipGraphExecUpdateResult result;
    hipGraphNode_t wrong;
    say("updated", hipGraphExecUpdate(again, other, &wrong, &result) == hipSuccess && result == hipGraphExecUpdateSuccess);
    (void)hipGraphLaunch(again, s);
    say("after the update", all(a, [](int) { return 36; }));

    hipGraph_t outer = nullptr;
    (void)hipGraphCreate(&outer, 0);
    hipGraphNode_t child = nullptr, host = nullptr;
    (void)hipGraphAddChildGraphNode(&child, outer, nullptr, 0, captured);
    int called = 0;
    hipHostNodeParams hp = {[](void* x) { ++*static_cast<int*>(x); }, &called};
    (void)hipGraphAddHostNode(&host, outer, &child, 1, &hp);
    hipGraphExec_t nested = nullptr;
    (void)hipGraphInstantiate(&nested, outer, nullptr, nullptr, 0);
    (void)hipGraphLaunch(nested, nullptr);
    say("a graph in a graph, a host function", called == 1 && all(a, [](int) { return 39; }));

    hipStream_t fork = nullptr;
    (void)hipStreamCreate(&fork);
    hipEvent_t before = nullptr, behind = nullptr;
    (void)hipEventCreate(&before);
    (void)hipEventCreate(&behind);
    hipGraph_t forked = nullptr;
    for (const bool joined : {true, false}) {
        (void)hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
        add<<<1, 8, 0, s>>>(d, 1);
        (void)hipEventRecord(before, s);
        add<<<1, 8, 0, s>>>(d, 2);
        (void)hipStreamWaitEvent(fork, before, 0);
        add<<<1, 8, 0, fork>>>(d, 4);
        (void)hipEventRecord(behind, fork);
        if (joined) (void)hipStreamWaitEvent(s, behind, 0);
        if (joined) add<<<1, 8, 0, s>>>(d, 8);
        const hipError_t ended = hipStreamEndCapture(s, &forked);
        hipStreamCaptureStatus status;
        (void)hipStreamIsCapturing(fork, &status);
        if (!joined) say("work that is not joined", ended == hipErrorStreamCaptureUnjoined && forked == nullptr);
        if (joined) (void)hipGraphGetEdges(forked, nullptr, nullptr, &edges);
        if (joined) say("edges of a fork", ended == hipSuccess && edges == 4 && status == hipStreamCaptureStatusNone);
    }
    (void)hipGetLastError();

    const void* stored = (const void*)fill<7, int>;
    void* only[] = {&d};
    say("by a stored address", hipLaunchKernel(stored, dim3(1), dim3(8), only, 0, nullptr) == hipSuccess && all(a, [](int) { return 7; }));
    say("an address nobody knows", hipLaunchKernel(d, dim3(1), dim3(8), only, 0, nullptr) == hipErrorNotSupported);
    hipLaunchConfig_t c = {};
    c.gridDim = dim3(1);
    c.blockDim = dim3(8);
    say("by a configuration", hipLaunchKernelEx(&c, add, d, 3) == hipSuccess && all(a, [](int) { return 10; }));
}
