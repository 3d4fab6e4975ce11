"""The tokens of one file and what they form by themselves: names, brackets, arguments, calls, launches."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Set
from functools import cached_property
from itertools import chain

from cu2port.core.model import Span
from cu2port.facts.structure import Call, Launch, find_launches
from cu2port.facts.vocabulary import Vocabulary
from cu2port.syntax import angles
from cu2port.syntax.endings import is_orderly
from cu2port.syntax.lexer import Directive, Group, Lexed, is_identifier, is_string, lex
from cu2port.syntax.words import KEYWORDS

_SURE = "__global__"  # a text that has it is CUDA code


class Tokens:
    """One file. `text` is Latin-1, so indices are byte offsets; `t` and `p` are its tokens and their offsets, `match`
    the other bracket's token, -1 for none."""

    def __init__(self, text: str, sure: bool = True) -> None:
        """`sure`: whether a text that holds CUDA code is read by the lexer in any case."""
        self.text = text
        self._sure = sure and _SURE in text
        self._vocabulary = Vocabulary(text, lambda: frozenset(self.lexed.places))

    @cached_property
    def lexed(self) -> Lexed:
        """The text as the lexer reads it, when it is first needed."""
        return lex(self.text)

    @cached_property
    def t(self) -> list[str]:
        return self.lexed.t

    @cached_property
    def p(self) -> list[int]:
        return self.lexed.p

    @cached_property
    def match(self) -> list[int]:
        return self.lexed.match

    @property
    def is_read(self) -> bool:
        """Whether the lexer has read the text."""
        return "lexed" in self.__dict__

    # --- tokens ---------------------------------------------------------------------------------------------------

    def end(self, i: int) -> int:
        """Byte offset after token i."""
        return self.p[i] + len(self.t[i])

    def tok(self, i: int) -> str:
        """Token i, or "" outside the file."""
        return self.t[i] if 0 <= i < len(self.t) else ""

    def source(self, first: int, stop: int) -> str:
        """The text from token `first` to the end of token `stop - 1`."""
        return self.text[self.p[first] : self.end(stop - 1)] if stop > first else ""

    @cached_property
    def enclosing(self) -> list[int]:
        """For each token the `(` or `[` that is met going back from it, past what closed brackets hold; else -1."""
        out: list[int] = []
        before = -1
        for i, tok in enumerate(self.t):
            if tok in ("(", "["):
                before = i
            elif tok in (")", "]", "}") and 0 <= self.match[i] < i:
                before = out[self.match[i] - 1] if self.match[i] else -1
            out.append(before)
        return out

    def line_start(self, offset: int) -> int:
        """Where the line of a byte begins; LF and CR end lines."""
        return self._line_starts[bisect_right(self._line_starts, offset) - 1]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer(r"[\r\n]", self.text))]

    @cached_property
    def is_orderly(self) -> bool:
        """Whether all that the text begins certainly ends, and no name stands right behind a string literal."""
        return not self.is_read and is_orderly(self.text)

    @property
    def words(self) -> Set[str]:
        """All different tokens: whether a check has anything to do in this file."""
        return self._words if self.is_read or self._sure else self._vocabulary

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self.lexed.places)

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for w in self.lexed.places:
            found[w[0]].append(w)
        return found

    @cached_property
    def strings(self) -> frozenset[str]:
        """All different string literals."""
        return frozenset([w for w in self.words if '"' in w and is_string(w)]) if '"' in self.text else frozenset()

    def may_hold(self, names: Iterable[str]) -> bool:
        """Whether one of some names may be a token, told without the lexer. False is certain."""
        return self.is_read or self._vocabulary.may_hold(names)

    def may_be_tokens(self, names: frozenset[str]) -> Set[str]:
        """Those of some names that may be tokens, told without the lexer; the others are not. Each begins with an ASCII
        letter or `_`."""
        if not self.is_read and not self._sure:
            return self._vocabulary.may_be(names)
        return self._words & names

    def may_match(self, pattern: re.Pattern[str], begins: str) -> bool:
        """The same of names that begin with one of some ASCII letters and match a pattern."""
        return self.is_read or self._vocabulary.may_match(pattern, begins)

    def names(self, pattern: re.Pattern[str], begins: str) -> frozenset[str]:
        """The different names that begin with one of some ASCII letters and match a pattern, which needs no more than
        letters, digits and `_`."""
        if not self.may_match(pattern, begins):
            return frozenset()
        known = self._by_letter
        return frozenset([w for letter in begins for w in known.get(letter, ()) if pattern.match(w)])

    def find(self, *names: str) -> list[int]:
        """Indices of the tokens that are one of `names`, in order. Fast where there are none or few."""
        if not self.may_hold(names):
            return []
        places = self.lexed.places
        if len(names) == 1:
            return list(places.get(names[0], ()))
        found = [places[name] for name in set(names) if name in places]
        return list(found[0]) if len(found) == 1 else sorted(chain.from_iterable(found))

    def between(self, first: int, stop: int, *names: str) -> list[int]:
        """Those of them in tokens [first, stop)."""
        found = [places[bisect_left(places, first) : bisect_left(places, stop)] for places in map(self._places, names)]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))

    def _places(self, name: str) -> list[int]:
        return self.lexed.places.get(name, [])

    @property
    def directives(self) -> tuple[Directive, ...]:
        return self.lexed.directives

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.lexed.groups

    def in_directive(self, i: int) -> Directive | None:
        """The directive that token i is part of."""
        return self.lexed.directive_at(i)

    def is_member(self, i: int) -> bool:
        """Whether token i is accessed through an object (`x.name`, `x->name`)."""
        return self.tok(i - 1) in (".", "->", ".*", "->*")

    def qualifier(self, i: int) -> int:
        """Index of the first token of the qualified name that ends at i (`a` in `a::b::c`); i when unqualified."""
        while self.tok(i - 1) == "::":
            before = self.tok(i - 2)
            if before and is_identifier(before) and before not in KEYWORDS:
                i -= 2
            elif before == ">" and (k := self.angle_open(i - 2)) > 0:
                i = k - 1
            else:
                return i - 1
        return i

    # --- brackets, calls, launches ------------------------------------------------------------------------------------

    def angle_close(self, i: int, limit: int = 2000) -> int:
        """Index of the `>` that closes the template argument list opened by `<` at i, or -1 if it is no such list."""
        return angles.close(self.lexed, i, limit)

    def angle_open(self, i: int, limit: int = 2000) -> int:
        """Index of the `<` that opens the template argument list closed by `>` at i, or -1."""
        return angles.open_(self.lexed, i, limit)

    def split_args(self, first: int, stop: int) -> tuple[Span, ...]:
        """Byte spans of the comma-separated expressions in tokens [first, stop)."""
        out = []
        k = begin = first
        while k < stop:
            tok = self.t[k]
            if tok in ("(", "[", "{", "<%", "<:"):
                k = self.match[k] if first <= self.match[k] < stop else k
            elif tok == "<" and k > first and is_identifier(self.t[k - 1]):
                close = self.angle_close(k)
                # `a < b, c > d` is two arguments, `f<b, c>(d)` and `f<b, c>` one: no expression ends with `>`
                after = self.tok(close + 1)
                if 0 < close < stop and (after in ("(", "::", "{", ",", ")", ">") or "," not in self.t[k:close]):
                    k = close
            elif tok == "<<<" and self.launch_ends.get(k, stop) < stop:
                k = self.launch_ends[k]
            elif tok == ",":
                out.append(self._span(begin, k))
                begin = k + 1
            k += 1
        if begin < stop or out:
            out.append(self._span(begin, stop))
        return tuple(out)

    def _span(self, first: int, stop: int) -> Span:
        if stop <= first:  # an empty argument: an empty span after the previous token
            at = self.end(first - 1)
            return Span(at, at)
        return Span(self.p[first], self.end(stop - 1))

    def call(self, i: int) -> Call | None:
        """The call whose callee's last token is i (template arguments may stand between), or None."""
        k = i + 1
        if self.tok(k) == "<":
            close = self.angle_close(k)
            if close < 0:
                return None
            k = close + 1
        if self.tok(k) != "(" or self.match[k] < 0:
            return None
        return Call(k, self.match[k], self.split_args(k + 1, self.match[k]))

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Kernel launches, also those in macro bodies."""
        return find_launches(self)

    @cached_property
    def launch_ends(self) -> dict[int, int]:
        """By the `<<<` of a launch, the last `>` of its `>>>`."""
        return {x.open: x.close + 2 for x in self.launches}
