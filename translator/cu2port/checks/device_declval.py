from __future__ import annotations

import re
from collections.abc import Iterator, Set

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR
from cu2port.syntax.words import EXECUTION_SPACES

_CALL = re.compile(rf"declval{NEAR}<")
_USING = re.compile(rf"using{NEAR}(?:::{NEAR})?std{NEAR}::{NEAR}declval{NEAR};")
_DEVICE = frozenset({"__device__", "__global__"})
_ENDS = frozenset({";", "{", "}"})
_LONGEST = 400  # tokens of a declaration


class DeviceDeclval(Check):
    """`std::declval` in what belongs to the device alone: its body, its declaration, an alias template.

    nvcc takes functions of the host in an expression that is never computed. clang does not: for a function of the
    device it finds no `declval` to call, and where that is in a template, no function at all. `cu2port::declval` is the
    same for both sides.
    """

    code, name, severity = "CU257", "device-declval", Severity.INFO
    triggers = frozenset({"declval"})
    examples = (
        Example(
            "template <class T> __device__ decltype(std::declval<T>().phi(1.f)) f(T& x) { return x.phi(1.f); }\n",
            '#include "cu2port/functional.hpp"\n'
            "template <class T> __device__ decltype(cu2port::declval<T>().phi(1.f)) f(T& x) { return x.phi(1.f); }\n",
        ),
        Example(
            "template <class T> __device__ void f(T& x) { decltype(std::declval<T>().phi()) y = x.phi(); }\n"
            "template <class T> __device__ auto g(T& x) -> decltype(std::declval<T>().phi());\n",
            '#include "cu2port/functional.hpp"\n'
            "template <class T> __device__ void f(T& x) { decltype(cu2port::declval<T>().phi()) y = x.phi(); }\n"
            "template <class T> __device__ auto g(T& x) -> decltype(cu2port::declval<T>().phi());\n",
            "in a body, and in a prototype",
        ),
        Example(
            "#define PHI(T) __device__ decltype(std::declval<T>().phi()) phi(T& x)\n",
            '#include "cu2port/functional.hpp"\n'
            "#define PHI(T) __device__ decltype(cu2port::declval<T>().phi()) phi(T& x)\n",
            "in a macro body",
        ),
        Example(
            "__device__ void f() { CHECK(sizeof(::std::declval<float2>().x)); }\n",
            '#include "cu2port/functional.hpp"\n__device__ void f() { CHECK(sizeof(cu2port::declval<float2>().x)); }\n',
            "as a macro's argument",
        ),
        Example(
            "template <class T> using phi_t = decltype(std::declval<T>().phi());\n"
            "template <class T> __device__ phi_t<T> f(T& x) { return x.phi(); }\n",
            '#include "cu2port/functional.hpp"\n'
            "template <class T> using phi_t = decltype(cu2port::declval<T>().phi());\n"
            "template <class T> __device__ phi_t<T> f(T& x) { return x.phi(); }\n",
            "an alias template, whose expression is read where it is named",
        ),
        Example(
            "using std::declval;\n__device__ int f() { return sizeof(declval<float2>().x); }\n",
            '#include "cu2port/functional.hpp"\n'
            "using std::declval;\n__device__ int f() { return sizeof(cu2port::declval<float2>().x); }\n",
            "without `std::`",
        ),
        Example(
            "template <class T> __host__ __device__ decltype(std::declval<T>().phi()) f(T& x) { return x.phi(); }\n"
            "template <class T> decltype(std::declval<T>().phi()) g(T& x) { return x.phi(); }\n",
            note="for both sides, or for the host",
        ),
        Example(
            "template <class T> struct R { using type = decltype(std::declval<T>().phi()); };\n"
            "__device__ void f() { typename R<K>::type x; }\n",
            note="in a class, which belongs to no side",
        ),
        Example(
            "__device__ int f() { return sizeof(own::declval<float2>().x + declval<float2>().x); }\n", note="another"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _CALL.search(unit.text) is None:
            return
        for i in unit.find("declval"):
            first = _std_declval(unit, i)
            if first < 0 or not _is_of_device(unit, i):
                continue
            start, end = unit.p[first], unit.end(i)
            edit = insert(start, "cu2port::", Side.RIGHT) if first == i else replace(start, end, "cu2port::declval")
            yield self.finding(
                "clang has `std::declval` for the host alone, also where it is not called; that of cu2port is for both",
                start,
                end,
                (edit,),
                cuda="std::declval",
                hip="cu2port::declval",
                effects=(("all", "compile-error"),),
                helpers=("functional.hpp",),
            )


def _std_declval(unit: Unit, i: int) -> int:
    """The first token of the name that ends at token i, if it is a call of the one of `std`; else -1."""
    if unit.tok(i + 1) != "<" or unit.is_member(i):
        return -1
    if unit.tok(i - 1) != "::":
        return i if _USING.search(unit.text) else -1
    if unit.tok(i - 2) != "std" or unit.qualifier(i) not in (i - 2, i - 3):
        return -1
    return i - 3 if unit.tok(i - 3) == "::" else i - 2


def _is_of_device(unit: Unit, i: int) -> bool:
    """Whether token i is read as part of a function for the device alone."""
    f = unit.function_at(i)
    if f is not None and f.first <= i:
        if f.sides & _DEVICE:
            return "__host__" not in f.sides
        between = unit.between(f.body[0], i, *_DEVICE)
        return bool(between) and not unit.between(f.body[0], i, "__host__")  # a lambda for the device
    words, alias = _declaration(unit, i)
    if alias:  # another header may declare it again: both must say the same
        return bool(unit.words & _DEVICE) or (bool(unit.project.side_macros) and not for_host(unit))
    return bool(words & _DEVICE) and "__host__" not in words


def _declaration(unit: Unit, i: int) -> tuple[Set[str], bool]:
    """The words for sides in the declaration that token i is in, or in its macro's body, and whether it is an alias
    template."""
    here = unit.in_directive(i)
    first, stop = i, i
    while first > max(0, i - _LONGEST) and unit.tok(first - 1) not in _ENDS and unit.in_directive(first - 1) is here:
        first -= 1
    while stop < min(len(unit.t), i + _LONGEST) and unit.t[stop] not in _ENDS and unit.in_directive(stop) is here:
        stop += 1
    words = unit.t[first:stop]
    sides = EXECUTION_SPACES.intersection(words).union(*(unit.side_macros[w] for w in words if w in unit.side_macros))
    return sides, "template" in words and "using" in words
