"""The process in which libclang lives: reads questions from standard input, writes answers to standard output."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import sys
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port import _libclang as c
from cu2port import shim as shims
from cu2port.clang import Binding, Expr, Facts, Owner, Question, receive, send
from cu2port.data import cache_dir

_BASE = (
    "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "--cuda-host-only",
    "--target=x86_64-unknown-linux-gnu",  # one set of type sizes, wherever we run
    "-ferror-limit=0", "-w", "-fno-spell-checking", "-foffload-implicit-host-device-templates",
    "-Xclang", "-fcuda-allow-variadic-functions", "-nostdinc",
)  # fmt: skip
_OPTIONS = c.DETAILED_RECORD | c.INCOMPLETE | c.KEEP_GOING
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\r\n]+)[>"]', re.M)
_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*")
_LIBRARIES = ("thrust/", "cub/", "cuda/", "cooperative_groups/", "nvtx3/")
_MAX_HEADERS = 100  # of one file that are looked through for includes
_PROBE = b"void cu2port_probe() { cudaFree(0); }\n"
_CUDA_MACRO = re.compile(r"__CUDA|__NV")


class CrashedError(Exception):
    """libclang caught a crash of its own; this process must not go on."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """What does not change from file to file."""

    lib: c.Lib
    version: bytes
    shim: shims.Shim
    header: Path  # where the shim lies, or would lie
    headers: str  # a folder that does not exist; known headers are empty files there


def main() -> None:
    """Answer until standard input ends."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libclang prints must not get between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        lib = c.Lib(c.library_path())
        setting = make_setting(lib)
    except OSError as e:
        while receive(source) is not None:
            send(sink, ("absent", str(e)))
        return
    reader = _Reader(setting)
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


def make_setting(lib: c.Lib) -> _Setting:
    """The setting for a library: version and shim."""
    shim, cache = shims.load_shim(), cache_dir().absolute()
    version = lib.text(lib.getClangVersion())
    return _Setting(lib, version, shim, cache / f"shim-{shim.stamp}.h", str(cache / "headers"))


