"""Go that calls CUDA by cgo: names behind `C.`, and the C code and flags of the comment before `import "C"`.

cgo joins the flags of all files of a package, so each file that includes a header of HIP's may set those that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from cu2port.build.pages import TOOLKIT
from cu2port.build.pages_languages import CGO
from cu2port.build.table import table
from cu2port.build.words import Asked, finding, library_flag, swap
from cu2port.catalog import Catalog, Row, load_catalog, target
from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Trust, insert, replace

# comments, strings and runes as wholes, so that nothing is found in them; the end may be missing
_HIDDEN = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|`[^`]*+`?|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
_PARTS = regex(rf"{_HIDDEN}|(?<![\w.])C\.(?P<kind>struct_|enum_|union_)?(?P<name>[A-Za-z_]\w*)")
_IMPORTS = regex(r"\s*(?:import[ \t]+)?(?:\([ \t\r\n]*)?\"C\"")  # what follows a comment
_LINE = regex(r"[^\n]+")
_INCLUDE = regex(r"[ \t]*#[ \t]*include[ \t]*(?P<name>[<\"](?P<path>[^>\"\n]+)[>\"])")
_FLAGS = regex(r"[ \t]*#cgo\b(?P<system>[^:\n]*):(?P<flags>[^\n]*)")
_FOLDER = regex(
    r"(?:/usr/local|/opt)/cuda(?:-[\d.]+)?(?:/targets/[\w-]+)?/(?:(?P<lib>lib(?:64)?(?:/stubs)?)|include)(?![\w/])/?"
)
_WORD = regex(r"//.*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\]|\\.)*+\"?|(?P<name>[A-Za-z_]\w*)")
_ELSEWHERE = frozenset({"windows", "darwin", "!linux"})  # systems that have no ROCm
#: addresses of the device: numbers in CUDA, and pointers in HIP, which Go makes of a number by way of uintptr alone
_POINTERS = frozenset({"CUdeviceptr", "CUdeviceptr_v2"})
_HANDLES = frozenset(
    "CUsurfObject CUtexObject cudaSurfaceObject_t cudaTextureObject_t CUsurfObject_v1 CUtexObject_v1".split()
)
#: arguments whose types differ between cuda.h and hip_runtime_api.h, which C converts by itself and Go does not: what
#: is written around them, and functions with the argument's number
_CONVERTED = (
    (
        ("unsafe.Pointer(", ")"),
        "cuIpcCloseMemHandle:0 cuIpcGetMemHandle:1 cuMemAddressFree:0 cuMemAddressReserve:3 cuMemAdvise:0 cuMemFree:0"
        " cuMemFreeAsync:0 cuMemGetAccess:2 cuMemMap:0 cuMemPoolExportPointer:1 cuMemPrefetchAsync:0"
        " cuMemRangeGetAttribute:3 cuMemRangeGetAttributes:4 cuMemSetAccess:0 cuMemUnmap:0 cuMemcpy:0 cuMemcpy:1"
        " cuMemcpyAsync:0 cuMemcpyAsync:1 cuStreamAttachMemAsync:1 cuStreamWaitValue32:1 cuStreamWaitValue64:1"
        " cuStreamWriteValue32:1 cuStreamWriteValue64:1",
    ),
    (
        ("(*unsafe.Pointer)(unsafe.Pointer(", "))"),
        "cuExternalMemoryGetMappedBuffer:0 cuGraphicsResourceGetMappedPointer:0 cuIpcOpenMemHandle:0"
        " cuMemAddressReserve:0 cuMemAlloc:0 cuMemAllocAsync:0 cuMemAllocFromPoolAsync:0 cuMemAllocManaged:0"
        " cuMemHostGetDevicePointer:0 cuMemPoolImportPointer:0",
    ),
    (
        ("C.int(", ")"),
        "cuDeviceCanAccessPeer:1 cuDeviceCanAccessPeer:2 cuDeviceGetAttribute:2 cuDeviceGetDefaultMemPool:1"
        " cuDeviceGetGraphMemAttribute:0 cuDeviceGetMemPool:1 cuDeviceGetP2PAttribute:2 cuDeviceGetP2PAttribute:3"
        " cuDeviceGetPCIBusId:2 cuDeviceGraphMemTrim:0 cuDeviceSetGraphMemAttribute:0 cuDeviceSetMemPool:0"
        " cuGraphicsMapResources:0 cuGraphicsUnmapResources:0 cuMemsetD32:1 cuMemsetD32Async:1",
    ),
    (("(*C.int)(", ")"), "cuDeviceGetByPCIBusId:0"),
    (("C.uint(", ")"), "cuMemPoolExportToShareableHandle:3 cuMemPoolImportFromShareableHandle:3"),
)
#: enumerations of HIP that C knows by their tag alone
_TAGS = frozenset(
    "hipComputeMode hipFlushGPUDirectRDMAWritesOptions hipGPUDirectRDMAWritesOrdering hipGraphDebugDotFlags"
    " hipLimit_t".split()
)
_VERSION = regex(r"_v[23]\Z")
_PLAIN = regex(r"(?:\{(\d+)\}|[A-Za-z_]\w*|\d+)")  # an argument of a template
_BETWEEN = regex(rf"{_HIDDEN}|[(){{}}[\],]")  # what parts the arguments of a call
_LONGEST = 4_000  # bytes of a call
_NEEDS = "#cgo CFLAGS: -D__HIP_PLATFORM_AMD__ -I/opt/rocm/include"


class Names(NamedTuple):
    catalog: Catalog
    rocm: tuple[int, int]
    unsafe: bool  # whether the file imports unsafe


def cgo(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a Go file, a text of Latin-1. A file that does not import "C" has none."""
    if '"C"' not in text:
        return
    names = Names(load_catalog(asked.rules), asked.rocm, '"unsafe"' in text)
    group: list[re.Match[str]] = []  # the comment that ends last: its lines, or one block
    found: list[re.Match[str]] = []
    imported = False
    for m in _PARTS.finditer(text):
        if m["name"]:
            found.append(m)
        elif m[0].startswith(("//", "/*")):
            if not (group and _is_next_line(text[group[-1].end() : m.start()])):
                group = []
            group.append(m)
        elif m[0] == '"C"':
            imported = True
            if group and _IMPORTS.fullmatch(text, group[-1].end(), m.end()) and _is_right_above(text, group[-1], m):
                yield from _preamble(text, group, names)
            group = []
    for m in found if imported else ():
        yield from _go_name(text, m, names)


