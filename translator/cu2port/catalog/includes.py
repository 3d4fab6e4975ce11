"""Includes: CUDA headers become HIP headers, once each, and what nvcc includes by itself is written out.

nvcc puts cuda_runtime.h before everything in a .cu file; a HIP compiler does not do so with hip_runtime.h. So a .cu
file whose own includes bring it too late (after a header of the project, which may rely on it) gets it on top.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar

from cu2port.catalog.findings import Kind, RowFinding, by_kind
from cu2port.core.files import CUDA_SUFFIXES, CXX_SUFFIXES, HOST_SUFFIXES, may_include, suffix
from cu2port.core.late import regex
from cu2port.core.model import Edit, insert, replace
from cu2port.core.vendored import as_installed, is_in_copy, is_of_toolkit
from cu2port.facts.structure import Include
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR, Directive

RUNTIME = "hip/hip_runtime.h"
HELPER = regex(r"(?:^|/)cu2port/\w+\.hpp\Z")  # a header of ours, which brings the runtime itself
#: headers that CUDA's include and HIP's do not, so that code relies on them
_BROUGHT: Mapping[str, str] = {"cudaGL.h": "GL/gl.h", "cuda_gl_interop.h": "GL/gl.h"}
#: headers of HIP that do not compile for the host (ROCm 6.0 to 7.1 at least), unless this macro, the guard of what they
#: include for HIP's compiler alone, is defined before
_GUARDED: Mapping[str, str] = {"hip/hip_bf16.h": "HIP_INCLUDE_HIP_AMD_DETAIL_WARP_FUNCTIONS_H"}
_HIP_ONLY = frozenset({"__global__", "__shared__"})  # no other compiler takes a file that uses these
_INCLUDE = regex(rf"(?:include|include_next|import){NEAR}[<\"]([^>\"\r\n]*)")
_KERNEL_WORDS = frozenset({"__global__", "__device__", "threadIdx", "<<<"})  # the most common of them
_RUNTIME_USERS = re.compile(
    r"\b(?:__global__|__device__|__host__|__shared__|__constant__|__managed__|threadIdx|blockIdx|dim3|hip[A-Z]\w+"
    r"|cuda[A-Z]\w+|(?:float|double|u?int|u?char|u?short|u?long|u?longlong)[1-4])\b|<<<"
)
_VECTOR = regex(r"(?:float|double|u?int|u?char|u?short|u?long|u?longlong)[1-4]|dim3")
_LIBRARIES = (
    "cuda|cub|thrust|cutlass|cute|nvcuda|nvtx3|cudnn|nccl|cooperative_groups|npp|nvml|nvToolsExt|nvrtc|cupti|cutensor"
    "|cufft|curand|cusparse|cusolver|cublas|nvjpeg|nvjitlink|nvshmem|cufile"
)
_LIBRARY_WORD = regex(rf"(?:{_LIBRARIES})\w*\Z")
#: Names of NVIDIA's headers, known or not: in a library's folder, or ending in `.h`. The few `.hpp` have rows; others
#: are of projects (`cudalign.hpp`), which also make some while they are built.
CUDA_HEADER = regex(rf"(?:{_LIBRARIES})(?:dx|_frontend|_device)?/[\w./]+\Z|(?:{_LIBRARIES})\w*\.h\Z")


def include_findings(unit: Unit) -> Mapping[Kind, tuple[RowFinding, ...]]:
    """A finding for every include that names a CUDA header, by kind."""
    return unit.once(_findings)


def _in_macros(unit: Unit) -> Iterator[RowFinding]:
    """A finding for each macro that names a CUDA header for `#include NAME`: the whole of it, or the folder alone where
    a parameter is the rest (`#define STD_HEADER(name) <cuda/std/name>`) and all headers in there keep their names."""
    if "<cuda/" not in unit.text:
        return
    for m in (m for found in unit.macros.values() for m in found):
        path = unit.text[unit.end(m.first) : unit.p[m.stop - 1]] if m.stop - m.first > 2 else ""
        if (unit.tok(m.first), unit.tok(m.stop - 1)) != ("<", ">") or not path.startswith("cuda/"):
            continue
        folder, _, name = path.rpartition("/")
        hip = unit.catalog.headers.get(path, "")
        if m.params is not None and name in m.params and _keeps_names(unit.catalog.headers, f"{folder}/"):
            hip = name
        if hip and path not in unit.project.own:
            start, end = unit.p[m.first], unit.end(m.stop - 1)
            edits = (replace(start + 1, end - 1, hip),)
            yield RowFinding(Kind.INCLUDE, f"`{path}` is `{hip}`", start, end, edits=edits, cuda=path, hip=hip)


def _keeps_names(headers: Mapping[str, str], folder: str) -> bool:
    """Whether the headers right in a folder are known, and keep their names without it."""
    inside = {path[len(folder) :]: hip for path, hip in headers.items() if path.startswith(folder)}
    return bool(inside) and all(name == hip for name, hip in inside.items() if "/" not in name)


def runtime_on_top(unit: Unit) -> bool:
    """Whether this is a CUDA source that relies on nvcc's own include of the runtime header."""
    return unit.once(_runtime_on_top)


