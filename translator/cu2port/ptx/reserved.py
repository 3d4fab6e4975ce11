"""Names that a PTX module may use and a HIP source may not: words of C++, and what headers and libraries have.

A variable, a kernel or a visible function of such a name gets a `_` behind it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq std cu2port threadIdx blockIdx blockDim gridDim warpSize "
    "main NULL EOF assert errno INFINITY NAN HUGE_VAL RAND_MAX BUFSIZ linux unix".split()
)

#: symbols that HIP's own device code has
OCCUPIED = frozenset({"__assert_fail", "__assertfail"})

#: names that belong to compilers and to HIP by how they begin; `_Z` begins those that compilers make of C++'s
BEGINNING = re.compile(r"__|_[A-Z](?<!_Z)|hip[A-Z]|HIP_|cu2port_")


def free(name: str) -> str:
    """The name, or with `_` behind it one that headers, C++ and the C library leave to things outside of functions."""
    if name[:1].isdigit():
        name = "_" + name
    if BEGINNING.match(name):
        name += "_"
    while name in KEYWORDS or name in _library():
        name += "_"
    return name


@cache
def _library() -> frozenset[str]:
    """What HIP's headers declare and the C library defines; made by tools/reserved_names.py."""
    return frozenset(Path(__file__).with_name("reserved.txt").read_text(encoding="ascii").split())
