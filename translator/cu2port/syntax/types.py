"""Types as they are written: the words of a declaration, its pointers, references and arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cu2port.syntax.words import BUILTIN_TYPES, CV, RESTRICT, WIDTHS

#: Names of the standard library and of CUDA for built-in types (LP64).
ALIASES = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "uintptr_t": "unsigned long",
    "intptr_t": "long",
    "uint": "unsigned int",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
}
_SPACES = frozenset({"std", "cuda"})  # that hold names of ALIASES


@dataclass(frozen=True, slots=True)
class Type:
    """A type as written. `words`: its names without specifiers and `::`; `pointers`, `arrays`: how many; `reference`:
    `&` or `&&`."""

    words: tuple[str, ...]
    pointers: int = 0
    arrays: int = 0
    reference: bool = False

    @property
    def name(self) -> str:
        """The last word: the type's own name without namespaces; "" if there is none."""
        return self.words[-1] if self.words else ""

    @property
    def indirections(self) -> int:
        """How often a value of it can be followed: pointers and arrays."""
        return self.pointers + self.arrays


def builtin(words: Iterable[str]) -> str:
    """The built-in type that words name, as clang spells it; "" for others. `uint32_t` and `std::size_t` count."""
    names = [w for w in words if w not in _SPACES and w not in CV and w not in RESTRICT]
    if len(names) == 1 and names[0] in ALIASES:
        return ALIASES[names[0]]
    if not names or not all(w in BUILTIN_TYPES for w in names):
        return ""
    bases = [w for w in names if w not in WIDTHS]
    longs = names.count("long")
    base = bases[0] if bases else "int"
    if base == "int":
        base = "short" if "short" in names else ("long " * min(longs, 2)).strip() or "int"
    elif base == "double" and longs:
        base = "long double"
    if "unsigned" in names:
        return f"unsigned {base}"
    return f"signed {base}" if "signed" in names and base == "char" else base


def canonical(type_: Type) -> str | None:
    """The type as clang spells it, if it is built in or a pointer; None for others. References are looked through."""
    if type_.indirections:
        return (
            (builtin(type_.words) or " ".join(w for w in type_.words if w not in _SPACES))
            + " "
            + "*" * (type_.indirections)
        )
    return builtin(type_.words) or None
