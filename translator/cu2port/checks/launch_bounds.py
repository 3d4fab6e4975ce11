from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, Span, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_COMMA = "HIP's macro takes a comma in a template's arguments for its own; parentheses keep them together"

_SIZES = "template <int N, int M> struct Size { static constexpr int threads = N * M, blocks = M; };\n"
_LEAST = "constexpr int least(int a, int b) { return a < b ? a : b; }\n"


class LaunchBounds(Check):
    """`__launch_bounds__` has a second or third argument, which HIP reads as something else.

    CUDA: the least number of blocks a multiprocessor, then the most blocks a cluster. HIP hands the second to
    `amdgpu_waves_per_eu`, another unit, and expands three arguments to nonsense. Both only tune, so they are dropped.
    HIP's is a macro that counts its arguments, so that a comma in a template's arguments makes two of one; parentheses
    keep it whole.
    """

    code, name, severity = "CU203", "launch-bounds", Severity.INFO
    triggers = frozenset({"__launch_bounds__"})
    minutes = 2
    examples = (
        Example(
            "__global__ void __launch_bounds__(256, 4) k();",
            "__global__ void __launch_bounds__(256) k();",
        ),
        Example(
            "__global__ void __launch_bounds__(N * 2, 4, 2) k();",
            "__global__ void __launch_bounds__(N * 2) k();",
            "blocks a cluster",
        ),
        Example("#define LB __launch_bounds__(128, 2)\n", "#define LB __launch_bounds__(128)\n", "in a macro body"),
        Example(
            "KERNEL(__launch_bounds__(A, B), k)",
            "KERNEL(__launch_bounds__(A), k)",
            "as a macro's argument",
        ),
        Example(
            f"{_SIZES}template <int N> __global__ void __launch_bounds__(Size<N, 2>::threads, Size<N, 2>::blocks) k();",
            f"{_SIZES}template <int N> __global__ void __launch_bounds__((Size<N, 2>::threads)) k();",
            "a comma in a template's arguments",
        ),
        Example("__global__ void __launch_bounds__(256) k();", note="means the same in HIP"),
        Example(f"{_LEAST}__global__ void __launch_bounds__(least(64, 128)) k();", note="a comma in parentheses"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("__launch_bounds__"):
            call = unit.call(i)
            if call is None or not call.args:
                continue
            first, last = call.args[0], call.args[-1]
            comma = _has_comma(unit, first)
            extra = unit.text[call.args[1].start : last.end] if len(call.args) > 1 else ""
            edits = [insert(first.start, "("), insert(first.end, ")", Side.LEFT)] if comma else []
            told = [_COMMA] if comma else []
            if extra and unit.text[call.args[1].start : call.args[1].end] not in ("", "0"):
                told.append(f"`{extra}` counts blocks in CUDA and waves in HIP; dropped")
                edits.append(replace(first.end, last.end, ""))
            if edits:
                effects = (("all", "compile-error" if comma else "slower"),)
                said = f"launch bounds: {'; '.join(told)}"
                yield self.finding(said, unit.p[i], unit.end(call.close), tuple(edits), effects=effects)


def _has_comma(unit: Unit, span: Span) -> bool:
    """Whether a macro would see more than one argument."""
    k, end = unit.lexed.at(span.start), unit.lexed.at(span.end)
    while k < end:
        if unit.t[k] == ",":
            return True
        k = unit.match[k] + 1 if unit.t[k] == "(" and unit.match[k] > k else k + 1
    return False
