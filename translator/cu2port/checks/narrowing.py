from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import type_before
from cu2port.facts.named_types import NamedTypes
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import WIDTHS, fits, literal, unary

_BRACES = re.compile(r"\{\s*(?:[~-]\s*\w+|0[xX]\w+|\d{10,}\w*)\s*\}")


class Narrowing(Check):
    """A constant in braces does not fit its integer type.

    C++11 does not allow that, and nvcc only warns in device code; clang stops. The value is converted as nvcc does it.
    """

    code, name, severity = "CU250", "narrowing-braces", Severity.INFO
    examples = (
        Example(
            "__device__ bool f(uint64_t x) { return x != uint64_t{~0}; }",
            "__device__ bool f(uint64_t x) { return x != uint64_t(~0); }",
        ),
        Example(
            "__device__ void f() { unsigned n{-1}; std::uint8_t k{0x1ff}; }",
            "__device__ void f() { unsigned n = -1; std::uint8_t k = 0x1ff; }",
            "variables",
            findings=2,
        ),
        Example("struct S { size_t at{~0}; };", "struct S { size_t at = ~0; };", "a member"),
        Example(
            "#define NONE uint64_t{~0}\n#define LAST S{-1}\n",
            "#define NONE uint64_t(~0)\n#define LAST S{-1}\n",
            "in a macro body",
        ),
        Example("FOR(size_t{-1})", "FOR(size_t(-1))", "as a macro's argument"),
        Example(
            "struct A { using size_type = std::size_t; size_type most() { return size_type {-1}; } };",
            "struct A { using size_type = std::size_t; size_type most() { return size_type (-1); } };",
            "a type by another name",
        ),
        Example("auto a = uint64_t{0xffffffffffffffff}; int b{-1}; S c{-1}; unsigned d[]{-1};", note="it fits; others"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for m in _BRACES.finditer(unit.text):
            close = unit.lexed.at(m.end() - 1)
            i = close - 3 if unit.tok(close - 3) == "{" else close - 2
            if unit.tok(i) != "{" or unit.tok(close) != "}":
                continue
            value = literal(unit.t[close - 1])
            if value is not None and close - i == 3:
                value = unary(unit.t[i + 1], value)
            named = not (type_ := _type(unit, i - 1))  # `int n{-1}`, no `int{-1}`
            type_ = type_ or _type(unit, i - 2)
            if value is None or type_ not in WIDTHS or fits(value.value, type_):
                continue
            shown = unit.text[unit.p[i] : unit.end(close)]
            ends = (" = ", "") if named else ("(", ")")
            edits: tuple[Edit, ...] = tuple(
                replace(unit.p[k], unit.end(k), new) for k, new in zip((i, close), ends, strict=True)
            )
            message = f"`{shown}` does not fit `{type_}`, which clang does not allow in braces"
            yield self.finding(message, unit.p[i], unit.end(close), edits, effects=(("all", "compile-error"),))


def _type(unit: Unit, i: int) -> str:
    """The integer type that ends at a token, also by a name that the file gives it; "" for what is none."""
    found = type_before(unit, i)
    d = None if found else unit.declarations.visible(unit.tok(i), i)
    return unit.once(NamedTypes).named((unit.t[i],), i).name if d is not None and d.kind == "type" else found
