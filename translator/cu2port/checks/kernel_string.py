from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Finding, Severity
from cu2port.unit import Unit

_KERNEL = re.compile(r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+(\w+)|\w)")
_MODULE = re.compile(r"\.version\s+\d+\.\d+[\s\S]*?\.target\s+sm_|\.visible\s+\.entry\s+(\w+)")
_FILE = re.compile(r"\.(?:ptx|cubin|fatbin)\"\Z")


class KernelString(Check):
    """A string literal holds the source of a kernel, for compilation at run time, or PTX.

    Strings are the program's data and are not rewritten. hipRTC compiles HIP source: convert the text as a file of its
    own (`cu2port convert - < kernel.cu`) and paste it back. PTX text cannot be loaded by HIP at all.
    """

    code, name, severity = "CU217", "kernel-string", Severity.WARNING
    examples = (
        Example(
            'const char* s = R"(extern "C" __global__ void k(int* p) { *p = 1; })";',
            'const char* s = R"(extern "C" __global__ void k(int* p) { *p = 1; })";',
        ),
        Example('load(&m, "kernels.ptx");', 'load(&m, "kernels.ptx");', "a module's file"),
        Example('const char* s = "the __global__ qualifier";', note="prose"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*(w for w in unit.strings if _FILE.search(w))):
            if unit.in_directive(i) is None:
                yield self.finding(
                    f"{unit.t[i]} names a module of NVIDIA's; HIP loads code objects that its own compiler made",
                    unit.p[i],
                    unit.end(i),
                    effects=(("all", "wrong-result"),),
                )
        if "__global__" not in unit.text and ".entry" not in unit.text:
            return
        for i in unit.find(*(w for w in unit.strings if len(w) >= 24)):
            tok = unit.t[i]
            kernel, module = _KERNEL.search(tok), _MODULE.search(tok)
            if (kernel and "(" in tok[kernel.end() :]) or module:
                name = next((m.group(1) for m in (kernel, module) if m and m.group(1)), "")
                what = "PTX" if module else "a kernel's source"
                yield self.finding(
                    f"a string holds {what}{f' (`{name}`)' if name else ''}; strings are not rewritten",
                    unit.p[i],
                    unit.end(i),
                    severity=Severity.ERROR if module else Severity.WARNING,
                    effects=(("all", "wrong-result"),),
                )
