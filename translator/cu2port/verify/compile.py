"""`verify`: compile every translation unit of a tree for the host and for each GPU. Prints nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.scratch import scratch_folder
from cu2port.core.verified import (
    COMPILES,
    FAILS,
    HOST,
    MISSING,
    UNFINISHED,
    CompileError,
    TargetRecord,
    UnitRecord,
    VerifyRecord,
)
from cu2port.engine.effects import wave_size
from cu2port.project.compile_db import CompileDb
from cu2port.project.tree import CannotRun
from cu2port.verify import build, extensions, headers, toolchain, torch_headers
from cu2port.verify.headers import WAVE_MACRO, Headers
from cu2port.verify.messages import Place, Places, crashed, diagnostics, left_of_cuda, replaced_header
from cu2port.verify.precompiled import Precompiled
from cu2port.verify.running import Ended, Runner
from cu2port.verify.toolchain import Compiler
from cu2port.verify.units import HIP, Tree, Unit, open_tree, units_of

_BLAS = "-DHIPBLAS_V2"  # headers of hipBLAS 2 have the interface of 3, which is converted to, behind this macro
_MOST_OPTIONS = 80  # for headers that a unit asked for
_SYSTEM = ("/usr/include", "/usr/local/include")  # where compilers look by themselves
_ERRORS = 5  # the first errors of a compilation; later ones mostly follow from them
_PROBE = "#include <hip/hip_runtime.h>\n"
_NAMES = re.compile(r"((?:\\.|[^\s\\])+)")
_QUIET = (
    "-w",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fdiagnostics-absolute-paths",
    "-fmessage-length=0",
)

Tick = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `sources`: (output, CUDA file) pairs, where a convert run tells them."""

    path: str
    archs: tuple[str, ...]
    compiler: str = ""
    rocm_path: str = ""
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = ""  # for files whose compile command says none
    commands: CompileDb | None = None
    workers: int = 0  # 0: as many as there are cores
    limit_s: float = 300.0
    sources: tuple[tuple[str, str], ...] = ()
    build: bool = False  # whether the tree's own build may be asked what it compiles
    build_args: tuple[str, ...] = ()
    build_with: str = ""  # what builds it, where a tree can be built in more than one way
    command: tuple[str, ...] = ()  # a command that builds it
    only: tuple[str, ...] = ()  # patterns of names of units; none: all
    torch: str = ""  # a wheel of torch, or the folder it is unpacked in


