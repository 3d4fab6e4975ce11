from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.ptx import handled


class PtxGuard(Check):
    """A guard around inline PTX that has no counterpart, so that the file cannot compile into silence.

    The statement is kept from the compiler, and a call of a host function takes its place: device code that reaches it
    does not compile, and the compiler shows the call with its text. Code that nothing reaches does not disturb. With
    `--ptx trap` it is a trap instead, which stops the kernel at run time.
    """

    code, name, severity = "CU402", "ptx-guard", Severity.INFO
    examples = (
        Example(
            'void f() { if (x) asm("wgmma.fence.sync.aligned;"); }\n',
            '#include "cu2port/untranslated.hpp"\n'
            'void f() { if (x) cu2port::ptx::untranslated("wgmma.fence.sync.aligned: it'
            " drives tensor cores of NVIDIA's GPUs since Hopper, which no AMD GPU has\");\n#if 0\n"
            'asm("wgmma.fence.sync.aligned;");\n#endif\n }\n',
        ),
        Example(
            '#define F() asm("wgmma.fence.sync.aligned;")\n',
            '#include "cu2port/untranslated.hpp"\n'
            "#define F() cu2port::ptx::untranslated(\"wgmma.fence.sync.aligned: it drives tensor cores of NVIDIA's"
            ' GPUs since Hopper, which no AMD GPU has") /* asm("wgmma.fence.sync.aligned;") */\n',
            "in a macro body",
        ),
        Example(
            'RUN(asm("wgmma.fence.sync.aligned;");)',
            '#include "cu2port/untranslated.hpp"\n'
            "RUN(cu2port::ptx::untranslated(\"wgmma.fence.sync.aligned: it drives tensor cores of NVIDIA's"
            ' GPUs since Hopper, which no AMD GPU has") /* asm("wgmma.fence.sync.aligned;") */;)',
            "as a macro's argument",
        ),
        Example(
            'void f() { asm("wgmma.fence.sync.aligned;"); }',
            '#include "cu2port/untranslated.hpp"\n'
            "void f() { cu2port::ptx::untranslated_trap(\"wgmma.fence.sync.aligned: it drives tensor cores of NVIDIA's"
            ' GPUs since Hopper, which no AMD GPU has"); }',
            "with --ptx trap",
            options=Options(ptx="trap"),
        ),
        Example('__device__ void f() { asm volatile("" ::: "memory"); }', note="a barrier for the compiler"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for one in handled(unit):
            if one.refused is not None:
                span = one.statement.span
                yield self.finding(
                    "guarded: "
                    + ("a trap" if unit.options.ptx == "trap" else "device code that comes here does not compile"),
                    span.start,
                    span.end,
                    one.edits,
                    helpers=("untranslated.hpp",),
                )
