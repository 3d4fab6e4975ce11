from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.bases import bases
from cu2port.facts.declared import VECTORS
from cu2port.facts.unit import Unit
from cu2port.syntax.types import is_class


class VectorBase(Check):
    """A class has a vector type of CUDA's as a base, and another base beside it.

    HIP's `float3` has operators and `operator[]`; CUDA's has none. With those of the other base they are ambiguous, and
    each use of one is an error. Make the vector a member, or write the operators of the class in the class itself,
    where they hide those of both bases.
    """

    code, name, severity = "CU253", "vector-base", Severity.WARNING
    triggers = frozenset({"public", "protected", "private", "struct", "class"})
    examples = (
        Example(
            "class V : public Ops<V>, public float3 {};\n", "class V : public Ops<V>, public float3 {};\n", findings=1
        ),
        Example("#define B struct V : float2, Ops {};\n", note="in a macro body"),
        Example("struct V : float3 {};\nstruct W : Ops, float5 { void f(int a, float3 b); };\n", note="no other base"),
        Example("struct V : Ops<int, float3, int> {};\nstruct W : Ops<float3>, Ops<int> {};\n", note="arguments"),
        Example("KEEP(struct V : Ops, W<float3> {};)", note="as a macro's argument; a template's argument is no base"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        words = unit.names(VECTORS, "cdfilsu")
        if not words:
            return
        for d in unit.declarations.outer():
            if not (d.defines and is_class(unit.t, d)):
                continue
            named = bases(unit, d)
            for i in named if len(named) > 1 else ():
                if unit.t[i] in words and not unit.owns(unit.t[i]):
                    yield self.finding(
                        f"`{d.name}` has `{unit.t[i]}` and another base, and HIP's vectors have operators: ambiguous",
                        unit.p[i],
                        unit.end(i),
                        cuda=unit.t[i],
                        effects=(("all", "compile-error"),),
                    )
