"""The table of native code: how CUDA code puts two lanes' values together, and the calls that do it for a warp at once.

To add one, add a row with an example. `tests/warp/test_warp_native_patterns.py` converts each example, runs it on
wavefronts of 32 and of 64 lanes, and looks for what it becomes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cu2port.core.model import Span
from cu2port.syntax.tree import Assign, Binary, CallExpr, Eval, Expr, If, Name, Stmt, Ternary, callee, single

Parts = tuple[str | Span, ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """Variable `target` is put together with another lane's value by `op`. `call`: what follows `wave::` instead."""

    target: Name
    op: str
    call: Parts


class Reading(Protocol):
    """What a row asks of the file and of the place where it looks."""

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions are the same variable."""

    def is_other(self, e: Expr, v: Name) -> bool:
        """Whether an expression is the value that a variable has in the other lane."""

    def function(self, e: CallExpr) -> tuple[str, Parts] | None:
        """The operation of a call with two values, and its name or functor as text; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Step:
    """A way to write that `v` is put together with `OTHER`, the value of another lane."""

    example: str
    becomes: str
    read: Callable[[Reading, Stmt], Combined | None]


@dataclass(frozen=True, slots=True)
class Collective:
    """A call that puts the values of all lanes of a warp together: of a mask and a value. `op`: the operation; `call`:
    what stands for it, before the value and behind it; `typ`: the type of the result, "" for that of the value, which
    must be an integer of 32 bits then; `promoted`: the value may be of a smaller type."""

    name: str
    op: str
    call: tuple[str, str]
    typ: str = ""
    promoted: bool = False

    @property
    def votes(self) -> bool:
        """Whether it makes true or false of the values."""
        return self.typ == "int"


OPERATORS = {"+": "add", "*": "mul", "|": "or", "&": "and", "^": "xor"}
#: Functions of CUDA and of the standard library, by what they do with two values; `add` by its name.
CALLS = {
    **dict.fromkeys(("max", "fmaxf", "fmax", "umax", "__hmax"), "max"),
    **dict.fromkeys(("min", "fminf", "fmin", "umin", "__hmin"), "min"),
    **dict.fromkeys(("__hadd", "add"), "add"),
}
_GROUPS = ("cg", "cooperative_groups")
_CUB = ("cub", "hipcub")
_STANDARD = ("std", "thrust", "cuda")
_MAX, _MIN = ("max", "a > b ? a : b"), ("min", "a < b ? a : b")
#: Functors of libraries by namespace and name: what they do, and the text for it. `std::less` says which is less.
FUNCTORS: dict[tuple[str, str], tuple[str, str]] = {
    **dict.fromkeys(((n, "plus") for n in (*_GROUPS, *_STANDARD)), ("add", "a + b")),
    **dict.fromkeys(((n, "Sum") for n in _CUB), ("add", "a + b")),
    **dict.fromkeys([(n, "greater") for n in _GROUPS] + [(n, "Max") for n in _CUB], _MAX),
    **dict.fromkeys([(n, "less") for n in _GROUPS] + [(n, "Min") for n in _CUB], _MIN),
    **dict.fromkeys(((n, "maximum") for n in ("thrust", "cuda")), _MAX),
    **dict.fromkeys(((n, "minimum") for n in ("thrust", "cuda")), _MIN),
    **dict.fromkeys(((n, "bit_or") for n in (*_GROUPS, *_STANDARD)), ("or", "a | b")),
    **dict.fromkeys(((n, "bit_and") for n in (*_GROUPS, *_STANDARD)), ("and", "a & b")),
    **dict.fromkeys(((n, "bit_xor") for n in (*_GROUPS, *_STANDARD)), ("xor", "a ^ b")),
}
_LEAST = "[](auto a, auto b) { return a < b ? a : b; }"
_MOST = "[](auto a, auto b) { return a > b ? a : b; }"
_OR, _AND, _XOR = (f"[](auto a, auto b) {{ return a {sign} b; }}" for sign in "|&^")
COLLECTIVES = (
    Collective("__reduce_add_sync", "add", ("sum(", ")"), promoted=True),
    Collective("__reduce_min_sync", "min", ("reduce(", f", {_LEAST})")),
    Collective("__reduce_max_sync", "max", ("reduce(", f", {_MOST})")),
    Collective("__reduce_or_sync", "or", ("reduce(unsigned(", f"), {_OR})"), "unsigned"),
    Collective("__reduce_and_sync", "and", ("reduce(unsigned(", f"), {_AND})"), "unsigned"),
    Collective("__reduce_xor_sync", "xor", ("reduce(unsigned(", f"), {_XOR})"), "unsigned"),
    Collective("__any_sync", "or", ("any(", ")"), "int"),
    Collective("__all_sync", "and", ("all(", ")"), "int"),
)


