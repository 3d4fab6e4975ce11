from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import type_before
from cu2port.facts.named_types import NamedTypes
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import WIDTHS, fits, literal, unary
from cu2port.syntax.neighbours import with_sign

_ARRAY = regex(r"\](?:\s{0,4}=)?\s{0,40}\{")
_SHORTEST = 3  # characters of a number that is outside of a type without a sign
_NEAR_ARRAY = ("]=", "] =", "]{", "] {", "]\n", "]\t")  # where none is, no pattern is made
_BRACES = re.compile(r"\{\s*(?:[~-]\s*\w+|0[xX]\w+|\d{10,}\w*)\s*\}")


class Narrowing(Check):
    """A constant in braces does not fit its integer type.

    C++11 does not allow that, and nvcc only warns in device code; clang stops. The value is converted as nvcc does it,
    in a list by a cast.
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
        Example(
            "__constant__ int key[2] = {0x12345678, 0x9abcdef0};\n",
            "__constant__ int key[2] = {0x12345678, static_cast<int>(0x9abcdef0)};\n",
            "an array",
        ),
        Example(
            "__device__ unsigned char at[2][2] = {{-1, 2}, {3, 256}};\n",
            "__device__ unsigned char at[2][2] = {{static_cast<unsigned char>(-1), 2},"
            " {3, static_cast<unsigned char>(256)}};\n",
            "an array of arrays",
        ),
        Example("__constant__ unsigned key[] = {0x9abcdef0, ~0u}; int n[] = {1 - 0x9abcdef0};", note="no such values"),
        Example("int key[] = {0x9abcdef0};\n", note="C allows it", path="a.c"),
        Example("auto a = uint64_t{0xffffffffffffffff}; int b{-1}; S c{-1}; S d[]{-1};", note="it fits; others"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from self._arrays(unit)
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

    def _arrays(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) or not any(x in unit.text for x in _NEAR_ARRAY):
            return
        for m in _ARRAY.finditer(unit.text):
            opener = unit.lexed.at(m.end() - 1)
            close = unit.match[opener]
            name = unit.lexed.at(m.start())
            while unit.tok(name) == "]" and 0 < unit.match[name] < name:
                name = unit.match[name] - 1
            type_ = type_before(unit, name - 1) if close > opener else ""
            if type_ not in WIDTHS:
                continue
            edits: list[Edit] = []
            words = set(unit.t[opener:close])
            signs = [op for op in ("+", "-", "~") if op == "+" or op in words]
            least = _SHORTEST if len(signs) == 1 else 1
            large = {t for t in words if t[0].isdigit() and len(t) >= least and _is_outside(t, type_, signs)}
            for k in range(opener + 1, close) if large else ():
                first = _begin(unit, k, type_) if unit.t[k] in large else -1
                if first > 0:
                    edits.append(insert(unit.p[first], f"static_cast<{type_}>(", Side.RIGHT))
                    edits.append(insert(unit.end(k), ")", Side.LEFT))
            if edits:
                message = f"a constant does not fit `{type_}`, which clang does not allow in braces"
                where = (unit.p[opener], unit.end(close))
                yield self.finding(message, *where, tuple(edits), effects=(("all", "compile-error"),))


def _is_outside(token: str, type_: str, signs: Iterable[str]) -> bool:
    """Whether a number, or what a sign makes of it, is outside of a type."""
    value = literal(token)
    signed = [unary(op, value) for op in signs] if value is not None else []
    return any(v is not None and not fits(v.value, type_) for v in signed)


def _begin(unit: Unit, k: int, type_: str) -> int:
    """Where the element begins that a number ends, if that is outside of a type; -1."""
    value = literal(unit.t[k])
    first = with_sign(unit, k)
    if value is None or unit.t[first - 1] not in ("{", ",") or unit.tok(k + 1) not in ("}", ","):
        return -1
    value = unary(unit.t[first], value) if first < k else value
    return first if value is not None and not fits(value.value, type_) else -1


def _type(unit: Unit, i: int) -> str:
    """The integer type that ends at a token, also by a name that the file gives it; "" for what is none."""
    found = type_before(unit, i)
    d = None if found else unit.declarations.visible(unit.tok(i), i)
    return unit.once(NamedTypes).named((unit.t[i],), i).name if d is not None and d.kind == "type" else found
