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
_FAR = 400  # tokens to look back for the beginning of a statement
_SIZE = "reinterpret_cast<size_t>("
_INTEGERS = frozenset("unsigned long int size_t uint64_t uintptr_t std :: unsigned long int64_t intptr_t".split())
_NO_TYPES = BEFORE_VALUE | {"typename"}


class DevicePointer(Check):
    """Arithmetic on a `CUdeviceptr`, which is an integer. HIP's `hipDeviceptr_t` is `void *`, which has none.

    An offset is added to it as `char *`, and its bits are looked at as `size_t`: also in `(p + 127) & ~127`, whose
    value becomes a pointer again where a pointer gets it. What counts it up in place is left for manual work, since it
    needs another type.
    """

    code, name, severity = "CU602", "device-pointer-arithmetic", Severity.INFO
    triggers = frozenset(_TYPES)
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
        Example(
            "void f(CUdeviceptr p) { CUdeviceptr q = (p + 127) & ~127; "
            "size_t n = p; q = static_cast<CUdeviceptr>(n); }",
            "void f(hipDeviceptr_t p) { hipDeviceptr_t q = reinterpret_cast<hipDeviceptr_t>"
            "((reinterpret_cast<size_t>(p) + 127) & ~127); size_t n = reinterpret_cast<size_t>(p); "
            "q = reinterpret_cast<hipDeviceptr_t>(n); }",
            "as an integer",
        ),
        Example(
            "#ifndef X\ntypedef unsigned long long CUdeviceptr;\n#endif\nCUdeviceptr p;\n",
            "#ifndef X\ntypedef void *hipDeviceptr_t;\n#endif\nhipDeviceptr_t p;\n",
            "the program's own, for builds without CUDA",
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
        pointers = {name for name, found in declared.items() if any(depth == 0 for _, depth in found)}
        wrapped: set[int] = set()
        for i in places:
            yield from self._own_type(unit, i)
        for name, own in declared.items():
            others = [k for k in unit.find(name) if _other_declaration(unit, k) and (k, 0) not in own]
            mine = {at for at, _ in own}
            known = sorted([*own, *((k, -1) for k in others if k not in mine)])
            for at in sorted(mine):
                yield from self._start(unit, at)
            for i in unit.find(name):
                if i not in mine and i not in others:
                    for f in self._use(unit, i, _depth(unit, i, known)):
                        yield f
                        edits = _pointer_again(unit, i, pointers) if _SIZE in str(f.edits) else ()
                        if edits and edits[0].start not in wrapped:
                            wrapped.add(edits[0].start)
                            yield self._done(name, edits[0].end, edits[-1].start, edits)

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
        if after == ">" and unit.tok(last + 2) == ">" and unit.p[last + 2] == unit.end(last + 1):
            after = ">>"
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
        elif (
            after in _BITS
            or left in _BITS
            or ((after in _OFFSET or left in _OFFSET) and _bits_outside(unit, first))
            or (before == "=" and after in (";", ",") and unit.tok(first - 3) in _INTEGERS)
        ):
            yield self._done(written, start, end, _wrapped(start, end, _SIZE))
        elif before == "(" and after == ")" and (cast := _static_cast(unit, first - 2)) > 0:
            edit = replace(unit.p[cast], unit.end(cast), "reinterpret_cast")
            yield self._done(written, unit.p[cast], end, (edit,))
        elif after in _OFFSET or left in _OFFSET:
            yield self._done(written, start, end, _wrapped(start, end, "static_cast<char *>("))

    def _start(self, unit: Unit, at: int) -> Iterator[Finding]:
        """What an integer variable becomes that the pointer declared at token `at` begins with."""
        name, after = unit.tok(at + 2), unit.tok(at + 3)
        if unit.tok(at + 1) != "=" or after not in (";", ",") or not is_identifier(name):
            return
        d = unit.declarations.visible(name, at)
        if d is None or d.pointers or d.arrays or not _INTEGERS.issuperset(unit.t[d.type_first : d.type_stop]):
            return
        start, end = unit.p[at + 2], unit.end(at + 2)
        yield self._done(name, start, end, _wrapped(start, end, "reinterpret_cast<hipDeviceptr_t>("))

    def _own_type(self, unit: Unit, i: int) -> Iterator[Finding]:
        """What an integer of the type at token i's name becomes: `static_cast<CUdeviceptr>(n)`, and the program's own
        `typedef unsigned long long CUdeviceptr;`."""
        if unit.tok(i - 1) == "<" and unit.tok(i - 2) == "static_cast" and unit.tok(i + 1) == ">":
            edit = replace(unit.p[i - 2], unit.end(i - 2), "reinterpret_cast")
            yield self._done(unit.t[i], unit.p[i - 2], unit.end(i), (edit,))
        d = unit.declarations.declared_at(i) if unit.may_be_declared(i) else None
        if d is None or d.kind != "type" or d.scope.kind != "file":
            return
        first, stop = (i + 2, d.stop - 1) if unit.t[d.first] == "using" else (d.first + 1, i)
        if unit.t[d.first] in ("using", "typedef") and stop > first and _INTEGERS.issuperset(unit.t[first:stop]):
            edit = replace(unit.p[first], unit.p[stop], "void *")
            yield self._done(unit.t[i], unit.p[first], unit.p[stop], (edit,))

    def _done(self, written: str, start: int, end: int, edits: tuple[Edit, ...]) -> Finding:
        return self.finding(
            f"`{written}` is `void *` in HIP, so arithmetic on it needs a cast", start, end, edits, cuda="CUdeviceptr"
        )


def _bits_outside(unit: Unit, i: int) -> bool:
    """Whether brackets around token i, which only group, are an operand of what looks at bits."""
    k = unit.enclosing[i]
    while k > 0 and unit.t[k] == "(" and not _ends_operand(unit, k - 1):
        if unit.tok(unit.match[k] + 1) in _BITS or (unit.tok(k - 1) in _BITS and _ends_operand(unit, k - 2)):
            return True
        k = unit.enclosing[k - 1]
    return False


def _static_cast(unit: Unit, i: int) -> int:
    """The `static_cast` to an integer whose `>` is token i; 0 if it is none."""
    opened = unit.angle_open(i) if unit.tok(i) == ">" else -1
    if opened < 1 or unit.t[opened - 1] != "static_cast":
        return 0
    return opened - 1 if _INTEGERS.issuperset(unit.t[opened + 1 : i]) else 0


def _pointer_again(unit: Unit, i: int, pointers: set[str]) -> tuple[Edit, ...]:
    """Edits that make the value with token i a pointer again, where a pointer variable or function gets it."""
    k = i
    while k > max(0, i - _FAR) and unit.enclosing[k - 1] >= 0:
        k = unit.enclosing[k - 1]
    while k > max(0, i - _FAR) and unit.t[k] not in ("=", "return", ";", "{", "}", ","):
        k = unit.match[k] - 1 if unit.t[k] in (")", "]") and unit.match[k] > 0 else k - 1
    f = unit.function_at(i)
    returns = f is not None and not _TYPES.isdisjoint(unit.t[f.first : f.name_at])
    stop = _statement_end(unit, k + 1)
    if (
        stop >= len(unit.t)
        or unit.t[stop] not in (";", ",")
        or not ((unit.t[k] == "=" and unit.t[k - 1] in pointers) or (unit.t[k] == "return" and returns))
        or not _looks_at_bits(unit, k + 1, stop)
    ):
        return ()
    opening = f"{unit.t[k]} reinterpret_cast<hipDeviceptr_t>("
    return (
        replace(unit.p[k], unit.p[k + 1], opening),
        replace(unit.p[stop], unit.end(stop), f"){unit.t[stop]}"),
    )


def _looks_at_bits(unit: Unit, first: int, stop: int) -> bool:
    """Whether an operator outside of all brackets of tokens [first, stop) gives an integer."""
    k = first
    while k < stop:
        if unit.t[k] in _BITS and _ends_operand(unit, k - 1):
            return True
        k = unit.match[k] + 1 if unit.t[k] in ("(", "[", "{") and unit.match[k] > k else k + 1
    return False


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
