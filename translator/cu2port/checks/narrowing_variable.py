from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cu2port.catalog.includes import for_host
from cu2port.core.late import dataclass, regex
from cu2port.core.model import Finding, Severity, Side, Span, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import simple_type, type_before, unqualified
from cu2port.facts.computing import number_of
from cu2port.facts.named_types import FLOATING
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import WIDTHS
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import ALIASES, builtin
from cu2port.syntax.words import BUILTIN_TYPES

if TYPE_CHECKING:  # libclang is imported when it is asked
    from cu2port.facts.clang import Expr

_TYPES = "|".join(sorted({"dim3", *BUILTIN_TYPES, *ALIASES}))
# A list that is behind a name, `]` or `=` and has a name in it. That it begins with the bracket makes the search fast.
_LIST = regex(r"\{(?:(?<=[\w\]=]\{)|(?<=[\w\]=] \{))[^{};A-Za-z_]*+[A-Za-z_]")
_TYPE = regex(rf"(?<![\w$])(?:{_TYPES})(?![\w$])[^;(){{}}=]*=? ?\Z")  # a type, and what it declares, before a list
_BEFORE = 100  # characters before a list in which its type is
_DIM3 = "dim3"
_SIZES = 2  # of a launch: the grid's and the block's
_NARROWED = "a value may not fit `unsigned`, which clang does not allow in braces"
_CONSTANT = frozenset({"enumerator", "template parameter", "macro", "function", "type", "using", "namespace"})
_DEEPEST = 8  # constants that are made of constants


@dataclass(frozen=True, slots=True)
class _List:
    """The list that opens at token `at`, of a type whose last word is token `last`. `name`: what follows the type."""

    last: int
    name: int
    at: int
    bounds: int
    values: tuple[Span, ...]


