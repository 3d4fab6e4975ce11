// Which branches of a kernel were executed, in the CUDA program of a trial. Conditions are compiled as
// `CU2PORT_BRANCH(number, condition)`, or `CU2PORT_NEAR(number, nearness, condition)` where integers are compared. What it stands for is in the text of a program, so no macro there has such names.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cu2port_trial {

constexpr unsigned kBranches = 4096, cu2port_branches = kBranches;
inline unsigned char branches[kBranches];  // bits: 1 false, 2 true, 4 the condition is a constant
inline std::uint32_t counts[kBranches];    // how often each was true
inline std::uint32_t nearest[kBranches][2];  // the complement of the least by which what it compares was apart, where it was false or true

// The numbers of those that the compiler made code for: what an #if or a template's argument leaves out is no branch.
extern "C" const std::uint32_t __start_cu2port_branches[] __attribute__((weak));
extern "C" const std::uint32_t __stop_cu2port_branches[] __attribute__((weak));

template <unsigned N>
__attribute__((always_inline)) inline void note(bool condition) {
    __asm__ volatile(".pushsection cu2port_branches,\"a\"\n\t.long %c0\n\t.popsection" : : "i"(N));
    const unsigned char bits = __builtin_constant_p(condition) ? 4 : condition ? 2 : 1;
    branches[N] |= bits;
    counts[N] += condition;
}
template <unsigned N>  // also in constant expressions, where there is nothing to note
__attribute__((always_inline)) constexpr bool cu2port_branch(bool condition) {
    if (!__builtin_is_constant_evaluated()) note<N>(condition);
    return condition;
}

// The complement of the difference of two integers; 0 for what has none.
template <class A, class B>
__attribute__((always_inline)) constexpr std::uint32_t cu2port_nearness(const A& a, const B& b) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) > 1 && sizeof(B) > 1) {
        const auto x = static_cast<std::uint64_t>(static_cast<std::int64_t>(a)), y = static_cast<std::uint64_t>(static_cast<std::int64_t>(b));
        const std::uint64_t apart = static_cast<std::int64_t>(x - y) < 0 ? y - x : x - y;
        return apart >> 32 ? 0 : ~static_cast<std::uint32_t>(apart);
    } else {
        return 0;
    }
}
template <unsigned N>
__attribute__((always_inline)) constexpr bool cu2port_near(std::uint32_t nearness, bool condition) {
    if (!__builtin_is_constant_evaluated() && nearness > nearest[N][condition]) nearest[N][condition] = nearness;
    return condition;
}

}  // namespace cu2port_trial

#ifdef CU2PORT_TRIAL_WATCHED  // where accesses to memory are: not to these counters
#define CU2PORT_BRANCH(number, ...) static_cast<bool>(__VA_ARGS__)
#define CU2PORT_NEAR(number, nearness, ...) static_cast<bool>(__VA_ARGS__)
#else
#define CU2PORT_BRANCH(number, ...) ::cu2port_trial::cu2port_branch<(number) % ::cu2port_trial::cu2port_branches>(static_cast<bool>(__VA_ARGS__))
#define CU2PORT_NEAR(number, nearness, ...) ::cu2port_trial::cu2port_near<(number) % ::cu2port_trial::cu2port_branches>(nearness, CU2PORT_BRANCH(number, __VA_ARGS__))
#endif
