"""Lambdas of a function that are called and nothing else: functions inside of it, which see its variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cu2port.core.model import Edit, Side, insert
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Block, Decl, Lambda, Stmt, statements


@dataclass(frozen=True)
class LocalFunction:
    """`auto name = [&] (...) { ... };`: `at` is the name, `calls` are its other places."""

    name: str
    at: int
    made: Lambda
    calls: tuple[int, ...]

    @property
    def span(self) -> range:
        return range(self.made.at, self.made.end + 1)

    def inlined(self, unit: Unit) -> Iterator[Edit]:
        """Has the compiler inline it: what it captures has an address else, and stays in memory."""
        begin = self.made.at + 3
        if unit.tok(begin) == "{":
            yield insert(unit.end(begin - 1), "() CU2PORT_MMA_INLINE", Side.LEFT)
        elif unit.tok(begin) == "(" and unit.tok(unit.match[begin] + 1) != "__attribute__":
            yield insert(unit.end(unit.match[begin]), " CU2PORT_MMA_INLINE", Side.LEFT)


def local_functions(unit: Unit, f: Function, body: Block) -> dict[str, LocalFunction]:
    """By name: those of a function's body, and those in them."""
    out: dict[str, LocalFunction] = {}
    work = [body]
    while work:
        for s in statements(work.pop()):
            if not isinstance(s, Decl) or not isinstance(s.init, Lambda) or s.init.around:
                continue
            begin = s.init.at
            named = [i for i in unit.find(s.name) if i != s.at and not unit.is_member(i)]
            if unit.tok(s.at - 1) != "auto" or unit.t[begin : begin + 3] != ["[", "&", "]"]:
                continue
            if any(unit.lexed.directive_at(i) is not None for i in named):  # a macro may call it anywhere
                continue
            others = [i for i in named if f.body[0] < i < f.body[1]]
            if all(unit.tok(i + 1) == "(" and not unit.declares(i) for i in others):
                out[s.name] = LocalFunction(s.name, s.at, s.init, tuple(others))
                work.append(s.init.body)
    return out


def all_statements(body: Block, local: Mapping[str, LocalFunction]) -> Iterator[Stmt]:
    """Those of a body, and of the local functions in it."""
    yield from statements(body)
    for g in local.values():
        yield from statements(g.made.body)


def reached(loop: range, local: Mapping[str, LocalFunction]) -> list[range]:
    """A part of a function, and the local functions that it calls."""
    spans, left = [loop], dict(local)
    for span in spans:
        called = [g for g in left.values() if any(i in span for i in g.calls)]
        for g in called:
            del left[g.name]
            spans.append(g.span)
    return spans


def on_the_way(loop: range, local: Mapping[str, LocalFunction], places: Iterable[int]) -> list[LocalFunction]:
    """The local functions by which a part of a function comes to these places: the innermost one around each, and the
    one around each call of those."""
    out: dict[int, LocalFunction] = {}
    todo = list(places)
    for at in todo:
        g = min((g for g in local.values() if at in g.span), key=lambda g: len(g.span), default=None)
        if g is not None and g.at not in out and loop.start not in g.span:
            out[g.at] = g
            todo += g.calls
    return list(out.values())
