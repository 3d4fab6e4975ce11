"""One source becomes an object for the CPU: what it is, its converted and instrumented copy, what a compiler gets."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.facts.unit import Unit
from cu2port.project.tree import CannotRun
from cu2port.verify import cccl, sim_build, sim_compiler
from cu2port.verify.device_names import localize_names
from cu2port.verify.shielded import shields
from cu2port.verify.sim_build import Program, absolute_path, mirrored
from cu2port.verify.sim_compiler import INCLUDE_DIR, Toolchain
from cu2port.verify.standin.words import CommandLine, Job, Source
from cu2port.verify.two_sides import compile_both, has_two_sides, once

_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(?:17|1z|2.)$")
_UNSAFE = frozenset({"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Lanes in a wave, the C++ compiler below, the folder laid out as a toolkit, the log of a session ("": none), how
    CUDA is converted, as `Options.warp`, and whether what is built can be checked as `simulate --check` does it."""

    wave: int
    toolchain: Toolchain
    toolkit: Path
    log: str = ""
    warp: str = "logical"
    check: bool = False


def kind(source: Source, line: CommandLine) -> bool | None:
    """Whether a source is CUDA's (True) or HIP's (False); None: the host's compiler takes it as it is."""
    if source.language == "cu":
        return True
    if source.language == "hip":
        return False
    program = Program((source.path,), tuple(Path(d) for d in line.include_dirs))
    return sim_build.asks_for([source.path, *(p for p in map(Path, line.forced) if p.is_file())], program)


def compile_source(source: Source, line: CommandLine, settings: Settings, out: Path | None) -> None:
    """Compile a source to an object, preprocess it, or write its dependencies, as the line says.

    `out`: None for standard output. Raises CannotRun, or CannotBuild with the compiler's message.
    """
    if not source.path.is_file():
        raise CannotRun(f"{source.path}: no such file")
    cuda = kind(source, line)
    if cuda is None or (source.language == "c" and sim_build.stays_c(source.path, _plain(line), settings.toolchain)):
        own = [*_plain(line), *(sim_build.C_FLAGS if source.language == "c" else ())]
        run(settings.toolchain, [*_job(line, out), *own, "-x", source.language, str(source.path)])
        return
    with tempfile.TemporaryDirectory(prefix="cu2port-") as scratch:
        folder = Path(scratch)
        forced = [Path(f) for f in line.forced if Path(f).is_file()]
        folders = tuple(Path(d) for d in line.include_dirs)
        program = Program((source.path, *forced), folders, tuple(line.defines), warp=settings.warp, cuda=cuda)
        units = sim_build.read_units(program)
        files = [unit for unit, _ in units.values()]
        host = source.language in ("c++", "c")  # code for GPUs is compiled as another language
        two_sides = not host and has_two_sides(files)
        sim_build.write_copies(units, folder / "src", settings.check, two_sides)
        copy, *before = (mirrored(folder / "src", absolute_path(u)) for u in program.units)
        if source.language == "c":  # the simulator's headers are C++
            sim_build.make_cpp(copy, (unit.text for unit in files))
        hidden = shields(program.defines, folder / "shields", (unit.text for unit in files))
        thrust = cccl.common_headers((unit.text for unit in files), program.include_dirs)
        words = [*hidden, *_words(line, settings, program, folder, copy, before, host, thrust)]
        depends = folder / "depends.d"
        if line.depends:
            words += _depends(line, depends, out or source.path.with_suffix(".o"))
        if line.job is Job.DEPEND:
            run(settings.toolchain, [*words, "-x", "c++", str(copy)])  # preprocessed only, as nvcc does
        else:
            try:
                why = _of_both_sides(words, line, settings, copy, out, files) if two_sides else "it has one side"
                if why:
                    words += once(why) if two_sides else ()
                    run(settings.toolchain, [*words, *_job(line, out), "-x", "c++", str(copy)])
            except sim_compiler.CannotBuild:
                raise sim_compiler.CannotBuild(cccl.missing(unit.text for unit in files)) from None
            if out is not None and line.job is Job.OBJECT and not line.separate:
                localize_names(out, files)
        if line.depends:
            _write_depends(line, depends, folder, source, out)


def _of_both_sides(
    words: Sequence[str], line: CommandLine, settings: Settings, copy: Path, out: Path | None, files: Sequence[Unit]
) -> str:
    if out is None or line.job is not Job.OBJECT:
        return "it is not compiled to an object"
    call = [*words, "-c", "-x", "c++", str(copy), "-o"]
    return compile_both(call, settings.toolchain, out, files, f"{out.absolute()} {' '.join(line.defines)}")


