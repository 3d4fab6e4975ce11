"""Copies of header libraries in a tree, which are not converted. AMD's libraries replace those of NVIDIA: an include of
a copy becomes an include of AMD's library. So it is with headers of CUDA's toolkit. Eigen supports HIP itself, so its
copy is used as it is."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from cu2port.core import file_rules
from cu2port.core.vendored import FOR_BOTH, LIBRARIES, Library, is_of_toolkit
from cu2port.project.tree import Item


def leave_copies(items: Sequence[Item], headers: Container[str]) -> list[Item]:
    """The items of a tree, the sources of such copies as files that are copied. One of each copy says so.

    `headers`: CUDA's, by the names that includes have."""
    names: dict[str, set[str]] = {}
    for item in items:
        if item.kind == "source" and item.root.folder:
            names.setdefault(item.root.given, set()).add(item.relative)
    copies = {(given, folder): library for given, of in names.items() for folder, library in _copies(of)}
    return [_left(item, copies) if copies else item for item in (_left_to_hip(x, headers) for x in items)]


def _left_to_hip(item: Item, headers: Container[str]) -> Item:
    """An item, as a file that is copied where it is a header of CUDA's toolkit."""
    name = item.relative.rpartition("/")[2]
    if item.kind != "source" or name not in headers or not item.root.folder or not is_of_toolkit(item.name):
        return item
    message = "it is a copy of a header of CUDA's toolkit: left alone, HIP's is included in its place"
    return replace(item, kind="copy", found=(*item.found, file_rules.VENDORED.on_file(message)))


def _copies(names: Iterable[str]) -> Iterable[tuple[str, Library]]:
    """The folders of a tree that are copies, as `a/cub/`. `names`: its sources, relative to the root."""
    of = set(names)
    for library in (*LIBRARIES, *FOR_BOTH):
        first, *others = library.headers
        for name in sorted(of):
            folder = name.removesuffix(first)
            if f"/{name}".endswith(f"/{library.folder}/{first}") and all(folder + x in of for x in others):
                yield folder, library


def _left(item: Item, copies: dict[tuple[str, str], Library]) -> Item:
    for (given, folder), library in copies.items():
        if item.kind == "source" and item.root.given == given and item.relative.startswith(folder):
            if item.relative != folder + library.headers[0]:
                return replace(item, kind="copy")
            why = f"{library.hip} is included in its place" if library.hip else "it has code for HIP of its own"
            message = f"{folder} is a copy of {library.name}: left alone, {why}"
            return replace(item, kind="copy", found=(*item.found, file_rules.VENDORED.on_file(message)))
    return item
