"""What launches give the parameters of a kernel: numbers, and one array for several of them.

A launch in a function that hands its own parameters on says what the calls of that function say. `Named` gives the
files of a project that use a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from cu2port.core.model import Span
from cu2port.facts.blocks import number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_MOST_CALLS = 3  # of functions that hand parameters on
_MOST_NUMBERS = 8  # of a parameter
_MOST_ROWS = 64  # that a launch stands for
_LARGEST = 1 << 20

Place = tuple[Unit, int, int]  # an argument: its tokens
Row = list[Place]
Named = Callable[[str], Sequence[Unit]]


def numbers(name: str, count: int, program: Sequence[Unit], named: Named) -> tuple[tuple[int, ...], ...]:
    """The numbers that launches give each of `count` parameters."""
    out: list[set[int]] = [set() for _ in range(count)]
    for row in _launches(name, count, program, named):
        for k, place in enumerate(row):
            n = number(*place)
            if n is not None and 0 <= n <= _LARGEST:
                out[k].add(n)
    return tuple(tuple(sorted(x)[:_MOST_NUMBERS]) for x in out)


def alike(name: str, count: int, program: Sequence[Unit], named: Named) -> tuple[int, ...]:
    """For each parameter the first one that gets the same variable in some launch."""
    out = list(range(count))
    for row in _launches(name, count, program, named):
        first: dict[tuple[str, tuple[str, ...]], int] = {}
        for k, (u, start, stop) in enumerate(row):
            if _is_variable(u, start, stop):
                out[k] = min(out[k], out[first.setdefault((u.path, tuple(u.t[start:stop])), k)])
    return tuple(out)


def _is_variable(unit: Unit, first: int, stop: int) -> bool:
    names = [x for x in unit.t[first:stop] if is_identifier(x)]
    return bool(names) and not {"(", "nullptr", "NULL"} & set(unit.t[first:stop])


def _launches(name: str, count: int, program: Sequence[Unit], named: Named) -> Iterator[Row]:
    for unit in program:
        for launch in unit.launches:
            callee = unit.t[launch.callee : launch.open]
            if name in callee and callee[0] != "<" and launch.args[0] >= 0:
                row = [_place(unit, s) for s in unit.split_args(launch.args[0] + 1, launch.args[1])]
                if len(row) == count:
                    yield from islice(_meant(row, program, named), _MOST_ROWS)


def _place(unit: Unit, span: Span) -> Place:
    return unit, unit.lexed.at(span.start), unit.lexed.at(span.end)


def _meant(row: Row, program: Sequence[Unit], named: Named, depth: int = 0) -> Iterator[Row]:
    """The arguments of one launch; for each call of the function around it what its parameters stand for there."""
    handed = [_handed(place) for place in row]
    around = next((x[0] for x in handed if x is not None), None)
    if around is None or depth == _MOST_CALLS:
        yield row
        return
    unit, f = around
    calls = list(_calls(unit, f, program)) or list(_calls(unit, f, named(f.name)))
    for call in calls:
        there = [
            call[x[1]] if x is not None and x[0] == around and x[1] < len(call) else place
            for place, x in zip(row, handed, strict=True)
        ]
        yield from _meant(there, program, named, depth + 1)
    if not calls:
        yield row


def _handed(place: Place) -> tuple[tuple[Unit, Function], int] | None:
    """The function that an argument is a parameter of, and which one."""
    unit, first, stop = place
    f = unit.function_at(first) if stop == first + 1 and is_identifier(unit.t[first]) else None
    k = _parameter(unit, f, unit.t[first]) if f is not None else -1
    return ((unit, f), k) if f is not None and k >= 0 else None


def _calls(unit: Unit, f: Function, program: Sequence[Unit]) -> Iterator[Row]:
    """The arguments of the calls of a function of `unit`; those of another overload have another number of them."""
    params = [unit.t[first:stop] for _, first, stop in map(partial(_place, unit), _spans(unit, f))]
    least = sum("=" not in p and "..." not in p for p in params)
    has_pack = any("..." in p for p in params)
    for u in program:
        for i in u.find(f.name):
            args = _arguments(u, i)
            fits = least <= len(args) and (len(args) <= len(params) or has_pack)
            if fits and not any(i == g.name_at for g in u.functions if g.name == f.name):
                yield [_place(u, x) for x in args]


def _spans(unit: Unit, f: Function) -> Sequence[Span]:
    return unit.split_args(f.params[0] + 1, f.params[1])


def _arguments(unit: Unit, i: int) -> Sequence[Span]:
    """Of a call of the function, or of the template of one, that token i names."""
    opener = i + 1
    if unit.tok(opener) == "<":
        opener = unit.angle_close(opener) + 1
    if opener <= i or unit.tok(opener) != "(" or unit.match[opener] < 0:
        return ()
    return unit.split_args(opener + 1, unit.match[opener])


def _parameter(unit: Unit, f: Function, name: str) -> int:
    for k, span in enumerate(_spans(unit, f)):
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        end = next((i for i in range(first, stop) if unit.t[i] == "="), stop)
        if end > first and unit.t[end - 1] == name:
            return k
    return -1
