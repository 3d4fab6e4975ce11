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
