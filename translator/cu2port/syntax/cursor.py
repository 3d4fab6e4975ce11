"""A place in a file's tokens, and what stands there by shape: brackets, types."""

from __future__ import annotations

from bisect import bisect_left

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Source
from cu2port.syntax.types import BASIC
from cu2port.syntax.words import NO_TYPES, QUALIFIERS

_BRACKETED = frozenset({"alignas", "__align__", "__attribute__", "decltype", "__declspec", "_Alignas"})
#: Operators that are spelled as words.
ALTERNATIVE = {
    "and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "not_eq": "!=",
    "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
}  # fmt: skip
_OPERAND_SIGNS = frozenset("( [ { :: ! ~ - + * & ++ -- >".split())  # `>`: of a shift


def begins_operand(token: str) -> bool:
    """Whether a token may be the first one behind an operator, `>` too where it is half a shift."""
    return token in _OPERAND_SIGNS or is_identifier(token) or token[0].isdigit() or token[0] in "\"'."


def _directives(source: Source, first: int, stop: int) -> dict[int, int]:
    """The directives that begin in tokens [first, stop): their first tokens, with the token after each."""
    begin, end = (bisect_left(source.directives, i, key=lambda d: d.first) for i in (first, stop))
    return {d.first: d.stop for d in source.directives[begin:end]}


class Cursor:
    """A place in tokens [first, stop) of a file; directives between them are stepped over. `depth`: of nesting."""

    def __init__(self, source: Source, first: int, stop: int, jump: bool = True, depth: int = 0) -> None:
        self.source, self.t, self.match = source, source.t, source.match
        self.stop = stop
        self.skip = _directives(source, first, stop) if jump else {}
        self.back = {b: a for a, b in self.skip.items()}
        self.i = first
        self.depth = depth
        if self.skip:
            self._settle()

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

    def _behind(self, close: int, stop: int) -> int:
        """Go on behind a closing bracket that `_partner` told. The last token that was read."""
        self._to(min(close + 1, stop))
        return close if close < stop else self._last()

    def _last(self) -> int:
        """The token before this place, past directives."""
        k = self.i
        while k in self.back:
            k = self.back[k]
        return k - 1

    def _is(self, i: int, stop: int, tok: str) -> bool:
        return i < stop and self.t[i] == tok

    def _semicolon(self, stop: int) -> None:
        """Go behind the next `;` of this level."""
        while self.i < stop:
            tok = self.t[self.i]
            if tok == ";":
                self._next()
                return
            if tok in ("(", "[", "{") and self.match[self.i] > self.i:
                self._to(min(self.match[self.i], stop - 1))
            elif tok == "}":
                return
            self._next()

    def _semicolon_here(self, stop: int) -> int:
        """The `;` here, which is passed; -1 if there is none."""
        if self._tok(stop) != ";":
            return -1
        at = self.i
        self._next()
        return at

    # --- types ----------------------------------------------------------------------------------------------------

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
            elif not named and is_identifier(tok) and tok not in NO_TYPES:
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

    def _is_cast(self, at: int, close: int, stop: int) -> bool:
        """Whether the brackets hold a type that is cast to."""
        if not (at + 1 < close < stop - 1):
            return False
        got = self.type_end(at + 1, close)
        if got is None or got[0] != close:
            return False
        after = self.t[close + 1]
        basic = bool(got[1] & BASIC) or got[2]
        if after == "(" and not basic:
            inner = self._partner(close + 1, stop)  # `(T)(float)x`: a call takes no type
            got = self.type_end(close + 2, inner)
            basic = got is not None and got[0] == inner < stop and (bool(got[1] & BASIC) or got[2])
        if after in ("(", "*", "&", "-", "+", "~", "!"):
            return basic or (after == "(" and close > at + 2) or (after in ("~", "!"))
        return is_identifier(after) or after[0].isdigit() or after[0] == "." or after[0] in "\"'{"
