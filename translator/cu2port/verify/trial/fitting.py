"""Parts of files that do not compile are left out, where the kernel compiles without them.

What a kernel needs is found by names, so more is kept than it uses: a method `data` of a class of another library
keeps that class. What the compiler refuses outside of the kernel is dropped until the rest compiles, on both sides.
A function of the host that it does not find there, since a member of a class calls it, is kept first, and so is what a
header of the system does not find.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.scopes import Declaration
from cu2port.verify.reach import read_again
from cu2port.verify.sim_build import absolute_path
from cu2port.verify.trial.arguments import template_arguments
from cu2port.verify.trial.kernels import Kernel, parameters_of
from cu2port.verify.trial.program import Side
from cu2port.verify.trial.slices import Entity, entities, of_host, start_of, without

_MESSAGE = re.compile(r"^(.+?):([0-9]+):(?:[0-9]+:)? (?:(fatal error|error): )?(.*)$", re.MULTILINE)
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) .*\n", re.MULTILINE)
_QUOTED = re.compile(r"['\u2018](?:[\w:]*::)?(\w+)['\u2019]")
MOST_ROUNDS = 16
#: Why a part is left out that a kernel may need.
LAUNCHES = "launches from kernels"


@dataclass(frozen=True, slots=True)
class Part:
    """The entity number `number` of those in a file that declare the same names, or the member of a class, `A::f`; -1:
    functions of the host of that name, which are kept."""

    path: Path
    names: frozenset[str]
    number: int


Dropped = Mapping[Part, str]  # with what the compiler said of each


def smaller(side: Side, dropped: Dropped) -> Side:
    """A side without some parts."""
    units = dict(side.units)
    for path in {p.path for p in dropped} & units.keys():
        gone = [e for part, e in _parts(path, units[path]) if part in dropped]
        units[path] = read_again(without(units[path], _outermost(gone)), units[path])
    return replace(side, units=units, called=frozenset(x for p in dropped if p.number < 0 for x in p.names))


def left_out(side: Side, kernel: Kernel) -> dict[Part, str]:
    """What no kernel may need, whatever the compiler says of it."""
    return _other_kernels(side, kernel) | _launching(side, kernel)


def _other_kernels(side: Side, kernel: Kernel) -> dict[Part, str]:
    """The kernels that have the name of this one and other parameters: what they do is not its own."""
    out: dict[Part, str] = {}
    for path, unit in side.units.items() if kernel.overload else ():
        named = [f for f in unit.functions if f.name == kernel.name and "__global__" in f.sides]
        others = [f.name_at for f in named if _is_other(unit, f, kernel)]
        for part, e in _parts(path, unit) if others else ():
            if part.names == {kernel.name} and any(e.first <= at < e.stop for at in others):
                out[part] = "another kernel of that name"
    return out


def _launching(side: Side, kernel: Kernel) -> dict[Part, str]:
    """What launches kernels from the GPU, or may: a function of both sides often does so in its branch for the host."""
    out: dict[Part, str] = {}
    for path, unit in side.units.items():
        places = [x.open for x in unit.launches if _is_on_gpu(unit, x.open)]
        for part, e in sorted(_parts(path, unit), key=lambda p: p[1].stop - p[1].first) if places else ():
            inside = [at for at in places if e.first <= at < e.stop]  # the smallest part is the first
            if inside and kernel.name not in part.names:
                out[part] = LAUNCHES
            places = [at for at in places if at not in inside]
    return out


def _is_on_gpu(unit: Unit, at: int) -> bool:
    f = unit.function_at(at)
    return f is not None and not f.sides.isdisjoint({"__global__", "__device__"})


def _is_other(unit: Unit, f: Function, kernel: Kernel) -> bool:
    """Whether a kernel is no form of the one of its name: a specialisation has as many parameters as its template."""
    mine = list(parameters_of(unit, f))
    if template_arguments(unit, f, ()) is None:
        return len(mine) != len(kernel.parameters)
    return ", ".join(mine) != kernel.overload


def refused(side: Side, kernel: Kernel, said: str, called: frozenset[str] = frozenset()) -> dict[Part, str]:
    """The parts in which the compiler found errors, but the kernel itself; before these, what they call of the host.

    `side`: the whole one; `called`: what was kept of the host's functions."""
    out: dict[Part, str] = {}
    if more := _called_of_host(side, said, called):
        return more
    known: dict[Path, list[tuple[Part, int, int]]] = {}
    for text, places in _errors(said):
        for path, line in places:
            unit = side.units.get(path)
            if unit is None:
                continue
            if path not in known:
                known[path] = _lines(path, unit)
            here = [(last - first, part) for part, first, last in known[path] if first <= line <= last]
            least = min((extent for extent, _ in here), default=0)  # a member before its class
            for part in (part for extent, part in here if extent == least):
                if kernel.name not in part.names:
                    out.setdefault(part, text)
            if here:  # the others say how the compiler came there, to a macro's body from what calls the macro
                break
    return out


