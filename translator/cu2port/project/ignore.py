"""What git leaves out of a tree: version-control folders and, in a git work tree, `.gitignore`d files.

A file that git tracks although a pattern matches it is not ignored: git says so, and so do we.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cu2port.core.files import read_regular
from cu2port.core.late import dataclass
from cu2port.project.git import Repository, repository_at, repository_of
from cu2port.project.git_objects import GitError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

VCS = frozenset({".git", ".hg", ".svn", ".bzr", "CVS"})
_MOST = 1 << 20  # bytes of a `.gitignore`


def patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """A spec of gitignore patterns. Raises ValueError with the pattern that is malformed."""
    from pathspec import GitIgnoreSpec  # slow to load, and most runs meet no pattern

    good = list(lines)
    for line in good:
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error) as e:
            raise ValueError(f"`{line}` is not a glob: {e}") from e
    return GitIgnoreSpec.from_lines(good)


@dataclass(eq=False)
class _WorkTree:
    """A git work tree. `start`: its top, or the root of the walk where that is inside it; `prefix`: where `start` is,
    seen from that root."""

    repository: Repository
    start: Path
    prefix: str = ""

    def tracks(self, path: str) -> bool:
        """Whether git tracks a file, or something in a folder."""
        return self._tracked is None or path[len(self.prefix) :] in self._tracked

    @cached_property
    def _tracked(self) -> frozenset[str] | None:
        """Read only when a pattern matches; None where it cannot be read, and then nothing may be left out."""
        try:
            return self.repository.tracked(self.start)
        except GitError:
            return None


@dataclass(frozen=True, slots=True)
class _Rules:
    """What holds in a folder: patterns, nearest first, each with the place they are relative to."""

    tree: _WorkTree | None = None
    chain: tuple[tuple[str, GitIgnoreSpec], ...] = ()


class Ignores:
    """The `.gitignore` files that hold in a tree. `enter` each folder before asking for what is in it.

    Outside a git work tree git follows none of them, and neither do we: what they match may be part of the tree. A work
    tree inside another one has its own.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._rules: dict[str, _Rules] = {}
        self._above = _outer_rules(root)

    def enter(self, folder: str, names: Container[str]) -> None:
        """Read the `.gitignore` of a folder (relative to the root, "" is the root), parents first. `names`: what is in
        the folder."""
        rules = self._rules[folder.rpartition("/")[0]] if folder else self._above
        base = f"{folder}/" if folder else ""
        if folder and ".git" in names and (inner := repository_at(self._root / folder)) is not None:
            rules = _Rules(_WorkTree(inner, inner.top, base), _chain(base, inner.exclude))
        if rules.tree is not None and ".gitignore" in names:
            rules = _Rules(rules.tree, (*_chain(base, self._root / folder / ".gitignore"), *rules.chain))
        self._rules[folder] = rules

    def ignored(self, folder: str, name: str, is_folder: bool) -> bool:
        """Whether git would leave out `folder/name`."""
        rules = self._rules[folder]
        if rules.tree is None or not rules.chain:
            return False
        path = f"{folder}/{name}" if folder else name
        shown = path + "/" if is_folder else path
        for base, spec in rules.chain:
            # a base above the root is a path to put in front, one below it a prefix to cut off
            tail = base[1:] + shown if base.startswith("<") else shown[len(base) :]
            verdict = spec.check_file(tail).include
            if verdict is not None:
                return verdict and not rules.tree.tracks(path)
        return False


def _outer_rules(root: Path) -> _Rules:
    """What the work tree that a root is in says of it; nothing if it ignores the root itself."""
    repository = repository_of(root)
    if repository is None:
        return _Rules()
    chain: list[tuple[str, GitIgnoreSpec]] = []
    way, folder = "", root
    while folder != repository.top:
        way, folder = f"{folder.name}/{way}", folder.parent
        chain += _chain(f"<{way}", folder / ".gitignore")
    chain += _chain(f"<{way}", repository.exclude)
    named = (spec.check_file(base[1:]).include for base, spec in chain if base != "<")
    ignored = next((v for v in named if v is not None), False)
    return _Rules() if ignored else _Rules(_WorkTree(repository, root), tuple(chain))


def _chain(base: str, path: Path) -> tuple[tuple[str, GitIgnoreSpec], ...]:
    """The patterns of a `.gitignore`; git skips the lines it cannot read and a file that is a link, and so do we."""
    try:
        lines = [] if path.is_symlink() else read_regular(path, _MOST).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    from pathspec import GitIgnoreSpec

    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue
        good.append(line)
    spec = GitIgnoreSpec.from_lines(good)
    return ((base, spec),) if any(p.include is not None for p in spec.patterns) else ()
