from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity, Trust
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.warp.native import HEADER
from cu2port.warp.native.asked import native

_NATIVE = Options(warp="native")
_BLOCK = """__device__ float block_sum(float v) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}
"""
_BLOCK_WAVE = """#include "cu2port/wave.hpp"
__device__ float block_sum(float v) {
  __shared__ float s[32];
  int lane = threadIdx.x % cu2port::wave::size(), warp = threadIdx.x / cu2port::wave::size();
  v = cu2port::wave::sum(v);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  v = threadIdx.x < cu2port::wave::count(blockDim.x) ? s[lane] : 0;
  v = cu2port::wave::sum(v);
  return v;
}
"""
_COUNT = """__global__ void count(const int* in, int* out) {
  int n = __popc(__ballot_sync(0xffffffff, in[threadIdx.x]));
  if ((threadIdx.x & 31) == 0) atomicAdd(out, n);
}
void f(int* p) { count<<<1, 256>>>(p, p + 256); }
"""
_BODY = """#define SUM(v) for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o)
__device__ float f(float v) { SUM(v); return v; }
"""
_MACRO = """#define LANES 32
__global__ void k(int* p) {
  int v = p[threadIdx.x];
  v += __shfl_down_sync(~0u, v, LANES / 2);
  v += __shfl_down_sync(~0u, v, 8);
  v += __shfl_down_sync(~0u, v, 4);
  v += __shfl_down_sync(~0u, v, 2);
  v += __shfl_down_sync(~0u, v, 1);
  if (threadIdx.x % LANES == 0) CHECK(atomicAdd(p, v));
}
"""


class NativeKernel(Check):
    """Code that works with whole wavefronts, of 32 lanes or of 64, in place of CUDA's warps (`--warp native`).

    Where an answer does not depend on how many lanes meet, such as the sum over a block, all lanes of a wavefront may
    work together: half as many steps in shared memory, and nothing kept apart. Sums of floating-point numbers are made
    in another order. A kernel becomes native as a whole or not at all.
    """

    code, name, severity = "CU356", "native-kernel", Severity.INFO
    modes = frozenset({"native"})
    examples = (
        Example(_BLOCK, _BLOCK_WAVE, "a function that any kernel may call", options=_NATIVE, findings=1),
        Example(
            _COUNT,
            '#include <hip/hip_runtime.h>\n#include "cu2port/wave.hpp"\n'
            "__global__ void count(const int* in, int* out) {\n"
            "  int n = cu2port::wave::popc(in[threadIdx.x]);\n"
            "  if ((threadIdx.x & (cu2port::wave::size() - 1)) == 0) atomicAdd(out, n);\n}\n"
            "void f(int* p) { count<<<1, 256>>>(p, p + 256); }\n",
            "votes, and an atomic operation for each warp",
            path="a.cu",
            options=Options(kernels=(("count", "native"),)),
        ),
        Example(_COUNT, note="not asked for"),
        Example(_BODY, note="in a macro body warps stay", options=_NATIVE),
        Example(_MACRO, note="as a macro's argument: what CHECK does is not known", path="a.cu", options=_NATIVE),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        found = native(unit)
        for f, edits in found.findings:
            kernel = f in found.kernels
            yield self.finding(
                f"`{f.name}` works with whole wavefronts" + ("" if kernel else ", for every caller"),
                unit.p[f.name_at],
                unit.end(f.name_at),
                edits,
                trust=Trust.REVIEW,
                helpers=(HEADER,),
            )
