"""Syntax trees of expressions and statements. `at` is always a token's index.

Nothing that was read is lost: the brackets and casts around an expression are its `around`, from the inside out, so
that who asks for an operand sees through them. `tokens` (in `operands`) is the extent of an expression with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Paren(NamedTuple):
    """Brackets around an expression, tokens `first` to `last`."""

    first: int
    last: int


class Cast(NamedTuple):
    """A cast of an expression, all tokens `first` to `last`: `(T)x`, `T(x)`, `T{x}`, `static_cast<T>(x)`. The type is
    tokens `type_first` to `type_stop` - 1; there are none in `__int_as_float(x)`."""

    first: int
    last: int
    type_first: int
    type_stop: int


class Unread(NamedTuple):
    """Tokens `first` to `last` hold an expression, and what was not understood beside it."""

    first: int
    last: int


Around = tuple[Paren | Cast | Unread, ...]


class Num(NamedTuple):
    """A number; `value` None where it is no integer. `type`: one of `syntax.constants`."""

    at: int
    value: int | None
    type: str = "int"
    around: Around = ()


class Name(NamedTuple):
    """A name, the last part of a qualified one; `targs`: template arguments. `start`: the first token of a qualified
    name, `end`: the last one of a name with template arguments; -1: `at`."""

    at: int
    text: str
    targs: tuple[Expr, ...] = ()
    qualified: bool = False
    start: int = -1
    end: int = -1
    around: Around = ()


class Member(NamedTuple):
    """`at`: the member's name; `end`: the last token of its template arguments, -1 without."""

    at: int
    base: Expr
    name: str
    targs: tuple[Expr, ...] = ()
    end: int = -1
    around: Around = ()


class Index(NamedTuple):
    """`at`: the `[`; `end`: the `]`."""

    at: int
    base: Expr
    inner: Expr
    end: int
    around: Around = ()


class CallExpr(NamedTuple):
    """`at`: the token of the callee's name; `close`: the closing bracket."""

    at: int
    callee: Expr
    args: tuple[Expr, ...]
    close: int
    around: Around = ()


class Unary(NamedTuple):
    """`op`: `!`, `~`, `-`, `+`, `*`, `&`, `++`, `--`, and `p++`, `p--` behind the operand."""

    at: int
    op: str
    x: Expr
    around: Around = ()


class Binary(NamedTuple):
    at: int
    op: str
    a: Expr
    b: Expr
    around: Around = ()


class Ternary(NamedTuple):
    at: int
    cond: Expr
    a: Expr
    b: Expr
    around: Around = ()


class Assign(NamedTuple):
    at: int
    op: str
    target: Expr
    value: Expr
    around: Around = ()


class Lambda(NamedTuple):
    """`end`: the body's closing bracket."""

    at: int
    params: tuple[Param, ...]
    body: Block
    end: int
    around: Around = ()


class Other(NamedTuple):
    """What is not understood, an initialiser list or expressions with commas: the parts that were understood. Tokens
    `start` to `end`, -1: `at`; none if `end` is less."""

    at: int
    parts: tuple[Expr, ...] = ()
    start: int = -1
    end: int = -1
    around: Around = ()


class Operator(NamedTuple):
    """An operator that is a word (`sizeof`, `new`, `throw`), with the expressions behind it; a type is none of them."""

    at: int
    word: str
    operands: tuple[Expr, ...]
    end: int
    around: Around = ()


class Launch(NamedTuple):
    """`callee<<<config>>>(args)`; `at`: the `<<<`, `end`: the last token."""

    at: int
    callee: Expr
    config: tuple[Expr, ...]
    args: tuple[Expr, ...]
    end: int
    around: Around = ()


Expr = Num | Name | Member | Index | CallExpr | Unary | Binary | Ternary | Assign | Lambda | Operator | Launch | Other


class Param(NamedTuple):
    """A parameter. `at`: its name's token (-1 without a name); `reference`: the name follows a `&`."""

    at: int
    name: str
    default: Expr | None
    pointer: bool
    volatile: bool
    reference: bool = False


class Decl(NamedTuple):
    """A variable. `dims`: an array's sizes; `reference`: the name follows a `&`."""

    at: int
    name: str
    dims: tuple[Expr, ...]
    init: Expr | None
    shared: bool = False
    volatile: bool = False
    pointer: bool = False
    reference: bool = False


