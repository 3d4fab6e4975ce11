"""The different tokens of a text, without reading it as long as the answer is that none of some names is there.

Most files of a tree are no CUDA and hold none of the names that rules ask for. A name that begins with an ASCII letter
or `_` is a token only where it is a whole run of what names are made of, and any token is a part of its text. So most
questions are answered by the runs of a text, which are found some ten times as fast as its tokens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cached_property, lru_cache

from cu2port.syntax.lexer import BOM

# All that names are made of stays, what is not ASCII as one letter; the rest is a blank.
_NAMES = bytes(0xE9 if c > 0x7F else c if chr(c).isalnum() or chr(c) in "_$" else 0x20 for c in range(256))


def runs(text: str) -> set[str]:
    """The different runs of ASCII letters, digits, `_`, `$` and other characters beyond ASCII in a Latin-1 text, those
    beyond ASCII all written `é`. They are looked for in comments and literals too."""
    return set(text.removeprefix(BOM).encode("latin-1").translate(_NAMES).decode("latin-1").split())


class Vocabulary(Set[str]):
    """The different tokens of `text`, which `read` finds when they must be known."""

    def __init__(self, text: str, read: Callable[[], frozenset[str]]) -> None:
        self._text = text
        self._read = read

    @classmethod
    def _from_iterable(cls, it: Iterable[str]) -> frozenset[str]:  # type: ignore[override]  # what `|` and `-` give
        return frozenset(it)

    @cached_property
    def _tokens(self) -> frozenset[str]:
        return self._read()

    @cached_property
    def _runs(self) -> set[str]:
        return runs(self._text)

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for w in self._runs:
            found[w[0]].append(w)
        return found

    def may_hold(self, names: Iterable[str]) -> bool:
        """Whether one of some names may be a token. False is certain."""
        asked = _names(names)
        return not self._runs.isdisjoint(asked) or any(name in self._text for name in _other(asked))

    def may_be(self, names: Set[str]) -> Set[str]:
        """Those of some names, each beginning with an ASCII letter or `_`, that may be tokens; the others are not."""
        return self._runs & names

    def may_match(self, pattern: re.Pattern[str], begins: str) -> bool:
        """Whether a token that begins with one of some ASCII letters may match a pattern. False is certain."""
        known = self._by_letter
        return any(pattern.match(w) is not None for letter in begins for w in known.get(letter, ()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.may_hold((name,)) and name in self._tokens

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def isdisjoint(self, other: Iterable[object]) -> bool:
        """As for sets."""
        names = _names(other)
        return not self.may_hold(names) or self._tokens.isdisjoint(names)

    def __and__(self, other: Iterable[object]) -> frozenset[str]:
        names = _names(other)
        return self._tokens & names if self.may_hold(names) else frozenset()

    __rand__ = __and__


def _names(names: Iterable[object]) -> frozenset[str]:
    return names if isinstance(names, frozenset) else frozenset(names)  # type: ignore[arg-type]  # others are in no text


@lru_cache(maxsize=256)
def _other(names: frozenset[str]) -> tuple[str, ...]:
    """Those of some names that do not begin with an ASCII letter or `_`, or hold other characters than names do."""
    return tuple(n for n in names if not (n.isascii() and n.isidentifier()))
