"""Options that several commands have."""

from __future__ import annotations

import click

archs = click.option("--arch", "archs", metavar="ARCHS", default="", help="GPUs that count (gfx942,gfx1100).  [all]")
include_dirs = click.option("-I", "include_dirs", metavar="DIR", multiple=True, help="Folder to look for includes in.")
defines = click.option("-D", "defines", metavar="NAME[=V]", multiple=True, help="Macro that the build defines.")
build = click.option(
    "-p",
    "build",
    metavar="DIR",
    help="Folder of compile_commands.json, for -I and -D; `none`.  [found in the tree]",
)
rules = click.option("--rules", metavar="FILE", multiple=True, help="A rule file of the project; its rows win.")

WORDS = "cu2port.command"  # where a context keeps the words of a command to run


class CommandAfterDashes(click.Command):
    """What follows a `--` is a command to run, beside a path; kept in the context's `meta`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            given, _, _ = self.make_parser(ctx).parse_args(list(args[:at]))
            if self.takes_command(isinstance(given.get("path"), str)):
                ctx.meta[WORDS] = tuple(args[at + 1 :])
                args = args[:at]
        return super().parse_args(ctx, args)

    def takes_command(self, has_path: bool) -> bool:
        """Whether the words are a command, told by whether there is a path before them."""
        return has_path
