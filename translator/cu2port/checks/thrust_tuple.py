from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_ITERATORS = ("make_zip_iterator", "zip_iterator")
_TUPLES = frozenset({"make_tuple", "pair", "tie", "tuple"})
_OF_CUDA = frozenset({"get", "make_pair", "make_tuple", "pair", "tie", "tuple", "tuple_element", "tuple_size"})
_HEADERS = {"make_pair": "thrust/pair.h", "pair": "thrust/pair.h"}
_CUDA = ["cuda", "::", "std", "::"]
_THRUST = ["thrust", "::"]
_SPACES = (_CUDA, ["std", "::"], _THRUST)


class ThrustTuple(Check):
    """A tuple of libcu++ or of the standard library is used with Thrust.

    Thrust's own tuple is libcu++'s in CUDA 13. rocThrust's is a class of its own, and its iterators and functors take
    no other. The tuple of a zip iterator is written `thrust::make_tuple`, also where `thrust::tuple(a, b)` deduces its
    template arguments, and in files that use Thrust, libcu++'s tuple, pair and `get` become Thrust's: the host's pair
    cannot be assigned to in kernels. Decomposers of keys for a radix sort need `rocprim::tuple`.
    """

    code, name, severity = "CU718", "thrust-tuple", Severity.INFO
    triggers = frozenset({*_ITERATORS, "thrust"})
    examples = (
        Example(
            "#include <thrust/iterator/zip_iterator.h>\n"
            "auto z = thrust::make_zip_iterator(cuda::std::make_tuple(a, b));\n",
            "#include <thrust/tuple.h>\n#include <thrust/iterator/zip_iterator.h>\n"
            "auto z = thrust::make_zip_iterator(thrust::make_tuple(a, b));\n",
        ),
        Example(
            "#define ZIP(a) CHECK(thrust::make_zip_iterator(std::make_tuple(a, a)))\n"
            "int n = CHECK(thrust::make_zip_iterator(std::make_tuple(p, q)));\n",
            "#define ZIP(a) CHECK(thrust::make_zip_iterator(thrust::make_tuple(a, a)))\n"
            "int n = CHECK(thrust::make_zip_iterator(thrust::make_tuple(p, q)));\n",
            "in a macro body; as a macro's argument",
        ),
        Example(
            "#include <thrust/for_each.h>\n"
            "struct F { template <class T> __device__ void operator()(T t) { ::cuda::std::get<1>(t) = 1; } };\n",
            "#include <thrust/tuple.h>\n#include <thrust/for_each.h>\n"
            "struct F { template <class T> __device__ void operator()(T t) { thrust::get<1>(t) = 1; } };\n",
            "an element of what Thrust gives",
        ),
        Example(
            "#include <thrust/iterator/zip_iterator.h>\nauto z = thrust::make_zip_iterator(thrust::tuple(a, b));\n",
            "#include <thrust/iterator/zip_iterator.h>\n"
            "auto z = thrust::make_zip_iterator(thrust::make_tuple(a, b));\n",
            "template arguments that are deduced",
        ),
        Example("auto z = thrust::make_zip_iterator(thrust::make_tuple(a, b));\n", note="Thrust's own"),
        Example(
            "#include <thrust/device_vector.h>\nthrust::device_vector<cuda::std::pair<int, int>> v;\n",
            "#include <thrust/pair.h>\n#include <thrust/device_vector.h>\n"
            "thrust::device_vector<thrust::pair<int, int>> v;\n",
        ),
        Example("int f(cuda::std::tuple<int> t) { return cuda::std::get<0>(t); }\n", note="no Thrust in the file"),
        Example("auto z = f(std::make_tuple(a, b));\n", note="another function"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from self._of_iterators(unit)
        for i in unit.find("cuda") if "thrust" in unit.words else ():
            last = i + len(_CUDA)
            name = unit.tok(last)
            if unit.t[i:last] != _CUDA or name not in _OF_CUDA:
                continue
            first = unit.qualifier(i)
            new = f"thrust::{_named(unit, last)}"
            yield self.finding(
                f"Thrust's functions take `{new}` and no other in ROCm",
                unit.p[max(0, first - 1)],  # before the row of the name, which would write `std::`
                unit.end(last),
                (replace(unit.p[first], unit.end(last), new),),
                effects=(("all", "compile-error"),),
                needs=(_HEADERS.get(name, "thrust/tuple.h"),),
            )

    def _of_iterators(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_ITERATORS):
            k = i + 1
            close = unit.match[k] if unit.tok(k) == "(" else unit.angle_close(k) if unit.tok(k) == "<" else -1
            for space in _SPACES if close > 0 else ():
                last = k + 1 + len(space)
                is_seen = space is _CUDA and unit.tok(last) in _OF_CUDA and "thrust" in unit.words
                is_seen |= space is _THRUST and _named(unit, last) == unit.tok(last)
                if unit.t[k + 1 : last] == space and unit.tok(last) in _TUPLES and not is_seen:
                    new = f"thrust::{_named(unit, last)}"
                    yield self.finding(
                        f"rocThrust's iterators take `{new}` only",
                        unit.p[i],
                        unit.end(last),
                        (replace(unit.p[k + 1], unit.end(last), new),),
                        effects=(("all", "compile-error"),),
                    )


def _named(unit: Unit, i: int) -> str:
    """How Thrust names what token i is in libcu++; `tuple(a, b)`, with arguments to deduce, is made by a function."""
    name = unit.t[i]
    return "make_tuple" if name == "tuple" and unit.tok(i + 1) == "(" else name
