"""Statements that do the same to each element of an array of accumulators, whichever element it is.

    for (int i = 0; i < 4; ++i) acc[j][i] = fmaxf(acc[j][i] * scale, 0.0f);
    acc[j][0] *= scale; acc[j][1] *= scale; acc[j][2] *= scale; acc[j][3] *= scale;

Four elements in a row, or several times four, are what a product adds to. So it does not matter which lane has which,
if all lanes do it with the same values, which `uniform` tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cu2port.core.model import Edit, Side, insert
from cu2port.core.model import replace as replaced
from cu2port.facts.blocks import named_number
from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import is_fours, is_pure
from cu2port.ptx.local_arrays import is_array
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Cast,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Lambda,
    Launch,
    Loop,
    Name,
    Num,
    Other,
    Stmt,
    Unary,
    parts,
    walk,
)

_ELEMENTS = ("float", "int")
_COUNTERS = frozenset({"int", "unsigned", "long", "size_t", "std", "::", "uint32_t", "auto"})
_SIGNS = frozenset("-+!~*")


@dataclass(frozen=True)
class ElementMap:
    """A loop over elements, or four statements, at token `at`, all tokens `span`. `values`: what it does them with, and
    in `elements`. `body`: what is done to an element; `places`: where it names the element; `step`: how the loop
    counts; `gone`: the other three statements."""

    root: str
    type_: str
    at: int
    values: tuple[Expr, ...]
    elements: frozenset[int]
    span: range
    body: range
    places: tuple[range, ...]
    step: range
    gone: tuple[range, ...]

    def edits(self, unit: Unit, kept: str, element: str) -> Iterator[Edit]:
        """What does it to a whole tile, of the tiles that are called `kept`."""
        place = unit.source(self.places[0].start, self.places[0].stop)
        begin = f"{kept}.each({self.root}, &{place}, [&]({self.type_}& {element}) CU2PORT_MMA_INLINE "
        braces = ("", ")") if unit.t[self.body.start] == "{" else ("{ ", " })")
        yield insert(unit.p[self.body.start], begin + braces[0])
        yield insert(unit.end(self.body.stop - 1), braces[1] + ";", Side.LEFT)
        for r in self.places:
            yield replaced(unit.p[r.start], unit.end(r.stop - 1), element)
        if self.step:
            counter = next(x for x in unit.t[self.step.start : self.step.stop] if x not in ("++", "+=", "1"))
            yield replaced(unit.p[self.step.start], unit.end(self.step.stop - 1), f"{counter} += 4")
        for r in self.gone:
            yield replaced(unit.p[r.start], unit.end(r.stop - 1), "")


def find_maps(unit: Unit, statements: Iterable[Stmt]) -> Iterator[ElementMap]:
    """Those of local arrays of floats or of ints."""
    listed = list(statements)
    names = Counter(s.name for s in listed if isinstance(s, Decl))
    arrays = {
        s.name: (s, type_)
        for s in listed
        if isinstance(s, Decl) and names[s.name] == 1 and (type_ := _type(unit, s)) in _ELEMENTS
    }
    for s in listed if arrays else ():
        found: list[ElementMap | None] = []
        if isinstance(s, Loop):
            found = [_loop(unit, s, arrays)]
        elif isinstance(s, Block):
            found = [_four(unit, s.body[n : n + 4], arrays) for n in range(len(s.body) - 3)]
        yield from (x for x in found if x is not None and _is_plain(unit, x))


def _is_plain(unit: Unit, x: ElementMap) -> bool:
    """Whether there is no directive in it, and no comment in what is replaced."""
    replaced_ = [r for r in (*x.places, x.step, *x.gone) if r]
    whole = all("".join(unit.source(r.start, r.stop).split()) == "".join(unit.t[r.start : r.stop]) for r in replaced_)
    return whole and all(unit.lexed.directive_at(i) is None for i in x.span)


def _type(unit: Unit, s: Decl) -> str:
    d = unit.declaration(s.at)
    return "" if d is None or not is_array(unit, s) else " ".join(unit.t[d.type_first : d.type_stop])


_Arrays = Mapping[str, tuple[Decl, str]]


# --- What is done to an element --------------------------------------------------------------------------------------


@dataclass
class _Done:
    """Statements that change one element, whose last subscript ends with the counter, a name or a number."""

    unit: Unit
    counter: str
    arrays: _Arrays
    elements: list[Index] = field(default_factory=list)
    values: list[Expr] = field(default_factory=list)
    counters: set[int] = field(default_factory=set)

    def statement(self, s: Stmt | None) -> bool:
        if isinstance(s, Block):
            return all(map(self.statement, s.body))
        if isinstance(s, If):
            self.values.append(s.cond)
            others = (s.then, s.other) if s.other is not None else (s.then,)
            return self.expression(s.cond) and all(map(self.statement, others))
        if not isinstance(s, Eval) or not isinstance(s.expr, Assign) or not isinstance(s.expr.target, Index):
            return False
        self.values.append(s.expr.value)
        return s.end >= 0 and self.element(s.expr.target) and self.expression(s.expr.value)

    def expression(self, e: Expr) -> bool:
        """Whether an expression changes nothing, and of the array names the element alone."""
        if isinstance(e, Index) and self.element(e):
            return True
        if isinstance(e, Name):
            return e.text != self.counter
        if isinstance(e, (Assign, Lambda, Launch, Other)) or (isinstance(e, Unary) and e.op not in _SIGNS):
            return False
        return all(map(self.expression, parts(e)))

    def element(self, e: Index) -> bool:
        """Whether it is the element, which is noted; subscripts have to be the same for all lanes, too."""
        subscripts: list[Expr] = []
        inner = e.inner
        if isinstance(inner, Binary) and inner.op == "+":
            fours, inner = (inner.a, inner.b) if is_fours(inner.a) else (inner.b, inner.a)
            if not is_fours(fours):
                return False
            subscripts.append(fours)
        base = e.base
        while isinstance(base, Index) and not base.around:
            subscripts.append(base.inner)
            base = base.base
        if not isinstance(base, Name) or base.around or base.qualified or not _is(inner, self.counter):
            return False
        array = self.arrays.get(base.text)
        depth = len(subscripts) + (e.inner is inner)
        if array is None or depth != len(array[0].dims) or not all(map(is_pure, subscripts)):
            return False
        if any(_is(x, self.counter) for s in subscripts for x in walk(s) if isinstance(x, Name)):
            return False
        if self.elements and self.text(self.place(self.elements[0])) != self.text(self.place(e)):
            return False
        self.elements.append(e)
        self.counters.add(inner.at)
        self.values += subscripts
        return True

    def place(self, e: Index) -> range:
        base = e.base
        while isinstance(base, Index):
            base = base.base
        return range(base.at, e.end + 1)

    def text(self, span: range) -> str:
        return " ".join(self.unit.t[span.start : span.stop])

    def pattern(self, span: range) -> str:
        """The text without the counters."""
        return " ".join("" if i in self.counters else self.unit.t[i] for i in span)

    def map(self, span: range, body: range, at: int, step: range, gone: tuple[range, ...]) -> ElementMap:
        """It, with the tokens of what is around."""
        places = tuple(self.place(e) for e in self.elements)
        root = self.unit.t[places[0].start]
        elements = frozenset(e.at for e in self.elements)
        type_ = self.arrays[root][1]
        return ElementMap(root, type_, at, tuple(self.values), elements, span, body, places, step, gone)


def _is(e: Expr, counter: str) -> bool:
    """Whether an expression is this name, or number."""
    if any(isinstance(x, Cast) for x in e.around):
        return False
    return e.text == counter if isinstance(e, Name) else isinstance(e, Num) and str(e.value) == counter


# --- Loops -----------------------------------------------------------------------------------------------------------


def _loop(unit: Unit, s: Loop, arrays: _Arrays) -> ElementMap | None:
    """`for (int i = 0; i < 4 * n; ++i)` around what is done to an element."""
    if s.kind != "for" or not isinstance(s.init, Decl) or s.step is None:
        return None
    name, cond = s.init.name, s.cond
    declared = unit.declaration(s.init.at)
    if declared is None or not _COUNTERS.issuperset(unit.t[declared.type_first : declared.type_stop]):
        return None
    if s.init.init is None or not is_fours(s.init.init) or not _is_one_more(s.step, name):
        return None
    body, done = _body(unit, s), _Done(unit, name, arrays)
    if body is None or not done.statement(s.body) or not done.elements:
        return None
    array = arrays[unit.t[done.place(done.elements[0]).start]][0]
    if not isinstance(cond, Binary) or cond.op != "<" or not _is(cond.a, name) or not _are_tiles(unit, cond.b, array):
        return None
    first, last = tokens(s.step)
    return done.map(range(s.at, body.stop), body, s.at, range(first, last + 1), ())


def _body(unit: Unit, s: Loop) -> range | None:
    """The tokens of a loop's body: a block, or an expression with its semicolon."""
    begin = unit.match[s.at + 1] + 1
    if unit.tok(begin) == "{":
        return range(begin, unit.match[begin] + 1) if unit.match[begin] > begin else None
    return range(begin, s.body.end + 1) if isinstance(s.body, Eval) and s.body.end >= begin else None


