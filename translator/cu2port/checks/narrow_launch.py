from __future__ import annotations

from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Finding, Severity, Span
from cu2port.unit import Unit

_WARP_WORDS = frozenset({"WARP_SIZE", "warpSize", "WARPSIZE", "kWarpSize"})


class NarrowLaunch(Check):
    """A kernel is launched with blocks of 32 threads.

    It runs right, and on GPUs with wavefronts of 64 lanes half of each wavefront stays empty. Where such launches take
    time, let a block do the work of two.
    """

    code, name, severity = "CU325", "narrow-launch", Severity.INFO
    examples = (
        Example("void f() { k<<<grid, 32>>>(p); }", "void f() { k<<<grid, 32>>>(p); }"),
        Example("void f() { k<<<grid, dim3(32)>>>(p); }", "void f() { k<<<grid, dim3(32)>>>(p); }", "as a dim3"),
        Example(
            "#define WARP_SIZE 32\nvoid f() { k<<<n, WARP_SIZE, 0, s>>>(p); }",
            "#define WARP_SIZE 32\nvoid f() { k<<<n, WARP_SIZE, 0, s>>>(p); }",
            "by name",
        ),
        Example(
            "#define RUN(k) k<<<1, 32>>>()\n",
            "#define RUN(k) k<<<1, 32>>>()\n",
            "in a macro body",
        ),
        Example("void f() { k<<<32, 256>>>(p); l<<<grid, dim3(32, 8)>>>(p); }", note="larger blocks"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(("<<<", "<<")):
            return
        for launch in unit.launches:
            parts = unit.split_args(launch.config_first, launch.close)
            if len(parts) > 1 and _threads(unit, parts[1]) == 32:
                yield self.finding(
                    "blocks of 32 threads fill half of a wavefront of 64 lanes",
                    parts[1].start,
                    parts[1].end,
                    effects=(("wave64", "slower"), ("wave32", "none")),
                )


def _threads(unit: Unit, block: Span) -> int:
    """Threads of a block that is a number, a macro that is one, or `dim3` of one; 0 if it is anything else."""
    text = unit.text[block.start : block.end].strip()
    if text.startswith("dim3(") and text.endswith(")"):
        first, *rest = (x.strip() for x in text[5:-1].split(","))
        text = first if all(x in ("1", "1u", "1U") for x in rest) else ""
    bodies = [unit.source(m.first, m.stop) for m in unit.macros.get(text, ()) if m.params is None]
    if bodies:
        text = bodies[0]
    number = "32" if text in _WARP_WORDS else text.rstrip("uUlL")
    return int(number) if number.isdecimal() else 0
