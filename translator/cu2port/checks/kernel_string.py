from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit

_KERNEL = regex(r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+(\w+)|\w)")
_MODULE = regex(r"\.version\s+\d+\.\d+[\s\S]*?\.target\s+sm_|\.visible\s+\.entry\s+(\w+)")
_ENTRY = regex(r"\.entry\s+([\w$]+)")
_FILES = ('.ptx"', '.cubin"', '.fatbin"')
_PART = regex(
    r"(__(?:shfl|ballot|any|all|match|reduce)\w*_sync)\s*\(|#\s*(?:if|ifdef|ifndef|elif)\b[^\n]{0,200}(__CUDA_ARCH__)"
    r"|#\s*include\s*<(cuda\w*\.h|cooperative_groups\.h|mma\.h)>|(\basm\s+volatile)\s*\("
)
_SIGNS = ("__global__", ".entry", "_sync", "__CUDA_ARCH__", "<cuda", "<cooperative_groups.h", "<mma.h", "volatile")
_SIGN = regex("|".join(map(re.escape, (*_SIGNS, ".version"))))  # each is within one string literal
_FILE = regex(r"\.(?:ptx|cubin|fatbin)\"\Z")


class KernelString(Check):
    """A string literal holds the source of a kernel, for compilation at run time, or PTX.

    Strings are the program's data and are not rewritten. hipRTC compiles HIP source: convert the text as a file of its
    own (`cu2port convert - < kernel.cu`) and paste it back; headers that it includes then (`cu2port/warp.hpp`) go to
    `hiprtcCreateProgram` by name. A part of a kernel is found by what it calls (`__shfl_sync`) or asks for
    (`__CUDA_ARCH__`). HIP cannot load PTX at all: `cu2port ptx` makes HIP source of it, with the same kernels, for
    hipRTC or the build.
    """

    code, name, severity = "CU217", "kernel-string", Severity.WARNING
    lint = InLint(chosen=True)
    minutes = 60
    examples = (
        Example(
            'const char* s = R"(extern "C" __global__ void k(int* p) { *p = 1; })";',
            'const char* s = R"(extern "C" __global__ void k(int* p) { *p = 1; })";',
        ),
        Example(
            'const char* s = ".version 8.0\\n" ".target sm_80\\n"\n  ".entry first() {}\\n" ".entry second() {}";',
            'const char* s = ".version 8.0\\n" ".target sm_80\\n"\n  ".entry first() {}\\n" ".entry second() {}";',
            "a module's text, in several literals",
            findings=1,
        ),
        Example('load(&m, "kernels.ptx");', 'load(&m, "kernels.ptx");', "a module's file"),
        Example(
            'const char* s = "x += __shfl_down_sync(~0u, x, 16);\\n" "#if __CUDA_ARCH__ >= 700\\n";',
            'const char* s = "x += __shfl_down_sync(~0u, x, 16);\\n" "#if __CUDA_ARCH__ >= 700\\n";',
            "a part of one",
            findings=1,
        ),
        Example('const char* s = "the __global__ qualifier"; puts("__shfl_sync failed");', note="prose"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        files = unit.is_read or any(x in unit.text for x in _FILES)
        for i in unit.find(*(w for w in unit.strings if _FILE.search(w))) if files else ():
            if unit.in_directive(i) is None:
                yield self.finding(
                    f"{unit.t[i]} names an NVIDIA module; HIP loads code objects from its own compiler",
                    unit.p[i],
                    unit.end(i),
                    effects=(("all", "wrong-result"),),
                )
        if not any(w in unit.text for w in _SIGNS) or not any(map(_SIGN.search, unit.strings)):
            return
        for first, stop in _runs(unit.find(*unit.strings)):
            text = "\n".join(unit.t[first:stop])
            kernel, module = _KERNEL.search(text), _MODULE.search(text)
            if (kernel and "(" in text[kernel.end() :]) or module:
                pattern = _ENTRY if module else _KERNEL
                shown = ", ".join(f"`{name}`" for name in dict.fromkeys(pattern.findall(text)) if name)
                what = "PTX" if module else "a kernel's source"
                yield self.finding(
                    f"a string holds {what}{f' ({shown})' if shown else ''}; strings are not rewritten"
                    + ("; `cu2port ptx` converts it to HIP source" if module else ""),
                    unit.p[first],
                    unit.end(stop - 1),
                    severity=Severity.ERROR if module else Severity.WARNING,
                    effects=(("all", "wrong-result"),),
                )
            elif part := _PART.search(text):
                word = next(filter(None, part.groups()))
                yield self.finding(
                    f"a string holds a part of CUDA source (`{word}`); strings are not rewritten",
                    unit.p[first],
                    unit.end(stop - 1),
                    effects=(("all", "compile-error"),),
                )


def _runs(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring tokens as ranges [first, stop): adjacent literals are one text."""
    first = stop = -1
    for i in indices:
        if i != stop:
            if stop > first:
                yield first, stop
            first = i
        stop = i + 1
    if stop > first:
        yield first, stop
