"""The command line: one module a command. Only this package prints and exits; a command is imported when it runs."""

from __future__ import annotations

from cu2port.cli.commands import cli, main

__all__ = ["cli", "main"]
