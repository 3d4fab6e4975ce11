// Graphs: captured from streams or made node by node.
#pragma once

#include "graph_nodes.h"

namespace cu2port_sim {

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
    return node->work = held_copy(std::move(work)), hipSuccess;
}
inline hipError_t set_host(hipGraphNode_t node, const hipHostNodeParams* p) {
    if (node == nullptr || p == nullptr || node->type != hipGraphNodeTypeHost) return note(hipErrorInvalidValue);
    node->host = *p;
    node->work = host_function([v = *p] { return v.fn(v.userData), 0; });
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
    return cu2port_sim::join_capture(s, new ihipGraph, {}), hipSuccess;
}
inline hipError_t hipStreamEndCapture(hipStream_t s, hipGraph_t* g) {
    if (!cu2port_sim::real(s) || !s->capture) return cu2port_sim::note(hipErrorIllegalState);
    *g = s->capture;
    const bool joined = cu2port_sim::is_joined(s);
    while (!(*g)->streams.empty()) cu2port_sim::leave_capture((*g)->streams.back());
    if (joined) return hipSuccess;
    delete *g;
    return *g = nullptr, cu2port_sim::note(hipErrorStreamCaptureUnjoined);
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
    if (hipError_t x = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeEventRecord, [=] { return hipEventRecord(e); })) return x;
    return (*node)->event = e, hipSuccess;
}
inline hipError_t hipGraphAddEventWaitNode(CU2PORT_SIM_NODE, hipEvent_t e) {
    if (hipError_t x = cu2port_sim::add_node(node, g, after, n, hipGraphNodeTypeWaitEvent, {})) return x;
    return (*node)->event = e, hipSuccess;
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
    if (cu2port_sim::real(s) && s->capture) {
        cu2port_sim::record(s, hipGraphNodeTypeGraph, {});
        return s->captured[0]->child = e->graph->clone().release(), hipSuccess;
    }
    if (!cu2port_sim::orders_work()) return cu2port_sim::note(e->graph->perform());
    const unsigned stream = cu2port_sim::number_of(s);
    cu2port_sim::stream_waits(stream, e->last);
    std::size_t used = 0;
    const int error = cu2port_sim::perform_in_order(*e, *e->graph, stream, used);
    cu2port_sim::note_moment(stream, e->last);
    return cu2port_sim::note(error);
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
