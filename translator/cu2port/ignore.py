"""What git leaves out of a tree: version-control folders and `.gitignore`d files.

A file that git tracks although a pattern matches it is not ignored: git says so, and so do we when git can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cu2port import git

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

VCS = frozenset({".git", ".hg", ".svn", ".bzr", "CVS"})


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


class Ignores:
    """The `.gitignore` files that hold in a tree. `enter` each folder before asking for what is in it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._specs: dict[str, list[tuple[str, GitIgnoreSpec]]] = {}
        self._above = self._outer_specs(root)

    def enter(self, folder: str) -> None:
        """Read the `.gitignore` of a folder (relative to the root, "" is the root), parents first."""
        parent = self._specs[folder.rpartition("/")[0]] if folder else self._above
        spec = _read(self._root / folder / ".gitignore")
        self._specs[folder] = [(f"{folder}/" if folder else "", spec), *parent] if spec else parent

    def ignored(self, folder: str, name: str, is_folder: bool) -> bool:
        """Whether git would leave out `folder/name`."""
        chain = self._specs[folder]
        if not chain:
            return False
        path = f"{folder}/{name}" if folder else name
        shown = path + "/" if is_folder else path
        for base, spec in chain:
            # a base above the root is a path to put in front, one below it a prefix to cut off
            tail = base[1:] + shown if base.startswith("<") else shown[len(base) :]
            verdict = spec.check_file(tail).include
            if verdict is not None:
                return verdict and path not in self._tracked
        return False

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """Asked only when a pattern matches."""
        return git.tracked(self._root)

    def _outer_specs(self, root: Path) -> list[tuple[str, GitIgnoreSpec]]:
        """Specs of the folders above the root up to the repository's top; none if they ignore the root itself."""
        chain: list[tuple[str, GitIgnoreSpec]] = []
        way = ""
        for folder in (root, *root.parents):
            if folder != root:
                spec = _read(folder / ".gitignore")
                if spec:
                    chain.append((f"<{way}", spec))
            if (folder / ".git").exists():
                spec = _read(folder / ".git" / "info" / "exclude")
                if spec:
                    chain.append((f"<{way}", spec))
                named = (spec.check_file(base[1:]).include for base, spec in chain if base != "<")
                return [] if next((v for v in named if v is not None), False) else chain
            way = f"{folder.name}/{way}"
        return []


def _read(path: Path) -> GitIgnoreSpec | None:
    """The patterns of a `.gitignore`; git skips the lines it cannot read, and so do we."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    from pathspec import GitIgnoreSpec

    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue
        good.append(line)
    spec = GitIgnoreSpec.from_lines(good)
    return spec if any(p.include is not None for p in spec.patterns) else None
