from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_SINCE = {
    "20": (
        "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero dynamic_extent endian"
        " has_single_bit is_bounded_array is_constant_evaluated is_unbounded_array lerp midpoint popcount remove_cvref"
        " remove_cvref_t rotl rotr span ssize type_identity type_identity_t"
    ),
    "23": "byteswap expected to_underlying unexpected unreachable",
}
_YEARS = {name: year for year, names in _SINCE.items() for name in names.split()}


class NewerStd(Check):
    """A name of `cuda::std` that `std` has in a newer C++ only: `cuda::std::span`, `cuda::std::popcount`.

    libcu++ has these also for C++17, and they become names of the C++ library, which has them since C++20 or C++23.
    Build with `-std=c++20` (in CMake `CMAKE_HIP_STANDARD`), or write the function out.
    """

    code, name, severity = "CU722", "newer-std", Severity.WARNING
    triggers = frozenset(_YEARS)
    examples = (
        Example(
            "__device__ int f(unsigned x) { return cuda::std::popcount(x); }",
            "#include <hip/hip_runtime.h>\n__device__ int f(unsigned x) { return std::popcount(x); }",
            path="a.cu",
        ),
        Example(
            "#define CAST(T, x) ::cuda::std::bit_cast<T>(x)\nUSE(cuda::std::span<int>);\n",
            "#define CAST(T, x) ::std::bit_cast<T>(x)\nUSE(std::span<int>);\n",
            "in a macro body; as a macro's argument",
            findings=2,
        ),
        Example(
            "namespace mine { namespace cuda { namespace std { int rotl(int); } } }\n"
            "int a = std::popcount(1u) + mine::cuda::std::rotl(2);\n__device__ cuda::std::array<int, 2> b;\n",
            note="of the C++ library, of the project; a name of C++11",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        said: set[str] = set()
        for i in unit.find(*_YEARS) if "cuda" in unit.words else ():
            first = unit.qualifier(i)
            if unit.t[first:i] not in (["cuda", "::", "std", "::"], ["::", "cuda", "::", "std", "::"]):
                continue
            name = unit.t[i]
            if name not in said:
                said.add(name)
                yield self.finding(
                    f"`std::{name}` needs C++{_YEARS[name]}, `cuda::std::{name}` does not",
                    unit.p[first],
                    unit.end(i),
                    effects=(("all", "compile-error"),),
                )
