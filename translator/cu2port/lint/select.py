"""Which rules count: chosen by code (`CU310`), prefix of a code (`CU3`) or name (`warp-mask-width`)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cu2port.core.families import family
from cu2port.project.tree import CannotRun

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

ALL = "ALL"
_FAMILY = re.compile(r"CU[1-9]?\Z")  # may hold no rule yet
_PREFIX = re.compile(r"CU\d{0,3}\Z")


@lru_cache(maxsize=1)
def known_rules() -> Mapping[str, str]:
    """Code -> name of every rule: checks, and what cu2port says of files and comments."""
    from cu2port.checks import all_checks
    from cu2port.core.file_rules import FILE_RULES

    found = {c.code: c.name for c in all_checks()} | {t.code: t.name for t in FILE_RULES.values()}
    return dict(sorted(found.items()))


@lru_cache(maxsize=1)
def default_rules() -> frozenset[str]:
    """The codes of rules that are looked for by default: what a porter must think about. Plain renames are
    `convert`'s business."""
    from cu2port.checks import all_checks
    from cu2port.core.file_rules import FILE_RULES

    found = {c.code for c in all_checks() if c.in_lint}
    return frozenset(found | {code for code in FILE_RULES if family(code).in_lint})


def resolve(words: Iterable[str], where: str) -> frozenset[str]:
    """The codes that words stand for. Raises CannotRun for a word that names no rule; `where` says who wrote it."""
    rules = known_rules()
    found: set[str] = set()
    for word in words:
        wanted = word.strip()
        if wanted.upper() == ALL:
            found.update(rules)
            continue
        codes = {c for c, name in rules.items() if name == wanted}
        if not codes and _PREFIX.match(wanted.upper()):
            codes = {c for c in rules if c.startswith(wanted.upper())}
        if not codes and not _FAMILY.match(wanted.upper()):
            near = difflib.get_close_matches(wanted, [*rules, *rules.values()], 1)
            hint = f"; did you mean {near[0]}?" if near else "; `cu2port rules` lists them"
            raise CannotRun(f"{where}: no rule {wanted!r}{hint}")
        found |= codes
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Selection:
    """The codes that count. `per_file`: globs (as `.gitignore` reads them) and the codes that do not count there."""

    codes: frozenset[str]
    per_file: tuple[tuple[str, frozenset[str]], ...] = ()

    def for_file(self, path: str) -> frozenset[str]:
        """The codes that count in a file; `path`: relative to the tree's root, with forward slashes."""
        codes = self.codes
        for glob, less in self.per_file:
            if matches(glob, path):
                codes -= less
        return codes


@lru_cache(maxsize=256)
def _spec(glob: str) -> GitIgnoreSpec:
    from cu2port.project.ignore import patterns

    return patterns((glob,))


def matches(glob: str, path: str) -> bool:
    """Whether a `.gitignore` pattern matches a path."""
    return _spec(glob).match_file(path)


def make_selection(
    select: Iterable[str] | None,
    ignore: Iterable[str],
    extend: Iterable[str],
    per_file: Mapping[str, Iterable[str]],
    where: str,
) -> Selection:
    """The rules that count: `select` (None: the default) and `extend`, without `ignore`."""
    chosen = default_rules() if select is None else resolve(select, f"{where} select")
    codes = chosen | resolve(extend, f"{where} extend-select")
    codes -= resolve(ignore, f"{where} ignore")
    files = tuple((g, resolve(words, f"{where} per-file-ignores {g}")) for g, words in per_file.items())
    return Selection(codes, files)
