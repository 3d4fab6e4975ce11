// Which branches of a kernel were executed, in the CUDA program of a trial. Conditions are compiled as
// `cu2port_trial::branch(number, condition)`.
#pragma once

namespace cu2port_trial {

constexpr unsigned kBranches = 4096;
inline unsigned char branches[kBranches];  // bits: 1 false, 2 true, 4 the condition is a constant

__attribute__((always_inline)) inline bool branch(unsigned number, bool condition) {
    const unsigned char bits = __builtin_constant_p(condition) ? 4 : condition ? 2 : 1;
    if (number < kBranches) branches[number] |= bits;
    return condition;
}

}  // namespace cu2port_trial
