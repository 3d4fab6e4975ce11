"""All that cu2port prints goes through here: names and texts of a tree cannot end a line, colour it or command a CI."""

from __future__ import annotations

from collections.abc import Iterable

import click

from cu2port.core.plain import one_line


def say(line: object, err: bool = False, fg: str | None = None) -> None:
    """Print one line, to standard error with `err`. What would end it or be obeyed is escaped."""
    click.secho(one_line(str(line)), err=err, fg=fg)


def say_all(lines: Iterable[str] | str, err: bool = False) -> None:
    """Print lines, or a text of several."""
    for line in lines.removesuffix("\n").split("\n") if isinstance(lines, str) else lines:
        say(line, err)


def emit(text: str, err: bool = False) -> None:
    """Print a document as it is: code, or a format that has escapes of its own."""
    click.echo(text, nl=False, err=err)
