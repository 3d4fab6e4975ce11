"""All commands with their options. What a command needs is imported when it runs."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType

import click

from cu2port.cli import common
from cu2port.cli.console import echo, echo_lines
from cu2port.cli.sim_commands import sim_cc, simulate
from cu2port.cli.trial_command import trial
from cu2port.core.version import __version__
from cu2port.report import formats
from cu2port.report.formats import Kind

_Command = Callable[..., None]
_NO_ARGUMENTS: type[click.UsageError] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.2


def _format(kind: Kind) -> Callable[[_Command], _Command]:
    """The option that says how findings are written."""
    words = "How findings are written; else by -o's suffix.  [text]"
    return click.option("--format", "--output-format", "format", type=click.Choice(formats.names(kind)), help=words)


_output = click.option(
    "-o", "--output", "--output-file", "output", metavar="FILE", default="", help="File to write; else standard output."
)


def _report(kind: Kind, more: str = "") -> Callable[[_Command], _Command]:
    """The option that writes what was found to a file beside."""
    words = f"Write a report{more}; the suffix is its format ({' '.join(formats.by_suffix(kind))})."
    return click.option("--report", "reports", metavar="FILE", multiple=True, help=words)


def _terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM, as `timeout` and CI send it: compilers and programs that were started end first."""
    raise SystemExit(128 + number)


