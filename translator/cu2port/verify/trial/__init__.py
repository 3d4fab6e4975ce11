"""Kernel against kernel: each CUDA kernel and what it was converted to, run on the CPU on the same made-up arguments.

`kernels` finds the kernels with what their launches tell (`arguments`, `given`); `slices` takes from the files what
one kernel needs, `fitting` leaves out what does not compile of it; `program` makes the texts that are compiled, with
counters of branches (`branches`) and the members of structs (`members`); `run` builds and runs them; `verdict`
judges. The programs share headers in include/sim/cu2port_trial; CUDA's meaning is in include/sim/cuda, apart from the
converter's rules.
"""
