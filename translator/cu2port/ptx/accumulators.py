"""Products whose accumulators are elements in a row, four or two pairs of f16, and what those are reached through."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.ir import Instruction, Reg, Vector
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.lifted import RefusedError, parse
from cu2port.ptx.matrix_forms import form_of, keeps
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Assign, Binary, CallExpr, Expr, Index, Lambda, Member, Name, Num, Other, Unary, walk

_ZERO = re.compile(r"\(*(?:0+[uU]?|0+\.0*[fF]?|\.0+[fF]?)\)*")


@dataclass(frozen=True)
class Product:
    """An asm with one `mma`. `root`: what its accumulators are reached through; `at`: the place of the first one, in
    elements, None where it is some multiple of four; `places`: tokens of the operands that are accumulators.
    `begins`: the tile begins with zeros or with C, where C is none of them. `apart`: C's operands, where they are the
    same elements of something else. `member`: of a struct, which is to hold nothing else. `spread`: names of the
    accumulators, where each has one of its own."""

    statement: AsmStatement
    form: Form
    root: str
    first: int
    at: int | None
    places: tuple[range, ...]
    begins: str = ""
    member: str = ""
    apart: Apart | None = None
    spread: tuple[str, ...] = ()

    @property
    def goes_on(self) -> bool:
        """Whether it does not take C over from PTX's layout."""
        return self.begins != "from_c"


@dataclass(frozen=True)
class Apart:
    """What C is reached through, and the tokens of its operands."""

    root: str
    places: tuple[range, ...]
    spread: tuple[str, ...] = ()


def find_product(unit: Unit, s: AsmStatement, fast: bool) -> Product | None:
    """The product of a statement whose D is elements in a row."""
    if s.macro is not None or len(s.readings) != 1 or s.problem:
        return None
    reading = s.readings[0]
    if "mma" not in reading.text or reading.where:
        return None
    try:
        (only,) = parse(reading)
    except (RefusedError, ValueError):
        return None
    if not isinstance(only, Instruction) or only.name != "mma" or only.guard is not None or len(only.operands) != 4:
        return None
    form = form_of(only.opcode, fast)
    if form is None or not keeps(form):
        return None
    numbers = {f"%{i}": i for i in range(len(reading.operands))}
    numbers |= {f"%[{o.name}]": i for i, o in enumerate(reading.operands) if o.name}
    d, c = ([numbers.get(x.name, -1) for x in _registers(only.operands[k])] for k in (0, 3))
    count = form.registers("D")
    if len(d) != count or len(c) != count or -1 in (*d, *c):
        return None
    sums, added = ([_element(unit, reading.operands[i].expr) for i in of] for of in (d, c))
    of_d, of_c = (tuple(_range(unit, reading.operands[i].expr) for i in of) for of in (d, c))
    names, others = (_names(unit, of) for of in (of_d, of_c))
    if names:
        at_c = tuple(of_c) if others else ()
        zero = all(_is_zero(unit, reading.operands[i].expr) for i in c)
        same = Product(s, form, names[0], d[0], 0, (*of_d, *(at_c if others == names else ())), spread=names)
        apart = Apart(others[0], at_c, others) if others and not set(others) & set(names) else None
        return same if others == names else replace(same, begins="from_zero" if zero else "from_c", apart=apart)
    if sums[0] is None:
        return None
    root, member, base, first = sums[0]
    if sums != [(root, member, base, first + i) for i in range(count)] or first % count:
        return None
    at = first if base == "" else None
    if all(_is_zero(unit, reading.operands[i].expr) for i in c):
        return Product(s, form, root, d[0], at, of_d, "from_zero", member)
    if added == sums:
        return Product(s, form, root, d[0], at, (*of_d, *of_c), "", member)
    other = added[0][0] if added[0] is not None else ""
    alike = [x and (x[0], x[1], _without(x[2], x[0]), x[3]) for x in added]
    is_apart = alike == [(other, member, _without(base, root), first + i) for i in range(count)]
    return Product(s, form, root, d[0], at, of_d, "from_c", member, Apart(other, of_c) if is_apart else None)


def _without(text: str, name: str) -> list[str]:
    return ["" if word == name else word for word in text.split(" ")]


def _registers(operand: object) -> list[Reg]:
    items = operand.items if isinstance(operand, Vector) else ()
    return [x for x in items if isinstance(x, Reg)]


def _is_zero(unit: Unit, span: Span) -> bool:
    where = _range(unit, span)
    return _ZERO.fullmatch("".join(unit.t[where.start : where.stop])) is not None


def _range(unit: Unit, span: Span) -> range:
    return range(unit.lexed.at(span.start), unit.lexed.at(span.end))


def _element(unit: Unit, span: Span) -> tuple[str, str, str, int] | None:
    where = _range(unit, span)
    return element_of(unit, read_expression(unit, where.start, where.stop))


