"""Code that is for HIP already: branches of conditionals that only a build for HIP takes, and whole files.

It is written for the real wavefront (`__ballot(p) >> (w * 64)`, `__shfl(v, i)` with i to 63), so nothing is changed in
it. What a file of a tree is, the tree says (`Project.side`); a file alone is judged by what it says itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

from cu2port.core.late import dataclass, regex
from cu2port.core.model import Span
from cu2port.facts.atoms import IN_HIP_NAMES, is_hip_word, names_hip, under_hip, without_hip
from cu2port.facts.conditionals import Cover
from cu2port.facts.structure import Include, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.conditions import UNKNOWN, Lookup, truth
from cu2port.syntax.lexer import Directive, Group

_HIP_HEADER = regex(r"hip/|hip(?:blas|fft|rand|sparse|solver|cub|tensor|rtc)\w*(?:/|\.h)|roc[a-z]+/|rccl|miopen/")
_CUDA_HEADER = regex(
    r"(?:cuda|cu(?:blas|fft|rand|sparse|solver|dnn|tensor|pti)\w*|nvrtc|nvml|nccl|nvToolsExt|device_launch_parameters"
    r"|cooperative_groups)\w*(?:\.h|/)"
)
_HIP_NAME = regex(
    r"hip[A-Z]\w+|hip(?:blas|fft|rand|sparse|solver|rtc)\w+|__builtin_amdgcn_\w+"
    r"|roc(?:blas|fft|rand|sparse|solver|prim|wmma|thrust)\w*"
)
_HINT = re.compile(r"hip|amdgcn|roc[bfrspwt]")
_CUDA_NAME = regex(r"cu(?:[A-Z]|[a-z]+[A-Z])|CU[A-Z]*_|nv[a-z]+[A-Z]")
_PTX = regex(r"\.(?:[usbf](?:8|16|32|64)|pred|sync|f16x2|bf16)\b")  # AMD's assembly has `_u32`
_LANES = frozenset(
    "warpSize __shfl __shfl_up __shfl_down __shfl_xor __ballot __any __all __shfl_sync __shfl_up_sync __shfl_down_sync "
    "__shfl_xor_sync __ballot_sync __activemask __lane_id __AMDGCN_WAVEFRONT_SIZE".split()
)
_NAMED = regex(r"(?i)(?:hip|rocm)\Z|.*(?:[-_](?:hip|rocm)|\.hip)(?:\.\w+)*\Z")
CONDITIONS = frozenset("if ifdef ifndef elif elifdef elifndef".split())


def condition(unit: Unit, d: Directive) -> list[str]:
    """The condition of a directive as tokens of an `#if`; that of an `#else` is true."""
    return condition_of(d.keyword, unit.t[d.first + 2 : d.stop])


def condition_of(keyword: str, words: list[str]) -> list[str]:
    """The same of a keyword and the tokens after it."""
    if keyword in ("ifdef", "elifdef"):
        return ["defined", *words[:1]]
    if keyword in ("ifndef", "elifndef"):
        return ["!", "defined", *words[:1]]
    return ["1"] if keyword == "else" else words


@dataclass(frozen=True, slots=True)
class Taken:
    """Whether a branch is taken, three-valued: in a build that is not for HIP, in HIP's host and its device pass.

    `always`: what literals alone tell, where every macro is unknown.
    """

    group: Group
    otherwise: bool | None
    host: bool | None
    device: bool | None
    always: bool | None


def taken(unit: Unit) -> tuple[Taken, ...]:
    """The branches of conditionals that ask for HIP, in the order of the text."""
    return unit.once(_taken)


def _taken(unit: Unit) -> tuple[Taken, ...]:
    asking = _asking(unit)
    if not asking:
        return ()
    groups: dict[int, list[Group]] = {}
    for g in unit.groups:
        if g.chain[0] in asking:
            groups.setdefault(g.chain[0], []).append(g)
    out = [t for chain in groups.values() for t in _decided(unit, sorted(chain, key=lambda g: g.opener))]
    return tuple(sorted(out, key=lambda t: t.group.start))


def _decided(unit: Unit, chain: list[Group]) -> Iterator[Taken]:
    """The branches of one conditional: each is taken where its own condition holds and none before it does."""
    more = unit.project.hip_macros
    guards = _guards(unit)
    worlds: tuple[tuple[Lookup, bool | None], ...] = (
        (lambda w: UNKNOWN if w in guards else without_hip(w, more), False),
        (lambda w: UNKNOWN if w in guards else under_hip(w, False, more), True),
        (lambda w: UNKNOWN if w in guards else under_hip(w, True, more), True),
        (lambda w: UNKNOWN, None),
    )
    before: list[bool | None] = [False] * len(worlds)  # whether a branch above was taken
    for g in chain:
        words = condition(unit, unit.directives[g.opener])
        found: list[bool | None] = []
        for k, (macro, hip) in enumerate(worlds):
            same = None if hip is None else partial(_same, more, hip)
            held, above = truth(words, macro, same), before[k]
            found.append(False if above or held is False else held if above is False else None)
            before[k] = True if above or held else False if above is False and held is False else None
        yield Taken(g, *found)


def _same(more: frozenset[str], hip: bool, a: str, b: str) -> bool | None:
    """Whether two macros have one value (`BACKEND == BACKEND_HIP`) in a build that is for HIP, or is not."""
    hips = [w in more or is_hip_word(w) for w in (a, b)]
    if hips[0] != hips[1]:
        return hip
    return False if hip and ("CUDA" in a) != ("CUDA" in b) else None


def _asking(unit: Unit) -> frozenset[int]:
    """The conditionals (by their first directive) with a condition that names a macro for HIP."""
    words = unit.project.hip_macros & unit.words
    if any(part in unit.text for part in IN_HIP_NAMES):
        words |= {w for w in unit.words if names_hip(w)}
    words = words and words - _guards(unit)
    if not words:
        return frozenset()
    asking = {n for i in unit.find(*words) if (n := unit.lexed.directive_index(i)) >= 0}
    asking = {n for n in asking if unit.directives[n].keyword in CONDITIONS}
    if not asking:
        return frozenset()
    return frozenset(g.chain[0] for g in unit.groups if g.opener in asking)


def _guards(unit: Unit) -> frozenset[str]:
    """Macros that look like HIP's and are include guards: defined empty right after `#ifndef`."""
    return unit.once(_find_guards)


