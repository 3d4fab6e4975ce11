// What graphs are made of. Launching runs the nodes one after the other, each after those that it depends on, otherwise in
// the order in which they were added; under --check edges alone order them.
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
    hipEvent_t event = nullptr;  // that it records or waits for
    bool enabled = true;
};
struct ihipGraph {
    std::vector<std::unique_ptr<hipGraphNode>> nodes;
    std::vector<hipStream_t> streams{};  // that capture into it

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
    // Under --check: clocks for nodes that may overlap, and the end of its last launch, which the next one comes after.
    std::vector<unsigned> clocks{};
    cu2port_sim::Moment last{};

    ~hipGraphExec() {
        for (const unsigned c : clocks) cu2port_sim::end_stream(c);
    }
};

namespace cu2port_sim {

inline void record(hipStream_t s, hipGraphNodeType type, Task work) {
    if (type == hipGraphNodeTypeMemcpy) work = held_copy(std::move(work));
    s->captured = {s->capture->add(type, std::move(work), s->captured.data(), s->captured.size())};
}
inline void join_capture(hipStream_t s, ihipGraph* g, const std::vector<hipGraphNode_t>& after) {
    if (s->capture != g) g->streams.push_back(s), s->capture = g, s->captured.clear();
    for (hipGraphNode_t n : after)
        if (std::find(s->captured.begin(), s->captured.end(), n) == s->captured.end()) s->captured.push_back(n);
}
inline void leave_capture(hipStream_t s) {
    auto& all = s->capture->streams;
    all.erase(std::remove(all.begin(), all.end(), s), all.end());
    s->capture = nullptr;
    s->captured.clear();
}
// Whether the work of all streams that captured comes before what this one would do next.
inline bool is_joined(hipStream_t s) {
    std::vector<hipGraphNode_t> seen = s->captured;
    for (std::size_t i = 0; i < seen.size(); ++i)
        for (hipGraphNode_t n : seen[i]->after)
            if (std::find(seen.begin(), seen.end(), n) == seen.end()) seen.push_back(n);
    for (hipStream_t other : s->capture->streams)
        for (hipGraphNode_t n : other->captured)
            if (std::find(seen.begin(), seen.end(), n) == seen.end()) return false;
    return true;
}

// The nodes as work of their own, which edges alone order, behind what `stream` has now; its next work comes after all.
// A node goes on with the clock of the first one that it depends on, if no other node does.
inline int perform_in_order(hipGraphExec& e, const ihipGraph& g, unsigned stream, std::size_t& used) {
    struct Ended {
        hipGraphNode_t node;
        unsigned clock;
        bool is_last;  // of its clock
        Moment moment;
    };
    std::vector<Ended> ended;
    Moment start;
    note_moment(stream, start);
    bool first = true;
    int error = 0;
    for (hipGraphNode_t n : g.sorted()) {
        unsigned clock = stream;
        auto before = [&](hipGraphNode_t x) -> Ended& {
            return *std::find_if(ended.begin(), ended.end(), [x](const Ended& y) { return y.node == x; });
        };
        if (!n->after.empty() && before(n->after[0]).is_last) {
            clock = before(n->after[0]).clock;
            before(n->after[0]).is_last = false;
        } else if (!first) {
            if (used == e.clocks.size()) e.clocks.push_back(new_stream(false));
            clock = e.clocks[used++];
        }
        first = false;
        stream_waits(clock, start);
        for (hipGraphNode_t x : n->after) stream_waits(clock, before(x).moment);
        int result = 0;
        if (n->enabled && n->child)
            result = perform_in_order(e, *n->child, clock, used);
        else if (n->enabled && n->event && n->type == hipGraphNodeTypeEventRecord)
            note_moment(clock, n->event->moment);
        else if (n->enabled && n->event)
            stream_waits(clock, n->event->moment);
        else if (n->enabled && n->work)
            result = order_work(clock, false, n->work);
        if (error == 0) error = result;
        ended.push_back({n, clock, true, {}});
        note_moment(clock, ended.back().moment);
    }
    for (const Ended& x : ended) stream_waits(stream, x.moment);
    return error;
}

inline hipError_t add_node(hipGraphNode_t* out, hipGraph_t g, const hipGraphNode_t* after, std::size_t n,
                           hipGraphNodeType type, Task work) {
    if (out == nullptr || g == nullptr || (n && after == nullptr)) return note(hipErrorInvalidValue);
    if (type == hipGraphNodeTypeMemcpy) work = held_copy(std::move(work));
    *out = g->add(type, std::move(work), after, n);
    return hipSuccess;
}

}  // namespace cu2port_sim
