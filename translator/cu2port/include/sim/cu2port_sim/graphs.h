// Graphs: captured from streams or made node by node. Launching runs the nodes one after the other, each after those
// that it depends on, otherwise in the order in which they were added.
#pragma once

#include <algorithm>
#include <memory>

#include "arrays.h"
#include "launch.h"

typedef struct hipKernelNodeParams {
    dim3 blockDim;
    void** extra;
    void* func;
    dim3 gridDim;
    void** kernelParams;
    unsigned sharedMemBytes;
} hipKernelNodeParams;
typedef struct hipMemsetParams {
    void* dst;
    unsigned elementSize;
    size_t height, pitch;
    unsigned value;
    size_t width;
} hipMemsetParams;
typedef struct hipHostNodeParams {
    hipHostFn_t fn;
    void* userData;
} hipHostNodeParams;
typedef enum hipGraphExecUpdateResult {
    hipGraphExecUpdateSuccess,
    hipGraphExecUpdateError,
    hipGraphExecUpdateErrorTopologyChanged,
    hipGraphExecUpdateErrorNodeTypeChanged,
    hipGraphExecUpdateErrorFunctionChanged,
    hipGraphExecUpdateErrorParametersChanged,
    hipGraphExecUpdateErrorNotSupported,
    hipGraphExecUpdateErrorUnsupportedFunctionChange
} hipGraphExecUpdateResult;
typedef enum hipGraphInstantiateFlags {
    hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
    hipGraphInstantiateFlagUpload = 2,
    hipGraphInstantiateFlagDeviceLaunch = 4,
    hipGraphInstantiateFlagUseNodePriority = 8
} hipGraphInstantiateFlags;

struct hipGraphNode {
    hipGraphNodeType type;
    cu2port_sim::Task work;
    std::vector<hipGraphNode_t> after;
    hipGraphNode_t origin;  // of a copy: the node that it was made from
    hipGraph_t graph;
    hipKernelNodeParams kernel{};
    hipMemsetParams memset{};
    hipHostNodeParams host{};
    hipGraph_t child = nullptr;
    bool enabled = true;
};
struct ihipGraph {
    std::vector<std::unique_ptr<hipGraphNode>> nodes;

    hipGraphNode_t add(hipGraphNodeType type, cu2port_sim::Task work, const hipGraphNode_t* after, std::size_t n) {
        nodes.emplace_back(new hipGraphNode{type, std::move(work), {after, after + n}, nullptr, this});
        return nodes.back()->origin = nodes.back().get();
    }
    hipGraphNode_t copy_of(hipGraphNode_t origin) const {
        for (const auto& n : nodes)
            if (n->origin == origin || n.get() == origin) return n.get();
        return nullptr;
    }
    std::unique_ptr<ihipGraph> clone() const {
        auto out = std::make_unique<ihipGraph>();
        for (const auto& n : nodes) {
            out->nodes.emplace_back(new hipGraphNode(*n));
            out->nodes.back()->graph = out.get();
            out->nodes.back()->origin = n.get();
        }
        for (auto& n : out->nodes)
            for (hipGraphNode_t& before : n->after) before = out->copy_of(before);
        return out;
    }
    // In an order that dependencies allow; shorter than `nodes` when they go round in a circle.
    std::vector<hipGraphNode_t> sorted() const {
        std::vector<hipGraphNode_t> out;
        auto done = [&](hipGraphNode_t n) { return std::find(out.begin(), out.end(), n) != out.end(); };
        for (bool moved = true; moved;) {
            moved = false;
            for (const auto& n : nodes)
                if (!done(n.get()) && std::all_of(n->after.begin(), n->after.end(), done)) {
                    out.push_back(n.get());
                    moved = true;
                }
        }
        return out;
    }
    int perform() const {
        for (hipGraphNode_t n : sorted())
            if (n->enabled)
                if (const int e = n->child ? n->child->perform() : n->work ? n->work() : 0) return e;
        return 0;
    }
};
struct hipGraphExec {
    std::unique_ptr<ihipGraph> graph;  // a copy
};

