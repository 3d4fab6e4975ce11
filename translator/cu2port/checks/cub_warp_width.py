from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity, Side, insert
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes
from cu2port.syntax.declarations import brings

#: Class template -> index of the argument that is the width, and what stands before it where it is left out.
_WIDTH = {
    "WarpReduce": (1, ""),
    "WarpScan": (1, ""),
    "WarpExchange": (2, ""),
    "WarpMergeSort": (2, ""),
    "WarpLoad": (3, "WARP_LOAD_DIRECT"),
    "WarpStore": (3, "WARP_STORE_DIRECT"),
}


class CubWarpWidth(Check):
    """A warp primitive of cub says no width.

    Its default is 32 threads in CUDA and a whole wavefront in hipCUB. With 64 lanes it takes in threads of the next
    warp, and `TempStorage` arrays that count warps of 32 are too many and too small. The width is spelled out.
    """

    code, name, severity = "CU317", "cub-warp-width", Severity.INFO
    triggers = frozenset(_WIDTH)
    lint = InLint(in_hip=InHip.OWN)
    examples = (
        Example("using Reduce = cub::WarpReduce<float>;", "using Reduce = hipcub::WarpReduce<float, 32>;"),
        Example(
            "typedef cub::WarpLoad<int, 4> Load;",
            "typedef hipcub::WarpLoad<int, 4, hipcub::WARP_LOAD_DIRECT, 32> Load;",
            "behind a default of its own",
        ),
        Example(
            "using namespace cub;\ntemplate <class T> struct A { typename WarpScan<T>::TempStorage s; };",
            "using namespace hipcub;\ntemplate <class T> struct A { typename WarpScan<T, 32>::TempStorage s; };",
            "unqualified",
        ),
        Example(
            "#define SORT(K, n) cub::WarpMergeSort<K, n>\n",
            "#define SORT(K, n) hipcub::WarpMergeSort<K, n, 32>\n",
            "in a macro body",
        ),
        Example(
            "RUN(cub::WarpReduce<int>(storage).Sum(x));",
            "RUN(hipcub::WarpReduce<int, 32>(storage).Sum(x));",
            "as a macro's argument",
        ),
        Example(
            "using Reduce = cub::WarpReduce<float>;",
            "using Reduce = hipcub::WarpReduce<float>;",
            "`--warp flag`",
            options=Options(warp="flag"),
        ),
        Example("using Reduce = cub::WarpReduce<float, 16>;", note="a width"),
        Example("using Reduce = mine::WarpReduce<float>;", note="another's"),
        Example("#include <hipcub/hipcub.hpp>\nusing R = hipcub::WarpReduce<float>;", note="hipCUB's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_WIDTH):
            return
        mode = modes(unit)
        for i in unit.find(*_WIDTH):
            close = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
            if close < 0 or not _is_cubs(unit, i):
                continue
            kept = mode(i) == "flag"
            if kept and unit.options.warp != "flag":
                continue
            at, default = _WIDTH[unit.t[i]]
            count = len(unit.split_args(i + 2, close))
            if not at - bool(default) <= count <= at or unit.tok(close - 1) == "...":
                continue
            space = "hipcub::" if unit.tok(i - 1) == "::" else ""
            more = f", {space}{default}" if count < at else ""
            yield self.finding(
                f"`{unit.t[i]}` works on a whole wavefront" if kept else f"`{unit.t[i]}` gets CUDA's width of 32",
                unit.p[i],
                unit.end(close),
                () if kept else (insert(unit.end(close - 1), f"{more}, 32", Side.LEFT),),
                severity=Severity.WARNING if kept else None,
                effects=(("wave64", "wrong-result"),),
            )


def _is_cubs(unit: Unit, i: int) -> bool:
    """Whether the template named at token i is cub's: qualified so, also by another name of cub, or by a `using`."""
    if unit.tok(i - 1) == "::":
        return unit.tok(i - 2) != "hipcub" and unit.tok(i - 2).lower().endswith("cub")
    return brings(unit.lexed, unit.declarations, "cub", i)
