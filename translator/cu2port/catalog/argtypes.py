"""Of what type an argument is, where functions of one name and one argument count differ in nothing else.

The expression says it (`&x`, `{...}`, `cudaMemLocation{...}`), or libclang, or the one declaration of the name in the
file.
"""

from __future__ import annotations

from cu2port.core.late import regex
from cu2port.core.model import Span
from cu2port.facts.named_types import NamedTypes, Typed, names_class
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import own_tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Binary, CallExpr, Cast, Expr, Index, Member, Name, Num, Other, Paren, Unary
from cu2port.syntax.types import Type, cast_to, written
from cu2port.syntax.words import PLACEHOLDERS

POINTER, VALUE = "*", "!*"
TO_CONST = {"const*": 1, "const**": 2}  # pointers that surely lead to what is const, and how many
CONST_POINTERS = "*const*"  # what surely points to pointers that are const themselves
DEPENDENT = "dependent"  # what a template's parameter, or another file's name for a type, decides
MUTABLE = "char**"  # what surely points to pointers to `char`, nothing of it const
SURELY = "surely "  # before a type of CUDA's that may have several names: what surely is an object of it
_OBJECTS = frozenset({"variable", "parameter", "member"})
_TO_CONST_POINTERS = regex(r"\* ?const ?[*\[]")
_MUTABLE = regex(r"char \*(?:\*| ?\[\d*\])")
_UNKNOWN = "__cu2port_any"  # what libclang makes of a CUDA type whose shape the shim does not know


def is_of_type(unit: Unit, span: Span, wanted: str) -> bool | None:
    """Whether an argument is of a type: `*` a pointer or array, `!*` neither, `const*` and `const**`
    surely pointers to what is const, `*const*` to pointers that are, `char**` surely that without const, `dependent`
    made of what a template's parameter or another file's name for a type decides, `surely cudaDataType_t` surely of a
    type by any of its names, else a struct's name. None: not known."""
    first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
    if stop <= first:
        return None
    e = read_expression(unit, first, stop)
    if wanted == DEPENDENT:
        return unit.in_directive(first) is not None or _is_dependent(unit, e)  # a macro's body has no types
    if wanted in TO_CONST:
        return _is_to_const(unit, span, e, TO_CONST[wanted])
    if wanted == MUTABLE:
        return _is_mutable(unit, span, e)
    if wanted.startswith(SURELY):
        return _is_surely(unit, span, e, wanted.removeprefix(SURELY))
    if wanted not in (POINTER, VALUE, CONST_POINTERS):
        return _is_struct(unit, span, e, wanted)
    if wanted == CONST_POINTERS:
        return _is_to_const_pointers(unit, span, e)
    pointer = _is_pointer(unit, span, e)
    return pointer if pointer is None or wanted == POINTER else not pointer


def _is_dependent(unit: Unit, e: Expr) -> bool:
    types, (first, last) = unit.once(NamedTypes), own_tokens(e)
    names = ((unit.t[k], k) for k in range(first, last + 1) if is_identifier(unit.t[k]))
    found = ((unit.declarations.visible(name, k), k) for name, k in names)
    return any(_is_chosen(unit, types.declared(d), k) for d, k in found if d is not None and d.kind in _OBJECTS)


def _is_chosen(unit: Unit, found: Typed, at: int) -> bool:
    """Whether a template's parameter, or another file's name for a type, says what an object is."""
    return found.dependent or (found.name.startswith("?") and not names_class(unit, found, at))


def _is_pointer(unit: Unit, span: Span, e: Expr) -> bool | None:
    by_shape = _points(unit, e)
    if by_shape is not None:
        return by_shape
    asked = _asked(unit, span)
    if asked:
        return asked.endswith(("*", "]"))
    depth = {d for _, d in _declared(unit, e)}
    return depth.pop() > 0 if len(depth) == 1 else None


def _is_to_const(unit: Unit, span: Span, e: Expr, pointers: int) -> bool:
    """False where nothing says so: most callers have plain pointers."""
    if (outer := _outer(e)) is not None:
        to = unit.t[outer.type_first : outer.type_stop]
        return cast_to(unit.t, outer).pointers == pointers and "const" in to
    if asked := _asked(unit, span, whole=True):
        return asked.startswith("const ") and asked.count("*") + asked.count("[") == pointers
    if not isinstance(e, Name):
        return False
    found = _objects(unit, e)
    return bool(found) and all(
        written(unit.t, d).indirections == pointers and "const" in unit.t[d.type_first : d.type_stop] for d in found
    )


def _objects(unit: Unit, e: Name) -> list[Declaration]:
    """The declaration of the variable that a name is, or all of that name where none is visible."""
    d = unit.declarations.visible(e.text, own_tokens(e)[0])
    found = [d] if d is not None else unit.declarations.named(e.text)
    return [d for d in found if d.kind in _OBJECTS]


