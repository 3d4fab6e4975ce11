"""What launches give the parameters of a kernel: numbers, and one array for several of them.

A launch in a function that hands its own parameters on says what the calls of that function say. `Named` gives the
files of a project that use a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cu2port.core.model import Span
from cu2port.facts.blocks import number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_MOST_CALLS = 3  # of functions that hand parameters on
_MOST_NUMBERS = 8  # of a parameter
_LARGEST = 1 << 20

Place = tuple[Unit, int, int]  # an argument: its tokens
Named = Callable[[str], Sequence[Unit]]


def numbers(name: str, count: int, program: Sequence[Unit], named: Named) -> tuple[tuple[int, ...], ...]:
    """The numbers that launches give each of `count` parameters."""
    out: list[set[int]] = [set() for _ in range(count)]
    for row in _launches(name, count, program):
        for k, place in enumerate(row):
            for unit, first, stop in _meant(place, program, named):
                n = number(unit, first, stop)
                if n is not None and 0 <= n <= _LARGEST:
                    out[k].add(n)
    return tuple(tuple(sorted(x)[:_MOST_NUMBERS]) for x in out)


def alike(name: str, count: int, program: Sequence[Unit], named: Named) -> tuple[int, ...]:
    """For each parameter the first one that gets the same variable in some launch."""
    out = list(range(count))
    for row in _launches(name, count, program):
        meant = [{(u.path, *u.t[a:b]) for u, a, b in _meant(p, program, named) if _is_variable(u, a, b)} for p in row]
        for k in range(count):
            first = next((j for j in range(k) if meant[j] & meant[k]), k)
            out[k] = min(out[k], out[first])
    return tuple(out)


def _is_variable(unit: Unit, first: int, stop: int) -> bool:
    names = [x for x in unit.t[first:stop] if is_identifier(x)]
    return bool(names) and not {"(", "nullptr", "NULL"} & set(unit.t[first:stop])


def _launches(name: str, count: int, program: Sequence[Unit]) -> Iterator[list[Place]]:
    for unit in program:
        for launch in unit.launches:
            callee = unit.t[launch.callee : launch.open]
            if name in callee and callee[0] != "<" and launch.args[0] >= 0:
                row = [_place(unit, s.start, s.end) for s in unit.split_args(launch.args[0] + 1, launch.args[1])]
                if len(row) == count:
                    yield row


def _place(unit: Unit, start: int, end: int) -> Place:
    return unit, unit.lexed.at(start), unit.lexed.at(end)


def _meant(place: Place, program: Sequence[Unit], named: Named, depth: int = 0) -> Iterator[Place]:
    """An argument, or the arguments that it stands for where it is a parameter of the function around it."""
    unit, first, stop = place
    f = unit.function_at(first) if stop == first + 1 and is_identifier(unit.t[first]) else None
    k = _parameter(unit, f, unit.t[first]) if f is not None else -1
    if f is None or k < 0 or depth == _MOST_CALLS:
        yield place
        return
    calls = list(_calls(unit, f, k, program)) or list(_calls(unit, f, k, named(f.name)))
    for call in calls:
        yield from _meant(call, program, named, depth + 1)
    if not calls:
        yield place


def _calls(unit: Unit, f: Function, k: int, program: Sequence[Unit]) -> Iterator[Place]:
    """Argument k of the calls of a function of `unit`."""
    for u in program:
        for i in u.find(f.name):
            args = _arguments(u, i)
            if k < len(args) and not any(i == g.name_at for g in u.functions if g.name == f.name):
                yield _place(u, args[k].start, args[k].end)


def _arguments(unit: Unit, i: int) -> Sequence[Span]:
    """Of a call of the function, or of the template of one, that token i names."""
    opener = i + 1
    if unit.tok(opener) == "<":
        opener = unit.angle_close(opener) + 1
    if opener <= i or unit.tok(opener) != "(" or unit.match[opener] < 0:
        return ()
    return unit.split_args(opener + 1, unit.match[opener])


def _parameter(unit: Unit, f: Function, name: str) -> int:
    for k, span in enumerate(unit.split_args(f.params[0] + 1, f.params[1])):
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        end = next((i for i in range(first, stop) if unit.t[i] == "="), stop)
        if end > first and unit.t[end - 1] == name:
            return k
    return -1
