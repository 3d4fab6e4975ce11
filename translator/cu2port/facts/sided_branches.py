"""Conditionals on `__CUDA_ARCH__` around functions of the host and of the device."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from cu2port.core.late import regex
from cu2port.facts.branches import LAST_COMMON
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Directive, Group

_DEFINED = frozenset({"ifdef __CUDA_ARCH__", "if defined __CUDA_ARCH__"})
_NOT_DEFINED = frozenset({"ifndef __CUDA_ARCH__", "if ! defined __CUDA_ARCH__"})
_COMMON = regex(r"if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= ([0-9]{1,4})\Z")
_DEVICE = frozenset({"__device__"})
_HOST = (frozenset({"__host__"}), frozenset[str]())
#: What clang does not let two functions of a name have, one for each side.
_ONCE = frozenset({"virtual", "override", "final", "extern", "constexpr", "consteval", "friend", "~"})
_WORDS = frozenset({"__host__", "__device__", "__forceinline__", "__inline__", "__inline", "__noinline__"})


class Sided(NamedTuple):
    """The directives of such a conditional. `device`: the one that opens the branch of the device's functions, the
    first or second; `host`: there is a branch of the host's."""

    chain: tuple[Directive, ...]
    device: int
    host: bool


def sided_branches(unit: Unit) -> Mapping[int, Sided]:
    """The conditionals that ask whether `__CUDA_ARCH__` is defined, or for what all AMD GPUs have, and hold nothing but
    functions: those of the device where it is, and of the host in the other branch, if there is one. By the index of
    their first directive."""
    out: dict[int, Sided] = {}
    if "__CUDA_ARCH__" not in unit.words or "__device__" not in unit.words:
        return out
    starts = [f.first for f in unit.functions]
    for n in dict.fromkeys(unit.lexed.directive_index(i) for i in unit.find("__CUDA_ARCH__")):
        g = unit.conditionals.opened_by(n) if n >= 0 else None
        asked = _asked(unit, n) if g is not None else ""
        least = _COMMON.match(asked)
        common = least is not None and int(least[1]) <= LAST_COMMON
        if (
            g is None
            or not (common or asked in _DEFINED | _NOT_DEFINED)
            or len(g.chain) not in ((2,) if common else (2, 3))
        ):
            continue
        chain = tuple(unit.directives[k] for k in g.chain)
        other = unit.conditionals.opened_by(g.chain[1]) if len(chain) == 3 else None
        groups = [g] if other is None else [g, other]
        words = [d.keyword for d in chain[1:]]
        if words not in (["endif"], ["else", "endif"]) or len(groups) != len(words):
            continue
        device = 1 if asked in _NOT_DEFINED else 0
        if device < len(groups) and all(_holds(unit, x, starts, device=k == device) for k, x in enumerate(groups)):
            out[n] = Sided(chain, device, other is not None)
    return out


def _asked(unit: Unit, n: int) -> str:
    d = unit.directives[n]
    return " ".join(w for w in unit.t[d.first + 1 : d.stop] if w not in ("(", ")"))


def _holds(unit: Unit, g: Group, starts: list[int], *, device: bool) -> bool:
    """Whether a branch holds functions of one side and nothing else. The other side may have some of the same names."""
    if unit.lexed.directives_in(g.start, g.end):
        return False
    k, stop = bisect_left(unit.p, g.start), bisect_left(unit.p, g.end)
    if k == stop:
        return False
    while k < stop:
        at = bisect_left(starts, k)
        f = unit.functions[at] if at < len(starts) else None
        if f is None or f.first != k or f.body[1] >= stop or not _is_for(unit, f, device):
            return False
        k = f.body[1] + 1
        while k < stop and unit.t[k] == ";":
            k += 1
    return True


def _is_for(unit: Unit, f: Function, device: bool) -> bool:
    """Whether a function is for one side, and no word before its name may be a macro that says more."""
    head = unit.t[f.first : f.body[0]]
    sides = f.sides == _DEVICE if device else f.sides in _HOST
    return sides and _ONCE.isdisjoint(head) and not any(map(_may_be_macro, unit.t[f.first : f.name_at]))


def _may_be_macro(word: str) -> bool:
    return word not in _WORDS and (word.startswith("_") or (len(word) > 1 and word.isupper()))
