from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from cu2port.catalog.includes import compiled_as_cuda
from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.member_sides import by_member, function_of, member
from cu2port.facts.structure import SIDES
from cu2port.facts.unit import Unit
from cu2port.syntax.instantiations import Instantiation, explicit_instantiation
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import parameter_types
from cu2port.syntax.words import ATTRIBUTES, SPECIFIERS

_HOST = frozenset({"__host__"})
_ORDER = ("__host__", "__device__", "__global__")
_DEVICE = frozenset({"__device__", "__global__"})
_LEFT_ALONE = frozenset({"constexpr", "consteval", "friend", "extern"})
_ENDS = frozenset({";", "{", "}"})
_KINDS = ("function", "constructor")


class _Function(NamedTuple):
    """A declaration of a function. `name`: with its namespaces and classes; `types`: of its parameters, and `const`;
    `sides`: as written; `special`: it is an explicit specialization."""

    d: Declaration
    name: str
    types: tuple[str, ...]
    arity: int
    sides: frozenset[str]
    special: bool

    @property
    def effective(self) -> frozenset[str]:
        return self.sides or _HOST


class OtherSides(Check):
    """A function is declared for the host or the device in one place, and for others in another place.

    nvcc takes `__device__ void f();` and `void f() {}` for one function, for both sides, and takes an explicit
    specialization with other sides than its template. For clang sides are part of what a function is: a definition of
    a member, or a specialization, with other ones is an error, and another function is without a definition. All
    declarations get the sides that one of them has; a specialization without any gets those of its template. A member
    that a class of another file of the tree declares is known by its name and the types of its parameters, and so is a
    function of no class that a header declares. An explicit instantiation (`template float f(float);`) gets the sides
    of its template, `__global__` of a kernel's, also in the body of a macro.
    """

    code, name, severity = "CU251", "other-sides", Severity.INFO
    examples = (
        Example(
            "struct S { __host__ __device__ int f(int a) const; };\nint S::f(int b) const { return b; }\n",
            "struct S { __host__ __device__ int f(int a) const; };\n"
            "__host__ __device__ int S::f(int b) const { return b; }\n",
        ),
        Example(
            "template <class T> __host__ __device__ float f(T t);\n"
            "template <> inline __device__ float f<int>(int i) { return __int2float_rz(i); }\n",
            "template <class T> __host__ __device__ float f(T t);\n"
            "template <> inline __host__ __device__ float f<int>(int i) { return __int2float_rz(i); }\n",
            "a specialization",
        ),
        Example(
            "template <class T> __device__ float f(T t);\ntemplate <> float f(int i) { return i; }\n",
            "template <class T> __device__ float f(T t);\ntemplate <> __device__ float f(int i) { return i; }\n",
            "a specialization that says nothing",
        ),
        Example(
            "namespace n { __device__ void f(); }\nvoid n::f() { CHECK(g()); }\n",
            "namespace n { __host__ __device__ void f(); }\n__host__ __device__ void n::f() { CHECK(g()); }\n",
            "in it a call as a macro's argument",
        ),
        Example(
            "#define D __device__\nstruct S { S(); };\nD S::S() {}\n",
            "#define D __device__\nstruct S { __host__ __device__ S(); };\n__host__ D S::S() {}\n",
            "sides by a macro",
        ),
        Example(
            "struct G { template <class T> __device__ T f(T t) const { return t; } };\n"
            "template float G::f<float>(float t) const;\n",
            "struct G { template <class T> __device__ T f(T t) const { return t; } };\n"
            "template __device__ float G::f<float>(float t) const;\n",
            "an explicit instantiation",
        ),
        Example(
            "template <class T> __global__ void k(T *p) {}\n#define MAKE(T) template void k<T>(T *p)\nMAKE(int);\n",
            "template <class T> __global__ void k(T *p) {}\n"
            "#define MAKE(T) template __global__ void k<T>(T *p)\nMAKE(int);\n",
            "of a kernel, by a macro",
        ),
        Example(
            "#define K(N) template <class T> __global__ void N##_k(T a) {}\n#define I(N) template void N##_k(int a);\n",
            "#define K(N) template <class T> __global__ void N##_k(T a) {}\n"
            "#define I(N) template __global__ void N##_k(int a);\n",
            "whose name a macro joins",
        ),
        Example(
            "#define F struct S { __device__ void f(); }; void S::f() {}\n", note="in a macro body scopes are not known"
        ),
        Example(
            "__device__ int f(int a);\nint f(float a) { return 1; }\n__host__ int g();\nint g() { return 1; }\n"
            "struct S { __device__ void f(); };\nstruct R { void f(); };\nvoid R::f() {}\n",
            note="other functions, and the host's",
        ),
        Example("#ifdef A\n__device__ int f();\n#else\nint f();\n#endif\n", note="only one of them is there"),
        Example("struct S { void f(); template <int N> __device__ void f(); };\n", note="one is a template"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "template" in unit.words and (not _DEVICE.isdisjoint(unit.words) or _says_device(unit)):
            yield from self._instantiations(unit)
        told = frozenset(said for said in unit.project.member_sides if function_of(said) in unit.words)
        if not told and "__device__" not in unit.words and not _says_device(unit):
            return
        if not told and "::" not in unit.t and "<>" not in unit.text.replace(" ", "") and unit.text.count(");") == 0:
            return
        members = by_member(told) if told and compiled_as_cuda(unit) else {}
        found = [f for d in unit.declarations.outer() if d.kind in _KINDS and (f := _function(unit, d)) is not None]
        families: defaultdict[tuple[str, int], list[_Function]] = defaultdict(list)
        for f in found:
            families[f.name, f.arity].append(f)
        for family in families.values():
            if len(family) > 1 and any(a.effective != b.effective for a, b in pairwise(family)):
                yield from self._family(unit, family)
            for f in family if members and not any(f.d.scope.kind == "class" for f in family) else ():
                sides = members.get(_key(unit, f))
                if sides:
                    yield from self._same(unit, [f], sides | f.sides)

    def _instantiations(self, unit: Unit) -> Iterator[Finding]:
        """Explicit instantiations of function templates, also in the bodies of macros."""
        found: list[tuple[int, Instantiation]] = []
        for i in unit.find("template"):
            d = unit.in_directive(i)
            called = explicit_instantiation(unit, i, d.stop if d is not None else 0)
            if called is not None and (d is None or d.keyword == "define"):
                found.append((i, called))
        templates: defaultdict[tuple[str, int], list[_Function]] = defaultdict(list)  # by the last part of the name
        for each in unit.declarations.outer() if found else ():
            f = _function(unit, each, True) if each.kind in _KINDS else None
            if f is not None and not f.special:
                templates[f.name.rpartition("::")[2], f.arity].append(f)
        for i, called in found:
            yield from self._instantiation(unit, i, called, templates)

    def _instantiation(
        self, unit: Unit, i: int, called: Instantiation, templates: Mapping[tuple[str, int], Sequence[_Function]]
    ) -> Iterator[Finding]:
        """An explicit instantiation of a function template at token i, which names its template's sides."""
        at, name, opener, close = called
        arity = len(parameter_types(unit.t[opener + 1 : close]))
        pasted = unit.t[at - 1] == "##"
        if any(_says_side(unit, w) or _may_say_sides(unit, w) for w in unit.t[i + 1 : at - 2 * pasted]):
            return
        of_name = templates.get((name.rpartition("::")[2], arity), ())
        sides = {f.effective for f in of_name if f"::{f.name}".endswith(f"::{name}")}
        if pasted:
            sides = _pasted_sides(unit, at)
        wanted = next(iter(sides)) if len(sides) == 1 else frozenset()
        if not wanted <= _HOST:
            yield self.finding(
                f"`{name}` is instantiated for the host alone, which clang finds no template for",
                unit.p[i],
                unit.end(at),
                (insert(unit.end(i), "".join(f" {s}" for s in _ORDER if s in wanted), Side.LEFT),),
                cuda=name,
                effects=(("all", "compile-error"),),
            )

    def _family(self, unit: Unit, family: list[_Function]) -> Iterator[Finding]:
        """Functions with the same name and number of parameters whose sides differ."""
        alike: defaultdict[tuple[str, ...], list[_Function]] = defaultdict(list)
        for f in family:
            if not f.special:
                alike[f.types].append(f)
        special = [f for f in family if f.special]
        wanted = {types: _union(same) for types, same in alike.items()}
        if special and len(set(wanted.values())) == 1:
            both = next(iter(wanted.values())).union(*(f.sides for f in special))
            wanted = dict.fromkeys(wanted, both)
        elif special:
            special = []  # which of several overloads it is for is not known
        for types, same in alike.items():
            yield from self._same(unit, same, wanted[types])
        if special:
            yield from self._same(unit, special, next(iter(wanted.values())))

    def _same(self, unit: Unit, functions: Iterable[_Function], sides: frozenset[str]) -> Iterator[Finding]:
        functions = list(functions)
        if not functions[0].special and len(functions) > 1 and _exclusive(unit, functions):
            return
        macros = None if _names_sides(unit) else _macros(unit, functions, sides)
        for f in functions:
            missing = [s for s in _ORDER if s in sides - f.sides] if macros is None else macros
            if not missing or f.effective == sides:
                continue
            at = next((k for k in range(f.d.first, f.d.at) if _says_side(unit, unit.t[k])), f.d.first)
            yield self.finding(
                f"`{f.d.name}` is declared for other sides elsewhere, which clang takes for another function",
                unit.p[f.d.at],
                unit.end(f.d.at),
                (insert(unit.p[at], "".join(f"{s} " for s in missing), Side.RIGHT),),
                cuda=f.d.name,
                effects=(("all", "compile-error"),),
            )


def _names_sides(unit: Unit) -> bool:
    """Whether a file may name sides: it does so already, or only CUDA's compiler reads it."""
    return not SIDES.isdisjoint(unit.words) or compiled_as_cuda(unit)


def _macros(unit: Unit, functions: Sequence[_Function], sides: frozenset[str]) -> tuple[str, ...]:
    """The macros for sides that one of the functions has; the host's compiler, which may read the file too, knows them
    and not the sides."""
    heads = (unit.t[f.d.first : f.d.at] for f in functions if f.effective == sides)
    found = (tuple(w for w in head if w in unit.side_macros) for head in heads)
    return next((words for words in found if words), ())


def _says_device(unit: Unit) -> bool:
    """Whether a macro of another header that the file uses says `__device__`."""
    return bool(unit.project.side_macros) and any("__device__" in sides for sides in unit.side_macros.values())


def _key(unit: Unit, f: _Function) -> str:
    """The key of a member function that is written with its class, or of a function of no class that has a body and
    says no side; empty for others."""
    owner, _, last = f.name.rpartition("::")
    if f.d.qualified:
        return member(owner.rpartition("::")[2], last, f.types)
    head = unit.t[max(0, f.d.first - 1) : f.d.at]
    free = not f.sides and unit.tok(f.d.stop - 1) == "}" and f.d.scope.kind in ("file", "namespace")
    return member("", last, f.types) if free and "static" not in head and ">" not in head[:1] else ""


def _union(same: Sequence[_Function]) -> frozenset[str]:
    return frozenset[str]().union(*(f.effective for f in same))


def _says_side(unit: Unit, word: str) -> bool:
    return word in SIDES or word in unit.side_macros


def _exclusive(unit: Unit, functions: Sequence[_Function]) -> bool:
    """Whether declarations are of different functions: in branches of one condition, twice in one class, where one is
    a template, or with bodies."""
    if sum(unit.tok(f.d.stop - 1) == "}" for f in functions) > 1:
        return True
    if sum(f.d.scope.kind == "class" for f in functions) > 1:
        return True
    chains = [{c.chain[0]: c for c in unit.conditions(unit.p[f.d.first])} for f in functions]
    return any(a[k] != b[k] for a in chains for b in chains for k in a.keys() & b.keys())


def _pasted_sides(unit: Unit, at: int) -> set[frozenset[str]]:
    """The sides of templates whose names end in token `at`, in the bodies of macros that join a parameter to it."""
    found = set()
    for k in unit.find(unit.t[at]):
        d = unit.in_directive(k)
        if d is not None and k != at and unit.tok(k - 1) == "##" and unit.tok(k + 1) == "(":
            first = next((j for j in range(k, d.first, -1) if unit.t[j] in _ENDS), d.first)
            head = unit.t[first:k]
            if "template" in head and "<" in head[head.index("template") :][1:2]:
                found.add(SIDES.intersection(head) or _HOST)
    return found


def _function(unit: Unit, d: Declaration, kernels: bool = False) -> _Function | None:
    """A declaration of a function outside of macros and functions; None where its sides or types are not known.
    `kernels`: it may be a kernel."""
    t = unit.t
    head = t[d.first : d.at]
    if not _LEFT_ALONE.isdisjoint(head) or unit.in_directive(d.at) is not None:
        return None
    sides = SIDES.intersection(head).union(*(unit.side_macros[w] for w in head if w in unit.side_macros))
    if ("__global__" in sides and not kernels) or any(_may_say_sides(unit, w) for w in head):
        return None
    opener = next((k for k in range(d.at + 1, min(d.stop, d.at + 40)) if t[k] == "("), -1)
    if t[d.at] == "operator" and t[opener : opener + 2] == ["(", ")"] and unit.tok(opener + 2) == "(":
        opener += 2
    close = unit.match[opener] if opener > 0 else -1
    if close < opener:
        return None
    types = parameter_types(t[opener + 1 : close])
    after = tuple(w for w in t[close + 1 : close + 2] if w == "const")
    special = t[max(0, d.first - 3) : d.first] == ["template", "<", ">"]
    return _Function(d, _name(unit, d), (*types, *after), len(types), sides, special)


def _may_say_sides(unit: Unit, word: str) -> bool:
    """Whether a word may be a macro for sides that is defined elsewhere, or one of another meaning here."""
    if word in unit.side_macros or word in SIDES or word in ATTRIBUTES or word in SPECIFIERS:
        return False
    return word in unit.macros or word.startswith("__") or (len(word) > 1 and is_identifier(word) and word.isupper())


def _name(unit: Unit, d: Declaration) -> str:
    """The name with those of the namespaces and classes around it, or written before it."""
    owner: list[str] = []
    depth = 0
    for w in unit.t[d.type_stop : d.at] if d.qualified else ():
        depth += (w == "<") - (w == ">") - 2 * (w == ">>")
        if is_identifier(w) and not depth:
            owner.append(w)
    return "::".join([*filter(None, [d.scope.path]), *owner, _operator(unit, d)])


def _operator(unit: Unit, d: Declaration) -> str:
    return d.name if unit.t[d.at] != "operator" else "operator" + "".join(unit.t[d.at + 1 : d.at + 3])
