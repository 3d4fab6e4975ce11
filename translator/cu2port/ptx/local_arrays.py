"""Arrays that are locals of a function: where they are named, and whether something may hold their address."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cu2port.facts.computing import numbers_of
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import inner, is_fours, is_pure, place_of
from cu2port.ptx.taken import is_left_out
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import (
    Asm,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Eval,
    Expr,
    Index,
    Jump,
    Member,
    Name,
    Stmt,
    Unary,
    heads,
    walk,
)
from cu2port.syntax.words import QUALIFIERS

_NUMBERS = frozenset({"const", "float", "double", "int", "unsigned", "bool"})
_HALVES = frozenset({"half", "__half", "_Float16"})
_VECTORS = re.compile(r"(?:const)?(?:float|u?int|double|__half|half|__nv_bfloat16)[1-4]?(?:const)?\*\Z")
_ELEMENTS = frozenset({"float", "int", "unsigned", "uint32_t", "int32_t"}) | _HALVES


def is_array(unit: Unit, d: Decl, count: int = 4) -> bool:
    """A local array of its own, whose rows are whole tiles of so many elements."""
    declared = unit.declaration(d.at)
    if declared is None or not d.dims or d.shared or d.volatile or d.pointer or d.reference:
        return False
    words = set(unit.t[declared.type_first : declared.type_stop])
    if words & {"static", "extern", "thread_local", "const"}:
        return False
    count = count if words.isdisjoint(_HALVES) else 2 * count
    return words.isdisjoint(_ELEMENTS) or len(d.dims) == 1 or is_fours(d.dims[-1], numbers_of(unit), count)


def begins_tile(unit: Unit, place: range, at: int, whole: bool = False, structs: bool = False, count: int = 4) -> bool:
    """Whether an expression is the first of `count` elements in a row, or their address, of what token `at` declares:
    an array, a pointer, or a reference to an array. `whole`: or an element that is tiles by itself. `structs`: all are.
    """
    d = unit.declaration(at)
    words = set() if d is None else set(unit.t[d.type_first : d.type_stop])
    count = count if words.isdisjoint(_HALVES) else 2 * count
    k = at + 2 if unit.tok(at + 1) == ")" else at + 1  # (*name)[4]
    dims = 0
    rows = True
    while unit.tok(k) == "[" and unit.match[k] > k:
        close = unit.match[k]
        rows = close > k + 1 and is_fours(read_expression(unit, k + 1, close), numbers_of(unit), count)
        dims, k = dims + 1, close + 1
    before = at - 1
    while unit.tok(before) in QUALIFIERS:
        before -= 1
    if unit.tok(before) == "*":
        if dims and unit.tok(at + 1) != ")":  # an array of pointers
            return False
        dims, rows = dims + 1, rows and dims > 0
    rows = rows or words.isdisjoint(_ELEMENTS)
    outer = e = read_expression(unit, place.start, place.stop)
    todo: list[tuple[Index, int]] = []  # with how often the address of what it is in was taken
    taken = 0
    while isinstance(e, (Binary, Index, Unary, Member)):
        if isinstance(e, Member):
            if not all(is_fours(index.inner) for index, _ in todo):
                return False
            structs, taken = True, 0
            todo.clear()
        elif isinstance(e, Index):
            todo.append((e, taken))
        taken += isinstance(e, Unary)
        e = inner(e)
    level = 0
    for n, (index, above) in enumerate(reversed(todo)):
        level = n + 1 - (taken - above)
        first = structs or (whole and index is outer) or is_fours(index.inner, count=count)
        if level > dims or (level == dims and not first) or (level < dims and not rows):
            return False
    return True


def only(unit: Unit, span: tuple[int, int], name: str, allowed: Iterable[range]) -> bool:
    """Whether a name is in these places alone."""
    places = {i for r in allowed for i in r}
    return places.issuperset(mentions(unit, span, name))


def mentions(unit: Unit, span: tuple[int, int], name: str) -> list[int]:
    """Where a part of a file names a variable, in what HIP's compiler reads."""
    found = unit.find(name)
    inside = found[bisect_left(found, span[0]) : bisect_left(found, span[1])]
    named = (i for i in inside if unit.tok(i - 1) not in (".", "->", "::"))
    return [i for i in named if not is_left_out(unit, unit.p[i])]


@dataclass(frozen=True)
class Named:
    """A function's statements by the names in their own expressions, those of asm apart, whose tokens these are."""

    by_name: Mapping[str, list[Stmt]]
    asms: frozenset[int]


def by_names(whole: Iterable[Stmt]) -> Named:
    """What is looked at once for a function."""
    found: dict[str, list[Stmt]] = {}
    asms: set[int] = set()
    for s in whole:
        if isinstance(s, Asm):
            asms.update(range(s.first, s.last + 1))
        for name in {x.text for head in heads(s) for x in walk(head) if isinstance(x, Name)}:
            found.setdefault(name, []).append(s)
    return Named(found, frozenset(asms))


