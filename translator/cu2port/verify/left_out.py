"""Code for the device alone outside of functions: the simulator compiles a unit once, where that is the host's side, so
kernels get what the host has there. A program says so when it starts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Directive
from cu2port.verify.copies import Copy
from cu2port.verify.sim_compiler import INCLUDE_DIR

_MACRO = "__HIP_DEVICE_COMPILE__"
_OPENS = frozenset({"if", "ifdef", "ifndef"})


@dataclass(slots=True)
class _Chain:
    """An `#if` with its other branches. `is_device`: the one that is read is the device's, from token `first` on."""

    opener: int
    first: int
    is_device: bool
    is_negated: bool
    includes: bool = False
    found: bool = False


def say_left_out(copy: Copy) -> None:
    """Write where the device's side outside of functions includes a file or has functions."""
    if Path(copy.unit.path).resolve().is_relative_to(INCLUDE_DIR):
        return
    for n, i in enumerate(left_out(copy.unit)):
        line = copy.line(copy.unit.p[i])
        place = line.partition(" ")[2].strip()
        number, _, name = place.partition(" ")
        text = f'{name[:-1]}:{number}"'
        copy.before(i, f"static inline const bool cu2port_left_{n} = ::cu2port_sim::leaves_out({text});\n{line}")


def left_out(unit: Unit) -> list[int]:
    """The first tokens of such conditionals."""
    if not unit.find(_MACRO):
        return []
    functions = sorted(f.first for f in unit.functions)
    out, chains = [], list[_Chain]()
    for d in unit.directives:
        if d.keyword in _OPENS:
            device, negated = _asks(unit, d)
            chains.append(_Chain(d.first, d.stop, device, negated))
        elif d.keyword == "include":
            for c in chains:
                c.includes = c.includes or c.is_device
        elif d.keyword in ("elif", "else", "endif") and chains:
            c = chains[-1]
            within = bisect_left(functions, d.first) > bisect_left(functions, c.first)
            c.found = c.found or (c.is_device and (c.includes or within))
            c.first, c.includes = d.stop, False
            c.is_device = c.is_negated if d.keyword == "else" else _asks(unit, d)[0]
            if d.keyword == "endif":
                chains.pop()
                if c.found and unit.function_at(c.opener) is None:
                    out.append(c.opener)
    return sorted(out)


def _asks(unit: Unit, d: Directive) -> tuple[bool, bool]:
    """Whether a condition asks for the device, and whether for the host."""
    places = unit.between(d.first, d.stop, _MACRO)
    hosts = [d.keyword == "ifndef" or "!" in (unit.tok(i - 1), unit.tok(i - 2), unit.tok(i - 3)) for i in places]
    return bool(places) and not all(hosts), bool(places) and all(hosts)
