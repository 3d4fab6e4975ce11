"""The symbols of an object file in ELF, and how far they are seen."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cu2port.project.tree import CannotRun

_SYMBOL = struct.Struct("<IBBHQQ")  # name, type and binding, visibility, section, value, size
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOLS = 2  # a section's type
_WEAK, _FUNCTION, _PROTECTED = 2, 2, 3


class Symbol(NamedTuple):
    """`is_kernel`: it has the visibility that the simulator gives kernels."""

    name: str
    size: int
    is_function: bool
    is_local: bool
    is_weak: bool
    is_defined: bool
    is_kernel: bool


def symbols(obj: Path) -> list[Symbol]:
    """The symbols with names of an object. Raises CannotRun where it is no object in ELF of 64 bits."""
    data = obj.read_bytes()
    return [s for _, s in _symbols(data, obj) if s.name]


def machine(obj: Path) -> int:
    """The number that ELF has for the processor of an object."""
    return int.from_bytes(obj.read_bytes()[18:20], "little")


def made_visible(obj: Path) -> None:
    """Give kernels the visibility of other functions."""
    data = bytearray(obj.read_bytes())
    for at, s in _symbols(bytes(data), obj):
        if s.is_kernel:
            data[at + 5] = 0
    obj.write_bytes(data)


def _symbols(data: bytes, obj: Path) -> Iterator[tuple[int, Symbol]]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise CannotRun(f"{obj}: no object in ELF of 64 bits")
    try:
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        if not count:  # more than 65,279 sections: the first one has their number
            count = _SECTION.unpack_from(data, start)[5]
        sections = [_SECTION.unpack_from(data, start + n * size) for n in range(count)]
        for _, kind, _, _, first, length, link, _, _, _ in sections:
            if kind != _SYMBOLS:
                continue
            names = sections[link][4]
            for at in range(first, first + length, _SYMBOL.size):
                name, info, seen, section, _, extent = _SYMBOL.unpack_from(data, at)
                begin = names + name
                shown = data[begin : data.index(0, begin)].decode("utf-8", "surrogateescape")
                is_function = info & 15 == _FUNCTION
                is_kernel = is_function and seen == _PROTECTED and section != 0
                yield (
                    at,
                    Symbol(shown, extent, is_function, info >> 4 == 0, info >> 4 == _WEAK, section != 0, is_kernel),
                )
    except (struct.error, IndexError, ValueError) as e:
        raise CannotRun(f"{obj}: no object in ELF that can be read") from e
