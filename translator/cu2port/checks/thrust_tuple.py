from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_ITERATORS = ("make_zip_iterator", "zip_iterator")
_TUPLES = {"make_tuple": "thrust::make_tuple", "tuple": "thrust::tuple", "pair": "thrust::pair", "tie": "thrust::tie"}
_SPACES = (["cuda", "::", "std", "::"], ["std", "::"])


class ThrustTuple(Check):
    """A zip iterator of Thrust is made of libcu++'s or the standard library's tuple.

    Thrust's own tuple is libcu++'s in CUDA 13. rocThrust's is a class of its own, and its iterators take no other. The
    tuple of a zip iterator is written `thrust::make_tuple`; functors that get or give such a tuple need `thrust::tuple`
    too, as do decomposers of keys for a radix sort (`rocprim::tuple`).
    """

    code, name, severity = "CU718", "thrust-tuple", Severity.INFO
    triggers = frozenset(_ITERATORS)
    examples = (
        Example(
            "auto z = thrust::make_zip_iterator(cuda::std::make_tuple(a, b));\n",
            "auto z = thrust::make_zip_iterator(thrust::make_tuple(a, b));\n",
        ),
        Example(
            "#define ZIP(a) CHECK(thrust::make_zip_iterator(std::make_tuple(a, a)))\n"
            "int n = CHECK(thrust::make_zip_iterator(std::make_tuple(p, q)));\n",
            "#define ZIP(a) CHECK(thrust::make_zip_iterator(thrust::make_tuple(a, a)))\n"
            "int n = CHECK(thrust::make_zip_iterator(thrust::make_tuple(p, q)));\n",
            "in a macro body; as a macro's argument",
        ),
        Example("auto z = thrust::make_zip_iterator(thrust::make_tuple(a, b));\n", note="Thrust's own"),
        Example("auto z = f(std::make_tuple(a, b));\n", note="another function"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_ITERATORS):
            k = i + 1
            close = unit.match[k] if unit.tok(k) == "(" else unit.angle_close(k) if unit.tok(k) == "<" else -1
            for space in _SPACES if close > 0 else ():
                last = k + 1 + len(space)
                new = _TUPLES.get(unit.tok(last))
                if unit.t[k + 1 : last] == space and new is not None:
                    yield self.finding(
                        f"rocThrust's iterators take `{new}` only",
                        unit.p[i],
                        unit.end(last),
                        (replace(unit.p[k + 1], unit.end(last), new),),
                        effects=(("all", "compile-error"),),
                    )
