from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.checks.builtin_vector import of_members, whole
from cu2port.core.model import Edit, Finding, Options, Severity, Side, Span, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.engine.solo import (
    GROUPS,
    HEADER,
    INDEX,
    SPACE,
    Solo,
    bounds,
    counted_anew,
    entry,
    groups,
    indices,
    is_device_macro,
    is_entered,
    solo,
)
from cu2port.facts.blocks import number, threads
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit

_SOLO = Options(warp="solo")
_BY_ARGUMENT = {"cudaLaunchKernel": 2, "cudaLaunchCooperativeKernel": 2}
_OTHER_LAUNCHES = (
    "cuLaunchKernel",
    "cuLaunchCooperativeKernel",
    "cudaLaunchKernelEx",
    "cudaLaunchKernelExC",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMem",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
)
_BLOCK = re.compile(
    r"Block(?:Reduce|Scan|Load|Store|RadixSort|RadixRank|MergeSort|Exchange|Histogram|Discontinuity|Shuffle)\Z"
)
_GROUP_CODE = frozenset({"cooperative_groups", "tiled_partition", "thread_block_tile"})
_LARGEST = 512  # threads of a block that lanes are left for
_TWICE = "the block has twice the threads on wavefronts of 64"
_TOO_MANY = "with one warp on a wavefront of 64 at most 512 fit, and the launch fails"


