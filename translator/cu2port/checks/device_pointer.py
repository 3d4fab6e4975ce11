from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import BEFORE_VALUE

_TYPES = frozenset({"CUdeviceptr", "CUdeviceptr_v2"})
_OFFSET = frozenset({"+", "-"})
_BITS = frozenset({"%", "&", "|", "^", "/", "<<", ">>"})
_NO_TYPES = BEFORE_VALUE | {"typename"}


class DevicePointer(Check):
    """Arithmetic on a `CUdeviceptr`, which is an integer. HIP's `hipDeviceptr_t` is `void *`, which has none.

    An offset is added to it as `char *`, and its bits are looked at as `size_t`. What counts it up in place is left for
    a person, since it needs another type.
    """

    code, name, severity = "CU602", "device-pointer-arithmetic", Severity.INFO
    examples = (
        Example(
            "void f(CUdeviceptr p, size_t n) { g(p + n); }",
            "void f(hipDeviceptr_t p, size_t n) { g(static_cast<char *>(p) + n); }",
            findings=1,
        ),
        Example(
            "void f(int n) { CUdeviceptr a, b[2]; a = b[1] + n; g(a - b[0]); a += 2 * n; }",
            "void f(int n) { hipDeviceptr_t a, b[2]; a = static_cast<char *>(b[1]) + n; "
            "g(static_cast<char *>(a) - static_cast<char *>(b[0])); a = static_cast<char *>(a) + (2 * n); }",
            findings=4,
        ),
        Example(
            "struct S { CUdeviceptr at = {}; void f(S *o) { if (o->at % 256) g(16 + at); } };",
            "struct S { hipDeviceptr_t at = {}; void f(S *o) "
            "{ if (reinterpret_cast<size_t>(o->at) % 256) g(16 + static_cast<char *>(at)); } };",
            note="members; bits",
        ),
        Example("void f(CUdeviceptr p) { ++p; }", "void f(hipDeviceptr_t p) { ++p; }", note="counted up", findings=1),
        Example(
            "#define END(n) (base + n)\nCUdeviceptr base;\n",
            "#define END(n) (static_cast<char *>(base) + n)\nhipDeviceptr_t base;\n",
            note="in a macro body",
        ),
        Example(
            "#define CHECK(x) x\nvoid f(CUdeviceptr p) { CHECK(g(p + 1)); }",
            "#define CHECK(x) x\nvoid f(hipDeviceptr_t p) { CHECK(g(static_cast<char *>(p) + 1)); }",
            note="as a macro's argument",
        ),
        Example(
            "void f(CUdeviceptr p) { g(&p, (void *)&p, (float *)p + 1, p == 0, sizeof(p)); float *q = (float *)p; }"
        ),
        Example("void g(CUdeviceptr p) {} void f(float *p) { h(p + 1); CUdeviceptr *q; h(q + 1, *q); }", note="others"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        places = unit.find(*_TYPES)
        declared: dict[str, list[tuple[int, int]]] = {}
        for i in places:
            for at, depth in _declarators(unit, i):
                declared.setdefault(unit.t[at], []).append((at, depth))
        for name, own in declared.items():
            others = [k for k in unit.find(name) if _other_declaration(unit, k) and (k, 0) not in own]
            mine = {at for at, _ in own}
            known = sorted([*own, *((k, -1) for k in others if k not in mine)])
            for i in unit.find(name):
                if i not in mine and i not in others:
                    yield from self._use(unit, i, _depth(unit, i, known))

    def _use(self, unit: Unit, i: int, depth: int) -> Iterator[Finding]:
        """What is done with the variable at token i. `depth`: stars and brackets of its declaration; -1: not ours."""
        first, last = i, i
        while unit.is_member(first) and first > 1 and (is_identifier(unit.t[first - 2]) or unit.t[first - 2] == "]"):
            first = unit.match[first - 2] - 1 if unit.t[first - 2] == "]" else first - 2
        while unit.tok(last + 1) == "[" and unit.match[last + 1] > 0:
            last, depth = unit.match[last + 1], depth - 1
        before, after = unit.tok(first - 1), unit.tok(last + 1)
        if depth != 0 or before in (")", "::", "~", "!", ".", "->"):
            return
        left = before if _ends_operand(unit, first - 2) else ""  # a binary operator; else it is a sign or an address
        if before in ("*", "&", "+", "-") and not left:
            return
        start, end = unit.p[first], unit.end(last)
        written = unit.text[start:end]
        if before in ("++", "--") or after in ("++", "--"):
            yield self.finding(
                f"`{written}` is incremented or decremented, but it is `void *` in HIP",
                start,
                end,
                severity=Severity.ERROR,
                cuda="CUdeviceptr",
                effects=(("all", "compile-error"),),
            )
        elif after in ("+=", "-="):
            stop = _statement_end(unit, last + 2)
            if stop > last + 2:
                operator = replace(unit.p[last + 1], unit.end(last + 1), f"= static_cast<char *>({written}) {after[0]}")
                edits = (operator, insert(unit.p[last + 2], "("), insert(unit.end(stop - 1), ")", Side.LEFT))
                yield self._done(written, start, unit.end(stop - 1), edits)
        elif after in _BITS or left in _BITS:
            yield self._done(written, start, end, _wrapped(start, end, "reinterpret_cast<size_t>("))
        elif after in _OFFSET or left in _OFFSET:
            yield self._done(written, start, end, _wrapped(start, end, "static_cast<char *>("))

    def _done(self, written: str, start: int, end: int, edits: tuple[Edit, ...]) -> Finding:
        return self.finding(
            f"`{written}` is `void *` in HIP, so arithmetic on it needs a cast", start, end, edits, cuda="CUdeviceptr"
        )


def _wrapped(start: int, end: int, opening: str) -> tuple[Edit, ...]:
    return (insert(start, opening), insert(end, ")", Side.LEFT))


def _ends_operand(unit: Unit, i: int) -> bool:
    """Whether an operand ends at token i, so that a binary operator follows. `(T *)` is a cast."""
    tok = unit.tok(i)
    if tok == ")" and unit.match[i] >= 0:
        opened = unit.match[i]
        inside = unit.t[opened + 1 : i]
        called = is_identifier(unit.tok(opened - 1) or ";") and unit.tok(opened - 1) not in _NO_TYPES
        return called or any(not is_identifier(x) and x not in ("*", "&", "::", "<", ">", ",") for x in inside)
    return bool(tok) and (tok == "]" or tok[0].isdigit() or (is_identifier(tok) and tok not in _NO_TYPES))


def _declarators(unit: Unit, i: int) -> Iterator[tuple[int, int]]:
    """(token, stars and brackets) of each variable that the type at token i declares."""
    k = i + 1
    while True:
        depth = 0
        while unit.tok(k) in ("*", "&", "const"):
            depth += unit.t[k] == "*"
            k += 1
        if not is_identifier(unit.tok(k) or ";") or unit.tok(k + 1) not in (";", "=", ",", ")", "[", "{", ":"):
            return
        at = k
        k += 1
        while unit.tok(k) == "[" and unit.match[k] > k:
            k, depth = unit.match[k] + 1, depth + 1
        yield at, depth
        while k < len(unit.t) and unit.t[k] not in (",", ";", ")"):
            k = unit.match[k] + 1 if unit.t[k] in ("(", "{", "[") and unit.match[k] > k else k + 1
        if unit.tok(k) != "," or (unit.tok(k + 2) not in (",", ";", "=", "[", "{") and unit.tok(k + 1) != "*"):
            return
        k += 1


def _other_declaration(unit: Unit, k: int) -> bool:
    """Whether another type declares a variable at token k: `float *p`, `auto p =`."""
    j = k - 1
    while unit.tok(j) in ("*", "&", "const", "__restrict__", "__restrict"):
        j -= 1
    before, after = unit.tok(j), unit.tok(k + 1)
    if before == ">":
        return after in (";", "=", ",", ")", "[", "{")
    if not before or not is_identifier(before) or before in _NO_TYPES or before in _TYPES:
        return False
    return after in (";", "=", ",", ")", "[", "{", ":") and not (j < k - 1 and _ends_operand(unit, j - 1))


def _depth(unit: Unit, i: int, known: list[tuple[int, int]]) -> int:
    """Of the declarations of a name, the depth of the one that token i means: the last before it, else the first."""
    if unit.is_member(i) and len({d for _, d in known}) > 1:
        return -1
    before = [d for at, d in known if at < i]
    return before[-1] if before else known[0][1]


def _statement_end(unit: Unit, k: int) -> int:
    """Index of the `;`, `,` or bracket that ends the expression from token k on."""
    while k < len(unit.t) and unit.t[k] not in (";", ",", ")", "]", "}"):
        k = unit.match[k] + 1 if unit.t[k] in ("(", "[", "{") and unit.match[k] > k else k + 1
    return k
