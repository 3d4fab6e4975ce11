// What runs a trial's kernels: the simulator, or with CU2PORT_TRIAL_GPU the runtime of HIP (tools/trial_executor.py).
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "branch.h"
#include "layout.h"

namespace cu2port_trial {

struct Place {
    dim3 block, thread;
};

#ifdef CU2PORT_TRIAL_GPU
inline void begin_runs(void*, void*) {}
inline void watch_variables(const std::vector<std::pair<const char*, std::size_t>>&) {}
inline Place here() { return {}; }
inline std::size_t dynamic_written() { return 0; }
template <class... P, class Args, std::size_t... I>
int start(void (*kernel)(P...), const char*, dim3 grid, dim3 block, std::size_t dynamic, Args& args, std::index_sequence<I...>) {
    void* places[] = {static_cast<void*>(&std::get<I>(args))..., nullptr};
    return hipLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, places, dynamic, nullptr);
}
template <class T>
void* address_of(T& variable) {
    void* out = nullptr;
    (void)hipGetSymbolAddress(&out, reinterpret_cast<const void*>(&variable));
    return out;
}
#else
// Memory between two addresses is watched like the GPU's.
inline void begin_runs(void* first, void* last) {
    const cu2port_sim::Launch warm{cu2port_sim::configure(1, 1), "nothing", {"the trial", 0}};
    warm([](int) {}, 0);  // the runtime takes its signals with the first launch
    cu2port_sim::watch_memory(first, last);
}
#ifdef __linux__
extern "C" char __executable_start[], _end[];  // of the program
#endif
// What is beside the GPU's variables is watched too.
inline void watch_variables(const std::vector<std::pair<const char*, std::size_t>>& known) {
#ifdef __linux__
    cu2port_sim::watch_variables(__executable_start, _end, known);
#else
    (void)known;
#endif
}
using cu2port_sim::dynamic_written;
// In a kernel: of the thread that runs.
inline Place here() {
    return {dim3(blockIdx.x, blockIdx.y, blockIdx.z), dim3(threadIdx.x, threadIdx.y, threadIdx.z)};
}
template <class... P, class Args, std::size_t... I>
int start(void (*kernel)(P...), const char* name, dim3 grid, dim3 block, std::size_t dynamic, Args& args, std::index_sequence<I...>) {
    const cu2port_sim::Config config{grid, block, dynamic, nullptr};
    return cu2port_sim::start(config, name, {"the trial", 0}, false, kernel, args);
}
template <class T>
void* address_of(T& variable) {
    return const_cast<void*>(static_cast<const volatile void*>(&variable));
}
#endif

}  // namespace cu2port_trial
