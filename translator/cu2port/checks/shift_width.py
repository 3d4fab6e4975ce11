from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import expression_type, promoted
from cu2port.facts.gpu_functions import as_call, gpu_functions
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Binary, Expr, Index, Member, Name, Num, expressions

_SHIFTS = {"<<": "shl", ">>": "shr"}
_WIDTHS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned long": 64, "long long": 64, "unsigned long long": 64}


class ShiftWidth(Check):
    """A shift by as many places as the number has: 0 in CUDA, the number itself on AMD GPUs.

    CUDA's instructions give 0 (or the sign) for 32 places and more, AMD's take the places modulo the width; C++ leaves
    it undefined. Two forms are seen in code for the GPU: `(1u << n) - 1`, the mask of n bits, where n may be 32, and
    `x >> (32 - n)`, where n may be 0. They become functions of `cu2port/shift.hpp`. Rotations such as
    `x << n | x >> (32 - n)` are right as they are; constants and lanes of a warp are within the width.
    """

    code, name, severity = "CU277", "shift-width", Severity.INFO
    texts = (
        *(f"1{suffix}{gap}<<" for suffix in ("", "u", "U", "ull", "ULL", "ul", "UL", "ll", "LL") for gap in ("", " ")),
        *(f"{shift}{gap}({width}" for shift in ("<<", ">>") for gap in ("", " ") for width in (32, 64)),
    )  # fmt: skip
    examples = (
        Example(
            "__device__ unsigned low(unsigned x, int bits) { return x & ((1u << bits) - 1); }\n",
            '#include "cu2port/shift.hpp"\n'
            "__device__ unsigned low(unsigned x, int bits) { return x & ((cu2port::shl(1u, bits)) - 1); }\n",
        ),
        Example(
            "__device__ unsigned f(unsigned x, int n) { USE(0xffffffff >> (32 - n)); return x >> (32 - n); }\n",
            '#include "cu2port/shift.hpp"\n__device__ unsigned f(unsigned x, int n) '
            "{ USE(cu2port::shr(0xffffffff, (32 - n))); return cu2port::shr(x, (32 - n)); }\n",
            "as a macro's argument",
            findings=2,
        ),
        Example(
            "#define LOW(n) ((1u << (n)) - 1)\n__device__ unsigned f(int n) { return LOW(n); }\n",
            note="in a macro body",
        ),
        Example(
            "enum { BITS = 5 };\n__device__ unsigned rotate(unsigned x, int n) { return x << n | x >> (32 - n); }\n"
            "template <int N> __device__ unsigned f(int lane, int n) {\n"
            "  int bit = (1u << n) + ((1u << (n & 31)) - 1);\n"
            "  return bit + ((1u << BITS) - 1) + ((1u << N) - 1) + ((1u << lane) - 1);\n}\n"
            "unsigned h(int n) { return (1u << n) - 1; }\n",
            note="a rotation; constants; a lane; a bit; within the width; on the host",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for f in gpu_functions(unit) if not for_host(unit) else ():
            body = unit.text[unit.p[f.body[0]] : unit.p[f.body[1]]]
            if not any(text in body for text in self.texts):
                continue
            for e in _whole_shifts(unit, f):
                yield self._finding(unit, e)

    def _finding(self, unit: Unit, e: Binary) -> Finding:
        return self.finding(
            f"`{e.op}` by the whole width gives 0 in CUDA, and the number itself on AMD GPUs",
            unit.p[e.at],
            unit.p[e.at] + len(e.op),
            as_call(unit, e, f"cu2port::{_SHIFTS[e.op]}"),
            effects=(("all", "wrong-result"),),
            helpers=("shift.hpp",),
        )


def _whole_shifts(unit: Unit, f: Function) -> Iterator[Binary]:
    """In a function, `1 << n` of `(1 << n) - 1`, and `x >> (32 - n)` and `x << (32 - n)` that are no rotation."""
    found = [e for e in expressions(read_body(unit, f.body[0] + 1, f.body[1])) if isinstance(e, Binary)]
    rotated = {x.at for e in found if e.op == "|" for x in _rotation(e)}
    for e in found:
        if e.op == "-" and _is_one(e.b) and isinstance(e.a, Binary) and e.a.op == "<<":
            if _is_one(e.a.a) and _varies(unit, e.a.b):
                yield e.a
        elif e.op in _SHIFTS and e.at not in rotated and _may_be_whole(unit, e):
            yield e


def _is_one(e: Expr) -> bool:
    return isinstance(e, Num) and e.value == 1


def _may_be_whole(unit: Unit, e: Binary) -> bool:
    """Whether a number of W bits is shifted by `W - n`."""
    n = e.b
    if not isinstance(n, Binary) or n.op != "-" or not isinstance(n.a, Num) or not _varies(unit, n.b):
        return False
    found = expression_type(unit, e.a)
    return not found.depth and _WIDTHS.get(promoted(found.name)) == n.a.value


def _varies(unit: Unit, e: Expr) -> bool:
    """Whether a number of places is a variable, and none that is a lane of a warp."""
    if not isinstance(e, (Name, Member, Index)):
        return False
    word = e.text if isinstance(e, Name) else e.name if isinstance(e, Member) else ""
    if "lane" in word.lower() or word.isupper() or (isinstance(e, Member) and word in ("x", "y", "z")):
        return False
    if not isinstance(e, Name):
        return True
    d = unit.declarations.visible(word, e.at)
    if d is None or d.kind not in ("variable", "parameter"):
        return False
    return {"constexpr", "const"}.isdisjoint(unit.t[d.type_first : d.type_stop])


def _rotation(e: Binary) -> tuple[Expr, ...]:
    """Both shifts of `x << n | x >> (32 - n)`."""
    a, b = e.a, e.b
    return (a, b) if isinstance(a, Binary) and isinstance(b, Binary) and {a.op, b.op} == {*_SHIFTS} else ()
