"""How many real CUDA programs compile for AMD GPUs once cu2port has converted them.

    python tools/compile_rate.py --corpus HECBENCH/src --list NAMES --rocm ROOT [--json FILE]
    python tools/compile_rate.py --project DIR --rocm ROOT [-I include] [-D NAME] [--group 2]

With --corpus, every name of the list (its first word; a one-letter flag before it is skipped) is a folder
`NAME-cuda`, converted by itself. With --project, one whole tree is converted, and its units are put together
by the first --group parts of their path (0: each file is its own program).

A program counts when every unit compiles for every GPU, host side and device side, and when the census agrees:
each kernel, launch and string literal of the input is still there. Code that was deleted would compile too.
For a program that fails, its hand-kept HIP twin (`NAME-hip`) is compiled the same way, which tells our failures
from those of headers, compiler or program. Nothing runs; ROOT holds include/hip, share/hip and amdgcn/bitcode.

Exit: 0 every program compiles or its twin does not either; 1 some program fails; 2 could not run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
SOURCES = frozenset(".c .cc .cpp .cu .cuh .cxx .h .hh .hip .hpp .hxx .inc .inl".split())
CONVERT = (sys.executable, "-c", "from cu2port.cli import main; main()", "convert", "-q", "{src}", "-o", "{out}")

# One alternative a token, so that a quote in a comment opens no string and an apostrophe in 1'000 no character.
# an asm statement, which may become C++, and what is in the place of one that has no counterpart
_TEXT = r'"(?:[^"\\]|\\.)*"'
ASM = re.compile(
    rf"\b(?:asm|__asm__|__asm)\s*(?:volatile\s*|__volatile__\s*)?\((?:[^()\"]|{_TEXT}|\((?:[^()\"]|{_TEXT}|\([^()]*\))*\))*\)"
    rf"|\buntranslated(?:_trap)?\({_TEXT}\)",
    re.DOTALL,
)
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<include>^[ \t]*\#[ \t]*include\b[^\n]*)
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | '(?:\\.|[^'\\\n])*'
      | (?<![\w.])[0-9](?:'?[\w.])*
      | (?P<kernel>\b__global__\b)
      | (?P<launch><<\s*<(?!<)|\bhipLaunchKernelGGL\b)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)', re.MULTILINE)
ERROR = re.compile(r"(?:fatal )?error: (.*)")


@dataclass(frozen=True)
class Census:
    """What a tree of sources holds that no conversion may lose."""

    kernels: int
    launches: int
    strings: Counter[str]

    def lost(self, after: Census) -> list[str]:
        """What `after` lacks, as sentences; more than before is fine."""
        pairs = (("kernels", self.kernels, after.kernels), ("launches", self.launches, after.launches))
        lines = [f"{was} {what} became {now}" for what, was, now in pairs if now < was]
        return lines + [f"string literal gone: {text[:60]}" for text in self.strings - after.strings]


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong with a program; `unit` is empty when it is the tree as a whole."""

    unit: str
    arch: str
    side: str
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """One program's outcome; `status` is ok, fail, no unit, not converted or absent; `twin` ok, fail or empty."""

    name: str
    status: str
    units: int = 0
    failures: tuple[Failure, ...] = ()
    twin: str = ""


@dataclass(frozen=True)
class Compiler:
    """How units are compiled: the command without what depends on unit, GPU and side."""

    command: tuple[str, ...]
    archs: tuple[str, ...]
    includes: tuple[str, ...]

    def failures(self, tree: Path, units: Sequence[Path], more: Sequence[Path] = ()) -> Iterator[Failure]:
        """Compile each unit for each GPU, both sides; the first failure of a unit is its only one."""
        # An absolute include folder replaces the tree in `tree / i`.
        dirs = [f"-I{folder}" for folder in (tree, *(tree / i for i in self.includes), *more)]
        yield from filter(None, (self._unit(tree, unit, dirs) for unit in units))

    def _unit(self, tree: Path, unit: Path, dirs: Sequence[str]) -> Failure | None:
        sides = {
            "host": ("--offload-host-only", "-fsyntax-only"),
            # Down to machine code, where foreign asm and errors held back until emission show; -c would also link.
            "device": ("--offload-device-only", "-S", "-Xclang", "-emit-obj", "-O0", "-o", os.devnull),
        }
        for arch in self.archs:
            # HIP headers before 7 ask for the wave size, which new clangs no longer define.
            wave = 64 if arch.startswith("gfx9") else 32
            target = (f"--offload-arch={arch}", f"-D__AMDGCN_WAVEFRONT_SIZE={wave}")
            for side, how in sides.items():
                words = [*self.command, *target, *dirs, *how, str(unit)]
                run = subprocess.run(words, capture_output=True, text=True, errors="replace")
                if run.returncode:
                    return Failure(str(unit.relative_to(tree)), arch, side, first_errors(run.stderr, tree))
        return None


