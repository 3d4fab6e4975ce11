from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Options, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.engine.solo import HEADER, counted_anew, solo
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.neighbours import is_counted_with
from cu2port.syntax.types import written

_NAMES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_AFTER = frozenset({")", ",", ";", "}"})
_KEYWORDS = frozenset({"else", "do"})
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
        Example("__device__ void f() { dim3 t = threadIdx; }\n", note="it turns into dim3"),
        Example("void f(uint3 threadIdx) { g(threadIdx); }\n", note="the user's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*unit.words & _NAMES):
            name = unit.t[i]
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
    if unit.tok(i + 1) in _AFTER and _wanted(unit, i) == "uint3":
        made = "make_uint3"
    elif 2 < i < len(unit.t) - 2 and (is_counted_with(unit, i) or _is_of_template(unit, i)):
        made = "dim3" if unit.t[i] in _SIZES else "make_uint3"
    else:
        return ""
    return "" if unit.t[i] in unit.once(_own) else made


def of_members(unit: Unit, i: int, made: str) -> Edit:
    """The edit that builds an object of the members of token i. `made`: what `whole` says."""
    name = unit.t[i]
    return replace(unit.p[i], unit.end(i), f"{made}({name}.x, {name}.y, {name}.z)")


def _is_of_template(unit: Unit, i: int) -> bool:
    """Whether token i is the whole argument of a call with template arguments: `to<int3>(threadIdx)`."""
    return unit.tok(i - 1) == "(" and unit.tok(i + 1) == ")" and unit.tok(i - 2) == ">"


def _wanted(unit: Unit, i: int) -> str:
    """The type that the place of token i asks for, as far as this file says; "" where it does not."""
    before = unit.tok(i - 1)
    named = is_identifier(unit.tok(i - 2)) and is_identifier(unit.tok(i - 3)) and unit.tok(i - 3) not in _KEYWORDS
    if before in ("=", "(", "{") and named:
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
    if before not in ("(", ","):
        return ""
    opener, place = i - 1, 0
    while opener > 0 and unit.t[opener] != "(":
        if unit.t[opener] in (";", "{", "}"):
            return ""
        place += unit.t[opener] == ","
        opener = unit.match[opener] - 1 if unit.t[opener] in (")", "]") and unit.match[opener] > 0 else opener - 1
    callee = unit.tok(opener - 1)
    kinds = set()
    for f in unit.functions:
        if f.name == callee:
            parameters = unit.split_args(f.params[0] + 1, f.params[1])
            words = (
                re.findall(r"\w+", unit.text[parameters[place].start : parameters[place].end])
                if (place < len(parameters))
                else []
            )
            kinds.add(next((w for w in words if w not in ("const", "struct")), ""))
    return kinds.pop() if len(kinds) == 1 else ""


def _own(unit: Unit) -> frozenset[str]:
    """The names of built-in variables that the file declares (emulation on the host does)."""
    return frozenset(
        unit.t[k]
        for k in unit.find(*unit.words & _NAMES)
        if is_identifier(before := unit.tok(k - 1)) and before not in ("return", "else")
    )
