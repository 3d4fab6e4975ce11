from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.device_pointers import TYPES, Shape, names_of_type, shape, shape_at, value_at
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, head_around
from cu2port.syntax.operands import own_tokens, tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expr,
    Jump,
    Name,
    Paren,
    Stmt,
    Unary,
)
from cu2port.syntax.types import alias_of

_OFFSET = frozenset({"+", "-"})
_BITS = frozenset({"%", "&", "|", "^", "/", "<<", ">>"})
_SIZE = "reinterpret_cast<size_t>("
_INTEGERS = frozenset("unsigned long int size_t uint64_t uintptr_t std :: unsigned long int64_t intptr_t".split())


class DevicePointer(Check):
    """Arithmetic on a `CUdeviceptr`, which is an integer. HIP's `hipDeviceptr_t` is `void *`, which has none.

    An offset is added to it as `char *`, and its bits are looked at as `size_t`: also in `(p + 127) & ~127`, whose
    value becomes a pointer again where a pointer gets it. What the file's functions return and what containers and
    smart pointers of `std` hold is such a value too. What counts it up in place is left for manual work, since it needs
    another type.
    """

    code, name, severity = "CU602", "device-pointer-arithmetic", Severity.INFO
    triggers = frozenset(TYPES)
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
        Example(
            "CUdeviceptr f(CUdeviceptr p) { float p2 = 1; { int p = 3; g(p + 1); } return (p & ~127) + 4; }",
            "hipDeviceptr_t f(hipDeviceptr_t p) { float p2 = 1; { int p = 3; g(p + 1); } "
            "return reinterpret_cast<hipDeviceptr_t>((reinterpret_cast<size_t>(p) & ~127) + 4); }",
            note="hidden by another variable; a sum of bits",
        ),
        Example(
            "void f(CUdeviceptr p, size_t va, CUdeviceptr *q) { int n = va - p, m = q[1] + 2 - p; }",
            "void f(hipDeviceptr_t p, size_t va, hipDeviceptr_t *q) { int n = va - reinterpret_cast<size_t>(p), "
            "m = static_cast<char *>(q[1]) + 2 - static_cast<char *>(p); }",
            findings=3,
            note="taken from an integer",
        ),
        Example(
            "void f(void *p, int n) { g((CUdeviceptr)p + n, CUdeviceptr(p) - 4); size_t a = (CUdeviceptr)p; "
            "CUdeviceptr q = (reinterpret_cast<CUdeviceptr>(p) + 7) & ~7; float *r = (float *)(CUdeviceptr)p + 1; }",
            "void f(void *p, int n) { g(static_cast<char *>((hipDeviceptr_t)p) + n, "
            "static_cast<char *>(hipDeviceptr_t(p)) - 4); size_t a = reinterpret_cast<size_t>((hipDeviceptr_t)p); "
            "hipDeviceptr_t q = reinterpret_cast<hipDeviceptr_t>"
            "((reinterpret_cast<size_t>(reinterpret_cast<hipDeviceptr_t>(p)) + 7) & ~7); "
            "float *r = (float *)(hipDeviceptr_t)p + 1; }",
            "the value of a cast",
        ),
        Example(
            "void f(const int *p, int *q) { g(reinterpret_cast<CUdeviceptr>(p), reinterpret_cast<CUdeviceptr>(q)); }",
            "void f(const int *p, int *q) { g((hipDeviceptr_t)(p), reinterpret_cast<hipDeviceptr_t>(q)); }",
            note="`const` that a cast to `void *` may not drop",
        ),
        Example(
            "void f(CUdeviceptr *q, std::vector<CUdeviceptr> &v, std::shared_ptr<CUdeviceptr> s, int n) "
            "{ g(*q + n, v[1] - n, v.at(1) + n, *s + n, v.size() + n, q + n); }",
            "void f(hipDeviceptr_t *q, std::vector<hipDeviceptr_t> &v, std::shared_ptr<hipDeviceptr_t> s, int n) "
            "{ g(static_cast<char *>(*q) + n, static_cast<char *>(v[1]) - n, static_cast<char *>(v.at(1)) + n, "
            "static_cast<char *>(*s) + n, v.size() + n, q + n); }",
            findings=4,
            note="what is pointed to and held",
        ),
        Example(
            "typedef CUdeviceptr P;\nCUdeviceptr get(int n);\nstruct S { P at() const; };\n"
            "void f(P p, S &s, int n) { g(p + n, get(n) + 4, s.at() % 16); }",
            "typedef hipDeviceptr_t P;\nhipDeviceptr_t get(int n);\nstruct S { P at() const; };\n"
            "void f(P p, S &s, int n) { g(static_cast<char *>(p) + n, static_cast<char *>(get(n)) + 4, "
            "reinterpret_cast<size_t>(s.at()) % 16); }",
            findings=3,
            note="what functions return; another name of the type",
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
        declared: dict[str, set[int]] = {}
        for i in unit.find(*unit.once(names_of_type)):
            if unit.t[i] in TYPES:
                yield from self._own_type(unit, i)
                yield from self._cast(unit, i)
            for d in _declared_with(unit, i):
                declared.setdefault(d.name, set()).add(d.at)
        wrapped: set[int] = set()
        for name, own in declared.items():
            for at in sorted(own):
                yield from self._start(unit, at)
            for i in unit.find(name):
                if unit.declarations.declared_at(i) is None and (shape := shape_at(unit, name, i)) is not None:
                    for f in self._use(unit, i, shape):
                        yield f
                        edits = _pointer_again(unit, i) if _SIZE in str(f.edits) else ()
                        if edits and edits[0].start not in wrapped:
                            wrapped.add(edits[0].start)
                            yield self._done(name, edits[0].end, edits[-1].start, edits)

    def _use(self, unit: Unit, i: int, shape: Shape) -> Iterator[Finding]:
        """What is done with the device pointer that the name at token i leads to."""
        path = around(unit, i)
        found = value_at(path, shape)
        if found is None:
            return
        x, outer = found
        first, last = own_tokens(x)
        start, end = unit.p[first], unit.end(last)
        written = unit.text[start:end]
        cast = next((w for w in x.around if not isinstance(w, Paren)), None)
        if cast is not None:
            is_static = isinstance(cast, Cast) and unit.t[cast.first] == "static_cast"
            if isinstance(cast, Cast) and is_static and _is_integer(unit, cast.type_first, cast.type_stop):
                edit = replace(unit.p[cast.first], unit.end(cast.first), "reinterpret_cast")
                yield self._done(written, unit.p[cast.first], end, (edit,))
        elif isinstance(outer, Unary) and outer.op in ("++", "--", "p++", "p--"):
            yield self.finding(
                f"`{written}` is incremented or decremented, but it is `void *` in HIP",
                start,
                end,
                severity=Severity.ERROR,
                cuda="CUdeviceptr",
                effects=(("all", "compile-error"),),
            )
        elif isinstance(outer, Assign) and outer.target is x and outer.op in ("+=", "-="):
            begin, stop = tokens(outer.value)
            operator = replace(unit.p[outer.at], unit.end(outer.at), f"= static_cast<char *>({written}) {outer.op[0]}")
            edits = (operator, insert(unit.p[begin], "("), insert(unit.end(stop), ")", Side.LEFT))
            yield self._done(written, start, unit.end(stop), edits)
        elif (
            _bits_around(path, x) or _taken_from_integer(unit, outer, x) or (outer is None and _starts_integer(unit, i))
        ):
            yield self._done(written, start, end, _wrapped(start, end, _SIZE))
        elif isinstance(outer, Binary) and outer.op in _OFFSET:
            yield self._done(written, start, end, _wrapped(start, end, "static_cast<char *>("))

    def _cast(self, unit: Unit, i: int) -> Iterator[Finding]:
        """What is done with the value of a cast to the type at token i."""
        path = around(unit, i)
        if len(path) > 1 and isinstance(path[1], CallExpr) and path[1].callee is path[0]:
            path = path[1:]  # `CUdeviceptr(p)`
            extent = (i, path[0].close) if isinstance(path[0], CallExpr) else (i, i)
            outside = path[0].around
        else:
            casts = path[0].around if path else ()
            n = next((n for n, c in enumerate(casts) if isinstance(c, Cast) and c[2:] == (i, i + 1)), -1)
            if n < 0:
                return
            extent, outside = casts[n][:2], casts[n + 1 :]
        if not all(isinstance(w, Paren) for w in outside):
            return
        start, end = unit.p[extent[0]], unit.end(extent[1])
        x, outer = path[0], path[1] if len(path) > 1 else None
        integer = outer is None and _starts_integer(unit, i)
        if integer or _bits_around(path, x) or _taken_from_integer(unit, outer, x):
            yield self._done(unit.text[start:end], start, end, _wrapped(start, end, _SIZE))
            if edits := () if integer else _pointer_again(unit, i):
                yield self._done(unit.text[start:end], edits[0].end, edits[-1].start, edits)
        elif isinstance(outer, Binary) and outer.op in _OFFSET:
            yield self._done(unit.text[start:end], start, end, _wrapped(start, end, "static_cast<char *>("))

    def _start(self, unit: Unit, at: int) -> Iterator[Finding]:
        """What an integer variable becomes that the pointer declared at token `at` begins with."""
        head = head_around(unit, at + 2) if unit.tok(at + 1) == "=" else None
        if head is None or not isinstance(head[0], Decl) or head[0].at != at:
            return
        value = head[0].init
        if not isinstance(value, Name) or value.around or own_tokens(value) != (value.at, value.at):
            return
        d = unit.declarations.visible(value.text, at)
        if d is None or d.pointers or d.arrays or not _is_integer(unit, d.type_first, d.type_stop):
            return
        start, end = unit.p[value.at], unit.end(value.at)
        yield self._done(value.text, start, end, _wrapped(start, end, "reinterpret_cast<hipDeviceptr_t>("))

    def _own_type(self, unit: Unit, i: int) -> Iterator[Finding]:
        """What an integer of the type at token i's name becomes: `static_cast<CUdeviceptr>(n)`, and the program's own
        `typedef unsigned long long CUdeviceptr;`."""
        if unit.tok(i - 1) == "<" and unit.tok(i - 2) == "static_cast" and unit.tok(i + 1) == ">":
            edit = replace(unit.p[i - 2], unit.end(i - 2), "reinterpret_cast")
            yield self._done(unit.t[i], unit.p[i - 2], unit.end(i), (edit,))
        if _casts_constant(unit, i):  # `reinterpret_cast` to `void *` may not drop `const`
            edits = (replace(unit.p[i - 2], unit.p[i], "("), replace(unit.p[i + 1], unit.end(i + 1), ")"))
            yield self._done(unit.t[i + 3], unit.p[i - 2], unit.end(i + 4), edits)
        d = unit.declarations.declared_at(i) if unit.may_be_declared(i) else None
        if d is None or d.scope.kind != "file" or d.pointers or d.arrays:
            return
        first, stop = alias_of(unit.t, d)
        if first < stop and (first > i or stop == i) and _INTEGERS.issuperset(unit.t[first:stop]):
            edit = replace(unit.p[first], unit.p[stop], "void *")
            yield self._done(unit.t[i], unit.p[first], unit.p[stop], (edit,))

    def _done(self, written: str, start: int, end: int, edits: tuple[Edit, ...]) -> Finding:
        return self.finding(
            f"`{written}` is `void *` in HIP, so arithmetic on it needs a cast", start, end, edits, cuda="CUdeviceptr"
        )


def _casts_constant(unit: Unit, i: int) -> bool:
    """Whether the type at token i is in `reinterpret_cast<CUdeviceptr>(p)` of a pointer to what is constant."""
    t = unit.t
    if t[i - 2 : i] != ["reinterpret_cast", "<"] or t[i + 1 : i + 3] != [">", "("] or unit.tok(i + 4) != ")":
        return False
    d = unit.declarations.visible(t[i + 3], i + 3)
    return d is not None and d.pointers == 1 and not d.arrays and "const" in t[d.type_first : d.type_stop]


def _is_integer(unit: Unit, first: int, stop: int) -> bool:
    """Whether tokens [first, stop) are an integer type."""
    return _INTEGERS.issuperset(unit.t[first:stop])


def _declared_with(unit: Unit, i: int) -> list[Declaration]:
    """The variables, parameters, members and functions that the type at token i declares."""
    names = unit.declarations.scope_at(i).names.values()
    return [d for found in names for d in found if d.type_first <= i < d.type_stop and shape(unit, d) is not None]


def _depth(unit: Unit, name: str, i: int) -> int:
    """The stars and brackets of the device pointer that the name at token i means; -1 if it means none."""
    shape = shape_at(unit, name, i)
    return shape.depth if shape is not None and not shape.called else -1


def _bits_around(path: tuple[Expr, ...], x: Expr) -> bool:
    """Whether bits of an operand, or of a sum of it, are looked at."""
    k = path.index(x) + 1
    while k < len(path):
        e = path[k]
        if not isinstance(e, Binary) or e.op not in _OFFSET | _BITS:
            return False
        if e.op in _BITS:
            return True
        if not all(isinstance(w, Paren) for w in e.around):
            return False
        k += 1
    return False


def _taken_from_integer(unit: Unit, outer: Expr | None, x: Expr) -> bool:
    """Whether a pointer is subtracted from what is none."""
    if not isinstance(outer, Binary) or outer.op != "-" or outer.b is not x:
        return False
    left = outer.a
    while isinstance(left, Binary) and left.op in _OFFSET:
        left = left.a
    names = [k for k in range(tokens(left)[0], tokens(left)[1] + 1) if unit.t[k].isidentifier()]
    return not any(_depth(unit, unit.t[k], k) >= 0 for k in names)


def _starts_integer(unit: Unit, i: int) -> bool:
    """Whether an integer variable is declared with the value at token i."""
    head = head_around(unit, i)
    if head is None or not isinstance(head[0], Decl):
        return False
    d = unit.declarations.declared_at(head[0].at)
    return d is not None and not d.pointers and not d.arrays and _is_integer(unit, d.type_first, d.type_stop)


def _pointer_again(unit: Unit, i: int) -> tuple[Edit, ...]:
    """Edits that make the value with token i a pointer again, where a pointer variable or function gets it."""
    head = head_around(unit, i)
    value = _value_for_pointer(unit, *head) if head is not None else None
    if value is None or not _looks_at_bits(value):
        return ()
    first, last = tokens(value)
    if unit.tok(last + 1) not in (";", ","):
        return ()
    opening = f"{unit.t[first - 1]} reinterpret_cast<hipDeviceptr_t>("
    return (
        replace(unit.p[first - 1], unit.p[first], opening),
        replace(unit.p[last + 1], unit.end(last + 1), f"){unit.t[last + 1]}"),
    )


def _value_for_pointer(unit: Unit, s: Stmt, head: Expr) -> Expr | None:
    """The value that a statement gives to a device pointer."""
    if isinstance(s, Decl):
        return head if _depth(unit, s.name, s.at) == 0 and unit.t[tokens(head)[0] - 1] == "=" else None
    if isinstance(s, Jump):
        f = unit.function_at(s.at)
        return head if f is not None and not TYPES.isdisjoint(unit.t[f.first : f.name_at]) else None
    if isinstance(head, Assign) and head.op == "=" and isinstance(head.target, Name):
        return head.value if _depth(unit, head.target.text, head.target.at) == 0 else None
    return None


def _looks_at_bits(e: Expr) -> bool:
    """Whether an operator gives an integer, at the outside of an expression or in its sums."""
    if not isinstance(e, Binary) or not all(isinstance(w, Paren) for w in e.around):
        return False
    return e.op in _BITS or (e.op in _OFFSET and (_looks_at_bits(e.a) or _looks_at_bits(e.b)))


def _wrapped(start: int, end: int, opening: str) -> tuple[Edit, ...]:
    return (insert(start, opening), insert(end, ")", Side.LEFT))
