"""The kernels of a program: parameters, and what launches and other uses tell of blocks and template arguments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cu2port.core.model import Span
from cu2port.facts.blocks import dim3_variables, extents, named_number, number
from cu2port.facts.structure import Function, Launch
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import CallExpr, Expr, Ternary, callee
from cu2port.verify.reach import read
from cu2port.verify.trial.arguments import Arguments, template_arguments
from cu2port.verify.trial.configured import assumed
from cu2port.verify.trial.given import Named, alike, numbers

#: What the names of parameters suggest, see `Spec` in trial.h; the first that fits counts.
_ROLES = (
    (
        "o",
        r"off(set)?s?|.*_offsets?|row_?ptrs?|indptr|row_?offsets?|row_?starts?|.*rowptr|(.*_|seg|cell|bin|range)?(begins?|starts?)",
    ),
    ("e", r"(.*_|seg|row|cell|bin|range)?ends?"),
    (
        "k",
        r"k|.*ksize.*|.*kernel.*|.*pad(ding)?(_?[thwdxyz])?|.*dilation.*|.*iter.*|.*steps?|radius|.*levels?|depth|.*times|repeat|n?rounds?|order|.*dim|dims?",
    ),
    ("s", r"stride.*|.*stride|.*pitch|ld[a-z]?"),
    ("w", r"w|.*width|.*cols?|nx|dimx|columns|imgw|size_?x|.*_w"),
    ("h", r"h|.*height|.*rows?|ny|dimy|imgh|size_?y|.*_h"),
    ("d", r"nz|dimz|size_?z|.*_d"),
    ("n", r"n|[a-z]?num.*|.*size|.*len(gth)?|.*count|.*total.*|n_?[a-z]+|.*elem(ent)?s?|.*points|m"),
)
_DEFAULTS = {
    1: ((256, 1, 1), (128, 1, 1), (64, 1, 1), (1024, 1, 1), (96, 1, 1)),
    2: ((16, 16, 1), (32, 8, 1)),
    4: ((8, 8, 4), (4, 4, 4)),
}
_MOST_THREADS = 1024
_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_SHARED = 65536  # bytes, where no launch tells: all that a block of an AMD GPU may have


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `__global__` function. `path`: its name with its namespaces; `arguments`: of its template, as they are
    written, "" without template; `roles`: what the name of each parameter suggests, see `Spec` in trial.h; `blocks`:
    extents of blocks that launches give, else usual ones; `dynamic`: bytes of shared memory of a launch; `overload`:
    its parameters, where the file has other kernels of that name; `given`, `alike`: see `given`; `defines`: see
    `configured`."""

    name: str
    path: str
    line: int
    parameters: tuple[str, ...]
    roles: str
    arguments: str
    blocks: tuple[tuple[int, int, int], ...]
    is_block_known: bool
    dynamic: int
    overload: str = ""
    given: tuple[tuple[int, ...], ...] = ()
    alike: tuple[int, ...] = ()
    defines: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.path}{self.arguments}"


@dataclass(frozen=True, slots=True)
class Unclear:
    """A kernel that cannot be tried, and why."""

    path: str
    line: int
    why: str


def find_kernels(unit: Unit, program: Sequence[Unit], named: Named = lambda name: ()) -> Iterator[Kernel | Unclear]:
    """The kernels that a file defines; launches are looked for in all files of the program, and where it has none in
    the files that `named` gives for the kernel's name."""
    for f in unit.functions:
        if "__global__" not in f.sides or unit.is_dead(unit.p[f.name_at]):
            continue
        line = unit.text.count("\n", 0, unit.p[f.name_at]) + 1
        if unit.in_directive(f.name_at) is not None:
            yield Unclear(f.name, line, "a macro defines it")
            continue
        d = unit.declarations.declared_at(f.name_at)
        space = d.scope.path if d is not None else ""
        written = "".join(unit.t[unit.qualifier(f.name_at) : f.name_at + 1])  # `void n::kernel()`
        path = f"{space}::{written}".removeprefix("::").removeprefix("::")
        arguments = template_arguments(unit, f, program)
        if arguments is None:
            yield Unclear(path, line, "template: no use tells its arguments")
            continue
        names = tuple(_parameters(unit, f))
        near = [u for u in program if any(_configurations(u, f.name))] or named(f.name)
        seen = sorted({b for u in near for b in _blocks(u, f.name, program)})
        blocks = tuple(seen) or _guessed(unit, f, arguments)
        dynamic = max((b for u in near for b in _dynamic(u, f.name)), default=_SHARED)
        overload = ", ".join(parameters_of(unit, f)) if _has_overload(unit, f, program) else ""
        roles = "".join(map(_role, names))
        macros = assumed(unit, unit.p[f.name_at], {name for u in program for name in u.macros})
        given = numbers(f.name, len(names), near, named), alike(f.name, len(names), near, named)
        yield Kernel(
            f.name, path, line, names, roles, arguments.text, blocks, bool(seen), dynamic, overload, *given, macros
        )