@dataclass
class _Session:
    """What all compilations of a run share."""

    request: Request
    tree: Tree
    compiler: Compiler
    headers: Headers
    folder: str
    runner: Runner
    places: Places
    precompiled: Precompiled
    guesses: bool = False  # whether nothing says which folders hold headers, so that those of the tree are tried
    guessed: dict[str, None] = field(default_factory=dict)  # folders that were found so, in order
    _probed: dict[str, str] = field(default_factory=dict)
    _more: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by unit: options for headers that it asked for

    def command(self, language: str, target: str, output: str) -> list[str]:
        """The compiler's command line up to the unit's own flags."""
        words = self._words(language, target)
        if target == HOST:
            return [*words, "-fsyntax-only", "-MD", "-MF", output, "-MT", "unit"]
        # machine code, not assembly: only an object has its inline assembly read
        return [*words, "-S", "-Xclang", "-emit-obj", "-o", output]

    def _words(self, language: str, target: str) -> list[str]:
        words = [*self.compiler.command, *_QUIET, f"-ferror-limit={_ERRORS}", "-fno-crash-diagnostics"]
        words += ["-x", language] if self.request.build else ["-x", language, "-D__HIP_PLATFORM_AMD__"]
        if language == HIP:
            arch = self.request.archs[0] if target == HOST else target
            words += [f"--offload-arch={arch}", f"--rocm-path={self.headers.root}", "-nogpulib"]
            if not self.compiler.defines_wave and self.headers.want_wave_macro:
                words.append(f"-D{WAVE_MACRO}={wave_size(arch) if target != HOST else 64}")
            words.append("--cuda-host-only" if target == HOST else "--cuda-device-only")
        else:
            words.append("-Wno-c++11-narrowing")  # gcc, which compiles such units as a rule, only warns of it
            words += [] if self.request.build else ["-idirafter", str(self.headers.include)]
        return words if target == HOST else [*words, "-O1"]

    def _command(self, unit: Unit, target: str, output: str) -> list[str]:
        if unit.compiler:  # a host compiler that the build names
            words = [unit.compiler, "-w", "-fdiagnostics-color=never", "-fmax-errors=5", "-fsyntax-only"]
        else:
            words = self.command(unit.language, target, output)
        return [*words, _BLAS, *unit.flags, unit.path]

    def compile(self, index: int, unit: Unit, target: str) -> TargetRecord:
        """One unit for the host or one GPU."""
        output = f"{self.folder}/{index}-{target.replace(':', '_')}"
        try:
            ended = self._run(unit, target, output)
            if ended.code is None:
                limit = f"the compiler ran longer than {self.request.limit_s:g} s"
                return TargetRecord(target, UNFINISHED, (self.places.at(Place(unit.path, 1, 1), limit),))
            if ended.code == 0:
                if unit.compiler:  # it says nothing of headers where it writes no code
                    return TargetRecord(target, COMPILES)
                if target == HOST and not os.path.isfile(output):  # noqa: PTH113
                    lost = "the compiler did not write which headers it read"
                    return TargetRecord(target, UNFINISHED, (self.places.at(Place(unit.path, 1, 1), lost),))
                wrong = self._strangers(unit, output) if target == HOST else ()
                return TargetRecord(target, FAILS if wrong else COMPILES, wrong)
            return self._failed(unit, target, ended)
        except OSError as e:
            lost = f"{self.compiler.name} could not be run on it ({e.strerror}); run verify again"
            return TargetRecord(target, UNFINISHED, (self.places.at(Place(unit.path, 1, 1), lost),))
        finally:
            with contextlib.suppress(OSError):
                os.unlink(output)  # noqa: PTH108

    def _run(self, unit: Unit, target: str, output: str) -> Ended:
        """Run the compiler. Where `guesses`, a header that it does not find, and that one folder of the tree alone
        has, is looked for there, after all other folders, so that no header of a library is hidden. A unit that asks
        for a header of torch is compiled as an extension of it."""
        more = self._more.get(unit.path, ())
        while True:
            words = self._command(unit, target, output)
            words[-1:-1] = more
            ended = self._with_precompiled(unit, target, words) or self.runner.run(words, unit.folder)
            found = self._options(unit, ended) if self.guesses and ended.code and len(more) < _MOST_OPTIONS else ()
            if not found or not set(found) - set(more):
                self._more[unit.path] = more
                self.guessed |= {b: None for a, b in pairwise(more) if a == "-idirafter"}
                return ended
            more = (*more, *found)

    def _with_precompiled(self, unit: Unit, target: str, words: Sequence[str]) -> Ended | None:
        """Where a precompiled header is made for a unit, and it compiles with that or takes too long, how it ended."""
        base = [*self._words(unit.language, target), _BLAS]
        first = self.precompiled.options(unit, target, base)
        ended = self.runner.run([*words[:-1], *first, words[-1]], unit.folder) if first else None
        return ended if ended is not None and not ended.code else None

    def _options(self, unit: Unit, ended: Ended) -> tuple[str, ...]:
        """What gives a unit the header that was not found; nothing where no place is known."""
        header = next((d.missing_header for d in diagnostics(ended.text) if d.missing_header), "")
        torch = torch_headers.asked_for(header, self.request.torch)
        if torch is not None:
            return extensions.alone(unit, torch, self.headers.include)
        folder = self._folder(header)
        return ("-idirafter", folder) if folder else ()

    def _folder(self, header: str) -> str:
        """The folder of the tree that has a header; "" for none, or for several."""
        name = os.path.normpath(header) if header else ""
        near = self.tree.ending(name) if name and not name.startswith((os.pardir, os.sep)) else []
        return near[0][: -len(name)].rstrip(os.sep) if len(near) == 1 else ""

    def _failed(self, unit: Unit, target: str, ended: Ended) -> TargetRecord:
        found = diagnostics(ended.text)
        if len(found) == 1 and found[0].missing_header:
            header = found[0].missing_header
            why = self._why_missing(header)
            if not why:
                return TargetRecord(target, MISSING, (), header)
            found[0].text = f"{found[0].text}: {why}"
        errors = tuple(dict.fromkeys(self.places.error(d, unit.path) for d in found))
        if ended.code is not None and crashed(ended.code, ended.text):
            errors = (*errors, self.places.at(Place(unit.path, 1, 1), "the compiler itself broke down"))
        elif any(e.inside for e in errors):
            self._check_headers(unit.language, target)
        if not errors:
            last = next((t for t in reversed(ended.text.splitlines()) if t.strip()), f"exit code {ended.code}")
            errors = (self.places.at(Place(unit.path, 1, 1), last.strip()),)
        return TargetRecord(target, FAILS, errors[:_ERRORS])

    def _why_missing(self, header: str) -> str:
        """Why a header that is not found is the port's matter or the command line's; "" for a library's."""
        if header.startswith("cu2port/") or "/cu2port/" in header:
            return "it is a helper header of cu2port; `convert` writes it with -o or --in-place"
        near = self.tree.ending(header)
        if near:
            return f"the tree has {self.tree.shown(near[0])}; name its folder with -I, or give -p"
        if left_of_cuda(header):
            return "a header of CUDA's own is left"
        return ""

    def _strangers(self, unit: Unit, output: str) -> tuple[CompileError, ...]:
        """Headers that stood in for the output's own: of the CUDA code it was made from, or CUDA's."""
        text = Path(output).read_text("utf-8", "surrogateescape")
        found: dict[str, str] = {}
        flags = (*unit.flags, *self._more.get(unit.path, ()))
        hip = str((self.headers.include / "hip").resolve())  # which may be a link to another folder
        for name in _NAMES.findall(text.partition(":")[2].replace("\\\n", " ")):
            path = name.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")
            path = os.path.realpath(os.path.join(unit.folder, path))  # noqa: PTH118 - where the compiler ran
            if self.tree.holds(path) or path.startswith(hip):
                continue
            if self.tree.unconverted(path):
                found[path] = f"the unconverted header {path} is read in place of one that the output lacks"
            elif any(map(replaced_header, _names_of(path, flags))):
                found[path] = f"a header of CUDA's own is included: {path}"
        return tuple(self.places.at(Place(unit.path, 1, 1), m) for m in found.values())

    def _check_headers(self, language: str, target: str) -> None:
        """An error inside a library's header: is it the user's, or do compiler and headers not go together?"""
        if language != HIP:
            return
        if target not in self._probed:
            probe = Path(self.folder, "probe.hip")
            probe.write_text(_PROBE)
            output = f"{self.folder}/probe-{target.replace(':', '_')}"
            ended = self.runner.run([*self.command(HIP, target, output), str(probe)])
            errors = [d.text for d in diagnostics(ended.text)] if ended.code else []
            self._probed[target] = errors[0] if errors else ""
        if self._probed[target]:
            raise CannotRun(
                f"{self.compiler.version} does not compile the HIP {self.headers.version} headers in "
                f"{self.headers.root} for {target}: {self._probed[target]}; try others (--compiler, --rocm-path)"
            )


