"""The commands `simulate` and `sim-cc` with their options. What a command needs is imported when it runs."""

from __future__ import annotations

import click

from cu2port.cli import common
from cu2port.cli.console import echo


class _Simulate(common.CommandAfterDashes):
    """What follows a `--` is a program's arguments after a file or folder, and a command where there is none."""

    def takes_command(self, has_path: bool) -> bool:
        return not has_path


@click.command(
    "simulate", cls=_Simulate, short_help="Run a HIP program, or a build and its tests, on the CPU at wave 32 and 64."
)
@click.argument("path", required=False, default="", metavar="FILE|DIR")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS]...")
@click.option("--wave", type=click.Choice(["32", "64", "both"]), help="Lanes in a wave.  [both; 64 for a command]")
@click.option(
    "--warp", type=click.Choice(["logical", "native", "flag"]), help="How CUDA is converted, as in convert.  [logical]"
)
@common.include_dirs
@common.defines
@click.option("--compiler", metavar="CMD", default="", help="C++17 compiler.  [$CXX, c++, clang++, g++]")
@click.option("--std", metavar="STD", default="", help="Standard of C++, such as c++20.  [c++17]")
@click.option("--time-limit", type=float, metavar="S", help="Seconds a run may take.  [120; none for a command]")
@click.option("--memory", metavar="SIZE", default="8G", help="Device memory.  [8G]")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="OS threads that run blocks.  [cores]")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Compiler processes.  [cores]")
@click.option("--check", is_flag=True, help="Look for races, bad indices, uninitialised and inactive values; slower.")
@click.option("--json", "json_file", metavar="FILE", default="", help="Write what --check finds as JSON.")
@click.option("--junit", "junit_file", metavar="FILE", default="", help="Write what --check finds as JUnit XML.")
@click.option("--instrument", is_flag=True, help="Only write the instrumented copy (to -o, or standard output).")
@click.option("-o", "output", metavar="OUT", default="", help="File for --instrument.")
@click.option("--cflags", is_flag=True, help="Only print the flags for a build of your own.")
@click.option("--executor", type=click.Choice(["gfx942", "gfx1100"]), help="Run the GPU's machine code instead.")
@click.option("--executor-dir", metavar="DIR", default="", envvar="CU2PORT_EXECUTOR", help="Folder of what runs it.")
@click.option("--shell", is_flag=True, help="Open a shell in which nvcc and hipcc build for the CPU.")
def simulate(path: str, arguments: tuple[str, ...], **asked: object) -> None:
    """Build a whole HIP program (host code, kernels, launches) for the CPU, and run it.

    This executes the program: use it on code that you would run. CUDA sources are converted first. With --wave both
    it runs twice; a difference in output or exit code is a wave-size bug and is shown side by side.

    `cu2port simulate -- COMMAND` runs a command, such as `make test`, with stand-ins for nvcc, hipcc and the host's
    compilers first on PATH (see sim-cc), and sums up what was built, ran and failed. The command does what it does:
    use it on trees that you would build. With --check the units are built and the programs run so that races, bad
    indices and what relies on lockstep are found; all that was found is said after the command.

    `--executor gfx942` compiles the program for that GPU and runs the machine code with the executor in the folder
    that --executor-dir or CU2PORT_EXECUTOR names. cu2port has none of its own.

    Exit codes: the program's or the command's own; 124 after the time limit, 125 when it could not be built or run, 1
    when the two runs differ or --check finds something.
    """
    words = click.get_current_context().meta.get(common.WORDS, ())
    if words or asked["shell"]:
        from cu2port.cli.sim_session import command as session

        raise SystemExit(session(words, asked))
    from cu2port.cli.simulate import command

    asked["time_limit"] = asked["time_limit"] or 120.0
    raise SystemExit(command(path, arguments, asked))


@click.command(
    name="sim-cc",
    short_help="Act as nvcc or hipcc, and build for the CPU.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--as NAME] OPTIONS... FILE...")
def sim_cc(words: tuple[str, ...]) -> None:
    """Act as nvcc (`--as hipcc`: as hipcc) on its command line, and build for the CPU with the simulator's runtime.

    This runs compilers on the sources. nvcc's input is converted first; hipcc's is taken as HIP. The environment says
    the rest: CU2PORT_SIM_WAVE (32 or 64; 64 if unset), CU2PORT_SIM_WARP (as `--warp` of simulate), CU2PORT_SIM_CXX
    (the C++17 compiler), CU2PORT_SIM_CHECK (1: built for --check). `--as NAME` stands first.
    """
    if words in (("--help",), ("-h",)):
        ctx = click.get_current_context()
        echo(ctx.get_help())
        return
    from cu2port.cli.sim_session import stand_in

    mode = "nvcc"
    if words[:1] == ("--as",) and len(words) > 1:
        mode, words = words[1], words[2:]
    raise SystemExit(stand_in(mode, words))
