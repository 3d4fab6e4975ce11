"""The page of every rule, for people and for tools that show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Page:
    """A rule: `title` its first line, `why` the paragraph after it, `text` and `markdown` the whole."""

    code: str
    name: str
    severity: str
    title: str
    why: str
    text: str
    markdown: str


@lru_cache(maxsize=1)
def pages() -> Mapping[str, Page]:
    """Code -> page of every rule: checks, and what cu2port says of files and comments."""
    from cu2port.check import all_checks
    from cu2port.troubles import TROUBLES

    found = {}
    for check in all_checks():
        found[check.code] = _page(check.code, check.name, check.severity.value, check.page)
    for t in TROUBLES.values():
        found[t.code] = _page(t.code, t.name, t.severity.value, t.page)
    return dict(sorted(found.items()))


def _page(code: str, name: str, severity: str, text: str) -> Page:
    title, _, rest = text.partition("\n")
    paragraphs = [" ".join(p.split()) for p in rest.split("\n\n") if p.strip()]
    markdown = "\n\n".join((f"**{code} {name}**", title, *paragraphs))
    return Page(code, name, severity, title, paragraphs[0] if paragraphs else "", text, markdown)
