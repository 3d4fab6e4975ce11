"""Statements of device functions over the lexer's tokens, and what reads expressions with them.

Both sides of every `#if` are read, one after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from cu2port.syntax.expressions import DEPTH, ExpressionParser
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import (
    first_token,
    last_token,
)
from cu2port.syntax.source import Source
from cu2port.syntax.tree import (
    Asm,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Jump,
    Lambda,
    Loop,
    Name,
    Other,
    Param,
    Stmt,
    Switch,
)
from cu2port.syntax.types import BASIC
from cu2port.syntax.words import CLASS_KEYS, CONDITIONS, LEAVING, NO_TYPES, QUALIFIERS, STATEMENTS

_STARTS = CONDITIONS | {"do", "return", "{"}
_WAYS = STATEMENTS | {"#"}


class Parser(ExpressionParser):
    """Reads statements of a function's body.

    `only`: tokens in order; a statement that holds none of them and none of `_WAYS` is stepped over. None: none is."""

    only: list[int] | None = None

    # --- statements -----------------------------------------------------------------------------------------------

    def block(self, stop: int) -> Block:
        """Statements up to token `stop`."""
        at = self.i
        out: list[Stmt] = []
        while self.i < stop:
            before = self.i
            s = self.statement(stop)
            if s is not None:
                out += s.body if isinstance(s, Block) and s.at < 0 else (s,)
            if self.i == before:
                self._next()
        return Block(at, tuple(out))

    def statement(self, stop: int) -> Stmt | None:
        """One statement, or None where there is none (`;`, a stray bracket)."""
        self.depth += 1
        try:
            if self.depth > DEPTH:
                self._to(stop)
                return None
            return self._statement(stop)
        finally:
            self.depth -= 1

    def _statement(self, stop: int) -> Stmt | None:
        i, tok = self.i, self._tok(stop)
        while tok == "[" and self._is(i + 1, stop, "["):  # an attribute
            self._behind(self._partner(i, stop), stop)
            i, tok = self.i, self._tok(stop)
        read = Parser._asm if tok in self.source.asm_words else _BY_WORD.get(tok)
        if read is not None:
            return read(self, tok, stop)
        if tok in CLASS_KEYS and self._defines_class(stop):
            return None
        if self.only is not None and self._steps_over(self.only, stop):
            return None
        if is_identifier(tok):
            if self._is(i + 1, stop, ":") and tok not in QUALIFIERS:  # a label
                self._to(i + 2)
                return None
            if tok in self.source.macros and self._stands_alone(tok):
                self._next()
                return Eval(i, Name(i, tok), self._semicolon_here(stop))
            d = self._declaration(stop)
            if d is not None:
                return d
        return self._expression(stop)

    def _expression(self, stop: int) -> Stmt:
        i, e = self.i, self.expr(stop)
        while self._tok(stop) == ",":
            comma = self.i
            self._next()
            e = self._pair(e, comma, self.expr(stop))
        end = self.i if self._tok(stop) == ";" else -1
        after = self._tok(stop)
        bare = isinstance(e, Name) and (after in _STARTS or (e.text.isupper() and is_identifier(after or ";")))
        if end >= 0 or not (bare or (isinstance(e, CallExpr) and self.i < stop and self._starts(self.i))):
            self._semicolon(stop)
        return Eval(i, e, end)

    def _nothing(self, word: str, stop: int) -> None:
        if word:
            self._next()

    def _compound(self, word: str, stop: int) -> Stmt:
        close = self._partner(self.i, stop)
        self._next()
        b = self.block(close)
        self._behind(close, stop)
        return b

    def _jump(self, word: str, stop: int) -> Stmt:
        i = self.i
        self._next()
        value = self.expr(stop) if word == "return" and self._tok(stop) != ";" else None
        self._semicolon(stop)
        return Jump(i, "return" if word == "co_return" else word, value)

    def _case(self, word: str, stop: int) -> Stmt:
        i = self.i
        self._next()
        value = self.expr(stop, 4) if word == "case" else None
        while self.i < stop and self._tok(stop) not in (":", ";", "}"):
            self._next()
        if self.i < stop:
            self._next()
        return Jump(i, word, value)

    def _passed(self, word: str, stop: int) -> None:
        """A word that begins what is no statement, with the rest of it; `else` and `template` by themselves."""
        self._next()
        if word not in ("else", "template"):
            self._semicolon(stop)

    def _defines_class(self, stop: int) -> bool:
        """Go behind the class here; nowhere if none is defined."""
        k = self.i + 1
        while k < stop and self.t[k] not in ("{", ";", "=", "("):
            k += 1
        if k < stop and self.t[k] == "{":
            self._behind(self._partner(k, stop), stop)
            self._semicolon(stop)
            return True
        return False

    def _steps_over(self, only: list[int], stop: int) -> bool:
        """Go behind the statement here, or nowhere if it must be read."""
        k = self.i
        while k < stop and self.t[k] not in (";", "}"):
            k = self.match[k] + 1 if self.match[k] > k else k + 1
        n = bisect_left(only, self.i)
        if (n < len(only) and only[n] < k) or not (_WAYS | self.source.asm_words).isdisjoint(self.t[self.i : k]):
            return False
        self._to(k + 1 if self._is(k, stop, ";") else k)
        return True

    def _stands_alone(self, name: str) -> bool:
        """Whether a name is a macro without parameters that is a statement."""
        return any(
            m.params is None and m.stop > m.first and (self.t[m.first] in _STARTS or ";" in self.t[m.first : m.stop])
            for m in self.source.macros[name]
        )

    def _starts(self, i: int) -> bool:
        """Whether token i may begin a statement: the one before was a macro without a semicolon."""
        return is_identifier(self.t[i]) or self.t[i] in ("{", "}", "*", "++", "--")

    def _control(self, word: str, stop: int) -> Stmt:
        at = self.i
        self._next()
        if word == "do":
            body = self.statement(stop) or Block(at, ())
            cond: Expr | None = None
            if self._tok(stop) == "while":
                self._next()
                cond = self.bracketed(stop)
            self._semicolon(stop)
            return Loop(at, word, None, cond, None, body)
        while self._tok(stop) in ("constexpr", "consteval") or (word == "if" and self._tok(stop) == "!"):
            self._next()
        init: Stmt | None = None
        step: Expr | None = None
        if word == "for" and self._tok(stop) == "(":
            close = self._partner(self.i, stop)
            self._next()
            init = self.statement(close) if self._tok(close) != ";" else None
            if init is None and self._tok(close) == ";":
                self._next()
            cond = self.expr(close) if self.i < close and self._tok(close) != ";" else None
            while self.i < close and self._tok(close) != ";":
                self._next()
            if self.i < close:
                self._next()
            steps = []
            while self.i < close:
                before = self.i
                steps.append(self.expr(close))
                if self._tok(close) == "," or self.i == before:
                    self._next()
            step = steps[0] if len(steps) == 1 else None
            if len(steps) > 1:
                step = Other(at, tuple(steps), first_token(steps[0]), last_token(steps[-1]))
            self._behind(close, stop)
            return Loop(at, word, init, cond, step, self.statement(stop) or Block(at, ()))
        if word != "for" and self._tok(stop) == "(":
            close = self._partner(self.i, stop)
            if word in ("if", "switch") and ";" in self.t[self.i : close]:
                self._next()
                init = self.statement(close)
                cond = self.expr(close)
                self._behind(close, stop)
            else:
                cond = self.bracketed(stop)
        else:
            cond = self._empty(at)
        head = cond if cond is not None else self._empty(at)
        body = self.statement(stop) or Block(at, ())
        s: Stmt
        if word == "if":
            other = None
            if self._tok(stop) == "else":
                self._next()
                other = self.statement(stop)
            s = If(at, head, body, other)
        elif word == "switch":
            s = Switch(at, head, body)
        else:
            s = Loop(at, word, None, head, None, body)
        return s if init is None else Block(at, (init, s))

    def bracketed(self, stop: int) -> Expr:
        """The condition in the brackets that open here; a declaration in it counts as its initialiser."""
        if self._tok(stop) != "(":
            return self._empty(self.i)
        close = self._partner(self.i, stop)
        self._next()
        e = self.expr(close)
        while self.i < close:
            before = self.i
            if self._tok(close) in (",", "="):
                self._next()
            e = self._pair(e, before, self.expr(close))
            if self.i == before:
                self._next()
        self._behind(close, stop)
        return e

    def _asm(self, word: str, stop: int) -> Stmt | None:
        at = self.i
        while self.i < stop and self._tok(stop) not in ("(", ";"):
            self._next()
        first = self.i
        if self._tok(stop) != "(":
            self._semicolon(stop)
            return None
        close = self._partner(first, stop)
        sides: list[list[Expr]] = [[], [], []]  # the text, what is written, what is read
        k, side = first + 1, 0
        while k < close:
            if self.t[k] in (":", "::"):
                side = min(side + len(self.t[k]), 3)
            elif self.t[k] == "(" and k < self.match[k] <= close:
                if side in (1, 2):
                    sides[side].append(
                        Parser(self.source, k + 1, self.match[k], False, self.depth + 1).expr(self.match[k])
                    )
                k = self.match[k]
            k += 1
        self._behind(close, stop)
        self._semicolon(stop)
        return Asm(at, first + 1, close, tuple(sides[1]), tuple(sides[2]))

    # --- declarations ---------------------------------------------------------------------------------------------

    def _declaration(self, stop: int) -> Stmt | None:
        """The variables declared here; None (nothing read) if this is not a declaration."""
        got = self.type_end(self.i, stop)
        if got is None:
            return None
        k, words, pointer = got
        if "auto" in words and self._is(k, stop, "[") and (bound := self.bound(k, stop)):
            self._semicolon(stop)
            return Block(-k - 1, bound)
        if not (k < stop and is_identifier(self.t[k])) or self.t[k] in NO_TYPES:
            return None
        after = self.t[k + 1] if k + 1 < stop else ";"
        if after not in ("=", ";", "[", "(", "{", ",", ":"):
            return None
        shared, volatile = "__shared__" in words, bool(words & {"volatile", "__volatile__"})
        out: list[Stmt] = []
        at = self.i
        self._to(k)
        while True:
            name_at, name = self.i, self.t[self.i]
            self._next()
            dims: list[Expr] = []
            while self._tok(stop) == "[":
                close = self._partner(self.i, stop)
                self._next()
                if self.i < close:
                    dims.append(self.expr(close))
                self._behind(close, stop)
            init: Expr | None = None
            if self._tok(stop) in ("=", ":"):
                self._next()
                init = self.expr(stop, 2)
            elif self._tok(stop) in ("(", "{"):
                opener, close = self.i, self._partner(self.i, stop)
                given = self._list(close)
                last = self._behind(close, stop)
                init = given[0] if len(given) == 1 else Other(opener, given, opener, last)
            reference = self.t[name_at - 1] in ("&", "&&")
            out.append(Decl(name_at, name, tuple(dims), init, shared, volatile, pointer, reference))
            if self._tok(stop) != ",":
                break
            self._next()
            pointer = False
            while self._tok(stop) in ("*", "&", "const", "__restrict__", "volatile"):
                pointer = pointer or self._tok(stop) == "*"
                self._next()
            if not (self.i < stop and is_identifier(self.t[self.i])):
                break
        self._semicolon(stop)
        return out[0] if len(out) == 1 else Block(-at - 1, tuple(out))

    # --- lambdas and parameters -----------------------------------------------------------------------------------

    def lambda_(self, stop: int) -> Expr:
        at = self.i
        self._behind(self._partner(at, stop), stop)
        params: tuple[Param, ...] = ()
        while self.i < stop and self._tok(stop) not in ("{", ";", ")", ","):
            if self._tok(stop) == "(":
                close = self._partner(self.i, stop)
                params = params or self.parameters(self.i, close)
                self._to(min(close, stop - 1))
            self._next()
        if self._tok(stop) != "{":
            return Other(at, (), at, self._last())
        close = self._partner(self.i, stop)
        self._next()
        body = self.block(close)
        return Lambda(at, params, body, self._behind(close, stop))

    def parameters(self, open_at: int, close: int) -> tuple[Param, ...]:
        """The parameters between two brackets."""
        source = self.source
        out = []
        for span in source.split_args(open_at + 1, close):
            first, stop = source.lexed.at(span.start), source.lexed.at(span.end)
            if first >= stop:
                continue
            eq = next((k for k in range(first, stop) if source.t[k] == "="), stop)
            default = type(self)(source, eq + 1, stop, False, self.depth + 1).expr(stop) if eq + 1 < stop else None
            words = source.t[first:eq]
            k = eq - 1
            while k > first and source.t[k] == "]" and first < source.match[k]:
                k = source.match[k] - 1
            name = source.t[k] if k > first and is_identifier(source.t[k]) and source.t[k] not in BASIC else ""
            reference = bool(name) and source.t[k - 1] in ("&", "&&")
            pointer = "*" in words or "[" in words
            out.append(Param(k if name else -1, name, default, pointer, "volatile" in words, reference))
        return tuple(out)


_BY_WORD: dict[str, Callable[[Parser, str, int], Stmt | None]] = {
    **dict.fromkeys((";", "}", ")", "]", ""), Parser._nothing),
    "{": Parser._compound,
    **dict.fromkeys(CONDITIONS | {"do"}, Parser._control),
    **dict.fromkeys(LEAVING, Parser._jump),
    **dict.fromkeys(("case", "default"), Parser._case),
    **dict.fromkeys("using typedef friend else template namespace".split(), Parser._passed),
}


def parameters(source: Source, open_at: int, close: int) -> tuple[Param, ...]:
    """The parameters between two brackets."""
    return Parser(source, open_at + 1, close, jump=False).parameters(open_at, close)


def read_body(source: Source, first: int, stop: int) -> Block:
    """The statements of tokens [first, stop)."""
    return Parser(source, first, stop).block(stop)


def read_expression(source: Source, first: int, stop: int) -> Expr:
    """The expression of tokens [first, stop)."""
    return Parser(source, first, stop, jump=False).expr(stop)