def _find_guards(unit: Unit) -> frozenset[str]:
    out = set()
    for a, b in zip(unit.directives, unit.directives[1:], strict=False):
        name = unit.tok(a.first + 2)
        if a.keyword == "ifndef" and b.keyword == "define" and unit.tok(b.first + 2) == name and b.stop == b.first + 3:
            out.add(name)
    return frozenset(out)


def asks_for_hip(unit: Unit, i: int) -> bool:
    """Whether the conditional directive that token i is part of belongs to a chain with a branch for HIP."""
    n = unit.lexed.directive_index(i)
    if n < 0 or unit.directives[n].keyword not in CONDITIONS:
        return False
    g = unit.conditionals.opened_by(n)
    return g is not None and g.chain[0] in unit.once(_asking)


def hip_groups(unit: Unit) -> tuple[Group, ...]:
    """The branches that only a build for HIP takes."""
    return tuple(t.group for t in taken(unit) if t.otherwise is False and t.always is not False)


def hip_branches(unit: Unit) -> tuple[Span, ...]:
    """The same as bytes."""
    return tuple(Span(g.start, g.end) for g in hip_groups(unit))


def cuda_branches(unit: Unit) -> tuple[Span, ...]:
    """The branches that HIP's compiler certainly takes in neither pass, the other side of one for HIP."""
    return tuple(
        Span(t.group.start, t.group.end)
        for t in taken(unit)
        if t.host is False and t.device is False and t.otherwise is not False
    )


class SideFacts(NamedTuple):
    """What a text says of the side it is on; reasons are words for the report, "" where there is none.

    `cuda`: why it is CUDA's code, in what is not for HIP alone; `hip`: why it is HIP's, in what is not in branches;
    `asked`: the macros for HIP that its conditions ask for; `only_hip`, `elsewhere`: macros that it defines in branches
    for HIP, and outside of them; `common`: includes, as spelled, outside of branches for HIP, None: all of them;
    `lanes`: it counts lanes; `aliases`: its macros give HIP's functions CUDA's names.
    """

    cuda: str = ""
    hip: str = ""
    asked: frozenset[str] = frozenset()
    only_hip: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    common: frozenset[str] | None = None
    branches: bool = False
    lanes: bool = False
    aliases: bool = False


def side_facts(unit: Unit) -> SideFacts:
    """What a file says of the side it is on."""
    return unit.once(_side_facts)


