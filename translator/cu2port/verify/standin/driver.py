"""What a stand-in does with a command line: compile, link, archive, or hand it to the compiler below."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cu2port.catalog.rulefile import CatalogError
from cu2port.project.tree import CannotRun
from cu2port.verify.sim_check import ON
from cu2port.verify.sim_compiler import WRAPPED, CannotBuild, find_toolchain
from cu2port.verify.standin import toolkit
from cu2port.verify.standin.compiling import Settings, compile_source, kind, run
from cu2port.verify.standin.extensions import prepare
from cu2port.verify.standin.log import LOG, is_probe, note
from cu2port.verify.standin.words import HIPCC, NVCC, CommandLine, Job, Source, read

WAVE, WARP, COMPILER = "CU2PORT_SIM_WAVE", "CU2PORT_SIM_WARP", "CU2PORT_SIM_CXX"
_WARPS = ("logical", "native", "flag")
_VERSIONS = frozenset({"--version", "-V"})
#: Variables with options that come before and behind those of the command line.
_OF_ENV: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    NVCC: (("NVCC_PREPEND_FLAGS",), ("NVCC_APPEND_FLAGS",)),
    HIPCC: ((), ("HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND")),
}
_DRY = frozenset({"-dryrun", "--dryrun"})


def main(mode: str, words: Sequence[str]) -> int:
    """Act as `mode` (nvcc, hipcc, or the name of a compiler of the host); returns the exit code."""
    os.environ["PATH"] = toolkit.path_without()  # no stand-in calls another
    if words and words[0] in _VERSIONS and mode in (NVCC, HIPCC):
        sys.stdout.write(toolkit.version_text(mode) + "\n")
        return 0
    said = ""
    try:
        settings = settings_of_environment()
        if mode not in (NVCC, HIPCC):
            return _host(mode, words, settings)
        if mode == NVCC and not _DRY.isdisjoint(words):  # builds take the libraries of a link from the last line
            _say(toolkit.verbose_text(settings.toolkit))
            return 0
        line = read(mode, _with_environment(mode, words))
        if mode == NVCC and "-v" in words and not line.sources:  # CMake asks where the toolkit lies
            _say(toolkit.verbose_text(settings.toolkit))
        line.include_dirs = [d for d in line.include_dirs if not toolkit.is_toolkit(d)]
        _act(line, without_check(settings) if prepare(line) else settings)
    except CannotBuild as e:
        said = str(e) or "the compiler failed"
        if str(e):
            _say(str(e))
    except (CannotRun, CatalogError) as e:
        said = str(e)
        _say(f"{mode}: {e} (cu2port sim-cc)")
    except OSError as e:
        said = f"{e.filename}: {e.strerror}"
        _say(f"{mode}: {said} (cu2port sim-cc)")
    if said:
        _noted("failed", f"{mode} {' '.join(words)}"[:300], os.environ.get(LOG, ""))
        return 1
    return 0


def _with_environment(mode: str, words: Sequence[str]) -> list[str]:
    """The command line with the options that variables of the environment hold for every call."""
    try:
        before, behind = (
            [w for name in names for w in shlex.split(os.environ.get(name, ""))] for names in _OF_ENV[mode]
        )
    except ValueError as e:
        raise CannotRun(f"options of the environment: {e}") from e
    return [*before, *words, *behind] if words else []


def _say(text: str) -> None:
    sys.stderr.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stderr.flush()


def settings_of_environment() -> Settings:
    """Settings as a session gave them, else wave 64 and the compiler that there is. Raises CannotRun."""
    wave = os.environ.get(WAVE, "64")
    if wave not in ("32", "64"):
        raise CannotRun(f"{WAVE}={wave}: say 32 or 64")
    warp = os.environ.get(WARP, _WARPS[0])
    if warp not in _WARPS:
        raise CannotRun(f"{WARP}={warp}: say {', '.join(_WARPS)}")
    toolchain = find_toolchain(os.environ.get(COMPILER, ""))
    check = os.environ.get(ON, "") not in ("", "0")
    return Settings(int(wave), toolchain, toolkit.lay_out(toolchain), os.environ.get(LOG, ""), warp, check)


def without_check(settings: Settings) -> Settings:
    """For an extension of torch: its kernels use memory of the host, which `--check` calls out of bounds."""
    return replace(settings, check=False)


def _act(line: CommandLine, settings: Settings) -> None:
    if not line.link:
        raise CannotRun("no input file")
    match line.job:
        case Job.LINK:
            _link(line, settings)
        case Job.ARCHIVE:
            _archive(line, settings)
        case Job.DEVICE_LINK:
            out = line.output or "a_dlink.o"
            run(settings.toolchain, ["-x", "c++", "-c", os.devnull, *_pic(line), "-o", out])
        case _:
            if not line.sources:
                raise CannotRun("no source to compile")
            for source in line.sources:
                compile_source(source, line, settings, _object(line, source))
                if line.job is Job.OBJECT:
                    _noted("object", str(source.path), settings.log)


def _pic(line: CommandLine) -> list[str]:
    return [f for f in line.flags if f in ("-fPIC", "-fpic", "-fPIE", "-fpie")]


def _object(line: CommandLine, source: Source) -> Path | None:
    if line.output:
        return Path(line.output)
    return Path(source.path.name).with_suffix(".o") if line.job is Job.OBJECT else None


def _objects(line: CommandLine, settings: Settings, folder: Path) -> list[str]:
    """The words of a link, its sources compiled to objects below a folder."""
    words = []
    for n, item in enumerate(line.link):
        if isinstance(item, Source):
            out = folder / f"{n}-{item.path.stem}.o"
            part = CommandLine(Job.OBJECT, separate=line.separate, forced=line.forced, flags=line.flags)
            part.include_dirs, part.defines, part.depends = line.include_dirs, line.defines, line.depends
            compile_source(item, part, settings, out)
            words.append(str(out))
        else:
            words.append(item)
    return words


def _link(line: CommandLine, settings: Settings) -> None:
    with tempfile.TemporaryDirectory(prefix="cu2port-") as scratch:
        words = _objects(line, settings, Path(scratch))
        out = line.output or "a.out"
        run(settings.toolchain, [*words, *runtime_words(settings), "-o", out])
    _noted("library" if "-shared" in line.link else "program", str(Path(out).absolute()), settings.log)


def _archive(line: CommandLine, settings: Settings) -> None:
    if not line.output:
        raise CannotRun("-lib: say the archive's name with -o")
    with tempfile.TemporaryDirectory(prefix="cu2port-") as scratch:
        words = [w for w in _objects(line, settings, Path(scratch)) if not w.startswith("-")]
        Path(line.output).unlink(missing_ok=True)
        try:
            done = subprocess.run(["ar", "rcs", line.output, *words])
        except OSError as e:
            raise CannotRun(f"ar: {e.strerror}") from e
        if done.returncode:
            raise CannotBuild("")
    _noted("library", str(Path(line.output).absolute()), settings.log)


def runtime_words(settings: Settings) -> list[str]:
    """What a link needs: the runtime, found again when the program runs, and the stubs of CUDA's libraries."""
    return [*_found_again(settings), "-lcu2port_sim", "-pthread", "-ldl", "-lm"]