class Eval(NamedTuple):
    """An expression statement; `end`: its `;` (-1 if it has none)."""

    at: int
    expr: Expr
    end: int


class If(NamedTuple):
    at: int
    cond: Expr
    then: Stmt
    other: Stmt | None


class Loop(NamedTuple):
    """`kind`: for, while, do."""

    at: int
    kind: str
    init: Stmt | None
    cond: Expr | None
    step: Expr | None
    body: Stmt


class Switch(NamedTuple):
    at: int
    cond: Expr
    body: Stmt


class Block(NamedTuple):
    at: int
    body: tuple[Stmt, ...]


class Jump(NamedTuple):
    """`kind`: break, continue, return, goto, case (with its value), default."""

    at: int
    kind: str
    value: Expr | None


class Asm(NamedTuple):
    """An asm statement: tokens `first` to `last` between its brackets; `outs`: what it writes to, `ins`: reads."""

    at: int
    first: int
    last: int
    outs: tuple[Expr, ...]
    ins: tuple[Expr, ...] = ()


Stmt = Decl | Eval | If | Loop | Switch | Block | Jump | Asm


_PARTS: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Binary: lambda e: (e.a, e.b),
    CallExpr: lambda e: (e.callee, *e.args),
    Index: lambda e: (e.base, e.inner),
    Unary: lambda e: (e.x,),
    Member: lambda e: (e.base,),
    Assign: lambda e: (e.target, e.value),
    Ternary: lambda e: (e.cond, e.a, e.b),
    Launch: lambda e: (e.callee, *e.config, *e.args),
    Other: lambda e: e.parts,
}


def parts(node: Expr) -> tuple[Expr, ...]:
    """The expressions whose values an expression is made of."""
    get = _PARTS.get(type(node))
    return get(node) if get is not None else ()


def walk(node: Expr) -> list[Expr]:
    """An expression and all that it is made of."""
    out: list[Expr] = [node]
    for x in out:
        out.extend(parts(x))
    return out


def statements(node: Stmt | None) -> list[Stmt]:
    """A statement and all inside it, in text order of their heads."""
    if node is None:
        return []
    if isinstance(node, Block):
        return [node, *(x for s in node.body for x in statements(s))]
    if isinstance(node, If):
        return [node, *statements(node.then), *statements(node.other)]
    if isinstance(node, Loop):
        return [node, *statements(node.init), *statements(node.body)]
    if isinstance(node, Switch):
        return [node, *statements(node.body)]
    return [node]


def single(node: Stmt) -> Stmt:
    """The only statement of a block, or the statement itself."""
    while isinstance(node, Block) and len(node.body) == 1:
        node = node.body[0]
    return node


def heads(node: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not of those inside it."""
    if isinstance(node, Eval):
        return (node.expr,)
    if isinstance(node, Decl):
        return (*node.dims, *((node.init,) if node.init is not None else ()))
    if isinstance(node, (If, Switch)):
        return (node.cond,)
    if isinstance(node, Loop):
        return tuple(x for x in (node.cond, node.step) if x is not None)
    if isinstance(node, Jump):
        return (node.value,) if node.value is not None else ()
    if isinstance(node, Asm):
        return node.outs
    return ()


def expressions(node: Stmt | None) -> list[Expr]:
    """All expressions of a statement and of those inside it."""
    return [x for s in statements(node) for h in heads(s) for x in walk(h)]


def root(node: Expr) -> str:
    """The name that an object expression starts from: `a` of `a[i].b`, `&a`, `*a`, `a->b`, `(a + i)`; "" if none."""
    while True:
        if isinstance(node, Name):
            return node.text
        if isinstance(node, (Index, Member)):
            node = node.base
        elif isinstance(node, Unary):
            node = node.x
        elif isinstance(node, Binary) and node.op in "+-":
            node = node.a
        elif isinstance(node, CallExpr) and len(node.args) == 1:
            node = node.args[0]
        else:
            return ""


def callee(node: CallExpr) -> str:
    """The name of what is called; "" for a computed callee."""
    return node.callee.text if isinstance(node.callee, Name) else getattr(node.callee, "name", "")
