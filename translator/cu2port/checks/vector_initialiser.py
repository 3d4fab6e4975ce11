from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.declared import VECTORS
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import BASIC, written

_COPIES = frozenset({"=", "return", "{", ","})  # before a list that no explicit constructor takes
_ZERO = regex(r"0(?:\.0*)?[fF]?\Z")


class VectorInitialiser(Check):
    """A vector is initialised by a list that names fewer components than it has.

    CUDA's vectors are plain structs, and what a list leaves out is zero. HIP's have constructors: `float4 v = {0}` does
    not compile, and `float4 v{2}` is 2 four times over. The zeros are written out. For the same reason the components
    of several vectors cannot be in one list, as they can for an array or a struct of CUDA's: each gets its braces. A
    vector of one component is made of a value by its name alone, since that constructor is explicit.
    """

    code, name, severity = "CU223", "vector-initialiser", Severity.INFO
    examples = (
        Example("void f() { float4 v = {1}; }", "void f() { float4 v = {1, 0, 0, 0}; }"),
        Example("void f() { float3 v{2, }; }", "void f() { float3 v{2, 0, 0, }; }", "a comma behind the last value"),
        Example("int2 v[2] = {{1}, {}};\n", "int2 v[2] = {{1, 0}, {}};\n", "lists for the elements of an array"),
        Example("void f() { int3 v{a + 1, 2}; }", "void f() { int3 v{a + 1, 2, 0}; }", "without an equals sign"),
        Example("void f() { uint2 v[25] = { 0 }; }", "void f() { uint2 v[25] = { }; }", "an array"),
        Example(
            "float2 v[2] = { 1, 2, 3, 4 };\n", "float2 v[2] = { {1, 2}, {3, 4} };\n", "components in one list, an array"
        ),
        Example(
            "float4 v[2][3] = {{0.0f}};\nfloat2 w[2][1] = {{{1}}, {{2, 3}}};\nfloat2 x[1][2] = {{{0, 0}, {0, 0}}};\n",
            "float4 v[2][3] = {};\nfloat2 w[2][1] = {{{1, 0}}, {{2, 3}}};\nfloat2 x[1][2] = {{{0, 0}, {0, 0}}};\n",
            "arrays of arrays",
        ),
        Example(
            "struct S { float2 a, b; int n; };\nS s = {1, 2, 3, 4, 5};\n",
            "struct S { float2 a, b; int n; };\nS s = {{1, 2}, {3, 4}, 5};\n",
            "components in one list, a struct",
        ),
        Example(
            "static __constant__ uint1 ONE = {0x3f800000};\n", "static __constant__ uint1 ONE = uint1{0x3f800000};\n"
        ),
        Example(
            "float1 f(float x) { float1 v[2] = {{1}, {x}}; return {v[0].x}; }",
            "float1 f(float x) { float1 v[2] = {float1{1}, float1{x}}; return float1{v[0].x}; }",
            "one component",
        ),
        Example("#define Z(v) float2 v = {0}\n", "#define Z(v) float2 v = {0, 0}\n", "in a macro body"),
        Example("CHECK(f(float2{1}));", "CHECK(f(float2{1, 0}));", "as a macro's argument"),
        Example("float3 f() { return {1}; }", "float3 f() { return {1, 0, 0}; }", "a returned value"),
        Example("void f() { float2 v = {1, 2}; float4 w = {}; float4 m[2] = {}; }", note="complete, or empty"),
        Example("void f() { float1 v{1}, w = float1{2}; float1 z = {}, y[2] = {}; }", note="one component, by name"),
        Example("struct float4 { float x, y; float z, w; };\nauto g = [] -> float2 { return a; };", note="bodies"),
        Example("void f() { S v = {0}; float4 x = {a...}; g({0}); }", note="types of the user's, packs"),
        Example(
            "struct S { float2 a, b; };\nS s = {u, v};\nfloat2 w[2] = {u, v};\nint2 x[] = {{1, 2}, {3, 4}};\n",
            note="whole vectors, braces",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        vectors = unit.names(VECTORS, "cdfilsu")
        for i in unit.find(*vectors):
            yield from self._vector(unit, i)
        if vectors and "struct" in unit.words:
            structs = _structs(unit)
            for i in unit.find(*structs):
                yield from self._struct(unit, i, structs[unit.t[i]])

    def _vector(self, unit: Unit, i: int) -> Iterator[Finding]:
        kind, t = unit.t[i], unit.t
        if unit.tok(i - 1) == "->":
            return
        size = int(kind[-1])
        k = i + 1
        if unit.tok(k) and is_identifier(t[k]):
            k += 1
            if unit.tok(k) == "(":  # a function: what it returns
                f = unit.function_at(i)
                if f is not None and f.name_at == k - 1 and not unit.declares(i):
                    for r in unit.find("return"):
                        if f.body[0] < r < f.body[1] and unit.tok(r + 1) == "{":
                            yield from self._list(unit, kind, size, r + 1)
                return
        bounds = 0
        while unit.tok(k) == "[" and unit.match[k] > 0:
            bounds, k = bounds + 1, unit.match[k] + 1
        k += unit.tok(k) == "="
        if unit.tok(k) != "{" or unit.declares(i):
            return
        if unit.match[k] > k and bounds:
            inside = t[k + 1 : unit.match[k]]
            lists = _lists_at(unit, k, bounds)
            if (inside[1:] in ([], [","]) and inside and _ZERO.match(inside[0])) or (
                bounds > 1 and _is_zero(inside) and not (lists and all(_is_full(unit, q, size) for q in lists))
            ):
                span = unit.p[k + 1], unit.p[unit.match[k]]
                blank = " " if unit.text[unit.end(k) : unit.p[k + 1]] else ""
                end = span[1] if blank else unit.end(unit.match[k] - 1)
                yield self._finding_of(unit, kind, k, (replace(span[0], end, ""),))
            else:
                yield from self._flat(unit, kind, k, (size,), _length(unit, i + 2))
                for q in lists:
                    yield from self._list(unit, kind, size, q)
        else:
            yield from self._list(unit, kind, size, k)

    def _list(self, unit: Unit, kind: str, size: int, k: int) -> Iterator[Finding]:
        close = unit.match[k]
        if close <= k + 1 or {"...", "{", ";"}.intersection(unit.t[k + 1 : close]):
            return
        values = unit.split_args(k + 1, close)
        values = values[:-1] if unit.tok(close - 1) == "," else values
        if unit.tok(k + 1) == "." or not values or values[-1].start == values[-1].end:
            return
        if size == 1 and len(values) == 1 and unit.tok(k - 1) in _COPIES:
            said = f"HIP's {kind} is made of one value by its name alone"
            yield self._finding_of(unit, kind, k, (insert(unit.p[k], kind),), said)
        if len(values) >= size:
            return
        if len(values) == 1 and _may_be_vector(unit, k + 1, close):
            return
        yield self._finding_of(unit, kind, k, (insert(values[-1].end, ", 0" * (size - len(values)), Side.LEFT),))

    def _struct(self, unit: Unit, i: int, sizes: tuple[int, ...]) -> Iterator[Finding]:
        """A variable of a struct with vectors, or an array of them."""
        k = i + 1 + (unit.tok(i + 1) != "{")
        length = 1 if unit.tok(k) != "[" else _length(unit, k)
        while unit.tok(k) == "[" and unit.match[k] > 0:
            k = unit.match[k] + 1
        k += unit.tok(k) == "="
        if unit.tok(k) == "{" and not unit.declares(i):
            yield from self._flat(unit, unit.t[i], k, sizes, length)

    def _flat(self, unit: Unit, kind: str, k: int, sizes: tuple[int, ...], length: int) -> Iterator[Finding]:
        """A list of the components of all members, of `sizes` components each (0: no vector); `length`: how many such
        objects it is for, 0 where that is not known."""
        close = unit.match[k]
        if close <= k + 1 or {"...", "{", ";"}.intersection(unit.t[k + 1 : close]) or unit.t[k + 1] == ".":
            return
        values = [v for v in unit.split_args(k + 1, close) if v.start < v.end]
        whole = sum(max(1, n) for n in sizes)
        few = len(sizes) * length if length else 0  # so many, if they are vectors
        plain = not any(is_identifier(w) for w in unit.t[k + 1 : close])
        if len(values) % whole or not (len(values) > few if few else plain):
            return
        edits: list[Edit] = []
        at = 0
        while at < len(values):
            for n in sizes:
                if n:
                    edits += [
                        insert(values[at].start, "{", Side.RIGHT),
                        insert(values[at + n - 1].end, "}", Side.LEFT),
                    ]
                at += max(1, n)
        yield self.finding(
            "the components of several vectors are in one list; HIP's vectors need braces of their own",
            unit.p[k],
            unit.end(close),
            tuple(edits),
            cuda=kind,
            effects=(("all", "compile-error"),),
        )

    def _finding_of(self, unit: Unit, kind: str, k: int, edits: tuple[Edit, ...], said: str = "") -> Finding:
        return self.finding(
            said or f"the list has fewer values than HIP's {kind} needs",
            unit.p[k],
            unit.end(unit.match[k]),
            edits,
            cuda=kind,
            effects=(("all", "compile-error"),),
        )


def _lists_at(unit: Unit, k: int, bounds: int) -> list[int]:
    """The lists for the elements of an array of so many dimensions, in the list that opens at token k."""
    found: list[int] = []
    depth = 0
    for q in range(k, unit.match[k]):
        depth += (unit.t[q] == "{") - (unit.t[q] == "}")
        if depth == bounds + 1 and unit.t[q] == "{" and unit.tok(q - 1) in ("{", ","):
            found.append(q)
    return found


def _is_zero(words: Sequence[str]) -> bool:
    """Whether an array's list has zeros alone, so that an empty one says the same."""
    values = [w for w in words if w not in ("{", "}", ",")]
    return bool(values) and all(_ZERO.match(w) for w in values)


def _is_full(unit: Unit, k: int, size: int) -> bool:
    """Whether a list has a value for each component."""
    return len([v for v in unit.split_args(k + 1, unit.match[k]) if v.start < v.end]) == size


def _length(unit: Unit, k: int) -> int:
    """How many elements the array bounds from token k on say, 0 if that is not a number of one dimension."""
    number = unit.tok(k + 1) if unit.tok(k) == "[" and unit.tok(k + 2) == "]" and unit.tok(k + 3) != "[" else ""
    return int(number) if number.isdigit() else 0


def _structs(unit: Unit) -> dict[str, tuple[int, ...]]:
    """Structs of the file that have vectors and numbers alone: how many components each member has, 0 for a number."""
    members: defaultdict[str, list[Declaration]] = defaultdict(list)
    for d in unit.declarations.outer():
        if d.scope.kind == "class" and d.scope.name:
            members[d.scope.name].append(d)
    out: dict[str, tuple[int, ...]] = {}
    for name, found in members.items():
        types = [written(unit.t, d) for d in found]
        known = all(d.kind == "member" and not of.indirections for d, of in zip(found, types, strict=True))
        sizes = [VECTORS.match(of.name) for of in types]
        if known and any(sizes) and all(m or of.name in BASIC for m, of in zip(sizes, types, strict=True)):
            out[name] = tuple(int(m[1]) if m else 0 for m in sizes)
    return out


def _may_be_vector(unit: Unit, first: int, stop: int) -> bool:
    """Whether a list's only value may be a vector itself (`float4 v{w}` copies): anything but a plain number."""
    return any(is_identifier(w) for w in unit.t[first:stop])
