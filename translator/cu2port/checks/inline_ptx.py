from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity, Trust
from cu2port.engine.check import Check, Example
from cu2port.engine.solo import counted_anew, solo
from cu2port.facts.unit import Unit
from cu2port.ptx import handled, included_carry, kept_apart, unsettled_texts

_MIXED = " (an addition may read the flag of a subtraction, which PTX's manual leaves open)"


class InlinePtx(Check):
    """Inline PTX, the assembly of NVIDIA's GPUs.

    No AMD compiler takes it. What it means is written as C++ in its place: one instruction is one assignment. What has
    no meaning on AMD GPUs stays, behind a call that device code cannot make, and the message tells which instruction,
    why, and what to do instead.

    With `--ptx trap` such a statement becomes a trap that carries its text. `--ptx-fp fast` lets arithmetic keep
    denormals where PTX flushes them, and takes the hardware's approximations as they are. An empty
    `asm volatile("" ::: "memory")` is a barrier for the compiler alone and stays; so do host assembly, AMD's own, and
    branches of a conditional that HIP leaves out.
    """

    code, name, severity = "CU401", "inline-ptx", Severity.ERROR
    minutes = 60
    counterpart = False
    examples = (
        Example(
            '__device__ unsigned f(unsigned a) { unsigned d; asm("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a)); return d; }',
            "__device__ unsigned f(unsigned a) { unsigned d; d = a + 1; return d; }",
        ),
        Example(
            '#define INC(d, a) asm("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a))\n',
            '#include "cu2port/ptx.hpp"\n#define INC(d, a) d = std::uint32_t(a) + 1\n',
            "in a macro body",
        ),
        Example(
            'RUN(asm("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a));)',
            '#include "cu2port/ptx.hpp"\nRUN(d = std::uint32_t(a) + 1;)',
            "as a macro's argument",
        ),
        Example(
            'void f() {\n    asm volatile("wgmma.fence.sync.aligned;");\n}\n',
            '#include "cu2port/untranslated.hpp"\nvoid f() {\n'
            "    cu2port::ptx::untranslated(\"wgmma.fence.sync.aligned: it drives tensor cores of NVIDIA's GPUs since"
            ' Hopper, which no AMD GPU has");\n#if 0\n    asm volatile("wgmma.fence.sync.aligned;");\n#endif\n}\n',
            "no counterpart",
        ),
        Example(
            '#define F() asm("wgmma.fence.sync.aligned;")\n',
            '#include "cu2port/untranslated.hpp"\n'
            "#define F() cu2port::ptx::untranslated_trap(\"wgmma.fence.sync.aligned: it drives tensor cores of NVIDIA's"
            ' GPUs since Hopper, which no AMD GPU has")\n',
            "with --ptx trap",
            options=Options(ptx="trap"),
        ),
        Example(
            '__device__ unsigned f() { unsigned d; asm("mov.u32 %0, %%tid.x;" : "=r"(d)); return d; }',
            "__device__ unsigned f() { unsigned d; d = cu2port::solo::thread_idx().x; return d; }",
            "one warp a wavefront: thread indices are recomputed",
            options=Options(warp="solo"),
        ),
        Example('__device__ void f() { asm volatile("" ::: "memory"); }', note="a barrier for the compiler"),
        Example('void f() { asm volatile("rdtsc" : "=a"(x)); }', note="host assembly"),
        Example(
            '#ifdef USE_ROCM\n#else\n__device__ void f() { asm("membar.gl;"); }\n#endif\n', note="HIP leaves it out"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        what = solo(unit) if unit.asms else None
        for one in handled(unit):
            span = one.statement.span
            shown = ", ".join(f"`{n}`" for n in one.instructions[:4]) or "without instructions"
            shown += ", ..." if len(one.instructions) > 4 else ""
            if one.refused is not None:
                instead = f"; instead: {one.refused.instead}" if one.refused.instead else ""
                yield self.finding(
                    f"inline PTX stays: {one.refused}{instead}",
                    span.start,
                    span.end,
                    effects=(("all", "compile-error"),),
                    subject=one.guard,
                )
                continue
            yield self.finding(
                f"inline PTX {shown} as C++{f' ({one.note})' if one.note else ''}",
                span.start,
                span.end,
                counted_anew(unit, what, span.start, one.edits),
                trust=Trust.EXACT if one.certain else Trust.REVIEW,
                severity=Severity.INFO,
                effects=(("all", "compile-error"),),
                helpers=one.helpers,
            )
        for word, close in unsettled_texts(unit):
            yield self.finding(
                f"inline PTX stays: `{unit.t[word]}` seems to stand for `asm`, and no file that is read here defines it"
                " so in every build; instead: convert the file together with the one that does, or write `asm`",
                unit.p[word],
                unit.end(close),
                effects=(("all", "compile-error"),),
                subject=unit.t[word],
            )
        yield from self._kept_apart(unit)
        yield from self._flags(unit)
        yield from self._left_before(unit)

    def _kept_apart(self, unit: Unit) -> Iterator[Finding]:
        """Loops around calls of functions of headers, which multiply into tiles."""
        for one in kept_apart(unit):
            named = ", ".join(f"`{name}`" for name in one.names)
            yield self.finding(
                f"sums of {named}, of a header, stay in the matrix instruction's layout in {one.where}",
                unit.p[one.at],
                unit.end(one.at),
                one.edits,
                trust=Trust.EXACT if one.exact else Trust.REVIEW,
                severity=Severity.INFO,
                helpers=("mma.hpp",),
            )

    def _flags(self, unit: Unit) -> Iterator[Finding]:
        """The flag of macros and functions of a header that hand on a carry, in each function that uses them."""
        found = included_carry(unit)
        if found is not None and found.chains is None:
            yield self.finding(
                "macros or functions of a header hand on a carry, and here one may read a flag that its function does "
                "not certainly set; instead: write the whole chain as one asm statement, or with wider integers",
                unit.p[found.at],
                unit.end(found.at),
                effects=(("all", "compile-error"),),
            )
        elif found is not None and found.chains is not None and found.chains.edits:
            mixes = found.chains.mixes_carry
            yield self.finding(
                f"functions that use a carry of a header's macros or functions have a flag{_MIXED if mixes else ''}",
                unit.p[found.at],
                unit.end(found.at),
                found.chains.edits,
                trust=Trust.REVIEW if mixes else Trust.EXACT,
                severity=Severity.INFO,
                effects=(("all", "compile-error"),),
            )

    def _left_before(self, unit: Unit) -> Iterator[Finding]:
        """What an earlier run put guards around."""
        for i in unit.find("untranslated", "untranslated_trap"):
            if unit.t[i - 4 : i] == ["cu2port", "::", "ptx", "::"] and unit.tok(i + 1) == "(" and unit.match[i + 1] > i:
                text = unit.source(i + 2, unit.match[i + 1]).strip('"')
                if not text.startswith("a case that"):
                    start, end = unit.p[i - 4], unit.end(unit.match[i + 1])
                    yield self.finding(f"inline PTX stays: {text}", start, end, subject=text)