namespace cu2port_sim {

inline void record(hipStream_t s, hipGraphNodeType type, Task work) {
    s->captured = s->capture->add(type, std::move(work), &s->captured, s->captured ? 1 : 0);
}

inline hipError_t add_node(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, std::size_t n,
                           hipGraphNodeType type, Task work) {
    if (out == nullptr || g == nullptr || (n && after == nullptr)) return note(hipErrorInvalidValue);
    *out = g->add(type, std::move(work), after, n);
    return hipSuccess;
}

inline hipError_t set_kernel(hipGraphNode_t node, const hipKernelNodeParams* p) {
    if (node == nullptr || p == nullptr || node->type != hipGraphNodeTypeKernel) return note(hipErrorInvalidValue);
    Task work = bind_erased(p->func, {p->gridDim, p->blockDim, p->sharedMemBytes}, p->kernelParams,
                                            {"a graph's kernel node", 0}, false);
    if (!work) return note(p->kernelParams ? hipErrorNotSupported : hipErrorInvalidValue);
    node->work = std::move(work);
    node->kernel = *p;
    return hipSuccess;
}
inline hipError_t set_memset(hipGraphNode_t node, const hipMemsetParams* p) {
    if (node == nullptr || p == nullptr || node->type != hipGraphNodeTypeMemset) return note(hipErrorInvalidValue);
    node->memset = *p;
    node->work = [v = *p] {
        for (std::size_t y = 0; y < v.height; ++y) {
            char* row = static_cast<char*>(v.dst) + y * v.pitch;
            const int e = v.elementSize == 4   ? fill_words(row, v.value, v.width)
                          : v.elementSize == 2 ? fill_words(row, static_cast<unsigned short>(v.value), v.width)
                                               : fill(row, static_cast<int>(v.value), v.width);
            if (e) return e;
        }
        return 0;
    };
    return hipSuccess;
}
inline hipError_t set_copy(hipGraphNode_t node, Task work) {
    if (node == nullptr || node->type != hipGraphNodeTypeMemcpy) return note(hipErrorInvalidValue);
    return node->work = std::move(work), hipSuccess;
}
inline hipError_t set_host(hipGraphNode_t node, const hipHostNodeParams* p) {
    if (node == nullptr || p == nullptr || node->type != hipGraphNodeTypeHost) return note(hipErrorInvalidValue);
    node->host = *p;
    node->work = [v = *p] { return v.fn(v.userData), 0; };
    return hipSuccess;
}
inline hipGraphNode_t in(hipGraphExec_t e, hipGraphNode_t node) { return e ? e->graph->copy_of(node) : nullptr; }

// A list asked for in two steps: first its length, then its elements.
inline hipError_t listed(const std::vector<hipGraphNode_t>& all, hipGraphNode_t* out, std::size_t* n) {
    if (n == nullptr) return note(hipErrorInvalidValue);
    if (out)
        for (std::size_t i = 0; i < *n; ++i) out[i] = i < all.size() ? all[i] : nullptr;
    if (out == nullptr || *n > all.size()) *n = all.size();
    return hipSuccess;
}

}  // namespace cu2port_sim

// --- captured ----------------------------------------------------------------------------------------------------

inline hipError_t hipStreamBeginCapture(hipStream_t s, hipStreamCaptureMode) {
    if (!cu2port_sim::real(s)) return cu2port_sim::note(hipErrorStreamCaptureUnsupported);
    if (s->capture) return cu2port_sim::note(hipErrorIllegalState);
    s->captured = nullptr;
    return s->capture = new ihipGraph, hipSuccess;
}
inline hipError_t hipStreamEndCapture(hipStream_t s, hipGraph_t* g) {
    if (!cu2port_sim::real(s) || !s->capture) return cu2port_sim::note(hipErrorIllegalState);
    *g = s->capture;
    s->capture = nullptr;
    return hipSuccess;
}
inline hipError_t hipStreamIsCapturing(hipStream_t s, hipStreamCaptureStatus* out) {
    *out = cu2port_sim::real(s) && s->capture ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
}
inline hipError_t hipStreamGetCaptureInfo(hipStream_t s, hipStreamCaptureStatus* out, unsigned long long* id = nullptr) {
    if (id) *id = cu2port_sim::real(s) ? reinterpret_cast<std::uintptr_t>(s->capture) : 0;
    return hipStreamIsCapturing(s, out);
}

// --- made node by node -------------------------------------------------------------------------------------------

