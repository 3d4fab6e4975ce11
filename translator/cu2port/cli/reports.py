"""What commands share: progress on a terminal, and the reports that are asked for."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cu2port.project.results import Tick
from cu2port.project.single import check_named, write_named
from cu2port.project.tree import CannotRun
from cu2port.report import formats
from cu2port.report.formats import Kind

_QUICK_S = 1.0  # work shorter than this shows no progress


def report_paths(given: tuple[str, ...], kind: Kind) -> dict[Path, str]:
    """Where reports go, and their formats. Raises CannotRun before any work is done when one could not be written."""
    paths = [Path(n) for n in given]
    return {path: format_of(path, kind, "--report") for path in paths}


def format_of(path: Path, kind: Kind, option: str, chosen: str = "", otherwise: str = "") -> str:
    """The format of a file that `option` names: what was `chosen`, else what its suffix says, else `otherwise`. Raises
    CannotRun."""
    known = formats.by_suffix(kind)
    found = chosen or known.get(path.suffix.lower(), otherwise)
    if not found:
        other = "" if option == "--report" else ", or --format"
        raise CannotRun(f"{option} {path}: the suffix says no format; there is {', '.join(known)}{other}")
    if not path.absolute().parent.is_dir():
        raise CannotRun(f"{option} {path}: there is no folder {path.parent}")
    check_named(option, path)
    return found


def write_reports(paths: Mapping[Path, str], kind: Kind, what: object) -> None:
    """Write what a run found to each file, in its format. Raises CannotRun."""
    for path, name in paths.items():
        write_text(path, formats.render(name, kind, what))


def write_text(path: Path, text: str, option: str = "--report") -> None:
    """Write a report to the file that `option` names. Raises CannotRun."""
    write_named(option, path, text.encode("utf-8", "backslashreplace"))


@contextlib.contextmanager
def progress(verbosity: int, title: str = "converting") -> Iterator[Tick]:
    """A progress bar for long work when somebody watches; else nothing, and rich is not even loaded."""
    if verbosity < 0 or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        bar: list[Any] = []

        def tick(done: int, total: int) -> None:
            if not bar:
                if time.monotonic() - began < _QUICK_S:
                    return
                from rich.console import Console
                from rich.progress import Progress

                # no thread of rich's own: workers are forked while the bar is up
                shown = stack.enter_context(Progress(console=Console(stderr=True), auto_refresh=False, transient=True))
                bar.extend((shown, shown.add_task(title, total=total)))
            bar[0].update(bar[1], completed=done, total=total)
            bar[0].refresh()

        yield tick
