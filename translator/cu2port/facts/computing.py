"""Functions that only compute: one `return` of what their arguments alone make, so that what all lanes have alike stays
so. A file's own, and those of headers, as their texts have them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cu2port.core.late import regex
from cu2port.facts.blocks import named_number
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import parameters, read_body
from cu2port.syntax.tree import Binary, Expr, Jump, Member, Name, Num, Operator, Ternary, Unary, Unread
from cu2port.syntax.words import CONDITIONS

_CONSTANTS = frozenset({"true", "false", "nullptr", "warpSize"})
OF_A_BLOCK = frozenset({"blockIdx", "blockDim", "gridDim"})
_CHANGES = frozenset({"&", "*", "++", "--", "p++", "p--"})
_ONE_RETURN = regex(r"\{\s{0,200}return\b")  # begins with text: is found fast
_HEAD = regex(r"\b(\w+)\s*\([^(){};]*\)\s*(?:noexcept\s*)?\Z")
_DEFINED = regex(r"#[ \t]{0,20}define[ \t]{1,50}(\w+)[ \t]{1,200}[(\d]")
_CONSTANT = regex(r"\bconstexpr[ \t]+(?:\w+[ \t]+){1,4}(\w+)[ \t]*=")
_FUNCTION = regex(r"\b(\w+)[ \t]{0,9}\([^(){};]{0,400}\)\s{0,9}(?:const\s{0,9})?\{")
_MOST_HEAD = 400  # letters of a function's name and parameters


def is_constant(unit: Unit, e: Name) -> bool:
    """Whether a name from outside of a function is a number, or an argument of a template."""
    if e.text in _CONSTANTS or number_of(unit, e.text, e.at) is not None:
        return True
    if e.qualified and _is_of_parameter(unit, e):
        return True
    d = unit.declarations.visible(e.text, e.at)
    return d is not None and (
        d.kind in ("template parameter", "enumerator") or "constexpr" in unit.t[d.type_first : d.type_stop]
    )


def _is_of_parameter(unit: Unit, e: Name) -> bool:
    """Whether a name is `T::name` of a template's parameter: code for GPUs has constants there alone."""
    d = unit.declarations.visible(unit.tok(e.start), e.start) if e.start == e.at - 2 else None
    return d is not None and d.kind == "template parameter"


def number_of(unit: Unit, name: str, at: int) -> int | None:
    """The value of a name at a token: of the file, or of the headers that it reaches if it has none itself."""
    known = named_number(unit, name)
    if known is None and name not in unit.macros and unit.declarations.visible(name, at) is None:
        return next((value for other, value in unit.project.numbers if other == name), None)
    return known


def numbers_of(unit: Unit) -> Callable[[Name], int | None]:
    """The same of names."""
    return lambda e: number_of(unit, e.text, e.at)


def computes(unit: Unit, name: str) -> bool | None:
    """Whether all functions of a name in a file only compute; None where it has none."""
    found = [f for f in unit.functions if f.name == name]
    for f in found:
        body = read_body(unit, f.body[0] + 1, f.body[1]).body
        params = parameters(unit, *f.params)
        if len(body) != 1 or not isinstance(body[0], Jump) or body[0].value is None:
            return False
        if any(p.reference or p.volatile or p.at < 0 for p in params):
            return False
        if not _is_made_of(unit, body[0].value, {p.name for p in params}):
            return False
    return True if found else None


def _is_made_of(unit: Unit, whole: Expr, names: Collection[str]) -> bool:
    """Whether an expression is made of these names and of constants alone, and changes nothing."""
    todo = [whole]
    for e in todo:
        if any(isinstance(x, Unread) for x in e.around):
            return False
        if isinstance(e, Name):
            if not (e.text in names and not e.qualified) and not is_constant(unit, e):
                return False
        elif isinstance(e, Unary):
            if e.op in _CHANGES:
                return False
            todo.append(e.x)
        elif isinstance(e, Binary):
            todo += (e.a, e.b)
        elif isinstance(e, Ternary):
            todo += (e.cond, e.a, e.b)
        elif isinstance(e, Member):
            if not isinstance(e.base, Name) or e.base.text not in OF_A_BLOCK - set(names):
                return False
        elif not isinstance(e, Num) and not (isinstance(e, Operator) and e.word == "sizeof"):
            return False
    return True


# --- Of headers ------------------------------------------------------------------------------------------------------


def may_compute(text: str) -> frozenset[str]:
    """Names of functions that begin with `return`, told without the lexer."""
    heads = (_HEAD.search(text, max(0, m.start() - _MOST_HEAD), m.start()) for m in _ONE_RETURN.finditer(text))
    return frozenset(m[1] for m in heads if m is not None) - CONDITIONS - {"constexpr"}


def may_be_numbers(text: str) -> frozenset[str]:
    """Names of macros and constants that may be numbers."""
    return frozenset((*_DEFINED.findall(text), *_CONSTANT.findall(text)))


def number_in(unit: Unit, name: str) -> int | None:
    """The number that a header has a name for, and nothing else."""
    value = named_number(unit, name)
    others = [i for i in unit.find(name) if unit.declares(i) and unit.lexed.directive_at(i) is None]
    return value if len(unit.macros.get(name, ())) + len(others) == 1 else None


def may_take_values(text: str) -> frozenset[str]:
    """Names of functions, told without the lexer."""
    return frozenset(_FUNCTION.findall(text)) - CONDITIONS - {"constexpr"}


def takes_values(unit: Unit, name: str) -> bool:
    """Whether a header has functions of a name, no other thing, and none of them may change what it is given."""
    mine = {f.name_at: f for f in unit.functions if f.name == name}
    params = (p for f in mine.values() for p in parameters(unit, *f.params))
    alone = all(i in mine or not unit.declares(i) for i in unit.find(name)) and name not in unit.macros
    return bool(mine) and alone and all(p.at >= 0 and (not p.reference or _is_const(unit, p.at)) for p in params)


def _is_const(unit: Unit, at: int) -> bool:
    d = unit.declaration(at)
    return d is not None and d.pointers == 0 and "const" in unit.t[d.type_first : d.type_stop]


def is_silent(unit: Unit, name: str) -> bool:
    """Whether a header may use a name, and does not say what it means."""
    return name not in unit.macros and not any(map(unit.declares, unit.find(name)))


def is_computed_only(unit: Unit, name: str) -> bool:
    """Whether a header has a name for functions that only compute, and for nothing else but to call them."""
    if unit.macros.get(name) or computes(unit, name) is False:
        return False
    mine = {f.name_at for f in unit.functions if f.name == name}
    return all(i in mine or (unit.tok(i + 1) == "(" and not unit.declares(i)) for i in unit.find(name))