class NarrowingVariable(Check):
    """A list in braces has a value that its type may not hold, such as an `int` for `dim3`.

    C++11 does not allow that. nvcc only warns, and so does gcc behind it; clang stops. A `dim3` is made with
    parentheses, and a number is cast. So is the `dim3` that nvcc makes of a list as the grid or the block of a launch,
    where clang reads no list at all.
    """

    code, name, severity = "CU263", "narrowing-variable", Severity.INFO
    examples = (
        Example(
            "void f(int n) { dim3 grid{n / 256, 1}; }\n",
            "void f(int n) { dim3 grid = dim3(n / 256, 1); }\n",
        ),
        Example(
            "void f(size_t n) { const dim3 a = {n}; k<<<dim3{n}, a>>>(); }\n",
            "void f(size_t n) { const dim3 a = dim3(n); k<<<dim3(n), a>>>(); }\n",
            "with an equals sign, and without a name",
            findings=2,
        ),
        Example(
            "__global__ void k(int n) { int at[2] = {threadIdx.x, n}; }\n",
            "__global__ void k(int n) { int at[2] = {static_cast<int>(threadIdx.x), n}; }\n",
            "an array",
        ),
        Example(
            "__device__ void f(int n, double d) { float x{n}, v[] = {1.0, d}; uint64_t m{n + 1}; }\n",
            "__device__ void f(int n, double d) { float x{static_cast<float>(n)}, v[] = {1.0, static_cast<float>(d)};"
            " uint64_t m{static_cast<uint64_t>(n + 1)}; }\n",
            "several variables",
            findings=3,
        ),
        Example(
            "void f(int n) { k<<<{n / 16, 2}, {16, 16}, 0, s>>>(n); }\n",
            "void f(int n) { k<<<dim3(n / 16, 2), dim3(16, 16), 0, s>>>(n); }\n",
            "the sizes of a launch",
            findings=2,
        ),
        Example("#define GRID(n) dim3 grid{n, 1}\n", "#define GRID(n) dim3 grid = dim3(n, 1)\n", "in a macro body"),
        Example(
            "void f(int n) { CHECK(g(dim3{n})); }\n",
            "void f(int n) { CHECK(g(dim3(n))); }\n",
            "as a macro's argument",
        ),
        Example(
            "constexpr int N = 4;\nconst int M = N * 2;\n"
            "void f(unsigned n) { dim3 a{N, M}, b; dim3 c{n, 1}; int x[2] = {N, M}; }\n",
            note="constants, and what fits",
        ),
        Example(
            "enum class E : int { A, B };\nauto g = [](int n) -> float { return n; };\nstruct S { int n; } s = {1};\n",
            note="no values",
        ),
        Example("void f(int n, float x) { float4 v{n, n, n, n}; long m{n}; double d[2] = {x, 1}; }\n", note="it fits"),
        Example("void f(int n) { size_t m{n}; }\n", note="the compiler of the host", path="a.cpp"),
        Example("int n;\n/* dim3 d{n, n}; */\n", note="a comment that ends the file"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        lists = [] if for_host(unit) else list(_lists(unit))
        asked = [v for x in lists if unit.t[x.last] != _DIM3 for v in x.values if _is_unknown(unit, v)]
        facts = unit.ask(spans=tuple((v.start, v.end) for v in asked)) if asked else None
        told = facts.exprs if facts is not None else {}
        types = {v: _of_clang(told.get((v.start, v.end))) for v in asked}
        for x in lists:
            yield from self._list(unit, x, types)
        for launch in unit.launches:
            for size in unit.split_args(launch.config_first, launch.close)[:_SIZES]:
                k = unit.lexed.at(size.start)
                if unit.t[k] == "{" and unit.end(unit.match[k]) == size.end:
                    yield self._dim3(unit, k, k, "clang reads no list in braces as the size of a grid or a block")

    def _list(self, unit: Unit, x: _List, types: Mapping[Span, str]) -> Iterator[Finding]:
        """`types`: what libclang says of calls."""
        if unit.t[x.last] == _DIM3:
            if not x.bounds and any(_may_narrow(unit, v) for v in x.values):
                yield self._dim3(unit, x.name, x.at)
            return
        close = unit.match[x.at]
        type_ = type_before(unit, x.last)
        cast = type_ if builtin((unit.t[x.last],)) != type_ else unit.t[x.last]
        variable = (v for v in x.values if not _is_constant(unit, v))
        wrong = [v for v in variable if _narrows(simple_type(unit, v) or types.get(v, ""), type_)]
        if wrong:
            edits = tuple(
                e
                for v in wrong
                for e in (insert(v.start, f"static_cast<{cast}>(", Side.RIGHT), insert(v.end, ")", Side.LEFT))
            )
            message = f"a value may not fit `{cast}`, which clang does not allow in braces"
            yield self.finding(message, unit.p[x.at], unit.end(close), edits, effects=(("all", "compile-error"),))

    def _dim3(self, unit: Unit, name: int, k: int, message: str = _NARROWED) -> Finding:
        close = unit.match[k]
        first = unit.p[k]
        if unit.tok(k - 1) == "=" or message != _NARROWED:
            made = _DIM3
        elif k > name:
            first, made = unit.end(k - 1), f" = {_DIM3}"
        else:
            made = ""
        edits = (replace(first, unit.end(k), f"{made}("), replace(unit.p[close], unit.end(close), ")"))
        return self.finding(message, unit.p[k], unit.end(close), edits, effects=(("all", "compile-error"),))


def _lists(unit: Unit) -> Iterator[_List]:
    """The lists of a file that make something of a type that may narrow."""
    for at in _types_before_lists(unit.text):
        i = unit.lexed.at(at)
        if not unit.tok(i) or unit.p[i] != at or unit.tok(i - 1) in ("->", ":", "."):
            continue
        while unit.tok(i + 1) and builtin((unit.tok(i + 1),)) and builtin((unit.tok(i),)):
            i += 1
        k = i + 1
        while k > 0:
            at = _list_at(unit, k)
            close = unit.match[at] if unit.tok(at) == "{" else -1
            bounds = unit.t[k:at].count("[")
            inner = {"{", ";", "..."}.intersection(unit.t[at + 1 : close])
            if close > 0 and bounds < 2 and not inner and unit.tok(at + 1) != ".":
                values = (v for v in unit.split_args(at + 1, close) if v.start < v.end)
                yield _List(i, k, at, bounds, tuple(values))
            k = _next_declarator(unit, k, at)


def _is_unknown(unit: Unit, value: Span) -> bool:
    """Whether a value is of a type that the file says nothing of: a call of a function, or names of a header, as of
    members of a class that it declares."""
    i, last = unit.lexed.at(value.start), unit.lexed.at(value.end) - 1
    call = is_identifier(unit.t[i]) and unit.tok(i + 1) == "(" and unit.match[i + 1] == last
    if call:
        return unit.t[i] not in unit.macros and not builtin((unit.t[i],)) and not simple_type(unit, value)
    names = [k for k in range(i, last + 1) if is_identifier(unit.t[k])]
    others = any(unit.declarations.visible(unit.t[k], k) is None for k in names)
    return others and not _is_constant(unit, value) and not simple_type(unit, value)


def _of_clang(e: Expr | None) -> str:
    """The type that libclang tells; "" for none, and for a constant, which clang knows to fit."""
    return "" if e is None or e.value is not None else unqualified(e.type)


def _list_at(unit: Unit, k: int) -> int:
    """Where a list opens behind what may be a variable's name and bounds at token k, if one does."""
    named = is_identifier(unit.tok(k) or " ")
    k += named
    while unit.tok(k) == "[" and unit.match[k] > 0:
        k = unit.match[k] + 1
    return k + (named and unit.tok(k) == "=")


def _next_declarator(unit: Unit, name: int, k: int) -> int:
    """The next variable of a declaration, behind the list at token k; -1 if there is none."""
    close = unit.match[k] if unit.tok(k) == "{" else -1
    found = close > 0 and k > name and unit.tok(close + 1) == "," and unit.tok(close + 3) in ("{", "[", "=")
    return close + 2 if found else -1


def _types_before_lists(text: str) -> Iterator[int]:
    """Where the types of lists in braces begin, as far as the text tells."""
    for m in _LIST.finditer(text):
        at = m.start()
        start = max(0, at - _BEFORE)
        found = _TYPE.search(text[start:at])
        if found is not None:
            yield start + found.start()


def _may_narrow(unit: Unit, value: Span) -> bool:
    """Whether a value of a `dim3` is no constant and maybe no `unsigned` either."""
    return not _is_constant(unit, value) and _narrows(simple_type(unit, value) or "int", "unsigned int")


def _narrows(source: str, type_: str) -> bool:
    """Whether not each value of an arithmetic type is one of the other ([dcl.init.list]); False for other types."""
    if source == type_ or not {source, type_} <= FLOATING | WIDTHS.keys():
        return False
    if source in FLOATING or type_ in FLOATING:
        return type_ not in FLOATING or source not in FLOATING or source == "double"
    signs = [t == "bool" or t.startswith("unsigned") for t in (source, type_)]
    if signs[0] == signs[1]:
        return WIDTHS[source] > WIDTHS[type_]
    return signs[1] or WIDTHS[source] >= WIDTHS[type_]


def _is_constant(unit: Unit, value: Span, depth: int = 0) -> bool:
    """Whether a value is certainly made of constants: clang knows then that it fits."""
    first, stop = unit.lexed.at(value.start), unit.lexed.at(value.end)
    return all(_is_constant_name(unit, i, depth) for i in range(first, stop) if is_identifier(unit.t[i]))


def _is_constant_name(unit: Unit, i: int, depth: int) -> bool:
    d = unit.declarations.visible(unit.t[i], i)
    if builtin((unit.t[i],)) or unit.t[i] in ("sizeof", "static_cast", "true", "false"):
        return True
    if d is None:  # of a header
        return unit.t[i].isupper() or number_of(unit, unit.t[i], i) is not None
    if depth > _DEEPEST:
        return False
    if d.kind in _CONSTANT:
        return d.kind not in ("function", "macro") or (d.kind == "macro" and unit.tok(i + 1) != "(")
    words = unit.t[d.type_first : d.type_stop]
    if "constexpr" in words:
        return True
    if d.kind != "variable" or "const" not in words or unit.tok(d.at + 1) not in ("=", "{"):
        return False
    return _is_constant(unit, Span(unit.end(d.at + 1), unit.p[d.stop - 1]), depth + 1)
