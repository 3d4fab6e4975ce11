from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, pointee_types, promoted, unqualified
from cu2port.facts.named_types import ARITHMETIC
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit


class BfloatLdg(Check):
    """`__ldg` of a bfloat16 or of a pair of them.

    CUDA's `cuda_bf16.h` has overloads for them, HIP's has none. On AMD GPUs `__ldg` is a plain load for every type, and
    so a plain load is written.
    """

    code, name, severity = "CU227", "bfloat-ldg", Severity.INFO
    triggers = frozenset({"__ldg"})
    examples = (
        Example(
            "__device__ __nv_bfloat162 f(const __nv_bfloat162* p) { return __ldg(p + 1); }\n",
            "__device__ __hip_bfloat162 f(const __hip_bfloat162* p) { return *(p + 1); }\n",
        ),
        Example(
            "__device__ float f(const __nv_bfloat16* p, int i) { return __bfloat162float(CHECK(__ldg(&p[i]))); }\n",
            "__device__ float f(const __hip_bfloat16* p, int i) { return __bfloat162float(CHECK(*(&p[i]))); }\n",
            "as a macro's argument",
        ),
        Example(
            "__device__ __nv_bfloat16 f(const __nv_bfloat162* p) { return __ldg(p).x; }\n",
            "__device__ __hip_bfloat16 f(const __hip_bfloat162* p) { return (*(p)).x; }\n",
            "with a member",
        ),
        Example("__device__ float f(const float* p, __nv_bfloat16 b) { return __ldg(p); }\n", note="HIP has it"),
        Example("#define LOAD(p) __ldg((__nv_bfloat16*)p)\n", note="in a macro body the types are not known"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        calls = _calls(unit)
        kinds = {i: kind.removeprefix("?") for i, kind in pointee_types(unit, calls).items()}
        unknown = [(i, c) for i, c in calls if promoted(kinds[i]) not in ARITHMETIC and kinds[i] not in BFLOATS]
        facts = unit.ask(spans=tuple((c.args[0].start, c.args[0].end) for _, c in unknown)) if unknown else None
        for i, call in unknown:
            expr = facts.exprs.get((call.args[0].start, call.args[0].end)) if facts is not None else None
            kinds[i] = unqualified(expr.type).rstrip("* ") if expr is not None else ""
        for i, call in calls:
            if kinds[i] in BFLOATS:
                binds = unit.tok(call.close + 1) in (".", "->", "[", "(")
                whole = (insert(unit.end(call.close), ")", Side.LEFT),) if binds else ()
                yield self.finding(
                    f"`__ldg` of {kinds[i]}: HIP has no overload; a plain load does the same",
                    unit.p[i],
                    unit.end(call.close),
                    (replace(unit.p[i], unit.end(i), "(*" if binds else "*"), *whole),
                    cuda="__ldg",
                    effects=(("all", "compile-error"),),
                )


def _calls(unit: Unit) -> list[tuple[int, Call]]:
    """CUDA's `__ldg` in functions of a file that knows bfloat16."""
    if "__ldg" not in unit.words or not unit.words & BFLOATS:
        return []
    if any(f.name == "__ldg" for f in unit.functions) or "__ldg" in unit.macros:
        return []
    found = [i for i in unit.find("__ldg") if unit.in_directive(i) is None and unit.function_at(i) is not None]
    calls = ((i, unit.call(i)) for i in found if unit.tok(i - 1) != "::")
    return [(i, c) for i, c in calls if c is not None and len(c.args) == 1]