def _has_overload(unit: Unit, f: Function, program: Sequence[Unit]) -> bool:
    """Whether the file has another kernel of that name, or some file declares one with another number of parameters."""
    if sum(g.name == f.name and "__global__" in g.sides for g in unit.functions) > 1:
        return True
    mine = len(unit.split_args(f.params[0] + 1, f.params[1]))
    for u in program:
        for i in u.find(f.name):
            opener, d = i + 1, u.declarations.declared_at(i)
            is_head = d is not None and d.kind == "function" and u.tok(opener) == "(" and u.match[opener] > 0
            if is_head and len(u.split_args(opener + 1, u.match[opener])) != mine:
                return True
    return False


def parameters_of(unit: Unit, f: Function) -> Iterator[str]:
    """The parameters of a kernel without what they are by default."""
    for span in unit.split_args(f.params[0] + 1, f.params[1]):
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        end = next((i for i in range(first, stop) if unit.t[i] == "="), stop)
        yield " ".join(unit.t[i] for i in range(first, end) if unit.in_directive(i) is None)


def _parameters(unit: Unit, f: Function) -> Iterator[str]:
    for span in unit.split_args(f.params[0] + 1, f.params[1]):
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        end = next((i for i in range(first, stop) if unit.t[i] in ("=", "[")), stop)
        names = [unit.t[i] for i in range(first, end) if is_identifier(unit.t[i]) and unit.in_directive(i) is None]
        if names and names != ["void"]:
            yield names[-1]


def _role(name: str) -> str:
    return next((letter for letter, pattern in _ROLES if re.fullmatch(pattern, name, re.IGNORECASE)), "?")


def axes(unit: Unit, first: int, stop: int) -> int:
    """Which axes of a launch tokens [first, stop) use: 1 for x, 2 for y, 4 for z."""
    out = 1
    for i in range(first, stop - 2):
        if unit.t[i] in _INDICES and unit.t[i + 1] == ".":
            out |= {"x": 1, "y": 2, "z": 4}.get(unit.t[i + 2], 0)
    return out


def _guessed(unit: Unit, f: Function, arguments: Arguments) -> tuple[tuple[int, int, int], ...]:
    if arguments.told:
        return ((arguments.told, 1, 1),)
    if arguments.threads:
        axes_ = 2 if arguments.threads < 64 else 1  # a tile has two sides
        return ((arguments.threads, arguments.threads if axes_ == 2 else 1, 1),)
    return _defaults(unit, f)


def _defaults(unit: Unit, f: Function) -> tuple[tuple[int, int, int], ...]:
    first, stop = f.body
    used = {unit.t[i + 2] for i in unit.between(first, stop, "threadIdx") if unit.tok(i + 1) == "."}
    bounds = unit.between(f.first, f.name_at, "__launch_bounds__")
    if bounds and (call := unit.call(bounds[0])) is not None:
        span = call.args[0]
        most = number(unit, unit.lexed.at(span.start), unit.lexed.at(span.end))
        if most and used <= {"x"} and most <= _MOST_THREADS:
            return ((most, 1, 1),)
    return _DEFAULTS[4 if "z" in used else 2 if "y" in used else 1]


def _configurations(unit: Unit, name: str) -> Iterator[tuple[Span, ...]]:
    for launch in unit.launches:
        callee = unit.t[launch.callee : launch.open]
        if (name in callee and callee[0] != "<") or _is_given(unit, name, launch):
            yield unit.split_args(launch.config_first, launch.close)


def _is_given(unit: Unit, name: str, launch: Launch) -> bool:
    """Whether a macro launches its parameter, and is called with a kernel for that."""
    callee = unit.t[launch.callee]
    if launch.open != launch.callee + 1 or unit.in_directive(launch.open) is None:
        return False
    around = (m for d in unit.macros.values() for m in d if m.first <= launch.open < m.stop)
    macro = next(around, None)
    if macro is None or callee not in (macro.params or ()):
        return False
    n = (macro.params or ()).index(callee)
    calls = (unit.call(i) for i in unit.find(macro.name) if unit.in_directive(i) is None)
    return any(c is not None and len(c.args) > n and unit.text[c.args[n].start : c.args[n].end] == name for c in calls)


def _blocks(unit: Unit, name: str, program: Sequence[Unit]) -> Iterator[tuple[int, int, int]]:
    for config in _configurations(unit, name):
        known = extents(unit, config[1]) if len(config) > 1 else None
        for block in [known] if known or len(config) < 2 else _nearest(unit, config[1], program):
            x, y, z = (*(block or (0,)), 1, 1)[:3]
            if 0 < x * y * z <= _MOST_THREADS:
                yield x, y, z


