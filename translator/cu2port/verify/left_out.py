"""Code for the device alone outside of functions, which a unit that is compiled once has for the host's side alone.

Functions of the device that the host has no others for are compiled all the same. Elsewhere a unit has two sides
(`two_sides.py`); where it cannot be compiled for both, kernels get the host's, and a program says so when it starts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Directive
from cu2port.verify.copies import Copy
from cu2port.verify.sim_compiler import INCLUDE_DIR

MACRO = "__HIP_DEVICE_COMPILE__"
_DEVICE = frozenset({"__device__", "__global__"})
_OPENS = frozenset({"if", "ifdef", "ifndef"})


@dataclass(slots=True)
class _Chain:
    """An `#if` with its other branches. `before`: the last token of code in front of it; `is_device`: the branch that
    is read is the device's, from token `first` on."""

    opener: Directive
    before: int
    first: int
    is_device: bool
    is_negated: bool
    includes: bool = False
    found: bool = False
    is_alone: bool = True  # no other branch


def with_devices_side(copy: Copy) -> None:
    """Take the device's side where the host has none; write where what is left out includes files or has functions."""
    left, taken = left_out(copy.unit)
    for d in taken:
        copy.replace(d.first, d.stop, "#if 1")
    for i in left:
        line = copy.line(copy.unit.p[i])
        place = line.partition(" ")[2].strip()
        number, _, name = place.partition(" ")
        text = f'{name[:-1]}:{number}"'
        copy.before(i, f"#ifdef CU2PORT_LEAVES_OUT\nCU2PORT_LEAVES_OUT({text});\n#endif\n{line}")


def is_ours(path: Path) -> bool:
    """Whether a file is one of our headers, or the copy of a helper header that a converted tree has."""
    copied = path.parent.name == "cu2port" and (INCLUDE_DIR / "cu2port" / path.name).is_file()
    return copied or path.is_relative_to(INCLUDE_DIR)


def left_out(unit: Unit) -> tuple[list[int], list[Directive]]:
    """The first tokens of conditionals whose device's side is left out, and those whose is taken."""
    if not unit.find(MACRO) or is_ours(Path(unit.path).resolve()):
        return [], []
    functions = sorted(unit.functions, key=lambda f: f.first)
    starts = [f.first for f in functions]
    names = Counter(f.name for f in functions)
    left, taken, chains = list[int](), list[Directive](), list[_Chain]()
    before, behind = -1, 0
    for d in unit.directives:
        if d.first != behind:
            before = d.first - 1
        behind = d.stop
        if d.keyword in _OPENS:
            device, negated = _asks(unit, d)
            chains.append(_Chain(d, before, d.stop, device, negated))
        elif d.keyword == "include":
            for c in chains:
                c.includes = c.includes or c.is_device
        elif d.keyword in ("elif", "else", "endif") and chains:
            c = chains[-1]
            inside = functions[bisect_left(starts, c.first) : bisect_left(starts, d.first)]
            c.found = c.found or (c.is_device and (c.includes or bool(inside)))
            if d.keyword == "endif" and c.is_alone and not c.includes and _is_devices(unit, c.opener, inside, names):
                c.found = False
                taken.append(c.opener)
            c.is_alone = False
            c.first, c.includes = d.stop, False
            c.is_device = c.is_negated if d.keyword == "else" else _asks(unit, d)[0]
            if d.keyword == "endif":
                chains.pop()
                if c.found and _is_between_declarations(unit, c.before):
                    left.append(c.opener.first)
    return sorted(left), taken


def _is_between_declarations(unit: Unit, k: int) -> bool:
    """Whether a declaration may be written behind token k: outside of functions and classes, and in no list of values
    or names."""
    if k < 0:
        return True
    scope = unit.declarations.scope_at(k)
    if unit.t[k] == "{":
        return scope.kind == "namespace" and scope.first <= k and unit.tok(k - 1) not in ("=", ",", "(", "{")
    while scope.last == k and scope.parent is not None:
        scope = scope.parent
    return scope.kind in ("file", "namespace") and unit.t[k] in (";", "}")


def _is_devices(unit: Unit, opener: Directive, inside: Sequence[Function], names: Mapping[str, int]) -> bool:
    """Whether a condition asks for the device and nothing else, and what it is for are the device's functions, which
    have no others of their names."""
    words = [x for x in unit.t[opener.first + 1 : opener.stop] if x not in ("(", ")", "defined")]
    if words not in (["if", MACRO], ["ifdef", MACRO]) or unit.function_at(opener.first) is not None:
        return False
    own = Counter(f.name for f in inside)
    alone = (f.sides & _DEVICE and "__host__" not in f.sides and names[f.name] == own[f.name] for f in inside)
    return bool(inside) and all(alone)


def _asks(unit: Unit, d: Directive) -> tuple[bool, bool]:
    """Whether a condition asks for the device, and whether for the host."""
    places = unit.between(d.first, d.stop, MACRO)
    hosts = [d.keyword == "ifndef" or "!" in (unit.tok(i - 1), unit.tok(i - 2), unit.tok(i - 3)) for i in places]
    return bool(places) and not all(hosts), bool(places) and all(hosts)
