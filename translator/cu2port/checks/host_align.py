from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import host_may_read
from cu2port.checks.header_guard import GUARDS
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_NAMES = frozenset({"__align__", "__builtin_align__"})


class HostAlign(Check):
    """`__align__` is used where the compiler of the host may read it, for which HIP does not define it.

    CUDA's headers define it for every compiler, HIP's for the compiler of HIP alone: a header with
    `struct __align__(16) P` does not compile in a host source. Headers and host sources get the attribute that CUDA's
    headers make of it. Files of CUDA alone keep it.
    """

    code, name, severity = "CU260", "host-align", Severity.INFO
    triggers = _NAMES
    examples = (
        Example(
            "struct __align__(16) P { float x, y, z, w; };\n",
            "struct __attribute__((aligned(16))) P { float x, y, z, w; };\n",
            path="a.h",
        ),
        Example(
            "#define ALIGN(n) __align__(n)\n",
            "#define ALIGN(n) __attribute__((aligned(n)))\n",
            "in a macro body",
            path="a.h",
        ),
        Example(
            "struct S { PACK(float __builtin_align__(sizeof(float)) x;) };\n",
            "struct S { PACK(float __attribute__((aligned(sizeof(float)))) x;) };\n",
            "as a macro's argument",
            path="a.cpp",
        ),
        Example("struct __align__(16) P { float x; };\n", note="a file of CUDA"),
        Example("struct __align__(16) P { float x; };\n__global__ void k(P p);\n", note="with kernels", path="a.h"),
        Example(
            "#ifndef __align__\n#define __align__(n)\n#endif\nstruct __align__(4) P {};\n",
            note="the user's",
            path="a.h",
        ),
        Example(
            "#if !defined(__VECTOR_TYPES_H__)\n#define __align__(n) __attribute__((aligned(n)))\n"
            "struct __align__(8) float2 { float x, y; };\n#endif\nstruct __align__(16) P { float2 a, b; };\n",
            "#if !defined(HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H)\n"
            "#define __align__(n) __attribute__((aligned(n)))\n"
            "struct __align__(8) float2 { float x, y; };\n#endif\n"
            "struct __attribute__((aligned(16))) P { float2 a, b; };\n",
            "the user's where CUDA's header is not included, which has it",
            path="a.h",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not host_may_read(unit):
            return
        for i in unit.find(*_NAMES):
            if unit.tok(i + 1) != "(" or _is_own(unit, i):
                continue
            close = unit.match[i + 1]
            if close < 0:
                continue
            yield self.finding(
                f"`{unit.t[i]}` is defined by HIP for its own compiler alone",
                unit.p[i],
                unit.end(close),
                (
                    replace(unit.p[i], unit.end(i + 1), "__attribute__((aligned("),
                    replace(unit.p[close], unit.end(close), ")))"),
                ),
                cuda=unit.t[i],
                effects=(("host", "compile-error"),),
            )


def _is_own(unit: Unit, i: int) -> bool:
    """Whether the name at token i is the user's, and not only where one of CUDA's headers is not included."""
    name = unit.t[i]
    if name not in unit.macros:
        return unit.owns(name)
    here = unit.conditions(unit.p[i])
    for m in unit.macros[name]:
        around = [g for g in unit.conditions(unit.p[m.directive.first]) if g not in here]
        asked = [unit.directives[k] for g in around for k in g.chain if k <= g.opener]
        if not any(GUARDS.keys() & {*unit.t[d.first : d.stop]} for d in asked):
            return True
    return False
