from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_HEADERS = ("ATen/cuda/", "c10/cuda/", "torch/csrc/cuda/", "THC/")
_SPACES = frozenset({"at", "c10"})
_WORDS = frozenset({"cuda", "THC"})  # one of them is in each


class PytorchLayer(Check):
    """A file uses PyTorch's own CUDA layer (`at::cuda`, `c10::cuda`), whose names PyTorch changes itself for ROCm.

    They stay as they are: `torch.utils.cpp_extension` puts `at::hip` and `ATen/hip/` in their place when it builds with
    a PyTorch for ROCm, and leaves HIP's names alone. Another build must do that itself. Reported once a file.
    """

    code, name, severity = "CU730", "pytorch-cuda-layer", Severity.INFO
    examples = (
        Example(
            "#include <ATen/cuda/CUDAContext.h>\nvoid f() { cudaStream_t s = at::cuda::getCurrentCUDAStream(); }\n",
            "#include <ATen/cuda/CUDAContext.h>\nvoid f() { hipStream_t s = at::cuda::getCurrentCUDAStream(); }\n",
            findings=1,
        ),
        Example(
            "#define GUARD(d) c10::cuda::CUDAGuard guard(d)\n",
            "#define GUARD(d) c10::cuda::CUDAGuard guard(d)\n",
            note="in a macro body",
        ),
        Example(
            "#include <torch/extension.h>\nnamespace at { struct cuda; } int c10 = 0;\n", note="other parts of PyTorch"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.may_hold(_WORDS):
            return
        places = [(i.start, i.end) for i in unit.includes if i.path.startswith(_HEADERS)]
        if "cuda" in unit.words:
            for i in unit.find(*_SPACES):
                if unit.t[i + 1 : i + 4] == ["::", "cuda", "::"] and not unit.is_member(i):
                    places.append((unit.p[i], unit.end(i + 2)))
        if places:
            start, end = min(places)
            yield self.finding("PyTorch's CUDA layer stays; its own build changes these names for ROCm", start, end)
