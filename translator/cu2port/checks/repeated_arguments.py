from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.words import BEHIND_CALLS, BUILTIN_TYPES

_SHAPE = re.compile(r"<([\w\s,.]*)>\s*\(")
_CLASS = "template <class T> struct Plan { template <int M, int N> void run(T* p); };\n"


class RepeatedArguments(Check):
    """The definition of a function template has the template's own parameters as arguments behind its name.

    `template <int M> void Plan<T>::run<M>(T* p) {}` is a partial specialisation of a function, which C++ does not have.
    nvcc takes it for the template itself; clang refuses. The arguments are removed, which leaves that template.
    """

    code, name, severity = "CU249", "repeated-arguments", Severity.INFO
    true_of_cuda = True
    triggers = frozenset({"template"})
    examples = (
        Example(
            f"{_CLASS}template <class T>\ntemplate <int M, int N>\nvoid Plan<T>::run<M, N>(T* p) {{ *p = M; }}\n",
            f"{_CLASS}template <class T>\ntemplate <int M, int N>\nvoid Plan<T>::run(T* p) {{ *p = M; }}\n",
        ),
        Example(
            "template <class... T> __device__ int f<T...>(T... a) { return sizeof...(a); }\n",
            "template <class... T> __device__ int f(T... a) { return sizeof...(a); }\n",
            "a pack",
        ),
        Example(
            "#define F(name) template <int N> __device__ int name##_f<N>(int a) { return a * N; }\n",
            "#define F(name) template <int N> __device__ int name##_f(int a) { return a * N; }\n",
            "in a macro body",
        ),
        Example(
            "#define BOUNDS(n) __launch_bounds__(n)\n"
            "template <int N> __global__ void BOUNDS(N) f<N>(int* p) { *p = N; }\n",
            "#define BOUNDS(n) __launch_bounds__(n)\n"
            "template <int N> __global__ void BOUNDS(N) f(int* p) { *p = N; }\n",
            "the parameter as a macro's argument too",
        ),
        Example("template <class T> T f(T a);\ntemplate <> int f<int>(int a) { return a; }\n", note="a specialisation"),
        Example("struct A { template <class T> operator B<T>() const { return B<T>(); } };\n", note="a conversion"),
        Example("template <class T> struct A { A(); };\ntemplate <class T> A<T>::A() {}\n", note="of the class"),
        Example("template <int M, int N> void f<N, M>(int* p) { *p = M; }\n", note="in another order"),
        Example("WRAP(template <int N> void f<N>(int* p) { *p = N; })\n", note="what a macro gets may be no function"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not any(m[1].strip() not in BUILTIN_TYPES for m in _SHAPE.finditer(unit.text)) or not _may_define(unit):
            return
        for f in unit.functions:
            first = last = f.params[0] - 1
            while first > f.name_at and unit.t[first] != "<":
                first -= 1
            if first == f.name_at or unit.t[last] != ">" or "operator" in unit.t[f.name_at - 1 : first]:
                continue
            scope = unit.declarations.scope_at(f.name_at)
            given = "".join(unit.t[first + 1 : last]).replace("...", "")
            if scope.kind != "template" or not given or given != ",".join(scope.names):
                continue
            yield self.finding(
                f"`{f.name}` repeats its template's parameters as arguments, which clang takes for a specialisation",
                unit.p[f.name_at],
                unit.end(last),
                (replace(unit.p[first], unit.end(last), ""),),
                effects=(("all", "compile-error"),),
            )


def _may_define(unit: Unit) -> bool:
    """Whether a function with arguments behind its name may be defined, told before any scope is read. False is
    certain."""
    closes = (unit.match[i + 1] for i in unit.find(">") if unit.tok(i + 1) == "(")
    return any(unit.tok(close + 1) not in BEHIND_CALLS for close in closes if close > 0)
