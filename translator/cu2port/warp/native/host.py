"""What the host says of a kernel's blocks, as far as its launches are seen."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path, PurePosixPath

from cu2port.core.files import may_include
from cu2port.facts.blocks import dimensions
from cu2port.facts.structure import Function, Launch
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import CallExpr, callee
from cu2port.warp.functions import is_device
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.reasons import Reason, Refused

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
        found_dims = dimensions(unit, spans[1]) if len(spans) > 1 else None
        if found_dims is None or found_dims > dims:
            what = "one row of threads" if dims == 1 else "two dimensions"
            return Refused(x.open, Reason.SHAPE, (what,))
    return None


def _looks_at_rows(unit: Unit, f: Function) -> bool:
    first, stop = f.body
    return any(unit.t[k : k + 3] == ["threadIdx", ".", "y"] for k in unit.find("threadIdx") if first < k < stop)


def in_whole_warps(unit: Unit, facts: Facts, f: Function) -> Refused | None:
    """Why a kernel's blocks are no whole warps; None if no launch is seen to have such blocks.

    A wavefront that ends inside of a warp has lanes that are not there, where `wave.hpp` takes all of them; and CUDA
    leaves the last warp out of what is divided by 32."""
    for x in launches_of(unit, f):
        spans = unit.split_args(x.config_first, x.close)
        if len(spans) < 2:
            continue
        block = read_expression(unit, unit.lexed.at(spans[1].start), unit.lexed.at(spans[1].end))
        sizes = block.args if isinstance(block, CallExpr) and callee(block) == "dim3" else (block,)
        numbers = [facts.number(size) for size in sizes]
        known = [n for n in numbers if n is not None]
        # a kernel that looks at one dimension alone counts the warps of it
        row = known[:1] if numbers[0] is not None and not _looks_at_rows(unit, f) else []
        if (len(known) == len(numbers) and prod(known) % 32) or any(n % 32 for n in row):
            return Refused(x.open, Reason.PARTIAL)
    return None