def _nearest(unit: Unit, span: Span, program: Sequence[Unit]) -> Iterator[tuple[int, ...]]:
    """The numbers of the `dim3` variable of that name that is declared or set last before a launch, or of `dim3(...)`;
    and of constants that other files of the program define."""
    at, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
    opener = at + 1
    if unit.t[at] != "dim3":
        places = [d.at + 1 for d in dim3_variables(unit, unit.t[at]) if d.at < at]
        if not places or stop != at + 1:
            yield from ((n,) for n in _numbers(unit, at, stop, program))
            return
        places += [i + 3 for i in unit.find(unit.t[at]) if i < at and unit.t[i + 1 : i + 3] == ["=", "dim3"]]
        opener = max(places)
    axes_ = _set_by_axis(unit, unit.t[at], opener, at, program)
    if unit.tok(opener) in ("(", "{") and unit.match[opener] >= 0:
        parts = unit.split_args(opener + 1, unit.match[opener])
        told = [_numbers(unit, unit.lexed.at(x.start), unit.lexed.at(x.end), program) for x in parts]
        yield from product(*(axes_.get(a, told[n] if n < len(told) else (1,)) for n, a in enumerate("xyz")))
    elif axes_:
        yield from product(*(axes_.get(a, (1,)) for a in "xyz"))


def _set_by_axis(
    unit: Unit, name: str, after: int, before: int, program: Sequence[Unit]
) -> Mapping[str, Collection[int]]:
    """What the axes of a `dim3` variable are set to last between two tokens: `block.y = 8;`."""
    out = {}
    for i in unit.between(after, before, name):
        if unit.t[i + 1] == "." and unit.tok(i + 3) == "=":
            stop = _end(unit, i + 4)
            out[unit.t[i + 2]] = _numbers(unit, i + 4, stop, program)
    return out


def _end(unit: Unit, first: int) -> int:
    """The end of an expression that begins a statement's rest."""
    stop = first
    while stop < len(unit.t) and unit.t[stop] not in (";", "{", "}"):
        stop += 1
    return stop


def _numbers(unit: Unit, first: int, stop: int, program: Sequence[Unit], depth: int = 0) -> Collection[int]:
    """The value of an expression; several of a macro that conditions define differently."""
    n = number(unit, first, stop)
    if n is not None or depth > 2:
        return () if n is None else (n,)
    if stop != first + 1:
        return _computed(unit, first, stop, program, depth) or _chosen(unit, first, stop, program, depth)
    name = unit.t[first]
    values = {v for u in program if u is not unit and (v := named_number(u, name)) is not None}
    if values:
        return values if len(values) == 1 else ()
    values = {v for u in program for m in u.macros.get(name, ()) if (v := number(u, m.first, m.stop)) is not None}
    if values:
        return sorted(values)
    # a variable: what it is set to last
    values_at = [i + 2 for i in unit.find(name) if i < first and unit.tok(i + 1) == "="]
    return _numbers(unit, values_at[-1], _end(unit, values_at[-1]), program, depth + 1) if values_at else ()


def _chosen(unit: Unit, first: int, stop: int, program: Sequence[Unit], depth: int) -> Collection[int]:
    """The numbers that an expression chooses among: 32 of `n < 32 ? n : 32`, and of `min(n, 32)`."""
    e = read_expression(unit, first, stop)
    parts: Sequence[Expr] = ()
    if isinstance(e, Ternary):
        parts = (e.a, e.b)
    elif isinstance(e, CallExpr) and callee(e).rpartition("::")[2] == "min":
        parts = e.args
    places = (tokens(x) for x in parts)
    return sorted({n for a, b in places for n in _numbers(unit, a, b + 1, program, depth + 1)})


def _computed(unit: Unit, first: int, stop: int, program: Sequence[Unit], depth: int) -> Collection[int]:
    """The value of an expression that may use names which other files define."""
    words = []
    for i in range(first, stop):
        if is_identifier(unit.t[i]):
            values = _numbers(unit, i, i + 1, program, depth + 1)
            if len(values) != 1 or unit.tok(i + 1) == "(":
                return ()
            words.append(str(next(iter(values))))
        else:
            words.append(unit.t[i])
    plain = read(" ".join(words), unit.path)
    n = number(plain, 0, len(plain.t))
    return () if n is None else (n,)


def _dynamic(unit: Unit, name: str) -> Iterator[int]:
    for config in _configurations(unit, name):
        if len(config) > 2:
            known = number(unit, unit.lexed.at(config[2].start), unit.lexed.at(config[2].end))
            yield max(known or 0, 0) if known is not None else _SHARED
