from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.bases import bases, from_dependent_base, own_class
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import KEYWORDS

_BASE = regex(r":(?<!::)(?!:)\s*+(?:(?:public|protected|private|virtual)\s++)*+[A-Za-z_][\w:]*+\s*+<")
_SIDES = frozenset({"__device__", "__global__"})
_OF_OTHERS = frozenset({".", "->", ".*", "->*", "::"})


class DependentBase(Check):
    """A function of a base class that depends on a template parameter is called without `this->`.

    nvcc's front end looks for it in that base when the template is instantiated; clang looks only where the standard
    says so, and refuses the call. `this->` is put in where the class has the name from nowhere else.
    """

    code, name, severity = "CU270", "dependent-base", Severity.INFO
    true_of_cuda = True
    triggers = frozenset({"template"})
    examples = (
        Example(
            "struct B { __device__ int f(int v) const; };\n"
            "template <int k> struct C : public B { int e[k]; using B::f; };\n"
            "template <int k> struct D : C<k> { using C<k>::e; __device__ int g() { return f(e[0]); } };\n",
            "struct B { __device__ int f(int v) const; };\n"
            "template <int k> struct C : public B { int e[k]; using B::f; };\n"
            "template <int k> struct D : C<k> { using C<k>::e; __device__ int g() { return this->f(e[0]); } };\n",
        ),
        Example(
            "template <class T> struct C { __device__ T f(T v); };\n"
            "template <class T> struct D : C<T> { __device__ T g(T v); };\n"
            "template <class T> __device__ T D<T>::g(T v) { return CHECK(f(v)); }\n",
            "template <class T> struct C { __device__ T f(T v); };\n"
            "template <class T> struct D : C<T> { __device__ T g(T v); };\n"
            "template <class T> __device__ T D<T>::g(T v) { return CHECK(this->f(v)); }\n",
            "a function defined outside of its class, as a macro's argument",
        ),
        Example(
            "template <class T> struct C { __device__ T f(T v); __device__ T n(); __device__ T h(T v); };\n"
            "struct B { __device__ int h(int v); };\n"
            "template <class T> struct D : B, C<T> { using C<T>::f; __device__ T own(T v);\n"
            "  __device__ T g(T v) { return f(v) + this->f(v) + C<T>::f(v) + h(v) + own(v); } };\n"
            "template <class T> struct E : C<int> { __device__ T g(T v) { return f(v); } };\n",
            note="it is named in the class, or the base does not depend on T",
        ),
        Example(
            "template <class T> struct C { __device__ T f(T v); };\n"
            "template <class T> __device__ T f(T v);\n"
            "template <class T> struct D : C<T> { __device__ T g(T v) { return f(v); } };\n",
            note="a function of that name is visible",
        ),
        Example(
            "#define CALL return f(v)\n"
            "template <class T> struct C { __device__ T f(T v); };\n"
            "template <class T> struct D : C<T> { __device__ T g(T v) { CALL; } };\n",
            note="in a macro body",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _BASE.search(unit.text) is None or "template" not in unit.words:
            return
        for f in unit.functions:
            cls = own_class(unit, f) if f.sides & _SIDES else None
            if cls is None or not bases(unit, cls):
                continue
            known: dict[str, bool] = {}
            for i in unit.between(f.body[0], f.body[1], "("):
                at = i - 1
                name = unit.t[at]
                if not is_identifier(name) or name in KEYWORDS or unit.tok(at - 1) in _OF_OTHERS:
                    continue
                if unit.tok(i + 1) == ")" or unit.lexed.directive_index(at) >= 0:
                    continue  # without arguments, nvcc refuses it too
                if name not in known:
                    known[name] = from_dependent_base(unit, cls, name)
                if known[name]:
                    yield self.finding(
                        f"`{name}` is a member of a base that depends on a template parameter, and needs `this->`",
                        unit.p[at],
                        unit.end(at),
                        (insert(unit.p[at], "this->"),),
                        effects=(("all", "compile-error"),),
                    )