def _findings(unit: Unit) -> Mapping[Kind, tuple[RowFinding, ...]]:
    return by_kind(chain(_each(unit), _in_macros(unit)))


def _each(unit: Unit) -> Iterator[RowFinding]:
    if not _may_name_header(unit):
        return
    on_top = runtime_on_top(unit)
    provided: list[tuple[str, tuple[int, ...]]] = [(RUNTIME, ())] if on_top else []
    for inc in unit.includes:
        where = tuple(g.opener for g in unit.conditions(inc.start))
        hip = hip_header(unit, inc)
        if hip == inc.path:
            provided.append((hip, where))
            continue
        if hip is None:
            if inc.path.startswith("hip") or "/hip" in inc.path:
                provided.append((inc.path, where))
            elif inc.path in unit.project.renamed:
                new = inc.path.rpartition(".")[0] + unit.options.rename
                edit = replace(inc.start + 1, inc.start + 1 + len(inc.path), new)
                yield _finding(f"`{inc.path}` is renamed to `{new}`", inc, (edit,), inc.path, new)
            elif not _is_own(unit, inc):
                yield from _unknown(unit, inc)
            continue
        if hip == "":
            yield _finding(f"`{inc.path}` is not needed for HIP", inc, (_drop_line(unit, inc.directive),), inc.path, "")
        elif any(hip == h and where[: len(w)] == w for h, w in provided):
            edit = _drop_line(unit, inc.directive)
            yield _finding(f"`{inc.path}` is `{hip}`, which is already included", inc, (edit,), inc.path, hip)
        else:
            provided.append((hip, where))
            quoted = inc.quoted and inc.path in unit.catalog.own  # a header of the project stays one
            text = f'"{hip}"' if quoted else f"<{hip}>"
            brought = _BROUGHT.get(inc.path, "")
            if brought and all(i.path != brought for i in unit.includes):
                text = f"<{brought}>\n#include {text}"
            edits: tuple[Edit, ...] = (replace(inc.start, inc.end, text),)
            if hip in _GUARDED and host_may_read(unit):
                note = "// the compiler of the host does not take all of the next header"
                guard = f"#ifndef __HIP__  {note}\n#define {_GUARDED[hip]}\n#endif\n"
                edits = (insert(inc.directive.start, guard), *edits)
            yield _finding(f"`{inc.path}` is `{hip}`", inc, edits, inc.path, hip)


def _may_name_header(unit: Unit) -> bool:
    """Whether an include may be one to say something of, told by the words of the text. False is certain."""
    if not (unit.project.renamed or unit.may_hold(unit.catalog.header_words) or unit.may_match(_LIBRARY_WORD, "ctn")):
        return False
    return unit.is_read or any(_is_known(unit, path) for path in {m[1].strip() for m in _INCLUDE.finditer(unit.text)})