def first_errors(stderr: str, tree: Path) -> tuple[str, ...]:
    """The first two error lines of a compiler's output, with paths relative to the tree."""
    lines = [line.replace(f"{tree}/", "") for line in stderr.splitlines() if ERROR.search(line)]
    return tuple(lines[:2]) or (stderr.strip()[-200:],)


def sources(tree: Path) -> list[Path]:
    """Every C or C++ source below `tree`, in a fixed order."""
    return sorted(p for p in tree.rglob("*") if p.suffix in SOURCES and p.is_file())


def census(tree: Path) -> Census:
    """Count kernels, launches and string literals outside comments, include lines and asm statements."""
    counts: Counter[str] = Counter()
    strings: Counter[str] = Counter()
    for path in sources(tree):
        for match in TOKEN.finditer(ASM.sub("", path.read_text("latin-1"))):
            kind = match.lastgroup if match.lastgroup != "tag" else "raw"
            counts[kind or ""] += 1
            strings.update([match[0]] if kind in ("string", "raw") else [])
    return Census(counts["kernel"], counts["launch"], strings)


def units_of(tree: Path, globs: Sequence[str]) -> list[Path]:
    """The files to compile: those that a glob names and that no other file of the tree includes."""
    files = sources(tree)
    included: set[Path] = set()
    for f in files:
        for name in INCLUDED.findall(f.read_text("latin-1")):
            beside = (f.parent / name).resolve()
            # What an include path alone can find is looked up by its name, wherever in the tree it is.
            included.update([beside] if beside.is_file() else (g for g in files if g.name == Path(name).name))
    own = (f for f in files if f not in included and f.resolve() not in included)
    return [f for f in own if any(fnmatch(str(f.relative_to(tree)), glob) for glob in globs)]


def names_in(path: Path) -> list[str]:
    """Program names of a list: the first word of a line, after a one-letter flag if there is one."""
    return re.findall(r"^(?:[A-Z][ \t]+)?([\w.+-]+)", path.read_text("utf-8"), re.MULTILINE)


def convert(command: Sequence[str], source: Path, out: Path) -> str:
    """Convert a tree; the message if nothing came out, else empty. Findings that are left are no error here."""
    out.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, PYTHONPATH=f"{ROOT / 'translator'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    words = [w.format(src=source, out=out) for w in command]
    run = subprocess.run(words, capture_output=True, text=True, errors="replace", env=env)
    if run.returncode not in (0, 1):
        return f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
    return "" if sources(out) else f"no output: {run.stderr.strip()[-300:]}"


def judge(name: str, tree: Path, units: Sequence[Path], compiler: Compiler, more: Sequence[Path] = ()) -> Program:
    """Compile one program's units in a converted tree."""
    failures = tuple(compiler.failures(tree, units, more))
    return Program(name, "fail" if failures else "ok" if units else "no unit", len(units), failures)


def measure_program(
    name: str, corpus: Path, suffixes: tuple[str, str], command: Sequence[str], compiler: Compiler, keep: Path | None
) -> Program:
    """Convert and compile the program `name` of a corpus; with an empty `command`, compile it as it is."""
    own, twin = (corpus / (f"{name}-{s}" if s else name) for s in suffixes)
    shared, globs = corpus / "include", ("*.cu", "*.hip", "*.cpp", "*.cc", "*.cxx")
    if not own.is_dir():
        return Program(name, "absent")
    if not command:
        return judge(name, own, units_of(own, globs), compiler, (corpus / f"{name}-cuda", shared))
    with tempfile.TemporaryDirectory(prefix="compile_rate_") as scratch:
        # Away from the corpus, so that no include reaches the twin or an unconverted neighbour by accident.
        copy, out = Path(scratch, "src", own.name), Path(scratch, "out", own.name)
        shutil.copytree(own, copy, symlinks=True)
        if trouble := convert(command, copy, out):
            return Program(name, "not converted", 0, (Failure("", "", "", (trouble,)),))
        program = judge(name, out, units_of(out, globs), compiler, (shared,))
        if lost := census(copy).lost(census(out)):
            program = replace(
                program, status="fail", failures=(*program.failures, Failure("", "", "census", tuple(lost)))
            )
        if keep:
            shutil.copytree(out, keep / own.name, symlinks=True, dirs_exist_ok=True)
    if program.status == "fail" and suffixes[1] and twin.is_dir():
        program = replace(program, twin=judge(name, twin, units_of(twin, globs), compiler, (own, shared)).status)
    return program


