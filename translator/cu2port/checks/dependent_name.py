from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function, may_name_dependent
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR, is_identifier
from cu2port.syntax.scopes import Scope
from cu2port.syntax.types import type_parameters
from cu2port.syntax.words import KEYWORDS

_STARTS = frozenset({";", "{", "}", "const", "static", "volatile", "__shared__", "constexpr"})
_AFTER_NAME = frozenset({";", "=", "[", "{", ",", "("})
_AFTER_TYPE = frozenset({"*", "&"})
_NAME = r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+"
# members that a type may be, and the begin of the name that it declares
_DECLARES = rf"(?:{NEAR}::{NEAR}{_NAME})++{NEAR}(?:[*&]{NEAR})*+[A-Za-z_$\x80-\xff]"
_BEGINS = rf"(?:[;{{}}]|\b(?:{'|'.join(sorted(w for w in _STARTS if is_identifier(w)))})\b){NEAR}"
_BEHIND_NAME = re.compile(_DECLARES)
_LAST = re.compile(r"(?:[\w$\x80-\xff]+|[^\w$\x80-\xff])\Z")
_BEHIND_ARGUMENTS = re.compile(rf">{_DECLARES}")
_OF_ARGUMENTS = re.compile(rf"{_BEGINS}{_NAME}(?:{NEAR}::{NEAR}{_NAME})*+{NEAR}<[^;{{}}]*?>{_DECLARES}")
_MEMBER_TEMPLATE = re.compile(rf"(?:\.|->){NEAR}[A-Za-z_]\w*{NEAR}<(?![<=])")
_CALLED = re.compile(rf">{NEAR}\(")
_MEMBER_OF_TYPE = re.compile(rf">{NEAR}::{NEAR}{_NAME}{NEAR}<")
_NAMED = re.compile(r"typename(?<!\wtypename)\s+(\w+::\w+)")
_MADE = re.compile(r"::(\w++)\s*+[({]")  # begins where few texts do: the word before it is looked at later
_ENDS = re.compile(r"[;{}]|\Z")


