"""Device code of a unit is its own unless -rdc links it: what its object defines for others is made local.

Two units may define a function or a variable of one name for the device; headers without `static` do.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from cu2port.facts.unit import Unit
from cu2port.project.tree import CannotRun
from cu2port.verify.shared_vars import declared

_VARIABLES = ("__device__", "__constant__", "__managed__")
_SHOWN = re.compile(r"(?:[^\s(<]*::)?(\w+)(?:\[abi:\w+\])?(?:\(.*)?$")
_GLOBAL = frozenset("TDBRC")  # of nm; templates and inline functions are weak, and merged


def localize_names(obj: Path, units: Iterable[Unit]) -> None:
    """Make the device functions and variables that an object defines local to it. Raises CannotRun."""
    own = device_symbols(obj, units)
    if not own:
        return
    with tempfile.NamedTemporaryFile("w", prefix="cu2port-", suffix=".syms") as listed:
        listed.write("\n".join(own) + "\n")
        listed.flush()
        binutils("objcopy", f"--localize-symbols={listed.name}", str(obj))


def device_symbols(obj: Path, units: Iterable[Unit]) -> list[str]:
    """The symbols of functions and variables that an object defines for the device alone. Raises CannotRun."""
    files = list(units)
    names = {n for u in files for n in _device_names(u)} - {n for u in files for n in _host_names(u)}
    if not names:
        return []
    plain, shown = (_symbols(obj, *words) for words in ((), ("-C",)))
    return [p for p, s in zip(plain, shown, strict=True) if (m := _SHOWN.match(s)) and m[1] in names]


def _symbols(obj: Path, *words: str) -> list[str]:
    lines = (x.split(maxsplit=2) for x in binutils("nm", "--defined-only", *words, str(obj)).splitlines())
    return [x[2] for x in lines if len(x) == 3 and x[1] in _GLOBAL]


def binutils(*command: str) -> str:
    """Run a program of binutils; what it prints. Raises CannotRun."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as e:
        raise CannotRun(f"{command[0]}: {e.strerror}; install binutils") from e
    if done.returncode:
        raise CannotRun(done.stderr.strip() or f"{command[0]} failed")
    return done.stdout


def _host_names(unit: Unit) -> Iterator[str]:
    return (f.name for f in unit.functions if "__host__" in f.sides or "__global__" in f.sides or not f.sides)


def _device_names(unit: Unit) -> Iterator[str]:
    yield from (f.name for f in unit.functions if "__device__" in f.sides and "__host__" not in f.sides)
    for i in unit.find(*_VARIABLES):
        if unit.in_directive(i) is not None or unit.function_at(i) is not None:
            continue
        stop = i
        while stop < len(unit.t) and unit.t[stop] not in (";", "(", "{", "="):
            stop += 1
        if unit.tok(stop) != "(":
            yield from (unit.t[k] for k in declared(unit, i + 1, stop))
