"""Building a program for the simulator: which compiler, the runtime in the cache, instrumented copies, linking."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cu2port.catalog.includes import CUDA_HEADER
from cu2port.core.model import Options, Project
from cu2port.core.vendored import is_in_copy
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.facts.unit import Unit
from cu2port.project.computing import Multiplied
from cu2port.project.graph import Graph
from cu2port.project.jobs import scan_text
from cu2port.project.tree import CannotRun
from cu2port.verify import cccl
from cu2port.verify.children import in_threads
from cu2port.verify.instrument import instrument
from cu2port.verify.lines import source_lines
from cu2port.verify.reach import reached, read
from cu2port.verify.shielded import shields
from cu2port.verify.sim_compiler import HEADERS, INCLUDE_DIR, WRAPPED, CannotBuild, Toolchain
from cu2port.verify.two_sides import compile_both, has_two_sides, once

UNITS = frozenset({".cu", ".hip", ".cpp", ".cc", ".cxx", ".C"})
C_UNITS = frozenset({".c"})
C_FLAGS = (f"-idirafter{HEADERS / 'c'}",)  # vectors for sources that stay C
_CUDA = re.compile(r"\bcuda[A-Z]\w+|<cuda|\"cuda|_sync\s*\(\s*(?:0x|-1)")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b.*$", re.MULTILINE)
_ZERO = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0[ \t]*(?:/[/*].*)?$", re.MULTILINE)
_OPENMP = re.compile(r"^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*<omp\.h>", re.MULTILINE)
_INCLUDED = re.compile(r'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_EITHER = re.compile(r'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_TORCHS = re.compile(r"(?:ATen|c10|torch/csrc)/cuda/")  # headers of torch that bring CUDA's names
_HIP = re.compile(r"(?:hip|hipcub|hiprand|hipblas|hipblaslt|hipsolver|hipsparse|rocprim|rocrand|rocthrust|rocwmma)/")
_QUOTED = re.compile(r'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """What to build: translation units, folders of includes, macros (`NAME` or `NAME=VALUE`), more compiler flags.

    `warp`: how CUDA's sources among them are converted, as `Options.warp`. `cuda`: whether they are CUDA's; None: what
    they say decides.
    """

    units: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    warp: str = "logical"
    cuda: bool | None = None


def find_program(path: Path, include_dirs: Sequence[str] = (), defines: Sequence[str] = ()) -> Program:
    """A file, or all translation units below a folder (C's too). Raises CannotRun when there is none."""
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in UNITS | C_UNITS and p.is_file())
        inside = _included(files)
        units = tuple(p for p in files if absolute_path(p) not in inside)
        if not units:
            raise CannotRun(f"{path}: no C++ source below this folder")
    elif path.is_file():
        units = (path,)
    else:
        raise CannotRun(f"{path}: no such file or folder")
    return Program(units, tuple(Path(d) for d in include_dirs if not is_cuda_toolkit(d)), tuple(defines))


def is_cuda_toolkit(include: str) -> bool:
    """Whether a folder of includes is that of NVIDIA's toolkit: what its headers declare is no project's own."""
    return all(Path(include, name).is_file() for name in ("cuda_runtime_api.h", "crt/host_defines.h"))


def _included(files: Iterable[Path]) -> set[Path]:
    """Sources that other sources include: they are no units of their own."""
    out = set()
    for path in files:
        for m in _QUOTED.finditer(path.read_text("latin-1")):
            out.add(absolute_path(path.parent / m[1]))
    return out


class Text(NamedTuple):
    """A file's text as HIP, and for each of its lines the user's line, where conversion changed it."""

    hip: str
    lines: tuple[int, ...] = ()


def plain_sources(program: Program) -> dict[Path, Text]:
    """The units and all files of the user's that they include, by absolute path, as they are."""
    return {real: Text(text) for real, (_, text) in read_all(program.units, program).items()}


