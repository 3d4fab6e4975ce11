// Launches: `kernel<<<...>>>(...)` rewritten, hipLaunchKernelGGL, hipLaunchKernel.
#pragma once

#include <memory>
#include <tuple>

#include "streams.h"

namespace cu2port_sim {

struct Config {
    dim3 blocks, threads;
    std::size_t dynamic = 0;
    hipStream_t stream = nullptr;
};
inline Config configure(dim3 blocks, dim3 threads, std::size_t dynamic = 0, hipStream_t stream = nullptr) {
    return {blocks, threads, dynamic, stream};
}

template <class T>
using Kept = std::decay_t<T>;

template <class K, class... A>
int start(const Config& c, const char* name, Where where, bool cooperative, K& kernel, std::tuple<A...>& args) {
    // by value: a copy that does not escape lets parameters live in registers
    auto lane = [kernel, args]() mutable { std::apply([&kernel](auto&... a) { kernel(a...); }, args); };
    const Grid grid{{c.blocks.x, c.blocks.y, c.blocks.z}, {c.threads.x, c.threads.y, c.threads.z}, c.dynamic, c.stream,
                    name, where, kWave, cooperative};
    return run_grid(grid, run_lanes<decltype(lane)>, &lane);
}

// What a rewritten `<<<>>>` calls: the configuration first, then a callable and the arguments.
struct Launch {
    Config config;
    const char* name;
    Where where;
    bool cooperative = false;

    template <class K, class... A>
    hipError_t operator()(K kernel, A&&... args) const {
        std::tuple<Kept<A>...> kept(std::forward<A>(args)...);
        if (real(config.stream) && config.stream->capture) {
            auto shared = std::make_shared<std::tuple<Kept<A>...>>(std::move(kept));
            const Launch self = *this;
            config.stream->capture->steps.emplace_back(
                [=]() mutable { note(start(self.config, self.name, self.where, self.cooperative, kernel, *shared)); });
            return hipSuccess;
        }
        return note(start(config, name, where, cooperative, kernel, kept));
    }
};

// A launch of a function pointer with its arguments in a tuple.
template <class... P>
hipError_t launch_tuple(void (*f)(P...), const Config& c, std::tuple<Kept<P>...> kept, Where where, bool cooperative) {
    return std::apply(
        [&](auto&... a) { return Launch{c, "given to hipLaunchKernel", where, cooperative}(f, a...); }, kept);
}

}  // namespace cu2port_sim

#define hipLaunchKernelGGL(kernel, blocks, threads, dynamic, stream, ...)                                           \
    (cu2port_sim::Launch{cu2port_sim::configure(blocks, threads, dynamic, stream), #kernel,                         \
                         cu2port_sim::Where::here()}([&](auto&... a) { (kernel)(a...); }, ##__VA_ARGS__))
#define hipLaunchKernelGGLInternal hipLaunchKernelGGL

template <class... P>
inline hipError_t hipLaunchKernel(void (*f)(P...), dim3 blocks, dim3 threads, void** args, size_t dynamic = 0,
                                  hipStream_t stream = nullptr, cu2port_sim::Where where = cu2port_sim::Where::here()) {
    std::size_t i = 0;
    (void)i;
    return cu2port_sim::launch_tuple<P...>(f, {blocks, threads, dynamic, stream},
                                           std::tuple<cu2port_sim::Kept<P>...>{*static_cast<cu2port_sim::Kept<P>*>(args[i++])...},
                                           where, false);
}
template <class... P>
inline hipError_t hipLaunchCooperativeKernel(void (*f)(P...), dim3 blocks, dim3 threads, void** args,
                                             size_t dynamic = 0, hipStream_t stream = nullptr,
                                             cu2port_sim::Where where = cu2port_sim::Where::here()) {
    std::size_t i = 0;
    (void)i;
    return cu2port_sim::launch_tuple<P...>(f, {blocks, threads, dynamic, stream},
                                           std::tuple<cu2port_sim::Kept<P>...>{*static_cast<cu2port_sim::Kept<P>*>(args[i++])...},
                                           where, true);
}
inline hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t = 0, hipStream_t = nullptr) {
    cu2port_sim::not_supported("hipLaunchKernel of a kernel whose type was cast away");
    return cu2port_sim::note(hipErrorNotSupported);
}
inline hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t = 0, hipStream_t = nullptr) {
    cu2port_sim::not_supported("hipLaunchCooperativeKernel of a kernel whose type was cast away");
    return cu2port_sim::note(hipErrorNotSupported);
}