def _is_right_above(text: str, comment: re.Match[str], imported: re.Match[str]) -> bool:
    """Whether no empty line parts a comment from the import of "C"."""
    return text[comment.end() : imported.start()].partition("(")[0].count("\n") < 2


def _is_next_line(between: str) -> bool:
    return not between.strip() and between.count("\n") < 2


def _go_name(text: str, m: re.Match[str], names: Names) -> Iterator[Finding]:
    """What is said of one name behind `C.`."""
    row = names.catalog.get(m["name"])
    if row is None or row.hip == row.cuda:
        return
    start, end = m.span()
    arguments = _arguments(text, end) if text.startswith("(", end) else None
    hip, why, edits = new_name(row, names, arguments)
    if m["name"] in _HANDLES:
        hip, why = "", "it is a number in CUDA and a pointer in HIP"
    if not hip:
        yield finding(CGO, f"`C.{row.cuda}` stays: {why}", start, end, old=row.cuda)
        return
    kind = "enum_" if hip in _TAGS else "" if row.bare or row.tag else m["kind"] or ""
    edits.insert(0, replace(start, end, f"C.{kind}{hip}"))
    if m["name"] in _POINTERS and arguments:
        edits += [insert(arguments[0][0], "uintptr("), insert(arguments[0][1], ")")]
    elif arguments:
        found = _conversions().get(_VERSION.sub("", m["name"]), ())
        if not names.unsafe and any("unsafe" in before for _, before, _ in found):
            yield finding(
                CGO, f"`C.{row.cuda}` stays: `{hip}` takes an unsafe.Pointer; import unsafe", start, end, old=row.cuda
            )
            return
        edits += _converted(found, arguments)
    why = f": {row.why}" if row.why and row.trust is not Trust.EXACT else ""
    message = f"`{m[0]}` becomes `C.{kind}{hip}`{why}"
    yield finding(CGO, message, start, end, edits, row.trust is not Trust.EXACT or len(edits) > 1, row.cuda, hip)


