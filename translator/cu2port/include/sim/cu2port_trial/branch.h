// Which branches of a kernel were executed, in the CUDA program of a trial. Conditions are compiled as
// `CU2PORT_BRANCH(number, condition)`. What it stands for is in the text of a program, so no macro there has such names.
#pragma once

#include <cstdint>

namespace cu2port_trial {

constexpr unsigned kBranches = 4096, cu2port_branches = kBranches;
inline unsigned char branches[kBranches];  // bits: 1 false, 2 true, 4 the condition is a constant
inline std::uint32_t counts[kBranches];    // how often each was true

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

}  // namespace cu2port_trial

#ifdef CU2PORT_TRIAL_WATCHED  // where accesses to memory are: not to these counters
#define CU2PORT_BRANCH(number, ...) static_cast<bool>(__VA_ARGS__)
#else
#define CU2PORT_BRANCH(number, ...) ::cu2port_trial::cu2port_branch<(number) % ::cu2port_trial::cu2port_branches>(static_cast<bool>(__VA_ARGS__))
#endif