def _side_facts(unit: Unit) -> SideFacts:
    groups = hip_groups(unit)
    inside = Cover(groups)
    common = [inc for inc in unit.includes if inc.start not in inside]
    asked = {
        w
        for t in taken(unit)
        for w in condition(unit, unit.directives[t.group.opener])
        if is_hip_word(w) or w in unit.project.hip_macros
    }
    defined = [(m, m.directive.start in inside) for ms in unit.macros.values() for m in ms]
    elsewhere = frozenset(m.name for m, for_hip in defined if not for_hip)
    return SideFacts(
        cuda=_why_cuda(unit, common, inside),
        hip=_why_hip(unit, common, inside),
        asked=frozenset(asked),
        only_hip=frozenset(m.name for m, for_hip in defined if for_hip and _is_flag(m)) - elsewhere,
        elsewhere=elsewhere,
        common=frozenset(inc.path for inc in common),
        branches=bool(groups),
        lanes=not unit.words.isdisjoint(_LANES),
        aliases=sum(_is_alias(unit, m) for m, _ in defined) >= _ALIASES,
    )


def _is_alias(unit: Unit, m: Macro) -> bool:
    """Whether a macro with CUDA's name stands for HIP's function: `#define cudaFree hipFree`."""
    cuda = _CUDA_USE.match(m.name.encode("latin-1")) is not None
    return cuda and m.first < m.stop and unit.t[m.first].startswith("hip")


_ALIASES = 8  # macros: a file with fewer does not stand for CUDA's headers
_HINTS = (b"ROCM", b"rocm", b"amdgcn", b"_AMD", b"rocprim", b"rocblas")
# each begins with text, which is found fast
_MAY_ASK = {
    b"hip": re.compile(rb"hip(?<![A-Za-z]hip)(?:[A-Z_/.]|blas|fft|rand|sparse|solver|cub|rtc)"),
    b"HIP": re.compile(rb"HIP(?<![A-Z]HIP)(?![a-z])"),
}
_DEFINES = regex(rb"#[ \t]*define[ \t]+(\w+)")
_CUDA_INCLUDE = regex(
    rb"#[ \t]*include[ \t]*[<\"]"
    rb"((?:cuda|cu(?:blas|fft|rand|sparse|solver|dnn|tensor|pti)|nv(?:rtc|ml)|nccl)\w*(?:\.h|/)[^>\"\n]*)"
)
_CUDA_USE = regex(
    rb"cu(?<!\wcu)(?:da[A-Z]\w+|(?:blas|fft|rand|sparse|solver|dnn)[A-Z]\w+"
    rb"|(?!(?:Blas|Collections|Dnn|Fft|File|Graph|Quantum|Rand|Signal|Solver|Sparse|Spatial|Tensor)\b)[A-Z][a-z]\w+)"
)  # the bare names are of products
_LONGEST = 200  # bytes of a line before a name, in which a comment may begin
_LANE_WORDS = (b"warpSize", b"__shfl", b"__ballot", b"__activemask")
_LANE_USE = regex(rb"\b(?:%s)" % b"|".join(_LANE_WORDS))


def may_ask(data: bytes) -> bool:
    """Whether a text may have code for HIP, so that it takes a lexer to tell the side it is on."""
    if any(hint in data for hint in _HINTS):
        return True
    return any(hint in data and pattern.search(data) is not None for hint, pattern in _MAY_ASK.items())


def plain_facts(data: bytes, active: Collection[str]) -> SideFacts:
    """The same as `side_facts` of a text that says nothing of HIP, without lexing. `active`: CUDA's names; a program
    may have some like them, such as `cudaEnabledMpi`."""
    uses = (x for x in _CUDA_USE.finditer(data) if x[0].decode("latin-1") in active)
    m = next((x for x in uses if not _in_comment(data, x.start())), None)
    found = next((x for x in _CUDA_INCLUDE.finditer(data) if not line_before(data, x.start()).strip()), None)
    why = ""
    if found is not None and (m is None or found.start() < m.start()):
        why = f"includes {found[1].decode('latin-1')}"
    elif m is not None:
        why = f"uses {m[0].decode('latin-1')}"
    lines = (x for x in _DEFINES.finditer(data) if not line_before(data, x.start()).strip(b" \t"))
    defined = frozenset([x[1].decode("latin-1") for x in lines])
    lanes = any(word in data for word in _LANE_WORDS) and _LANE_USE.search(data) is not None
    return SideFacts(cuda=why, elsewhere=defined, lanes=lanes)


def _in_comment(data: bytes, at: int) -> bool:
    """Whether a place follows the begin of a comment on its line, or the `*` that lines of one begin with."""
    before = data[max(0, at - _LONGEST) : at].rpartition(b"\n")[2]
    return b"//" in before or (before.lstrip().startswith((b"/*", b"* ")) and b"*/" not in before)


