from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import is_class, written
from cu2port.syntax.words import BUILTIN_TYPES, RECORD_KEYS, SPECIFIERS

# types whose counterparts in HIP have a constructor that does something; converted code has HIP's names
_TYPES = re.compile(r"dim3|(?:cu|hip)randState(?!Mtgp32)\w*")
_NO_VALUE = frozenset({"static", "constexpr", "using", "typedef", "operator", "friend", "static_assert"})
_FAR = 600  # tokens behind a variable in which its elements are set first
_HOST = frozenset({"__host__", "inline", "explicit"})  # what may stand before a constructor for the host alone


class SharedConstructor(Check):
    """A shared variable has a type whose constructor does something: `__shared__ curandState s[32]`.

    nvcc warns, and does not call the constructor. clang refuses the variable, and one whose constructor is for the host
    alone. Its bytes are declared in its place, and a reference to them has its name, so it stays without a value as it
    was. The constructors of a class are known in the file that defines it; among CUDA's types are `dim3` and the states
    of cuRAND. A parameter of a template may be such a class where elements are set to a new value, `a[i] = T();`.
    """

    code, name, severity = "CU252", "shared-constructor", Severity.INFO
    triggers = frozenset({"__shared__"})
    examples = (
        Example(
            "#include <curand_kernel.h>\n__global__ void k() {\n  __shared__ curandState s[32];\n"
            "  curand_init(1, 0, 0, &s[threadIdx.x]);\n}\n",
            "#include <hiprand/hiprand_kernel.h>\n__global__ void k() {\n  typedef hiprandState s_type[32]; "
            "__shared__ alignas(s_type) unsigned char s_bytes[sizeof(s_type)]; "
            "s_type& s = reinterpret_cast<s_type&>(s_bytes);\n  hiprand_init(1, 0, 0, &s[threadIdx.x]);\n}\n",
        ),
        Example(
            "struct P { int a; __device__ P() : a(0) {} };\n__global__ void k() {\n  __shared__ P p;\n  p.a = 1;\n}\n",
            "struct P { int a; __device__ P() : a(0) {} };\n__global__ void k() {\n  typedef P p_type; "
            "__shared__ alignas(p_type) unsigned char p_bytes[sizeof(p_type)]; "
            "p_type& p = reinterpret_cast<p_type&>(p_bytes);\n  p.a = 1;\n}\n",
            "a class of the file's",
        ),
        Example(
            "struct P { int a; P() {} };\n__global__ void k() {\n  __shared__ P p[4];\n  p[threadIdx.x].a = 1;\n}\n",
            "struct P { int a; P() {} };\n__global__ void k() {\n  typedef P p_type[4]; "
            "__shared__ alignas(p_type) unsigned char p_bytes[sizeof(p_type)]; "
            "p_type& p = reinterpret_cast<p_type&>(p_bytes);\n  p[threadIdx.x].a = 1;\n}\n",
            "a constructor for the host",
        ),
        Example(
            "template <class T> __device__ void f(T* v) {\n  __shared__ T a[32];\n  a[threadIdx.x] = T();\n}\n",
            "template <class T> __device__ void f(T* v) {\n  typedef T a_type[32]; "
            "__shared__ alignas(a_type) unsigned char a_bytes[sizeof(a_type)]; "
            "a_type& a = reinterpret_cast<a_type&>(a_bytes);\n  a[threadIdx.x] = T();\n}\n",
            "a template's parameter",
        ),
        Example(
            "template <class T> __device__ void f(T* v) { __shared__ T a[32]; a[0] = T(0); v[0] = T(); }\n",
            note="an arithmetic type as a rule",
        ),
        Example(
            "#define S __shared__ dim3 extent;\n",
            "#define S typedef dim3 extent_type; __shared__ alignas(extent_type) unsigned char "
            "extent_bytes[sizeof(extent_type)]; extent_type& extent = reinterpret_cast<extent_type&>(extent_bytes);\n",
            "in a macro body",
        ),
        Example("RUN(__shared__ dim3 extent;)", note="as a macro's argument"),
        Example(
            "struct P { int a; P() = default; __device__ P(int b) : a(b) {} };\n"
            "struct Q { int a; __device__ Q() {} };\nstruct R { constexpr R() {} HD R(int b = 0) {} };\n"
            "__global__ void k() { __shared__ P p; __shared__ Q q[2]; __shared__ R r[2]; __shared__ float f[2]; }",
            note="nothing is done to them",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        classes = not unit.words.isdisjoint(RECORD_KEYS)
        for i in unit.find("__shared__"):
            found = _declared(unit, i)
            if found is None:
                continue
            at, end, kind = found
            named = unit.declarations.named(kind) if classes else ()
            own = [d for d in named if d.defines and is_class(unit.t, d)]
            if not (any(_initialises(unit, d) for d in own) if own else _is_made(unit, at, end, kind)):
                continue
            name = unit.t[at]
            made, data = (_unused(unit, f"{name}_{end}") for end in ("type", "bytes"))
            after = (
                f" __shared__ alignas({made}) unsigned char {data}[sizeof({made})];"
                f" {made}& {name} = reinterpret_cast<{made}&>({data});"
            )
            has = "has" if own or _TYPES.fullmatch(kind) else "may have"
            yield self.finding(
                f"`{name}` {has} a constructor, which is not called for a shared variable and clang refuses there",
                unit.p[at],
                unit.end(at),
                (
                    replace(unit.p[i], unit.end(i), "typedef"),
                    replace(unit.p[at], unit.end(at), made),
                    insert(unit.end(end), after, Side.LEFT),
                ),
                cuda=kind,
                effects=(("all", "compile-error"),),
            )


def _declared(unit: Unit, i: int) -> tuple[int, int, str] | None:
    """The name, the semicolon and the last word of the type of the one variable that `__shared__` at token i declares;
    None if there are more, one with a value, or one of a type that is built in."""
    name = i + 1
    while unit.tok(name) in SPECIFIERS:
        name += 1
    if unit.tok(name) in BUILTIN_TYPES:
        return None  # it has no constructor, and is the type of most
    d = None
    while unit.tok(name) not in (";", "") and (d := _declaration(unit, name)) is None:
        name += 1
    if d is None or d.first > i or d.kind != "variable" or unit.tok(i - 1) in ("extern", "static"):
        return None
    end = name + 1
    while unit.tok(end) == "[" and unit.match[end] > end + 1:
        end = unit.match[end] + 1
    return (name, end, written(unit.t, d).name) if unit.tok(end) == ";" else None


def _is_made(unit: Unit, name: int, end: int, kind: str) -> bool:
    """Whether a type that the file does not define has a constructor: one of CUDA's, or a template's parameter of
    which the variable's elements get new values, `a[i] = T();`."""
    if _TYPES.fullmatch(kind):
        return True
    made, stop = ["=", kind, "(", ")"], min(end + _FAR, len(unit.t))
    for k in range(end, stop) if unit.t[end - 1] == "]" else ():
        if unit.t[k] == "]" and unit.t[k + 1 : k + 5] == made and unit.t[unit.match[k] - 1] == unit.t[name]:
            d = unit.declarations.visible(kind, name)
            return d is not None and d.kind == "template parameter"
    return False


def _declaration(unit: Unit, i: int) -> Declaration | None:
    """The declaration whose name token i is. Its other places are not asked for: their scopes would be read."""
    d = unit.declaration(i) if is_identifier(unit.t[i]) else None
    return d if d is not None and d.kind != "constructor" else None


def _unused(unit: Unit, name: str) -> str:
    while name in unit.words:
        name += "_"
    return name


def _initialises(unit: Unit, d: Declaration) -> bool:
    """Whether a class has a constructor without arguments that does something or is for the host alone, or members with
    values."""
    opener = next((k for k in range(d.at + 1, min(d.stop, d.at + 60)) if unit.t[k] == "{"), -1)
    close = unit.match[opener] if opener > 0 else -1
    k, start = opener + 1, opener + 1
    while 0 < k < close:
        tok = unit.t[k]
        if tok in (";", ":") or (tok == "}" and unit.match[k] > opener):
            start = k + 1
        elif tok == d.name and unit.tok(k + 1) == "(" and unit.tok(k - 1) != "~":
            if _does_something(unit, k + 1, close, not _HOST.issuperset(unit.t[start:k])):
                return True
        elif tok == "=" and _NO_VALUE.isdisjoint(unit.t[start:k]) and "(" not in unit.t[start:k]:
            return True
        k = unit.match[k] if tok in ("(", "{", "[") and unit.match[k] > k else k + 1
    return False


def _does_something(unit: Unit, opener: int, end: int, device: bool) -> bool:
    """Whether a constructor whose parameters begin at a bracket needs no arguments and does something. `device`: it may
    be one for the GPU, too; clang calls no other, though it be empty."""
    close = unit.match[opener]
    params = unit.t[opener + 1 : close]
    if params and params != ["void"] and "=" not in params[: params.index(",") if "," in params else len(params)]:
        return False
    k = close + 1
    while k < end and unit.t[k] not in (";", "{", ":", "="):
        k += 1
    if unit.tok(k) == "{":
        return not device or unit.match[k] > k + 1
    return unit.tok(k) != "="