class DependentName(Check):
    """`typename` or `template` is missing before a name that depends on a template parameter.

    nvcc's front end guesses that `A<T>::type x;` declares something and that `a.get<3>()` names a template; clang reads
    both as the standard says, as values and comparisons. The word is put in where nothing else can be meant.
    """

    code, name, severity = "CU213", "dependent-name", Severity.INFO
    true_of_cuda = True
    triggers = frozenset({"template"})
    examples = (
        Example(
            "template <class T> __device__ void f() { A<T>::type x = 0; }",
            "template <class T> __device__ void f() { typename A<T>::type x = 0; }",
        ),
        Example(
            "template <class T> void f(A<T>& a) { CHECK(a.get<3>()); }",
            "template <class T> void f(A<T>& a) { CHECK(a.template get<3>()); }",
            "as a macro's argument",
        ),
        Example(
            "template <typename T> void f() { T::kind k; }", "template <typename T> void f() { typename T::kind k; }"
        ),
        Example(
            "template <class T> void f(T a) { typename T::kind k = a.is() ? a.get() : T::kind(); }",
            "template <class T> void f(T a) { typename T::kind k = a.is() ? a.get() : typename T::kind(); }",
            "a value of a type that the function names as one",
        ),
        Example(
            "template <class T> struct S { using A = typename std::allocator_traits<T>::rebind_alloc<int>; };",
            "template <class T> struct S { using A = typename std::allocator_traits<T>::template rebind_alloc<int>; };",
            "a member template in a type",
        ),
        Example(
            "template <class T, typename std::enable_if<B<T>::value>::type* = nullptr> void f() { std::string s; }",
            note="`std` is no parameter",
        ),
        Example("#define LOCAL A<T>::type x;\n", note="in a macro body, where nobody knows T"),
        Example(
            "template <class T> struct Q { template <class A> void f(A* a); };\n"
            "template <class T> template <class A> void Q<T>::f(A* a) { a->get<true>(3); }",
            "template <class T> struct Q { template <class A> void f(A* a); };\n"
            "template <class T> template <class A> void Q<T>::f(A* a) { a->template get<true>(3); }",
            "a member of a class template, defined outside",
        ),
        Example(
            "template <class T> struct R { void f(T& a) { T::kind k; a.get<3>(); } };",
            "template <class T> struct R { void f(T& a) { typename T::kind k; a.template get<3>(); } };",
            "the parameter is the class's",
        ),
        Example("template <class T> void f(A<T>& a) { typename T::kind k; a.template get<3>(); }", note="it is there"),
        Example(
            "template <class T> void f() { typename ::n::A<T>::type x; const typename ::n::A<T>::type y; }",
            note="it is there, before the global namespace",
        ),
        Example(
            "template <class T> void f(A<int>& a) { a.get<3>(); A<int>::type x; T::call(x); }", note="not dependent"
        ),
        Example("template <class T> void f(T a) { T::template init(a); T::A::template get<3>(a); }", note="calls"),
        Example(
            "template <class T> void f(T* p, A<T> a) { T::operator delete(p); A<T>::B::operator new(4); }",
            note="operators are no types",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        in_type = unit.may_hold(("typename",)) and _MEMBER_OF_TYPE.search(unit.text) is not None
        in_body = _may_declare(unit) or _may_call_template(unit.text) or _may_make(unit.text)
        if not (in_type or in_body) or "template" not in unit.words:  # the words are asked last: they take the lexer
            return
        for i in unit.find("typename") if in_type else ():
            yield from self._member_templates(unit, i)
        if not in_body:
            return
        for f in unit.functions:
            params = _parameters(unit, f)
            if params:
                yield from self._typenames(unit, f, params)
                yield from self._values(unit, f, params)
                yield from self._templates(unit, f, params)

    def _member_templates(self, unit: Unit, i: int) -> Iterator[Finding]:
        """The members in `typename A<T>::member<U>`, which nothing but templates can be."""
        k = i + 1
        while is_identifier(unit.tok(k)):
            behind = unit.tok(k - 1) == "::" and unit.tok(k - 2) == ">"
            k += 1
            if unit.tok(k) == "<":
                close = unit.angle_close(k)
                if close < 0:
                    return
                if behind:
                    yield self.finding(
                        f"`{unit.t[k - 1]}` needs `template` before it to be a template",
                        unit.p[i],
                        unit.end(close),
                        (insert(unit.p[k - 1], "template "),),
                        effects=(("all", "compile-error"),),
                    )
                k = close + 1
            if unit.tok(k) != "::":
                return
            k += 1

    def _typenames(self, unit: Unit, f: Function, params: set[str]) -> Iterator[Finding]:
        t = unit.t
        for after in unit.between(f.body[0] + 2, f.body[1] + 1, "<", "::"):
            i = after - 1
            if t[i - 1] not in _STARTS or not is_identifier(t[i]) or t[i] in KEYWORDS:
                continue  # `typename ::A<T>::type x` has it
            dependent, k = t[i] in params, i
            while True:
                if unit.tok(k + 1) == "<":
                    close = unit.angle_close(k + 1)
                    if close < 0:
                        break
                    dependent, k = dependent or bool(params.intersection(t[k + 1 : close])), close
                if unit.tok(k + 1) != "::" or not is_identifier(unit.tok(k + 2)) or unit.tok(k + 2) == "operator":
                    break
                k += 2
                if t[k] in KEYWORDS:  # `template`
                    if not is_identifier(unit.tok(k + 1)) or unit.tok(k + 2) != "<":
                        dependent = False  # `T::template f(x)`, which calls f
                        break
                    k += 1
            name = k + 1
            while unit.tok(name) in _AFTER_TYPE:
                name += 1
            plain = t[k] != ">" and t[k - 1] == "::" and name == k + 1
            if dependent and plain and is_identifier(unit.tok(name)) and unit.tok(name + 1) in _AFTER_NAME:
                yield self._type(unit, i, k)

    def _values(self, unit: Unit, f: Function, params: set[str]) -> Iterator[Finding]:
        """Values made of a type in an expression, `T::kind()`, where the function says `typename T::kind` elsewhere."""
        t = unit.t
        named = unit.between(f.first, f.body[1], "typename")
        types = {
            (t[i + 1], t[i + 3])
            for i in named
            if unit.tok(i + 1) in params and unit.tok(i + 2) == "::" and unit.tok(i + 4) != "::"
        }
        for i in unit.between(f.body[0], f.body[1], "::") if types else ():
            made = unit.tok(i + 2) in ("(", "{") and (t[i - 1], t[i + 1]) in types
            if made and t[i - 2] != "::" and i - 2 not in named:
                yield self._type(unit, i - 1, i + 1)

    def _type(self, unit: Unit, first: int, last: int) -> Finding:
        return self.finding(
            f"`{unit.source(first, last + 1)}` needs `typename` before it to be a type",
            unit.p[first],
            unit.end(last),
            (insert(unit.p[first], "typename "),),
            effects=(("all", "compile-error"),),
        )

    def _templates(self, unit: Unit, f: Function, params: set[str]) -> Iterator[Finding]:
        t = unit.t
        objects = _dependent_objects(unit, f, params)
        for i in unit.between(f.body[0] + 1, f.body[1], ".", "->") if objects else ():
            if t[i - 1] not in objects or unit.tok(i + 2) != "<" or unit.is_member(i - 1):
                continue
            close = unit.angle_close(i + 2)
            if is_identifier(t[i + 1]) and close > 0 and unit.tok(close + 1) == "(":
                yield self.finding(
                    f"`{t[i + 1]}` needs `template` before it to be a template",
                    unit.p[i - 1],
                    unit.end(close),
                    (insert(unit.p[i + 1], "template "),),
                    effects=(("all", "compile-error"),),
                )


def _may_declare(unit: Unit) -> bool:
    """Whether a statement may declare something with a type that is qualified with what depends on a type parameter
    of a template (`T::x y`, `A<T>::x* y`), told without the lexer. False is certain."""
    if _BEHIND_ARGUMENTS.search(unit.text) is not None and _OF_ARGUMENTS.search(unit.text) is not None:
        return True
    return may_name_dependent(unit, _BEHIND_NAME, _may_begin)


def _may_begin(text: str, at: int) -> bool:
    """Whether a statement, or what follows a specifier, may begin at a place, told without the lexer. False is certain.

    Only blanks on the line are passed over: what is above, or in a comment before it, may be anything.
    """
    line = text[text.rfind("\n", 0, at) + 1 : at].rstrip(" \t\f\v\r")
    last = _LAST.search(line)
    return last is None or last[0] in _STARTS or line.endswith(("*/", "\\"))


def _may_make(text: str) -> bool:
    """Whether a type that a text names by `typename` may be made a value, told without the lexer. False is certain."""
    named = {m[1] for m in _NAMED.finditer(text)}
    if not named:
        return False
    members = {name.rpartition("::")[2] for name in named}
    for m in _MADE.finditer(text):
        if m[1] in members:
            begin = m.start()
            while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
                begin -= 1
            if text[begin : m.end(1)] in named and text[begin - 1 : begin] != ":":
                return True
    return False


def _may_call_template(text: str) -> bool:
    """Whether a statement may call a template that is a member of an object, told without the lexer. Each statement is
    looked at once. False is certain where no comment or literal among the arguments holds a `;` or a brace."""
    at = 0
    while (m := _MEMBER_TEMPLATE.search(text, at)) is not None:
        end = _ENDS.search(text, m.end())
        at = len(text) if end is None else end.end()
        if _CALLED.search(text, m.end(), at) is not None:
            return True
    return False


def _parameters(unit: Unit, f: Function) -> set[str]:
    """Type parameters of a function template, and of the class templates that it is a member of."""
    found: set[str] = set()
    scope: Scope | None = unit.declarations.scope_at(f.name_at)
    while scope is not None:
        found.update(type_parameters(unit.t, scope))
        scope = scope.parent
    return found


def _dependent_objects(unit: Unit, f: Function, params: set[str]) -> set[str]:
    """Names of function parameters whose type names a template parameter."""
    out = set()
    for span in unit.split_args(f.params[0] + 1, f.params[1]):
        k, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        words = unit.t[k:stop]
        if len(words) > 1 and is_identifier(words[-1]) and params.intersection(words[:-1]):
            out.add(words[-1])
    return out