#define CU2PORT_SIM_NODE hipGraphNode_t *node, hipGraph_t g, const hipGraphNode_t *after, size_t n
inline hipError_t hipGraphCreate(hipGraph_t* g, unsigned) { return *g = new ihipGraph, hipSuccess; }
inline hipError_t hipGraphDestroy(hipGraph_t g) { return delete g, hipSuccess; }
inline hipError_t hipGraphClone(hipGraph_t* out, hipGraph_t g) { return *out = g->clone().release(), hipSuccess; }
inline hipError_t hipGraphNodeFindInClone(hipGraphNode_t* out, hipGraphNode_t node, hipGraph_t g) {
    return *out = g->copy_of(node), *out ? hipSuccess : cu2port_sim::note(hipErrorInvalidValue);
}
inline hipError_t hipGraphAddKernelNode(CU2PORT_SIM_NODE, const hipKernelNodeParams* p) {
    if (hipError_t e = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeKernel, {})) return e;
    return cu2port_sim::set_kernel(*node, p);
}
inline hipError_t hipGraphAddMemcpyNode(CU2PORT_SIM_NODE, const hipMemcpy3DParms* p) {
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeMemcpy, [v = *p] { return cu2port_sim::copy_box(v); });
}
inline hipError_t hipGraphAddMemcpyNode1D(CU2PORT_SIM_NODE, void* to, const void* from, size_t size, hipMemcpyKind) {
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeMemcpy, [=] { return cu2port_sim::copy(to, from, size); });
}
template <class T>
inline hipError_t hipGraphAddMemcpyNodeToSymbol(CU2PORT_SIM_NODE, const T& symbol, const void* from, size_t size,
                                                size_t offset, hipMemcpyKind) {
    const auto to = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeMemcpy, [=] { return cu2port_sim::copy(to.part(), from, size); });
}
template <class T>
inline hipError_t hipGraphAddMemcpyNodeFromSymbol(CU2PORT_SIM_NODE, void* to, const T& symbol, size_t size,
                                                  size_t offset, hipMemcpyKind) {
    const auto from = cu2port_sim::variable(symbol, offset);
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeMemcpy, [=] { return cu2port_sim::copy(to, from.part(), size); });
}
inline hipError_t hipGraphAddMemsetNode(CU2PORT_SIM_NODE, const hipMemsetParams* p) {
    if (hipError_t e = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeMemset, {})) return e;
    return cu2port_sim::set_memset(*node, p);
}
inline hipError_t hipGraphAddHostNode(CU2PORT_SIM_NODE, const hipHostNodeParams* p) {
    if (hipError_t e = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeHost, {})) return e;
    return cu2port_sim::set_host(*node, p);
}
inline hipError_t hipGraphAddEmptyNode(CU2PORT_SIM_NODE) {
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeEmpty, {});
}
inline hipError_t hipGraphAddEventRecordNode(CU2PORT_SIM_NODE, hipEvent_t e) {
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeEventRecord, [=] { return hipEventRecord(e); });
}
inline hipError_t hipGraphAddEventWaitNode(CU2PORT_SIM_NODE, hipEvent_t) {
    return cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeWaitEvent, {});
}
inline hipError_t hipGraphAddChildGraphNode(CU2PORT_SIM_NODE, hipGraph_t child) {
    if (hipError_t e = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeGraph, {})) return e;
    return (*node)->child = child->clone().release(), hipSuccess;
}
inline hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* out) { return *out = node->child, hipSuccess; }
#undef CU2PORT_SIM_NODE
inline hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
    auto& all = node->graph->nodes;
    for (auto& n : all) n->after.erase(std::remove(n->after.begin(), n->after.end(), node), n->after.end());
    all.erase(std::find_if(all.begin(), all.end(), [&](auto& n) { return n.get() == node; }));
    return hipSuccess;
}
inline hipError_t hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t n) {
    for (size_t i = 0; i < n; ++i) to[i]->after.push_back(from[i]);
    return hipSuccess;
}
inline hipError_t hipGraphRemoveDependencies(hipGraph_t, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        auto& after = to[i]->after;
        after.erase(std::remove(after.begin(), after.end(), from[i]), after.end());
    }
    return hipSuccess;
}
inline hipError_t hipGraphGetNodes(hipGraph_t g, hipGraphNode_t* out, size_t* n) {
    std::vector<hipGraphNode_t> all;
    for (const auto& x : g->nodes) all.push_back(x.get());
    return cu2port_sim::listed(all, out, n);
}
inline hipError_t hipGraphGetRootNodes(hipGraph_t g, hipGraphNode_t* out, size_t* n) {
    std::vector<hipGraphNode_t> all;
    for (const auto& x : g->nodes)
        if (x->after.empty()) all.push_back(x.get());
    return cu2port_sim::listed(all, out, n);
}
inline hipError_t hipGraphGetEdges(hipGraph_t g, hipGraphNode_t* from, hipGraphNode_t* to, size_t* n) {
    std::vector<hipGraphNode_t> a, b;
    for (const auto& x : g->nodes)
        for (hipGraphNode_t before : x->after) a.push_back(before), b.push_back(x.get());
    size_t m = n ? *n : 0;
    if (from) cu2port_sim::listed(a, from, &m);
    return cu2port_sim::listed(b, to, n);
}
inline hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* out, size_t* n) {
    return cu2port_sim::listed(node->after, out, n);
}
inline hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* out, size_t* n) {
    std::vector<hipGraphNode_t> all;
    for (const auto& x : node->graph->nodes)
        if (std::find(x->after.begin(), x->after.end(), node) != x->after.end()) all.push_back(x.get());
    return cu2port_sim::listed(all, out, n);
}
inline hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* out) { return *out = node->type, hipSuccess; }
inline hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* p) { return *p = node->kernel, hipSuccess; }
inline hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* p) { return cu2port_sim::set_kernel(node, p); }
inline hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* p) { return *p = node->memset, hipSuccess; }
inline hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* p) { return cu2port_sim::set_memset(node, p); }
inline hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* p) { return *p = node->host, hipSuccess; }
inline hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* p) { return cu2port_sim::set_host(node, p); }
inline hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from, size_t size, hipMemcpyKind) {
    return cu2port_sim::set_copy(node, [=] { return cu2port_sim::copy(to, from, size); });
}

