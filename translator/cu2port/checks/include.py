from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.findings import Kind
from cu2port.catalog.includes import include_findings
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class IncludeHeader(RowCheck):
    """A CUDA header's include becomes the HIP header's, once each; what nvcc includes by itself is written out.

    nvcc puts `cuda_runtime.h` before everything in a .cu file. HIP compilers do not, so a .cu file gets
    `hip/hip_runtime.h` on top unless its own includes bring it in time.
    """

    code, name, severity = "CU107", "include", Severity.INFO
    kind = Kind.INCLUDE
    examples = (
        Example("#include <cuda_runtime.h>\n", "#include <hip/hip_runtime.h>\n"),
        Example("#include <cuda.h>\n#include <cuda_runtime.h>\n", "#include <hip/hip_runtime.h>\n", "once", findings=2),
        Example(
            "#include <cuda_gl_interop.h>\nGLenum e = GL_TEXTURE_2D;\n",
            "#include <GL/gl.h>\n#include <hip/hip_gl_interop.h>\nGLenum e = GL_TEXTURE_2D;\n",
            "CUDA's header includes OpenGL's",
        ),
        Example(
            "#include <cuda_bf16.h>\n__nv_bfloat16 half_of(__nv_bfloat16 x);\n",
            "#ifndef __HIP__  // the compiler of the host does not take all of the next header\n"
            "#define HIP_INCLUDE_HIP_AMD_DETAIL_WARP_FUNCTIONS_H\n#endif\n#include <hip/hip_bf16.h>\n"
            "__hip_bfloat16 half_of(__hip_bfloat16 x);\n",
            "HIP's header has functions that the compiler of the host does not take",
            path="a.h",
        ),
        Example("#include <vector>\n", note="not CUDA's"),
        Example(
            "__global__ void k() {}\n",
            "#include <hip/hip_runtime.h>\n__global__ void k() {}\n",
            "added",
            path="a.cu",
            findings=1,
        ),
        Example(
            "#define ulong4 uint4\n#include <vector>\n__global__ void k(ulong4* p) {}\n",
            "#include <hip/hip_runtime.h>\n#define ulong4 uint4\n#include <vector>\n__global__ void k(ulong4* p) {}\n",
            "before a macro that has the name of a type",
            path="a.cu",
            findings=1,
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(include_findings(unit))