def _found_again(settings: Settings) -> list[str]:
    folder = settings.toolkit / "lib64"
    return [*(WRAPPED if settings.check else ()), f"-L{folder}", f"-Wl,-rpath,{folder}"]


def _host(mode: str, words: Sequence[str], settings: Settings) -> int:
    """A compiler of the host: sources that include CUDA's or HIP's headers are ours, all else is its own."""
    real = shutil.which(mode)
    if real is None:
        raise CannotRun("no such compiler")
    try:
        line = read(mode, words)
        line.include_dirs = [d for d in line.include_dirs if not toolkit.is_toolkit(d)]
        torch = prepare(line)
        ours = (torch and line.sources) or any(kind(s, line) is not None for s in line.sources)
    except CannotRun:  # what the real one makes of it counts
        return subprocess.run([real, *words]).returncode
    if ours:
        _act(line, without_check(settings) if torch else settings)
        return 0
    if line.job is Job.LINK and line.link and any(not isinstance(x, Source) for x in line.link):
        stubs = {f"-l{n}" for n in toolkit.libraries()}
        if any(isinstance(x, str) and (x in stubs or str(settings.toolkit) in x) for x in line.link):
            words = [*words, *_found_again(settings)]
            code = subprocess.run([real, *words]).returncode
            if code == 0:
                what = "library" if "-shared" in line.link else "program"
                _noted(what, str(Path(line.output or "a.out").absolute()), settings.log)
            return code
    return subprocess.run([real, *words]).returncode


def _noted(word: str, text: str, log: str) -> None:
    if not is_probe(str(Path.cwd())) and not is_probe(text):
        note(log, word, text)
