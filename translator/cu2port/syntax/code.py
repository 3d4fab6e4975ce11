"""Tokens to be walked over: names with their qualifiers and template arguments, brackets, ends of statements."""

from __future__ import annotations

from bisect import bisect_left
from copy import copy
from typing import NamedTuple

from cu2port.syntax.angles import is_certain
from cu2port.syntax.lexer import Lexed, is_identifier
from cu2port.syntax.words import ATTRIBUTES, KEYWORDS

_AFTER_ARGUMENTS = frozenset(
    "( :: { , ) > ; ... && || == != ?".split()
)  # what follows a template argument list in an expression
_BRACE = frozenset("{;")
_IN_NAMES = frozenset({"", "::", "<", "##", "#"})  # after a word, what may go on with the name, and a directive


class Name(NamedTuple):
    """A name with its qualifiers, `a::b<c>::d<e>`: tokens [first, stop); `at`: the last identifier (the `operator` or
    the `~` of such a name); `text`: what it declares, `d` or `operator+`."""

    first: int
    at: int
    stop: int
    text: str

    @property
    def qualified(self) -> bool:
        return self.at > self.first


class Code:
    """The tokens of a text without its directives, or those of one macro's body: tokens [first, stop)."""

    def __init__(self, lexed: Lexed, first: int = 0, stop: int = -1) -> None:
        self.lexed = lexed
        self.t = lexed.t
        self.match = lexed.match
        self.first = first
        self.stop = len(lexed.t) if stop < 0 else stop
        braces = lexed.places.get("{", [])
        if stop < 0:
            self.skips = {d.first: d.stop for d in lexed.directives}
            self.braces = [b for b in braces if lexed.directive_index(b) < 0] if self.skips else braces
        else:
            self.skips = {}
            self.braces = braces[bisect_left(braces, first) : bisect_left(braces, stop)]
        self._angles: dict[int, int] = {}
        self._names: dict[str, bool] = {}  # whether a token can be a name

    def until(self, stop: int) -> Code:
        """The same tokens, ended before token `stop`."""
        if stop == self.stop:
            return self
        part = copy(self)
        part.stop = stop
        return part

    def at(self, i: int) -> int:
        """The first token from i on that is in no directive."""
        while i in self.skips:
            i = self.skips[i]
        return i

    def tok(self, i: int) -> str:
        """Token i; "" behind the end."""
        return self.t[i] if i < self.stop else ""

    def past(self, i: int) -> int:
        """The token after the bracket that closes the one at i; after i itself where it has no partner."""
        close = self.match[i]
        return self.at((close if i < close < self.stop else i) + 1)

    def dimensions(self, i: int) -> tuple[int, int]:
        """How many dimensions of an array begin at token i, and the token after them."""
        count = 0
        while self.tok(i) == "[":
            count += 1
            i = self.past(i)
        return count, i

    def other_side(self, i: int) -> int:
        """The token after the directive that follows the open bracket at i, whose partner belongs to the other side of
        an `#if`: `#ifdef A`, `void f(int a,`, `#else`, `void f(long a,`, `#endif`, `int b) {`. -1: it is none."""
        i += 1
        while i < self.stop and i not in self.skips and self.t[i] not in (";", "{", "}"):
            i += 1
        return self.at(i) if i in self.skips else -1

    def body(self, i: int) -> int:
        """The `{` of a body, where i is one: the last of several before the same statements, one after the initialisers
        on each side of an `#if`. Else i."""
        if self.tok(i) == "{" and not i < self.match[i] < self.stop and (other := self.other_side(i)) > 0:
            brace = self.end(other, _BRACE) if self.t[other] in (",", ":", "{") else i
            if self.tok(brace) == "{" and brace < self.match[brace] < self.stop:
                return brace
        return i

    def is_name(self, i: int) -> bool:
        """Whether token i is an identifier that can name something."""
        tok = self.t[i] if i < self.stop else ""
        known = self._names.get(tok)
        if known is None:
            known = self._names[tok] = is_identifier(tok) and tok not in KEYWORDS
        return known

    def angle(self, i: int) -> int:
        """The `>` that closes the template arguments opened by `<` at i; -1 if it opens none."""
        known = self._angles
        if i not in known:
            open_: list[int] = []
            certain: list[int] = []  # those of them that open arguments for certain
            k = i
            while k < self.stop:
                tok = self.t[k]
                if tok == "<":
                    if k in known:
                        k = max(k, known[k])
                    elif self.t[k - 1] != ")" or not certain:
                        open_.append(k)
                        if is_certain(self.t, k):
                            certain.append(k)
                elif tok == ">":
                    known[open_.pop()] = k
                    if certain and certain[-1] in known:
                        certain.pop()
                    if not open_:
                        break
                elif tok in ("(", "[", "{"):
                    close = self.match[k]
                    if not k < close < self.stop:
                        break
                    k = close
                elif tok in (")", "]", "}", ";", "<<<") or (
                    tok in ("&&", "||") and self.tok(k + 1) not in (">", ",", "...") and not certain
                ):
                    break
                k = self.at(k + 1)
            known.update(dict.fromkeys(open_, -1))
        return known[i]

    def type_name(self, k: int) -> Name:
        """The name that begins at token k, where a `<` after it can be no comparison: `A<x || y>`."""
        name = self.name(k)
        close = self._arguments(name.stop) if self.tok(name.stop) == "<" else -1
        return name._replace(stop=self.at(close + 1)) if close > 0 else name

    def _arguments(self, i: int) -> int:
        """The `>` that closes the template arguments that `<` at i opens for certain; -1 if none does."""
        depth, k = 0, i
        while k < self.stop and self.t[k] not in (";", "{", "}", ")", "]"):
            depth += (self.t[k] == "<") - (self.t[k] == ">")
            if not depth:
                return k
            k = self.past(k) if self.t[k] in ("(", "[") else self.at(k + 1)
        return -1

    def name(self, k: int) -> Name:
        """The name that begins at token k: an identifier, `::`, `operator` or `~`."""
        first = k
        following = self.t[k + 1] if k + 1 < self.stop else ""
        if following not in _IN_NAMES and self.is_name(k):
            return Name(k, k, k + 1, self.t[k])
        if self.tok(k) == "::":
            k = self.at(k + 1)
        while True:
            at = k
            if self.tok(k) == "operator":
                stop = self._operator(k)
                return Name(first, at, stop, "operator" + "".join(self.t[k + 1 : stop]))
            if self.tok(k) == "~":
                return Name(first, at, self.at(k + 2), "~" + self.tok(k + 1))
            k = self.at(k + 1)
            while self.tok(k) == "##":  # a macro makes the name
                k = min(k + 2, self.stop)
            text = "".join(self.t[at:k]) if self.tok(at + 1) == "##" else self.tok(at)
            if self.tok(k) == "<" and (close := self.angle(k)) > 0:
                k = self.at(close + 1)
            if self.tok(k) != "::":
                break
            after = self.at(k + 1)
            if self.tok(after) == "template":
                after = self.at(after + 1)
            if not self.is_name(after) and self.tok(after) not in ("operator", "~"):
                break
            k = after
        return Name(first, at, k, text)

    def _operator(self, k: int) -> int:
        """The token after the name of the operator or conversion at token k."""
        k = self.at(k + 1)
        if self.tok(k) in ("(", "["):
            return self.past(k)
        while k < self.stop and self.t[k] not in ("(", ";", "{", "}"):
            k = self.at(k + 1)
        return k

    def attributes(self, k: int) -> int:
        """The token after the attributes that begin at k."""
        while k < self.stop:
            if self.t[k] in ATTRIBUTES:
                k = self.at(k + 1)
                if self.tok(k) == "(":
                    k = self.past(k)
            elif self.t[k] == "[" and self.tok(k + 1) == "[":
                k = self.past(k)
            else:
                break
        return k

    def end(self, k: int, stops: frozenset[str]) -> int:
        """From token k the first outside of brackets that is one of `stops`, or closes or opens more than there is.

        A comma in template arguments is passed over.
        """
        while k < self.stop:
            tok = self.t[k]
            if tok in stops:
                return k
            if tok in ("(", "[", "{"):
                if not k < self.match[k] < self.stop:
                    if tok == "{":
                        return k
                    k = self.at(k + 1)
                else:
                    k = self.at(self.match[k] + 1)
                continue
            if tok == "}":
                return k
            if tok == "<" and "," in stops and self.is_name(k - 1):
                close = self.angle(k)
                k = close if close > 0 and self.tok(self.at(close + 1)) in _AFTER_ARGUMENTS else k
            k = self.at(k + 1)
        return self.stop
