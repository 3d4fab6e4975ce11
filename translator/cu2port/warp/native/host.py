"""What the host says of a kernel's blocks, as far as its launches are seen."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from cu2port.core.files import may_include
from cu2port.core.model import Span
from cu2port.facts.structure import Function, Launch
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import CallExpr, callee
from cu2port.warp.model import is_device
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.reasons import Reason, Refused

_NUMBERS = frozenset("int unsigned size_t uint32_t int32_t uint64_t int64_t long uint".split())
_BEFORE = frozenset({"return", "const", "constexpr", "else", "case"})
SOURCES = frozenset({".cu", ".hip", ".cpp", ".cc"})


def launches_of(unit: Unit, f: Function) -> list[Launch]:
    """The launches of a kernel in its file."""
    return [x for x in unit.launches if f.name in unit.t[x.callee : x.open]]


def launched_otherwise(unit: Unit, f: Function) -> bool:
    """Whether a kernel's name is used for more than its launches, its definitions and declarations."""
    found = launches_of(unit, f)
    named = [i for i in unit.find(f.name) if i != f.name_at and not any(x.callee <= i < x.open for x in found)]
    if any(g.name == f.name and not is_device(unit, g) for g in unit.functions):
        named = [i for i in named if unit.tok(i + 1) != "("]  # a call of that one: no kernel is called so
    return any(
        unit.in_directive(i) is not None or unit.function_at(i) is not None or not _is_declaration(unit, i)
        for i in named
    )


def _is_declaration(unit: Unit, i: int) -> bool:
    """Whether a kernel's name is in `void kernel(`, with arguments of its template or without."""
    k = i + 1
    if unit.tok(k) == "<":
        k = unit.angle_close(k) + 1
    return unit.tok(k) == "(" and (unit.tok(i - 1) == "void" or unit.tok(i - 1) == ")")


def shown(unit: Unit, f: Function) -> Refused | None:
    """Why other files may launch a kernel: a header that the file includes names it; None if none does."""
    folder = Path(unit.path).parent
    for inc in unit.includes:
        path = folder / inc.path
        if inc.quoted and not inc.path.startswith("/") and may_include(path, (folder.resolve(),)):
            unit.asked = True
            if re.search(rb"\b%s\b" % f.name.encode("latin-1"), path.read_bytes()):
                return Refused(unit.lexed.at(inc.start), Reason.NAMED, (inc.path,))
    return None


def in_rows(unit: Unit, f: Function, dims: int) -> Refused | None:
    """Why a kernel's blocks may have more than so many dimensions; None if all launches are seen to have no more."""
    if PurePosixPath(unit.path).suffix.lower() not in SOURCES:
        return Refused(f.name_at, Reason.LAUNCHES)
    if launched_otherwise(unit, f):
        return Refused(f.name_at, Reason.LAUNCHED)
    if (named := shown(unit, f)) is not None:
        return named
    found = launches_of(unit, f)
    if not found:
        return Refused(f.name_at, Reason.NO_LAUNCH)
    for x in found:
        spans = unit.split_args(x.config_first, x.close)
        if len(spans) < 2 or not is_row(unit, spans[1], x, dims):
            what = "one row of threads" if dims == 1 else "two dimensions"
            return Refused(x.open, Reason.SHAPE, (what,))
    return None


def in_whole_warps(unit: Unit, facts: Facts, f: Function) -> Refused | None:
    """Why a kernel's blocks are no whole warps, of which CUDA leaves out the last where it divides by 32; None if no
    launch is seen to have such blocks."""
    for x in launches_of(unit, f):
        spans = unit.split_args(x.config_first, x.close)
        if len(spans) < 2:
            continue
        block = read_expression(unit, unit.lexed.at(spans[1].start), unit.lexed.at(spans[1].end))
        if isinstance(block, CallExpr) and callee(block) == "dim3" and len(block.args) == 1:
            block = block.args[0]
        n = facts.number(block)
        if n is not None and n % 32:
            return Refused(x.open, Reason.PARTIAL)
    return None


def is_row(unit: Unit, span: Span, launch: Launch, dims: int) -> bool:
    """Whether the size of a block is a number, or has no more than so many dimensions."""
    first, last = unit.lexed.at(span.start), unit.lexed.at(span.end)
    words = unit.t[first:last]
    if words[:1] == ["dim3"]:
        return unit.match[first + 1] == last - 1 and _few(unit, first + 1, dims)
    if not words or "{" in words or "dim3" in words:
        return False
    return all(_is_number(unit, i, dims) for i in range(first, last) if is_identifier(unit.t[i]))


def _few(unit: Unit, open_at: int, dims: int) -> bool:
    """Whether brackets hold one number, or up to `dims` of them."""
    if unit.tok(open_at) not in ("(", "{") or unit.match[open_at] < 0:
        return False
    inner = unit.t[open_at + 1 : unit.match[open_at]]
    args = unit.split_args(open_at + 1, unit.match[open_at])
    if len(args) == 1 and any(is_identifier(w) for w in inner):
        return not {"dim3", "auto"} & set(inner) and (dims > 1 or not _holds_block(unit, inner))
    sizes = [unit.text[x.start : x.end].strip() for x in args]
    while len(sizes) > 1 and sizes[-1] in ("1", "1u", "1U"):  # (256, 1, 1) has one row
        sizes.pop()
    return len(sizes) <= dims


def _holds_block(unit: Unit, words: list[str]) -> bool:
    """Whether one of the names may stand for a block: it is declared as one somewhere."""
    return any(unit.tok(i - 1) in ("dim3", "auto", "&", "*") for w in words if is_identifier(w) for i in unit.find(w)
               if unit.tok(i - 1) in ("dim3", "auto") or unit.tok(i - 2) in ("dim3", "auto"))  # fmt: skip


def _is_number(unit: Unit, at: int, dims: int) -> bool:
    """Whether a name stands for a number, or for a block of no more than so many dimensions."""
    name = unit.t[at]
    if name in unit.macros:
        return all(
            all(not is_identifier(w) or w in unit.macros for w in unit.t[m.first : m.stop]) for m in unit.macros[name]
        )
    if unit.is_member(at):
        return False
    called = unit.tok(at + 1) == "("
    block = seen = False
    for i in unit.find(name):
        before = unit.tok(i - 1)
        if before in ("dim3", "auto") or (before in ("&", "*") and unit.tok(i - 2) in ("dim3", "auto")):
            if called or before not in ("dim3", "auto"):
                return False
            block = True
            opener = i + 1
            if unit.tok(opener) == "=":
                opener = i + 3
                if unit.tok(i + 2) != "dim3":
                    number = before == "auto" and integer(unit.tok(i + 2)) is not None and unit.tok(i + 3) == ";"
                    if not number:
                        return False
                    seen = True
                    continue
            elif before == "auto":
                return False
            if not _few(unit, opener, dims):
                return False
            seen = True
        elif before in _NUMBERS:
            seen = True
        elif (is_identifier(before) and before not in _BEFORE) or unit.tok(i + 1) == ".":
            return False
    if block and not all(_is_only_launched(unit, i) for i in unit.find(name)):
        return False  # it may be changed
    return seen


def _is_only_launched(unit: Unit, i: int) -> bool:
    """Whether a block's size is declared at a token or given to a launch there."""
    return unit.tok(i - 1) in ("dim3", "auto") or any(x.config_first <= i < x.close for x in unit.launches)
