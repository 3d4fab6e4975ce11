"""HIP's runtime header is compiled once for the units of a run that begin with it.

It is most of what a compiler reads for a small kernel. A unit qualifies where nothing but comments and headers of the
standard library precedes its `#include <hip/hip_runtime.h>`: with that header first it means the same. A unit that does
not compile so is compiled again without it, so that all errors are those of the text as it is.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from cu2port.core.files import read_regular
from cu2port.facts.std_headers import STD_HEADERS
from cu2port.verify.running import Runner
from cu2port.verify.units import HIP, Unit

_FEWEST = 3  # units that it is made for: making it takes as long as reading it twice
_BLANK = re.compile(rb"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_INCLUDED = re.compile(rb"#[ \t]*+include[ \t]*+<([\w./+]++)>")
_RUNTIME = "hip/hip_runtime.h"
_WITH_MACROS = frozenset({"complex.h", "tgmath.h", "windows.h"})  # of names that HIP's headers have too
_Key = tuple[str, tuple[str, ...]]  # where the compiler runs, and flags
_FIRST = frozenset({"-include", "-imacros", "-include-pch"})  # what comes before a unit's own text


def begins_with_runtime(data: bytes) -> bool:
    """Whether only comments and headers of the standard library precede the runtime's header."""
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while (m := _INCLUDED.match(data, blank.end() if (blank := _BLANK.match(data, at)) else at)) is not None:
        name = os.fsdecode(m[1])
        if name == _RUNTIME:
            return True
        if name not in STD_HEADERS or name in _WITH_MACROS:
            return False
        at = m.end()
    return False


class Precompiled:
    """Precompiled headers of one run, in `folder`: one for each target and set of flags that several units have."""

    def __init__(self, runner: Runner, folder: str, units: Sequence[Unit]) -> None:
        self._runner = runner
        self._folder = folder
        fit = [u for u in units if _qualifies(u)]
        counts = Counter(map(_key, fit))
        self._units = frozenset(u for u in fit if counts[_key(u)] >= _FEWEST)
        self._made: dict[tuple[str, _Key], list[str]] = {}
        self._lock = Lock()  # one is made at a time
        if self._units:
            self._header.write_text(f"#include <{_RUNTIME}>\n")

    @property
    def _header(self) -> Path:
        return Path(self._folder, "runtime.hip")

    def options(self, unit: Unit, target: str, words: Sequence[str]) -> list[str]:
        """The options by which a unit is compiled with the header. `words`: the command up to the unit's own flags,
        without what it writes. Raises OSError where the compiler cannot be run."""
        if unit not in self._units:
            return []
        key = (target, _key(unit))
        with self._lock:
            if key not in self._made:
                made = f"{self._folder}/runtime-{len(self._made)}.pch"
                command = [*words, *unit.flags, "-Xclang", "-emit-pch", "-S", "-o", made, str(self._header)]
                done = self._runner.run(command, unit.folder).code == 0 and Path(made).is_file()
                self._made[key] = ["-include-pch", made] if done else []
            return self._made[key]


def _key(unit: Unit) -> _Key:
    return unit.folder, unit.flags


def _qualifies(unit: Unit) -> bool:
    if unit.language != HIP or unit.compiler or not _FIRST.isdisjoint(unit.flags):
        return False
    try:
        return begins_with_runtime(read_regular(unit.path))
    except OSError:
        return False
