"""A tolerant parser of C++ expressions over the lexer's tokens: what it cannot read becomes `Other`.

Types are told from expressions by shape alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.syntax import constants
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Cursor
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Other,
    Paren,
    Ternary,
    Unary,
    Unread,
    first_token,
    is_empty,
    last_token,
)

_LEVEL = {
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
_PREFIX = frozenset({"!", "~", "-", "+", "*", "&", "++", "--"})
_CASTS = frozenset(
    "static_cast reinterpret_cast const_cast dynamic_cast __int_as_float __float_as_int __uint_as_float "
    "__float_as_uint __builtin_assume_aligned".split()
)
BASIC = frozenset(
    "void bool char short int long float double signed unsigned auto size_t uint uint8_t uint16_t uint32_t uint64_t "
    "int8_t int16_t int32_t int64_t half __half uchar ushort ulong uintptr_t intptr_t ptrdiff_t clock_t".split()
)
QUALIFIERS = frozenset(
    "const constexpr static volatile extern register typename struct class enum union mutable inline __device__ "
    "__shared__ __constant__ __host__ __restrict__ __restrict thread_local constinit __volatile__".split()
)
_BRACKETED = frozenset({"alignas", "__align__", "__attribute__", "decltype", "__declspec", "_Alignas"})
NOT_TYPES = frozenset(
    "return if else for while do switch case default break continue goto delete new throw this using typedef "
    "sizeof operator template true false nullptr NULL not co_return".split()
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

    def type_end(self, k: int, stop: int) -> tuple[int, frozenset[str], bool] | None:
        """The token behind the type that starts at k, its words, whether it is a pointer; None if it is no type."""
        words: set[str] = set()
        named = pointer = False
        while k < stop:
            if k in self.skip:
                k = self.skip[k]
                continue
            tok = self.t[k]
            if tok in QUALIFIERS or tok in BASIC:
                words.add(tok)
                named = named or tok in BASIC
                k += 1
            elif tok in _BRACKETED and self._is(k + 1, stop, "("):
                named = named or tok == "decltype"
                k = self._partner(k + 1, stop) + 1
            elif not named and is_identifier(tok) and tok not in NOT_TYPES:
                named = True
                k += 1
                while k < stop:
                    if self.t[k] == "<":
                        close = self.source.angle_close(k)
                        if not k < close < stop:
                            return None
                        k = close + 1
                    elif self.t[k] == "::" and k + 1 < stop:
                        k += 3 if self.t[k + 1] == "template" else 2
                    else:
                        break
            elif tok == "::" and not named:
                k += 1
            elif tok in ("*", "&", "&&", "...") and named:
                pointer = pointer or tok == "*"
                k += 1
            else:
                break
        return (k, frozenset(words), pointer) if named else None

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
                bind = _LEVEL.get(op, 0)
                if bind < level:
                    break
                if bind != last:
                    left, parts, count, last = _joined(parts, left), [], 0, bind
                count += 1
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
            return Unary(at, tok, self.expr(stop, 15) if self.i < stop else self._empty(at))
        if tok in ("sizeof", "alignof", "new", "delete", "throw"):
            self._next()
            if self._tok(stop) == "(":
                self._behind(self._partner(self.i, stop), stop)
            elif self.i < stop:
                self.expr(stop, 15)
            return Other(at, (), at, self._last())
        return self._postfix(self._primary(stop), stop)

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
            return _wrapped(e, Paren(at, self._behind(close, stop)))
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

    def _is_cast(self, at: int, close: int, stop: int) -> bool:
        """Whether the brackets hold a type that is cast to."""
        if not (at + 1 < close < stop - 1):
            return False
        got = self.type_end(at + 1, close)
        if got is None or got[0] != close:
            return False
        after = self.t[close + 1]
        basic = bool(got[1] & BASIC) or got[2]
        if after in ("(", "*", "&", "-", "+", "~", "!"):
            return basic or (after == "(" and close > at + 2) or (after in ("~", "!"))
        return is_identifier(after) or after[0].isdigit() or after[0] == "." or after[0] in "\"'{"

    def _list(self, close: int) -> tuple[Expr, ...]:
        """Comma-separated expressions from behind the bracket here up to `close`."""
        out = []
        self._next()
        while self.i < close:
            e = self.expr(close)
            if self.i < close and self._tok(close) != ",":
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
        if after not in ("(", "::", "{", ")", ",", ";", ">") or (
            after in (")", ",", ";") and not is_identifier(self.t[close - 1]) and self.t[close - 1] != ">"
        ):
            return None
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

    def _postfix(self, e: Expr, stop: int) -> Expr:
        while self.i < stop:
            at, tok = self.i, self.t[self.i]
            if tok == "(" or (tok == "{" and isinstance(e, Name) and e.text not in NOT_TYPES):
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
                targs = self._targs(stop) if self._tok(stop) == "<" else None
                e = Member(name_at, e, name, targs or (), self._last() if targs is not None else -1)
            elif tok in ("++", "--"):
                self._next()
                e = Unary(at, "p" + tok, e)
            else:
                break
        return e