def line_before(data: bytes, at: int) -> bytes:
    """What is before a place on its line; LF ends lines."""
    return data[data.rfind(b"\n", 0, at) + 1 : at]


def _is_flag(m: Macro) -> bool:
    """Whether a macro may be what conditions ask for: a name in capitals with one value or none."""
    return m.params is None and m.stop - m.first <= 1 and m.name.isupper() and not m.name.startswith("__")


def _why_hip(unit: Unit, common: list[Include], inside: Cover) -> str:
    for inc in common:
        if is_hip_header(inc.path):
            return f"includes {inc.path}"
    found = _first_outside(unit, (w for w in unit.words if _HIP_NAME.match(w)), inside)
    return f"uses {found}" if found else ""


def _why_cuda(unit: Unit, common: list[Include], inside: Cover) -> str:
    for inc in common:
        if is_cuda_header(inc.path):
            return f"includes {inc.path}"
    found = _first_outside(unit, (w for w in unit.words & unit.catalog.active if _CUDA_NAME.match(w)), inside)
    if found:
        return f"uses {found}"
    ptx = any(
        _PTX.search(unit.text, unit.p[first], unit.p[stop]) and unit.p[at] not in inside
        for at, first, stop in unit.asms
    )
    return "has inline PTX" if ptx else ""


def is_hip_header(path: str) -> bool:
    """Whether an include names a HIP header or of its libraries."""
    return _HIP_HEADER.match(path) is not None


def is_cuda_header(path: str) -> bool:
    """Whether an include names a CUDA header or of its libraries that HIP has under another name."""
    return _CUDA_HEADER.match(path) is not None and not path.startswith("cu2port")


def _first_outside(unit: Unit, words: Iterator[str], inside: Cover) -> str:
    """The first of some names, in alphabetical order, that is used outside of branches for HIP and not only defined:
    `#define cudaFree hipFree` is HIP's."""
    for word in sorted(words):
        for i in unit.find(word):
            if unit.p[i] in inside or unit.is_member(i):
                continue
            d = unit.in_directive(i)
            if d is None or not (d.keyword in ("define", "undef", "ifdef", "ifndef") and i == d.first + 2):
                return word
    return ""


def named_hip(path: str) -> str:
    """What of a relative path says that a file is HIP's: `hip/` of `src/hip/a.h`, `a_hip.cpp`; "" if nothing does."""
    *folders, name = path.replace("\\", "/").split("/")
    if _is_named(name):
        return name
    return next((f"{f}/" for f in reversed(folders) if _is_named(f)), "")


def _is_named(part: str) -> bool:
    return _NAMED.match(part) is not None and "cuda" not in part.lower()  # `common/cuda_hip/` is for both


def is_whole(unit: Unit) -> bool:
    """Whether all of a file is HIP's code."""
    return unit.once(_is_whole)


def _is_whole(unit: Unit) -> bool:
    if unit.project.side:
        return unit.project.side == "hip"
    if _HINT.search(unit.text) is None:
        return False
    facts = side_facts(unit)
    return bool(facts.hip) and not facts.cuda


def hip_spans(unit: Unit) -> tuple[Span, ...]:
    """Code that is HIP's, as far as lanes go: all of a file that is HIP's or includes HIP's headers and none of CUDA's,
    even where it uses CUDA names; else the branches for HIP."""
    if is_whole(unit):
        return (Span(0, len(unit.text)),)
    paths = [inc.path for inc in unit.includes]
    if any(p.startswith("hip") for p in paths) and not any(p in unit.catalog.headers for p in paths):
        return (Span(0, len(unit.text)),)
    return hip_branches(unit)


def is_hips(unit: Unit, offset: int) -> bool:
    """Whether lanes at a byte are those of a wavefront."""
    return offset in unit.once(_hip_cover)


def _hip_cover(unit: Unit) -> Cover:
    return Cover(hip_branches(unit) if unit.project.renamed_only else hip_spans(unit))


def hip_names(unit: Unit) -> list[int]:
    """The tokens that are names of HIP's or of its libraries."""
    if _HINT.search(unit.text) is None:
        return []
    return unit.find(*(w for w in unit.words if _HIP_NAME.match(w)))


def untouched(unit: Unit) -> Cover:
    """The bytes that no rule changes: those of HIP's code."""
    return unit.once(_untouched)


def _untouched(unit: Unit) -> Cover:
    return Cover((Span(0, len(unit.text)),) if is_whole(unit) else hip_branches(unit))