// --- instantiated ------------------------------------------------------------------------------------------------

inline hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* e, hipGraph_t g, unsigned long long) {
    if (g == nullptr || g->sorted().size() != g->nodes.size()) return cu2port_sim::note(hipErrorInvalidValue);
    return *e = new hipGraphExec{g->clone()}, hipSuccess;
}
inline hipError_t hipGraphInstantiate(hipGraphExec_t* e, hipGraph_t g, hipGraphNode_t*, char*, size_t) {
    return hipGraphInstantiateWithFlags(e, g, 0);
}
inline hipError_t hipGraphInstantiate(hipGraphExec_t* e, hipGraph_t g, unsigned long long flags = 0) {
    return hipGraphInstantiateWithFlags(e, g, flags);
}
inline hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t) { return hipSuccess; }
inline hipError_t hipGraphLaunch(hipGraphExec_t e, hipStream_t s) {
    if (!cu2port_sim::orders_work()) {
        ihipGraph* graph = e->graph.get();
        return cu2port_sim::submit(s, [=] { return graph->perform(); }, hipGraphNodeTypeGraph);
    }
    const std::shared_ptr<ihipGraph> graph = e->graph->clone();  // it may run after its owner is changed or gone
    return cu2port_sim::submit(s, [=] { return graph->perform(); }, hipGraphNodeTypeGraph);
}
inline hipError_t hipGraphExecDestroy(hipGraphExec_t e) { return delete e, hipSuccess; }
inline hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipKernelNodeParams* p) {
    return cu2port_sim::set_kernel(cu2port_sim::in(e, node), p);
}
inline hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipMemsetParams* p) {
    return cu2port_sim::set_memset(cu2port_sim::in(e, node), p);
}
inline hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipHostNodeParams* p) {
    return cu2port_sim::set_host(cu2port_sim::in(e, node), p);
}
inline hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipMemcpy3DParms* p) {
    return cu2port_sim::set_copy(cu2port_sim::in(e, node), [v = *p] { return cu2port_sim::copy_box(v); });
}
inline hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t e, hipGraphNode_t node, void* to, const void* from,
                                                    size_t size, hipMemcpyKind) {
    return cu2port_sim::set_copy(cu2port_sim::in(e, node), [=] { return cu2port_sim::copy(to, from, size); });
}
inline hipError_t hipGraphNodeSetEnabled(hipGraphExec_t e, hipGraphNode_t node, unsigned on) {
    hipGraphNode_t mine = cu2port_sim::in(e, node);
    if (mine == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    return mine->enabled = on != 0, hipSuccess;
}
inline hipError_t hipGraphNodeGetEnabled(hipGraphExec_t e, hipGraphNode_t node, unsigned* on) {
    hipGraphNode_t mine = cu2port_sim::in(e, node);
    if (mine == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    return *on = mine->enabled, hipSuccess;
}
inline hipError_t hipGraphExecUpdate(hipGraphExec_t e, hipGraph_t g, hipGraphNode_t* wrong, hipGraphExecUpdateResult* result) {
    const auto &mine = e->graph->nodes, &theirs = g->nodes;
    bool same = mine.size() == theirs.size();
    for (std::size_t i = 0; same && i < mine.size(); ++i)
        same = mine[i]->type == theirs[i]->type && mine[i]->after.size() == theirs[i]->after.size();
    if (result) *result = same ? hipGraphExecUpdateSuccess : hipGraphExecUpdateErrorTopologyChanged;
    if (wrong) *wrong = nullptr;
    if (!same) return cu2port_sim::note(hipErrorGraphExecUpdateFailure);
    auto next = g->clone();
    for (std::size_t i = 0; i < mine.size(); ++i) next->nodes[i]->origin = mine[i]->origin;
    return e->graph = std::move(next), hipSuccess;
}
