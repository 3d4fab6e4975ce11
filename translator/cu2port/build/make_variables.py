"""Variables of Makefiles: where they are named, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

REFERENCE = re.compile(r"\$[({](\w+)[)}]")


def reached(first: Iterable[str], uses: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Variables that are used, also in the value of one that is used."""
    todo, found = list(first), set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += uses.get(name, ())
    return frozenset(found)
