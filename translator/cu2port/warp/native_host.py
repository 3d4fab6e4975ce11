"""What the host says of a kernel's blocks, as far as its launches are seen."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from cu2port.lexer import is_identifier
from cu2port.model import Span
from cu2port.structure import Function, Launch
from cu2port.unit import Unit
from cu2port.warp.native_idioms import Refused
from cu2port.warp.parse import integer

_NUMBERS = frozenset("int unsigned size_t uint32_t int32_t uint64_t int64_t auto long uint".split())
_BEFORE = frozenset({"return", "const", "constexpr", "else", "case"})
SOURCES = frozenset({".cu", ".hip", ".cpp", ".cc"})


def launches_of(unit: Unit, f: Function) -> list[Launch]:
    """The launches of a kernel in its file."""
    return [x for x in unit.launches if f.name in unit.t[x.callee : x.open]]


def launched_otherwise(unit: Unit, f: Function) -> bool:
    """Whether a kernel's name is used for more than its launches."""
    found = launches_of(unit, f)
    named = [i for i in unit.find(f.name) if i != f.name_at and not any(x.callee <= i < x.open for x in found)]
    return any(unit.in_directive(i) is not None or unit.function_at(i) is not None for i in named)


def shown(unit: Unit, f: Function) -> Refused | None:
    """Why other files may launch a kernel: a header that the file includes names it; None if none does."""
    folder = Path(unit.path).parent
    for inc in unit.includes:
        path = folder / inc.path
        if inc.quoted and path.is_file():
            unit.asked = True
            if re.search(rb"\b%s\b" % f.name.encode("latin-1"), path.read_bytes()):
                return Refused(unit.lexed.at(inc.start), f"`{inc.path}` names it, so that other files may launch it")
    return None


def in_one_row(unit: Unit, f: Function) -> Refused | None:
    """Why a kernel's blocks may have more than one row of threads; None if all launches are seen to have one."""
    if PurePosixPath(unit.path).suffix.lower() not in SOURCES:
        return Refused(f.name_at, "its launches are in other files")
    if launched_otherwise(unit, f):
        return Refused(f.name_at, "it is launched in other ways")
    if (named := shown(unit, f)) is not None:
        return named
    found = launches_of(unit, f)
    if not found:
        return Refused(f.name_at, "no launch of it is seen")
    for x in found:
        spans = unit.split_args(x.config_first, x.close)
        if len(spans) < 2 or not _is_row(unit, spans[1], x):
            return Refused(x.open, "its blocks may have more than one row of threads")
    return None


def _is_row(unit: Unit, span: Span, launch: Launch) -> bool:
    """Whether the size of a block is a number, or has one dimension."""
    first, last = unit.lexed.at(span.start), unit.lexed.at(span.end)
    words = unit.t[first:last]
    if words[:1] == ["dim3"]:
        return unit.tok(first + 1) in ("(", "{") and len(unit.split_args(first + 2, unit.match[first + 1])) == 1
    names = [w for w in words if is_identifier(w)]
    if len(words) == 1 and integer(words[0]) is not None:
        return True
    return all(_is_number(unit, w, launch) for w in names) and bool(words)


def _is_number(unit: Unit, name: str, launch: Launch) -> bool:
    """Whether a name stands for a number, or for a block of one row."""
    if name in unit.macros:
        return all(
            all(not is_identifier(w) or w in unit.macros for w in unit.t[m.first : m.stop]) for m in unit.macros[name]
        )
    seen = False
    for i in unit.find(name):
        before = unit.tok(i - 1)
        if before == "dim3":
            if unit.tok(i + 1) not in ("(", "{", "="):
                return False
            at = i + 1
            if unit.t[at] == "=":
                at = i + 3
                if unit.tok(i + 2) != "dim3":
                    return False
            if unit.tok(at) not in ("(", "{") or len(unit.split_args(at + 1, unit.match[at])) != 1:
                return False
            seen = True
        elif before in _NUMBERS:
            seen = True
        elif (is_identifier(before) and before not in ("return", "const", "constexpr", "else", "case")) or unit.tok(
            i + 1
        ) == ".":
            return False
    return seen
