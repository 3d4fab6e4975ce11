"""The C++ compiler of the simulator, and what it compiles once and keeps: the runtime, and headers."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.project.tree import CannotRun
from cu2port.verify import cccl
from cu2port.verify.children import run_child

HEADERS = Path(__file__).resolve().parent.parent / "include" / "sim"
INCLUDE_DIR = HEADERS.parent
RUNTIME = "libcu2port_sim.so"
_CHECK = ("-g1", "-fno-inline-functions", "-DCU2PORT_SIM_STEPS")
# gcc on x86: copies and fills by functions, not by instructions that --check does not see
_AS_CALLS = ("-mmemcpy-strategy=libcall:-1:noalign", "-mmemset-strategy=libcall:-1:noalign")
# functions that move or give back the host's memory, which --check watches
_WATCHED = ("memcpy", "memmove", "memset", "malloc", "free", "realloc", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")
#: Words of a link for --check.
WRAPPED = tuple(f"-Wl,--wrap={name}" for name in _WATCHED) if sys.platform == "linux" else ()
_BASE = ("-w", "-pthread", "-fno-strict-aliasing", "-fpermissive")
_FIRST = "hip/hip_runtime.h"
_MATTERS = re.compile(r"-(?:std=|[fgmOw]|pthread|-param=|D(?:CU2PORT_SIM_|_?_?HIP))")  # to a precompiled header
_CONTENT = "-fpch-validate-input-files-content"  # dates of other headers change with each installation
_MOST_PRECOMPILED = 12  # each has some 60 MB with gcc
_RUN_S = 900.0  # ziglang builds its C++ library with the first program


class CannotBuild(CannotRun):
    """The program does not build; the message is the compiler's."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A C++17 compiler: the words that call it, and what it says of its version."""

    command: tuple[str, ...]
    version: str
    standard: str = "c++17"

    @property
    def is_clang(self) -> bool:
        return "clang" in self.version or "zig" in self.version

    @property
    def is_zig(self) -> bool:
        return "ziglang" in self.command or Path(self.command[0]).stem == "zig"

    def flags(self, wave: int, check: bool = False) -> tuple[str, ...]:
        """Flags under which a program compiles for a wave size."""
        extra: tuple[str, ...] = ()
        if check:
            volatile = (
                ("-mllvm", "-tsan-distinguish-volatile=1")
                if self.is_clang
                else ("--param=tsan-distinguish-volatile=1",)
            )
            x86 = platform.machine() in ("x86_64", "AMD64")
            calls = _AS_CALLS if x86 and not self.is_clang else ()
            extra = ("-fsanitize=thread,alignment,shift-exponent", *calls, *volatile, *_CHECK)
        dialect = tuple(x for x in _BASE if not (self.is_clang and x == "-fpermissive"))
        return (f"-std={self.standard}", *dialect, f"-DCU2PORT_SIM_WAVE={wave}", f"-I{HEADERS}", *cccl.flags(), *extra)

    def runtime(self, shared: bool = False) -> Path:
        """The runtime's object file; compiled once for a compiler and a version of cu2port, kept in the cache.

        `shared`: as a library, for programs of several parts: there is one runtime in a process.
        """
        how = ("-shared", "-fPIC", f"-Wl,-soname,{RUNTIME}", "-ldl") if shared else ("-c",)
        source = HEADERS / "cu2port_sim" / "runtime.cpp"
        name = "runtime.so" if shared else "runtime.o"
        return self.kept(name, ("-std=c++17", "-O2", "-pthread", str(source), *how), ("cu2port_sim",))

    def kept(self, name: str, arguments: Sequence[str], folders: Sequence[str]) -> Path:
        """What a call of the compiler makes, kept in the cache for as long as the headers of some folders are the same.
        `name`: of the file that is made."""
        digest = hashlib.sha256(repr((self.command, self.version, arguments)).encode())
        stem, _, suffix = name.partition(".")
        for folder in folders:
            for path in sorted(p for p in (HEADERS / folder).rglob("*") if p.is_file()):
                digest.update(path.read_bytes())
                if suffix.endswith(("pch", "gch")):  # clang takes a header of another time for one that is not in it
                    digest.update(str(path.stat().st_mtime_ns).encode())
        out = cache_dir() / "sim" / f"{stem}-{digest.hexdigest()[:16]}.{suffix}"
        if not out.is_file():
            out.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
                built = Path(scratch) / out.name
                self.call((*arguments, "-o", str(built)))
                built.replace(out)
        return out

    def precompiled(self, name: str, text: str, words: Sequence[str], folders: Sequence[str]) -> list[str]:
        """Words that put a header in front of all text of a unit that is compiled with `words`.

        It is compiled once and kept as `kept` says; `name` is the start of its file's name, `text` what it holds. gcc
        reads the header itself where a macro of the unit changes what it holds. Raises CannotBuild.
        """
        header = cache_dir() / "sim" / f"{name}.h"
        if not header.is_file() or header.read_text(encoding="utf-8") != text:
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(text, encoding="utf-8")
        if self.is_zig:
            return ["-include", str(header)]
        suffix = "pch" if self.is_clang else "gch"
        once = ("-fpch-instantiate-templates", _CONTENT) if self.is_clang else ()  # else each unit does it
        made = self.kept(f"{name}.h.{suffix}", (*words, *once, "-x", "c++-header", str(header)), folders)
        with suppress(OSError):  # another process removed it: gcc reads the text then
            os.utime(made)
        _remove_oldest(made.parent)
        if self.is_clang:
            return [_CONTENT, "-include-pch", str(made)]
        plain = made.with_suffix("")  # gcc looks for NAME.gch when NAME is included
        if not plain.is_file():
            plain.write_text(text, encoding="utf-8")
        return ["-include", str(plain)]

    def runtime_first(self, words: Sequence[str], also: str = "") -> list[str]:
        """Words that put HIP's runtime header in front of a unit of CUDA's or HIP's, as their compilers do it.

        It is compiled for itself when such words come for the second time: until then that takes longer than it saves.
        `words`: those with which the unit is compiled, without folders and files. `also`: what `cccl.common_headers`
        says; with that, Thrust's headers are compiled with it."""
        if self.is_zig or self.is_clang:  # clang takes no precompiled header that was made with other macros
            return ["-include", _FIRST]
        same = [f"-I{HEADERS}", *(cccl.flags() if also else ()), *(w for w in words if _MATTERS.match(w))]
        digest = hashlib.sha256(repr((self.command, same, also)).encode()).hexdigest()[:16]
        asked = cache_dir() / "sim" / f"asked-{digest}"
        if not asked.is_file():
            asked.parent.mkdir(parents=True, exist_ok=True)
            asked.touch()
            return self.runtime_first(words) if also else ["-include", _FIRST]
        name = f"thrust-{hashlib.sha256(also.encode()).hexdigest()[:8]}" if also else "first"
        folders = ("cu2port_sim", "hip", *(("thrust",) if also else ()))
        try:
            return self.precompiled(name, f"#include <{_FIRST}>\n{also}", same, folders)
        except CannotBuild:  # the unit's own message is the better one
            return self.runtime_first(words) if also else ["-include", _FIRST]

    def call(self, arguments: Sequence[str], cwd: Path | None = None) -> None:
        """Run the compiler. Raises CannotBuild with what it said."""
        # zig links its checks of debug builds where nothing is optimised, and compiles them the first time: 40 s
        linked = ("-O2",) if self.is_zig and "-c" not in arguments else ()
        try:
            env = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache_dir() / "zig")}  # zig keeps what it compiled
            done = run_child([*self.command, *linked, *arguments], env, cwd, _RUN_S)
        except subprocess.TimeoutExpired:
            raise CannotBuild(f"{self.command[0]} took longer than {_RUN_S:.0f} s") from None
        except OSError as e:
            raise CannotRun(f"{self.command[0]}: {e.strerror}") from e
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").replace("\r\n", "\n").rstrip()
            raise CannotBuild(said or f"{self.command[0]} failed")


def _remove_oldest(folder: Path) -> None:
    """Remove the precompiled headers that were not used for longest, all but `_MOST_PRECOMPILED`."""
    found = []
    for path in (*folder.glob("*.gch"), *folder.glob("*.pch")):
        with suppress(OSError):  # another process removed it
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found)[:-_MOST_PRECOMPILED]:
        path.unlink(missing_ok=True)


def find_toolchain(asked: str = "") -> Toolchain:
    """The compiler asked for, else $CXX, c++, clang++, g++, else the one that the ziglang wheel brings."""
    candidates: list[tuple[str, ...]] = []
    if asked:
        candidates.append(tuple(shlex.split(asked)))
    else:
        if os.environ.get("CXX"):
            candidates.append(tuple(shlex.split(os.environ["CXX"])))
        candidates += [("c++",), ("clang++",), ("g++",)]
        if util.find_spec("ziglang") is not None:
            candidates.append((sys.executable, "-m", "ziglang", "c++"))
    for command in candidates:
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, errors="replace")
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return Toolchain(command, done.stdout.partition("\n")[0].strip())
    raise CannotRun(
        f"{asked}: no such compiler"
        if asked
        else "no C++17 compiler found; install g++ or clang++, or pip install ziglang"
    )
