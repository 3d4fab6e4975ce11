"""How a call changes as its row says: arguments one by one, or the whole call by a template."""

from __future__ import annotations

import re

from cu2port.catalog.includes import for_host
from cu2port.catalog.uses import Use
from cu2port.core.late import regex
from cu2port.core.model import Edit, Side, Span, insert, replace
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_string

_PLACEHOLDER = regex(r"\{(-?\d+)(\*?)\}|\{\*\}|\{<>\}")
_CAST = regex(r"reinterpret_cast<([\w *]+)>\(\Z")


def rewritten_call(unit: Unit, use: Use, call: Call, rename: tuple[Edit, ...]) -> tuple[Edit, ...] | None:
    """Edits that change a call as its row says, keeping the bytes of every argument; None if they do not fit."""
    row = use.row
    count = len(call.args)
    if row.call:
        parts = _parts(row.call, call, Span(unit.end(use.last), unit.p[call.open]))
        if parts is None:
            return None
        return (Edit(unit.p[use.first], unit.end(call.close), parts),)
    edits = list(rename)
    for index, pairs in row.values:
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            return None
        span = call.args[at]
        instead = dict(pairs).get(unit.text[span.start : span.end])
        if instead is not None:
            edits.append(replace(span.start, span.end, instead))
    for index, template in row.args:
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            return None
        span = call.args[at]
        if "HIP_SYMBOL" in template and is_string(unit.tok(unit.lexed.at(span.start))):
            # Symbols named by strings went with CUDA 5; the variable of that name is what was meant, and where it
            # cannot be seen the compiler says so.
            symbol = unit.text[span.start : span.end].strip('"')
            if not symbol.isidentifier():
                return None
            edits.append(replace(span.start, span.end, template.replace("{" + str(index) + "}", symbol)))
            continue
        if "HIP_SYMBOL" in template and for_host(unit):
            continue  # only the compiler of HIP has the macro, which is its argument
        own = "{" + str(index) + "}"
        before, middle, after = template.partition(own)
        if middle and "{" not in before and "{" not in after:
            if before and not _is_cast_to(unit.text[span.start : span.end], before):
                edits.append(insert(span.start, before, Side.RIGHT))
                edits.append(insert(span.end, after, Side.LEFT))
            elif after and not before:
                edits.append(insert(span.end, after, Side.LEFT))
            continue
        parts = _parts(template, call)
        if parts is None:
            return None
        edits.append(Edit(span.start, span.end, parts))
    return tuple(edits)


def _is_cast_to(argument: str, opening: str) -> bool:
    """Whether an argument is already what `reinterpret_cast<T>(` would make of it; `(T)x` counts, and `nullptr`, which
    C++ does not let it take."""
    if argument.startswith(opening):
        return True
    cast = _CAST.match(opening)
    if cast is not None and argument == "nullptr":
        return True
    wanted = "(" + re.sub(r"\s", "", cast[1]) + ")" if cast is not None else ""
    return bool(wanted) and re.sub(r"\s", "", argument[: 4 * len(wanted)]).startswith(wanted)


def _parts(template: str, call: Call, angled: Span | None = None) -> tuple[str | Span, ...] | None:
    """A template as literal text and kept spans; None if it names an argument that the call lacks.

    `angled`: the template arguments as written, with their brackets.
    """
    out: list[str | Span] = []
    position = 0
    count = len(call.args)
    for m in _PLACEHOLDER.finditer(template):
        out.append(template[position : m.start()])
        position = m.end()
        if m.group() == "{<>}":
            if angled is None or angled.end <= angled.start:
                return None
            out.append(angled)
            continue
        if m.group(1) is None:
            if count:
                out.append(Span(call.args[0].start, call.args[-1].end))
            continue
        n = int(m.group(1))
        n = n + count if n < 0 else n
        if m.group(2):
            if n < count:
                out.append(Span(call.args[n].start, call.args[-1].end))
            elif out and isinstance(out[-1], str):
                out[-1] = out[-1].rstrip().removesuffix(",")
            continue
        if not 0 <= n < count:
            return None
        out.append(call.args[n])
    out.append(template[position:])
    return tuple(x for x in out if x != "")