def _names(unit: Unit, places: Sequence[range]) -> tuple[str, ...]:
    return names_of([read_expression(unit, r.start, r.stop) for r in places])


def names_of(exprs: Sequence[Expr]) -> tuple[str, ...]:
    """The names in `d0`, `d0[0]` or `*d0`, each another one; () of others."""
    found = []
    for e in exprs:
        first = isinstance(e, Index) and isinstance(e.inner, Num) and e.inner.value == 0
        of = e.base if isinstance(e, Index) and first else e.x if isinstance(e, Unary) and e.op == "*" else e
        if not isinstance(of, Name) or of.qualified or of.targs:
            return ()
        found.append(of.text)
    return tuple(found) if len(set(found)) == len(found) else ()


def element_of(unit: Unit, e: Expr) -> tuple[str, str, str, int] | None:
    """Of `(p + 8 * j)[3]` and `p[8 * j + 3]`: p; its member, if the element is in one; what is between p and the
    number, "" where it is nothing; 3. None of what is no element whose place is a multiple of four and that number."""
    if not isinstance(e, Index) or not is_pure(e):
        return None
    number, rest = _summed(unit, e.inner)
    found = place_of(e.base)
    if found is None or rest is None:
        return None
    a, b = tokens(e.base)
    start = e.base.base if isinstance(e.base, Member) else e.base
    plain = isinstance(start, Name) or (isinstance(start, Unary) and isinstance(start.x, Name))
    between = [] if plain else unit.t[a : b + 1]
    return found, member_of(e.base), " ".join([*between, *rest]), number


def _summed(unit: Unit, e: Expr) -> tuple[int, list[str] | None]:
    """A sum as its numbers together, and the text of the rest: None where that is no multiple of four."""
    number = 0
    rest: list[str] = []
    while isinstance(e, Binary) and e.op == "+":
        one, e = e.b, e.a
        value, text = _summed(unit, one)
        if text is None:
            return 0, None
        number, rest = number + value, [*text, *rest]
    if isinstance(e, Num):
        return (0, None) if e.value is None else (number + e.value, rest)
    a, b = tokens(e)
    return (number, ["+", *unit.t[a : b + 1], *rest]) if is_fours(e) else (0, None)


def place_of(e: Expr) -> str | None:
    """The name of the array of whose elements an expression is the first of four: `a`, `a + 4 * i`, `&x`, `a[i][j]`;
    `a[i].x` of an array of structs."""
    inside = False
    while isinstance(e, (Binary, Index, Unary, Member)):
        if isinstance(e, Member):
            if inside or e.targs:
                return None
            inside, e = True, e.base
        elif inside and not isinstance(e, Index):
            return None
        elif isinstance(e, Binary):
            if e.op != "+" or not is_fours(e.b):
                return None
            e = e.a
        elif isinstance(e, Index):  # of arrays of arrays, whose elements are looked at where the array is declared
            e = e.base
        elif e.op == "&":
            e = e.x
        else:
            return None
    return e.text if isinstance(e, Name) and not e.qualified and not e.targs else None


def member_of(e: Expr) -> str:
    """The member in such an expression, "" without one."""
    while isinstance(e, (Binary, Index, Unary)):
        e = inner(e)
    return e.name if isinstance(e, Member) else ""


def inner(e: Binary | Index | Unary | Member) -> Expr:
    """What such an expression goes on from."""
    return e.a if isinstance(e, Binary) else e.x if isinstance(e, Unary) else e.base


def subscripts(e: Expr) -> list[Expr]:
    """The numbers in such an expression, or in that of an element, that choose the place."""
    out = []
    while isinstance(e, (Binary, Index, Unary, Member)):
        if isinstance(e, (Binary, Index)):
            out.append(e.b if isinstance(e, Binary) else e.inner)
        e = inner(e)
    return out


def is_pure(e: Expr) -> bool:
    """Whether an expression may be written twice: nothing is called, counted up or assigned."""
    return not any(
        isinstance(x, (CallExpr, Assign, Other, Lambda)) or (isinstance(x, Unary) and x.op not in ("&", "*", "-", "+"))
        for x in walk(e)
    )


def is_fours(e: Expr, number: Callable[[Name], int | None] = lambda _: None, count: int = 4) -> bool:
    """Whether a number is a multiple of four, or of `count`, whatever its names are. `number`: of names that are
    constants."""
    if isinstance(e, Num):
        return e.value is not None and e.value % count == 0
    if isinstance(e, Name):
        value = number(e)
        return value is not None and value % count == 0
    if isinstance(e, Binary):
        if e.op == "*":
            return is_fours(e.a, number, count) or is_fours(e.b, number, count)
        if e.op == "<<":
            return isinstance(e.b, Num) and (e.b.value or 0) >= 2
        return e.op in ("+", "-") and is_fours(e.a, number, count) and is_fours(e.b, number, count)
    return False
