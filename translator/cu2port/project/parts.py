"""Files that sources include, whatever their names end in: functions listed for macros (`rt.fn`), parts of code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cu2port.core.files import SOURCE_SUFFIXES, suffix
from cu2port.project.tree import Item

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from cu2port.project.graph import Scan


class Parts:
    """The items of a tree that nothing but an include calls sources. `found`: by index, as sources; `dirs`: folders of
    -I. What the user excludes is none."""

    def __init__(self, items: Sequence[Item], dirs: Sequence[str], exclude: GitIgnoreSpec | None) -> None:
        self.found: dict[int, Item] = {}
        self._items = items
        self._dirs = tuple(map(os.path.abspath, dirs))
        self._exclude = exclude
        self._others: dict[str, int] | None = None

    def included(self, scans: Mapping[str, Scan]) -> Iterator[int]:
        """The indices of those that the scanned files include and that were not met before."""
        for file, scan in scans.items():
            for name, quoted in scan.includes:
                if quoted and suffix(name) not in SOURCE_SUFFIXES:
                    yield from self._new(file, name)

    def _new(self, file: str, name: str) -> Iterator[int]:
        if self._others is None:  # few trees have any
            self._others = {item.name: i for i, item in enumerate(self._items) if _may_be_part(item)}
        folders = (os.path.dirname(file), *self._dirs)  # noqa: PTH120
        paths = (os.path.normpath(f"{folder}/{name}") for folder in folders)
        index = next((self._others[p] for p in paths if p in self._others), None)
        if index is None:
            index = self._only(name)
        if index is None or index in self.found:
            return
        item = self._items[index]
        if self._exclude is None or not self._exclude.match_file(item.relative):
            self.found[index] = replace(item, kind="source")
            yield index

    def _only(self, name: str) -> int | None:
        """The one item whose path ends as an include is written: the build knows the folder."""
        if not name or name.startswith(("/", ".")):
            return None
        ending = f"/{name}"
        fit = [i for path, i in (self._others or {}).items() if path.endswith(ending)]
        return fit[0] if len(fit) == 1 else None


def _may_be_part(item: Item) -> bool:
    """Whether an include may make a source of an item: it is copied, or only its text makes a build file of it."""
    if item.kind != "build":
        return item.kind == "copy"
    from cu2port.build.kinds import kind_of

    return kind_of(item.relative.rpartition("/")[2]) == "binding"
