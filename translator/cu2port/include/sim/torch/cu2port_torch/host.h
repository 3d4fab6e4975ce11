// What a torch extension compiles with in the simulator: torch is built for the CPU, and its tensors are in the host's
// memory, which the simulated GPU sees too. A header in front of each of torch's ends with this one, and begins with
// taking its macros away (standin/extensions.py). What extensions ask of a tensor's device is answered as for the GPU,
// and operators that they register for the GPU are the ones that run, in place of those for the CPU. `is_cuda()` is
// false while Python calls a function with tensors of the host alone; `==` lets `!x.is_cuda()` and a comparison of two
// of them mean what they say.

#ifndef CU2PORT_TORCH_HOST
#define CU2PORT_TORCH_HOST
extern "C" __attribute__((weak)) bool cu2port_sim_on_gpu();  // a part without code for the GPU has no runtime
namespace cu2port_torch {
inline bool on_gpu() { return cu2port_sim_on_gpu && cu2port_sim_on_gpu(); }
}  // namespace cu2port_torch
#endif

#define is_cuda() is_cpu() == cu2port_torch::on_gpu()
#define kCUDA kCPU
#define CUDA CPU
#ifdef TORCH_LIBRARY_IMPL
#undef TORCH_LIBRARY_IMPL
#define TORCH_LIBRARY_IMPL(library, key, name) _TORCH_LIBRARY_IMPL(library, CU2PORT_KEY_##key, name, C10_UID)
#define CU2PORT_KEY_CUDA CPU
#define CU2PORT_KEY_CPU IPU
#define CU2PORT_KEY_Autograd Autograd
#define CU2PORT_KEY_AutogradCUDA AutogradCPU
#define CU2PORT_KEY_AutogradCPU AutogradIPU
#define CU2PORT_KEY_Autocast AutocastCPU
#define CU2PORT_KEY_AutocastCUDA AutocastCPU
#define CU2PORT_KEY_AutocastCPU AutocastIPU
#define CU2PORT_KEY_Meta Meta
#define CU2PORT_KEY_CatchAll CatchAll
#define CU2PORT_KEY_CompositeImplicitAutograd CompositeImplicitAutograd
#define CU2PORT_KEY_CompositeExplicitAutograd CompositeExplicitAutograd
#define CU2PORT_KEY_BackendSelect BackendSelect
#define CU2PORT_KEY_ADInplaceOrView ADInplaceOrView
#define CU2PORT_KEY_QuantizedCPU QuantizedCPU
#define CU2PORT_KEY_QuantizedCUDA QuantizedCUDA
#define CU2PORT_KEY_SparseCPU SparseCPU
#define CU2PORT_KEY_SparseCUDA SparseCUDA
#endif
