from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.findings import Kind
from cu2port.catalog.includes import include_findings
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class IncludeUnknown(RowCheck):
    """An include looks like a CUDA header or of a library that needs CUDA, and no HIP header is known for it.

    It stays, so that HIP's compiler stops there. Where the library is known, the finding names what AMD GPUs have
    instead. Look for what the file uses of it (`cu2port query NAME`), include what declares that in HIP, and take this
    line out.
    """

    code, name, severity = "CU108", "unknown-cuda-header", Severity.WARNING
    kind = Kind.UNKNOWN_HEADER
    minutes = 10
    examples = (
        Example("#include <cuda_frobnicate.h>\n", "#include <cuda_frobnicate.h>\n"),
        Example("#include <custatevec.h>\n", "#include <custatevec.h>\n"),
        Example("#include <nvcomp/lz4.hpp>\n", "#include <nvcomp/lz4.hpp>\n"),
        Example("#include <opencv2/cudaarithm.hpp>\n", "#include <opencv2/cudaarithm.hpp>\n"),
        Example(
            "#include <cub/cub.cuh>\n#include <cub/test/test_util.h>\n",
            "#include <hipcub/hipcub.hpp>\n#include <cub/test/test_util.h>\n",
            "of tests that hipCUB does not have",
            findings=1,
        ),
        Example('#include "mycuda.h"\n', note="a header of the project"),
        Example('#include "cuda_paths.hpp"\n#include <nvrtc_kernels/sum.h>\n', note="headers that a build makes"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(include_findings(unit))
