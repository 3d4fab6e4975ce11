"""The GPU's variables that a kernel names: which ones get a value, and definitions of those that other units define."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cu2port.facts.unit import Unit
from cu2port.syntax.scopes import Declaration
from cu2port.verify.shared_vars import declared
from cu2port.verify.trial.slices import Entity, kept

_MEMORY = frozenset({"__device__", "__constant__", "__managed__"})
_ELEMENTS = "4096"  # of an array whose extent another unit has


def listed(units: Sequence[Unit], seen: frozenset[str]) -> Iterator[str]:
    """The variables, as the program names them; those without a value get one."""
    filled: dict[str, bool] = {}
    for unit in units:
        for e, d in _variables(unit, seen):
            words = unit.t[e.first : e.stop]
            if "template" not in words:
                filled[_full(d)] = filled.get(_full(d), True) and "=" not in words
    for name, is_filled in filled.items():
        yield f'cu2port_trial::cu2port_global("{name.rpartition("::")[2]}", {name}, {str(is_filled).lower()})'


def definitions(units: Sequence[Unit], seen: frozenset[str]) -> Iterator[str]:
    """Definitions of variables that are declared `extern`, and that no file here defines."""
    all_ = [(u, e, d) for u in units for e, d in _variables(u, seen)]
    known = {_full(d) for u, e, d in all_ if "extern" not in u.t[e.first : e.stop] or "=" in u.t[e.first : e.stop]}
    for unit, e, d in all_:
        if _full(d) in known:
            continue
        known |= {_full(x) for u, f, x in all_ if u is unit and f.first == e.first}
        words = [
            _ELEMENTS + x if x == "]" and unit.t[e.first + i - 1] == "[" else x
            for i, x in enumerate(unit.t[e.first : e.stop])
        ]
        text = " ".join(x for x in words if x != "extern" and not x.startswith('"'))
        yield f"namespace {d.scope.path} {{ {text} }}\n" if d.scope.path else f"{text}\n"


def _full(d: Declaration) -> str:
    return f"::{d.scope.path}::{d.name}" if d.scope.path else f"::{d.name}"


def _variables(unit: Unit, seen: frozenset[str]) -> Iterator[tuple[Entity, Declaration]]:
    for e in kept(unit, seen):
        words = unit.t[e.first : e.stop]
        if _MEMORY.isdisjoint(words) or "(" in words[: words.index("=") if "=" in words else len(words)]:
            continue
        if "{" in words and "=" not in words:
            continue
        for i in declared(unit, e.first, e.stop - 1):
            d = unit.declarations.declared_at(i)
            if unit.t[i] in e.names and d is not None:
                yield e, d
