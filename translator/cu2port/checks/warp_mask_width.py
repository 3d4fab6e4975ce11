from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Edit, Finding, Severity, Side, Span, Trust, insert, replace
from cu2port.unit import Unit
from cu2port.warpnames import sync_calls

_FULL = re.compile(
    r"\(?\s*(?:\(\s*(?:unsigned|unsigned int|uint32_t)\s*\)\s*)?"
    r"(?:0[xX][fF]{8}|~\s*0|-\s*1|UINT_MAX|UINT32_MAX)[uUlL]*\s*\)?\Z"
)
_WIDE = re.compile(
    r"unsigned long long|uint64_t|\b[0-9]\w*[lL]{2}[uU]?\b|__activemask\s*\(|__ballot|\b0[xX][0-9a-fA-F]{16}|hip"
    r"|lane_mask|lanemask_t"
)
_ALL = "0xffffffffffffffffULL"


class WarpMaskWidth(Check):
    """A mask of 32 bits is passed to a `*_sync` builtin, which takes 64 bits in HIP.

    HIP 7 refuses a narrower mask at compile time, on every GPU. A mask of all lanes becomes 64 ones; any other is
    widened by a cast. That makes the code compile; whether it votes right is another question (CU311).
    """

    code, name, severity = "CU310", "warp-mask-width", Severity.INFO
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }",
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffffffffffffULL, v, 16); }",
        ),
        Example(
            "__device__ int f(unsigned m, int v) { return __any_sync(m, v); }",
            "__device__ int f(unsigned m, int v) { return __any_sync(static_cast<unsigned long long>(m), v); }",
            "a mask that is not constant",
        ),
        Example(
            "#define FULL 0xffffffffu\n__device__ void f() { __syncwarp(FULL); }",
            "#define FULL 0xffffffffffffffffULL\n__device__ void f() { __syncwarp(FULL); }",
            "a macro that is nothing but a mask",
        ),
        Example(
            "#define FULL 0xffffffffu\n__device__ void f() { if (x == FULL) __syncwarp(FULL); }",
            "#define FULL 0xffffffffu\n__device__ void f() { if (x == FULL) __syncwarp(0xffffffffffffffffULL); }",
            "a macro with other uses",
        ),
        Example(
            "#define SHFL(v) __shfl_sync(~0u, v, 0)\n",
            "#define SHFL(v) __shfl_sync(0xffffffffffffffffULL, v, 0)\n",
            "in a macro body",
        ),
        Example("ASSERT(__all_sync(-1, x));", "ASSERT(__all_sync(0xffffffffffffffffULL, x));", "as a macro's argument"),
        Example(
            "__device__ int f(int v) { __syncwarp(); return __shfl_sync(0xffffffffffffffffULL, v, 0); }", note="wide"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.options.rocm < (7, 0):
            return
        calls = [(i, call) for i, call in sync_calls(unit) if call.args]
        pure = _mask_macros(unit, [call.args[0] for _, call in calls])
        for name in sorted(pure):
            for m in unit.macros[name]:
                start, end = unit.p[m.first], unit.end(m.stop - 1)
                yield self.finding(
                    f"`{name}` is a mask of all lanes, of 64 bits in HIP",
                    start,
                    end,
                    (replace(start, end, _ALL),),
                    trust=Trust.REVIEW,
                    effects=(("all", "compile-error"),),
                )
        for i, call in calls:
            mask = call.args[0]
            if unit.text[mask.start : mask.end] in pure:
                continue
            edits = _widen(unit, mask)
            if edits:
                yield self.finding(
                    f"`{unit.t[i]}` takes a mask of 64 bits in HIP",
                    mask.start,
                    mask.end,
                    edits,
                    trust=Trust.REVIEW,
                    cuda=unit.t[i],
                    hip=unit.t[i],
                    effects=(("all", "compile-error"),),
                )


def _mask_macros(unit: Unit, masks: list[Span]) -> set[str]:
    """Macros of this file that are all 32 lanes and serve as masks of `*_sync` calls and as nothing else."""
    starts = {m.start for m in masks}
    names = {unit.text[m.start : m.end] for m in masks} & unit.macros.keys()
    return {
        name
        for name in names
        if _named_full(unit, name)
        and all(unit.p[i] in starts or unit.in_directive(i) is not None for i in unit.find(name))
    }


def _widen(unit: Unit, mask: Span) -> tuple[Edit, ...]:
    text = unit.text[mask.start : mask.end]
    bodies = [unit.source(m.first, m.stop) for m in unit.macros.get(text, ())]
    if _WIDE.search(text) or (bodies and all(_WIDE.search(b) for b in bodies)):
        return ()
    if _FULL.match(text) or _named_full(unit, text):
        return (replace(mask.start, mask.end, _ALL),)
    return (insert(mask.start, "static_cast<unsigned long long>("), insert(mask.end, ")", Side.LEFT))


def _named_full(unit: Unit, name: str) -> bool:
    """Whether a name is a macro or constant of this file that is all 32 lanes."""
    macros = unit.macros.get(name)
    if macros:
        return all(m.params is None and _FULL.match(unit.source(m.first, m.stop)) for m in macros)
    if not name.isidentifier():
        return False
    m = re.search(rf"\bconst\w*\b[^;=(){{}}]*\b{re.escape(name)}\s*(?:=\s*|\{{\s*)([^;,}}]+?)\s*\}}?\s*;", unit.text)
    return m is not None and _FULL.match(m.group(1)) is not None