@dataclass(frozen=True)
class Holders:
    """Where something is given an array's address, by token, with the scopes of pointers: what is given it there does
    not count for a loop that none of one such scope is in."""

    places: Mapping[int, tuple[range, ...]]

    def escapes(self, f: Function, spans: list[range], nested: bool) -> bool:
        """Whether something that a loop may use may hold the array's address: a variable set to it, or a lambda.
        `spans`: the loop, and what it calls."""
        end = f.body[1] if nested else spans[0].start
        return any(
            i < end and not any(i in r for r in spans) and not any(_is_apart(scope, spans) for scope in scopes)
            for i, scopes in self.places.items()
        )


def _is_apart(scope: range, spans: Iterable[range]) -> bool:
    return not any(r.start < scope.stop and scope.start < r.stop for r in spans)


def holders(unit: Unit, f: Function, named: Named, array: Decl) -> Holders:
    """What is looked at once for an array of a function."""
    seen = {array.at}
    gone: dict[int, tuple[range, ...]] = {}
    for s in named.by_name.get(array.name, ()):
        if isinstance(s, Asm):
            continue
        if isinstance(s, Decl) and (s.pointer or s.reference):
            if (scope := _scope_of_elements(unit, named, s)) is not None:
                gone.update((i, (*gone.get(i, ()), scope)) for i in _named(s, array.name))
        elif not isinstance(s, Jump):  # a lambda may return a reference
            seen |= {i for head in heads(s) for i in _elements(unit, head, array.name, len(array.dims))}
        call = s.expr if isinstance(s, Eval) else s.init if isinstance(s, Decl) and _is_number(unit, s) else None
        if isinstance(call, CallExpr):
            given = [arg for arg in call.args if place_of(arg) == array.name]
            seen |= {x.at for arg in given for x in walk(arg) if isinstance(x, Name)}
    others = mentions(unit, f.body, array.name)
    return Holders({i: gone.get(i, ()) for i in others if i not in seen and i not in named.asms})


def _named(s: Stmt, name: str) -> set[int]:
    """Where a statement itself names a variable."""
    return {x.at for head in heads(s) for x in walk(head) if isinstance(x, Name) and x.text == name}


def _is_number(unit: Unit, s: Decl) -> bool:
    """Whether a variable holds no address."""
    d = unit.declaration(s.at)
    return d is not None and not (s.pointer or s.reference) and _NUMBERS.issuperset(unit.t[d.type_first : d.type_stop])


def _scope_of_elements(unit: Unit, named: Named, pointer: Decl) -> range | None:
    """The scope of a pointer that is only used to reach elements; None of others."""
    declared = unit.declaration(pointer.at)
    if declared is None or declared.pointers != 1 or pointer.reference or not declared.scope.local:
        return None
    if pointer.init is None or not is_pure(pointer.init):
        return None
    if "static" in unit.t[declared.type_first : declared.type_stop]:
        return None
    inside = range(declared.scope.first, declared.scope.last + 1)
    within = (s for s in named.by_name.get(pointer.name, ()) if s.at in inside)
    used = {i for s in within for head in heads(s) for i in _elements(unit, head, pointer.name, 1)}
    others = (i for i in mentions(unit, (inside.start, inside.stop), pointer.name) if i != pointer.at)
    return inside if used.issuperset(others) else None


def _elements(unit: Unit, head: Expr, name: str, dims: int) -> Iterator[int]:
    """Where an expression names an array for an element that is no array itself, and whose address is not taken; or for
    what is there, as `*(float4*)&array[i]` reads it."""
    whole = walk(head)
    inner = {id(x.base) for x in whole if isinstance(x, (Index, Member))}
    inner |= {id(x.x) for x in whole if isinstance(x, Unary) and x.op == "&"}
    yield from (at for x in whole if id(x) not in inner and (at := _behind_cast(unit, x, name)) is not None)
    for x in whole:
        if id(x) in inner or not isinstance(x, (Index, Member)):
            continue
        base: Expr = x
        depth = 0
        while isinstance(base, (Index, Member)):
            depth += isinstance(base, Index)
            base = base.base
        if isinstance(base, Unary) and base.op == "&" and base.around:  # ((T*)&array)[i]
            base = base.x._replace(around=base.around)
        if isinstance(base, Name) and base.text == name and depth >= (1 if base.around else dims):
            yield base.at


def _behind_cast(unit: Unit, x: Expr, name: str) -> int | None:
    """Where `*(float4*)&array[i]` names an array."""
    if not isinstance(x, Unary) or x.op != "*" or not isinstance(x.x, Unary) or x.x.op != "&" or not x.x.around:
        return None
    cast = x.x.around[-1]
    if not isinstance(cast, Cast) or not _VECTORS.match("".join(unit.t[cast.type_first : cast.type_stop])):
        return None
    base: Expr = x.x.x
    while isinstance(base, Index):
        base = base.base
    return base.at if isinstance(base, Name) and base.text == name else None
