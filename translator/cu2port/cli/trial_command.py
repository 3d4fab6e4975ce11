"""The `trial` command as the command line knows it. Loads little: every command line is read with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from cu2port.cli import common

_F = Callable[..., Any]
_OPTIONS = (
    click.argument("path", metavar="FILE|DIR"),
    click.option("--kernel", "kernels", metavar="NAME", multiple=True, help="Only kernels of this name; repeatable."),
    click.option("--wave", type=click.Choice(["32", "64", "both"]), default="both", help="Lanes in a wave.  [both]"),
    click.option(
        "--warp",
        type=click.Choice(["logical", "native", "solo", "flag"]),
        default="logical",
        help="How kernels are converted, as in convert.  [logical]",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the arguments that are made up.  [1]"),
    click.option(
        "--time", "time_s", type=float, metavar="S", default=10.0, help="CPU seconds for a kernel's launches.  [10]"
    ),
    click.option(
        "--launches", type=click.IntRange(min=1), metavar="N", default=240, help="Most launches to try.  [240]"
    ),
    common.include_dirs,
    common.defines,
    click.option("--compiler", metavar="CMD", default="", help="C++17 compiler.  [$CXX, c++, clang++, g++]"),
    click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Kernels at a time.  [cores]"),
    click.option(
        "--json", "json_file", metavar="FILE", default="", help="Write the verdicts as JSON; `-`: standard output."
    ),
    click.option("--junit", "junit_file", metavar="FILE", default="", help="Write the verdicts as JUnit XML."),
)


def _with_options(f: _F) -> _F:
    for option in reversed(_OPTIONS):
        f = option(f)
    return f


@click.command(short_help="Run each CUDA kernel and its conversion on the CPU, and compare.")
@_with_options
def trial(path: str, **asked: object) -> None:
    """Run each CUDA kernel, without its program, and what it is converted to, on the CPU, and compare.

    This executes the kernels: use it on code that you would run. Arguments are made up from the types of parameters.
    The CUDA kernel runs with warps of 32 lanes, the converted one with 32 and with 64 lanes a wave.

    Exit codes: 0 no kernel differs, 1 one does, 2 could not run.
    """
    from cu2port.cli.trial import command

    raise SystemExit(command(path, asked))