class SoloKernel(Check):
    """A kernel that runs with one of CUDA's warps on each wavefront (`--warp solo`).

    Warps that share a wavefront of 64 lanes cannot wait for each other: locks, warp roles and barriers in divided
    branches hang or go wrong. Alone on its wavefront, a warp behaves as on CUDA. Launches double the block, the upper
    half of each wavefront returns at once, and `threadIdx` and `blockDim` are recomputed. It costs half the lanes on
    GPUs with 64, where blocks may have at most 512 threads; on 32 lanes nothing changes.
    """

    code, name, severity = "CU330", "solo-kernel", Severity.INFO
    modes = frozenset({"solo"})
    examples = (
        Example(
            "__global__ void __launch_bounds__(128) k(int* p) {\n    p[threadIdx.x] = blockDim.x;\n}\n"
            "void f(int* p) { k<<<8, 128>>>(p); }\n",
            '#include "cu2port/solo.hpp"\n'
            "__global__ void __launch_bounds__(256) k(int* p) {\n    if (cu2port::solo::idle()) return;\n"
            "    p[cu2port::solo::thread_idx().x] = cu2port::solo::block_dim().x;\n}\n"
            "void f(int* p) { k<<<8, cu2port::solo::block(128)>>>(p); }\n",
            options=_SOLO,
            findings=2,
        ),
        Example(
            "#define TID (blockIdx.x * blockDim.x + threadIdx.x)\n",
            '#include "cu2port/solo.hpp"\n'
            "#define TID (blockIdx.x * cu2port::solo::block_dim().x + cu2port::solo::thread_idx().x)\n",
            "in a macro body",
            options=_SOLO,
        ),
        Example(
            "#define K(T) __global__ void k_##T(T* p) { \\\n    p[threadIdx.x] = 0; }\n",
            '#include "cu2port/solo.hpp"\n'
            "#define K(T) __global__ void k_##T(T* p) { if (cu2port::solo::idle()) return; \\\n"
            "    p[cu2port::solo::thread_idx().x] = 0; }\n",
            "a kernel that a macro makes",
            options=_SOLO,
            findings=2,
        ),
        Example(
            "void f() { CHECK(cudaLaunchKernel(p, grid, block, args, 0, s)); }",
            '#include "cu2port/solo.hpp"\n'
            "void f() { CHECK(hipLaunchKernel(reinterpret_cast<const void*>(p), grid, "
            "cu2port::solo::block(block), args, 0, s)); }",
            "as a macro's argument",
            options=_SOLO,
        ),
        Example(
            "__global__ void a() { f(threadIdx.x); }\n__global__ void b() { f(threadIdx.x); }\n"
            "void g() { a<<<1, 64>>>(); b<<<1, 64>>>(); }\n",
            '#include "cu2port/solo.hpp"\n'
            "__global__ void a() { if (cu2port::solo::idle()) return; f(cu2port::solo::thread_idx().x); }\n"
            "__global__ void b() { f(threadIdx.x); }\n"
            "void g() { a<<<1, cu2port::solo::block(64)>>>(); b<<<1, 64>>>(); }\n",
            "one kernel of two: `--kernel a=solo`",
            options=Options(kernels=(("a", "solo"),)),
        ),
        Example(
            "void f(cudaKernelNodeParams& p) { p.blockDim = dim3(64); }",
            '#include "cu2port/solo.hpp"\n'
            "void f(hipKernelNodeParams& p) { p.blockDim = cu2port::solo::block(dim3(64)); }",
            "a node of a graph",
            options=_SOLO,
        ),
        Example(
            "using R = cub::BlockReduce<int, 128>;",
            "using R = hipcub::BlockReduce<int, 128>;",
            "counts lanes by itself",
            options=_SOLO,
        ),
        Example(
            "namespace cg = cooperative_groups;\n"
            "__device__ int f() { cg::thread_block b = cg::this_thread_block(); return b.thread_rank(); }\n",
            '#include "cu2port/solo_groups.hpp"\n'
            "namespace cg = cooperative_groups;\n"
            "__device__ int f() { cu2port::solo::thread_block b = cu2port::solo::this_thread_block(); "
            "return b.thread_rank(); }\n",
            "groups",
            options=_SOLO,
        ),
        Example(
            "const int n = 1024;\nvoid f(int* p) { dim3 block(n / 32, 32); k<<<1, block>>>(p); }",
            '#include "cu2port/solo.hpp"\n'
            "const int n = 1024;\nvoid f(int* p) { dim3 block(n / 32, 32); k<<<1, cu2port::solo::block(block)>>>(p); }",
            "more threads than fit: said, and the launch fails",
            options=_SOLO,
            findings=2,
        ),
        Example("__global__ void k(int* p) { p[threadIdx.x] = 0; }", note="not asked for"),
        Example("void f() { dim3 blockDim(32); g(blockDim.x); }", note="a variable", options=_SOLO),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        what = solo(unit)
        if what is None:
            return
        for f in what.kernels:
            if not is_entered(unit, f):
                edits = (entry(unit, f), *bounds(unit, f), *_counted(unit, f.first, f.body[1]))
                yield self._done(
                    f"`{f.name}` runs one warp on a wavefront", unit.p[f.name_at], unit.end(f.name_at), edits
                )
                yield from self._bound(unit, f)
        kernels = {f.first for f in what.kernels}
        for f in what.functions:
            changed = tuple(_renamed(unit, *place) for place in groups(unit, f.first, f.body[1]))
            if changed:
                yield self._done(
                    f"`{f.name}` has groups of CUDA's threads", unit.p[f.name_at], unit.end(f.name_at), changed, GROUPS
                )
            edits = () if f.first in kernels else _counted(unit, f.first, f.body[1])
            if edits:
                yield self._done(f"`{f.name}` counts CUDA's threads", unit.p[f.name_at], unit.end(f.name_at), edits)
        yield from self._macros(unit, what)
        yield from self._launches(unit, what)
        yield from self._left(unit, what)

    def _done(self, message: str, start: int, end: int, edits: tuple[Edit, ...], header: str = HEADER) -> Finding:
        return self.finding(message, start, end, edits, trust=Trust.REVIEW, helpers=(header,))

    def _bound(self, unit: Unit, f: Function) -> Iterator[Finding]:
        """Launch bounds that say of blocks too large."""
        for i in range(f.first, f.name_at):
            call = unit.call(i) if unit.t[i] == "__launch_bounds__" else None
            if call is not None and call.args:
                span = call.args[0]
                n = number(unit, unit.lexed.at(span.start), unit.lexed.at(span.end))
                if n is not None and n > _LARGEST:
                    yield self._problem(f"blocks of up to {n} threads; {_TOO_MANY}", span.start, span.end)

    def _macros(self, unit: Unit, what: Solo) -> Iterator[Finding]:
        for definitions in unit.macros.values() if what.whole and not unit.words.isdisjoint(INDEX) else ():
            for m in definitions:
                edits = _counted(unit, m.first, m.stop) if is_device_macro(unit, m) else ()
                if edits:
                    yield self._done(f"`{m.name}` counts CUDA's threads", unit.p[m.first], unit.end(m.stop - 1), edits)

    def _launches(self, unit: Unit, what: Solo) -> Iterator[Finding]:
        for launch in what.launches(unit):
            parts = unit.split_args(launch.config_first, launch.close)
            if len(parts) < 2:
                continue
            text = unit.text[parts[1].start : parts[1].end]
            if text.startswith(SPACE):
                continue
            n = threads(unit, parts[1])
            if n is not None and n > _LARGEST:
                yield self._problem(f"blocks of {n} threads; {_TOO_MANY}", parts[1].start, parts[1].end)
            said = _TWICE if n is not None else f"{_TWICE}; at most 512 of CUDA's fit, which a launch checks"
            yield self._done(said, *_range(parts[1]), _blocked(parts[1]))
        for i in unit.find(*_BY_ARGUMENT) if what.whole else ():
            call = unit.call(i)
            at = _BY_ARGUMENT[unit.t[i]]
            if call is not None and len(call.args) > at and not unit.text[call.args[at].start :].startswith(SPACE):
                span = call.args[at]
                yield self._done(_TWICE, *_range(span), _blocked(span))

        for i in unit.find("blockDim") if what.whole else ():  # of a launch by parameters, or of a node of a graph
            last = _statement_end(unit, i)
            if unit.is_member(i) and unit.tok(i + 1) == "=" and last > i + 1 and "solo" not in unit.t[i : i + 6]:
                span = Span(unit.p[i + 2], unit.end(last))
                yield self._done(_TWICE, *_range(span), _blocked(span))

    def _left(self, unit: Unit, what: Solo) -> Iterator[Finding]:
        for f in what.shared:
            yield self._problem(
                f"`{f.name}` counts threads for solo kernels and for others: give each its own",
                unit.p[f.name_at],
                unit.end(f.name_at),
            )
        filled = any(unit.is_member(i) and unit.tok(i + 1) == "=" for i in unit.find("blockDim"))
        for i in unit.find(*_OTHER_LAUNCHES):
            if unit.call(i) is not None and not (filled and "LaunchKernelEx" in unit.t[i]):
                yield self._problem(f"`{unit.t[i]}` needs the block that `{SPACE}block` gives", unit.p[i], unit.end(i))
        spans = [(f.body[0], f.body[1]) for f in (*what.kernels, *what.functions)]
        for i in unit.find(*(w for w in unit.words if _BLOCK.match(w))):
            if unit.tok(i - 1) == "::" and (what.whole or any(a < i < b for a, b in spans)):
                said = f"`{unit.t[i]}` counts lanes, not CUDA's threads, in a solo kernel"
                yield self._problem(said, unit.p[i], unit.end(i))
        for i in unit.find("thread_group", "meta_group_rank", "meta_group_size"):
            is_group = unit.is_member(i) if unit.t[i] != "thread_group" else not unit.is_member(i)
            if is_group and any(a - 40 < i < b for a, b in spans) and not unit.words.isdisjoint(_GROUP_CODE):
                said = f"`{unit.t[i]}` counts lanes, not CUDA's threads, in a solo kernel"
                yield self._problem(said, unit.p[i], unit.end(i))
        if what.whole:
            inside = [(f.first, f.body[1]) for f in what.functions]
            for start, i in groups(unit, 0, len(unit.t)):
                if not any(a <= i < b for a, b in inside) and unit.tok(start - 1) != "using":
                    said = f"`{unit.t[i]}` counts lanes, not CUDA's threads, in a solo kernel"
                    yield self._problem(said, unit.p[i], unit.end(i))

    def _problem(self, message: str, start: int, end: int) -> Finding:
        return self.finding(message, start, end, severity=Severity.WARNING, effects=(("wave64", "wrong-result"),))


def _counted(unit: Unit, first: int, stop: int) -> tuple[Edit, ...]:
    """`threadIdx` and `blockDim` recomputed in a range of tokens."""
    out: list[Edit] = []
    for i in indices(unit, first, stop):
        if made := whole(unit, i):  # CU221 writes the same, and the two are one
            out += counted_anew(unit, solo(unit), unit.p[i], (of_members(unit, i, made),))
        else:
            out.append(replace(unit.p[i], unit.end(i), INDEX[unit.t[i]]))
    return tuple(out)


def _renamed(unit: Unit, first: int, last: int) -> Edit:
    """A group's name, its namespace included, replaced by that of ours."""
    return replace(unit.p[first], unit.end(last), SPACE + unit.t[last])


def _blocked(span: Span) -> tuple[Edit, ...]:
    return (insert(span.start, f"{SPACE}block("), insert(span.end, ")", Side.LEFT))


def _statement_end(unit: Unit, i: int) -> int:
    """The last token of the statement that token i is in, its semicolon left out."""
    k = i
    while k < len(unit.t) and unit.t[k] != ";":
        k = max(k, unit.match[k]) + 1
    return k - 1


def _range(span: Span) -> tuple[int, int]:
    return span.start, span.end