def _is_known(unit: Unit, path: str) -> bool:
    c = unit.catalog
    if path in unit.project.renamed or path.rpartition("/")[2] in c.headers or CUDA_HEADER.match(path) is not None:
        return True
    return _row(unit, path) is not None or _longest(c.missing_headers, path) is not None


def _finding(message: str, inc: Include, edits: tuple[Edit, ...], cuda: str, hip: str) -> RowFinding:
    return RowFinding(Kind.INCLUDE, message, inc.start, inc.end, edits=edits, cuda=cuda, hip=hip)


def _unknown(unit: Unit, inc: Include) -> Iterator[RowFinding]:
    """A finding for a CUDA header, or of a library that needs CUDA, that has no HIP header."""
    advice: tuple[str, ...] = ()
    missing = _longest(unit.catalog.missing_headers, inc.path)
    if missing is not None:
        why, instead = missing[0]
        message, advice = f"`{inc.path}` has no counterpart for HIP: {why}", (instead,)
    elif CUDA_HEADER.match(inc.path):
        message = f"`{inc.path}` looks like a CUDA header, and no HIP header is known for it"
    else:
        return
    yield RowFinding(
        Kind.UNKNOWN_HEADER,
        message,
        inc.start,
        inc.end,
        cuda=inc.path,
        why=advice,
    )


T = TypeVar("T")


def _longest(table: Mapping[str, T], path: str) -> tuple[T, str] | None:
    """The entry of a path, or of the longest `folder/*` that it is in, and the path inside that folder."""
    if path in table:
        return table[path], ""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if f"{folder}/*" in table:
            return table[f"{folder}/*"], path[len(folder) + 1 :]
    return None


def _row(unit: Unit, path: str) -> tuple[str, str] | None:
    """The row of a header's path, also where it leads into a copy of the library."""
    headers = unit.catalog.headers
    return _longest(headers, path) or _longest(headers, as_installed(path))


def hip_header(unit: Unit, inc: Include) -> str | None:
    """What an include becomes: a HIP path (maybe the same), "" for nothing, None when it is no CUDA header we know."""
    lacking = inc.path in unit.catalog.missing_headers  # though its folder has a counterpart
    found = None if lacking else _row(unit, inc.path)
    hip = None if found is None else found[0].replace("*", found[1])
    if hip is None:
        return unit.catalog.headers.get(inc.path.rpartition("/")[2]) if _is_toolkits(unit, inc) else None
    return None if _is_own(unit, inc) else hip


def _is_own(unit: Unit, inc: Include) -> bool:
    """Whether an include names the user's file: one of the tree, or for CUDA's own names one found right here."""
    if inc.path not in unit.catalog.headers:
        if inc.path in unit.project.own:
            return True
    elif not inc.quoted:
        return False
    if not inc.quoted or unit.path in ("", "-", "<stdin>"):
        return False
    return any(not is_in_copy(p) for p in _found(unit, inc)) and not _is_toolkits(unit, inc)


def _found(unit: Unit, inc: Include) -> Iterator[str]:
    """The files that an include may mean."""
    folders = (os.path.dirname(unit.path), *unit.options.include_dirs)  # noqa: PTH120 - a Path costs more than the call
    return (p for folder in folders if os.path.isfile(p := os.path.join(folder, inc.path)))  # noqa: PTH113, PTH118


def _is_toolkits(unit: Unit, inc: Include) -> bool:
    """Whether an include means a copy of a header of CUDA's toolkit."""
    if inc.path.rpartition("/")[2] not in unit.catalog.headers or unit.path in ("", "-", "<stdin>"):
        return False
    around = [Path(os.path.realpath(f)) for f in (os.path.dirname(unit.path), *unit.options.include_dirs)]  # noqa: PTH120
    return any(may_include(Path(p), around) and is_of_toolkit(p) for p in _found(unit, inc))