def run(request: Request, tick: Tick = lambda done, total: None) -> VerifyRecord:
    """Compile. `tick(done, total)` is called after each compilation. Raises CannotRun."""
    with _prepared(request) as (session, units, notes):
        lost = () if request.only else session.tree.lost
        records = [*_compile_all(session, units, tick), *map(_lost, lost)]
        if session.guessed:
            shown = ", ".join(sorted(map(session.tree.shown, session.guessed)))
            notes.append(f"no option names the folders of these headers, and they were searched last: {shown}")
    compiler, found = session.compiler, session.headers
    return VerifyRecord(
        compiler=shlex.join(compiler.command),
        compiler_kind=compiler.kind,
        compiler_version=compiler.version,
        hip=str(found.root),
        hip_from=found.origin,
        hip_version=found.version,
        archs=request.archs,
        units=tuple(records),
        notes=tuple(notes),
    )


def listed(request: Request) -> list[tuple[str, str]]:
    """The units that `run` would compile, each with its language, without compiling them. Raises CannotRun."""
    with _prepared(request) as (session, units, _):
        return [(session.tree.shown(u.path), u.language) for u in units]


@contextlib.contextmanager
def _prepared(request: Request) -> Iterator[tuple[_Session, list[Unit], list[str]]]:
    """What is compiled, with what, and notes on how that was found."""
    tree = open_tree(request.path, request.sources)
    by_itself = request.command or request.build_with or build.kind(tree)
    builds = request.build and request.commands is None and bool(by_itself)
    units: list[Unit] = []
    notes: list[str] = []
    if not builds:
        units, notes = units_of(tree, request.include_dirs, request.defines, request.commands, request.std)
        if not units and not tree.lost:
            raise CannotRun(f"{request.path}: there is no translation unit in it (.hip, .cu, .cpp, .c)")
    with _scratch() as folder:
        compiler = toolchain.find(request.compiler, request.archs, folder)
        found = headers.find(request.rocm_path, compiler.root)
        wave = not compiler.defines_wave and found.want_wave_macro
        if builds:
            with Runner(request.limit_s, folder, build.environment(folder)) as runner:
                how = (request.build_with, request.torch, request.build_args, request.command)
                asked = build.Asked(request.archs, *how, request.include_dirs, request.defines)
                units, notes = build.units(tree, Path(folder), compiler, found, runner, asked)
        if wave:
            notes.append(f"these HIP headers want {WAVE_MACRO}, which this compiler no longer defines; it was given")
        chosen = _chosen(units, tree, request.only)
        if len(chosen) < len(units):
            notes.append(f"{len(units) - len(chosen)} units are not among those of --only, and were left out")
        with Runner(request.limit_s, folder) as runner:
            asked_for = request if builds else replace(request, build=False)
            guesses = not builds and request.commands is None
            first = Precompiled(runner, folder, chosen)
            yield (
                _Session(asked_for, tree, compiler, found, folder, runner, Places(tree), first, guesses),
                chosen,
                notes,
            )


