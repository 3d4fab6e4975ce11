// Launches: `kernel<<<...>>>(...)` rewritten, hipLaunchKernelGGL, hipLaunchKernel.
#pragma once

#include <map>
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

// An argument whose copy constructor takes `T&`: lambdas and tuples copy what is const.
template <class T>
struct Held {
    T value;
    explicit Held(T& v) : value(v) {}
    Held(const Held& o) : value(const_cast<T&>(o.value)) {}
};
template <class T>
inline constexpr bool kCopiedAsMutable = !std::is_copy_constructible_v<T> && std::is_constructible_v<T, T&>;
template <class T>
using Kept = std::conditional_t<kCopiedAsMutable<std::decay_t<T>>, Held<std::decay_t<T>>, std::decay_t<T>>;
template <class T>
T& open(T& v) { return v; }
template <class T>
T& open(Held<T>& v) { return v.value; }

template <class K, class... A>
int start(const Config& c, const char* name, Where where, bool cooperative, K& kernel, std::tuple<A...>& args) {
    // by value: a copy that does not escape lets parameters live in registers
    auto lane = [kernel, args]() mutable { std::apply([&kernel](auto&... a) { kernel(open(a)...); }, args); };
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
        if (!is_immediate(config.stream)) {
            const Launch self = *this;
            return later(config.stream, [=]() mutable { return start(self.config, self.name, self.where, self.cooperative, kernel, kept); },
                         hipGraphNodeTypeKernel, false);
        }
        return note(start(config, name, where, cooperative, kernel, kept));
    }
    // For arguments that a macro's parameter is, which may be none.
    template <class K>
    auto of(K kernel) const {
        return [launch = *this, kernel](auto&&... args) { return launch(kernel, std::forward<decltype(args)>(args)...); };
    }
};

// `kernel ->* Launcher{...}(args)`: a launch whose configuration and arguments a macro puts behind the kernel's name.
template <class... A>
struct Launching {
    Launch launch;
    std::tuple<A...> args;
};
struct Launcher {
    Config config;
    const char* name;
    Where where;

    template <class... A>
    Launching<Kept<A>...> operator()(A&&... args) const {
        return {{config, name, where}, {std::forward<A>(args)...}};
    }
};
template <class K, class... A>
hipError_t operator->*(K kernel, Launching<A...> it) {
    return std::apply([&](A&... args) { return it.launch(kernel, args...); }, it.args);
}

// A kernel whose type is known, with arguments as hipLaunchKernel takes them: they are copied, the launch comes later.
template <class... P>
Task bind(void (*f)(P...), const char* name, const Config& c, void** args, Where where, bool cooperative) {
    std::size_t i = 0;
    (void)i;
    std::tuple<Kept<P>...> kept{*static_cast<std::decay_t<P>*>(args[i++])...};
    return [=]() mutable { return start(c, name, where, cooperative, f, kept); };
}

// Kernels whose type was cast away, by address. A cast of a function to `void*` is compiled as `erased(name, function)`.
struct Erased {
    const char* name;
    Task (*bind)(const void*, const char*, const Config&, void**, Where, bool);
};
inline std::map<const void*, Erased>& erased_kernels() {
    static std::map<const void*, Erased> kernels;
    return kernels;
}
template <class F>
struct Kernel {
    static void* erase(const char*, F other) { return (void*)other; }
};
template <class... P>
struct Kernel<void (*)(P...)> {
    static void* erase(const char* name, void (*f)(P...)) {
        void* p = reinterpret_cast<void*>(f);
        erased_kernels()[p] = {name, [](const void* q, const char* n, const Config& c, void** args, Where w, bool cooperative) {
                                   return bind(reinterpret_cast<void (*)(P...)>(const_cast<void*>(q)), n, c, args, w, cooperative);
                               }};
        return p;
    }
};
template <class T>
void* erased(const char* name, T&& kernel_or_data) {
    return Kernel<std::decay_t<T>>::erase(name, kernel_or_data);
}
// Empty when nobody knows the kernel.
inline Task bind_erased(const void* f, const Config& c, void** args, Where where, bool cooperative) {
    const auto found = erased_kernels().find(f);
    if (found == erased_kernels().end()) {
        not_supported("a launch of a kernel whose type was cast away before it was named");
        return {};
    }
    if (args == nullptr) return {};
    return found->second.bind(f, found->second.name, c, args, where, cooperative);
}
inline hipError_t launch_erased(const void* f, const Config& c, void** args, Where where, bool cooperative) {
    Task work = bind_erased(f, c, args, where, cooperative);
    if (!work) return note(args ? hipErrorNotSupported : hipErrorInvalidValue);
    return submit(c.stream, work, hipGraphNodeTypeKernel);
}

}  // namespace cu2port_sim