def _drop_line(unit: Unit, d: Directive) -> Edit:
    """Remove a directive with its line; a comment that follows it stays."""
    text = unit.text
    start = _line_start(text, d.start, 0)
    if text[start : d.start].strip():
        start = d.start
    last = unit.end(d.stop - 1)
    closing = text.find(">", unit.p[d.first + 2], d.end) if unit.tok(d.first + 2) == "<" else -1
    last = closing + 1 if closing >= 0 else last
    rest = text[last : d.end]
    if rest.strip():
        return replace(start, last + len(rest) - len(rest.lstrip()), "")
    line_end = re.compile(r"[ \t]*(?:\r\n|\n|\r)?").match(text, last)
    return replace(start, line_end.end() if line_end is not None else last, "")


def is_cuda_source(path: str) -> bool:
    """Whether nvcc would compile a file of this name as CUDA (or hipcc did so after `--rename`)."""
    return suffix(path) in (".cu", ".hip") or path in ("-", "<stdin>")


def compiled_as_cuda(unit: Unit) -> bool:
    """Whether nvcc compiles a file as CUDA, by its name or because the build says so."""
    return unit.project.as_cuda or is_cuda_source(unit.path)


def for_host(unit: Unit) -> bool:
    """Whether the compiler of the host compiles a source, before and after it is converted."""
    return suffix(unit.path) in HOST_SUFFIXES and not unit.project.as_hip


def host_may_read(unit: Unit) -> bool:
    """Whether the compiler of the host may read a file: a source of the host's, or a header without kernels."""
    return suffix(unit.path) not in CUDA_SUFFIXES and not unit.project.as_hip and unit.words.isdisjoint(_HIP_ONLY)


def _has_kernels(unit: Unit) -> bool:
    """Whether a source of another name can be CUDA alone: it defines kernels or launches some."""
    return suffix(unit.path) in CXX_SUFFIXES and ("__global__" in unit.words or bool(unit.launches))


def _runtime_on_top(unit: Unit) -> bool:
    """Whether a file that nvcc compiles as CUDA relies on its own include of the runtime header."""
    named = RUNTIME in unit.text or _may_name_header(unit)
    if named and _used_before(unit, _first_runtime(unit)):
        return True
    if not compiled_as_cuda(unit) and not _has_kernels(unit) and not unit.project.linked:
        return False
    floor = 1 if unit.guard else 0
    provided: set[int] = set()  # branches of outermost conditionals that include it
    for inc in unit.includes:
        hip = hip_header(unit, inc)
        runtime = RUNTIME in (hip, inc.path)
        groups = unit.conditions(inc.start)[floor:]
        if not groups:
            if runtime:
                return False
            if hip is None and _is_projects(unit, inc):
                return True
        elif runtime and len(groups) == 1:
            if unit.project.linked:
                return False  # it is for HIP's compiler
            provided.add(groups[0].opener)
            *branches, last = groups[0].chain
            closed = unit.directives[last].keyword == "endif" and unit.directives[branches[-1]].keyword == "else"
            if closed and provided.issuperset(branches):
                return False
    # A .cu file that names nothing of CUDA's may hold headers of the project that do.
    return (
        not unit.words.isdisjoint(_KERNEL_WORDS)
        or any(_is_projects(unit, inc) for inc in unit.includes)
        or _RUNTIME_USERS.search(unit.text) is not None
    )


def _first_runtime(unit: Unit) -> Include | None:
    """The first include of the runtime's header that no condition guards."""
    floor = 1 if unit.guard else 0
    found = (inc for inc in unit.includes if RUNTIME in (hip_header(unit, inc), inc.path))
    return next((inc for inc in found if len(unit.conditions(inc.start)) <= floor), None)