def measure_project(
    root: Path, globs: Sequence[str], group: int, command: Sequence[str], compiler: Compiler, keep: Path, jobs: int
) -> list[Program]:
    """Convert a whole tree into `keep` and compile its units, grouped by the first `group` parts of their path."""
    tree = keep / root.name if command else root
    if trouble := convert(command, root, tree) if command else "":
        return [Program(root.name, "not converted", 0, (Failure("", "", "", (trouble,)),))]
    groups: dict[str, list[Path]] = {}
    for unit in units_of(tree, globs):
        where = unit.relative_to(tree)
        groups.setdefault("/".join(where.parent.parts[:group]) if group else str(where), []).append(unit)
    with ThreadPoolExecutor(jobs) as pool:
        programs = list(pool.map(lambda item: judge(item[0], tree, item[1], compiler), groups.items()))
    lost = census(root).lost(census(tree))
    return programs + ([Program(".", "fail", 0, (Failure("", "", "census", tuple(lost)),))] if lost else [])


def show(programs: Sequence[Program], archs: Sequence[str]) -> None:
    """Print the failing programs with their first error, the errors by kind, and the counts."""
    kinds: Counter[str] = Counter()
    for p in programs:
        for number, f in enumerate(p.failures):
            text = ERROR.search(f.errors[0])
            kinds[re.sub(r"'[^']*'", "'...'", text[1])[:100] if text else f.errors[0][:100]] += 1
            if number < 2:
                where = " ".join(filter(None, (p.twin and f"(twin: {p.twin})", f.arch, f.side)))
                click.echo(f"{p.name}: {where}: {f.errors[0][:200]}")
    if kinds:
        click.echo("\nFirst errors by kind:")
        for kind, count in kinds.most_common(15):
            click.echo(f"{count:5}  {kind}")
    click.echo(f"\n{'programs':>14}  {len(programs):5}  ({', '.join(archs)})")
    for status, count in Counter(p.status for p in programs).most_common():
        click.echo(f"{status:>14}  {count:5}")
    if any(p.twin for p in programs):
        ours = [p.name for p in programs if p.twin == "ok"]
        click.echo(f"\nThe twin compiles, ours does not: {len(ours)}  {' '.join(ours)}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, help=(__doc__ or "").splitlines()[0])
@click.option("--corpus", type=FOLDER)
@click.option("--list", "listing", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--project", type=FOLDER)
@click.option("--rocm", type=FOLDER, required=True)
@click.option("--arch", "archs", multiple=True, default=("gfx942", "gfx1100"), show_default=True)
@click.option("--suffix", default="cuda", show_default=True, help="Folders are NAME-SUFFIX; empty: NAME.")
@click.option("--twin", default="hip", show_default=True, help="Suffix of the hand-kept HIP folder; empty: none.")
@click.option("--convert", "command", help="Another converter, with {src} and {out}; empty: compile as it is.")
@click.option("--cxx", default="clang++-22", show_default=True)
@click.option("--std", default="c++17", show_default=True)
@click.option("-I", "includes", multiple=True, help="Relative to the converted folder, unless absolute.")
@click.option("-D", "defines", multiple=True)
@click.option("--unit", "globs", multiple=True, default=("*.cu", "*.hip"), help="Units of a project, as globs.")
@click.option("--group", default=0, show_default=True, help="Path parts that name a program of a project.")
@click.option("--jobs", "-j", default=1, show_default=True)
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Leave converted trees here.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    corpus: Path | None, listing: Path | None, project: Path | None, rocm: Path, archs: tuple[str, ...],
    suffix: str, twin: str, command: str | None, cxx: str, std: str, includes: tuple[str, ...],
    defines: tuple[str, ...], globs: tuple[str, ...], group: int, jobs: int, keep: Path | None,
    json_file: Path | None,
) -> None:  # fmt: skip
    if (project is None) == (corpus is None) or (corpus is None) != (listing is None):
        raise click.UsageError("give either --corpus with --list, or --project")
    if shutil.which(cxx) is None:
        raise click.UsageError(f"no compiler {cxx}")
    how = CONVERT if command is None else tuple(shlex.split(command))
    flags = (f"-std={std}", f"--rocm-path={rocm}", "-nogpulib", "-w", "-ferror-limit=3", "-D__HIP_PLATFORM_AMD__")
    compiler = Compiler((cxx, "-x", "hip", *flags, *(f"-D{d}" for d in defines)), archs, includes)
    if corpus and listing:
        with ThreadPoolExecutor(jobs) as pool:
            one = partial(
                measure_program, corpus=corpus, suffixes=(suffix, twin), command=how, compiler=compiler, keep=keep
            )
            programs = list(pool.map(one, names_in(listing)))
    elif project:
        with tempfile.TemporaryDirectory(prefix="compile_rate_") as scratch:
            programs = measure_project(project, globs, group, how, compiler, keep or Path(scratch), jobs)
    show(programs, archs)
    if json_file:
        json_file.write_text(json.dumps({"archs": archs, "programs": [asdict(p) for p in programs]}, indent=1) + "\n")
    sys.exit(any(p.status != "ok" and p.twin != "fail" for p in programs))


if __name__ == "__main__":
    main()
