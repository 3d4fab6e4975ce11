"""Which functions of a file run on the GPU."""

from __future__ import annotations

import string

from cu2port.core.late import regex
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit

_DEVICE = frozenset({"__global__", "__device__"})
_INDEX = frozenset({"threadIdx", "blockIdx", "__shared__"})
_ON_DEVICE = _DEVICE | _INDEX
_SPOKEN = ("DEVICE", "GLOBAL", "KERNEL")
_SPEAKS = regex("|".join(_SPOKEN))  # of macros that say where a function runs
_SPOKEN_NAME = regex(rf"[^a-z]*(?:{'|'.join(_SPOKEN)})[^a-z]*\Z")
_CAPITALS = string.ascii_uppercase + "_"


def is_device(unit: Unit, f: Function) -> bool:
    """Whether a function runs on the GPU: by its specifiers, by a macro that says so, or by what it uses."""
    if f.sides:
        return bool(f.sides & _DEVICE)
    t = unit.t
    if any(x.isupper() and _SPEAKS.search(x) for x in t[f.first : f.name_at]):
        return True
    # the index of a thread of a program's own, `int threadIdx`, has no members
    return any(t[k] == "__shared__" or t[k + 1] == "." for k in unit.between(*f.body, *_INDEX))


def device_functions(unit: Unit) -> tuple[Function, ...]:
    """The file's functions that run on the GPU."""
    return unit.once(_device_functions)


def _device_functions(unit: Unit) -> tuple[Function, ...]:
    words = unit.words
    spoken = any(x in unit.text for x in _SPOKEN) and unit.may_match(_SPOKEN_NAME, _CAPITALS)
    if words.isdisjoint(_ON_DEVICE) and not (spoken and any(w.isupper() and _SPEAKS.search(w) for w in words)):
        return ()
    return tuple(f for f in unit.functions if is_device(unit, f))
