from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity, Side, insert
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import HEADER, SPACE, modes
from cu2port.syntax.declarations import brings, value_of

_SPACE = "cooperative_groups"


class CoalescedSplit(Check):
    """`coalesced_threads` makes a group of the active lanes of a whole wavefront.

    With 64 lanes that may be more than CUDA's 32, of two warps: its size, ranks and votes mean something else. Split
    by the half of the wavefront that a lane is in, the group is that of CUDA's warp; with 32 lanes nothing changes.
    """

    code, name, severity = "CU318", "coalesced-split", Severity.INFO
    triggers = frozenset({"coalesced_threads"})
    lint = InLint(in_hip=InHip.OWN)
    examples = (
        Example(
            "namespace cg = cooperative_groups;\n"
            "__device__ int f() { auto g = cg::coalesced_threads(); return g.size(); }",
            '#include "cu2port/warp.hpp"\nnamespace cg = cooperative_groups;\n__device__ int f() { '
            "auto g = cg::binary_partition(cg::coalesced_threads(), cu2port::warp::upper()); return g.size(); }",
        ),
        Example(
            "#define ACTIVE() cooperative_groups::coalesced_threads()\n",
            '#include "cu2port/warp.hpp"\n#define ACTIVE() '
            "cooperative_groups::binary_partition(cooperative_groups::coalesced_threads(), cu2port::warp::upper())\n",
            "in a macro body",
        ),
        Example(
            "USE(cooperative_groups::coalesced_threads());",
            '#include "cu2port/warp.hpp"\n'
            "USE(cooperative_groups::binary_partition("
            "cooperative_groups::coalesced_threads(), cu2port::warp::upper()));",
            "as a macro's argument",
        ),
        Example(
            "auto g = cooperative_groups::coalesced_threads();", note="`--warp flag`", options=Options(warp="flag")
        ),
        Example(
            "auto g = cg::binary_partition(cg::coalesced_threads(), cu2port::warp::upper());",
            note="split already",
        ),
        Example("auto g = mine::coalesced_threads();", "auto g = mine::coalesced_threads();", "by another name"),
        Example("int n = cooperative_groups::this_thread_block().size();", note="another group"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "coalesced_threads" not in unit.words or unit.options.rocm < (7, 0):  # binary_partition came with 7.0
            return
        mode = modes(unit)
        for i in unit.find("coalesced_threads"):
            call = unit.call(i)
            if unit.is_member(i) or mode(i) == "flag" or (call is not None and call.args) or is_split(unit, i):
                continue
            first = unit.qualifier(i)
            start, end = unit.p[first], unit.end(call.close if call is not None else i)
            space = unit.text[start : unit.p[i]]
            sure = call is not None and _is_cudas(unit, first, i)
            yield self.finding(
                "the active lanes of a wavefront become those of CUDA's warp"
                if sure
                else "a group of the active lanes of a whole wavefront",
                start,
                end,
                (insert(start, f"{space}binary_partition("), insert(end, f", {SPACE}upper())", Side.LEFT))
                if sure
                else (),
                severity=None if sure else Severity.WARNING,
                effects=(("wave64", "wrong-result"),),
                helpers=(HEADER,),
            )


def _is_cudas(unit: Unit, first: int, i: int) -> bool:
    """Whether the function is named by CUDA's namespace, so that `binary_partition` can be named the same way."""
    if first == i:
        return brings(unit.lexed, unit.declarations, _SPACE, i)
    head = unit.t[first + (unit.t[first] == "::")]
    if head in (_SPACE, "cg"):
        return True
    values = (value_of(unit.lexed, d) for d in unit.declarations.named(head) if d.kind == "namespace")
    return any(_SPACE in unit.t[first:stop] for first, stop in values)


def is_split(unit: Unit, i: int) -> bool:
    """Whether the group made at token i is split by the half of the wavefront right there."""
    first = unit.qualifier(i)
    return unit.tok(first - 2) == "binary_partition" and "upper" in unit.t[i + 3 : i + 10]