@lru_cache(maxsize=1)
def _conversions() -> Mapping[str, list[tuple[int, str, str]]]:
    """What is written around arguments: function -> (number, before, after)."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for (before, after), functions in _CONVERTED:
        for word in functions.split():
            name, _, number = word.partition(":")
            found.setdefault(name, []).append((int(number), before, after))
    return found


def _converted(found: Iterable[tuple[int, str, str]], arguments: list[tuple[int, int]]) -> Iterator[Edit]:
    """The conversions of arguments whose types differ in HIP."""
    for i, before, after in found:
        if i < len(arguments):
            yield insert(arguments[i][0], before)
            yield insert(arguments[i][1], after)


def new_name(row: Row, names: Names, arguments: list[tuple[int, int]] | None = None) -> tuple[str, str, list[Edit]]:
    """(HIP name, "", what is added to the call) where C has it and no argument moves, or ("", why not, [])."""
    hip, why = target(row, names.rocm)
    if not hip:
        return "", f"it has no HIP counterpart: {why or row.why}", []
    other = f"`{hip}` is used in another way; see `cu2port query {row.cuda}`"
    call = row.call
    if arguments is not None and (row.argc or row.forms):
        form = next((f for f in row.forms if len(arguments) in f.argc), None)
        if form is not None:
            if form.args or form.types:
                return "", other, []
            hip, call = form.hip, form.call
        elif row.argc and len(arguments) not in row.argc:
            return "", other, []
    elif row.forms or row.call:  # of a use that is no call nobody knows the arguments
        return "", other, []
    added = _added(call, hip, arguments) if call and arguments is not None else []
    if row.args or row.values or row.helper or row.drop or not hip.isidentifier() or added is None:
        return "", other, []
    return hip, "", added


def _added(call: str, hip: str, arguments: list[tuple[int, int]]) -> list[Edit] | None:
    """What a template of a call puts between arguments that keep their order; None for other templates."""
    if not call.startswith(f"{hip}(") or not call.endswith(")"):
        return None
    edits, at = [], 0
    for word in call[len(hip) + 1 : -1].split(", "):
        m = _PLAIN.fullmatch(word)
        if m is None or (m[1] and int(m[1]) != at):
            return None
        if m[1]:
            at += 1
        elif not at or at > len(arguments):
            return None
        else:
            edits.append(insert(arguments[at - 1][1], f", {word}" if word.isdigit() else f", C.{word}"))
    return edits if at == len(arguments) else None


def _arguments(text: str, at: int) -> list[tuple[int, int]] | None:
    """The byte ranges of the arguments of a call whose bracket opens at `at`; None where its end is not found."""
    found: list[tuple[int, int]] = []
    depth, start = 0, at + 1
    for m in _BETWEEN.finditer(text, at, at + _LONGEST):
        if m[0] in "([{":
            depth += 1
        elif m[0] in ")]}":
            depth -= 1
        if (m[0] == "," and depth == 1) or not depth:
            part = text[start : m.start()]
            if part.strip():
                first = start + len(part) - len(part.lstrip())
                found.append((first, first + len(part.strip())))
            if not depth:
                return found
            start = m.end()
    return None


def _preamble(text: str, group: list[re.Match[str]], names: Names) -> Iterator[Finding]:
    """Findings of the C code and the flags before `import "C"`."""
    needs = True
    for comment in group:
        block = comment[0].startswith("/*")
        end = comment.end() - (2 if block and comment[0].endswith("*/") else 0)
        for line in _LINE.finditer(text, comment.start() + 2, end):
            at, stop = line.span()
            flags = _FLAGS.match(text, at, stop)
            include = _INCLUDE.match(text, at, stop)
            if flags is not None:
                if not _elsewhere(flags["system"]):
                    yield from _flags(text, flags.start("flags"), flags.end("flags"))
            elif include is not None:
                f = _include(include, names)
                if f is not None and needs and f.hip:
                    needs = False
                    # a block's first line shares a line with what opens it
                    new = f"//{_NEEDS}\n" if not block else f"{_NEEDS}\n" if at > comment.start() + 2 else ""
                    where = at if block else comment.start()
                    if new:
                        message = "HIP's headers need the platform as a macro, and their folder"
                        yield finding(CGO, message, include.start("name"), include.end("name"), [insert(where, new)])
                if f is not None:
                    yield f
            else:
                yield from _c_names(text, at, stop, names)


def _include(m: re.Match[str], names: Names) -> Finding | None:
    hip = names.catalog.headers.get(m["path"])
    if hip is None or hip == m["path"]:
        return None
    start, end = m.span("name")
    if not hip:
        return finding(CGO, f"`{m['path']}` is not needed for HIP", start, end, [replace(*m.span(), "")], old=m["path"])
    return swap(CGO, m["name"], f"<{hip}>", start)


def _elsewhere(constraint: str) -> bool:
    """Whether `linux,amd64 !windows LDFLAGS`, without its last word, asks for systems that have no ROCm: one of the
    terms must hold, and of a term all parts."""
    terms = constraint.split()[:-1]
    return bool(terms) and all(_ELSEWHERE.intersection(term.split(",")) for term in terms)


def _flags(text: str, start: int, end: int) -> Iterator[Finding]:
    rows = table()["library"]
    for m in re.finditer(r"-l(\w+)(?!\S)", text[start:end]):
        at = start + m.start()
        if m[1] in rows:
            yield library_flag(rows[m[1]], m[0], at, replace(at, at + len(m[0]), ""))
    for m in _FOLDER.finditer(text, start, end):
        new = "/opt/rocm/" + ("lib" if m["lib"] else "include")
        yield swap(TOOLKIT, m[0], new, m.start(), "where ROCm is as a rule", review=True)


def _c_names(text: str, start: int, end: int, names: Names) -> Iterator[Finding]:
    """CUDA's names in a line of C."""
    for m in _WORD.finditer(text, start, end):
        row = names.catalog.get(m["name"]) if m["name"] else None
        if row is None or row.hip == row.cuda:
            continue
        hip, why, _ = new_name(row, names)
        if hip:
            yield swap(CGO, row.cuda, hip, m.start(), review=row.trust is not Trust.EXACT)
        else:
            yield finding(CGO, f"`{row.cuda}` stays: {why}", m.start(), m.end(), old=row.cuda)