def _is_to_const_pointers(unit: Unit, span: Span, e: Expr) -> bool:
    if (outer := _outer(e)) is not None:
        return "*const*" in "".join(unit.t[outer.type_first : outer.type_stop])
    if asked := _asked(unit, span, whole=True):
        return bool(_TO_CONST_POINTERS.search(asked))
    if not isinstance(e, Name):
        return False
    found = _objects(unit, e)
    shape = ["".join(unit.t[d.type_first : d.at]) + "*" * (d.arrays > 0) for d in found]
    return bool(found) and all("*const*" in x for x in shape)


def _is_mutable(unit: Unit, span: Span, e: Expr) -> bool:
    if (outer := _outer(e)) is not None:
        return "".join(unit.t[outer.type_first : outer.type_stop]) == MUTABLE
    if asked := _asked(unit, span, whole=True):
        return _MUTABLE.fullmatch(asked) is not None
    found = _objects(unit, e) if isinstance(e, Name) else []
    types = [(written(unit.t, d), "const" in unit.t[d.type_first : d.at]) for d in found]
    return bool(types) and all((x.name, x.indirections, const) == ("char", 2, False) for x, const in types)


def _is_surely(unit: Unit, span: Span, e: Expr, wanted: str) -> bool:
    """False where nothing says so, and for an enumerator. Names of one type have one in HIP."""
    row = unit.catalog.get(wanted)
    hip = row.hip if row is not None else wanted
    if (cast := _cast(unit, e)) is not None:
        found = {(cast.name, cast.pointers)}
    elif isinstance(e, (Name, Member, Index)) and unit.catalog.get(_name(e) or " ") is None:
        asked = _asked(unit, span) if not (known := _declared(unit, e)) else ""
        found = {(asked, 0)} if asked else known
    else:
        return False
    named = {(unit.catalog.get(name), name, depth) for name, depth in found}
    return bool(named) and all(depth == 0 and (r.hip if r else name) == hip for r, name, depth in named)


def _points(unit: Unit, e: Expr) -> bool | None:
    """Whether casts, `&` and offsets make an expression a pointer; None where they do not tell it."""
    if (cast := _cast(unit, e)) is not None:
        return cast.pointers > 0
    if isinstance(e, Binary) and e.op in ("+", "-"):
        right = _points(unit, e.b)
        left = _points(unit, e.a)
        return True if (left and not (right and e.op == "-")) or (right and e.op == "+") else None
    return True if isinstance(e, Unary) and e.op == "&" else None


def _is_struct(unit: Unit, span: Span, e: Expr, wanted: str) -> bool | None:
    if (cast := _cast(unit, e)) is not None:
        return (cast.name, cast.pointers) == (wanted, 0)
    if unit.t[own_tokens(e)[0]] == "{" or (isinstance(e, CallExpr) and _name(e.callee) == wanted):
        return True  # {...}, wanted{...}, wanted(...)
    asked = _asked(unit, span)
    if asked:
        return asked == wanted
    row = unit.catalog.get(wanted)
    spelled = [w for w in (wanted, row.hip if row is not None else "") if w in unit.words]
    if not spelled:
        return False  # a file that never names the struct has no object of it, and where it has, the compiler says so
    if isinstance(e, Num) or (isinstance(e, Other) and not e.parts) or unit.catalog.get(_name(e) or " ") is not None:
        return False  # a literal, or the name of a number: `cudaCpuDeviceId`
    found = {(n, d) == (wanted, 0) for n, d in _declared(unit, e)}
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


def _asked(unit: Unit, span: Span, whole: bool = False) -> str:
    """libclang's answer, without references and, if not `whole`, `const`; "" for none."""
    facts = unit.ask(spans=((span.start, span.end),))
    expr = facts.exprs.get((span.start, span.end)) if facts is not None else None
    if expr is None or not expr.type or _UNKNOWN in expr.type or "dependent" in expr.type:
        return ""
    type_ = expr.type.removesuffix("&").rstrip()
    return type_ if whole else type_.removeprefix("const ")


def _outer(e: Expr) -> Cast | None:
    """The cast of an expression that is last done."""
    outer = next((w for w in reversed(e.around) if not isinstance(w, Paren)), None)
    return outer if isinstance(outer, Cast) and outer.type_first < outer.type_stop else None


def _cast(unit: Unit, e: Expr) -> Type | None:
    """The type that an expression is cast to; None if it is not cast."""
    outer = _outer(e)
    return None if outer is None else cast_to(unit.t, outer)


def _name(e: Expr) -> str:
    return e.text if isinstance(e, Name) else ""


def _declared(unit: Unit, e: Expr) -> set[tuple[str, int]]:
    """(type, pointers and arrays left) of the variable an argument names, or, where none is visible, for every
    declaration of that name."""
    strip = 0
    while isinstance(e, Index) or (isinstance(e, Unary) and e.op == "*"):
        e, strip = e.base if isinstance(e, Index) else e.x, strip + 1
        if _cast(unit, e) is not None:
            return set()
    if not isinstance(e, (Name, Member)):
        return set()
    out = set()
    for d in _objects(unit, e) if isinstance(e, Name) else unit.declarations.named(e.name):
        if d.kind in _OBJECTS:
            type_ = written(unit.t, d)
            out.add((type_.name, type_.indirections - strip))
    return {(name, depth) for name, depth in out if name not in PLACEHOLDERS}
