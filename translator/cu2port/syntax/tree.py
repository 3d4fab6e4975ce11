"""Syntax trees of device functions, as far as the analysis needs them. `at` is always a token's index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Num(NamedTuple):
    """A number; `value` None where it is no integer. `type`: one of `syntax.constants`."""

    at: int
    value: int | None
    type: str = "int"


class Name(NamedTuple):
    """A name, the last part of a qualified one; `targs`: template arguments."""

    at: int
    text: str
    targs: tuple[Expr, ...] = ()
    qualified: bool = False


class Member(NamedTuple):
    at: int
    base: Expr
    name: str
    targs: tuple[Expr, ...] = ()


class Index(NamedTuple):
    at: int
    base: Expr
    inner: Expr


class CallExpr(NamedTuple):
    """`at`: the token of the callee's name; `close`: the closing bracket."""

    at: int
    callee: Expr
    args: tuple[Expr, ...]
    close: int


class Unary(NamedTuple):
    """`op`: `!`, `~`, `-`, `+`, `*`, `&`, `++`, `--`, and `p++`, `p--` behind the operand."""

    at: int
    op: str
    x: Expr


class Binary(NamedTuple):
    at: int
    op: str
    a: Expr
    b: Expr


class Ternary(NamedTuple):
    at: int
    cond: Expr
    a: Expr
    b: Expr


class Assign(NamedTuple):
    at: int
    op: str
    target: Expr
    value: Expr


class Lambda(NamedTuple):
    at: int
    params: tuple[Param, ...]
    body: Block


class Other(NamedTuple):
    """What is not understood, or an initialiser list: the parts that were."""

    at: int
    parts: tuple[Expr, ...] = ()


Expr = Num | Name | Member | Index | CallExpr | Unary | Binary | Ternary | Assign | Lambda | Other


class Param(NamedTuple):
    """A parameter. `at`: its name's token (-1 without a name)."""

    at: int
    name: str
    default: Expr | None
    pointer: bool
    volatile: bool


class Decl(NamedTuple):
    """A variable. `dims`: an array's sizes."""

    at: int
    name: str
    dims: tuple[Expr, ...]
    init: Expr | None
    shared: bool
    volatile: bool
    pointer: bool


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
    Other: lambda e: e.parts,
}


def parts(node: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of."""
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
