"""Which compiler: the one asked for, ROCm's own, a clang with AMDGPU, or the one that pip brings."""

from __future__ import annotations

import difflib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path

from cu2port.project.tree import CannotRun
from cu2port.verify.headers import WAVE_MACRO, rocm_roots

_QUICK_S = 60.0  # a compiler that takes longer to state its version is not one
_CLANG = re.compile(r"clang version (\d+)(?:\.\d+)*")
# `clang --target=amdgcn-amd-amdhsa --print-supported-cpus` of clang 22
GPUS = frozenset(
    "gfx600 gfx601 gfx602 gfx700 gfx701 gfx702 gfx703 gfx704 gfx705 gfx801 gfx802 gfx803 gfx805 gfx810 gfx900 gfx902 "
    "gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx942 gfx950 gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 "
    "gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201 "
    "gfx1250 gfx1251 gfx9-generic gfx9-4-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic "
    "gfx940 gfx941".split()  # the last two were taken out of clang; ROCm 6 has them
)
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}(?:-[a-z0-9-]+)?(?::(?:sramecc|xnack)[+-]){0,2}\Z")
# These would bring include folders and flags that are not the output's own.
_LEFT_OUT = frozenset(
    "CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH CCC_OVERRIDE_OPTIONS CCC_ADD_ARGS CL _CL_ INCLUDE "
    "HIPCC_COMPILE_FLAGS_APPEND HIPCC_LINK_FLAGS_APPEND CUDA_PATH CLANG_CONFIG_FILE_USER_DIR".split()
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that knows AMD's GPUs.

    `command`: its program and what always goes first; `kind`: given, rocm, path or wheels; `version`: the line in
    which it states that; `root`: the ROCm it belongs to; `defines_wave`: whether it defines the macro for the
    wavefront's size, as clang did before 22.
    """

    command: tuple[str, ...]
    kind: str
    version: str
    root: Path | None = None
    defines_wave: bool = False

    @property
    def name(self) -> str:
        return self.command[0]


def environment(temporary: str) -> dict[str, str]:
    """The environment for compilers: English messages, no flags of the user's own, scratch files in `temporary`."""
    kept = {k: v for k, v in os.environ.items() if k not in _LEFT_OUT}
    return {**kept, "LC_ALL": "C", "TMPDIR": temporary, "TMP": temporary, "ZIG_GLOBAL_CACHE_DIR": temporary}


def check_archs(text: str) -> tuple[str, ...]:
    """`gfx90a,gfx942` -> the names. Raises CannotRun for what is no GPU's name."""
    names = tuple(dict.fromkeys(n.strip() for n in text.split(",") if n.strip()))
    bad = [n for n in names if not _ARCH.match(n) or n.partition(":")[0] not in GPUS]
    if bad or not names:
        near = difflib.get_close_matches(bad[0] if bad else "", GPUS, 1, 0.8)
        hint = f"did you mean {near[0]}?" if near else "one is gfx942"
        raise CannotRun(f"--arch: {bad[0] if bad else text!r} is not an AMD GPU that clang knows; {hint}")
    return names


def find(asked: str, archs: Sequence[str], temporary: str) -> Compiler:
    """The first compiler that can compile for all of `archs`, with C++ headers to go with it.

    `asked`: that of --compiler, a program or `wheels`; then no other is tried. Raises CannotRun with what each lacks.
    """
    env = environment(temporary)
    lacks = []
    for candidate in _asked(asked) if asked else _candidates():
        ready = _ready(candidate, archs, env)
        if isinstance(ready, Compiler):
            return ready
        lacks.append(f"{candidate.name}: {ready}")
    said = "; ".join(lacks[:4])
    if asked:
        raise CannotRun(f"--compiler {said}")
    raise CannotRun(
        "no compiler for AMD GPUs found; install ROCm, a clang with the AMDGPU target, or "
        "pip install 'cu2port[verify]'" + (f" (tried {said})" if said else "")
    )


def _asked(text: str) -> Iterator[Compiler]:
    if text == "wheels":
        wheels = _wheels()
        if wheels is None:
            raise CannotRun("--compiler wheels: they are not installed; pip install 'cu2port[verify]'")
        yield wheels
        return
    path = shutil.which(text)
    if path is None:
        raise CannotRun(f"--compiler {text}: no such program")
    yield Compiler((os.path.abspath(path),), "given", "", _root_of(path))  # noqa: PTH100 - a link's own name matters


def _candidates() -> Iterator[Compiler]:
    """ROCm's compilers, clangs on PATH (the newest first), then the wheels."""
    seen: set[str] = set()
    for name in ("hipcc", "amdclang++"):
        places = [shutil.which(name), *(shutil.which(name, path=str(r / "bin")) for r in rocm_roots())]
        for path in (p for p in places if p):
            if path not in seen:
                seen.add(path)
                yield Compiler((path,), "rocm", "", _root_of(path))
    clangs = [p for n in ("clang++", *(f"clang++-{v}" for v in range(40, 14, -1))) if (p := shutil.which(n))]
    by_age = sorted({os.path.realpath(p): p for p in clangs}.values(), key=_age, reverse=True)
    for path in by_age:
        yield Compiler((path,), "path", "")
    wheels = _wheels()
    if wheels is not None:
        yield wheels


def _root_of(path: str) -> Path | None:
    """The ROCm install that a program is in."""
    for folder in (Path(path).absolute().parent, Path(path).resolve().parent):
        for root in (folder.parent, folder.parent.parent, folder.parent.parent.parent):
            if (root / "include" / "hip" / "hip_runtime.h").is_file():
                return root
    return None


def _age(path: str) -> int:
    done = _run([path, "--version"], dict(os.environ))
    found = _CLANG.search(done.stdout) if done else None
    return int(found[1]) if found else 0


def _wheels() -> Compiler | None:
    """The clang in ziglang's wheel, with the headers of the same clang from clang-tidy's."""
    zig = _package("ziglang")
    tidy = _package("clang_tidy")
    if zig is None or tidy is None:
        return None
    program = zig / ("zig.exe" if sys.platform == "win32" else "zig")
    resources = sorted(tidy.glob("data/lib/clang/*/include/__clang_hip_runtime_wrapper.h"))
    if not program.is_file() or not resources:
        return None
    command = [str(program), "clang", "-resource-dir", str(resources[-1].parent.parent)]
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        command.append(f"--target={platform.machine()}-linux-gnu")  # its own default is musl
    return Compiler(tuple(command), "wheels", "")


def _package(name: str) -> Path | None:
    """Where a package is; it is not loaded."""
    spec = util.find_spec(name)
    places = (spec.submodule_search_locations or ()) if spec else ()
    return next((Path(p) for p in places), None)


def _ready(compiler: Compiler, archs: Sequence[str], env: Mapping[str, str]) -> Compiler | str:
    """The compiler, made complete; or what it lacks."""
    stated = _run([*compiler.command, "--version"], env)
    if stated is None or stated.returncode or not stated.stdout.strip():
        return "does not state its version"
    lines = [line.strip() for line in stated.stdout.splitlines() if line.strip()]
    clang = next((line for line in lines if _CLANG.search(line)), "")
    if not clang:
        return "is no clang"
    if compiler.kind == "wheels":
        major, resources = _CLANG.search(clang), Path(compiler.command[3]).name
        if major and major[1] != resources.partition(".")[0]:
            return f"is clang {major[1]}, but clang-tidy's wheel has the headers of clang {resources}"
    found = replace(compiler, version=clang if clang == lines[0] else f"{lines[0]}, {clang}")
    text = f"#ifndef {WAVE_MACRO}\n#warning no wave\n#endif\n__attribute__((global)) void k() {{}}\n"
    for arch in archs:
        flags = ["-x", "hip", f"--offload-arch={arch}", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-fsyntax-only"]
        done = _run([*found.command, *flags, "-"], env, text)
        if done is None or done.returncode:
            return f"cannot compile for {arch} ({_first_error(done)})"
        found = replace(found, defines_wave="no wave" not in done.stderr)
    extra = _standard_headers(found, env)
    if extra is None:
        return "finds no C++ standard headers; install g++, or pip install 'cu2port[verify]'"
    return replace(found, command=(*found.command, *extra))


def _standard_headers(compiler: Compiler, env: Mapping[str, str]) -> tuple[str, ...] | None:
    """Flags with which the C++ standard library is found: none, else libc++ and a C library out of wheels."""
    text = "#include <cstdio>\n#include <cstdint>\n#include <vector>\n"
    clang, zig = _package("clang"), _package("ziglang")
    libcxx = ("-nostdinc++", "-isystem", str(clang / "native" / "libcxx")) if clang else ()
    libc: list[str] = []
    if zig:
        m = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
        short = {"x86_64": "x86"}.get(m, m)
        for name in (f"{m}-linux-gnu", f"{short}-linux-gnu", "generic-glibc", f"{short}-linux-any", "any-linux-any"):
            folder = zig / "lib" / "libc" / "include" / name
            libc += ["-isystem", str(folder)] if folder.is_dir() else []
    for flags in ((), libcxx, (*libcxx, *libc)):
        done = _run([*compiler.command, *flags, "-x", "c++", "-std=c++17", "-fsyntax-only", "-"], env, text)
        if done is not None and done.returncode == 0:
            return flags
    return None


def _run(command: Sequence[str], env: Mapping[str, str], text: str = "") -> subprocess.CompletedProcess[str] | None:
    """A short question to a program; None when it cannot be run."""
    try:
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            env=env,
            timeout=_QUICK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _first_error(done: subprocess.CompletedProcess[str] | None) -> str:
    lines = [line for line in (done.stderr.splitlines() if done else ()) if "error:" in line]
    return lines[0].partition("error:")[2].strip() if lines else "it does not run"