def _lambda(body: str) -> str:
    return f"[](auto a, auto b) {{ return {body}; }}"


def by_operator(v: Name, sign: str) -> Combined:
    """What an operator does."""
    op = OPERATORS[sign]
    text = f"sum({v.text})" if op == "add" else f"reduce({v.text}, {_lambda(f'a {sign} b')})"
    return Combined(v, op, (text,))


def by_comparison(v: Name, c: Binary, forward: bool, keeps: bool) -> Combined | None:
    """What a choice does between `v` and the other value. `forward`: `v` is on the left of the comparison; `keeps`: it
    is taken where the comparison holds."""
    if c.op not in ("<", ">", "<=", ">="):
        return None
    x, y = ("a", "b") if forward else ("b", "a")
    yes, no = ("a", "b") if keeps else ("b", "a")
    op = "max" if (c.op[0] == ">") == (forward == keeps) else "min"
    return Combined(v, op, (f"reduce({v.text}, {_lambda(f'{x} {c.op} {y} ? {yes} : {no}')})",))


def _sides(r: Reading, v: Name, a: Expr, b: Expr) -> int:
    """1 if `a` is the variable and `b` the other lane's value, -1 if it is the other way round, else 0."""
    return 1 if r.same(a, v) and r.is_other(b, v) else -1 if r.same(b, v) and r.is_other(a, v) else 0


def _target(s: Stmt) -> tuple[Name, str, Expr] | None:
    """The variable, the operator before `=` and the value of an assignment."""
    e = s.expr if isinstance(s, Eval) and s.end >= 0 else None
    if not isinstance(e, Assign) or not isinstance(e.target, Name):
        return None
    return e.target, e.op.removesuffix("="), e.value


def _compound(r: Reading, s: Stmt) -> Combined | None:
    got = _target(s)
    if got is None or got[1] not in OPERATORS or not r.is_other(got[2], got[0]):
        return None
    return by_operator(got[0], got[1])


def _operator(r: Reading, s: Stmt) -> Combined | None:
    got = _target(s)
    if got is None or got[1] or not isinstance(got[2], Binary) or got[2].op not in OPERATORS:
        return None
    v, e = got[0], got[2]
    return by_operator(v, e.op) if _sides(r, v, e.a, e.b) else None


def _call(r: Reading, s: Stmt) -> Combined | None:
    got = _target(s)
    if got is None or got[1] or not isinstance(got[2], CallExpr) or len(got[2].args) != 2:
        return None
    v, e = got[0], got[2]
    found = r.function(e)
    if found is None or not _sides(r, v, *e.args):
        return None
    return Combined(v, found[0], (f"reduce({v.text}, ", *found[1], ")"))


def _choice(r: Reading, s: Stmt) -> Combined | None:
    got = _target(s)
    if got is None or got[1] or not isinstance(got[2], Ternary) or not isinstance(got[2].cond, Binary):
        return None
    v, e, c = got[0], got[2], got[2].cond
    if not (isinstance(e.a, Name) and isinstance(e.b, Name)):
        return None  # not all lanes come to a shuffle in an arm
    side, arm = _sides(r, v, c.a, c.b), _sides(r, v, e.a, e.b)
    return by_comparison(v, c, side > 0, arm > 0) if side and arm else None


def _branch(r: Reading, s: Stmt) -> Combined | None:
    if not isinstance(s, If) or s.other is not None or not isinstance(s.cond, Binary):
        return None
    got = _target(single(s.then))
    if got is None or got[1] or not isinstance(got[2], Name) or not r.is_other(got[2], got[0]):
        return None  # nor to one in a branch
    side = _sides(r, got[0], s.cond.a, s.cond.b)
    return by_comparison(got[0], s.cond, side > 0, False) if side else None


STEPS = (
    Step("v += OTHER;", "wave::sum(v)", _compound),
    Step("v ^= OTHER;", "return a ^ b;", _compound),
    Step("v = OTHER + v;", "wave::sum(v)", _operator),
    Step("v = v | OTHER;", "return a | b;", _operator),
    Step("v = max(v, OTHER);", "return max(a, b);", _call),
    Step("v = smaller(OTHER, v);", "return smaller(a, b);", _call),
    Step("v = Larger()(v, OTHER);", "wave::reduce(v, Larger())", _call),
    Step("int t = OTHER; v = v < t ? t : v;", "return a < b ? b : a;", _choice),
    Step("int t = OTHER; if (t < v) v = t;", "return b < a ? b : a;", _branch),
)


def read_step(r: Reading, s: Stmt) -> Combined | None:
    """What a statement puts together, by the first row that knows it."""
    return next((got for row in STEPS if (got := row.read(r, s)) is not None), None)


def collective(e: CallExpr) -> Collective | None:
    """The row of a call."""
    return next((row for row in COLLECTIVES if row.name == callee(e)), None)
