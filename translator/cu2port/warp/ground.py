"""What stands behind names outside of functions, and what is found out of literals while a file is interpreted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.statements import Parser
from cu2port.syntax.tree import Block, CallExpr, Expr, Member, Name, Other, walk
from cu2port.warp.events import Event, Frame
from cu2port.warp.model import Device, constants, macro_expression
from cu2port.warp.roles import Role
from cu2port.warp.values import (
    NOTHING,
    UNIFORM,
    VARY,
    WARPS,
    Kind,
    Step,
    V,
    by_name,
    is_block_size,
    is_weak,
    join_all,
    named_constant,
)

WIDE = 32
_SCALES = re.compile(r"(?i)scal(?:e|ing)|quant")
_MOST_THREADS = 1024
_MOST_LOOKS = 512  # macros and constants that are looked into for one use of one
_DEEPEST = 32  # of them in one another
WATCHED = frozenset({32, 31, 5})
TOLD = frozenset(
    {
        Kind.LANE,
        Kind.WARP,
        Kind.GLOBAL_WARP,
        Kind.MASK,
        Kind.COUNT,
        Kind.THREAD,
        Kind.LINEAR,
        Kind.GLOBAL,
        Kind.LANE_BIT,
    }
)


def names_in(e: Expr) -> str:
    """The names of an expression in a row: what two expressions are about the same by."""
    out: dict[str, None] = {}
    for x in walk(e):
        if isinstance(x, Name):
            out[x.text] = None
        elif isinstance(x, Member):
            out["." + x.name] = None
    return " ".join(out)


class Use(NamedTuple):
    """One use of a literal. `lane`: whether it counts lanes; None: only if the function works with warps.
    `hint`: the variable that the result goes to; `function`: where; `about`: the names in what it meets there;
    `named`: a name stands for the literal there; `first`: in a branch that only one warp takes."""

    role: Role
    lane: bool | None
    other: Kind
    why: Step | None
    hint: str
    function: str
    about: str = ""
    named: bool = False
    first: bool = False


@dataclass(slots=True)
class Array:
    """An array in shared memory: the literals in its sizes, and what it is indexed with, by dimension."""

    at: int
    name: str
    dims: list[V]
    used: list[set[Kind]] = field(default_factory=list)


class Ground:
    """What is known while a file is interpreted, and what is found out; expressions are `Evaluator`'s."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.devices: dict[str, list[Device]] = {}
        self.uses: dict[int, dict[Use, None]] = {}
        self.arrays: dict[int, Array] = {}
        self.shared: dict[str, Array] = {}
        self.env: dict[str, V] = {}
        self.device: Device | None = None
        self.frames: tuple[Frame, ...] = ()
        self.loops: tuple[int, ...] = ()
        self.hint = ""
        self.dirty: dict[str, None] = {}
        self.extents: set[tuple[str, str]] = set()  # function and names of what lanes are compared with
        self._sides: tuple[V, Expr, V, Expr] | None = None  # of the operator that is being evaluated
        self.constants = constants(unit)
        self.outer: dict[str, int] = {}  # constants of headers
        self.widths: dict[str, tuple[frozenset[int], frozenset[int]]] = {}  # functions of headers, see `across`
        self.results: dict[str, Kind] = {}
        self.lanes_of: set[tuple[str, int]] = set()  # functions and positions that lanes are passed to
        self.numbers_of: dict[tuple[str, int], dict[tuple[V, str], None]] = {}  # and that literals are passed to
        self.masks: set[str] = set()  # members that hold masks of lanes
        self._bodies: dict[int, Expr | Block] = {}
        self._open: set[str] = set()  # macros and constants that are being looked into
        self._looked = 0  # how many were since the first of them
        self._found: dict[str, V | None] | None = None  # constants used by the one that is being looked into
        self.site = -1  # the token where the macro that is being expanded is in the function

    def outside(self) -> None:
        """Look at constants of classes and of the file, of which no function may have made use."""
        for name, first in self.constants.items():
            if any(t[0].isdigit() and integer(t) in WATCHED for t in self.unit.t[first : first + 12]):
                self.device, self.hint = None, name
                self.bind(name, self._constant_value(first), first)
        self.hint = ""
        self.env = {}

    # --- what is found out ----------------------------------------------------------------------------------------

    def use(self, b: V, role: Role, lane: bool | None, other: V) -> None:
        """A literal's role."""
        if not b.src:
            return
        name = self.device.name if self.device is not None else ""
        about = ""
        if self._sides is not None:
            va, a, vb, side = self._sides
            about = names_in(a if other is va else side if other is vb else Other(0))
        named = any(not self.unit.t[at][0].isdigit() for at in b.src)
        u = Use(role, lane, other.kind, other.why, self.hint, name, about, named, self.in_first_warp())
        for at in b.src:
            self.uses.setdefault(at, {})[u] = None

    def in_first_warp(self) -> bool:
        """Whether only one warp comes here: the branch of `if (threadIdx.x < 32)`."""
        return any(f.cond.num == (WIDE, -WIDE)[f.arm] for f in self.frames if f.arm in (0, 1))

    def event(self, kind: str, at: int, name: str, values: tuple[V, ...] = (), node: CallExpr | None = None) -> None:
        """Something lanes must agree on."""
        if self.device is None:
            return
        place = self.site if self.site >= 0 else at
        old = self.device.events.get((kind, place))
        if old is not None and place != at and [f[:2] for f in old.frames] != [f[:2] for f in self.frames]:
            place = at  # a macro that meets lanes in several branches of its own
        self.device.events[kind, place] = Event(kind, place, name, self.frames, self.loops, values, node)

    def statements(self, body: Block) -> None:
        """Interpret statements (of a macro, of a lambda)."""
        raise NotImplementedError

    def value(self, e: Expr | None) -> V:
        """The value of an expression."""
        raise NotImplementedError

    # --- names from outside of functions ---------------------------------------------------------------------------

    def _constant(self, text: str, at: int) -> V | None:
        """What a name outside the function is: a macro, a constant of the file, or one known by its name."""
        if text in self._open:
            return None
        found = self._found
        if found is None:
            self._found = {}
        if found is not None and text in found:
            v = found[text]
        else:
            v = self._look_into(text, at) if self.looks_into(text) else None
            if found is not None:
                found[text] = v
        self._found = found
        meaning = named_constant(text)
        if meaning == "size" and is_weak(text) and (v is None or v.num != WIDE):
            return v
        if meaning == "size" and (v is None or v.num in (None, WIDE)):
            return V(Kind.SIZE, UNIFORM, 32, (*(v.src if v else ()), at), Step(at, f"`{text}` is the warp size", None))
        if meaning == "mask" and v is not None and v.num == 31:
            return V(Kind.SIZE, UNIFORM, 31, (*v.src, at), Step(at, f"`{text}` is the warp size less one", None))
        if meaning == "log" and (v is None or v.num in (None, 5)):
            return V(Kind.SIZE, UNIFORM, 5, (*(v.src if v else ()), at), Step(at, f"`{text}` is its logarithm", None))
        if v is not None:
            if v.num in (32, 31, 5) and v.kind in (Kind.NUMBER, Kind.SIZE):
                v = v._replace(src=(*v.src, at) if at not in v.src else v.src)
            if v.kind in (Kind.NUMBER, Kind.PRODUCT) and is_block_size(text):
                v = v._replace(kind=Kind.BLOCK)
            return v
        if by_name(text) is Kind.COUNT:
            return V(Kind.COUNT)
        if is_block_size(text) and (text[:1].isupper() or self.device is None):
            return V(Kind.BLOCK)
        return None

    def looks_into(self, name: str) -> bool:
        """Whether a macro or a constant is looked into: none in itself, and from one place a limited number, since each
        may use another one twice."""
        if not self._open:
            self._looked = 0
        self._looked += 1
        return name not in self._open and self._looked <= _MOST_LOOKS and len(self._open) < _DEEPEST

    def _look_into(self, text: str, at: int) -> V | None:
        """The value of a macro without parameters, or of a constant of the file or of a header."""
        self._open.add(text)
        try:
            macros = self.unit.macros.get(text, ())
            if macros:
                site, self.site = self.site, self.site if self.site >= 0 else at
                values = [self.value(self._macro(m.first)) for m in macros if m.params is None and m.stop > m.first]
                self.site = site
                return join_all(values) if values else None
            if text in self.constants:
                return self._constant_value(self.constants[text])
            if text in self.outer:
                n = self.outer[text]
                return V(Kind.NUMBER, UNIFORM, n, (at,) if n in WATCHED else ())
            return None
        finally:
            self._open.discard(text)

    def _constant_value(self, first: int) -> V:
        body = self._bodies.get(first)
        if body is None:
            stop = min(len(self.unit.t), first + 60)
            body = self._bodies[first] = Parser(self.unit, first, stop, jump=False).expr(stop)
        return self.value(body) if not isinstance(body, Block) else NOTHING

    def _macro(self, first: int) -> Expr:
        body = self._bodies.get(first)
        if body is None or isinstance(body, Block):
            m = next(m for ms in self.unit.macros.values() for m in ms if m.first == first)
            body = macro_expression(self.unit, m)
            self._bodies[first] = body
        return body

    def bind(self, name: str, v: V, at: int) -> None:
        """Give a variable a value."""
        vary = v.vary
        why = v.why
        if v.kind is Kind.QUOTIENT and "bit" in name.lower():
            v = V(Kind.UNKNOWN, vary, None, (), why)  # `bitmap_words = (n + 31) / 32`
        if v.kind is Kind.SHARE and _SCALES.search(name):
            v = V(Kind.UNKNOWN, vary, None, (), why)  # `threads_per_scale = 32 / values`: groups of 32 values
        if v.kind in TOLD and (why is None or why.before is None or not why.text.startswith("kept")):
            why = Step(at, f"kept as `{name}`, {v.kind.value}", v.why)
        known = by_name(name) if v.kind in (Kind.UNKNOWN, Kind.DATA, Kind.PART) and v.num is None else Kind.UNKNOWN
        if known is not Kind.UNKNOWN and (v.kind is not Kind.DATA or known is not Kind.LINEAR):
            v = V(known, max(vary, VARY[known]), None, v.src, Step(at, f"`{name}` is {known.value} by its name", None))
        elif v.kind is Kind.THREAD_Y and known is Kind.UNKNOWN and by_name(name) is Kind.WARP:
            v = V(Kind.WARP, WARPS, None, (), Step(at, f"`{name}` is a warp id by its name", v.why))
        elif v.kind in (Kind.NUMBER, Kind.UNKNOWN) and v.vary == UNIFORM and is_block_size(name):
            v = v._replace(kind=Kind.BLOCK)
        elif v.kind is Kind.PRODUCT and v.num is not None and is_block_size(name) and v.num <= _MOST_THREADS:
            self.use(v, Role.COUNT, True, V(Kind.BLOCK))  # `constexpr int kThreads = 8 * 32`
            v = v._replace(kind=Kind.BLOCK)
        elif v.kind is Kind.PRODUCT and v.num is None and v.vary == UNIFORM and is_block_size(name):
            self.use(v, Role.BLOCK, None, NOTHING)
            v = v._replace(kind=Kind.BLOCK)
        elif v.num in WATCHED and v.kind is Kind.NUMBER and v.src and named_constant(name):
            v = v._replace(kind=Kind.SIZE)
        elif v.num is None and v.vary == UNIFORM and named_constant(name) == "size" and not is_weak(name):
            if v.src and v.kind in (Kind.NUMBER, Kind.UNKNOWN):  # `kWarpSize = min(kThreads, 32)`
                self.use(v, Role.SIZE, True, NOTHING)
            if v.kind in (Kind.NUMBER, Kind.UNKNOWN):
                v = V(Kind.SIZE, UNIFORM, None, v.src, v.why)
        self.env[name] = v._replace(vary=max(vary, v.vary), why=why if v.why is None or v.kind in TOLD else v.why)