def run(toolchain: Toolchain, words: Sequence[str], cwd: Path | None = None) -> None:
    """Run the compiler, its output passed through. Raises CannotBuild (empty: the compiler said it) or CannotRun."""
    try:
        code = subprocess.run([*toolchain.command, *words], cwd=cwd).returncode
    except OSError as e:
        raise CannotRun(f"{toolchain.command[0]}: {e.strerror}") from e
    if code:
        raise sim_compiler.CannotBuild("")


def _job(line: CommandLine, out: Path | None) -> list[str]:
    words = ["-E"] if line.job is Job.PREPROCESS else ["-c"]
    return [*words, "-o", str(out)] if out is not None else words


def _plain(line: CommandLine) -> list[str]:
    """The flags of a source that has nothing to do with GPUs."""
    words = list(line.flags)
    words += [x for d in line.forced for x in ("-include", d)]
    words += [f"-I{d}" for d in line.include_dirs]
    words += [f"-D{d}" for d in line.defines]
    return words + line.depends


def _words(
    line: CommandLine,
    settings: Settings,
    program: Program,
    folder: Path,
    copy: Path,
    before: Sequence[Path],
    host: bool,
    thrust: str,
) -> list[str]:
    toolchain = settings.toolchain
    flags = [f for f in line.flags if f not in _UNSAFE and (not f.startswith("-std=") or _STANDARD.match(f))]
    if not any(f.startswith("-O") for f in flags):
        flags.insert(0, "-O2")
    words = [*toolchain.flags(settings.wave, settings.check), *flags]
    words += ["-DCU2PORT_SIM_HOST=1"] if host else ["-D__HIP__=1", "-D__HIPCC__=1"]
    words += toolchain.runtime_first(words, thrust)
    words += [f"-D{d}" for d in program.defines if not d.startswith("THRUST_DEVICE_SYSTEM=")]  # Thrust runs on the host
    words += [x for b in before for x in ("-include", str(b))]
    words += [x for f in line.forced if not Path(f).is_file() for x in ("-include", f)]
    for d in program.include_dirs:
        words += [f"-I{mirrored(folder / 'src', d)}", f"-I{d.absolute()}"]
    words += [f"-I{mirrored(folder / 'src', INCLUDE_DIR)}", f"-idirafter{INCLUDE_DIR}"]
    real = absolute_path(program.units[0]).parent
    return [*words, f"-I{copy.parent}", f"-idirafter{real}", sim_build.own_names(folder)]


def _depends(line: CommandLine, file: Path, target: Path) -> list[str]:
    own = any(x in line.depends for x in ("-MMD", "-MM"))
    how = ("-MM" if own else "-M") if line.job is Job.DEPEND else ("-MMD" if own else "-MD")
    words = [how, "-MF", str(file)]
    named = [x for a, b in zip(line.depends, line.depends[1:], strict=False) if a in ("-MT", "-MQ") for x in (a, b)]
    return [*words, *(named or ["-MT", str(target)]), *(["-MP"] if "-MP" in line.depends else [])]


def _write_depends(line: CommandLine, file: Path, folder: Path, source: Source, out: Path | None) -> None:
    """Write the dependencies with the user's files in place of their copies, and none of ours."""
    text = "".join(_owned(file.read_text(encoding="utf-8", errors="surrogateescape"), folder))
    asked = next((b for a, b in zip(line.depends, line.depends[1:], strict=False) if a == "-MF"), "")
    if not asked and line.job is Job.DEPEND:
        if out is None:
            sys.stdout.write(text)
            return
        asked = str(out)
    asked = asked or str((out or source.path).with_suffix(".d"))
    try:
        Path(asked).write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as e:
        raise CannotRun(f"{asked}: {e.strerror}") from e


def _owned(text: str, folder: Path) -> Iterator[str]:
    """Dependency rules without our headers; words are split at blanks that no backslash precedes."""
    copies = str(folder / "src")
    ours = (str(INCLUDE_DIR), str(cache_dir()), str(folder / "shields"))
    for rule in text.replace("\\\n", " ").splitlines():
        words = re.split(r"(?<!\\)\s+", rule.strip())
        kept = [w.removeprefix(copies) for w in words if w and not any(o in w for o in ours)]
        if kept and (len(words) == 1 or len(kept) > 1 or kept[0].startswith("/") is False):
            yield " ".join(kept) + "\n"
