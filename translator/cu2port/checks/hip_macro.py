from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

#: Macros that HIP's runtime header leaves defined, without a prefix of its own (HIP 7.1).
_LEFT = ("GETREG_IMMED", "HW_ID", "MASK1", "MASK2", "MAYBE_UNDEF", "XCC_ID")


class HipMacro(Check):
    """A variable has the name of a macro of HIP's headers: `MASK1`, `MASK2`, `HW_ID`.

    The header defines them for itself and leaves them defined, so the declaration does not parse. `#undef` before it
    takes the name back; the header's own functions are read by then.
    """

    code, name, severity = "CU231", "hip-macro", Severity.INFO
    triggers = frozenset(_LEFT)
    true_of_hip = True
    examples = (
        Example(
            "__device__ int f(int x) {\n    const int MASK1 = 3;\n    return x & MASK1;\n}\n",
            "#undef MASK1\n__device__ int f(int x) {\n    const int MASK1 = 3;\n    return x & MASK1;\n}\n",
        ),
        Example(
            "int g(int x) { unsigned MASK2 = 1; return CHECK(MASK2); }\n",
            "#undef MASK2\nint g(int x) { unsigned MASK2 = 1; return CHECK(MASK2); }\n",
            "as a macro's argument",
        ),
        Example(
            "const int MASK1 = 3;\nint f(int x) { int MASK2 = 1; return x; }\n",
            "#undef MASK1\nconst int MASK1 = 3;\n#undef MASK2\nint f(int x) { int MASK2 = 1; return x; }\n",
            "outside of functions",
        ),
        Example("#define MASK1 3\nint f(int x) { return x & MASK1; }\n", note="a macro of the file's own"),
        Example("#define SET(x) int MASK1 = x;\n", note="in a macro body, where it cannot be"),
        Example("#undef MASK1\nint f(int x) { int MASK1 = 3; return x; }\n", note="taken back already"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        places: dict[int, list[int]] = {}
        for name in _LEFT:
            if name not in unit.words or name in unit.macros or _taken_back(unit, name):
                continue
            at = next((i for i in unit.find(name) if unit.in_directive(i) is None and unit.declares(i)), -1)
            if at >= 0:
                f = unit.function_at(at)
                line = unit.text.rfind("\n", 0, unit.p[at]) + 1
                places.setdefault(f.first if f is not None else bisect_left(unit.p, line), []).append(at)
        for first, found in places.items():
            names = sorted(unit.t[i] for i in found)
            yield self.finding(
                f"`{'`, `'.join(names)}` {'are macros' if len(names) > 1 else 'is a macro'} of HIP's headers",
                unit.p[found[0]],
                unit.end(found[0]),
                _undef(unit, first, names),
                effects=(("all", "compile-error"),),
            )


def _taken_back(unit: Unit, name: str) -> bool:
    return any(d.keyword == "undef" and unit.tok(d.first + 2) == name for d in unit.directives)


def _undef(unit: Unit, first: int, names: list[str]) -> tuple[Edit, ...]:
    """`#undef` on lines of their own before token `first`; nothing where other code stands on the line before it."""
    start, word = unit.p[first], unit.t[first]
    line = unit.text.rfind("\n", 0, start) + 1
    if unit.text[line:start].strip():
        return ()
    # with the word, since an include may be added at the same place
    gone = "".join(f"#undef {name}\n" for name in names)
    return (replace(start, start + len(word), f"{gone}{unit.text[line:start]}{word}"),)
