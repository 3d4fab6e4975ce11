"""The process in which libclang lives: reads questions from standard input, writes answers to standard output."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.files import may_include
from cu2port.core.model import Span
from cu2port.facts import _libclang as c
from cu2port.facts import shim as shims
from cu2port.facts._clang_answers import Bindings, Setting, read_exprs
from cu2port.facts.clang import Facts, Question, receive, send
from cu2port.facts.conditionals import Cover

_BASE = (
    "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "--cuda-host-only",
    "--target=x86_64-unknown-linux-gnu",  # one set of type sizes, wherever we run
    "-ferror-limit=0", "-w", "-fno-spell-checking", "-foffload-implicit-host-device-templates",
    "-Xclang", "-fcuda-allow-variadic-functions", "-nostdinc",
)  # fmt: skip
_OPTIONS = c.DETAILED_RECORD | c.INCOMPLETE | c.KEEP_GOING
_INCLUDE = re.compile(rb'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*[<"]([^>"\r\n]+)[>"]', re.M)
_LIBRARIES = ("thrust/", "cub/", "cuda/", "cooperative_groups/", "nvtx3/")
_MOST_MEMORY = 2 << 30  # of address space
_MAX_HEADERS = 100  # of one file that are looked through for includes
_PROBE = b"void cu2port_probe() { cudaFree(0); }\n"


class CrashedError(Exception):
    """libclang caught a crash of its own; this process must not go on."""


@dataclass(slots=True)
class _Parsed:
    """A file that was read. `both` has its inactive branches too, and is made when they are asked about."""

    key: tuple[object, ...]
    path: Path
    argv: list[bytes]
    unsaved: list[tuple[bytes, bytes]]
    pch: bool
    unit: c.Unit
    skipped: tuple[tuple[int, int], ...]
    errors: int
    missing: tuple[str, ...]
    both: c.Unit | None = None


def main() -> None:
    """Answer until standard input ends."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libclang prints must not get between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(ValueError, OSError):  # a lower limit is there already
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    try:
        lib = c.Lib(c.library_path())
        setting = make_setting(lib)
    except OSError as e:
        while receive(source) is not None:
            send(sink, ("absent", str(e)))
        return
    reader = Reader(setting)
    question: Question | None
    while (question := receive(source)) is not None:
        try:
            reply: tuple[str, Facts | str] = ("facts", reader.answer(question))
        except CrashedError:
            send(sink, ("crashed", "libclang crashed"))
            return
        except OSError as e:
            reply = ("failed", str(e))
        send(sink, reply)


def make_setting(lib: c.Lib) -> Setting:
    """The setting for a library: version and shim."""
    shim, cache = shims.load_shim(), cache_dir().absolute()
    version = lib.text(lib.getClangVersion())
    return Setting(lib, version, shim, cache / f"shim-{shim.stamp}.h", str(cache / "headers"))