def sources(program: Program) -> dict[Path, Text]:
    """The same converted to HIP; with the helper headers that either needs: their cross-lane operations count as the
    user's do."""
    texts = read_all(program.units, program)
    data = {real: text.encode("latin-1") for real, (_, text) in texts.items()}
    scans = {str(real): scan_text(d) for real, d in data.items()}
    names = frozenset(n for s in scans.values() for n in s.declared)
    graph = Graph(list(scans), scans, [str(absolute_path(d)) for d in program.include_dirs])
    multiplied = Multiplied(graph)
    cuda = program.cuda
    if cuda is None:
        cuda = any(_is_cuda(real, text) for real, (_, text) in texts.items() if INCLUDE_DIR not in real.parents)
    options = Options(
        warp=program.warp, include_dirs=tuple(str(d) for d in program.include_dirs), defines=program.defines
    )
    out = {}
    helpers: set[str] = set()
    with ClangService() as clang:
        for real, (shown, text) in texts.items():
            out[real] = Text(text)
            # in a CUDA program a header may be CUDA's and say so nowhere: `half`, `warpSize`
            if cuda and INCLUDE_DIR not in real.parents:
                project = Project(
                    declared=names,
                    carry=graph.carry(str(real)),
                    side_macros=graph.side_macros(str(real)),
                    asm_keywords=graph.asm_keywords(str(real)),
                    text_macros=graph.text_macros(str(real)),
                    prefix_macros=graph.prefix_macros(str(real)),
                    member_sides=graph.member_sides(str(real)),
                    aliases=graph.aliases(str(real)),
                    **multiplied.told(str(real))._asdict(),
                )
                given = data[real]
                result = translate(given, options, path=str(shown), project=project, clang=clang)
                done = result.output
                helpers |= result.helpers
                out[real] = Text(done.decode("latin-1"), tuple(source_lines(given, done)) if done != given else ())
    for real, (_, text) in read_all([INCLUDE_DIR / "cu2port" / h for h in sorted(helpers)], program).items():
        out.setdefault(real, Text(text))
    return out


def read_all(starts: Iterable[Path], program: Program) -> dict[Path, tuple[Path, str]]:
    """Files, and the headers of the program and of cu2port that they include: absolute path -> path, text. HIP's
    library takes the place of a copy of CUB or Thrust."""
    out: dict[Path, tuple[Path, str]] = {}
    todo = list(starts)
    while todo:
        path = todo.pop()
        real = absolute_path(path)
        if real in out:
            continue
        try:
            text = path.read_bytes().decode("latin-1")
        except OSError as e:
            raise CannotRun(f"{path}: {e.strerror}") from e
        out[real] = (path, text)
        for m in _EITHER.finditer(_without_dead(text)):
            near = [path.parent] if m[1] == '"' else []
            found = next((d / m[2] for d in (*near, *program.include_dirs, INCLUDE_DIR) if (d / m[2]).is_file()), None)
            if (
                found is not None
                and HEADERS not in absolute_path(found).parents
                and not is_in_copy(str(found.absolute()))
            ):
                todo.append(found)
    return out


def _without_dead(text: str) -> str:
    """A text without what is in `#if 0`."""
    out, at, depth, dead = [], 0, 0, 0
    for m in _CONDITIONAL.finditer(text) if _ZERO.search(text) else ():
        if m[1].startswith("if"):
            depth += 1
            if not dead and _ZERO.match(m[0]):
                out.append(text[at : m.start()])
                dead = depth
            continue
        if depth == dead:
            dead, at = 0, m.start()
        depth -= m[1] == "endif"
    return "".join(out) + text[at:] * (not dead)


def _is_cuda(path: Path, text: str) -> bool:
    return _CUDA.search(text) is not None or (path.suffix == ".cu" and "hip/hip_runtime" not in text)


def asks_for(starts: Iterable[Path], program: Program) -> bool | None:
    """Whether files, or headers of the program that they include, take CUDA's headers (True), HIP's (False), none."""
    texts = read_all(starts, program)
    hip = False
    own = {shown.name for shown, _ in texts.values()}  # `cuda_helpers.h` of the project is no header of CUDA's
    for real, (_, text) in texts.items():
        if INCLUDE_DIR in real.parents:
            continue
        for name in _INCLUDED.findall(text):
            if _TORCHS.match(name) or (CUDA_HEADER.match(name) and Path(name).name not in own):
                return True
            hip = hip or _HIP.match(name) is not None
    return False if hip else None