def _used_before(unit: Unit, inc: Include | None) -> bool:
    """Whether code before an include uses what it declares, or a macro has the name of such a type: nvcc's own include
    comes before the macro."""
    if inc is None or not _RUNTIME_USERS.search(unit.text, 0, inc.start):
        return False
    before = (d for d in unit.directives if d.first < inc.directive.first and d.keyword == "define")
    if any(_VECTOR.fullmatch(unit.tok(d.first + 2)) for d in before):
        return True
    code = (i for i in range(inc.directive.first) if unit.in_directive(i) is None)
    return any(_RUNTIME_USERS.fullmatch(unit.t[i]) for i in code)


def _is_projects(unit: Unit, inc: Include) -> bool:
    """Whether an include may be of the project's own, which may rely on what nvcc includes by itself."""
    own = inc.quoted or inc.path in unit.project.own or inc.path.endswith((".cuh", ".hxx"))
    return own and not HELPER.search(inc.path) and not inc.path.startswith("hip")


def added_includes(
    unit: Unit, needs: frozenset[str], helpers: frozenset[str], runtime: bool, bom: int
) -> RowFinding | None:
    """One finding that adds the headers which the output needs and does not include yet; None if there are none.

    `runtime`: the runtime's header is one of them, and goes first.
    """
    if not needs and not helpers and not runtime:
        return None
    have = {inc.path for inc in unit.includes} | {hip_header(unit, inc) or "" for inc in unit.includes}
    wanted = [f"<{h}>" for h in sorted(needs) if h not in have]
    guarded = runtime and unit.project.linked and not _has_kernels(unit)
    if runtime:
        wanted = [f"<{RUNTIME}>", *(w for w in wanted if w != f"<{RUNTIME}>")]
    for h in sorted(helpers):
        spelled = unit.project.helper_prefix + h
        if not any(inc.path.endswith(f"cu2port/{h}") for inc in unit.includes):
            wanted.append(f'"{spelled}"')
    if not wanted:
        return None
    at = _insertion_point(unit, bom)
    eol = _eol(unit.text)
    lines = "".join(f"#include {w}{eol}" for w in wanted[guarded:])
    if guarded:  # the compiler of the host may have no such header
        lines = f"#ifdef __HIPCC__{eol}#include {wanted[0]}{eol}#endif{eol}{lines}"
    return RowFinding(
        Kind.INCLUDE,
        "added: " + ", ".join(f"#include {w}" for w in wanted),
        at,
        at,
        edits=(insert(at, lines),),
        hip=", ".join(w.strip('<>"') for w in wanted),
    )


def _eol(text: str) -> str:
    m = re.search(r"\r\n|\n|\r", text)
    return m.group() if m else "\n"


def _insertion_point(unit: Unit, bom: int) -> int:
    """Before the first include that no condition guards, else before the first code; at the start of its line."""
    guard_depth = 1 if unit.guard else 0
    for inc in () if _used_before(unit, next(iter(unit.includes), None)) else unit.includes[:1]:
        at = inc.directive.start
        first = inc.directive.first
        # Not inside `extern "C" {`, and not inside a conditional, that of the brace included.
        for k in unit.find("{"):
            if k < first < unit.match[k]:
                at = unit.p[k - 2] if unit.tok(k - 2) == "extern" else unit.p[k]
                break
        groups = unit.conditions(at)
        if len(groups) > guard_depth:
            at = unit.directives[groups[guard_depth].chain[0]].start
        return _line_start(unit.text, at, bom)
    skip = 0
    ds = unit.directives
    if unit.guard:
        skip = ds[1].stop
    for d in ds:
        if d.keyword == "pragma" and unit.tok(d.first + 2) == "once":
            skip = max(skip, d.stop)
    if skip < len(unit.t):
        return _line_start(unit.text, unit.p[skip], bom)
    open_end = any(end == len(unit.text) for _, end in unit.lexed.comments[-1:])  # it would become part of a comment
    return len(unit.text) if unit.text.endswith(("\n", "\r")) and not open_end else bom


def _line_start(text: str, offset: int, floor: int) -> int:
    newline = text.rfind("\n", floor, offset)
    return max(newline, text.rfind("\r", max(newline, floor), offset), floor - 1) + 1
