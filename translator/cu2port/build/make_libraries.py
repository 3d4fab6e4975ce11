"""Libraries of a Makefile that a variable lists by their plain names, and a function of Make's gives `-l`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cu2port.build.make_variables import REFERENCE
from cu2port.build.options import Word, gap
from cu2port.build.pages import LIBRARY
from cu2port.build.table import table
from cu2port.build.words import by_hand, finding, swap
from cu2port.core.model import Finding

_HELD = r"\$[({](?P<%s>[\w.-]+)[)}]"
_LINKED = re.compile(
    # `-l$(X)`, `$(X:%=-l%)`, `$(addprefix -l,$(X))`, `$(patsubst %,-l%,$(X))`, `$(foreach l,$(X),-l$(l))`
    rf"(?<![\w-])-l{_HELD % 'one'}(?![\w$-])|"
    r"\$[({](?:(?P<all>[\w.-]+):%=-l%"
    rf"|(?:addprefix[ \t]+-l|patsubst[ \t]+%,[ \t]*-l%),[ \t]*{_HELD % 'each'}[ \t]*"
    rf"|foreach[ \t]+\w+,[ \t]*{_HELD % 'loop'},[ \t]*-l\$[({{]\w+[)}}][ \t]*)[)}}]"
)


def linked_lists(text: str) -> frozenset[str]:
    """The variables whose words are libraries that are linked. One behind `-l` is used for nothing else: it may name a
    library of the project's own, which `lib$(X).a` makes."""
    if "-l" not in text:
        return frozenset()
    found = [(m["one"], m["all"] or m["each"] or m["loop"]) for m in _LINKED.finditer(text)]
    alone = Counter(one for one, _ in found if one)
    uses = Counter(m[1] for m in REFERENCE.finditer(text) if m[1] in alone) if alone else Counter()
    return frozenset({many for _, many in found if many} | {one for one in alone if uses[one] == alone[one]})


def listed(text: str, words: Sequence[Word]) -> Iterator[Finding]:
    """Findings for NVIDIA's libraries among the words of such a variable."""
    for word in words:
        row = table()["library"].get(word.text)
        if row is None:
            continue
        if row.fate == "rewrite":
            yield swap(LIBRARY, word.text, row.to, word.start, row.why, row.review)
        elif row.fate == "drop":
            edits = [gap(text, word, word.outer[1])]
            yield finding(LIBRARY, f"`{word.text}` is taken out: {row.why}", word.start, word.end, edits, old=word.text)
        else:
            yield by_hand(LIBRARY, word.text, row.why, row.instead, word.start, word.end)