def stays_c(source: Path, flags: Sequence[str], toolchain: Toolchain) -> bool:
    """Whether a source in C takes no more than vectors of CUDA or HIP: the compiler says which headers it includes.

    As C++ it might not compile: its headers may have more within `#ifdef __cplusplus`, or within conditions for HIP.
    """
    done = subprocess.run(
        [*toolchain.command, *flags, *C_FLAGS, "-M", "-MG", "-x", "c", str(source)], capture_output=True, text=True
    )
    names = done.stdout.replace("\\\n", " ").split()[1:]
    missing = [n for n in names if not Path(n).is_file()]  # those of GPUs are
    real = any(is_cuda_toolkit(str(Path(n).parent)) for n in names if n.endswith("/cuda_runtime_api.h"))
    return done.returncode == 0 and not real and not any(CUDA_HEADER.match(n) or _HIP.match(n) for n in missing)


def make_cpp(copy: Path, texts: Iterable[str]) -> None:
    """Make a copy in C one in C++ whose names are C's: the simulator's headers, which are C++, come before.

    `texts`: the copy's and those of the headers that it includes.
    """
    ours = sorted({n for t in texts for n in _INCLUDED.findall(t) if (HEADERS / n).is_file()})
    before = "".join(f"#include <{n}>\n" for n in ours)
    copy.write_bytes(f'{before}extern "C" {{\n#line 1\n'.encode() + copy.read_bytes() + b"\n}\n")


def copies(program: Program, folder: Path, steps: bool = False) -> list[Path]:
    """Write instrumented copies below a folder, each under its absolute path; returns those of the units.

    `steps`: for runs in lockstep, see `instrument`.
    """
    write_copies(read_units(program), folder, steps)
    return [mirrored(folder, absolute_path(u)) for u in program.units]


def read_units(program: Program) -> dict[Path, tuple[Unit, tuple[int, ...]]]:
    """The facts of all files of a program as HIP, and their lines as in `Text`."""
    here = Path.cwd()
    out = {}
    for real, (text, lines) in sources(program).items():
        shown = str(real.relative_to(here)) if real.is_relative_to(here) else str(real)
        out[real] = read(text, shown), lines
    return out


def write_copies(
    units: Mapping[Path, tuple[Unit, tuple[int, ...]]], folder: Path, steps: bool = False, two_sides: bool = False
) -> None:
    """Write instrumented copies below a folder, as `copies` does."""
    reach = reached((unit for unit, _ in units.values()), steps)
    for real, (unit, lines) in units.items():
        target = mirrored(folder, real)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(instrument(unit, reach, steps, lines, two_sides).encode("latin-1"))


def absolute_path(path: Path) -> Path:
    """The path by which `sources` knows a file."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay: includes are relative to where a file is found


def mirrored(folder: Path, path: Path) -> Path:
    """Where a file's copy is, so that relative includes between copies hold."""
    absolute = absolute_path(path)
    return folder / absolute.relative_to(absolute.anchor)


def own_names(folder: Path) -> str:
    """A compiler's flag by which what is known of code names the user's files, not the copies below a folder."""
    return f"-fdebug-prefix-map={folder / 'src'}="


