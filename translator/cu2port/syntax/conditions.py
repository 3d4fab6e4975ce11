"""Conditions of `#if` decided by three-valued truth: true, false, or not known where what is known does not settle it.

Values are what the preprocessor has ([cpp.cond]): integers of 64 bits, `long long` or `unsigned long long`, and 0 for
every name that is no macro. `x && y` is false as soon as one side certainly is, whatever the other one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from cu2port.core.late import dataclass
from cu2port.syntax import constants
from cu2port.syntax.constants import Constant
from cu2port.syntax.cursor import ALTERNATIVE
from cu2port.syntax.expressions import LEVEL
from cu2port.syntax.lexer import is_identifier

_MOST_TOKENS = 4_000
_DEEPEST = 60  # brackets and signs in one another
_SIGNED, _UNSIGNED = "long long", "unsigned long long"
_RANK = {op: n for op, n in LEVEL.items() if LEVEL["||"] <= n}  # the preprocessor has no assignment
_TRUE, _FALSE = Constant(1, _SIGNED), Constant(0, _SIGNED)


@dataclass(frozen=True, slots=True)
class Macro:
    """What is known of a macro. `defined` None: not known; `value` None: not known; `set`: it is certainly not 0."""

    defined: bool | None = None
    value: Constant | None = None
    set: bool = False


UNKNOWN = Macro()
UNDEFINED = Macro(False, _FALSE)
SET = Macro(True, None, True)
ONE = Macro(True, _TRUE, True)
Lookup = Callable[[str], Macro]


@dataclass(frozen=True, slots=True)
class _Value:
    """An operand. `truth`: whether it is not 0, as far as known; `name`: it is that name and nothing else."""

    value: Constant | None = None
    truth: bool | None = None
    name: str = ""


_NONE = _Value()


class _NoConditionError(Exception):
    """The tokens are no condition that the preprocessor takes."""


def truth(tokens: Sequence[str], macro: Lookup, same: Callable[[str, str], bool | None] | None = None) -> bool | None:
    """Whether the condition of an `#if` holds; None if that is not known, and for what is no condition.

    `macro`: what is known of a name. `same`: whether two macros have one value, asked for `A == B`; without it, or
    where it gives None, their values decide.
    """
    if len(tokens) > _MOST_TOKENS:
        return None
    reader = _Reader(_joined(tokens), macro, same)
    try:
        found = reader.condition(0)
        return found.truth if reader.at == len(reader.t) else None
    except _NoConditionError:
        return None


def _joined(tokens: Sequence[str]) -> list[str]:
    """Tokens with `>>` as one: the lexer gives each `>` alone, since two may close templates."""
    out = [ALTERNATIVE.get(tok, tok) for tok in tokens]
    if ">" in out:
        for k in [k for k, (a, b) in enumerate(pairwise(out)) if a == b == ">"]:
            if out[k] == ">":
                out[k : k + 2] = [">>", ""]
        out = [tok for tok in out if tok]
    return out


@dataclass(slots=True)
class _Reader:
    """A condition that is read from the left; `at` is the next token."""

    t: list[str]
    macro: Lookup
    same: Callable[[str, str], bool | None] | None
    at: int = 0

    def _next(self) -> str:
        return self.t[self.at] if self.at < len(self.t) else ""

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise _NoConditionError
        self.at += 1

    def condition(self, depth: int) -> _Value:
        if depth > _DEEPEST:
            raise _NoConditionError
        asked = self._binary(0, depth)
        if self._next() != "?":
            return asked
        self.at += 1
        a = self.condition(depth + 1)
        self._take(":")
        b = self.condition(depth + 1)
        if asked.truth is None:
            return a if a == b and not a.name else _NONE if a.truth != b.truth else _Value(None, a.truth)
        chosen = a if asked.truth else b
        if a.value is None or b.value is None:
            return _Value(None, chosen.truth)
        return _of(constants.chosen(Constant(int(asked.truth)), a.value, b.value))

    def _binary(self, least: int, depth: int) -> _Value:
        left = self._unary(depth)
        while (op := self._next()) in _RANK and _RANK[op] >= least:
            self.at += 1
            left = self._joined(op, left, self._binary(_RANK[op] + 1, depth))
        return left

    def _joined(self, op: str, a: _Value, b: _Value) -> _Value:
        if op == "&&":
            return _truth(False if a.truth is False or b.truth is False else (a.truth and b.truth))
        if op == "||":
            return _truth(True if a.truth or b.truth else None if a.truth is None or b.truth is None else False)
        if op in ("==", "!=") and a.name and b.name and self.same is not None:
            equal = self.same(a.name, b.name)
            if equal is not None:
                return _truth(equal == (op == "=="))
        if a.value is None or b.value is None:
            # what is certainly not 0 differs from 0
            if op in ("==", "!=") and ((a.truth and b.truth is False) or (b.truth and a.truth is False)):
                return _truth(op == "!=")
            return _NONE
        return _of(constants.binary(op, a.value, b.value))

    def _unary(self, depth: int) -> _Value:
        if depth > _DEEPEST:
            raise _NoConditionError
        tok = self._next()
        self.at += 1
        if tok in ("!", "-", "+", "~"):
            of = self._unary(depth + 1)
            if tok == "!":
                return _truth(None if of.truth is None else not of.truth)
            return _NONE if of.value is None else _of(constants.unary(tok, of.value))
        if tok == "(":
            inner = self.condition(depth + 1)
            self._take(")")
            return inner
        if tok == "defined":
            return self._defined()
        if tok and is_identifier(tok) and tok not in ("true", "false"):
            return self._name(tok)
        found = constants.literal(tok) if tok else None
        if found is None:
            raise _NoConditionError
        # the preprocessor has one width: without a `u`, whatever fits is signed
        unsigned = tok[0] != "'" and ("u" in tok.lower() or not constants.fits(found.value, _SIGNED))
        return _of(constants.convert(found, _UNSIGNED if unsigned else _SIGNED))

    def _defined(self) -> _Value:
        bracket = self._next() == "("
        self.at += bracket
        name = self._next()
        if not name or not is_identifier(name):
            raise _NoConditionError
        self.at += 1
        if bracket:
            self._take(")")
        return _truth(self.macro(name).defined)

    def _name(self, name: str) -> _Value:
        known = self.macro(name)
        if self._next() == "(":  # a macro with arguments, `__has_include(<x>)`
            self._pass_over()
            # a preprocessor stops at a call of what is none, but for what an edit makes 0 of
            return _truth(False) if known.defined is False else _NONE
        if known.defined is False:
            return _Value(_FALSE, False, name)
        if known.value is None:
            return _Value(None, True if known.set else None, name)
        found = _of(known.value)
        return _Value(found.value, found.truth, name)

    def _pass_over(self) -> None:
        depth = 0
        while self.at < len(self.t):
            depth += (self.t[self.at] == "(") - (self.t[self.at] == ")")
            self.at += 1
            if not depth:
                return
        raise _NoConditionError


def _truth(known: bool | None) -> _Value:
    return _NONE if known is None else _Value(_TRUE if known else _FALSE, known)


def _of(found: Constant | None) -> _Value:
    """A value in the preprocessor's types; none where C++ gives none, as for a division by zero."""
    if found is None:
        return _NONE
    wide = constants.convert(found, _UNSIGNED if found.type == _UNSIGNED else _SIGNED)
    return _Value(wide, wide.value != 0)
