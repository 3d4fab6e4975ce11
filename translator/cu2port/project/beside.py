"""What a tree's build files say, read beside the workers' first look at its sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cu2port.project.graph import Graph
from cu2port.project.tree import Item

if TYPE_CHECKING:
    from cu2port.build.convert import Facts
    from cu2port.project.build_files import Read
    from cu2port.project.sides import Builds


class BuildFiles:
    """What the build files of the input say: `facts` by index, and in `of_hip` what they say of HIP."""

    def __init__(self) -> None:
        self.facts: dict[int, tuple[Item, Facts]] = {}
        self.of_hip: Builds | None = None

    def read(self, items: Sequence[Item], of_hip: bool) -> Iterator[None]:
        """Read them, a step for each, so that it can be done while workers are busy; `of_hip`: for that too. A file
        that is given alone has none, and loads nothing of it."""
        if not any(item.kind == "build" for item in items):
            return
        from cu2port.project import build_files

        for i, found in build_files.read(items):
            self.facts[i] = found
            yield
        if of_hip:
            from cu2port.project.sides import read_builds

            self.of_hip = read_builds(of_folders(items))


def of_folders(items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    """The files of folders among which build files are."""
    return ((i.name, i.relative) for i in items if i.root.folder and i.kind in ("copy", "build"))


def told_by(builds: Read, items: Sequence[Item], graph: Graph | None) -> tuple[frozenset[str], frozenset[str]]:
    """The sources for the host that only the compiler of HIP takes, where there are build files; and those that a build
    has nvcc compile as CUDA."""
    if not builds:
        return frozenset(), frozenset()
    from cu2port.project import build_files
    from cu2port.project.device_hosts import device_hosts

    return device_hosts(graph), build_files.as_cuda(builds, items)
