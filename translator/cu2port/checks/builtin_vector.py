from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Options, Severity, Span, replace
from cu2port.engine.check import Check, Example
from cu2port.engine.solo import HEADER, counted_anew, solo
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.neighbours import is_counted_with
from cu2port.syntax.types import written
from cu2port.syntax.words import BEFORE_VALUE, BUILTIN_TYPES

_NAMES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_AFTER = frozenset({")", ",", ";", "}"})
_KEYWORDS = frozenset({"else", "do"})
_TYPES = frozenset({"uint3", "dim3"})
_SIZES = frozenset({"blockDim", "gridDim"})


class BuiltinVector(Check):
    """A built-in variable (`threadIdx`) is used as a whole.

    In CUDA `threadIdx` and `blockIdx` are `uint3`, `blockDim` and `gridDim` are `dim3`, and each turns into the other.
    In HIP they have types of their own that turn into `dim3` alone, and that into nothing: `uint3 t = threadIdx` does
    not compile. Where a uint3 is wanted, it is built from the three members. So is one, or a dim3, where operators or
    a template of the project take them, which could not tell their types.
    """

    code, name, severity = "CU221", "builtin-vector", Severity.INFO
    triggers = frozenset(_NAMES)
    examples = (
        Example(
            "__device__ void f() { uint3 t = threadIdx; }\n",
            "__device__ void f() { uint3 t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z); }\n",
        ),
        Example(
            "__device__ void g(int a, uint3 b) {}\n__device__ void f() { CHECK(g(1, blockIdx)); }\n",
            "__device__ void g(int a, uint3 b) {}\n"
            "__device__ void f() { CHECK(g(1, make_uint3(blockIdx.x, blockIdx.y, blockIdx.z))); }\n",
            "as an argument, also as a macro's argument",
        ),
        Example(
            "#define WHERE uint3 here = threadIdx;\n",
            "#define WHERE uint3 here = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);\n",
            "in a macro body",
        ),
        Example(
            "__device__ void f() { const uint3 b = blockDim; }\n",
            "__device__ void f() { const uint3 b = make_uint3(blockDim.x, blockDim.y, blockDim.z); }\n",
        ),
        Example(
            "__device__ void f() { uint3 t = threadIdx; }\n",
            '#include "cu2port/solo.hpp"\n__device__ void f() { uint3 t = make_uint3('
            "cu2port::solo::thread_idx().x, cu2port::solo::thread_idx().y, cu2port::solo::thread_idx().z); }\n",
            "with one warp on a wavefront",
            options=Options(warp="solo"),
        ),
        Example(
            "template <class T> struct S { T t; uint3 b; Missing m; __device__ void f()"
            " { if (t) {} else b = blockIdx; } };\n",
            "template <class T> struct S { T t; uint3 b; Missing m; __device__ void f()"
            " { if (t) {} else b = make_uint3(blockIdx.x, blockIdx.y, blockIdx.z); } };\n",
            "a member that was declared before",
        ),
        Example(
            "__device__ uint3 operator*(uint3 a, dim3 b);\n__device__ void f() { uint3 t = blockIdx * blockDim; }\n",
            "__device__ uint3 operator*(uint3 a, dim3 b);\n"
            "__device__ void f() { uint3 t = make_uint3(blockIdx.x, blockIdx.y, blockIdx.z)"
            " * dim3(blockDim.x, blockDim.y, blockDim.z); }\n",
            "operators of the project",
        ),
        Example(
            "__device__ uint3 operator*(uint3 a, uint3 b);\n__device__ void f() { uint3 t = blockIdx * blockDim; }\n",
            "__device__ uint3 operator*(uint3 a, uint3 b);\n"
            "__device__ void f() { uint3 t = make_uint3(blockIdx.x, blockIdx.y, blockIdx.z)"
            " * make_uint3(blockDim.x, blockDim.y, blockDim.z); }\n",
            "operators for one of the types",
        ),
        Example(
            "template <class A, class B> __device__ A to(B b);\n"
            "__device__ void f() { int3 t = to<int3>(threadIdx); }\n",
            "template <class A, class B> __device__ A to(B b);\n"
            "__device__ void f() { int3 t = to<int3>(make_uint3(threadIdx.x, threadIdx.y, threadIdx.z)); }\n",
            "a template of the project",
        ),
        Example(
            "__device__ void f() { int i = blockDim.x * blockIdx.x + threadIdx.x; g(blockDim); }\n",
            note="members, and dim3",
        ),
        Example(
            "struct P { __device__ P(int a, uint3 b); __device__ P(uint3 b); };\n"
            "__device__ void f() { P p(1, threadIdx); P* q = new P(1, blockIdx); P r{threadIdx}; }\n",
            "struct P { __device__ P(int a, uint3 b); __device__ P(uint3 b); };\n"
            "__device__ void f() { P p(1, make_uint3(threadIdx.x, threadIdx.y, threadIdx.z));"
            " P* q = new P(1, make_uint3(blockIdx.x, blockIdx.y, blockIdx.z));"
            " P r{make_uint3(threadIdx.x, threadIdx.y, threadIdx.z)}; }\n",
            "for a constructor",
        ),
        Example(
            "int n;\nextern const uint3 threadIdx;\n__device__ void f() { uint3 t = threadIdx; }\n",
            "int n;\n\n__device__ void f() { uint3 t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z); }\n",
            "a declaration for editors and the host",
            findings=2,
        ),
        Example("__device__ void f() { dim3 t = threadIdx; }\n", note="it turns into dim3"),
        Example("void f(uint3 threadIdx) { g(threadIdx); }\n", note="the user's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*unit.words & _NAMES):
            name = unit.t[i]
            first = _declared_again(unit, i)
            if first >= 0:
                yield self.finding(
                    f"`{name}` is declared again, and has a type of its own in HIP",
                    unit.p[first],
                    unit.end(i + 1),
                    (replace(unit.p[first], unit.end(i + 1), ""),),
                    cuda=name,
                    effects=(("all", "compile-error"),),
                )
            if not (made := whole(unit, i)):
                continue
            plain = (of_members(unit, i, made),)
            edits = counted_anew(unit, solo(unit), unit.p[i], plain)
            yield self.finding(
                f"`{name}` as a whole is not a `{made.removeprefix('make_')}` in HIP",
                unit.p[i],
                unit.end(i),
                edits,
                cuda=name,
                effects=(("all", "compile-error"),),
                helpers=(HEADER,) if edits != plain else (),
            )


def whole(unit: Unit, i: int) -> str:
    """What token i, the name of a built-in variable, must become as a whole: `make_uint3`, or `dim3` where that is its
    type in CUDA and no other is asked for; "" where it can stay."""
    if unit.tok(i + 1) in _AFTER and wanted_type(unit, i) == "uint3":
        made = "make_uint3"
    elif 2 < i < len(unit.t) - 2 and (is_counted_with(unit, i) or _is_of_template(unit, i)):
        own = "dim3" if unit.t[i] in _SIZES else "uint3"
        wanted = counted_as(unit, i) if is_counted_with(unit, i) else own
        made = "dim3" if (wanted if wanted in _TYPES else own) == "dim3" else "make_uint3"
    else:
        return ""
    return "" if unit.t[i] in unit.once(_own) else made


def of_members(unit: Unit, i: int, made: str) -> Edit:
    """The edit that builds an object of the members of token i. `made`: what `whole` says."""
    name = unit.t[i]
    return replace(unit.p[i], unit.end(i), f"{made}({name}.x, {name}.y, {name}.z)")


def counted_as(unit: Unit, i: int) -> str:
    """The type that an operator of the project takes token i as; "" where that is not known."""
    span = (unit.p[i], unit.end(i))
    facts = unit.ask(spans=(span,))
    expr = facts.exprs.get(span) if facts is not None else None
    return expr.type.removeprefix("const ") if expr is not None else unit.once(taken)


def taken(unit: Unit) -> str:
    """The one of `dim3` and `uint3` that the operators of this file take; "" for both and none."""
    lists = [(i + 2, unit.match[i + 2]) for i in unit.find("operator") if unit.tok(i + 2) == "("]
    found = {w for first, stop in lists for w in unit.t[first : max(first, stop)] if w in _TYPES}
    return found.pop() if len(found) == 1 else ""


def _is_of_template(unit: Unit, i: int) -> bool:
    """Whether token i is the whole argument of a call with template arguments: `to<int3>(threadIdx)`."""
    return unit.tok(i - 1) == "(" and unit.tok(i + 1) == ")" and unit.tok(i - 2) == ">"


def wanted_type(unit: Unit, i: int) -> str:
    """The type that the place of token i asks for, as far as this file says; "" where it does not."""
    before = unit.tok(i - 1)
    named = is_identifier(unit.tok(i - 2)) and is_identifier(unit.tok(i - 3)) and unit.tok(i - 3) not in _KEYWORDS
    if before in ("=", "(", "{") and named and (before == "=" or unit.tok(i - 3) in _TYPES):
        return unit.tok(i - 3)  # type name = ..., type name(...), type name{...}
    if before == "=" and is_identifier(unit.tok(i - 2)):  # a variable or member that was declared elsewhere
        known = [d for d in unit.declarations.named(unit.t[i - 2]) if d.kind in ("variable", "member", "parameter")]
        types = {written(unit.t, d).name for d in known}
        if len(types) == 1:
            return types.pop()
        facts = unit.ask(bindings=(unit.p[i - 2],))
        binding = facts.bindings.get(unit.p[i - 2]) if facts is not None else None
        return binding.type if binding is not None else ""
    if before == "return":
        f = unit.function_at(i)
        return unit.tok(f.name_at - 1) if f is not None else ""
    return _of_parameter(unit, i) if before in ("(", ",", "{") else ""


def _of_parameter(unit: Unit, i: int) -> str:
    """The type of the parameter that token i is an argument for, by the functions and constructors of this file."""
    opener, place = i - 1, 0
    while opener > 0 and unit.t[opener] not in ("(", "{"):
        if unit.t[opener] in (";", "}"):
            return ""
        place += unit.t[opener] == ","
        opener = unit.match[opener] - 1 if unit.t[opener] in (")", "]") and unit.match[opener] > 0 else opener - 1
    callee = opener - 1
    if not is_identifier(unit.tok(callee)):
        return ""
    if is_identifier(unit.tok(callee - 1)) and unit.tok(callee - 1) not in BEFORE_VALUE:
        callee -= 1  # `R r(1, threadIdx)`
    elif unit.tok(opener) == "{" and unit.tok(callee - 1) in (")", ";", "}"):
        return ""
    count = len(unit.split_args(opener + 1, unit.match[opener]))
    kinds = set()
    for parameters in _signatures(unit, callee):
        if len(parameters) >= count:
            words = re.findall(r"\w+", unit.text[parameters[place].start : parameters[place].end])
            kinds.add(next((w for w in words if w not in ("const", "struct")), ""))
    kinds -= BUILTIN_TYPES  # which no built-in variable turns into
    return kinds.pop() if len(kinds) == 1 else ""


def _signatures(unit: Unit, callee: int) -> Iterator[tuple[Span, ...]]:
    """The parameters of the functions that a name may call, and of the constructors where it is a class."""
    declared = unit.declarations.named(unit.t[callee])
    for d in declared:
        made = unit.declarations.members(d, d.name) if d.kind == "type" else (d,) if d.kind == "function" else ()
        for f in made:
            if unit.tok(f.at + 1) == "(":
                yield unit.split_args(f.at + 2, unit.match[f.at + 1])


def _declared_again(unit: Unit, i: int) -> int:
    """The first token of `extern const uint3 threadIdx;`, where token i is the name; -1 for any other use."""
    d = unit.declarations.declared_at(i) if unit.tok(i + 1) == ";" and is_identifier(unit.tok(i - 1)) else None
    if d is None or d.scope.kind != "file" or unit.in_directive(i) is not None:
        return -1
    return d.first if "extern" in unit.t[d.first : i] else -1


def _own(unit: Unit) -> frozenset[str]:
    """The names of built-in variables that the file declares (emulation on the host does)."""
    return frozenset(
        unit.t[k]
        for k in unit.find(*unit.words & _NAMES)
        if is_identifier(before := unit.tok(k - 1))
        and before not in ("return", "else")
        and _declared_again(unit, k) < 0
    )
