"""What `convert` and `verify` share: progress on a terminal, and the reports that are asked for."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cu2port.project.convert import Tick
from cu2port.project.output import write_named
from cu2port.project.tree import CannotRun
from cu2port.report import FORMATS

_QUICK_S = 1.0  # work shorter than this shows no progress


def report_paths(names: tuple[str, ...]) -> list[Path]:
    """Where reports go. Raises CannotRun before any work is done when one could not be written."""
    paths = [Path(n) for n in names]
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise CannotRun(f"--report {path}: the suffix says the format, and there is {', '.join(FORMATS)}")
        if not path.absolute().parent.is_dir():
            raise CannotRun(f"--report {path}: there is no folder {path.parent}")
    return paths


def write_text(path: Path, text: str) -> None:
    """Write a report. Raises CannotRun."""
    write_named("--report", path, text.encode("utf-8", "backslashreplace"))


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