def _chosen(units: list[Unit], tree: Tree, only: Sequence[str]) -> list[Unit]:
    """The units that one of the patterns names, as messages show them or below the folder that is verified."""
    if not only:
        return units
    names = {u.path: (tree.shown(u.path), os.path.relpath(u.path, tree.asked)) for u in units}
    for pattern in only:
        if not any(fnmatchcase(n, pattern) for both in names.values() for n in both):
            raise CannotRun(f"--only {pattern}: none of the {len(units)} units is called so; --list shows them")
    return [u for u in units if any(fnmatchcase(n, p) for n in names[u.path] for p in only)]


def _names_of(path: str, flags: Sequence[str]) -> list[str]:
    """The names by which a unit's flags let it include a header: `torch/cuda.h` is not CUDA's `cuda.h`."""
    named = [f[2:] for f in flags if f.startswith("-I")]
    named += [b for a, b in pairwise(flags) if a in ("-I", "-isystem")]
    folders = [os.path.realpath(f) + os.sep for f in (*named, *_SYSTEM) if f]
    return [path[len(f) :] for f in folders if path.startswith(f)] or [os.path.basename(path)]  # noqa: PTH119


def _lost(file: tuple[str, str]) -> UnitRecord:
    """A file or folder of the tree that could not be looked at."""
    path, why = file
    return UnitRecord(path, "", (TargetRecord(HOST, UNFINISHED, (CompileError(why, path, 1, 1),)),))


@contextlib.contextmanager
def _scratch() -> Iterator[str]:
    """A folder in the cache for what compilers write; it is gone afterwards."""
    base = cache_dir() / "verify"
    stack = contextlib.ExitStack()
    try:
        folder = stack.enter_context(scratch_folder(base, "run"))
    except OSError as e:
        raise CannotRun(f"{base} cannot be written ({e.strerror}); CU2PORT_CACHE_DIR names another folder") from e
    with stack:
        yield str(folder)


def _compile_all(session: _Session, units: Sequence[Unit], tick: Tick) -> list[UnitRecord]:
    """Host sides first: what lacks a header there is not tried for any GPU."""
    archs = session.request.archs
    total = sum(1 + len(archs) * (u.language == HIP) for u in units)
    found: dict[tuple[int, str], TargetRecord] = {}
    with ThreadPoolExecutor(session.request.workers or _cores()) as pool:
        jobs = {pool.submit(session.compile, i, u, HOST): (i, HOST) for i, u in enumerate(units)}
        for (i, _), record in _results(session.runner, jobs):
            found[i, HOST] = record
            if record.verdict == MISSING and units[i].language == HIP:
                found.update({(i, a): record._replace(target=a) for a in archs})
            tick(len(found), total)
        todo = [(i, a) for i, u in enumerate(units) if u.language == HIP for a in archs if (i, a) not in found]
        jobs = {pool.submit(session.compile, i, units[i], a): (i, a) for i, a in todo}
        for key, record in _results(session.runner, jobs):
            found[key] = record
            tick(len(found), total)
    return [
        UnitRecord(
            session.tree.shown(u.path),
            source.shown if (source := session.tree.sources.get(u.path)) else "",
            tuple(found[i, t] for t in (HOST, *archs) if (i, t) in found),
        )
        for i, u in enumerate(units)
    ]


def _results(
    runner: Runner, jobs: Mapping[Future[TargetRecord], tuple[int, str]]
) -> Iterator[tuple[tuple[int, str], TargetRecord]]:
    """Results as they come. When one is an error, or nobody waits any more, the others end."""
    pending = set(jobs)
    try:
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield jobs[future], future.result()
    finally:
        if pending:
            for future in pending:
                future.cancel()
            runner.stop()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
