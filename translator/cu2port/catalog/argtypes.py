"""Of what type an argument is, where functions of one name and one argument count differ in nothing else.

The tokens say it (`&x`, `{...}`, `cudaMemLocation{...}`), or libclang, or the one declaration the file has of the name.
"""

from __future__ import annotations

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import written
from cu2port.syntax.words import PLACEHOLDERS

POINTER, VALUE = "*", "!*"
_OBJECTS = frozenset({"variable", "parameter", "member"})
_UNKNOWN = "__cu2port_any"  # what libclang makes of a CUDA type whose shape the shim does not know


def is_of_type(unit: Unit, span: Span, wanted: str) -> bool | None:
    """Whether an argument is of a type: `*` a pointer or array, `!*` neither, else a struct's name. None: not known."""
    first = unit.lexed.at(span.start)
    stop = first
    while stop < len(unit.t) and unit.p[stop] < span.end:
        stop += 1
    if stop <= first:
        return None
    if wanted not in (POINTER, VALUE):
        return _is_struct(unit, span, first, stop, wanted)
    pointer = _is_pointer(unit, span, first, stop)
    return pointer if pointer is None or wanted == POINTER else not pointer


def _is_pointer(unit: Unit, span: Span, first: int, stop: int) -> bool | None:
    if unit.t[first] == "&":
        return True
    if (cast := _cast(unit, first)) is not None:
        return cast[1] > 0
    asked = _asked(unit, span)
    if asked:
        return asked.endswith(("*", "]"))
    depth = {d for _, d in _declared(unit, first, stop)}
    return depth.pop() > 0 if len(depth) == 1 else None


def _is_struct(unit: Unit, span: Span, first: int, stop: int, wanted: str) -> bool | None:
    if unit.t[first] == "{":
        return True
    if unit.t[first] == wanted or (unit.t[first] == "struct" and unit.tok(first + 1) == wanted):
        return True  # wanted{...}, wanted(...)
    if (cast := _cast(unit, first)) is not None:
        return cast == (wanted, 0)
    asked = _asked(unit, span)
    if asked:
        return asked == wanted
    row = unit.catalog.get(wanted)
    spelled = [w for w in (wanted, row.hip if row is not None else "") if w in unit.words]
    if not spelled:
        return False  # a file that never names the struct has no object of it, and where it has, the compiler says so
    if stop == first + 1 and (not is_identifier(unit.t[first]) or unit.catalog.get(unit.t[first]) is not None):
        return False  # a number, or the name of one: `cudaCpuDeviceId`
    found = {(n, d) == (wanted, 0) for n, d in _declared(unit, first, stop)}
    if len(found) == 1:
        return found.pop()
    # every object of the struct is in another branch (`#if CUDART_VERSION >= 13000`)
    return False if all(_excludes(unit, unit.p[k], span.start) for k in unit.find(*spelled)) else None


def _excludes(unit: Unit, a: int, b: int) -> bool:
    """Whether two byte offsets are in branches that are never compiled together: `#if X`, and `#else` of an `#if X`."""
    first, second = _conditions(unit, a), _conditions(unit, b)
    return any((text, not holds) in second for text, holds in first)


def _conditions(unit: Unit, offset: int) -> set[tuple[str, bool]]:
    """The conditions around a byte offset, and whether each holds there: those of the branches before it do not."""
    out = set()
    for g in unit.conditions(offset):
        for opener in g.chain:
            d = unit.directives[opener]
            if d.keyword in ("if", "elif", "ifdef"):
                out.add((" ".join(unit.t[d.first + 2 : d.stop]), opener == g.opener))
            if opener == g.opener:
                break
    return out


def _asked(unit: Unit, span: Span) -> str:
    """libclang's answer, without `const` and references; "" for none."""
    facts = unit.ask(spans=((span.start, span.end),))
    expr = facts.exprs.get((span.start, span.end)) if facts is not None else None
    if expr is None or not expr.type or _UNKNOWN in expr.type or "dependent" in expr.type:
        return ""
    return expr.type.removeprefix("const ").removesuffix("&").rstrip()


def _cast(unit: Unit, first: int) -> tuple[str, int] | None:
    """(type, pointers) of a cast at token `first`: `(T *)x`; None if there is none."""
    close = unit.match[first] if unit.t[first] == "(" else -1
    inside = unit.t[first + 1 : close] if close > first else []
    words = [x for x in inside if x not in ("*", "const", "struct", "::")]
    if not words or not all(map(is_identifier, words)):
        return None
    if close + 1 >= len(unit.t) or not (is_identifier(unit.t[close + 1]) or unit.t[close + 1] in ("{", "&", "(")):
        return None
    return words[-1], inside.count("*")


def _declared(unit: Unit, first: int, stop: int) -> set[tuple[str, int]]:
    """(type, pointers and arrays left) of the variable an argument names, for every declaration of that name."""
    last = stop - 1
    strip = 0
    while unit.t[last] == "]" and unit.match[last] > first:
        strip += 1
        last = unit.match[last] - 1
    if unit.t[first] == "*":
        strip += 1
    if not is_identifier(unit.t[last]) or any(x in ("+", "-", "?", "(") for x in unit.t[first:last]):
        return set()
    out = set()
    for d in unit.declarations.named(unit.t[last]):
        if d.kind in _OBJECTS:
            type_ = written(unit.t, d)
            out.add((type_.name, type_.indirections - strip))
    return {(name, depth) for name, depth in out if name not in PLACEHOLDERS}