class Reader:
    """Parses files and reads facts off them."""

    def __init__(self, setting: Setting) -> None:
        self.s = setting
        self.preambles: dict[str, tuple[list[str], bool]] = {}
        self.last: _Parsed | None = None  # several questions about one file cost one parse

    def answer(self, q: Question) -> Facts:
        """Facts. Raises OSError when libclang refuses the file, CrashedError when it crashed on it."""
        try:
            return self.facts(q)
        except OSError:
            if self.preambles.pop(_std(q.std), None) is None:
                raise
            return self.facts(q)  # with a new precompiled header: the old one may be gone from the cache

    def facts(self, q: Question) -> Facts:
        key = (q.path, q.data, q.include_dirs, q.defines, q.std)
        if self.last is None or self.last.key != key:
            self.forget()
            self.last = self.read(q, key)
        last = self.last
        active, inactive = _part(q.bindings, last.skipped)
        bindings = Bindings(self.s, last.unit, q).of(active)
        exprs = read_exprs(self.s, last.unit, q.spans) if q.spans else {}
        if inactive and last.pch:  # this mode reads every branch, and knows the shim as a precompiled header alone
            if last.both is None:
                last.both = self.parse(last.path, last.argv, last.unsaved, _OPTIONS | c.SINGLE_FILE)
            readable, _ = _part(inactive, last.both.skipped())  # `#if 0` it leaves out even so
            bindings |= Bindings(self.s, last.both, q).of(readable)
        return Facts(bindings, exprs, last.skipped if q.skipped else (), last.errors, last.missing)

    def forget(self) -> None:
        for unit in (self.last.unit, self.last.both) if self.last else ():
            if unit is not None:
                unit.close()
        self.last = None

    def read(self, q: Question, key: tuple[object, ...]) -> _Parsed:
        path = Path(q.path).absolute()
        folders = [Path(f).absolute() for f in q.include_dirs]
        folders = [f for f in folders if not (f / "cuda_runtime_api.h").exists()]  # the shim stands for a toolkit
        preamble, pch = self.preamble(_std(q.std))
        arguments = [*preamble]
        for folder in folders:
            arguments += ["-I", str(folder)]
        for define in q.defines:
            arguments += ["-D", define]
        arguments += ["-isystem", self.s.headers]
        stand_ins, wanted = self.stand_ins(q.data, (path.parent, *folders))
        unsaved = [(_bytes(path), q.data), *((file, b"") for file in stand_ins)]
        if not pch:
            unsaved.append((_bytes(self.s.header), self.s.shim.text))
        argv = [_bytes(a) for a in arguments]
        unit = self.parse(path, argv, unsaved, _OPTIONS)
        found = unit.inclusions() if wanted else set()
        missing = {name for name, file in wanted.items() if file in found}
        errors = 0
        for message, _ in unit.errors():
            lost = re.match(rb"'([^']*)' file not found", message)
            errors += lost is None
            if lost:
                missing.add(lost[1].decode(errors="replace"))
        return _Parsed(key, path, argv, unsaved, pch, unit, unit.skipped(), errors, tuple(sorted(missing)))

    def parse(self, path: Path, argv: Sequence[bytes], unsaved: Sequence[tuple[bytes, bytes]], options: int) -> c.Unit:
        unit = c.Unit(self.s.lib, _bytes(path), argv, unsaved, options)
        if unit.crashed:
            raise CrashedError
        if unit.tu is None:
            unit.close()
            raise OSError(f"libclang cannot read {path}")
        return unit

    def stand_ins(self, data: bytes, folders: Sequence[Path]) -> tuple[list[bytes], dict[str, bytes]]:
        """Empty files for includes that are found nowhere, since after that fatal error clang makes no templates.

        And which of them are neither CUDA's nor C++'s: the name as written -> the file. Local headers are looked
        through too. Files that may not be included are empty as well.
        `folders`: the file's own, then the include folders.
        """
        known: set[str] = set()
        unknown: dict[str, str] = {}
        texts, read, closed = [(data, folders[0])], set[Path](), set[Path]()
        around = [Path(os.path.realpath(f)) for f in folders]
        while texts:
            text, here = texts.pop()
            for raw in set(_INCLUDE.findall(text)):
                name = raw.decode(errors="surrogateescape")
                if "\0" in name:
                    continue
                places = [Path(name)] if Path(name).is_absolute() else [f / name for f in (here, *folders)]
                if places[0] == Path(name):
                    closed.add(places[0])  # no tree names a place of this machine
                    continue
                file = next((p for p in places if may_include(p, around)), None)
                closed.update(p for p in places if p.exists() and not p.is_dir() and not may_include(p, around))
                if file is None and (name in self.s.shim.headers or name.startswith(_LIBRARIES)):
                    known.add(name)
                elif file is None:
                    unknown[raw.decode(errors="replace")] = name
                elif file not in read and len(read) < _MAX_HEADERS:
                    read.add(file)
                    with contextlib.suppress(OSError):  # libclang will say what is wrong with it
                        texts.append((file.read_bytes(), file.parent))
        files = {name: self.s.headers + "/" + name for name in (*known, *unknown.values())}
        stand_ins = [*map(_bytes, files.values()), *map(_bytes, closed)]
        return stand_ins, {written: _bytes(files[name]) for written, name in unknown.items()}

    def preamble(self, std: str) -> tuple[list[str], bool]:
        """Arguments that bring the shim in, and whether they do it by a precompiled header."""
        if std not in self.preambles:
            base = [*_BASE, f"-std={std}"]
            pch = self.precompiled(base)
            how = ["-include-pch", str(pch)] if pch else ["-include", str(self.s.header)]
            self.preambles[std] = ([*base, *how], pch is not None)
        return self.preambles[std]

    def precompiled(self, base: list[str]) -> Path | None:
        """The precompiled shim, from the cache or made now; None if it can be neither.

        Its name ends in the checksum of its content, since libclang may crash on a damaged one.
        """
        header = self.s.header
        inputs = "\0".join([self.s.version.decode(), str(header), *base])
        key = hashlib.sha256(inputs.encode(errors="surrogateescape")).hexdigest()[:20]
        if not header.is_file() and not shims.store(header, self.s.shim.text):
            return None
        for path in header.parent.glob(f"pch-{key}-*.pch"):
            try:
                if path.stem.rpartition("-")[2] == f"{zlib.crc32(path.read_bytes()):08x}" and self.usable(base, path):
                    return path
                path.unlink()
            except OSError:
                continue
        fresh = header.parent / f".new-{key}-{os.getpid()}.pch"
        try:
            with self.parse(header, [_bytes(a) for a in base], (), _OPTIONS | c.FOR_SERIALIZATION) as unit:
                if self.s.lib.saveTranslationUnit(unit.tu, _bytes(fresh), 0) != 0:
                    return None
            path = header.parent / f"pch-{key}-{zlib.crc32(fresh.read_bytes()):08x}.pch"
            fresh.replace(path)
        except OSError:
            return None
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
        return path if self.usable(base, path) else None

    def usable(self, base: list[str], pch: Path) -> bool:
        """Whether libclang takes the precompiled header: it refuses one whose header has changed or moved."""
        argv = [_bytes(a) for a in (*base, "-include-pch", str(pch))]
        probe = Path(self.s.headers, "probe.cu")
        try:
            with self.parse(probe, argv, [(_bytes(probe), _PROBE)], _OPTIONS) as unit:
                return not list(unit.errors())
        except OSError:
            return False


def _part(offsets: Sequence[int], ranges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """(outside, inside) of the ranges."""
    cover = Cover(Span(a, b) for a, b in ranges)
    return [o for o in offsets if o not in cover], [o for o in offsets if o in cover]


def _bytes(text: str | Path) -> bytes:
    return os.fsencode(text)


def _std(std: str) -> str:
    """The dialect to parse with: the shim needs C++17, and GNU's extensions make no difference to what is asked."""
    year = std.rpartition("++")[2]
    later = {"20": "20", "2a": "20", "23": "23", "2b": "23", "26": "23", "2c": "23"}
    return "c++" + later.get(year, "17")


if __name__ == "__main__":
    main()
