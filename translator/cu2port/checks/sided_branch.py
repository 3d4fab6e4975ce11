from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.sided_branches import sided_branches
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Directive

_BOTH = """#ifndef __CUDA_ARCH__
inline bool less(double a, double b) { return a < b; }
#else
__device__ inline bool less(float a, float b) { return a < b; }
#endif
"""
_BOTH_HIP = """inline bool less(double a, double b) { return a < b; }
#ifdef __HIPCC__
__device__ inline bool less(float a, float b) { return a < b; }
#endif
"""


class SidedBranch(Check):
    """A function of the device is there in the device's pass alone, by `#ifdef __CUDA_ARCH__`.

    nvcc does not look into kernels when it compiles for the host, nor into the host's functions when it compiles for
    the device. clang reads both each time, and does not find what they call. A function of the host and one of the
    device may have the same name and parameters in HIP, so that both are there in both passes.
    """

    code, name, severity = "CU266", "sided-branch", Severity.INFO
    triggers = frozenset({"__CUDA_ARCH__"})
    examples = (
        Example(_BOTH, _BOTH_HIP),
        Example(
            "#ifdef __CUDA_ARCH__ // GPU\n__device__ int f() { return 1; }\n#else\nint f() { return 2; }\n#endif\n",
            "#ifdef __HIPCC__ // GPU\n__device__ int f() { return 1; }\n#endif\nint f() { return 2; }\n",
            "the device's first",
        ),
        Example(
            "#ifdef __CUDA_ARCH__\ntemplate <class T> __device__ T f(T a) { return a; }\n#endif\n",
            "#ifdef __HIPCC__\ntemplate <class T> __device__ T f(T a) { return a; }\n#endif\n",
            "for the device alone",
        ),
        Example(
            "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 700)\n__device__ int f() { return 1; }\n#endif\n",
            "#ifdef __HIPCC__\n__device__ int f() { return 1; }\n#endif\n",
            "for GPUs that have what all of AMD's have",
        ),
        Example("#ifdef __CUDA_ARCH__\n__host__ __device__ int f() { return 1; }\n#endif\n", note="for both sides"),
        Example("#ifdef __CUDA_ARCH__\n__device__ int f() { return 1; }\nint x;\n#endif\n", note="not functions alone"),
        Example(
            "#ifdef __CUDA_ARCH__\n__device__ int f() { return 1; }\n#else\nBOTH int f() { return 2; }\n#endif\n",
            note="a macro that nothing here defines",
        ),
        Example("#ifndef __CUDA_ARCH__\nint f() { return 1; }\n#endif\n", note="for the host alone"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for found in unit.once(sided_branches).values():
            first, last = found.chain[0], found.chain[-1]
            start, end = first.start, unit.end(first.stop - 1)
            if found.device:  # the host's functions, then the device's
                edits = [_without(unit, first), replace(found.chain[1].start, found.chain[1].end, "#ifdef __HIPCC__")]
            else:
                edits = [replace(start, end, "#ifdef __HIPCC__")]
                if found.host:
                    edits += [replace(found.chain[1].start, found.chain[1].end, "#endif"), _without(unit, last)]
            yield self.finding(
                "functions of the device are asked for by `__CUDA_ARCH__`: HIP's host pass reads what calls them too",
                start,
                end,
                tuple(edits),
                cuda="__CUDA_ARCH__",
                hip="__HIPCC__",
                effects=(("all", "compile-error"),),
            )


def _without(unit: Unit, d: Directive) -> Edit:
    """A directive's line taken out."""
    end = unit.text.find("\n", d.end) + 1 or len(unit.text)
    return Edit(unit.line_start(d.start), end, ())
