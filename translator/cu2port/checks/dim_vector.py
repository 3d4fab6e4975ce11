from __future__ import annotations

from collections.abc import Iterator

from cu2port.checks.builtin_vector import taken, wanted_type
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.neighbours import is_counted_with
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import written

_TYPES = frozenset({"dim3", "uint3"})
_BUILT = {"dim3": "dim3", "uint3": "make_uint3"}
_PARTS = frozenset({".", "->", "[", "(", "=", "{", "::", "<<<"})
_QUALIFIED = frozenset({".", "->", "::", "<<<", "~"})
_KINDS = ("variable", "parameter", "member")


class DimVector(Check):
    """A variable of type `dim3` stands where a `uint3` is wanted, or the other way round.

    In CUDA each turns into the other, so that operators and functions of the project for `uint3` take a `dim3`. In HIP
    neither does, and the code does not compile. The other is built from the three members.
    """

    code, name, severity = "CU275", "dim-vector", Severity.INFO
    triggers = _TYPES
    examples = (
        Example(
            "__device__ uint3 operator*(uint3 a, uint3 b);\n__device__ uint3 f(dim3 d, dim3 i) { return d * i; }\n",
            "__device__ uint3 operator*(uint3 a, uint3 b);\n"
            "__device__ uint3 f(dim3 d, dim3 i) { return make_uint3(d.x, d.y, d.z) * make_uint3(i.x, i.y, i.z); }\n",
        ),
        Example(
            "void g(uint3 u);\nvoid h(const dim3 &d);\nvoid f(dim3 d, uint3 u) { g(d); h(u); g(u); h(d); }\n",
            "void g(uint3 u);\nvoid h(const dim3 &d);\nvoid f(dim3 d, uint3 u)"
            " { g(make_uint3(d.x, d.y, d.z)); h(dim3(u.x, u.y, u.z)); g(u); h(d); }\n",
            "for a parameter",
        ),
        Example(
            "void f(uint3 u) { dim3 d(u); dim3 e = u; uint3 v = e; use(d, v); }\n",
            "void f(uint3 u) { dim3 d(u.x, u.y, u.z); dim3 e = dim3(u.x, u.y, u.z);"
            " uint3 v = make_uint3(e.x, e.y, e.z); use(d, v); }\n",
            "where one is made",
        ),
        Example(
            "void g(uint3 u, int n);\nvoid f(dim3 d) { CHECK(g(d, 1)); }\n",
            "void g(uint3 u, int n);\nvoid f(dim3 d) { CHECK(g(make_uint3(d.x, d.y, d.z), 1)); }\n",
            "as a macro's argument",
        ),
        Example("#define TWICE(d) (d * d)\nuint3 u;\n", note="in a macro body nothing is known of it"),
        Example(
            "__device__ dim3 operator*(dim3 a, dim3 b);\n__device__ dim3 f(dim3 d, dim3 i) { return d * i; }\n",
            note="operators for dim3",
        ),
        Example("void f(dim3 d) { uint3 u; u.x = d.x; k<<<d, d>>>(u); }\n", note="members, and launches"),
        Example("struct uint3 { int x; };\nvoid g(uint3 u);\nvoid f(dim3 d) { g(d); }\n", note="the user's own type"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if any(unit.owns(name) for name in _TYPES):
            return
        uses = [(k, d) for k, d in _uses(unit) if "uint3" in unit.words or is_counted_with(unit, k)]
        made = {k for k, d in uses if written(unit.t, d).name == "uint3" and _makes(unit, k)}
        spans = tuple((unit.p[k], unit.end(k)) for k, _ in uses if k not in made)
        facts = unit.ask(spans=spans) if spans else None
        for k, d in uses:
            own = written(unit.t, d).name
            expr = facts.exprs.get((unit.p[k], unit.end(k))) if facts is not None else None
            wanted = "dim3" if k in made else expr.type.removeprefix("const ") if expr is not None else _told(unit, k)
            if wanted == own or wanted not in _TYPES:
                continue
            name = unit.t[k]
            members = f"{name}.x, {name}.y, {name}.z"
            yield self.finding(
                f"`{name}` is a `{own}`, which does not turn into the `{wanted}` that is wanted here in HIP",
                unit.p[k],
                unit.end(k),
                (replace(unit.p[k], unit.end(k), members if k in made else f"{_BUILT[wanted]}({members})"),),
                cuda=own,
                effects=(("all", "compile-error"),),
            )


def _told(unit: Unit, k: int) -> str:
    """The type that the place of token k asks for by this file alone; "" where it does not."""
    return unit.once(taken) if is_counted_with(unit, k) else wanted_type(unit, k)


def _uses(unit: Unit) -> Iterator[tuple[int, Declaration]]:
    """Where variables of these types are used as a whole, outside of launches and macros."""
    names = {n for i in unit.find(*unit.words & _TYPES) if (n := _declared(unit, i))}
    for k in unit.find(*names):
        if unit.tok(k + 1) in _PARTS or unit.tok(k - 1) in _QUALIFIED or unit.tok(k + 1) == ">>>":
            continue
        d = unit.declarations.visible(unit.t[k], k) if unit.in_directive(k) is None else None
        if d is None or d.at == k or d.kind not in _KINDS or d.pointers or d.arrays:
            continue
        if written(unit.t, d).name in _TYPES:
            yield k, d


def _declared(unit: Unit, i: int) -> str:
    """The name that a type at token i may declare."""
    k = i + 1
    while unit.tok(k) in ("const", "&"):
        k += 1
    return unit.tok(k) if is_identifier(unit.tok(k)) else ""


def _makes(unit: Unit, k: int) -> bool:
    """Whether token k is all that a `dim3` is made of: `dim3(u)`, `dim3 d(u)`."""
    if unit.tok(k - 1) != "(" or unit.tok(k + 1) != ")":
        return False
    return unit.tok(k - 2) == "dim3" or (is_identifier(unit.tok(k - 2)) and unit.tok(k - 3) == "dim3")
