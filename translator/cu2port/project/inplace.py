"""Files written back where they were read.

Texts first, each after the headers that it includes; then the new names of --rename, first in links to them. So a run
that is cut short leaves what the next run takes up: an include or link of a new name is right as soon as the name is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cu2port.core import file_rules
from cu2port.core.disk import Refused, move, put_link, replacing, sync_folder
from cu2port.core.model import Judged
from cu2port.project import git
from cu2port.project.git_objects import GitError
from cu2port.project.helper_headers import HelperHeaders
from cu2port.project.tree import CannotRun, Item, Root


def check_links(roots: Sequence[Root]) -> None:
    """Nothing is written through a link: a tree of a stranger's may have one that leads anywhere."""
    for root in roots:
        if not root.folder and Path(root.given).is_symlink():
            raise CannotRun(f"{root.given} is a link to {root.path}; --in-place takes the file itself")


def safe_in_place(roots: Sequence[Root], items: Sequence[Item]) -> list[str]:
    """Refuse what git could not bring back; say so where there is no git to do it."""
    notes = []
    for root in roots:
        ours = {item.path: item.shown for item in items if item.root is root and item.converts}
        try:
            dirty, outside = git.uncommitted(ours)
        except GitError as e:
            raise CannotRun(f"{e}; whether git could bring the files back cannot be told: --force converts them") from e
        names = [ours[path] for path in ours if path in dirty]
        if names:
            some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            raise CannotRun(f"not committed to git: {some}; commit first, or --force")
        if outside:
            notes.append(f"{root.given} is not in a git tree, so the old files cannot be brought back")
    return notes


class InPlace:
    """Writes changed files back. `force`: also where a file's hard links, owner or attributes get lost."""

    def __init__(self, force: bool = False) -> None:
        self._force = force
        self._helpers = HelperHeaders(durable=True)
        self._folders: set[str] = set()

    def put_headers(self, folder: Path, names: frozenset[str]) -> list[tuple[Path, Judged]]:
        """Bring helper headers, before what includes them. Returns foreign files in the way. Raises OSError."""
        written, blocked = self._helpers.put(folder, names)
        self._folders.update(str(p.parent) for p in written)
        return blocked

    def put(self, name: str, data: bytes, read: str) -> Judged | None:
        """Replace a file that still holds what was `read` (its digest). Returns why it was left. Raises OSError."""
        try:
            with replacing(name, over=read, like=True, force=self._force, durable=True) as f:
                f.write(data)
        except Refused as e:
            return file_rules.NOT_REPLACED.on_file(f"{e}; it was left as it is")
        self._folders.add(os.path.dirname(name))  # noqa: PTH120
        return None

    def lead(self, item: Item, suffix: str) -> Judged | None:
        """Let a link lead to the name that its file is about to get; only its end changes. Returns why not. Raises
        OSError."""
        now = os.readlink(item.name)  # noqa: PTH115
        stem = os.path.basename(now)[:-3]  # noqa: PTH119
        try:
            if now.lower().endswith(".cu") and os.path.basename(item.link) == stem + suffix:  # noqa: PTH119
                put_link(item.name, now[:-3] + suffix, over=f"link:{now}")
        except Refused as e:
            return file_rules.NOT_REPLACED.on_file(f"{e}; it leads where it led")
        return None

    def rename(self, item: Item) -> Judged | None:
        """Give a file or link its new name. Returns why not. Raises OSError."""
        new = item.path.with_name(item.target.rpartition("/")[2])
        try:
            if new != item.path:
                if self._force:
                    item.path.replace(new)
                else:
                    move(item.path, new)
                self._folders.add(str(new.parent))
        except Refused as e:
            return file_rules.NOT_REPLACED.on_file(f"{e}; it keeps its name")
        return None

    def finish(self) -> None:
        """Bring the names that were written to the disk."""
        for folder in sorted(self._folders):
            sync_folder(folder)