def build(
    program: Program, folder: Path, waves: Sequence[int], toolchain: Toolchain, jobs: int = 0, check: bool = False
) -> dict[int, Path]:
    """Compile and link a program for each wave size. Raises CannotBuild with the compiler's message."""
    if check and toolchain.is_zig:
        raise CannotRun("--check needs g++ or clang++: ziglang's compiler brings a ThreadSanitizer of its own")
    units = read_units(program)
    texts = [unit.text for unit, _ in units.values()]
    two_sided = _two_sided(program, units)
    write_copies(units, folder / "src", check, bool(two_sided))
    built = [mirrored(folder / "src", absolute_path(u)) for u in program.units]
    runtime = toolchain.runtime()
    includes = [f"-I{x}" for d in program.include_dirs for x in (mirrored(folder / "src", d), d.absolute())]
    includes += [f"-I{mirrored(folder / 'src', INCLUDE_DIR)}", f"-idirafter{INCLUDE_DIR}"]
    openmp = _openmp(toolchain, built)
    first = shields(program.defines, folder / "shields", texts)
    common = ["-O2", *(f"-D{d}" for d in program.defines), *includes, *openmp, *program.flags]
    in_c = [f"-D{d}" for d in program.defines] + [f"-I{d.absolute()}" for d in program.include_dirs]
    in_c += ["-O2", *(x for x in program.flags if not x.startswith(("-std=", "-fpermissive"))), *C_FLAGS]
    plain = _plain_c(program, folder, in_c, toolchain, texts)
    thrust = cccl.common_headers(texts, program.include_dirs)

    def compile_unit(job: tuple[int, int, Path]) -> Path:
        wave, number, copy = job
        out = folder / f"{number}-{wave}.o"
        real = Path("/") / copy.relative_to(folder / "src")
        flags = [*first, *toolchain.flags(wave, check), *common, f"-I{copy.parent}", f"-idirafter{real.parent}"]
        source, language = copy, "c++"
        if copy in plain:  # as it is: no copy of a header either
            source, language = real, "c"
            flags = ["-w", *openmp, *in_c]
        elif real.suffix in (".cu", ".hip"):
            flags += ["-D__HIP__=1", "-D__HIPCC__=1"]  # HIP's compiler has them before any header
            flags += toolchain.runtime_first(flags, thrust)
        elif real.suffix in C_UNITS:
            flags += toolchain.runtime_first(flags, thrust)
        flags += [own_names(folder), "-x", language, "-c", str(source), "-o"]
        try:
            sides = two_sided.get(real)
            why = compile_both(flags, toolchain, out, sides, f"{real} {number}") if sides else "it is compiled once"
            if why:
                toolchain.call([*(once(why) if two_sided else ()), *flags, str(out)])
        except CannotBuild as e:
            raise CannotBuild("\n".join(x for x in (str(e), cccl.missing(texts)) if x)) from None
        return out

    todo = [(wave, n, copy) for wave in waves for n, copy in enumerate(built)]
    objects = list(in_threads(compile_unit, todo, jobs or os.cpu_count() or 1))
    out = {}
    for wave in waves:
        binary = folder / f"program-{wave}"
        mine = [str(o) for (w, _, _), o in zip(todo, objects, strict=True) if w == wave]
        toolchain.call(
            [*mine, str(runtime), *(WRAPPED if check else ()), "-pthread", *openmp, "-lm", "-o", str(binary)]
        )
        out[wave] = binary
    return out


def _two_sided(program: Program, units: Mapping[Path, tuple[Unit, tuple[int, ...]]]) -> dict[Path, list[Unit]]:
    """The units that have two sides, with the facts of the files that they include."""
    out: dict[Path, list[Unit]] = {}
    if has_two_sides(unit for unit, _ in units.values()):
        for start in program.units:
            files = [units[real][0] for real in read_all([start], program) if real in units]
            if has_two_sides(files):
                out[absolute_path(start)] = files
    return out


def _plain_c(
    program: Program, folder: Path, flags: Sequence[str], toolchain: Toolchain, texts: Sequence[str]
) -> set[Path]:
    """The copies of C sources that stay C; those of the others are made C++."""
    plain = set()
    for unit in program.units:
        if unit.suffix in C_UNITS:
            copy = mirrored(folder / "src", absolute_path(unit))
            if asks_for([unit], program) is None or stays_c(unit, flags, toolchain):
                plain.add(copy)
            else:
                make_cpp(copy, texts)
    return plain


def _openmp(toolchain: Toolchain, copies_: Iterable[Path]) -> list[str]:
    if toolchain.is_clang:
        return []
    return ["-fopenmp"] if any(_OPENMP.search(c.read_text("latin-1")) for c in copies_) else []