class _Reader:
    """Parses files and reads facts off them."""

    def __init__(self, setting: _Setting) -> None:
        self.s = setting
        self.preambles: dict[str, tuple[list[str], bool]] = {}

    def answer(self, q: Question) -> Facts:
        """Facts. Raises OSError when libclang refuses the file, CrashedError when it crashed on it."""
        try:
            return self.facts(q)
        except OSError:
            if self.preambles.pop(_std(q.std), None) is None:
                raise
            return self.facts(q)  # with a new precompiled header: the old one may be gone from the cache

    def facts(self, q: Question) -> Facts:
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
        with self.parse(path, argv, unsaved, _OPTIONS) as unit:
            found = unit.inclusions() if wanted else set()
            missing = {name for name, file in wanted.items() if file in found}
            errors = 0
            for _, message in unit.diagnostics():
                lost = re.match(rb"'([^']*)' file not found", message)
                errors += lost is None
                if lost:
                    missing.add(lost[1].decode(errors="replace"))
            skipped = unit.skipped() if q.skipped or q.bindings else ()
            active, inactive = _part(q.bindings, skipped)
            bindings = _Bindings(self.s, unit, q).of(active)
            exprs = _exprs(self.s, unit, q.spans) if q.spans else {}
        if inactive and pch:  # this mode reads every branch, and knows the shim through the precompiled header alone
            with self.parse(path, argv, unsaved, _OPTIONS | c.SINGLE_FILE) as unit:
                bindings |= _Bindings(self.s, unit, q).of(inactive)
        return Facts(bindings, exprs, skipped if q.skipped else (), errors, tuple(sorted(missing)))

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
        through too. `folders`: the file's own, then the include folders.
        """
        known: set[str] = set()
        unknown: dict[str, str] = {}
        texts, read = [(data, folders[0])], set[Path]()
        while texts:
            text, here = texts.pop()
            for raw in set(_INCLUDE.findall(text)):
                name = raw.decode(errors="surrogateescape")
                if "\0" in name or Path(name).is_absolute():
                    continue
                file = next((f / name for f in (here, *folders) if (f / name).is_file()), None)
                if file is None and (name in self.s.shim.headers or name.startswith(_LIBRARIES)):
                    known.add(name)
                elif file is None:
                    unknown[raw.decode(errors="replace")] = name
                elif file not in read and len(read) < _MAX_HEADERS:
                    read.add(file)
                    with contextlib.suppress(OSError):  # libclang will say what is wrong with it
                        texts.append((file.read_bytes(), file.parent))
        files = {name: self.s.headers + "/" + name for name in (*known, *unknown.values())}
        return [_bytes(f) for f in files.values()], {written: _bytes(files[name]) for written, name in unknown.items()}

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
        made_of = "\0".join([self.s.version.decode(), str(header), *base])
        key = hashlib.sha256(made_of.encode(errors="surrogateescape")).hexdigest()[:20]
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
                return not list(unit.diagnostics())
        except OSError:
            return False


class _Bindings:
    """Answers to "what does this name mean" in one parsed file."""

    def __init__(self, setting: _Setting, unit: c.Unit, q: Question) -> None:
        self.s, self.unit, self.lib, self.q = setting, unit, setting.lib, q
        self.defined = {re.split(r"[(=]", d)[0] for d in q.defines}
        self.shim = unit.lib.getFile(unit.tu, _bytes(setting.header))
        self.seen: dict[tuple[int, int | None, int | None], Binding] = {}

    def of(self, offsets: Sequence[int]) -> dict[int, Binding]:
        out: dict[int, Binding] = {}
        for offset in offsets:
            name = _IDENTIFIER.match(self.q.data, offset)
            if name:
                binding = self.at(offset, name[0])
                if binding is not None:
                    out[offset] = binding
        return out

    def at(self, offset: int, name: bytes) -> Binding | None:
        cursor = self.unit.at(offset)
        if cursor.kind == c.MACRO_DEFINITION and self.lib.text(self.lib.getCursorSpelling(cursor)) != name:
            return None  # in a macro's body, where it means nothing yet
        if cursor.kind == c.INCLUSION:
            return None
        target = cursor if cursor.kind == c.MACRO_DEFINITION else self.lib.getCursorReferenced(cursor)
        if target.kind == c.OVERLOADED_DECL_REF:
            number = self.lib.getNumOverloadedDecls(target)
            found = [self.declaration(self.lib.getOverloadedDecl(target, i)) for i in range(number)]
            found = [b for b in found if b.qualified.rpartition("::")[2].encode() == name]
            if found:
                return next((b for b in found if b.owner == "user"), found[0])
        elif not self.lib.Cursor_isNull(target) and self.lib.text(self.lib.getCursorSpelling(target)) == name:
            return self.declaration(target)
        kind = "member" if cursor.kind == c.MEMBER_REF_EXPR else ""
        return Binding("undeclared", name.decode(errors="replace"), kind, "", "")

    def declaration(self, target: c.Cursor) -> Binding:
        if target.kind == c.CONSTRUCTOR:  # `dim3(1, 2)` names the class to whoever reads it
            target = self.lib.getCursorSemanticParent(target)
        key = (target.kind, target.data[0], target.data[1] if target.kind >= 500 else None)
        if key not in self.seen:
            self.seen[key] = self.describe(target)
        return self.seen[key]

    def describe(self, target: c.Cursor) -> Binding:
        lib = self.lib
        parts = [lib.text(lib.getCursorSpelling(target)).decode(errors="replace")]
        is_macro = target.kind == c.MACRO_DEFINITION
        type_name = "" if is_macro else self.type_name(target)
        owner, file = self.owner(target, parts[0])
        parent = lib.getCursorSemanticParent(target)
        while not is_macro and not lib.Cursor_isNull(parent) and parent.kind not in c.TRANSLATION_UNIT:
            if c.KINDS.get(parent.kind) in ("type", "namespace") and parent.kind != c.ENUMERATION:  # unscoped, mostly
                spelling = lib.text(lib.getCursorSpelling(parent)).decode(errors="replace")
                if spelling and "(" not in spelling:  # "(anonymous struct at ...)"
                    parts.append(spelling)
            parent = lib.getCursorSemanticParent(parent)
        return Binding(owner, "::".join(reversed(parts)), c.KINDS.get(target.kind, ""), type_name, file)

    def type_name(self, target: c.Cursor) -> str:
        kind = self.lib.getCanonicalType(self.lib.getCursorType(target))
        return self.lib.text(self.lib.getTypeSpelling(kind)).decode(errors="replace") if kind.kind else ""

    def owner(self, target: c.Cursor, name: str) -> tuple[Owner, str]:
        if name == "__syncthreads" and target.kind == c.FUNCTION:
            return "cuda", ""  # clang has it built in, and puts it where it is first used
        first = target if target.kind == c.MACRO_DEFINITION else self.lib.getCanonicalCursor(target)
        file, offset = self.unit.place(self.lib.getCursorLocation(first))
        if file is None:  # builtins, predefined macros, -D
            return ("cuda" if _CUDA_MACRO.match(name) else "user" if name in self.defined else "system"), ""
        if file == self.shim:
            return ("cuda" if offset >= self.s.shim.cuda else "system"), ""
        return "user", self.lib.text(self.lib.getFileName(file)).decode(errors="replace")


def _exprs(setting: _Setting, unit: c.Unit, spans: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Expr]:
    """Types and values of the expressions that have just these extents.

    Of nested ones with one extent the outermost counts, since a macro's inner expressions all lie at its use; but clang
    puts implicit conversions outside, and those are looked through.
    """
    lib = setting.lib
    wanted, starts = frozenset(spans), sorted(start for start, _ in spans)
    found: dict[tuple[int, int], c.Cursor] = {}

    def visit(cursor: c.Cursor, parent: c.Cursor, data: object) -> int:
        extent = lib.getCursorExtent(cursor)
        file, start = unit.place(lib.getRangeStart(extent))
        end = unit.place(lib.getRangeEnd(extent))[1]
        if file != unit.file:
            return c.CONTINUE
        if (start, end) in wanted and lib.isExpression(cursor.kind):
            known = found.get((start, end))
            if known is None or (known.kind == c.UNEXPOSED_EXPR and lib.equalCursors(known, parent)):
                copy = c.Cursor()
                copy.kind, copy.xdata, copy.data = cursor.kind, cursor.xdata, cursor.data
                found[start, end] = copy
        i = bisect_left(starts, start)
        return c.RECURSE if i < len(starts) and starts[i] < end else c.CONTINUE

    lib.visitChildren(lib.getTranslationUnitCursor(unit.tu), c.Visitor(visit), None)
    return {span: _expr(setting, unit, cursor) for span, cursor in found.items()}


def _expr(setting: _Setting, unit: c.Unit, cursor: c.Cursor) -> Expr:
    lib = setting.lib
    canonical = lib.getCanonicalType(lib.getCursorType(cursor))
    number = canonical
    if canonical.kind == c.ENUM:
        number = lib.getCanonicalType(lib.getEnumDeclIntegerType(lib.getTypeDeclaration(canonical)))
    signed = True if number.kind in c.SIGNED else False if number.kind in c.UNSIGNED else None
    value = None
    if signed is not None and not _meaningless(setting, unit, cursor):
        result = lib.Cursor_Evaluate(cursor)
        if result:
            if lib.EvalResult_getKind(result) == 1:
                unsigned = lib.EvalResult_isUnsignedInt(result)
                value = lib.EvalResult_getAsUnsigned(result) if unsigned else lib.EvalResult_getAsLongLong(result)
            lib.EvalResult_dispose(result)
    name = lib.text(lib.getTypeSpelling(canonical)).decode(errors="replace")
    size = lib.Type_getSizeOf(canonical) if canonical.kind in c.SIZED else 0
    return Expr(name, max(0, size) * 8, signed, value)


def _meaningless(setting: _Setting, unit: c.Unit, cursor: c.Cursor) -> bool:
    """Whether a generated enumerator is in the expression: its value is made up."""
    lib = setting.lib
    shim = lib.getFile(unit.tu, _bytes(setting.header))

    def made_up(x: c.Cursor) -> bool:
        if x.kind != c.DECL_REF_EXPR:
            return False
        target = lib.getCursorReferenced(x)
        if target.kind != c.ENUMERATOR:
            return False
        file, offset = unit.place(lib.getCursorLocation(target))
        return file is not None and file == shim and offset >= setting.shim.generated

    bad = made_up(cursor)

    def visit(x: c.Cursor, parent: c.Cursor, data: object) -> int:
        nonlocal bad
        bad = bad or made_up(x)
        return c.BREAK if bad else c.RECURSE

    if not bad:
        lib.visitChildren(cursor, c.Visitor(visit), None)
    return bad


def _part(offsets: Sequence[int], ranges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """(outside, inside) of the ranges."""
    inside = [o for o in offsets if any(a <= o < b for a, b in ranges)]
    return [o for o in offsets if o not in set(inside)], inside


def _bytes(text: str | Path) -> bytes:
    return os.fsencode(text)


def _std(std: str) -> str:
    """The dialect to parse with: the shim needs C++17, and GNU's extensions make no difference to what is asked."""
    year = std.rpartition("++")[2]
    later = {"20": "20", "2a": "20", "23": "23", "2b": "23", "26": "23", "2c": "23"}
    return "c++" + later.get(year, "17")


if __name__ == "__main__":
    main()
