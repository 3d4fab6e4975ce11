from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import hip_groups
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import ALL_LANES, NAMES, SHUFFLES, SPACE, SYNC, VOTES, modes, tokens

# What asks HIP for the lanes of a wavefront. Shuffles stand for themselves: with a width they are a warp's.
_WAVEFRONTS = frozenset(
    (
        *"warpSize __AMDGCN_WAVEFRONT_SIZE __AMDGCN_WAVEFRONT_SIZE__ __activemask __ballot64 __lane_id".split(),
        *"__lanemask_lt __lanemask_le __lanemask_eq __lanemask_ge __lanemask_gt".split(),
        *VOTES,
        *(n for n in SYNC if "shfl" not in n and n != "__syncwarp"),
        *(
            f"__builtin_amdgcn_{n}"
            for n in "wavefrontsize ballot_w64 read_exec mbcnt_hi readlane readfirstlane writelane ds_bpermute "
            "ds_permute uicmp sicmp fcmp".split()
        ),
    )
)
_SHUFFLES = frozenset(n + end for n in SHUFFLES if n != "__shfl_xor" for end in ("", "_sync"))
_USES = frozenset((*NAMES, "warpSize"))
_WIDTH = re.compile(
    r"(?i)\w*(?:warp|wave(?:front)?|lane)s?_?(?:sz|size|width|len\w*|threads|count)\w*"
    r"|\w*(?:threads|lanes)_?per_?(?:warp|wave)\w*|k?(?:warp|wave(?:front)?)|num_?lanes"
)
_THREAD = re.compile(r"(?i)\w*(?:tid|lane|thread)\w*")
_NUMBERS = {n + end: v for n, v in (("64", 64), ("63", 63), ("0x3f", 63), ("6", 6)) for end in ("", "u", "U")}
_OPERATORS = {64: ("%", "/", "%=", "/="), 63: ("&", "&="), 6: (">>", ">>=", ">")}


class _Place(NamedTuple):
    """A token in a branch for HIP that counts lanes of a wavefront, and whose value it is part of: a function's, a
    macro's, a constant's."""

    at: int
    name: str