class _Oops:
    """The last line of defence: an error we did not foresee becomes one line and exit code 2."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is None or isinstance(error, (SystemExit, GeneratorExit)):
            return
        if isinstance(error, KeyboardInterrupt):
            echo("cu2port: interrupted", err=True)
            raise SystemExit(130)
        if isinstance(error, BrokenPipeError):  # the reader of our output went away, as `head` does
            sys.stderr.close()
            raise SystemExit(2)
        from cu2port.catalog.rulefile import CatalogError
        from cu2port.core.data import DataError

        if isinstance(error, CatalogError):  # somebody edited a checkout's rules; the message names file and row
            echo(f"cu2port: rules/{' '.join(str(error).split())}", err=True)
            raise SystemExit(2)
        if isinstance(error, DataError):
            echo(f"cu2port: {error}", err=True)
            raise SystemExit(2)
        import traceback

        from cu2port.project.workers import describe

        if "-v" in sys.argv or "--verbose" in sys.argv:
            echo_lines("".join(traceback.format_exception(error)), err=True)
        text = " ".join(str(error).split())
        more = " (-v shows more)" if sys.argv[1:2] in (["convert"], ["verify"]) else ""  # others have no such option
        echo(f"cu2port: internal error: {describe(error)}: {text}; please report it{more}", err=True)
        raise SystemExit(2)


def main() -> None:
    """The console script."""
    gc.set_threshold(500_000, 20, 20)  # hardly anything here is garbage in a circle, and looking for it takes long
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a file name that is no text must not stop a report
            reconfigure(errors="backslashreplace")
    with _Oops():
        signal.signal(signal.SIGTERM, _terminate)
        try:
            code = cli.main(prog_name="cu2port", standalone_mode=False)
            raise SystemExit(code if isinstance(code, int) else 0)
        except click.Abort:
            raise KeyboardInterrupt from None
        except click.ClickException as e:
            if isinstance(e, _NO_ARGUMENTS) and e.ctx is not None:
                echo_lines(e.ctx.get_help(), err=True)
                raise SystemExit(2) from None
            where = e.ctx.command_path if isinstance(e, click.UsageError) and e.ctx else "cu2port"
            echo(f"{where}: {' '.join(e.format_message().split())}", err=True)
            raise SystemExit(2) from None


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", prog_name="cu2port", message="%(prog)s %(version)s")
def cli() -> None:
    """Port CUDA C++ to HIP source that you own, with a report of all that is left.

    Four commands execute code: verify runs compilers on the sources, and CMake or `make -n` where the tree has a
    build; simulate builds and runs the program, or runs the command that it is given; trial builds and runs kernels;
    sim-cc runs compilers. All others (convert --verify runs compilers alone) read files, and run nothing that a tree
    holds or names.

    Exit codes: 0 nothing is left to do by hand, 1 findings are left, 2 could not run.
    """
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False


@cli.command(short_help="Convert files and folders of CUDA C++ to HIP.")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("-o", "--output", metavar="OUT", help="File or folder to write; `-` is standard output.")
@click.option("--in-place", is_flag=True, help="Write changed files back, whole or not at all.")
@click.option("--diff", is_flag=True, help="Print a unified diff; list what is left on standard error.")
@click.option("--dry-run", is_flag=True, help="Write nothing; show findings and summary.")
@click.option("--rename", metavar="SUFFIX", default="", help="Give .cu files this suffix (.hip); includes follow.")
@click.option("--launch", type=click.Choice(["keep", "ggl"]), default="keep", help="ggl: write hipLaunchKernelGGL.")
@click.option(
    "--warp",
    type=click.Choice(["logical", "native", "solo", "flag"]),
    help="logical: keep warps of 32 lanes; native: whole wavefronts where that is proven right; solo: one warp a "
    "wavefront; flag: rewrite none, report.  [logical]",
)
@click.option(
    "--kernel", "kernels", metavar="NAME=MODE", multiple=True, help="Another --warp for a kernel: solo or native."
)
@click.option(
    "--ptx",
    type=click.Choice(["guard", "trap"]),
    default="guard",
    help="PTX without a counterpart: does not compile where it is used, or traps.  [guard]",
)
@click.option(
    "--ptx-fp",
    type=click.Choice(["exact", "fast"]),
    default="exact",
    help="fast: keep denormals that PTX flushes, take the GPU's approximations.  [exact]",
)
@click.option(
    "--cuda-arch",
    metavar="SM",
    default="",
    help="NVIDIA GPU whose code HIP gets: `sm_80` makes `__CUDA_ARCH__ >= 800` true.  [sm_72, later where needed]",
)
@click.option("--skip-inactive", is_flag=True, help="Leave `#if` branches alone that are certainly off.")
@click.option("--comments", is_flag=True, help="Rewrite names in comments too.")
@click.option("--rocm", metavar="VERSION", default="", help="ROCm to write for.  [7.1]")
@click.option(
    "--trust",
    type=click.Choice(["exact", "review"]),
    default="review",
    help="exact: apply only what certainly keeps the meaning.",
)
@common.archs
@common.include_dirs
@common.defines
@common.build
@common.rules
@click.option("--exclude", metavar="GLOB", multiple=True, help="Do not convert these files (-o still copies them).")
@click.option(
    "--hip-side",
    type=click.Choice(["auto", "convert", "leave"]),
    help="CUDA's side of a tree with code for HIP: convert or leave it; auto: leave it if the build has HIP.  [auto]",
)
@click.option("--no-build-files", is_flag=True, help="Leave build files as they are; only sources are converted.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [number of cores]")
@click.option("--max-size", metavar="SIZE", default="8M", help="Do not convert larger files.  [8M]")
@click.option("--force", is_flag=True, help="Replace files that are not cu2port's; change a dirty git tree.")
@_report("run")
@click.option("--verify", metavar="ARCHS", help="Then compile the output for these GPUs: gfx942,gfx1100.")
@click.option("--shard", metavar="I/N", default="", help="Do part I of N; all parts may run at once, into one OUT.")
@click.option("--scheduler", metavar="ADDRESS", default="", help="Have the workers of a dask cluster do the work.")
@click.option("--no-cache", is_flag=True, help="Keep no results, use none.")
@click.option("-q", "--quiet", is_flag=True, help="Show errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Show what was applied too.")
def convert(paths: tuple[str, ...], quiet: bool, verbose: bool, **asked: object) -> None:
    """Convert CUDA C++ to HIP.

    A file goes to the file -o names; folders go to the folder -o names, where every file is there again, under
    its own name. Files in OUT that cu2port did not write are left alone. `-` reads standard input.
    """
    from cu2port.cli.convert import command

    raise SystemExit(command(paths, -1 if quiet else 1 if verbose else 0, asked))


@cli.command(cls=common.CommandAfterDashes, short_help="Compile converted code for AMD GPUs; no GPU is needed.")
@click.argument("path", metavar="PATH [-- COMMAND]")
@click.option(
    "--arch", "archs", metavar="ARCHS", default="", help="GPUs to compile for.  [gfx90a,gfx942,gfx1100,gfx1201]"
)
@click.option("-p", "build", metavar="DIR", help="Folder of compile_commands.json, of the CUDA build or a HIP one.")
@common.include_dirs
@common.defines
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Compilers at once.  [number of cores]")
@click.option("--compiler", metavar="X", default="", help="hipcc, a clang++, or `wheels`; else one is found.")
@click.option("--std", metavar="STD", default="", help="Such as c++17, for files without a compile command.")
@click.option("--rocm-path", metavar="DIR", default="", help="ROCm, or a folder with include/hip in it.")
@click.option("--no-build", is_flag=True, help="Do not ask the tree's build; compile each file by itself.")
@click.option("--build-with", type=click.Choice(["cmake", "make", "setup.py"]), help="What builds it.")
@click.option("--torch", metavar="X", default="", help="torch's wheel, unpacked or not, for its extensions.")
@click.option(
    "--build-arg", "build_args", metavar="ARG", multiple=True, help="For cmake, make or setup.py: -DTESTS=OFF, gpu=1."
)
@click.option(
    "--only", metavar="GLOB", multiple=True, help="Compile only units of this name, with their build's flags."
)
@click.option("--list", "listing", is_flag=True, help="Show the units with their language; compile nothing.")
@click.option(
    "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="S", default=300.0, show_default=True
)
@_report("run", ", or add to that of convert")
@click.option("-q", "--quiet", is_flag=True, help="Show errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Show every file.")
def verify(path: str, quiet: bool, verbose: bool, **asked: object) -> None:
    """Compile every translation unit of converted code, for the host and for each GPU.

    Where PATH holds a CMakeLists.txt or a Makefile, its build says what is compiled, with which flags: CMake
    configures it in a temporary folder, with stub packages for what ROCm would bring, or `make -n` prints its
    commands. A setup.py with torch's extensions, at the top or else below it, is run in a copy, with a stand-in for
    torch. `-- COMMAND` says how else it is built: the command is run in a copy, with compilers that write down what
    they are asked. All of them can run programs of the tree, so use it on code that you would build; --no-build
    runs compilers alone. Errors are shown at the CUDA line they came from. A file that needs a header this machine
    lacks is not judged.
    Exit codes: 0 all that was judged compiles, 1 some does not, 2 could not run.
    """
    from cu2port.cli.verify import command

    words = click.get_current_context().meta.get(common.WORDS, ())
    raise SystemExit(command(path, words, -1 if quiet else 1 if verbose else 0, asked))


@cli.command(short_help="What porting a tree takes, without writing code.")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@_format("audit")
@_output
@_report("audit")
@click.option("--compare", metavar="OLD.json", default="", help="An older audit: show what is fixed, new and left.")
@common.archs
@click.option("--rocm", metavar="VERSION", default="", help="ROCm to port to.  [7.1]")
@common.include_dirs
@common.defines
@common.build
@common.rules
@click.option("--exclude", metavar="GLOB", multiple=True, help="Files to leave out.")
@click.option("--max-size", metavar="SIZE", default="8M", help="Do not look at larger files.  [8M]")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [number of cores]")
def audit(paths: tuple[str, ...], **asked: object) -> None:
    """Say what porting a tree takes: how much converts by itself, what is left, effort, libraries, risks on wavefronts
    of 64 lanes, inline PTX, build files, and the order in which to port.

    Exit codes: 0 nothing is left to do by hand, 1 findings are left, 2 could not run.
    """
    from cu2port.cli.audit import command

    raise SystemExit(command(paths, asked))


@cli.command(short_help="Find what a port gets wrong, before and after it.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--select", metavar="RULES", multiple=True, help="Rules that count: codes, prefixes, names; ALL.")
@click.option("--ignore", metavar="RULES", multiple=True, help="Rules that do not count.")
@click.option("--extend-select", metavar="RULES", multiple=True, help="Rules that count beside the default ones.")
@click.option("--fix", is_flag=True, help="Fix HIP code where that certainly keeps its meaning.")
@click.option("--unsafe-fixes", is_flag=True, help="Fix also what needs review afterwards.")
@click.option("--diff", is_flag=True, help="Show what would be fixed, write nothing; list the rest.")
@_format("lint")
@_output
@_report("lint")
@click.option("--statistics", is_flag=True, help="Count findings by rule.")
@click.option("--info", is_flag=True, help="Show findings of severity info too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 although there are findings.")
@click.option("--stdin-filename", metavar="NAME", default="", help="What `-` is called.")
@click.option("--baseline", metavar="FILE", default="", help="Leave out the findings that this file knows.")
@click.option("--write-baseline", metavar="FILE", default="", help="Write such a file, of all there is now.")
@common.archs
@click.option("--rocm", metavar="VERSION", default="", help="ROCm that the code is for.  [7.1]")
@common.rules
@click.option("--exclude", metavar="GLOB", multiple=True, help="Files to leave out.")
@click.option("--config", metavar="FILE", default="", help="Configuration; else the nearest one upwards.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--no-cache", is_flag=True, help="Keep no results, use none.")
@click.option("--max-size", metavar="SIZE", default="8M", help="Do not look at larger files.  [8M]")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [number of cores]")
@click.option("-q", "--quiet", is_flag=True, help="Print no findings.")
def lint(paths: tuple[str, ...], **asked: object) -> None:
    """Find what compiles and is wrong: warps of 64 lanes, inline PTX, numerics, names without a counterpart.

    Files may be CUDA, or HIP after a port. `// cu2port: ignore[rule] reason` silences a line.
    Exit codes: 0 nothing found, 1 findings, 2 could not run.
    """
    from cu2port.cli.lint import command

    raise SystemExit(command(paths, asked))


@cli.command(short_help="A .ptx file as HIP source; or one instruction explained.")
@click.argument("path", required=False, default="", metavar="[FILE]")
@click.option("-e", "text", metavar="TEXT", help="Show what instructions mean, as HIP, and what they compute.")
@click.option("-o", "--output", metavar="OUT", default="", help="File to write.  [standard output]")
@click.option("--set", "given", metavar="NAME=VALUE", multiple=True, help="With -e: the value of an operand (%1=0xff).")
@click.option(
    "--ptx", type=click.Choice(["guard", "trap"]), default="guard", help="What has no counterpart: as for convert."
)
@click.option("--ptx-fp", "fp", type=click.Choice(["exact", "fast"]), default="exact", help="As for convert.")
@click.option("--force", is_flag=True, help="Replace a file that is not cu2port's.")
def ptx(path: str, text: str | None, output: str, given: tuple[str, ...], ptx: str, fp: str, force: bool) -> None:
    """Convert a module of PTX to HIP source: a kernel for each entry, with its name and parameters.

    With -e, explain instructions of inline PTX: `cu2port ptx -e 'bfi.b32 %0, %1, %2, 8, 4;'`.
    """
    from cu2port.cli.ptx import command

    raise SystemExit(command(path, text, output, given, fp, ptx, force))


@cli.command(short_help="Merge the reports of the parts of a run.")
@click.argument("action", type=click.Choice(["merge"]))
@click.argument("paths", nargs=-1, metavar="FILE...", required=True)
@click.option("-o", "--output", "output", metavar="FILE", default="", help="File to write (.json .jsonl); else output.")
def report(action: str, paths: tuple[str, ...], output: str) -> None:
    """Merge the JSON reports of `convert --shard 1/N` to N/N: the result is the report of the whole run.

    Exit codes: 0 nothing is left to do by hand, 1 findings are left, 2 a part is missing or not of this run.
    """
    from cu2port.cli.report import merge as command

    raise SystemExit(command(paths, output))


@cli.command(short_help="What a CUDA name becomes, and why.")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def query(name: str, as_json: bool) -> None:
    """Show what a CUDA name becomes: its HIP name, versions, what changes with it, or why there is none."""
    from cu2port.cli.lookup import query as command

    raise SystemExit(command(name, as_json))


@cli.command(short_help="The page of one rule.")
@click.argument("rule", metavar="CODE|NAME")
def explain(rule: str) -> None:
    """Show why a rule is there, what is done about it, and examples."""
    from cu2port.cli.lookup import explain as command

    raise SystemExit(command(rule))


@cli.command(short_help="All rules, one a line.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def rules(as_json: bool) -> None:
    """List all rules with their codes."""
    from cu2port.cli.lookup import rules as command

    raise SystemExit(command(as_json))


for _command in (simulate, sim_cc, trial):
    cli.add_command(_command)


if __name__ == "__main__":
    main()
