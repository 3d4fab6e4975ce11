from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_LIBRARIES = {
    "glm": "GLM marks its functions for the device if it sees HIP's header first: <hip/hip_runtime.h> goes before it; "
    "versions before 0.9.9.9 do not know HIP: take a newer one, or define GLM_FORCE_CUDA, CUDA_VERSION as 9000 and "
    "__CUDACC__ for GLM's includes alone. Compile with -DNDEBUG, its assertions are for the host",
    "Eigen": "Eigen has a branch for HIP of its own: leave __CUDA_ARCH__ and __CUDACC__ undefined, and define "
    "EIGEN_NO_CUDA where a build defines them",
}


class DeviceLibrary(Check):
    """A library of templates that has code for CUDA and for HIP is included where there is device code.

    GLM and Eigen choose by macros which functions the device may call, and the wrong order of includes or a macro left
    over from the CUDA build gives functions for the host alone: compile errors inside the library.
    """

    code, name, severity = "CU731", "device-library", Severity.INFO
    triggers = frozenset({"__device__", "__global__"})
    note_minutes = 5
    examples = (
        Example(
            "#include <glm/glm.hpp>\n__device__ glm::vec3 f();\n", "#include <glm/glm.hpp>\n__device__ glm::vec3 f();\n"
        ),
        Example("#include <glm/glm.hpp>\nglm::vec3 f();\n", note="no device code"),
        Example("#include <math.h>\n__device__ float f();\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not any(library in unit.text for library in _LIBRARIES):
            return
        if not unit.words & {"__device__", "__global__"}:
            return
        told: set[str] = set()
        for inc in unit.includes:
            library = inc.path.partition("/")[0]
            if library in _LIBRARIES and library not in told:
                told.add(library)
                yield self.finding(_LIBRARIES[library], inc.start, inc.end)
