"""The kernels of a program: parameters, and what launches and other uses tell of blocks and template arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cu2port.core.model import Span
from cu2port.engine.blocks import extents, number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

#: What the names of parameters suggest, see `Spec` in trial.h; the first that fits counts.
_ROLES = (
    ("o", r"off(set)?s?|.*_offsets?|row_?ptrs?|indptr|row_?offsets?|row_?starts?|.*rowptr"),
    ("k", r"k|.*iter.*|.*steps?|radius|.*levels?|depth|.*times|repeat|n?rounds?|order|.*dim|dims?"),
    ("s", r"stride.*|.*stride|.*pitch|ld[a-z]?"),
    ("w", r"w|.*width|.*cols?|nx|dimx|columns|imgw|size_?x|.*_w"),
    ("h", r"h|.*height|.*rows?|ny|dimy|imgh|size_?y|.*_h"),
    ("d", r"nz|dimz|size_?z|.*_d"),
    ("n", r"n|num.*|.*size|.*len(gth)?|.*count|.*total.*|n_?[a-z]+|.*elem(ent)?s?|.*points|m"),
)
_DEFAULTS = {1: ((256, 1, 1), (128, 1, 1), (64, 1, 1)), 2: ((16, 16, 1), (32, 8, 1)), 4: ((8, 8, 4), (4, 4, 4))}
_MOST_THREADS = 1024
_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_SHARED = 16384  # bytes, where no launch tells


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `__global__` function. `path`: its name with its namespaces; `arguments`: of its template, as they are
    written, "" without template; `roles`: what the name of each parameter suggests, see `Spec` in trial.h; `blocks`:
    extents of blocks that launches give, else usual ones; `dynamic`: bytes of shared memory of a launch."""

    name: str
    path: str
    line: int
    parameters: tuple[str, ...]
    roles: str
    arguments: str
    blocks: tuple[tuple[int, int, int], ...]
    is_block_known: bool
    dynamic: int

    @property
    def shown(self) -> str:
        return f"{self.path}{self.arguments}"


@dataclass(frozen=True, slots=True)
class Unclear:
    """A kernel that cannot be tried, and why."""

    path: str
    line: int
    why: str


def find_kernels(unit: Unit, program: Sequence[Unit]) -> Iterator[Kernel | Unclear]:
    """The kernels that a file defines; launches are looked for in all files of the program."""
    for f in unit.functions:
        if "__global__" not in f.sides:
            continue
        line = unit.text.count("\n", 0, unit.p[f.name_at]) + 1
        if unit.in_directive(f.name_at) is not None:
            yield Unclear(f.name, line, "a macro defines it")
            continue
        d = unit.declarations.declared_at(f.name_at)
        space = d.scope.path if d is not None else ""
        path = f"{space}::{f.name}" if space else f.name
        arguments = _arguments(unit, f, program)
        if arguments is None:
            yield Unclear(path, line, "template: no use tells its arguments")
            continue
        names = tuple(_parameters(unit, f))
        seen = sorted({b for u in program for b in _blocks(u, f.name)})
        blocks = tuple(seen) or _defaults(unit, f)
        dynamic = max((b for u in program for b in _dynamic(u, f.name)), default=_SHARED)
        yield Kernel(f.name, path, line, names, "".join(map(_role, names)), arguments, blocks, bool(seen), dynamic)


def _parameters(unit: Unit, f: Function) -> Iterator[str]:
    for span in unit.split_args(f.params[0] + 1, f.params[1]):
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        end = next((i for i in range(first, stop) if unit.t[i] in ("=", "[")), stop)
        names = [unit.t[i] for i in range(first, end) if is_identifier(unit.t[i])]
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
        if name in callee and callee[0] != "<":
            yield unit.split_args(launch.config_first, launch.close)


def _blocks(unit: Unit, name: str) -> Iterator[tuple[int, int, int]]:
    for config in _configurations(unit, name):
        known = extents(unit, config[1]) if len(config) > 1 else None
        if known:
            x, y, z = (*known, 1, 1)[:3]
            if 0 < x * y * z <= _MOST_THREADS:
                yield x, y, z


def _dynamic(unit: Unit, name: str) -> Iterator[int]:
    for config in _configurations(unit, name):
        if len(config) > 2:
            known = number(unit, unit.lexed.at(config[2].start), unit.lexed.at(config[2].end))
            yield max(known or 0, 0) if known is not None else _SHARED


# --- template arguments ------------------------------------------------------------------------------------------


def _arguments(unit: Unit, f: Function, program: Sequence[Unit]) -> str | None:
    """The arguments of the kernel's template: "" without one, None where nothing tells them."""
    if unit.t[f.first] != "template":
        return ""
    if unit.tok(f.first + 2) == ">":
        return None  # a specialisation: its primary template is tried
    for u in program:
        for i in u.find(f.name):
            if u.tok(i + 1) == "<" and (i < f.first or i > f.body[1] or u is not unit):
                close = u.angle_close(i + 1)
                given = _given(u, i + 2, close) if close > 0 else None
                if given is not None:
                    return given
    return _usual(unit, f)


def _given(unit: Unit, first: int, stop: int) -> str | None:
    out = []
    for span in unit.split_args(first, stop):
        a, b = unit.lexed.at(span.start), unit.lexed.at(span.end)
        text = _known_argument(unit, a, b)
        if text is None:
            return None
        out.append(text)
    return f"<{', '.join(out)}>" if out else None


def _known_argument(unit: Unit, first: int, stop: int) -> str | None:
    """An argument that means the same at the end of the file."""
    local = False
    for i in range(first, stop):
        if is_identifier(unit.t[i]) and unit.tok(i - 1) not in ("::", ".", "->"):
            d = unit.declarations.visible(unit.t[i], i)
            if d is not None and d.kind == "template parameter":
                is_type = unit.t[d.first] in ("typename", "class")
                return "float" if is_type and stop == first + 1 else None
            local = local or (d is not None and d.scope.local)
    if not local:
        return unit.source(first, stop)
    n = number(unit, first, stop)
    return None if n is None else str(n)


def _usual(unit: Unit, f: Function) -> str | None:
    """`float` for an unconstrained type parameter; None for a number without a default."""
    close = unit.angle_close(f.first + 1)
    out = []
    for span in unit.split_args(f.first + 2, close) if close > 0 else ():
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        if "=" in unit.t[first:stop]:
            break
        if unit.t[first] not in ("typename", "class") or "..." in unit.t[first:stop] or stop - first > 2:
            return None
        out.append("float")
    return f"<{', '.join(out)}>" if out else "<>"
