"""A tolerant parser of C++ expressions over the lexer's tokens: what it cannot read becomes `Other`.

Types are told from expressions by shape alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cu2port.syntax import constants
from cu2port.syntax.cursor import ALTERNATIVE, Cursor, begins_operand
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import (
    first_token,
    is_empty,
    last_token,
    tokens,
)
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expr,
    Index,
    Launch,
    Member,
    Name,
    Num,
    Operator,
    Other,
    Paren,
    Ternary,
    Unary,
    Unread,
)
from cu2port.syntax.types import BASIC
from cu2port.syntax.words import NO_TYPES, QUALIFIERS, SIZES

#: How strongly operators between operands bind.
LEVEL = {
    **dict.fromkeys(("*", "/", "%"), 14),
    **dict.fromkeys(("+", "-"), 13),
    **dict.fromkeys(("<<", ">>"), 12),
    **dict.fromkeys(("<", ">", "<=", ">="), 10),
    **dict.fromkeys(("==", "!="), 9),
    "&": 8,
    "^": 7,
    "|": 6,
    "&&": 5,
    "||": 4,
    "?": 3,
    **dict.fromkeys("= += -= *= /= %= &= |= ^= <<= >>=".split(), 2),
}
_POSTFIX = frozenset({"(", "{", "[", ".", "->", "++", "--", "<<<", "<<"})
_WORD_OPERATORS = SIZES - {"noexcept"} | {"new", "delete", "throw", "defined"}
LEVEL |= {word: LEVEL[sign] for word, sign in ALTERNATIVE.items() if sign in LEVEL}
_PREFIX = frozenset({"!", "~", "-", "+", "*", "&", "++", "--", "not", "compl"})
_CASTS = frozenset(
    "static_cast reinterpret_cast const_cast dynamic_cast __int_as_float __float_as_int __uint_as_float "
    "__float_as_uint __builtin_assume_aligned".split()
)
DEPTH = 120
_CHAIN = 64  # operands of one run (`a + b + c + ...`) that may nest; generated code has thousands


def _wrapped(e: Expr, outer: Paren | Cast | Unread) -> Expr:
    """An expression with one more around it."""
    return e._replace(around=(*e.around, outer))


def _joined(parts: Sequence[tuple[Expr, int, str]], last: Expr) -> Expr:
    """A long run of operands as a tree that is not deep; who reads it goes down by calling itself."""
    if not parts:
        return last
    middle = len(parts) // 2
    left, at, op = parts[middle]
    return Binary(at, op, _joined(parts[:middle], left), _joined(parts[middle + 1 :], last))


class ExpressionParser(Cursor):
    """Reads expressions; lambdas are read by `Parser`, which reads statements."""

    def _empty(self, at: int) -> Other:
        """No expression, before this place; `at`: a token nearby."""
        last = self._last()
        return Other(at, (), last + 1, last)

    def _beside(self, e: Expr, at: int) -> Expr:
        """An expression, with what was passed behind it from token `at` up to here: that was not understood."""
        return _wrapped(e, Unread(at if is_empty(e) else first_token(e), max(last_token(e), self._last())))

    def _pair(self, e: Expr, at: int, e2: Expr) -> Other:
        """Two expressions with a comma, or something else, at token `at` between them."""
        return Other(at, (e, e2), at if is_empty(e) else first_token(e), max(at, last_token(e2)))

    def lambda_(self, stop: int) -> Expr:
        """A lambda."""
        raise NotImplementedError

    # --- expressions ----------------------------------------------------------------------------------------------

    def expr(self, stop: int, level: int = 2) -> Expr:
        """An expression whose operators bind at least as `level`; stops at `,`, `;`, and closing brackets."""
        self.depth += 1
        try:
            if self.depth > DEPTH:
                at = self.i
                if at >= stop:
                    return self._empty(at)
                self._to(stop)
                return Other(at, (), at, stop - 1)
            left = self._prefix(stop)
            parts: list[tuple[Expr, int, str]] = []  # earlier operands of a long run, and the operators after them
            count, last = 0, 0
            while self.i < stop:
                at, op = self.i, self.t[self.i]
                if op == ">" and self._is(at + 1, stop, ">") and self.source.p[at + 1] == self.source.p[at] + 1:
                    op = ">>"
                bind = LEVEL.get(op, 0)
                if bind < level:
                    break
                if bind != last:
                    left, parts, count, last = _joined(parts, left), [], 0, bind
                count += 1
                op = ALTERNATIVE.get(op, op)
                self._next()
                if op == ">>":
                    self._next()
                if op == "?":
                    a = self.expr(stop, 2) if self._tok(stop) != ":" else left
                    if self._tok(stop) == ":":
                        self._next()
                    left = Ternary(at, left, a, self.expr(stop, 2))
                elif bind == 2:
                    left = Assign(at, op, left, self.expr(stop, 2))
                elif count % _CHAIN:
                    left = Binary(at, op, left, self.expr(stop, bind + 1))
                else:
                    parts.append((left, at, op))
                    left = self.expr(stop, bind + 1)
            return _joined(parts, left)
        finally:
            self.depth -= 1

    def _prefix(self, stop: int) -> Expr:
        at, tok = self.i, self._tok(stop)
        if tok in _PREFIX:
            self._next()
            return Unary(at, ALTERNATIVE.get(tok, tok), self.expr(stop, 15) if self.i < stop else self._empty(at))
        if tok in _WORD_OPERATORS:
            return self._operator(tok, stop)
        return self._postfix(self._primary(stop), stop)

    def _operator(self, word: str, stop: int) -> Expr:
        """An operator that is a word, which is here."""
        at, operands = self.i, [*self._operands(word, stop)]
        return Operator(at, word, tuple(x for x in operands if not is_empty(x)), self._last())

    def _operands(self, word: str, stop: int) -> Iterator[Expr]:
        self._next()
        if word == "throw":
            yield self.expr(stop)
        elif word == "new":
            if self._tok(stop) == "(":  # where to, or a type in brackets
                close = self._partner(self.i, stop)
                yield from self._list(close)
                self._behind(close, stop)
            got = self.type_end(self.i, stop)
            self._to(got[0] if got is not None else self.i)
            while (tok := self._tok(stop)) in ("[", "(", "{"):
                close = self._partner(self.i, stop)
                yield from self._list(close)
                self._behind(close, stop)
                if tok != "[":
                    return
        elif self._tok(stop) == "(" and word != "delete":
            close = self._partner(self.i, stop)
            got = self.type_end(self.i + 1, close)
            if got is None or got[0] < close or not (got[1] or got[2]):
                yield from self._list(close)  # a name alone may be a type
            self._behind(close, stop)
        else:
            if word == "delete" and self._tok(stop) == "[":
                self._behind(self._partner(self.i, stop), stop)
            if self._tok(stop) == "...":
                self._next()
            if self.i < stop:
                yield self.expr(stop, 15)

    def _primary(self, stop: int) -> Expr:
        at, tok = self.i, self._tok(stop)
        if tok in ("", ";", ")", "]", "}", ",", ":"):
            return self._empty(at)
        if tok == "(":
            close = self._partner(at, stop)
            if self._is_cast(at, close, stop):
                self._to(close + 1)
                e = self.expr(stop, 15)
                return _wrapped(e, Cast(at, last_token(e), at + 1, close))
            self._next()
            e = self._sequence(close)
            outer = Paren if close < stop else Unread
            return _wrapped(e, outer(at, self._behind(close, stop)))
        if tok == "{":
            close = self._partner(at, stop)
            parts = self._list(close)
            return Other(at, parts, at, self._behind(close, stop))
        if tok == "[":
            return self.lambda_(stop)
        if tok[0].isdigit() or tok[0] == ".":
            self._next()
            known = constants.literal(tok)
            return Num(at, known.value, known.type) if known else Num(at, None)
        if tok == "::" or is_identifier(tok):
            return self._name(stop)
        self._next()
        return Other(at)

    def _sequence(self, close: int) -> Expr:
        """Expressions with commas up to a closing bracket."""
        e = self.expr(close)
        at = self.i
        while self.i < close:
            before = self.i
            if self._tok(close) == ",":
                self._next()
            e2 = self.expr(close)
            if not isinstance(e2, Other) or e2.parts:
                e = self._pair(e, at, e2)
            if self.i == before:
                self._next()
        return e if at >= close or last_token(e) == self._last() else self._beside(e, at)

    def _list(self, close: int) -> tuple[Expr, ...]:
        """Comma-separated expressions from behind the bracket here up to `close`."""
        out = []
        self._next()
        while self.i < close:
            e = self.expr(close)
            if self.i < close and self.t[self.i] != ",":
                at = self.i
                self._to_comma(close)
                e = self._beside(e, at)
            out.append(e)
            if self.i < close:
                self._next()
        return tuple(out)

    def _to_comma(self, close: int) -> None:
        """Go to the next comma of this level, or to a closing bracket."""
        while self.i < close and self.t[self.i] != ",":
            if self.match[self.i] > self.i:
                self._to(min(self.match[self.i], close - 1))
            self._next()

    def _targs(self, stop: int) -> tuple[Expr, ...] | None:
        """Template arguments whose `<` is here, read if they are such."""
        close = self.source.angle_close(self.i)
        if not self.i < close < stop:
            return None
        after = self.t[close + 1] if close + 1 < stop else ""
        if after not in ("", "(", "::", "{") and after not in ALTERNATIVE and begins_operand(after):
            return None  # `a < b > c`
        # an argument that ends with `>` at our level cannot be an expression: read each span by itself
        out: list[Expr] = []
        for span in self.source.split_args(self.i + 1, close):
            first, last = self.source.lexed.at(span.start), self.source.lexed.at(span.end)
            out.append(type(self)(self.source, first, last, jump=False, depth=self.depth + 1).expr(last))
        self._to(close + 1)
        return tuple(out)

    def _name(self, stop: int) -> Expr:
        qualified = False
        start, end = self.i, -1
        if self._tok(stop) == "::":
            self._next()
            if self.i >= stop:
                return Other(start)
        at, text = self.i, self._tok(stop)
        self._next()
        if text in _CASTS and self._tok(stop) in ("<", "("):
            return self._named_cast(start, stop)
        if text in ("unsigned", "signed", "long", "short", "const"):
            while self._tok(stop) in BASIC or self._tok(stop) in QUALIFIERS:
                end = self.i
                self._next()
        targs: tuple[Expr, ...] = ()
        while self.i < stop:
            tok = self.t[self.i]
            if tok == "<":
                got = self._targs(stop)
                if got is None:
                    break
                targs, end = got, self._last()
            elif tok == "::" and self.i + 1 < stop:
                self._next()
                if self._tok(stop) == "template" and self.i + 1 < stop:
                    self._next()
                at, text, qualified, targs, end = self.i, self._tok(stop), True, (), -1
                self._next()
            else:
                break
        return Name(at, text, targs, qualified, start, end)

    def _named_cast(self, at: int, stop: int) -> Expr:
        """`static_cast<T>(x)` and the like, whose word at token `at` was read."""
        first = type_stop = self.i
        if self._tok(stop) == "<":
            type_stop = self.source.angle_close(self.i)
            if not self.i < type_stop < stop:
                return Name(at, self.t[at])
            first += 1
            self._to(type_stop + 1)
        if self._tok(stop) != "(":
            return Name(at, self.t[at], end=self._last())
        close = self._partner(self.i, stop)
        inner = self._list(close)
        e = inner[0] if inner else self._empty(at)
        return _wrapped(e, Cast(at, self._behind(close, stop), first, type_stop))

    def bound(self, k: int, stop: int) -> tuple[Decl, ...]:
        """What `auto [a, b] = x` declares, whose `[` is token k; () (nothing read) if it is none. No value of a name is
        known; the first one's holds `x`."""
        sign = self._partner(k, stop) + 1
        names = [i for i in range(k + 1, min(sign, stop)) if is_identifier(self.t[i])]
        if not names or sign >= stop or self.t[sign] not in ("=", ":", "(", "{"):
            return ()
        self._to(sign)
        if self.t[sign] in ("=", ":"):
            self._next()
        x = self.expr(stop)
        held = Other(sign, (x,), *tokens(x))
        return tuple(Decl(i, self.t[i], (), Other(i, (), i, i - 1) if n else held) for n, i in enumerate(names))

    def _launch(self, callee: Expr, close: int, stop: int) -> Expr:
        """A launch whose `<<<` is here, or the `<<` of `<< <`; `close`: the last `>` of its `>>>`."""
        at, last = self.i, close
        args: tuple[Expr, ...] = ()
        if self.t[at] == "<<":
            self._next()
        config = self._list(close - 2)
        self._to(close + 1)
        if self._tok(stop) == "(":
            end = self._partner(self.i, stop)
            args = self._list(end)
            last = self._behind(end, stop)
        return Launch(at, callee, config, args, last)

    def _postfix(self, e: Expr, stop: int) -> Expr:
        while self.i < stop:
            at, tok = self.i, self.t[self.i]
            if tok not in _POSTFIX:
                break
            if tok == "(" or (tok == "{" and isinstance(e, Name) and e.text not in NO_TYPES):
                close = self._partner(at, stop)
                args = self._list(close)
                last = self._behind(close, stop)
                if isinstance(e, Name) and e.text in BASIC and len(args) == 1:
                    first = first_token(e)
                    e = _wrapped(args[0], Cast(first, last, first, at))
                else:
                    e = CallExpr(e.at, e, args, last)
            elif tok == "[":
                close = self._partner(at, stop)
                self._next()
                index = self.expr(close) if self.i < close else self._empty(at)
                if self.i < close:
                    after = self.i
                    self._to(close)
                    index = self._beside(index, after)
                e = Index(at, e, index, self._behind(close, stop))
            elif tok in (".", "->"):
                self._next()
                if self._tok(stop) == "template":
                    self._next()
                if self.i >= stop:
                    return Member(self._last(), e, "")
                name_at, name = self.i, self.t[self.i]
                self._next()
                if name == "operator":
                    self._to(self.i + (2 if self._tok(stop) in ("(", "[") else 1))
                targs = self._targs(stop) if self._tok(stop) == "<" else None
                e = Member(name_at, e, name, targs or (), self._last() if targs is not None else -1)
            elif tok in ("++", "--"):
                self._next()
                e = Unary(at, "p" + tok, e)
            elif at < self.source.launch_ends.get(at, -1) < stop:
                e = self._launch(e, self.source.launch_ends[at], stop)
            else:
                break
        return e
