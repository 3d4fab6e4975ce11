"""What lifting takes and gives: the context of an asm statement, its lines of C++, or why it stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cu2port.core.model import Span
from cu2port.facts.clang import Expr
from cu2port.ptx.aliasing import NOTHING_KNOWN, Objects
from cu2port.ptx.asm import Reading
from cu2port.ptx.ir import Place, Statement
from cu2port.ptx.parse import PtxSyntaxError, parse_inline
from cu2port.ptx.tokens import COMMENTS
from cu2port.ptx.vector_registers import scalars

TOGETHER = "write the statements that belong together as one"
CHAIN = "write the whole chain as one asm statement, or with wider integers or __builtin_addc"


class RefusedError(ValueError):
    """A statement that stays as it is. `what`: the instruction, or "" where it is the whole text; `why`; `instead`.

    `shared`: it belongs together with other asm statements, by a carry, a register or a scope.
    """

    def __init__(self, what: str, why: str, instead: str = "", shared: bool = False) -> None:
        super().__init__(f"`{what}`: {why}" if what else why)
        self.what, self.why, self.instead, self.shared = what, why, instead, shared


@dataclass(frozen=True, slots=True)
class Lifted:
    """Lines of C++ for one reading. `scoped`: they declare names, so they need a block of their own.

    `instructions`: opcodes, in order. `helpers`: whether the lines call functions of ptx.hpp.
    `declares`: of a statement that belongs together with others, the names and declarations in front of it; else None.
    """

    lines: tuple[str, ...]
    instructions: tuple[str, ...]
    scoped: bool
    helpers: bool
    declares: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around a statement.

    `text`: the file. `types`: libclang's answers, by span of the operand's expression. `reserved`: sets of identifiers
    that locals must not take. `objects`: what the names in operands are. `fp`: as in `Options`.
    `macro`: the parameters of the macro that the statement is in, which may be any expression; None outside of one.
    `volatile`: the statement says so. `kernel`: it is in a kernel itself, where a `return` ends the thread.
    `shared`: registers, and the carry flag, that it has in common with other statements of its function.
    """

    text: str
    types: Mapping[Span, Expr]
    reserved: tuple[frozenset[str], ...]
    objects: Objects = NOTHING_KNOWN
    fp: str = "exact"
    macro: frozenset[str] | None = None
    volatile: bool = False
    kernel: bool = False
    shared: Mapping[str, Place] = field(default_factory=dict)


def parse(reading: Reading) -> tuple[Statement, ...]:
    """The statements of a reading. Raises RefusedError with the place in the text."""
    code = COMMENTS.sub(" ", reading.text)
    if code.count("{") != code.count("}"):
        raise RefusedError("", "a scope of it goes on in another asm statement", TOGETHER, shared=True)
    try:
        return scalars(parse_inline(reading.text))
    except PtxSyntaxError as e:
        raise RefusedError("", f"its text cannot be read at line {e.line}, column {e.column}: {e.message}") from None