def _is_one_more(e: Expr, name: str) -> bool:
    if isinstance(e, Assign):
        return e.op == "+=" and _is(e.target, name) and _is(e.value, "1")
    return isinstance(e, Unary) and e.op in ("++", "p++") and _is(e.x, name)


def _are_tiles(unit: Unit, limit: Expr, array: Decl) -> bool:
    """Whether a loop ends at a multiple of four: a number, or as many as an array has, which is made of tiles."""
    number = named_number(unit, limit.text) if isinstance(limit, Name) and not limit.qualified else None
    if is_fours(limit) or (number is not None and number % 4 == 0):
        return True
    (a, b), (c, d) = tokens(limit), tokens(array.dims[0])
    return len(array.dims) == 1 and unit.t[a : b + 1] == unit.t[c : d + 1] and is_pure(limit)


# --- Four statements -------------------------------------------------------------------------------------------------


def _four(unit: Unit, four: Sequence[Stmt], arrays: _Arrays) -> ElementMap | None:
    """Four statements in a row that do the same to elements 4 * n to 4 * n + 3."""
    texts, numbers = set(), []
    spans: list[range] = []
    first: _Done | None = None
    for s in four:
        target = s.expr.target if isinstance(s, Eval) and isinstance(s.expr, Assign) else None
        inner = target.inner if isinstance(target, Index) else None
        if not isinstance(s, Eval) or not isinstance(inner, Num) or inner.value is None:
            return None
        done = _Done(unit, str(inner.value), arrays)
        if not done.statement(s) or any(isinstance(x, CallExpr) for x in walk(s.expr)):  # which others may edit
            return None
        numbers.append(inner.value)
        spans.append(range(tokens(s.expr)[0], s.end + 1))
        texts.add(done.pattern(spans[-1]))
        first = first or done
    in_a_row = all(a.stop == b.start for a, b in pairwise(spans))
    if first is None or len(texts) != 1 or not in_a_row or numbers[0] % 4:
        return None
    if numbers != [numbers[0] + n for n in range(4)]:
        return None
    span = range(spans[0].start, spans[3].stop)
    return first.map(span, spans[0], four[0].at, range(0), tuple(spans[1:]))