def _called_of_host(side: Side, said: str, called: frozenset[str]) -> dict[Part, str]:
    """Functions of the host that an error names, and what a header of the system does not find, but those in `called`,
    which were kept."""
    out: dict[Part, str] = {}
    for text, places in _errors(said):
        mine = places[0][0] in side.units
        for name in _QUOTED.findall(text)[:1] if mine or places[0][0].is_file() else ():
            name = of_host(name) if mine else name
            if name not in called and (at := _declaring(side, name)) is not None:
                out[Part(at, frozenset({name}), -1)] = text
    return out


def _declaring(side: Side, name: str) -> Path | None:
    return next((p for p, u in side.units.items() if any(name in e.names for e in entities(u))), None)


def refusal(said: str, dropped: Dropped) -> str:
    """Why a kernel does not compile, to say of it."""
    why = reason(said, dropped)
    return why if why == LAUNCHES else f"it does not compile by itself: {why}"


def reason(said: str, dropped: Dropped) -> str:
    """The first error of a program; where it is that a dropped part is missing, what was wrong with that."""
    texts = [t for t, _ in _errors(said)] or [said.splitlines()[-1][:200]]
    there = texts[0].partition(": ")[0]  # of several errors of a line one names what is missing

    def why(text: str) -> str:
        named = {n for x in _QUOTED.findall(text.partition(": ")[2]) for n in (x, of_host(x))}
        return next((why for part, why in dropped.items() if part.number >= 0 and named & part.names), "")

    text = next((t for t in texts if t.partition(": ")[0] == there and why(t)), texts[0])
    for _ in range(MOST_ROUNDS):
        because = why(text)
        if not because or because == text:
            break
        text = because
    return text


def _parts(path: Path, unit: Unit) -> Iterator[tuple[Part, Entity]]:
    seen: dict[frozenset[str], int] = {}
    for e in sorted([*entities(unit), *_members(unit), *_errors_asked_for(unit)], key=lambda e: e.first):
        seen[e.names] = number = seen.get(e.names, -1) + 1
        yield Part(path, e.names, number), e


def _members(unit: Unit) -> Iterator[Entity]:
    """What classes declare; `int a, b;` is one."""
    found: dict[int, list[Declaration]] = {}
    for d in unit.declarations.all():
        is_member = d.scope.kind == "class" and d.kind in ("function", "constructor", "member") and not d.scope.local
        if is_member and unit.in_directive(d.at) is None:
            found.setdefault(start_of(unit, d), []).append(d)
    for first, group in found.items():
        names = frozenset(f"{d.scope.path}::{d.name}" for d in group)
        yield Entity(first, max(d.stop for d in group), names, frozenset())


def _outermost(found: Iterable[Entity]) -> Iterator[Entity]:
    """Entities in text order without those in others."""
    stop = -1
    for e in found:
        if e.first >= stop:
            yield e
            stop = e.stop


def _errors_asked_for(unit: Unit) -> Iterator[Entity]:
    """The directives `#error`, by their texts: a configuration that is missing may be one for host code alone."""
    inside = ((e.first, e.stop) for e in entities(unit))
    spans = [(a, b) for a, b in inside if b > a]
    for d in unit.directives:
        if d.keyword == "error" and not any(a <= d.first < b for a, b in spans):
            yield Entity(d.first, d.stop, frozenset({unit.source(d.first, d.stop)}), frozenset())


def _lines(path: Path, unit: Unit) -> list[tuple[Part, int, int]]:
    """The parts of a file, with their first and last lines."""
    ends = [m.start() for m in re.finditer("\n", unit.text)]
    return [
        (part, bisect_left(ends, unit.p[e.first]) + 1, bisect_left(ends, unit.end(e.stop - 1)) + 1)
        for part, e in _parts(path, unit)
        if e.stop > e.first
    ]


def _errors(said: str) -> Iterator[tuple[str, list[tuple[Path, int]]]]:
    """The errors of a compiler's output: `FILE:LINE: TEXT`, and the places that it names, the error's own first."""
    text, places = "", list[tuple[Path, int]]()
    for m in _MESSAGE.finditer(_INCLUDED.sub("", said)):
        if m[3]:
            if text:
                yield text, places
            text, places = f"{Path(m[1]).name}:{m[2]}: {m[4]}", []
        if text:
            places.append((absolute_path(Path(m[1])), int(m[2])))
    if text:
        yield text, places
