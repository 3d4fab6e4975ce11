from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.lexer import is_string
from cu2port.model import Finding, Severity
from cu2port.unit import Unit

_OPCODE = re.compile(r"(?:^|[;{}\n\\]|\\[nt])\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:(?:::?|\.)[a-z0-9_:]+)*)")
_DOTTED = re.compile(
    r"\b[a-z]\w*\.(?:[a-z0-9_]+\.)*(?:[busf](?:8|16|32|64|128)|pred|sync|cta|gl|sys|aligned|shared|global)\b"
)


class InlinePtx(Check):
    """Inline PTX, the assembly of NVIDIA's GPUs.

    No AMD compiler takes it. The statement stays in the file, so that the compiler stops there. The message names the
    instructions. An empty `asm volatile("" ::: "memory")` is a barrier for the compiler alone, and stays.
    """

    code, name, severity = "CU401", "inline-ptx", Severity.ERROR
    examples = (
        Example(
            '__device__ int f() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }',
            '__device__ int f() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }',
        ),
        Example(
            '#define F() asm volatile("membar.gl;")\n', '#define F() asm volatile("membar.gl;")\n', "in a macro body"
        ),
        Example('__device__ void f() { asm volatile("" ::: "memory"); }', note="a barrier for the compiler"),
        Example('void f() { asm volatile("rdtsc" : "=a"(x)); }', note="host assembly"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for keyword, opener, close in unit.asms:
            first = opener + 1
            text = ""
            while first < close and is_string(unit.t[first]):
                text += unit.t[first].split('"', 1)[1].removesuffix('"')
                first += 1
            if first == opener + 1 and unit.t[first] == '"':
                continue
            if not text.strip() and first > opener + 1:
                continue
            if not unit.is_device(keyword) and not _DOTTED.search(text):
                continue
            names = list(dict.fromkeys(m for m in _OPCODE.findall(text.replace("\\n", "\n").replace("\\t", " "))))
            shown = ", ".join(f"`{n}`" for n in names[:4]) or "text built by macros"
            yield self.finding(
                f"inline PTX: {shown}{', ...' if len(names) > 4 else ''}",
                unit.p[keyword],
                unit.end(close),
                effects=(("all", "compile-error"),),
            )
