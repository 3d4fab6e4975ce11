"""Names from outside of functions: macros and constants, looked into with a limit, and macros that are expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import Parser
from cu2port.syntax.tree import Block, Expr
from cu2port.warp.model import constants, macro_body, macro_expression
from cu2port.warp.uses import WATCHED, WIDE
from cu2port.warp.values import (
    NOTHING,
    UNIFORM,
    Kind,
    Step,
    V,
    by_name,
    is_block_size,
    is_weak,
    join_all,
    named_constant,
)

_MOST_LOOKS = 512  # macros and constants that are looked into for one use of one
_DEEPEST = 32  # of them in one another


class OuterNames:
    """What the names of one file mean that no function declares. `value` evaluates their expressions where they are
    used: a macro sees the names of that place."""

    def __init__(self, unit: Unit, value: Callable[[Expr], V]) -> None:
        self.unit = unit
        self.constants = constants(unit)
        self.of_headers: dict[str, int] = {}
        self.site = -1  # the token where the macro that is being expanded is in the function
        self._value = value
        self._bodies: dict[int, Expr | Block] = {}
        self._open: set[str] = set()  # macros and constants that are being looked into
        self._looked = 0  # how many were since the first of them
        self._found: dict[str, V | None] | None = None  # constants used by the one that is being looked into

    def constant(self, text: str, at: int, in_function: bool) -> V | None:
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
        if is_block_size(text) and (text[:1].isupper() or not in_function):
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
                values = [self._value(self.macro(m)) for m in macros if m.params is None and m.stop > m.first]
                self.site = site
                return join_all(values) if values else None
            if text in self.constants:
                return self.at(self.constants[text])
            if text in self.of_headers:
                n = self.of_headers[text]
                return V(Kind.NUMBER, UNIFORM, n, (at,) if n in WATCHED else ())
            return None
        finally:
            self._open.discard(text)

    def at(self, first: int) -> V:
        """The value of a constant whose initializer begins at a token."""
        body = self._bodies.get(first)
        if body is None:
            stop = min(len(self.unit.t), first + 60)
            body = self._bodies[first] = Parser(self.unit, first, stop, jump=False).expr(stop)
        return self._value(body) if not isinstance(body, Block) else NOTHING

    def macro(self, m: Macro) -> Expr:
        """The expression of a macro."""
        body = self._bodies.get(m.first)
        if body is None or isinstance(body, Block):
            body = self._bodies[m.first] = macro_expression(self.unit, m)
        return body

    def macro_statements(self, m: Macro) -> Block:
        """The statements of a macro."""
        body = self._bodies.get(-m.first - 1)
        if not isinstance(body, Block):
            body = self._bodies[-m.first - 1] = macro_body(self.unit, m)
        return body

    def is_open(self, name: str) -> bool:
        """Whether a macro or constant is being looked into."""
        return name in self._open

    @contextmanager
    def expanding(self, name: str, at: int) -> Iterator[None]:
        """While a macro is expanded that is used at token `at`."""
        self._open.add(name)
        found, self._found = (
            self._found,
            None,
        )  # its parameters and statements change values
        site, self.site = self.site, self.site if self.site >= 0 else at
        try:
            yield
        finally:
            self._open.discard(name)
            self.site, self._found = site, found
