"""Constants of the headers that a file includes: `FINAL_MASK`, `WARP_SIZE`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.facts.hipcode import is_hips
from cu2port.facts.unit import Unit
from cu2port.warp.headers import find_header

_DEPTH, _FILES = 3, 40


def headers_of(unit: Unit) -> tuple[Path, ...]:
    """The headers of the project that a file reaches, less those that are not found."""
    folder = Path(unit.path).parent
    todo = [(i, folder, 0) for i in _included(unit)]
    seen: dict[Path, None] = {}
    while todo and len(seen) < _FILES:
        name, start, depth = todo.pop(0)
        path = find_header(name, start, folder, unit.options.include_dirs)
        if path is None or path in seen:
            continue
        seen[path] = None
        if depth < _DEPTH:
            inner = header(path, path.stat().st_mtime_ns)
            todo += [(i, path.parent, depth + 1) for i in _included(inner)]
    return tuple(seen)


def _included(unit: Unit) -> list[str]:
    """What a file includes of its project, except for what is for HIP already."""
    return [i.path for i in unit.includes if i.quoted and not is_hips(unit, i.start)]


@lru_cache(maxsize=64)
def header(path: Path, _time: int) -> Unit:
    """A header, read. `_time`: when it was changed, part of the key."""
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError:  # it may not be read: nothing is known of it
        text = ""
    return Unit(text, load_catalog(), path=str(path))
