from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity, Side, insert
from cu2port.engine.check import Check, Example, Fold, InLint
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import SHUFFLES, modes, tokens

_BITS = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uU]?\Z")


class WarpShuffleWidth(Check):
    """A shuffle without a mask (of before CUDA 9) says no width.

    Without one it works on a whole wavefront: with 64 lanes, a lane of the upper half reads from the lower one, and
    `__shfl(v, 0)` gives one value to two warps of CUDA's. A width of 32 keeps each warp by itself.
    """

    code, name, severity = "CU314", "warp-shuffle-width", Severity.INFO
    triggers = frozenset(SHUFFLES)
    lint = InLint(in_hip=InHip.OWN | InHip.WIDE, folds_into=(Fold("CU322"),), neutral=True)
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl(v, 0) + __shfl_down(v, 16); }",
            "__device__ int f(int v) { return __shfl(v, 0, 32) + __shfl_down(v, 16, 32); }",
            findings=2,
        ),
        Example(
            "#define SHFL_UP(v, n) __shfl_up(v, n)\n", "#define SHFL_UP(v, n) __shfl_up(v, n, 32)\n", "in a macro body"
        ),
        Example("CHECK(__shfl_xor(v, 1));", "CHECK(__shfl_xor(v, 1, 32));", "as a macro's argument"),
        Example("#define SHFL __shfl\n", "#define SHFL __shfl\n", "the arguments stand elsewhere"),
        Example(
            "__device__ int f(int v) { return __shfl(v, 0); }",
            "__device__ int f(int v) { return __shfl(v, 0); }",
            "`--warp flag`",
            options=Options(warp="flag"),
        ),
        Example("__device__ int f(int v) { return __shfl(v, 0, 16); }", note="a width"),
        Example("#include <hip/hip_runtime.h>\nint f(int v) { return __shfl(v, 0); }", note="HIP's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(SHUFFLES):
            return
        mode = modes(unit)
        for i, name in _places(unit):
            call = unit.call(i)
            kept = mode(i) == "flag"
            if (kept and unit.options.warp != "flag") or (call is not None and len(call.args) > 2):
                continue
            last = unit.text[call.args[-1].start : call.args[-1].end] if call is not None and call.args else ""
            if "__VA_ARGS__" in last or call is None or len(call.args) < 2:
                yield self.finding(
                    f"`{name}` without its arguments: it needs a width of 32",
                    unit.p[i],
                    unit.end(i),
                    severity=Severity.WARNING,
                    cuda=name,
                    effects=(("wave64", "wrong-result"),),
                    operation=unit.p[i],
                )
                continue
            stays = name == "__shfl_xor" and _BITS.match(last) is not None
            yield self.finding(
                f"`{name}` works on the whole wavefront" if kept else f"`{name}` gets CUDA's width",
                unit.p[i],
                unit.end(call.close),
                () if kept else (insert(call.args[-1].end, ", 32", Side.LEFT),),
                severity=Severity.WARNING if kept and not stays else None,
                cuda=name,
                effects=(("wave64", "none" if stays else "wrong-result"),),
                operation=unit.p[i],
            )


def _places(unit: Unit) -> Iterator[tuple[int, str]]:
    """Where shuffles are called or named, with their names; for a macro that is another name of one, its calls."""
    for i in tokens(unit, SHUFFLES):
        d = unit.in_directive(i)
        m = next((m for m in unit.macros.get(unit.t[d.first + 2], ()) if m.directive is d), None) if d else None
        calls = [] if m is None else calls_by_other_name(unit, m)
        yield from ((k, unit.t[i]) for k in (calls or [i]))


def calls_by_other_name(unit: Unit, m: Macro) -> list[int]:
    """The calls of a macro that is nothing but another name of a function, and always; none if it is something else."""
    if m.params is not None or m.stop - m.first != 1 or len(unit.macros[m.name]) > 1:
        return []
    return [k for k in unit.find(m.name) if unit.in_directive(k) is None and unit.call(k) is not None]