#define hipLaunchKernelGGL(kernel, blocks, threads, dynamic, stream, ...)                                           \
    (cu2port_sim::Launch{cu2port_sim::configure(blocks, threads, dynamic, stream), #kernel,                         \
                         cu2port_sim::Where::here()}([=](auto&... a) { (kernel)(a...); }, ##__VA_ARGS__))
#define hipLaunchKernelGGLInternal hipLaunchKernelGGL

#define CU2PORT_SIM_LAUNCH(name, cooperative)                                                                       \
    template <class... P>                                                                                           \
    inline hipError_t name(void (*f)(P...), dim3 blocks, dim3 threads, void** args, size_t dynamic = 0,             \
                           hipStream_t stream = nullptr, cu2port_sim::Where where = cu2port_sim::Where::here()) {   \
        return cu2port_sim::submit(stream,                                                                          \
                                   cu2port_sim::bind(f, "given by its address", {blocks, threads, dynamic, stream}, args, where, cooperative), \
                                   hipGraphNodeTypeKernel);                                                         \
    }                                                                                                               \
    inline hipError_t name(const void* f, dim3 blocks, dim3 threads, void** args, size_t dynamic = 0,               \
                           hipStream_t stream = nullptr, cu2port_sim::Where where = cu2port_sim::Where::here()) {   \
        return cu2port_sim::launch_erased(f, {blocks, threads, dynamic, stream}, args, where, cooperative);         \
    }
CU2PORT_SIM_LAUNCH(hipLaunchKernel, false)
CU2PORT_SIM_LAUNCH(hipLaunchCooperativeKernel, true)
#undef CU2PORT_SIM_LAUNCH

typedef enum hipLaunchAttributeID {
    hipLaunchAttributeAccessPolicyWindow = 1,
    hipLaunchAttributeCooperative = 2,
    hipLaunchAttributeSynchronizationPolicy = 3,
    hipLaunchAttributePriority = 8,
    hipLaunchAttributeMemSyncDomainMap = 9,
    hipLaunchAttributeMemSyncDomain = 10,
    hipLaunchAttributeMax
} hipLaunchAttributeID;
typedef enum hipAccessProperty { hipAccessPropertyNormal, hipAccessPropertyStreaming, hipAccessPropertyPersisting } hipAccessProperty;
typedef struct hipAccessPolicyWindow {
    void* base_ptr;
    hipAccessProperty hitProp;
    float hitRatio;
    hipAccessProperty missProp;
    size_t num_bytes;
} hipAccessPolicyWindow;
typedef enum hipSynchronizationPolicy {
    hipSyncPolicyAuto = 1,
    hipSyncPolicySpin,
    hipSyncPolicyYield,
    hipSyncPolicyBlockingSync
} hipSynchronizationPolicy;
typedef enum hipLaunchMemSyncDomain { hipLaunchMemSyncDomainDefault, hipLaunchMemSyncDomainRemote } hipLaunchMemSyncDomain;
typedef struct hipLaunchMemSyncDomainMap {
    unsigned char default_, remote;
} hipLaunchMemSyncDomainMap;
typedef union hipLaunchAttributeValue {
    char pad[64];
    hipAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    int priority;
    hipSynchronizationPolicy syncPolicy;
    hipLaunchMemSyncDomainMap memSyncDomainMap;
    hipLaunchMemSyncDomain memSyncDomain;
} hipLaunchAttributeValue;
typedef struct hipLaunchAttribute_st {
    hipLaunchAttributeID id;
    union {
        hipLaunchAttributeValue val, value;
    };
} hipLaunchAttribute;
typedef struct hipLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    hipLaunchAttribute* attrs;
    unsigned numAttrs;
} hipLaunchConfig_t;

namespace cu2port_sim {
inline bool cooperative(const hipLaunchConfig_t& c) {
    for (unsigned i = 0; i < c.numAttrs; ++i)
        if (c.attrs[i].id == hipLaunchAttributeCooperative && c.attrs[i].val.cooperative) return true;
    return false;
}
inline Config configure(const hipLaunchConfig_t& c) { return {c.gridDim, c.blockDim, c.dynamicSmemBytes, c.stream}; }
}  // namespace cu2port_sim
template <class... P, class... A>
inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t* c, void (*f)(P...), A&&... args) {
    return cu2port_sim::Launch{cu2port_sim::configure(*c), "given to hipLaunchKernelEx", {__FILE__, __LINE__},
                               cu2port_sim::cooperative(*c)}(f, static_cast<P>(std::forward<A>(args))...);
}
inline hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* c, const void* f, void** args,
                                     cu2port_sim::Where where = cu2port_sim::Where::here()) {
    return cu2port_sim::launch_erased(f, cu2port_sim::configure(*c), args, where, cu2port_sim::cooperative(*c));
}
