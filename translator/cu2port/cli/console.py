"""All output of cu2port to the terminal. Names and texts of a tree are escaped: they cannot end a line, set a colour or
give commands to a CI server.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from cu2port.core.plain import one_line


def echo(line: object, err: bool = False, fg: str | None = None) -> None:
    """Print one line, to standard error with `err`. Control characters and CI commands are escaped."""
    click.secho(one_line(str(line)), err=err, fg=fg)


def echo_lines(lines: Iterable[str] | str, err: bool = False) -> None:
    """Print lines, or a text of several."""
    for line in lines.removesuffix("\n").split("\n") if isinstance(lines, str) else lines:
        echo(line, err)


def echo_document(text: str, err: bool = False) -> None:
    """Print a document unchanged: code, or a format with its own escapes."""
    click.echo(text, nl=False, err=err)
