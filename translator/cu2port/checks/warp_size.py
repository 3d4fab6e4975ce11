from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity, replace
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import HEADER, SPACE, modes, tokens

_FLAG = Options(warp="flag")
_CONSTANT = frozenset("constexpr static_assert case enum alignas __launch_bounds__ constinit".split())


class WarpSize(Check):
    """`warpSize`, the number of lanes in a warp: 32 in CUDA, 64 on AMD's gfx9 GPUs.

    Code for warps of 32 lanes that takes its numbers from HIP's `warpSize` mixes the two. In HIP it is also no constant
    (since ROCm 7) and no `int`, so that array bounds, template arguments and `min(warpSize, n)` do not compile. A
    constant of `cu2port/warp.hpp` stands for CUDA's.

    A branch for HIP keeps its `warpSize`.
    """

    code, name, severity = "CU315", "warp-size", Severity.INFO
    triggers = frozenset({"warpSize"})
    lint = InLint(in_hip=InHip.OWN | InHip.WIDE)
    examples = (
        Example(
            "__device__ int f() { return threadIdx.x % warpSize; }",
            '#include "cu2port/warp.hpp"\n__device__ int f() { return threadIdx.x % cu2port::warp::size; }',
        ),
        Example(
            "#define LANE (threadIdx.x & (warpSize - 1))\n",
            '#include "cu2port/warp.hpp"\n#define LANE (threadIdx.x & (cu2port::warp::size - 1))\n',
            "in a macro body",
        ),
        Example(
            "CHECK(n % warpSize == 0);",
            '#include "cu2port/warp.hpp"\nCHECK(n % cu2port::warp::size == 0);',
            "as a macro's argument",
        ),
        Example(
            "__global__ void k() { __shared__ int s[1024 / warpSize]; }",
            "__global__ void k() { __shared__ int s[1024 / warpSize]; }",
            "`--warp flag`: no constant in HIP",
            options=_FLAG,
        ),
        Example("__device__ int f(int warpSize) { return warpSize / 2; }", note="a parameter"),
        Example("void f() { const int warpSize = 32; g(warpSize); }", note="a variable"),
        Example("#include <hip/hip_runtime.h>\n__device__ int f() { return warpSize; }", note="HIP's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "warpSize" not in unit.words:
            return
        mode = modes(unit)
        found = tokens(unit, ("warpSize",))
        for i in found:
            kept = mode(i) == "flag"
            if kept and unit.options.warp != "flag":
                continue
            constant = _in_constant(unit, i)
            said = "is no constant in HIP" if constant else "is 64 on GPUs with wavefronts of 64 lanes"
            yield self.finding(
                f"`warpSize` {said}" if kept else f"`warpSize` is `{SPACE}size`",
                unit.p[i],
                unit.end(i),
                () if kept else (replace(unit.p[i], unit.end(i), SPACE + "size"),),
                severity=Severity.WARNING if kept else None,
                cuda="warpSize",
                hip=SPACE + "size",
                effects=(("all", "compile-error"),) if constant else (("wave64", "wrong-result"),),
                operation=unit.p[i],
                helpers=(HEADER,),
            )


def _in_constant(unit: Unit, i: int) -> bool:
    """Whether token i stands where C++ needs a constant: an array's bound, a template argument, `constexpr`."""
    k = i - 1
    while k >= 0 and i - k < 60:
        tok = unit.t[k]
        if tok in (")", "]"):
            k = unit.match[k]
        elif tok in _CONSTANT:
            return True
        elif tok == "[":
            before = unit.t[k - 2 : k]
            return unit.match[k] > i and unit.tok(unit.match[k] + 1) in (";", "[", "=") and "=" not in before
        elif tok == "<":
            return unit.angle_close(k) > i
        elif tok in (";", "{", "}"):
            return False
        k -= 1
    return False
