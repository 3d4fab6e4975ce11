// The host API, second part: streams, events, functions.
#pragma once

#include "api.h"
#include "not_simulated.h"

// --- streams, events --------------------------------------------------------------------------------------------

namespace cu2port_sim {
inline void join_capture(hipStream_t s, ihipGraph* g, const std::vector<hipGraphNode_t>& after);
inline void leave_capture(hipStream_t s);
template <class F>
hipError_t submit_host(hipStream_t s, F call) {
    if (is_immediate(s)) return note(call());
    return submit(s, orders_work() ? host_function(call) : Task(call), hipGraphNodeTypeHost);
}
}  // namespace cu2port_sim
inline hipError_t hipStreamCreate(hipStream_t* s) { return *s = new ihipStream_t, hipSuccess; }
inline hipError_t hipStreamCreateWithFlags(hipStream_t* s, unsigned flags) { return *s = new ihipStream_t{nullptr, {}, flags, 0}, hipSuccess; }
inline hipError_t hipStreamCreateWithPriority(hipStream_t* s, unsigned flags, int priority) {
    return *s = new ihipStream_t{nullptr, {}, flags, priority}, hipSuccess;
}
inline hipError_t hipStreamDestroy(hipStream_t s) {
    if (!cu2port_sim::real(s)) return cu2port_sim::note(hipErrorInvalidHandle);
    cu2port_sim::end_stream(s->number);
    if (s->capture) cu2port_sim::leave_capture(s);
    delete s;
    return hipSuccess;
}
inline hipError_t hipStreamSynchronize(hipStream_t s) {
    return cu2port_sim::host_waits_for(cu2port_sim::number_of(s)), hipSuccess;
}
inline hipError_t hipStreamQuery(hipStream_t s) {
    return cu2port_sim::is_done(cu2port_sim::number_of(s)) ? hipSuccess : hipErrorNotReady;
}
inline hipError_t hipStreamGetFlags(hipStream_t s, unsigned* f) { return *f = cu2port_sim::real(s) ? s->flags : 0, hipSuccess; }
inline hipError_t hipStreamGetPriority(hipStream_t s, int* p) { return *p = cu2port_sim::real(s) ? s->priority : 0, hipSuccess; }
inline hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned = 0) {
    if (cu2port_sim::real(s) && e && e->by && e->by->capture && e->by->capture == e->capture) {
        cu2port_sim::join_capture(s, e->capture, e->captured);
    } else if (e) {
        cu2port_sim::stream_waits(cu2port_sim::number_of(s), e->moment);
    }
    return hipSuccess;
}
inline hipError_t hipStreamAddCallback(hipStream_t s, hipStreamCallback_t f, void* data, unsigned) {
    return cu2port_sim::submit_host(s, [=] { return f(s, hipSuccess, data), 0; });
}
inline hipError_t hipLaunchHostFunc(hipStream_t s, hipHostFn_t f, void* data) {
    return cu2port_sim::submit_host(s, [=] { return f(data), 0; });
}
inline hipError_t hipEventCreate(hipEvent_t* e) { return *e = new ihipEvent_t, hipSuccess; }
inline hipError_t hipEventCreateWithFlags(hipEvent_t* e, unsigned flags) { return *e = new ihipEvent_t{-1, flags}, hipSuccess; }
inline hipError_t hipEventDestroy(hipEvent_t e) { return delete e, hipSuccess; }
inline hipError_t hipEventRecord(hipEvent_t e, hipStream_t s = nullptr) {
    if (e == nullptr) return cu2port_sim::note(hipErrorInvalidHandle);
    e->by = cu2port_sim::real(s) && s->capture ? s : nullptr;
    e->capture = e->by ? s->capture : nullptr;
    e->captured = e->by ? s->captured : std::vector<hipGraphNode_t>();
    cu2port_sim::note_moment(cu2port_sim::number_of(s), e->moment);
    return e->time = cu2port_sim::seconds(), hipSuccess;
}
inline hipError_t hipEventRecordWithFlags(hipEvent_t e, hipStream_t s = nullptr, unsigned = 0) { return hipEventRecord(e, s); }
inline hipError_t hipEventSynchronize(hipEvent_t e) { return e ? cu2port_sim::host_waits(e->moment) : void(), hipSuccess; }
inline hipError_t hipEventQuery(hipEvent_t e) {
    return !e || cu2port_sim::is_done(e->moment) ? hipSuccess : hipErrorNotReady;
}
inline hipError_t hipEventElapsedTime(float* ms, hipEvent_t a, hipEvent_t b) {
    if (ms == nullptr) return cu2port_sim::note(hipErrorInvalidValue);
    if (!a || !b || a->time < 0 || b->time < 0 || ((a->flags | b->flags) & hipEventDisableTiming))
        return cu2port_sim::note(hipErrorInvalidHandle);
    return *ms = static_cast<float>((b->time - a->time) * 1e3), hipSuccess;
}

// --- functions ---------------------------------------------------------------------------------------------------

template <class F>
inline hipError_t hipFuncSetCacheConfig(F, hipFuncCache_t) { return hipSuccess; }
template <class F>
inline hipError_t hipFuncSetSharedMemConfig(F, hipSharedMemConfig) { return hipSuccess; }
template <class F>
inline hipError_t hipFuncSetAttribute(F, hipFuncAttribute attribute, int value) {
    const bool large = attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
                       value > static_cast<int>(cu2port_sim::kLocalMemory);
    return cu2port_sim::note(large ? hipErrorInvalidValue : hipSuccess);
}
template <class F>
inline hipError_t hipFuncGetAttributes(hipFuncAttributes* a, F) {
    *a = {90, 0, 0, 0, static_cast<int>(cu2port_sim::kLocalMemory), 1024, 32, 0, 90, 0};
    return hipSuccess;
}
template <class F>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* n, F, int threads, size_t) {
    *n = static_cast<int>(cu2port_sim::cooperative_blocks(static_cast<std::uint64_t>(threads))) / cu2port_sim::kUnits;
    return hipSuccess;
}
template <class F>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, F f, int threads, size_t m, unsigned) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, m);
}
template <class F>
inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 256 ? limit : 256;
    *grid = 4 * cu2port_sim::kUnits;
    return hipSuccess;
}
template <class F>
inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, F f, size_t m = 0, int limit = 0, unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, f, m, limit);
}
template <class F, class S>
inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F f, S, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit);
}
template <class F, class S>
inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, F f, S, int limit = 0, unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit);
}
template <class F>
inline hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* n, F, int, int) {
    return *n = cu2port_sim::kLocalMemory, hipSuccess;
}
