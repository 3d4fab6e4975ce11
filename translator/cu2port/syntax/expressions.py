"""A tolerant parser of C++ expressions over the lexer's tokens: what it cannot read becomes `Other`.

Types are told from expressions by shape alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.syntax import constants
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Source
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Expr,
    Index,
    Lambda,
    Member,
    Name,
    Num,
    Other,
    Param,
    Ternary,
    Unary,
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
_BASIC = frozenset(
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


def _joined(parts: Sequence[tuple[Expr, int, str]], last: Expr) -> Expr:
    """A long run of operands as a tree that is not deep; who reads it goes down by calling itself."""
    if not parts:
        return last
    middle = len(parts) // 2
    left, at, op = parts[middle]
    return Binary(at, op, _joined(parts[:middle], left), _joined(parts[middle + 1 :], last))


class ExpressionParser:
    """Reads tokens [first, stop) of a file; directives between them are stepped over."""

    def __init__(self, source: Source, first: int, stop: int, jump: bool = True) -> None:
        self.source, self.t, self.match = source, source.t, source.match
        self.stop = stop
        self.skip = {d.first: d.stop for d in source.directives if first <= d.first < stop} if jump else {}
        self.i = first
        self.depth = 0
        if self.skip:
            self._settle()

    # --- tokens ---------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        while self.i in self.skip:
            self.i = self.skip[self.i]

    def _next(self) -> None:
        self.i += 1
        if self.i in self.skip:
            self._settle()

    def _tok(self, stop: int) -> str:
        return self.t[self.i] if self.i < stop else ""

    def _to(self, i: int) -> None:
        """Go on at token i (never backwards)."""
        self.i = max(self.i, i)
        if self.skip:
            self._settle()

    def _partner(self, i: int, stop: int) -> int:
        """The closing bracket of i, `stop` if it has none before."""
        m = self.match[i]
        return m if i < m < stop else stop

    def _is(self, i: int, stop: int, tok: str) -> bool:
        return i < stop and self.t[i] == tok

    def block(self, stop: int) -> Block:
        """Statements up to token `stop` (of a lambda)."""
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
            if tok in QUALIFIERS or tok in _BASIC:
                words.add(tok)
                named = named or tok in _BASIC
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
                self._to(stop)
                return Other(at)
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
            return Unary(at, tok, self.expr(stop, 15) if self.i < stop else Other(at))
        if tok in ("sizeof", "alignof", "new", "delete", "throw"):
            self._next()
            if self._tok(stop) == "(":
                self._to(self._partner(self.i, stop) + 1)
            elif self.i < stop:
                self.expr(stop, 15)
            return Other(at)
        return self._postfix(self._primary(stop), stop)

    def _primary(self, stop: int) -> Expr:
        at, tok = self.i, self._tok(stop)
        if tok in ("", ";", ")", "]", "}", ",", ":"):
            return Other(at)
        if tok == "(":
            close = self._partner(at, stop)
            if self._is_cast(at, close, stop):
                self._to(close + 1)
                return self.expr(stop, 15)
            self._next()
            e = self.expr(close)
            while self.i < close:
                before = self.i
                if self._tok(close) == ",":
                    self._next()
                e2 = self.expr(close)
                e = Other(self.i, (e, e2)) if not isinstance(e2, Other) or e2.parts else e
                if self.i == before:
                    self._next()
            self._to(close + 1)
            return e
        if tok == "{":
            close = self._partner(at, stop)
            out = Other(at, self._list(close))
            self._to(close + 1)
            return out
        if tok == "[":
            return self._lambda(stop)
        if tok[0].isdigit() or tok[0] == ".":
            self._next()
            known = constants.literal(tok)
            return Num(at, known.value, known.type) if known else Num(at, None)
        if tok == "::" or is_identifier(tok):
            return self._name(stop)
        self._next()
        return Other(at)

    def _is_cast(self, at: int, close: int, stop: int) -> bool:
        """Whether the brackets hold a type that is cast to."""
        if not (at + 1 < close < stop - 1):
            return False
        got = self.type_end(at + 1, close)
        if got is None or got[0] != close:
            return False
        after = self.t[close + 1]
        basic = bool(got[1] & _BASIC) or got[2]
        if after in ("(", "*", "&", "-", "+", "~", "!"):
            return basic or (after == "(" and close > at + 2) or (after in ("~", "!"))
        return is_identifier(after) or after[0].isdigit() or after[0] == "." or after[0] in "\"'{"

    def _list(self, close: int) -> tuple[Expr, ...]:
        """Comma-separated expressions from behind the bracket here up to `close`."""
        out = []
        self._next()
        while self.i < close:
            before = self.i
            out.append(self.expr(close))
            while self.i < close and self._tok(close) != ",":
                if self.match[self.i] > self.i:
                    self._to(min(self.match[self.i], close - 1))
                self._next()
            self._next()
            if self.i == before:
                break
        return tuple(out)

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
            out.append(type(self)(self.source, first, last, jump=False).expr(last))
        self._to(close + 1)
        return tuple(out)

    def _name(self, stop: int) -> Expr:
        qualified = False
        if self._tok(stop) == "::":
            self._next()
        at, text = self.i, self._tok(stop)
        self._next()
        if text in _CASTS and self._tok(stop) in ("<", "("):
            if self._tok(stop) == "<":
                close = self.source.angle_close(self.i)
                if not self.i < close < stop:
                    return Name(at, text)
                self._to(close + 1)
            if self._tok(stop) != "(":
                return Name(at, text)
            close = self._partner(self.i, stop)
            inner = self._list(close)
            self._to(close + 1)
            return inner[0] if inner else Other(at)
        if text in ("unsigned", "signed", "long", "short", "const"):
            while self._tok(stop) in _BASIC or self._tok(stop) in QUALIFIERS:
                self._next()
        targs: tuple[Expr, ...] = ()
        while self.i < stop:
            tok = self.t[self.i]
            if tok == "<":
                got = self._targs(stop)
                if got is None:
                    break
                targs = got
            elif tok == "::" and self.i + 1 < stop:
                self._next()
                if self._tok(stop) == "template":
                    self._next()
                at, text, qualified, targs = self.i, self._tok(stop), True, ()
                self._next()
            else:
                break
        return Name(at, text, targs, qualified)

    def _postfix(self, e: Expr, stop: int) -> Expr:
        while self.i < stop:
            at, tok = self.i, self.t[self.i]
            if tok == "(" or (tok == "{" and isinstance(e, Name) and e.text not in NOT_TYPES):
                close = self._partner(at, stop)
                args = self._list(close)
                self._to(close + 1)
                if isinstance(e, Name) and e.text in _BASIC and len(args) == 1:
                    e = args[0]
                else:
                    e = CallExpr(e.at, e, args, close)
            elif tok == "[":
                close = self._partner(at, stop)
                self._next()
                index = self.expr(close) if self.i < close else Other(at)
                self._to(close + 1)
                e = Index(at, e, index)
            elif tok in (".", "->"):
                self._next()
                if self._tok(stop) == "template":
                    self._next()
                name_at, name = self.i, self._tok(stop)
                self._next()
                targs = self._targs(stop) if self._tok(stop) == "<" else None
                e = Member(name_at, e, name, targs or ())
            elif tok in ("++", "--"):
                self._next()
                e = Unary(at, "p" + tok, e)
            else:
                break
        return e

    def _lambda(self, stop: int) -> Expr:
        at = self.i
        self._to(self._partner(at, stop) + 1)
        params: tuple[Param, ...] = ()
        while self.i < stop and self._tok(stop) not in ("{", ";", ")", ","):
            if self._tok(stop) == "(":
                close = self._partner(self.i, stop)
                params = params or self.parameters(self.i, close)
                self._to(close)
            self._next()
        if self._tok(stop) != "{":
            return Other(at)
        close = self._partner(self.i, stop)
        self._next()
        body = self.block(close)
        self._to(close + 1)
        return Lambda(at, params, body)

    def parameters(self, open_at: int, close: int) -> tuple[Param, ...]:
        """The parameters between two brackets."""
        source = self.source
        out = []
        for span in source.split_args(open_at + 1, close):
            first, stop = source.lexed.at(span.start), source.lexed.at(span.end)
            if first >= stop:
                continue
            eq = next((k for k in range(first, stop) if source.t[k] == "="), stop)
            default = type(self)(source, eq + 1, stop, jump=False).expr(stop) if eq + 1 < stop else None
            words = source.t[first:eq]
            k = eq - 1
            while k > first and source.t[k] == "]" and first < source.match[k]:
                k = source.match[k] - 1
            name = source.t[k] if k > first and is_identifier(source.t[k]) and source.t[k] not in _BASIC else ""
            out.append(Param(k if name else -1, name, default, "*" in words or "[" in words, "volatile" in words))
        return tuple(out)
