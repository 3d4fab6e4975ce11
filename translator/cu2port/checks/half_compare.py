from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, HALVES, expression_type
from cu2port.facts.branches import skipped_by_nvcc
from cu2port.facts.gpu_functions import ON_GPU, as_call
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Binary, CallExpr, Expr, callee, expressions

_PAIRS = frozenset(name for name in HALVES | BFLOATS if name.endswith("2"))
_ALL = HALVES | BFLOATS
#: Operators whose value differs, and CUDA's meaning as a function of the header.
_OF_HALF = {"<=": "hle", ">=": "hge"}
_OF_PAIRS = {"!=": "hbneu2", "<=": "hble2", ">=": "hbge2"}
_OF_BFLOATS = _OF_PAIRS | {"<": "hblt2", ">": "hbgt2"}
_MADE = {
    **dict.fromkeys("__float2half __float2half_rn __double2half __int2half_rn __ushort_as_half".split(), "half"),
    **dict.fromkeys("__float2half2_rn __floats2half2_rn __half2half2 __halves2half2 make_half2".split(), "half2"),
    **dict.fromkeys("__float2bfloat162_rn __floats2bfloat162_rn __bfloat162bfloat162".split(), "nv_bfloat162"),
    **dict.fromkeys("__halves2bfloat162 make_bfloat162".split(), "nv_bfloat162"),
}
#: Functions that give what their first argument is.
_SAME = frozenset(f"__h{name}{n}" for name in "add sub mul div neg abs max min fma".split() for n in ("", "2"))
_DEPTH = 8


class HalfCompare(Check):
    """Comparisons of halves whose operators mean something else in HIP.

    HIP's `<=` and `>=` of `half` are true where one of the numbers is NaN. Its `!=`, `<=` and `>=` of pairs are the
    opposites of `==`, `>` and `<`, so they are true where one of the two comparisons is; CUDA's where both are. Its
    `<`, `<=`, `>` and `>=` of two bfloat16 compare the lower number of the first pair with both of the second.
    """

    code, name, severity = "CU274", "half-compare", Severity.INFO
    triggers = _ALL
    examples = (
        Example(
            "#include <cuda_fp16.h>\n__device__ half relu(half x, half zero) { return x >= zero ? x : zero; }\n",
            '#include "cu2port/half.hpp"\n#include <hip/hip_fp16.h>\n'
            "__device__ half relu(half x, half zero) { return cu2port::hge(x, zero) ? x : zero; }\n",
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ bool other(half2 a, const half2* b) { return (a + a) != b[0]; }\n",
            '#include "cu2port/half.hpp"\n#include <hip/hip_fp16.h>\n'
            "__device__ bool other(half2 a, const half2* b) { return cu2port::hbneu2((a + a), b[0]); }\n",
            "pairs",
        ),
        Example(
            "#include <cuda_bf16.h>\n__device__ bool f(__nv_bfloat162 a, __nv_bfloat162 b) { return a < b; }\n",
            '#include "cu2port/half.hpp"\n#include <hip/hip_bf16.h>\n'
            "__device__ bool f(__hip_bfloat162 a, __hip_bfloat162 b) { return cu2port::hblt2(a, b); }\n",
            "pairs of bfloat16",
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ void f(half2* v, int i) { CHECK(v[i] <= __half2half2(v[0].x)); }\n",
            '#include "cu2port/half.hpp"\n#include <hip/hip_fp16.h>\n'
            "__device__ void f(half2* v, int i) { CHECK(cu2port::hble2(v[i], __half2half2(v[0].x))); }\n",
            "as a macro's argument",
        ),
        Example(
            "#include <cuda_fp16.h>\n#define LESS(a, b) ((a) <= (b))\n"
            "__device__ bool f(half a, half b) { return LESS(a, b); }\n",
            note="in a macro body",
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ bool f(half a, half b) { return a < b || a == b || a != b; }\n"
            "__device__ bool g(float a, half b) { return a <= __half2float(b); }\n"
            "__device__ bool h(const half* a, const half* b) { return a <= b; }\n",
            note="the same in HIP; floats; pointers",
        ),
        Example(
            "#include <cuda_bf16.h>\n__device__ bool f(__nv_bfloat16 a, __nv_bfloat16 b) { return a <= b; }\n",
            note="HIP's operators of one bfloat16 compare as CUDA's do",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) or not any(not unit.owns(name) for name in unit.words & _ALL):
            return
        for f in unit.functions:
            if _ALL.isdisjoint(unit.t[f.first : f.body[1]]) or skipped_by_nvcc(unit, unit.p[f.name_at]):
                continue
            for e in expressions(read_body(unit, f.body[0] + 1, f.body[1])):
                if not isinstance(e, Binary) or e.op not in _OF_BFLOATS:
                    continue
                kind = _kind(unit, e.a, 0) or _kind(unit, e.b, 0)
                function = _function(e.op, kind)
                if function and (kind in BFLOATS or f.sides & ON_GPU):  # of half, HIP has none on the host
                    yield self._finding(unit, e, function)

    def _finding(self, unit: Unit, e: Binary, function: str) -> Finding:
        return self.finding(
            f"`{e.op}` compares halves as `cu2port::{function}` does in CUDA, and otherwise in HIP",
            unit.p[e.at],
            unit.end(e.at),
            as_call(unit, e, f"cu2port::{function}"),
            effects=(("all", "wrong-result"),),
            helpers=("half.hpp",),
        )


def _function(op: str, kind: str) -> str:
    """What an operator of halves of a type is written as; "" where HIP's is the same, or the type is none of these."""
    if kind not in _PAIRS:
        return _OF_HALF.get(op, "") if kind in HALVES else ""
    return (_OF_PAIRS if kind in HALVES else _OF_BFLOATS).get(op, "")


def _kind(unit: Unit, e: Expr, depth: int) -> str:
    """CUDA's name of the type of halves that an expression has; "" for other types, and where it is not known."""
    found = expression_type(unit, e)
    if found.name:
        return found.name.removeprefix("?") if not found.depth and found.name.removeprefix("?") in _ALL else ""
    if isinstance(e, CallExpr) and callee(e) in _SAME and e.args and depth < _DEPTH:
        return _kind(unit, e.args[0], depth + 1)
    if isinstance(e, CallExpr):
        return _MADE.get(callee(e), "")
    if isinstance(e, Binary) and depth < _DEPTH:  # a sum or the like
        return (
            _kind(unit, e.a, depth + 1) or _kind(unit, e.b, depth + 1) if e.op not in _OF_BFLOATS | {"==": ""} else ""
        )
    return ""
