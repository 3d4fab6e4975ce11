from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function, may_name_dependent
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import value_of
from cu2port.syntax.lexer import NEAR, is_identifier
from cu2port.syntax.scopes import Scope
from cu2port.syntax.types import type_parameters

_QUALIFIES = re.compile(rf"{NEAR}::")
_OF_ARGUMENTS = re.compile(f">{_QUALIFIES.pattern}")
_CALL = re.compile(r">\s*\(")
_NAME = re.compile(r"::\s*\w+\s*<")
_MEMBER = re.compile(r"(?:\.|->)\w+\s*<")  # begins where few texts do: a word before it is looked at later
_WORD = re.compile(rf"(?:::|\.|->){NEAR}template\s+\w+{NEAR}\(")
_TYPE = re.compile(r"typename\s+\w+\s*::[\s\w:]*<")
_NAMED = re.compile(r"template\s+\w")  # few texts have it, and it is found fast
_ARGUMENT = re.compile(r"\w+\Z|::|,|<|>|\*|&|\+|-|\.\.\.")
_CAST = "template <class T> struct Cast { template <int N> static __device__ void to(T*) {} };\n"


class DependentTemplate(Check):
    """A member template of a class that depends on template parameters is called without the word `template`.

    `Cast<T>::to<N>(x)` means a comparison unless `template` is before the member's name. nvcc takes it without for
    a call, of an object's member too (`tile.load<N>(x)`); clang refuses. The word is put in; where the class turns out
    not to depend on a parameter it is allowed too. A type wants it as well (`typename T::rebind<U>`). Where no
    arguments follow (`Cast<T>::template to(x)`), nvcc lets the word pass and clang refuses it; it is taken out.
    """

    code, name, severity = "CU232", "dependent-template", Severity.INFO
    true_of_cuda = True
    triggers = frozenset({"template"})
    examples = (
        Example(
            f"{_CAST}template <class T, int N> __device__ void f(T* p) {{ Cast<T>::to<N>(p); }}\n",
            f"{_CAST}template <class T, int N> __device__ void f(T* p) {{ Cast<T>::template to<N>(p); }}\n",
        ),
        Example(
            "template <typename Op, int N> __device__ int f(int x) { return CHECK(Op::run<N, Op>(x)); }\n",
            "template <typename Op, int N> __device__ int f(int x) { return CHECK(Op::template run<N, Op>(x)); }\n",
            "as a macro's argument",
        ),
        Example(
            f"{_CAST}template <class K> __device__ void f(int* p) {{ using D = typename K::D; Cast<D>::to<8>(p); }}\n",
            f"{_CAST}template <class K> __device__ void f(int* p) "
            "{ using D = typename K::D; Cast<D>::template to<8>(p); }\n",
            "by another name",
        ),
        Example(
            "template <class T> struct A { using U = typename T::rebind<int>; __device__ void f(U); };\n",
            "template <class T> struct A { using U = typename T::template rebind<int>; __device__ void f(U); };\n",
            "a type",
        ),
        Example("template <class T> __device__ typename T::type f(T a) { return a.x < 3; }\n", note="a type without"),
        Example(
            "template <class F> __device__ int f(F a, int* p) { return F::template mul(p, 3) + a.template get(); }\n",
            "template <class F> __device__ int f(F a, int* p) { return F::mul(p, 3) + a.get(); }\n",
            "no arguments follow",
        ),
        Example(
            "template <class F> __device__ int f(F g) { return g.template operator()<int>(1); }\n", note="an operator"
        ),
        Example("template <class T> __device__ bool f(T a) { return T::value < 3; }\n", note="a comparison"),
        Example(f"{_CAST}__device__ void f(int* a) {{ Cast<int>::to<3>(a); }}\n", note="no parameter, no doubt"),
        Example(
            "namespace math { template <class T> __device__ T to(T a) { return a; } }\n"
            "template <class T> __device__ T f(T a) { return math::to<T>(a); }\n",
            note="of a namespace",
        ),
        Example(
            "class math { public: template <class T> static __device__ T to(T a) { return a; } };\n"
            "template <class T> __device__ T f(T a) { return math::to<T>(a); }\n",
            note="of a class that is no parameter",
        ),
        Example(
            f"{_CAST}template <> template <> __device__ void Cast<int>::to<3>(int*) {{}}\n",
            note="a definition",
        ),
        Example(
            "template <int N> __global__ void f(int* p) { Tile<N> t(p); *p = t.at<N>(3) + t.size < 3; }\n",
            "template <int N> __global__ void f(int* p) { Tile<N> t(p); *p = t.template at<N>(3) + t.size < 3; }\n",
            "of an object",
        ),
        Example(
            "template <int N> struct S { __device__ int at(int* p) { Tile<N> t(p); return t.at<N>(3); } };\n",
            "template <int N> struct S { __device__ int at(int* p) { Tile<N> t(p); return t.template at<N>(3); } };\n",
            "in a class template",
        ),
        Example(
            "template <int N> __global__ void f(Tile<N>* t, int* p) { *p = t->at <N> (3); }\n",
            "template <int N> __global__ void f(Tile<N>* t, int* p) { *p = t->template at <N> (3); }\n",
            "with blanks",
        ),
        Example("template <int N> __device__ void f(Plain t, int* p) { *p = t.at<N>(3); }\n", note="no parameter"),
        Example("#define TO(T, N, x) Cast<T>::to<N>(x)\n", note="in a macro body types are not known"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        text = unit.text
        yield from self._of_objects(unit)
        for i in unit.find("template") if _NAMED.search(text) and _WORD.search(text) else ():
            name, called = unit.tok(i + 1), unit.tok(i + 2) == "("
            named = (
                is_identifier(name) and name != "operator"
            )  # of `f.template operator()<int>(x)` the arguments follow
            if named and called and unit.tok(i - 1) in ("::", ".", "->"):
                yield self._not_needed(unit, i)
        if _TYPE.search(text) is not None:
            yield from self._of_types(unit)
        if next(_called(_NAME, text), None) is None or not _may_depend(unit) or "template" not in unit.words:
            return
        parameters = _parameters(unit)
        for start in _called(_NAME, text):
            i = unit.lexed.at(start)
            if unit.tok(i) != "::" or unit.in_directive(i) is not None or not is_identifier(unit.tok(i + 1)):
                continue
            f = unit.function_at(i)
            if f is None or i < f.body[0] or not _depends(unit, i, parameters) or not _is_call(unit, i + 2):
                continue
            yield self._needed(unit, i + 1)

    def _of_objects(self, unit: Unit) -> Iterator[Finding]:
        """Findings for `x.f<N>(y)` in a template, where `x` is a variable of the function whose type has arguments."""
        if not unit.may_hold({"__device__", "__global__"}):
            return
        starts = list(_called(_MEMBER, unit.text))
        if not starts or unit.words.isdisjoint({"__device__", "__global__"}):
            return
        for start in starts:
            i = unit.lexed.at(start) - 1
            f = unit.function_at(i)
            if f is None or i < f.body[0] or not _in_template(unit, f) or unit.in_directive(i) is not None:
                continue
            if (
                is_identifier(unit.t[i])
                and unit.end(i) == start
                and unit.tok(i + 3) == "<"
                and _is_call(unit, i + 3)
                and _has_arguments(unit, f, i)
            ):
                yield self._needed(unit, i + 2)

    def _of_types(self, unit: Unit) -> Iterator[Finding]:
        """Findings for `typename T::type<N>`, where `T` is a parameter."""
        parameters = _parameters(unit)
        for i in unit.find("typename"):
            if unit.tok(i + 1) not in parameters or unit.in_directive(i) is not None:
                continue
            k = i + 2
            while unit.tok(k) == "::" and is_identifier(unit.tok(k + 1) or ";"):
                if unit.tok(k + 2) == "<":
                    yield self._needed(unit, k + 1)
                    break
                k += 2

    def _needed(self, unit: Unit, i: int) -> Finding:
        return self.finding(
            f"`{unit.t[i]}` is a template in what depends on a parameter: clang needs `template` before it",
            unit.p[i],
            unit.end(i),
            (insert(unit.p[i], "template "),),
            effects=(("all", "compile-error"),),
        )

    def _not_needed(self, unit: Unit, i: int) -> Finding:
        return self.finding(
            f"`{unit.t[i + 1]}` has no template arguments: clang refuses `template` before it",
            unit.p[i],
            unit.end(i + 1),
            (Edit(unit.p[i], unit.p[i + 1], ()),),
            effects=(("all", "compile-error"),),
        )


def _called(name: re.Pattern[str], text: str) -> Iterator[int]:
    """Where a name with template arguments begins that is called: `x.f<a, b>(`, with no other bracket in between. Each
    part of the text is looked at once."""
    end = 0
    for call in _CALL.finditer(text):
        begin = max(end, *(text.rfind(bracket, end, call.start()) + 1 for bracket in ";(){}"))
        found = name.search(text, begin, call.start())
        if found is not None:
            yield found.start()
        end = call.end() - 1


def _in_template(unit: Unit, f: Function) -> bool:
    """Whether a function is a template, or a member of one."""
    if unit.declarations.template_at(f.first) is not None:
        return True
    scope: Scope | None = unit.declarations.scope_at(f.first)
    while scope is not None and scope.kind != "template":
        scope = scope.parent
    return scope is not None


def _has_arguments(unit: Unit, f: Function, i: int) -> bool:
    """Whether a declaration before token i gives the variable there a type with template arguments: `Tile<N>& x`."""
    places = unit.once(_behind_arguments).get(unit.t[i], [])
    return bisect_left(places, f.name_at) < bisect_left(places, i)


def _behind_arguments(unit: Unit) -> dict[str, list[int]]:
    """Where each name stands behind a `>`, perhaps with `&` or `*` between."""
    out: dict[str, list[int]] = {}
    for k in unit.find(">"):
        at = k + 1 + (unit.tok(k + 1) in ("&", "*"))
        if is_identifier(unit.tok(at) or ";"):
            out.setdefault(unit.t[at], []).append(at)
    return out


def _may_depend(unit: Unit) -> bool:
    """Whether what depends on a template's parameter may qualify a name, told without the lexer. False is certain."""
    return may_name_dependent(unit, _QUALIFIES) or _OF_ARGUMENTS.search(unit.text) is not None


def _parameters(unit: Unit) -> set[str]:
    """The types that templates of a file are declared with, and those named after them: `T` of `template <typename T>`,
    `U` of `using U = typename T::type`."""
    declarations = unit.declarations
    found = {name for i in unit.find("template") for name in type_parameters(unit.t, declarations.scope_at(i))}
    aliases = (d for i in unit.find("using") if (d := unit.declaration(i + 1)) is not None and d.kind == "type")
    return found | {d.name for d in aliases if "typename" in unit.t[slice(*value_of(unit.lexed, d))][:1]}


def _depends(unit: Unit, i: int, parameters: set[str]) -> bool:
    """Whether what stands before `::` names a template's parameter: `T`, `Cast<T, 3>`."""
    if unit.tok(i - 1) in parameters:
        return unit.tok(i - 2) != "::"
    if unit.tok(i - 1) != ">":
        return False
    depth, k = 0, i - 1
    while k > 0:
        tok = unit.t[k]
        depth += (tok == ">") - (tok == "<")
        if depth == 0:
            break
        if not _ARGUMENT.match(tok):
            return False
        k -= 1
    return is_identifier(unit.tok(k - 1)) and any(t in parameters for t in unit.t[k + 1 : i - 1])


def _is_call(unit: Unit, k: int) -> bool:
    """Whether template arguments and an opening bracket follow, token k being `<`."""
    depth = 0
    while unit.tok(k):
        tok = unit.t[k]
        depth += (tok == "<") - (tok == ">")
        if depth == 0:
            return unit.tok(k + 1) == "("
        if not _ARGUMENT.match(tok):
            return False
        k += 1
    return False
