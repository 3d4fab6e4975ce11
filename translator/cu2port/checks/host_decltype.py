from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.checks.host_math import host_only
from cu2port.core.model import Finding, Severity, Side, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR, is_identifier
from cu2port.syntax.words import KEYWORDS

_CALL = re.compile(rf"(?:decltype|sizeof){NEAR}\({NEAR}(?:::{NEAR})?[A-Za-z_$\x80-\xff]")
_DEVICE = frozenset({"__device__", "__global__"})
_CUDA = _DEVICE | {"<<<"}


class HostDecltype(Check):
    """The type or size of what a function of the device returns, in a function of the host: `decltype(f(x))`.

    nvcc takes functions of the device in an expression that is never computed. clang finds no function to call there,
    and in a class, which belongs to no side, it does: `using T = decltype(f(x))` becomes a type of a local class. Where
    the function is declared in another file, it may be the host's too; the type is the same then.
    """

    code, name, severity = "CU261", "host-decltype", Severity.INFO
    triggers = frozenset({"decltype", "sizeof"})
    examples = (
        Example(
            "__device__ float f(float x);\nvoid g(float x) { using T = decltype(f(x)); T y; }\n",
            "__device__ float f(float x);\n"
            "void g(float x) { struct T_of { using type = decltype(f(x)); }; using T = typename T_of::type; T y; }\n",
        ),
        Example(
            "__device__ void f() { int phi; }\n"
            "template <class K> struct A { K k; void g() { using T = decltype(n::phi(k)); h<T><<<1, 1>>>(k); } };\n",
            "__device__ void f() { int phi; }\n"
            "template <class K> struct A { K k; void g() { struct T_of { using type = decltype(n::phi(k)); }; "
            "using T = typename T_of::type; h<T><<<1, 1>>>(k); } };\n",
            "of another file",
        ),
        Example(
            "__device__ float f(float x) { return x; }\nint g() { return sizeof(f(1)); }\nint h = sizeof(f(1));\n",
            "__device__ float f(float x) { return x; }\nint g() { return sizeof(f(1)); }\nint h = sizeof(f(1));\n",
            "in an expression: reported",
            findings=1,
        ),
        Example(
            "__device__ float f(float x) { return x; }\n#define T decltype(f(1))\nvoid g() { CHECK(sizeof(f(1))); }\n",
            "__device__ float f(float x) { return x; }\n#define T decltype(f(1))\nvoid g() { CHECK(sizeof(f(1))); }\n",
            "as a macro's argument, and in a macro body, whose uses are unknown",
            findings=1,
        ),
        Example(
            "__host__ __device__ float f(float x);\n__device__ float d(float x);\nfloat d(double x);\n"
            "void g(float x) { using T = decltype(f(x)); using U = decltype(d(x)); using S = decltype(std::abs(x)); }\n"
            "__global__ void k(float x) { using T = decltype(d(x)); }\n",
            note="of both sides, or in a kernel",
        ),
        Example("void g(float x) { using T = decltype(n::phi(x)); }\n", note="nothing of CUDA's is here"),
        Example("struct B {};\nvoid g() { using T = decltype(B() + C()); k<<<1, 1>>>(); }\n", note="more than a call"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_CUDA) or _CALL.search(unit.text) is None:
            return
        for i in unit.find("decltype", "sizeof"):
            k, close = i + 2 + (unit.tok(i + 2) == "::"), unit.match[i + 1]
            if unit.tok(i + 1) != "(" or close < k or unit.in_directive(i) is not None:
                continue
            while unit.tok(k + 1) == "::" and is_identifier(unit.tok(k + 2)):
                k += 2
            if not is_identifier(unit.tok(k)) or unit.t[k] in KEYWORDS or unit.tok(k + 1) != "(":
                continue
            if unit.match[k + 1] != close - 1 or not host_only(unit, i):
                continue
            if unit.declarations.scope_at(i).kind == "class":
                continue
            sure = _is_of_device(unit, k)
            named = unit.declaration(i - 2) if unit.t[i] == "decltype" and unit.tok(i - 1) == "=" else None
            alias = named is not None and named.kind == "type"
            alias = alias and unit.tok(close + 1) == ";" and {"this", "...", "["}.isdisjoint(unit.t[i:close])
            if sure is False or (sure is None and not (alias and unit.t[k - 1] == "::" and unit.t[k - 2] != "std")):
                continue
            yield self._finding(unit, i, k, close, alias and f"{unit.tok(i - 2)}_of" not in unit.words)

    def _finding(self, unit: Unit, i: int, k: int, close: int, alias: bool) -> Finding:
        name = unit.tok(i - 2)
        return self.finding(
            f"clang refuses `{unit.t[k]}` here if it is for the device alone"
            + ("" if alias else "; name its type in a class, which belongs to no side, or make it for both sides"),
            unit.p[i],
            unit.end(close),
            (
                replace(unit.p[i - 3], unit.p[i], f"struct {name}_of {{ using type = "),
                insert(unit.end(close), f"; }}; using {name} = typename {name}_of::type", Side.LEFT),
            )
            if alias
            else (),
            trust=Trust.REVIEW,
            severity=Severity.INFO if alias else Severity.WARNING,
            effects=(("all", "compile-error"),),
        )


def _is_of_device(unit: Unit, k: int) -> bool | None:
    """Whether the function that token k names is for the device alone; None where this file does not declare it."""
    outer = [d for d in unit.declarations.named(unit.t[k]) if not d.scope.local]
    found = [d for d in outer if d.kind == "function"]
    if not found:
        return False if outer else None
    sides = []
    for d in found:
        first = d.at
        while first > max(0, d.at - 60) and unit.tok(first - 1) not in (";", "{", "}"):
            first -= 1
        words = unit.t[first : d.at]
        sides.append({*words}.union(*(unit.side_macros[w] for w in words if w in unit.side_macros)))
    return all(s & _DEVICE and "__host__" not in s for s in sides)
