from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity, replace
from cu2port.engine.check import Check, Example, Fold, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import HEADER, LOGICAL, SPACE, SYNC, modes, tokens

_FLAG = Options(warp="flag")


class WarpBuiltin(Check):
    """A vote, a shuffle or another builtin of CUDA's warps of 32 lanes.

    HIP's builtins of these names refer to a whole wavefront, which has 64 lanes on gfx9, and their masks have 64 bits.
    The functions of `cu2port/warp.hpp` take CUDA's arguments and answer for 32 threads in a row, on every GPU. The
    header goes with the output.

    HIP's `*_sync` builtins are not used. They want masks that name exactly the active lanes, and so trap or vote wrong
    where a warp is not full, and they take many times the instructions.

    A shuffle in a template may mean an overload of the program's own as well. It becomes the header's, which moves
    values of any type.
    """

    code, name, severity = "CU313", "warp-builtin", Severity.INFO
    triggers = frozenset(LOGICAL)
    lint = InLint(in_hip=InHip.OWN | InHip.WIDE, folds_into=(Fold("CU322"), Fold("CU312", same_fix=True)))
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }",
            '#include "cu2port/warp.hpp"\n'
            "__device__ int f(int v) { return cu2port::warp::shfl_down(0xffffffff, v, 16); }",
        ),
        Example(
            "__device__ void f(int v) { unsigned m = __ballot_sync(__activemask(), v > 0); __syncwarp(m); }",
            '#include "cu2port/warp.hpp"\n'
            "__device__ void f(int v) { "
            "unsigned m = cu2port::warp::ballot(cu2port::warp::activemask(), v > 0); cu2port::warp::syncwarp(m); }",
            "a ballot keeps its 32 bits",
        ),
        Example(
            "__device__ int f(int v) { return __any(v) + __all(v) + __popc(__ballot(v)); }",
            '#include "cu2port/warp.hpp"\n'
            "__device__ int f(int v) { "
            "return cu2port::warp::any(v) + cu2port::warp::all(v) + int(__popc(cu2port::warp::ballot(v))); }",
            "without a mask, as before CUDA 9",
        ),
        Example(
            "#define WARP_SHFL(v, l) __shfl_sync(0xffffffffu, v, l)\n#define REDUCE __reduce_add_sync\n",
            '#include "cu2port/warp.hpp"\n'
            "#define WARP_SHFL(v, l) cu2port::warp::shfl(0xffffffffu, v, l)\n"
            "#define REDUCE cu2port::warp::reduce_add\n",
            "in a macro body, and as one",
        ),
        Example(
            "ASSERT(__all_sync(-1, x));",
            '#include "cu2port/warp.hpp"\nASSERT(cu2port::warp::all(-1, x));',
            "as a macro's argument",
        ),
        Example(
            "#if CUDART_VERSION < 9000\n#define __any_sync(m, p) __any(p)\n#endif\n"
            "int f(int x) { return __any_sync(~0u, x); }\n",
            '#include "cu2port/warp.hpp"\n'
            "#if (defined(CUDART_VERSION) && CUDART_VERSION < 9000)\n"
            "#define __any_sync(m, p) cu2port::warp::any(p)\n#endif\n"
            "int f(int x) { return cu2port::warp::any(~0u, x); }\n",
            "a shim for old versions, and a use that it is not for",
        ),
        Example(
            "__device__ void f() { __syncwarp(); }",
            '#include "cu2port/warp.hpp"\n__device__ void f() { cu2port::warp::syncwarp(); }',
            "HIP has it since ROCm 7",
            options=Options(rocm=(6, 2)),
        ),
        Example(
            "__device__ int f(int v) { return __any(v); }",
            "__device__ int f(int v) { return __any(v); }",
            "`--warp flag`",
            options=_FLAG,
        ),
        Example("__device__ void f() { __syncwarp(); }", note="without a mask HIP's is the same"),
        Example("#define __any(p) vote(p)\n__device__ int f(int v) { return __any(v); }", note="a macro of the file"),
        Example("#ifdef __HIP_PLATFORM_AMD__\nint n = __popcll(__ballot(p));\n#endif\n", note="a branch for HIP"),
        Example("#include <hip/hip_runtime.h>\nint f(int p) { return __popcll(__ballot(p)); }", note="HIP's own"),
        Example("struct W { int __any(int p); }; int f(W w) { return w.__any(1); }", note="a member"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(LOGICAL):
            return
        mode = modes(unit)
        for i in tokens(unit, LOGICAL):
            name = unit.t[i]
            start = unit.p[i - 1] if unit.tok(i - 1) == "::" else unit.p[i]
            target = SPACE + LOGICAL[name]
            kept = mode(i) == "flag"
            if name == "__syncwarp" and not kept and _is_hips(unit, i):
                continue
            if kept and (unit.options.warp != "flag" or name in SYNC):  # those are CU311's
                continue
            yield self.finding(
                f"`{name}` works on a wavefront in HIP" if kept else f"`{name}` is `{target}`",
                start,
                unit.end(i),
                () if kept else (replace(start, unit.end(i), target),),
                severity=Severity.WARNING if kept else None,
                cuda=name,
                hip=name if kept else target,
                effects=_effects(name),
                operation=unit.p[i],
                helpers=(HEADER,),
            )


def _is_hips(unit: Unit, i: int) -> bool:
    """Whether HIP's `__syncwarp` does what is asked: without a mask it is CUDA's."""
    call = unit.call(i)
    return unit.options.rocm >= (7, 0) and call is not None and not call.args


def _effects(name: str) -> tuple[tuple[str, str], ...]:
    """What HIP's builtin of that name does to code that is CUDA's."""
    if name == "__syncwarp":
        return (("all", "none"),)
    if name.endswith("_sync"):
        return (("all", "compile-error"),)
    return (("wave64", "wrong-result"),)
