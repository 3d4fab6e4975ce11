"""Facts about warps from the headers that a file includes: constants, functions with an argument or result that counts
lanes.

Only headers next to the file or in its include folders are read, and only those with a word such as `lane` in them. A
parameter counts lanes if the function counts lanes with it when its value is 32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.core.files import may_include
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.warp.builtins import LANE_OPERATIONS, SHUFFLES
from cu2port.warp.functions import device_functions
from cu2port.warp.interp import Interpreter
from cu2port.warp.model import Device, constants, make_device
from cu2port.warp.roles import Role
from cu2port.warp.uses import Use
from cu2port.warp.values import UNIFORM, Kind, V

_DEPTH, _FILES, _BYTES = 3, 40, 300_000
_GIVEN = frozenset({Kind.LANE, Kind.WARP, Kind.GLOBAL_WARP, Kind.COUNT, Kind.MASK, Kind.LINEAR, Kind.GLOBAL})
_WARP_WORDS = ("threadIdx", "warp", "Warp", "WARP", "lane", "Lane", "shfl", "32")


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """Facts of headers. `constants`: their values; `widths`: of functions, the positions of the parameters and of the
    template parameters that count lanes; `results`: kinds of what functions return; `collective`: functions that
    reach a cross-lane operation; `whole`: those that reach one over a whole wavefront; `macros`: names of macros."""

    constants: dict[str, int] = field(default_factory=dict)
    widths: dict[str, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)
    results: dict[str, Kind] = field(default_factory=dict)
    collective: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    macros: frozenset[str] = frozenset()


NO_FACTS = HeaderFacts()


def header_facts(unit: Unit) -> HeaderFacts:
    """The facts of all headers of the project that a file reaches."""
    folder = Path(unit.path).parent
    todo = [(i.path, folder, 0) for i in unit.includes if _may_hold_facts(i.path)]
    out = HeaderFacts()
    seen: set[Path] = set()
    while todo and len(seen) < _FILES:
        name, start, depth = todo.pop(0)
        path = find_header(name, start, folder, unit.options.include_dirs)
        if path is None or path in seen:
            continue
        seen.add(path)
        here, further = _header(path, path.stat().st_mtime_ns)
        out = HeaderFacts(
            here.constants | out.constants,
            here.widths | out.widths,
            here.results | out.results,
            here.collective | out.collective,
            here.whole | out.whole,
            here.macros | out.macros,
        )
        if depth < _DEPTH:
            todo += [(x, path.parent, depth + 1) for x in further]
    return out if seen else NO_FACTS


def _may_hold_facts(name: str) -> bool:
    return name.endswith((".cuh", ".h", ".hpp", ".hh", ".cu", ".inl", ".hxx")) and not name.startswith("cuda")


def find_header(name: str, start: Path, top: Path, folders: tuple[str, ...]) -> Path | None:
    """The file of an include: beside the including one, in an include folder, or in a folder above it."""
    if name.startswith("/"):
        return None  # no tree names a place of this machine
    around = [start.resolve(), *(Path(f).resolve() for f in folders), top.resolve()]
    for place in (start, *(Path(f) for f in folders), top, *list(top.parents)[:4]):
        for path in (place / name, place / "include" / name, place / "includes" / name):
            if may_include(path, around) and path.stat().st_size < _BYTES:
                return path.resolve()
    return None


@lru_cache(maxsize=256)
def _header(path: Path, _time: int) -> tuple[HeaderFacts, tuple[str, ...]]:
    """The facts of one header, and what it includes. `_time`: when it was changed, part of the key."""
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError:  # it cannot be read: nothing is known about it
        return NO_FACTS, ()
    unit = Unit(text, load_catalog(), path=str(path))
    further = tuple(i.path for i in unit.includes if i.quoted and _may_hold_facts(i.path))
    if not any(x in text for x in _WARP_WORDS):
        return NO_FACTS, further
    out = HeaderFacts(macros=frozenset(unit.macros))
    for name, at in constants(unit).items():
        value = integer(unit.tok(at)) if unit.tok(at)[:1].isdigit() and unit.tok(at + 1) in (";", "}", ",") else None
        if value is not None:
            out.constants[name] = value
    for name, ms in unit.macros.items():
        for m in ms:
            if m.params is None and m.stop == m.first + 1 and unit.t[m.first][0].isdigit():
                value = integer(unit.t[m.first])
                if value is not None:
                    out.constants.setdefault(name, value)
    _functions(unit, out)
    return out, further


def _guards(u: Use) -> bool:
    """Whether a parameter would separate the first warp of a block from the others."""
    return u.lane is None and u.role is Role.GUARD and u.other in (Kind.THREAD, Kind.LINEAR)


def _functions(unit: Unit, out: HeaderFacts) -> None:
    devices = [make_device(unit, f) for f in device_functions(unit)]
    interp = Interpreter(unit)
    for d in devices:
        interp.devices.setdefault(d.name, []).append(d)
    for d in reversed(devices):  # callees are above their callers: from the bottom up, arguments are known in time
        for p in (*d.params, *d.tparams):
            if p.name and not p.pointer:
                old = d.given.get(p.name)
                src = (p.at, *(old.src if old is not None else ()))
                d.given[p.name] = V(Kind.NUMBER, UNIFORM, 32, src[:6])
        interp.run(d)
    out.collective.update(_collective(_words(unit, devices, set()), LANE_OPERATIONS))
    if not unit.words.isdisjoint(LANE_OPERATIONS):
        narrow = {i for i in unit.find(*SHUFFLES) if has_width(unit, i)}
        out.whole.update(_collective(_words(unit, devices, narrow), LANE_OPERATIONS - {"__syncwarp"}))
    marked = {at for at, uses in interp.uses.items() if any(u.lane or _guards(u) for u in uses)}
    for d in devices:
        params = frozenset(k for k, p in enumerate(d.params) if p.at in marked)
        tparams = frozenset(k for k, p in enumerate(d.tparams) if p.at in marked)
        if params or tparams:
            out.widths.setdefault(d.name, (params, tparams))
        kind = d.result.kind
        if d.returns and kind in _GIVEN and d.name not in LANE_OPERATIONS:
            out.results.setdefault(d.name, kind)


def has_width(unit: Unit, i: int) -> bool:
    """Whether token i is a shuffle with a width of its own, which stays in its part of a wavefront."""
    call = unit.call(i)
    if unit.t[i] not in SHUFFLES or call is None or len(call.args) <= SHUFFLES[unit.t[i]][3]:
        return False
    return unit.text[call.args[-1].start : call.args[-1].end] not in ("64", "warpSize")


def _words(unit: Unit, devices: list[Device], without: set[int]) -> list[tuple[str, set[str]]]:
    """Each function's name and the words of its body, except some tokens."""
    return [
        (d.name, {unit.t[i] for i in range(d.fn.body[0], d.fn.body[1]) if i not in without})
        if without
        else (d.name, set(unit.t[d.fn.body[0] : d.fn.body[1]]))
        for d in devices
    ]


def _collective(words: list[tuple[str, set[str]]], operations: frozenset[str]) -> set[str]:
    """Names all of whose functions hold one of some operations or call one that does."""
    found: set[str] = set()
    grown = True
    while grown:
        known = operations | found
        quiet = {name for name, held in words if not held & known}
        more = {name for name, _ in words} - quiet - found
        found |= more
        grown = bool(more)
    return found
