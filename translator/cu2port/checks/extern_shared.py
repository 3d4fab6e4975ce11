from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class ExternShared(Check):
    """`extern __shared__` names an array with a size; clang takes dynamic shared memory as `[]` only.

    In CUDA every `extern __shared__` variable is the dynamic shared memory whose size the launch gives, whatever
    bound is written. The bound is dropped. `extern __shared__ T x[];` means the same in HIP and stays.
    """

    code, name, severity = "CU210", "extern-shared", Severity.INFO
    triggers = frozenset({"__shared__"})
    examples = (
        Example(
            "__global__ void k() { extern __shared__ float s[256]; }",
            "__global__ void k() { extern __shared__ float s[]; }",
        ),
        Example(
            "#define DYN(T, s) extern __shared__ T s[N]\n",
            "#define DYN(T, s) extern __shared__ T s[]\n",
            "in a macro body",
        ),
        Example("USE(extern __shared__ int s[4];)", "USE(extern __shared__ int s[];)", "as a macro's argument"),
        Example("__global__ void k() { extern __shared__ float s[]; __shared__ int t[4]; }", note="fine as it is"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("__shared__"):
            if "extern" not in unit.t[max(0, i - 3) : i + 4]:
                continue
            if any(x in (";", "{", "}") for x in unit.t[max(0, i - 3) : i]) and "extern" not in unit.t[i : i + 4]:
                before = unit.t[max(0, i - 3) : i]
                cut = max(k for k, x in enumerate(before) if x in (";", "{", "}"))
                if "extern" not in before[cut:]:
                    continue
            k = i
            while k < len(unit.t) and unit.t[k] not in (";", "[", "=", "{"):
                k += 1
            if unit.tok(k) != "[" or unit.match[k] <= k + 1:
                continue
            close = unit.match[k]
            if unit.tok(close + 1) == "[":
                continue
            yield self.finding(
                "dynamic shared memory with a bound, which CUDA ignores and clang rejects",
                unit.p[i],
                unit.end(close),
                (replace(unit.end(k), unit.p[close], ""),),
                effects=(("all", "compile-error"),),
            )