class KeptWavefront(Check):
    """A branch for HIP counts the lanes of a wavefront, and code around it keeps CUDA's warps of 32.

    A branch for HIP is kept as it is. Where its size of a warp (`warpSize`, 64, a ballot of 64 bits, `__lane_id()`)
    meets code that is not for HIP alone, one function has warps of two sizes on GPUs with wavefronts of 64 lanes:
    the loops of a sum have one size and its shuffles another. This holds for a function with such a branch, and for a
    macro, a constant or a function that such a branch defines, where code that keeps warps of 32 lanes uses it.

    Give the branch the 32 lanes that the rest has (`cu2port::warp::size`), which is right on all GPUs; or take CUDA's
    branch for both.
    """

    code, name, severity = "CU328", "kept-wavefront", Severity.WARNING
    triggers = frozenset(_USES)
    true_of_hip = True
    _macro = "#ifdef USE_ROCM\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif\n"
    _use = "__device__ int f(int v) { return __shfl_down_sync(~0u, v, WARP_SIZE / 2); }\n"
    examples = (
        Example(
            "__device__ int f(int i) {\n#ifdef __HIP_PLATFORM_AMD__\n  i /= warpSize;\n#endif\n"
            "  return i % warpSize;\n}\n",
            '#include "cu2port/warp.hpp"\n__device__ int f(int i) {\n#ifdef __HIP_PLATFORM_AMD__\n  i /= warpSize;\n'
            "#endif\n  return i % cu2port::warp::size;\n}\n",
            findings=1,
        ),
        Example(
            _macro + _use,
            f'#include "cu2port/warp.hpp"\n{_macro}'
            "__device__ int f(int v) { return cu2port::warp::shfl_down(~0u, v, WARP_SIZE / 2); }\n",
            "a macro of such a branch, used by code with warps of 32 lanes",
            findings=1,
        ),
        Example(
            "__device__ int f(int v) {\n#ifdef __HIP_PLATFORM_AMD__\n  return __shfl(v, 0);\n#else\n"
            "  return __shfl_sync(~0u, v, 0);\n#endif\n}\n",
            note="all of it is in one branch or the other",
        ),
        Example(_macro.replace("64", "32") + _use, note="32 for HIP too"),
        Example(
            "#ifdef USE_ROCM\n#define ROWS 64\n#else\n#define ROWS 8\n#endif\n"
            "__device__ int f(int v) { return __shfl_sync(~0u, v, ROWS & 7); }",
            note="no count of lanes",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.options.warp == "flag" or unit.words.isdisjoint(_USES):
            return
        branches = hip_groups(unit)
        if not branches:
            return
        chains = {g.chain for g in branches}
        either = Cover(g for g in unit.groups if g.chain in chains)
        mode = modes(unit)
        kept = [i for i in tokens(unit, _USES) if mode(i) != "flag" and unit.p[i] not in either]
        logical = {f.name_at: f for f in _users(unit, kept, either)}  # code for all GPUs, with warps of 32 lanes
        users: dict[str, Function | None] = {}
        said: set[tuple[int, str]] = set()
        for at, name in _places(unit, Cover(branches)) if logical else ():
            f = unit.function_at(at)
            if f is None or f.name_at not in logical:
                if name not in users:
                    uses = [i for i in unit.find(name) if unit.p[i] not in either and not unit.is_member(i)]
                    users[name] = next((f for f in _users(unit, uses, either) if f.name_at in logical), None)
                f = users[name]
            key = unit.conditions(unit.p[at])[-1].opener, name
            if f is not None and key not in said:
                said.add(key)
                yield self.finding(
                    f"`{unit.t[at]}` counts lanes of a wavefront in this branch for HIP, 64 on gfx9, and `{f.name}` "
                    f"keeps warps of 32: write `{SPACE}size` here, or separate the two",
                    unit.p[at],
                    unit.end(at),
                    effects=(ALL_LANES,),
                )


def _places(unit: Unit, inside: Cover) -> list[_Place]:
    """What counts lanes of a wavefront in branches for HIP, in the order of the text."""
    found = tokens(unit, _WAVEFRONTS)
    for i in tokens(unit, _SHUFFLES):
        call = unit.call(i)
        if call is not None and len(call.args) == 2 + unit.t[i].endswith("_sync"):  # without a width
            found.append(i)
    numbers = [i for i in unit.find(*_NUMBERS) if unit.p[i] in inside]
    narrow = {name for i in unit.find("32", "warpSize") if unit.p[i] not in inside and (name := _named(unit, i))}
    found += [i for i in numbers if _counts_lanes(unit, i, narrow)]
    return [_Place(i, name) for i in sorted(found) if unit.p[i] in inside and (name := _whose(unit, i))]


def _whose(unit: Unit, i: int) -> str:
    """The name of the function, macro or constant that token i is in; "" if it is in none."""
    d = unit.in_directive(i)
    if d is not None:
        return unit.tok(d.first + 2) if d.keyword == "define" else ""
    f = unit.function_at(i)
    if f is not None:
        return f.name
    k = i
    while k > 0 and unit.t[k] not in ("=", ";", "}"):
        k -= 1
    return unit.t[k - 1] if unit.t[k] == "=" else ""


def _counts_lanes(unit: Unit, i: int, narrow: set[str]) -> bool:
    """Whether a number is a wavefront's lanes, or what finds a lane among them: `tid % 64`, `& 63`, `>> 6`.

    `narrow`: names that are 32 in other code.
    """
    t, number, before = unit.t, _NUMBERS[unit.t[i]], unit.tok(i - 1)
    if before in _OPERATORS[number]:
        k = i - 2 - (before == ">")
        first = unit.match[k] if t[k] == ")" else k - 2 if t[k - 1] == "." else k
        return first >= 0 and any(_THREAD.fullmatch(w) for w in t[first : k + 1])
    if number != 64:
        return False
    if before == "," and unit.tok(i + 1) == ")":
        return "shfl" in unit.tok(unit.match[i + 1] - 1).lower()
    name = _named(unit, i)
    return name in narrow or _WIDTH.fullmatch(name) is not None


def _named(unit: Unit, i: int) -> str:
    """The name whose value is token i and nothing else: a variable's or a macro's; "" if there is none."""
    d = unit.in_directive(i)
    if d is None:
        return unit.tok(i - 2) if unit.tok(i - 1) == "=" and unit.tok(i + 1) in (";", ",", "}") else ""
    return unit.tok(i - 1) if d.keyword == "define" and (i, d.stop) == (d.first + 3, i + 1) else ""


def _users(unit: Unit, uses: Iterable[int], either: Cover) -> Iterator[Function]:
    """The functions that some tokens are in; for those in a macro's body, what uses the macro in code for all GPUs."""
    todo, seen = list(uses), set[str]()
    while todo:
        i = todo.pop()
        f, d = unit.function_at(i), unit.in_directive(i)
        if d is None or d.keyword != "define":
            if f is not None:
                yield f
        elif (macro := unit.tok(d.first + 2)) not in seen:
            seen.add(macro)
            todo += [k for k in unit.find(macro) if unit.p[k] not in either]
